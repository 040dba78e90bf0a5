"""`memtui calls`: what the clients of the server called on a store, the newest first."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_table, print_text
from memtui.cli.show import moment
from memtui.engine import duration
from memtui.engine.clients import CallJournal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui calls`."""
    parser.add_argument("--client", metavar="NAME", help="only of this client")
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="number of rows (default: 50)")


def run(args: argparse.Namespace) -> int:
    """Read the journal of calls, print."""
    engine = open_for(args)
    place = engine.state_place
    calls = CallJournal(place).read(100_000) if place is not None else []
    if args.client:
        calls = [call for call in calls if call.client == args.client]
    calls = calls[: max(0, args.limit)]
    if args.json:
        print_json({"calls": [asdict(call) for call in calls]})
        return 0
    if not calls:
        print_text("no calls yet: memtui mcp --print-config claude prints what to paste")
        return 0
    print_table(
        [
            (
                moment(call.time_ms),
                call.client,
                call.tool,
                call.outcome,
                f"{len(call.ids)}",
                duration(call.ms),
                " ".join(one[:8] for one in call.ids[:5]),
            )
            for call in calls
        ],
        ("when", "client", "tool", "became", "memories", "took", "ids"),
    )
    return 0
