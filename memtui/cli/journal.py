"""`memtui journal`: what was changed through memtui, and what of it was interrupted."""

from __future__ import annotations

import argparse
from functools import partial

from memtui.cli.memory_changes import carry_out, without_secrets
from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_table, print_text, warning
from memtui.cli.show import moment
from memtui.engine import UsageError, changes, veiled


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui journal`."""
    parser.add_argument(
        "entry", nargs="?", type=int, metavar="ENTRY", help="show one entry with its memories"
    )
    parser.add_argument("--limit", type=int, default=-1, metavar="N", help="number of rows (default: all)")
    parser.add_argument("--finish", type=int, metavar="ENTRY", help="complete an entry that was interrupted")
    parser.add_argument(
        "--leave", type=int, metavar="ENTRY", help="close an interrupted entry as it is; writes no memory"
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="check whether an entry was changed outside memtui; exit 1 if so",
    )
    parser.add_argument("--dry-run", action="store_true", help="with --finish: print what would be done")
    parser.add_argument("--yes", action="store_true", help="with --finish: confirm that no agent is running")


def run(args: argparse.Namespace) -> int:
    """Show the journal, or settle an entry that was interrupted."""
    if args.finish is not None and args.leave is not None:
        raise UsageError("An entry is finished or left, not both.", fix="Give one of --finish and --leave.")
    if args.finish is not None:
        return _finish(args)
    if args.leave is not None:
        return _leave(args)
    if args.verify:
        return _verify(args)
    engine = open_for(args)
    interrupted = changes.find_interrupted(engine)
    if args.entry is not None:
        journal = engine.write_state.journal
        entry, rows = journal.entry(args.entry), journal.rows(args.entry)
        shown = [
            {"id": row.id, "op": row.op, "before": dict(row.before), "after": dict(row.after)} for row in rows
        ]
        if args.json:
            print_json(without_secrets({**entry.as_json(), "changes": shown}))
        else:
            print_text(f"entry {entry.entry}: {entry.title}, {moment(entry.time_ms)}, {entry.state}")
            if client := entry.detail.get("client"):
                right = entry.detail.get("allowed_by")
                print_text(f"  by {client}" + (f", allowed to without a question ({right})" if right else ""))
            for row in rows:
                print_text(f"  {row.op} {row.id}")
                for field in dict.fromkeys((*row.before, *row.after)):
                    print_text(veiled(f"      {field}: {row.before.get(field)} -> {row.after.get(field)}"))
        return 0
    entries = engine.write_state.journal.entries(limit=args.limit)
    if args.json:
        left = {each.entry.entry: each.found.value for each in interrupted}
        rows_json = [
            {**entry.as_json(), **({"found": left[entry.entry]} if entry.entry in left else {})}
            for entry in entries
        ]
        print_json({"entries": rows_json})
        return 0
    for each in interrupted:
        warning(each.sentence)
    print_table(
        [
            (e.entry, moment(e.time_ms), e.action, e.rows, e.state, e.detail.get("subject") or e.title)
            for e in entries
        ],
        ("entry", "time", "action", "rows", "state", "what"),
        right_aligned=(0, 3),
    )
    return 0


def _verify(args: argparse.Namespace) -> int:
    """Look along the chain of the entries: 0 where nothing was changed, 1 with the first entry that was."""
    found = open_for(args).write_state.journal.verify()
    if args.json:
        print_json(found.as_json())
    else:
        print_text(found.sentence)
        if found.broken is not None:
            print_text(
                "Undoing it would write back contents that memtui did not record: check the entry first."
            )
        elif found.foreign:
            print_text(
                f"{found.foreign} of other machines: their order is checked, their contents only there."
            )
    return 0 if found.broken is None else 1


def _leave(args: argparse.Namespace) -> int:
    engine = open_for(args)
    found = {entry.entry.entry: entry for entry in changes.find_interrupted(engine)}
    if not args.dry_run:
        changes.leave_entry(engine, args.leave)
    state = found[args.leave].found.value if args.leave in found else "not known"
    if args.json:
        print_json({"entry": args.leave, "found": state, "left": not args.dry_run})
    else:
        would = "would be left" if args.dry_run else "is left"
        print_text(f"Entry {args.leave} {would} as it is ({state}); no memory was changed.")
    return 0


def _finish(args: argparse.Namespace) -> int:
    engine = open_for(args, writable=not args.dry_run)
    changes.find_interrupted(engine)
    planned = changes.plan_finish(engine, args.finish)
    return carry_out(engine, planned, args, partial(changes.finish_entry, engine, args.finish))
