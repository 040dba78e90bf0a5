"""`memtui merge`: make one memory of several that say the same."""

from __future__ import annotations

import argparse

from memtui.cli.memory_changes import (
    add_effect_argument,
    add_safety_arguments,
    carry_out,
    chosen_ids,
    open_to_change,
)
from memtui.engine import changes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui merge`."""
    parser.add_argument("ids", nargs="+", metavar="ID", help="two or more ids, or their first 8 characters")
    parser.add_argument(
        "--into", metavar="ID", help="the memory to keep (default: the one with the highest rank)"
    )
    parser.add_argument("--text", help="another text for it")
    parser.add_argument(
        "--losers",
        choices=("supersede", "delete"),
        default="supersede",
        help="what happens to the replaced memories",
    )
    add_safety_arguments(parser)
    add_effect_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Merge."""
    engine = open_to_change(args)
    args.where = None
    ids = chosen_ids(engine, args)
    survivor = engine.get(args.into).id if args.into else None
    planned = changes.plan_merge(engine, ids, survivor=survivor, text=args.text, losers=args.losers)
    return carry_out(engine, planned, args)
