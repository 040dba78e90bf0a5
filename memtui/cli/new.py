"""`memtui new`: an empty store of memtui's own."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from memtui.cli.output import print_json, print_text
from memtui.engine import UsageError, quoted
from memtui.paths import settings_file
from memtui.settings import load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui new`."""
    parser.add_argument(
        "place",
        metavar="FOLDER",
        help="folder (may exist) or address such as s3://bucket/store",
    )
    parser.add_argument(
        "--dims", type=int, metavar="N", help="dimensions, for a model other than the bundled one"
    )


def run(args: argparse.Namespace) -> int:
    """Make the store and say how to fill it."""
    from memtui.engine.discovery import create_empty, new_place
    from memtui.engine.transfer import BUNDLED_DIMS

    dims = BUNDLED_DIMS if args.dims is None else args.dims
    if not 1 <= dims <= 65_536:
        raise UsageError(f"A vector cannot have {dims} numbers.", fix="Give --dims from 1 to 65536.")
    place, options = new_place(args.place, load_settings(settings_file(), os.environ).storage, Path.cwd())
    create_empty(place, dims, options)
    if args.json:
        print_json({"store": str(place), "dims": dims})
    else:
        print_text(f"made {place}: no memories yet, vectors of {dims} dimensions")
        named = quoted(place)
        print_text(f"fill it: memtui add TEXT --store {named}, or memtui import FILE --store {named}")
    return 0
