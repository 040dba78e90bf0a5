"""`memtui since`: what appeared, changed and went since a version, a date, a name or a kept copy."""

from __future__ import annotations

import argparse
import sys

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_table, print_text, warning
from memtui.cli.progress import shown
from memtui.cli.show import moment

MOST = 20
"""Rows that are printed; JSON has all."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui since`."""
    parser.add_argument(
        "baseline",
        metavar="BASELINE",
        help="a version, its name, 7d, 2026-09-01, a snapshot, or the folder of a copied version",
    )
    parser.add_argument(
        "--writer", metavar="WRITER", help="only rows of memtui, capture, import, dream, tool or unknown"
    )
    parser.add_argument("--limit", type=int, default=MOST, metavar="N", help="number of rows (default 20)")


def run(args: argparse.Namespace) -> int:
    """Compare with the baseline; 4 where nothing of it is recorded."""
    from memtui.engine import UsageError
    from memtui.engine.health import BURST_RULE, WRITERS, VersionNames, find_baseline, find_since
    from memtui.paths import versions_file

    if args.writer is not None and args.writer not in WRITERS:
        raise UsageError(
            f"No writer is called {args.writer!r}.", fix=f"The writers are {', '.join(WRITERS)}."
        )
    engine = open_for(args)
    names = VersionNames(engine.store, versions_file(engine.info.uri, engine.store.table_name))
    with shown(sys.stderr) as on_progress:
        found = find_since(engine, find_baseline(engine, args.baseline, names), on_progress=on_progress)
    nothing = not found.baseline.time_ms and found.baseline.version is None and found.baseline.copy is None
    if args.json:
        print_json(found.as_json())
        return 4 if nothing else 0
    if found.not_recorded:
        warning(found.not_recorded)
    if nothing:
        print_text("not recorded")
        return 4
    print_text(f"{found.count('new')} new, {found.count('changed')} changed, {found.count('gone')} gone")
    for by in ("writer", "source", "kind"):
        rows = [
            (name, *(sum(row.op == op for row in group) for op in ("new", "changed", "gone")))
            for name, group in found.groups(by).items()
        ]
        print_text("")
        print_table(rows, (by, "new", "changed", "gone"), right_aligned=(1, 2, 3))
    for burst in found.bursts:
        print_text(
            f"\nburst: {len(burst.ids)} new by {burst.writer}, {moment(burst.from_ms)} to {moment(burst.to_ms)}"
            f" ({BURST_RULE})"
        )
    listed = [row for row in found.rows if args.writer in (None, row.writer)]
    if listed:
        print_text("")
        print_table(
            [
                (row.id[:8], row.op, moment(row.time_ms) if row.time_ms else "-", row.writer, row.title)
                for row in listed[: args.limit]
            ],
            ("id", "", "when", "by", "memory"),
        )
    if len(listed) > args.limit:
        print_text(f"{len(listed) - args.limit} more: --limit {len(listed)}")
    return 0
