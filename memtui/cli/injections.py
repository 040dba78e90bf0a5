"""`memtui injections`: what the store's own history tells of injections, without any session file."""

from __future__ import annotations

import argparse
from pathlib import Path

from memtui.cli.open_store import open_for, wall_clock
from memtui.cli.output import print_json, print_table, print_text
from memtui.cli.show import moment
from memtui.engine import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui injections`."""
    parser.add_argument("--since", metavar="D", help="only since: 7d, 12h or 2026-09-01")


def run(args: argparse.Namespace) -> int:
    """Read the history, print."""
    from memtui.engine import (
        moment_since,
    )
    from memtui.engine.witness import injection_events

    engine = open_for(args)
    since = moment_since(args.since, wall_clock()) if args.since else 0
    events, history = injection_events(engine, engine.environ, Path.cwd(), since_ms=since)
    if args.json:
        print_json(
            {
                "schema": "memtui.injections.v1",
                "events": [event.as_json() for event in events],
                "lost": history.lost,
                "recorded": history.known,
                "version": history.version,
            }
        )
        return 0
    if not history.known:
        print_text(f"{engine.info.dialect_title} leaves no mark when it injects: not recorded.")
        return 0
    print_table(
        [
            (
                moment(event.time_ms),
                f"{'' if event.complete else 'minimum '}{len(event.ids)}",
                f"v{event.version}",
                " ".join(one[:8] for one in event.ids),
            )
            for event in events
        ],
        ("injected", "memories", "version", "ids"),
    )
    if history.lost:
        print_text(
            f"\n{counted(history.lost, 'older injection')} known by the counters of the rows, the moments are lost"
        )
    return 0
