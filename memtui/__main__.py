"""`memtui` and `python -m memtui`."""

from __future__ import annotations

import os
import sys


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    if arguments in (["--version"], ["-V"]):  # answered before anything else is imported
        from memtui import __version__

        try:
            print(f"memtui {__version__}", flush=True)  # noqa: T201
            return 0
        except OSError:  # said as every command says it
            arguments = ["--version"]
    if "_ARGCOMPLETE" in os.environ:  # a shell asks for completions; the answer ends the process
        from memtui.cli.completion import complete

        complete()
    from memtui.cli.main import run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
