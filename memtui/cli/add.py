"""`memtui add`: store a memory, by the rules and with the undo of an import."""

from __future__ import annotations

import argparse
import sys

from memtui.cli.import_plan import carry_out
from memtui.cli.memory_changes import add_safety_arguments
from memtui.cli.open_store import open_for
from memtui.cli.progress import shown
from memtui.engine import UsageError, transfer
from memtui.engine.transfer import (
    SWITCHABLE,
    ImportRequest,
    as_source,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui add`."""
    parser.add_argument(
        "texts",
        nargs="+",
        metavar="TEXT",
        help="text of the memory; - reads one per line from standard input",
    )
    parser.add_argument("--scope", metavar="S", help="its scope (default: global)")
    parser.add_argument("--category", metavar="NAME", help="preference, fact, decision, entity, ...")
    parser.add_argument("--importance", metavar="N", type=float, help="from 0 to 1")
    parser.add_argument("--allow", metavar="RULE,...", help=f"rules to ignore: {', '.join(SWITCHABLE)}")
    add_safety_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Plan, and unless it is a dry run, store."""
    if args.importance is not None and not 0 <= args.importance <= 1:
        raise UsageError(
            f"An importance of {args.importance:g} is not possible.", fix="Give one from 0 to 1."
        )
    texts = [line.rstrip("\n") for text in args.texts for line in (sys.stdin if text == "-" else (text,))]
    known = {"scope": args.scope, "category": args.category, "importance": args.importance}
    if not any(text.strip() for text in texts):
        raise UsageError("There is no text to remember.", fix="Write it in quotes: memtui add 'text'.")
    fields = {name: value for name, value in known.items() if value is not None}
    engine = open_for(args, writable=not args.dry_run)
    if not args.dry_run and args.break_lock:
        engine.write_state.break_abandoned_lock()
    engine.load_catalog()
    rules_off = frozenset(part.strip() for part in (args.allow or "").split(",") if part.strip())
    with as_source([{"text": text, **fields} for text in texts if text.strip()]) as source:
        request = ImportRequest((source,), scope=args.scope, rules_off=rules_off, typed=True)
        with shown(sys.stderr) as on_progress:
            plan = transfer.plan_import(engine, request, on_progress)
            try:
                return carry_out(engine, plan, args, on_progress, typed=True)
            finally:
                plan.close()
