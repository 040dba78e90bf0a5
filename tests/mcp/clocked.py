"""`memtui mcp` in a process of its own whose clock stands in a file: CLOCK, then the words of the command."""

from __future__ import annotations

import sys
from pathlib import Path

from memtui.cli.main import parser_of
from memtui.cli.mcp import run


def main(clock: str, *words: str) -> int:
    """Serve until the input ends."""
    return run(parser_of("mcp").parse_args(words), now=lambda: int(Path(clock).read_text(encoding="ascii")))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
