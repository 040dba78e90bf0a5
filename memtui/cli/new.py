"""`memtui new`: an empty store of memtui's own."""

from __future__ import annotations

import argparse
from pathlib import Path

from memtui.cli.output import print_json, print_text
from memtui.engine import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui new`."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to make it; it may exist")
    parser.add_argument(
        "--dims", type=int, metavar="N", help="numbers in a vector, for another model than the bundled one"
    )


def run(args: argparse.Namespace) -> int:
    """Make the store and say how to fill it."""
    from memtui.engine.discovery import (
        create_empty,
    )
    from memtui.engine.transfer import (
        BUNDLED_DIMS,
    )

    dims = BUNDLED_DIMS if args.dims is None else args.dims
    if not 1 <= dims <= 65_536:
        raise UsageError(f"A vector cannot have {dims} numbers.", fix="Give --dims from 1 to 65536.")
    folder = args.folder.expanduser().absolute()
    create_empty(folder, dims)
    if args.json:
        print_json({"store": str(folder), "dims": dims})
    else:
        print_text(f"made {folder}: no memories yet, vectors of {dims} numbers")
        print_text(f"fill it: memtui add TEXT --store {folder}, or memtui import FILE --store {folder}")
    return 0
