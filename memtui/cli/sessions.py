"""`memtui sessions`: the sessions of the agents here, and what evidence each has of what was injected."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.cli.open_store import open_for, wall_clock
from memtui.cli.output import print_json, print_table, print_text, warning
from memtui.cli.show import moment
from memtui.demo_store import agents_environ
from memtui.engine import MemtuiError, counted

if TYPE_CHECKING:
    from memtui.engine import Engine


MARKS = {"transcript": "▤", "trajectory": "▤", "sqlite": "▤", "store": "≣", "none": "–"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui sessions`."""
    parser.add_argument("--agent", metavar="A", help="only this agent's")
    parser.add_argument("--since", metavar="D", help="only sessions with a turn since: 7d, 12h or 2026-09-01")


def run(args: argparse.Namespace) -> int:
    """List them."""
    from memtui.engine import (
        moment_since,
    )
    from memtui.engine.witness import list_sessions

    since = moment_since(args.since, wall_clock()) if args.since else 0
    found = list_sessions(
        agents_environ(args.store), Path.cwd(), engine=store_or_none(args), agent=args.agent, since_ms=since
    )
    if args.json:
        print_json({"schema": "memtui.sessions.v1", "sessions": [each.as_json() for each in found]})
        return 0
    for sentence, count in Counter(sentence for each in found for sentence in each.warnings).items():
        named = next(each.file.id for each in found if sentence in each.warnings)
        warning(f"{named if count == 1 else counted(count, 'session')}: {sentence}")
    if not found:
        print_text(
            "No session files here." + (" Another agent or day may have some." if args.agent or since else "")
        )
        return 0
    print_table(
        [
            (
                each.file.id,
                each.file.agent,
                moment(each.ended_ms),
                each.turns,
                f"{MARKS[each.evidence]} {each.evidence if each.evidence != 'none' else 'not recorded'}",
                f"{each.evident} of {each.turns}",
                each.file.archived,
            )
            for each in found
        ],
        ("session", "agent", "last turn", "turns", "evidence", "turns with it", ""),
        right_aligned=(3,),
    )
    return 0


def store_or_none(args: argparse.Namespace) -> Engine | None:
    """The store as a witness, None where none was named and none is found: session files tell without it."""
    try:
        return open_for(args)
    except MemtuiError as error:
        if args.store is not None:
            raise
        warning(f"no store is asked: {error.message}")
        return None
