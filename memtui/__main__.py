"""`memtui` and `python -m memtui`."""

from __future__ import annotations

import sys


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    if arguments in (["--version"], ["-V"]):  # answered before anything else is imported
        from memtui import __version__

        print(f"memtui {__version__}")  # noqa: T201
        return 0
    from memtui.cli.main import run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
