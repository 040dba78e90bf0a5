"""`memtui demo`: the app on the embedded demo store, made on first use in the user's cache folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from memtui.cli.output import print_json, print_text
from memtui.cli.store import wall_clock


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui demo`."""
    parser.add_argument(
        "--make-only", action="store_true", help="make the store, print its folder, do not open the app"
    )


def demo_store() -> Path:
    """The demo store's folder; made now when it is not there yet."""
    from memtui.engine.demo import build_demo, demo_folder
    from memtui.paths import cache_dir

    return build_demo(demo_folder(cache_dir()), now_ms=wall_clock())


def run(args: argparse.Namespace) -> int:
    """Make it when needed, then open the app on it."""
    folder = demo_store()
    if args.json:
        print_json({"store": str(folder)})
    elif args.make_only:
        print_text(str(folder))
    else:
        from memtui.tui.app import run as run_app

        run_app(str(folder))
    return 0
