"""`memtui demo`: the app on the embedded demo store, made on first use in the user's cache folder."""

from __future__ import annotations

import argparse

from memtui.cli.open_store import app_options, wall_clock
from memtui.cli.output import print_json, print_text
from memtui.cli.terminal import require_terminal
from memtui.demo_store import DEMO, demo_store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui demo`."""
    parser.add_argument(
        "--make-only",
        action="store_true",
        help="create the store and print its folder, without opening the app",
    )
    parser.add_argument("--rw", action="store_true", help="no effect: the demo is always writable")


def run(args: argparse.Namespace) -> int:
    """Make it when needed, then open the app on it."""
    if args.json:
        print_json({"store": str(demo_store(wall_clock()))})
    elif args.make_only:
        print_text(str(demo_store(wall_clock())))
    else:
        require_terminal("memtui demo")
        from memtui.tui.app import run as run_app

        run_app(DEMO, **app_options(args))
    return 0
