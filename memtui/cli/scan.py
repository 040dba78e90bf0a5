"""`memtui scan`: noise, secrets, orders to a model and envelopes of the host among the memories."""

from __future__ import annotations

import argparse
from collections import Counter

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_table, print_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui scan`."""
    parser.add_argument(
        "filter",
        nargs="*",
        metavar="FILTER",
        help="limit to memories that match this filter (see memtui help filter)",
    )
    parser.add_argument(
        "--kind", nargs="+", metavar="KIND", help="noise, secret, injection, envelope (default: all of them)"
    )
    parser.add_argument(
        "--kinds", action="store_true", help="print what is recognised and what is not; opens no store"
    )


def run(args: argparse.Namespace) -> int:
    """Scan. Secrets are never printed, not even in JSON."""
    if args.kinds:
        return _kinds(args.json)
    engine = open_for(args)
    engine.load_catalog()
    engine.load_metadata()
    from memtui.engine.health import find_suspects

    found = find_suspects(engine, args.kind, " ".join(args.filter))
    counts = Counter(each.kind for each in found)
    if args.json:
        print_json(
            {"schema": "memtui.scan.v1", "counts": dict(counts), "rows": [each.as_json() for each in found]}
        )
        return 0
    print_table(
        [(each.id[:8], each.kind, each.rule, each.doubt, each.excerpt) for each in found],
        ("id", "kind", "rule", "but", "memory"),
    )
    print_text(", ".join(f"{count} {kind}" for kind, count in counts.items()) or "nothing found")
    return 0


def _kinds(as_json: bool) -> int:
    """What the scan recognises, and what it cannot."""
    from memtui.engine.health import recognised

    known = recognised()
    if as_json:
        print_json({"schema": "memtui.scan-kinds.v1", **known})
        return 0
    print_table(
        [(kind, ", ".join(marks)) for kind, marks in known["secrets"].items()],
        ("secret", "begins with or has"),
    )
    print_text(f"\nnot recognised: {'; '.join(known['not_recognised'])}")
    print_text(f"\nprompt injection in {', '.join(known['languages'])}: {', '.join(known['orders'])}")
    print_text(f"\nenvelopes of the host: {known['envelopes']}")
    print_text("An order is known by its wording: one that is worded otherwise is not found.")
    return 0
