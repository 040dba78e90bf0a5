"""`memtui undo`: take back an entry of the journal, exactly its rows and fields."""

from __future__ import annotations

import argparse

from memtui.cli.memory_changes import add_effect_argument, add_safety_arguments, carry_out, open_to_change
from memtui.engine import changes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui undo`."""
    parser.add_argument(
        "entry", nargs="?", type=int, metavar="ENTRY", help="entry of the journal (default: the last change)"
    )
    parser.add_argument("--redo", action="store_true", help="redo what was undone last")
    parser.add_argument(
        "--force",
        nargs="+",
        metavar="ID",
        default=[],
        help="memories to restore although they changed since",
    )
    add_safety_arguments(parser)
    add_effect_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Undo, or redo."""
    engine = open_to_change(args)
    plan = changes.plan_redo if args.redo else changes.plan_undo
    return carry_out(engine, plan(engine, args.entry, forced=args.force), args)
