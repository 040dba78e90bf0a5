"""`memtui forget`: archive memories, delete them, delete them with every trace, or take only their past."""

from __future__ import annotations

import argparse

from memtui.cli.memory_changes import (
    add_effect_argument,
    add_memory_arguments,
    add_safety_arguments,
    carry_out,
    chosen_ids,
    open_to_change,
)
from memtui.engine import Engine, UsageError, changes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui forget`."""
    add_memory_arguments(parser)
    parser.add_argument("--hard", action="store_true", help="delete, with older versions and mirror lines")
    parser.add_argument(
        "--shrink-history",
        action="store_true",
        help="also from the table's older versions, its index and memtui's journal; with --hard, cannot be undone",
    )
    parser.add_argument(
        "--past",
        action="store_true",
        help="keep the memories, and remove them from older versions and the journal "
        "(after masking a secret); cannot be undone",
    )
    parser.add_argument(
        "--drop-names",
        action="store_true",
        help="with --past and --shrink-history: also remove tags that hold older versions",
    )
    parser.add_argument("--with-pinned", action="store_true", help="with --where: include pinned memories")
    add_safety_arguments(parser)
    add_effect_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Forget."""
    if args.past and (args.hard or args.shrink_history):
        raise UsageError("--past keeps the memories; --hard deletes them.", fix="Give one of them.")
    engine = open_to_change(args)
    if args.past:
        return carry_out(
            engine, changes.plan_past(engine, _ids(engine, args), drop_names=args.drop_names), args
        )
    ids = _ids(engine, args)
    planned = changes.plan_forget(
        engine,
        ids,
        hard=args.hard,
        shrink=args.shrink_history,
        drop_names=args.drop_names,
        spare_pinned=args.where is not None and not args.with_pinned,
    )
    return carry_out(engine, planned, args)


def _ids(engine: Engine, args: argparse.Namespace) -> list[str]:
    """As for every command; also whole ids of what is deleted: with --shrink-history those that the journal
    remembers, with --past those that older versions hold."""
    if args.where is not None or not (args.shrink_history or args.past):
        return chosen_ids(engine, args)
    found = []
    for memory_id in args.ids:
        try:
            found += chosen_ids(engine, argparse.Namespace(ids=[memory_id], where=None))
        except UsageError:
            if args.past:
                if memory_id not in changes.plan_past(engine, [memory_id]).ids:
                    raise
            elif not engine.write_state.journal.of_memory(memory_id):
                raise
            found.append(memory_id)
    return found or chosen_ids(engine, args)
