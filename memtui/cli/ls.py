"""`memtui ls`: memories, filtered and sorted."""

from __future__ import annotations

import argparse

from memtui.cli.open_store import open_for, wall_clock
from memtui.cli.output import print_json, print_table, print_text, warning
from memtui.engine import ListQuery, UsageError

PAGE = 500
"""Rows taken at a time, so that a list of a million needs no more memory than one of a thousand."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui ls`."""
    parser.add_argument(
        "filter",
        nargs="*",
        metavar="FILTER",
        help='for example: tier:core age<7d scope:agent:* "~how do we deploy"',
    )
    parser.add_argument(
        "--sort",
        metavar="KEY",
        default="-timestamp",
        type=str.strip,  # see `main._as_term`
        help="timestamp, importance, used, access, id, text, ..., or a column of the store; - for descending",
    )
    parser.add_argument(
        "--limit", type=int, metavar="N", help="number of rows (default: all with --json, else 50)"
    )
    parser.add_argument("--offset", type=int, metavar="M", default=0, help="number to skip")


def run(args: argparse.Namespace) -> int:
    """List."""
    if args.offset < 0 or (args.limit is not None and args.limit < 0):
        raise UsageError("--limit and --offset count rows and cannot be negative.", fix="Give 0 or more.")
    engine = open_for(args)
    engine.load_catalog()
    engine.load_metadata()
    view = engine.view(ListQuery(filter=" ".join(args.filter), sort=args.sort))
    wanted = args.limit if args.limit is not None else (view.total if args.json else 50)
    rows = []
    end = min(view.total, args.offset + wanted)
    for start in range(args.offset, end, PAGE):
        rows += engine.page(view, start, min(PAGE, end - start))
    if view.note:
        warning(view.note)
    near = [view.similarity(args.offset + place) for place in range(len(rows))]
    if args.json:
        listed = [
            {**memory.as_json(), **({"similarity": each} if view.ranked else {})}
            for memory, each in zip(rows, near, strict=True)
        ]
        print_json({"total": view.total, "offset": args.offset, "rows": listed})
        return 0
    now = wall_clock()
    print_table(
        [
            (
                *((_number(each),) if view.ranked else ()),
                m.id[:8],
                m.tier or "-",
                m.category or "-",
                m.scope or "-",
                _number(m.importance),
                _age(now - m.timestamp_ms) if m.timestamp_ms else "-",
                m.title,
            )
            for m, each in zip(rows, near, strict=True)
        ],
        (*(("sim",) if view.ranked else ()), "id", "tier", "category", "scope", "imp", "age", "memory"),
        right_aligned=(5, 6) if view.ranked else (4, 5),
    )
    print_text(
        f"{len(rows)} of {view.total}"
        + (f" ({view.table_total} in all)" if view.total != view.table_total else "")
    )
    return 0


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _age(ms: int) -> str:
    seconds = max(0, ms // 1000)
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
