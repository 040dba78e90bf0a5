"""`memtui grade`: importance worked out from the words of memories, previewed or written as one change."""

from __future__ import annotations

import argparse

from memtui.cli.memory_changes import add_safety_arguments, carry_out, open_to_change
from memtui.cli.output import print_json, print_text
from memtui.engine import RefusedError, counted, one_line
from memtui.engine.documents import Grading, plan_grading

SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui grade`."""
    parser.add_argument("--where", default="", metavar="FILTER", help="memories to process (default: all)")
    parser.add_argument(
        "--force",
        action="append",
        default=[],
        metavar="FIELD",
        help="overwrite fields that are set, for example importance (default: fill empty ones only)",
    )
    add_safety_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Grade; preview or write."""
    engine = open_to_change(args)
    engine.load_catalog()
    engine.load_metadata()
    made = plan_grading(engine, args.where, forced=args.force)
    if args.dry_run or made.changes is None:
        if args.json:
            print_json({"receipt": made.receipt, "rows": _rows(made)})
        else:
            _print(made)
        return 0
    if not args.yes:
        count = sum(row.written for row in made.rows)
        raise RefusedError(
            f"Grades would be written to {counted(count, 'memory', 'memories')}.",
            fix="Look with --dry-run, then say --yes; nothing was changed.",
        )
    return carry_out(engine, made.changes, args)


def _rows(made: Grading) -> list[dict[str, object]]:
    return [
        {
            "id": row.id,
            "before": row.before,
            "after": row.grade.score,
            "label": row.grade.label,
            "rationale": row.grade.rationale,
            "written": row.written,
        }
        for row in made.rows
    ]


def _print(made: Grading) -> None:
    written = [row for row in made.rows if row.written]
    for each in written[:SHOWN]:
        before = "-" if each.before is None else f"{each.before:.2f}"
        print_text(
            f"{each.id[:8]}  {before} > {each.grade.score:.2f}  {each.grade.label}  {one_line(each.text)[:50]}: "
            f"{each.grade.rationale}"
        )
    if len(written) > SHOWN:
        print_text(f"... and {len(written) - SHOWN:,} more (--json has all)")
    told = made.receipt
    labels = ", ".join(f"{count} {label}" for label, count in told["label_counts"].items() if count)
    print_text(
        f"{told['total_seen']} graded ({labels or 'none'}): {told['graded_filled']} empty ones filled, "
        f"{told['overwritten']} written over, {told['skipped_existing']} left as they are"
    )
