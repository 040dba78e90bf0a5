"""`memtui bisect`: which version, or its indexes, the clock or the settings changed the rank of one memory."""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_table, print_text
from memtui.cli.question_options import scopes_of
from memtui.cli.show import moment
from memtui.engine import RecallRequest, explain
from memtui.engine.discovery import (
    read_config,
)

if TYPE_CHECKING:
    from memtui.engine.cases import (
        BisectPoint,
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui bisect`."""
    parser.add_argument("id", metavar="ID", help="the memory")
    parser.add_argument("query", metavar="QUERY", help="the question")
    parser.add_argument("--recipe", metavar="NAME", default="", help="the recipe")
    parser.add_argument("--config", metavar="FILE", help="the plugin's current retrieval and decay blocks")
    parser.add_argument("--was-config", metavar="FILE", help="show the full injected blocks")
    parser.add_argument(
        "--then",
        type=int,
        metavar="MS",
        help="a version or time at which the answer was right (default: the oldest version)",
    )
    parser.add_argument("--scope", metavar="SCOPE", action="append", help="only this scope")
    parser.add_argument(
        "--all-scopes",
        action="store_true",
        help="search every scope (an agent's own recall never does)",
    )
    parser.add_argument("--limit", type=int, metavar="K", help="number of results")


def run(args: argparse.Namespace) -> int:
    """Look back."""
    engine = open_for(args)
    request = RecallRequest(
        args.query,
        recipe=args.recipe,
        config=read_config(args.config),
        scopes=scopes_of(args),
        limit=args.limit,
    )
    was = replace(request, config=read_config(args.was_config)) if args.was_config else None
    found = explain.bisect(engine, request, engine.get(args.id).id, then_ms=args.then, then_config=was)
    if args.json:
        print_json(asdict(found))
        return 0
    print_text(found.sentence + "\n")
    print_table(
        [
            (p.version, moment(p.time_ms), p.rank if p.rank is not None else "-", _became(p))
            for p in found.points
        ],
        ("version", "written", "rank", "result"),
        right_aligned=(0, 2),
    )
    return 0


def _became(point: BisectPoint) -> str:
    from memtui.engine.cases import (
        dropped_by,
    )

    return (
        point.disposition
        if point.disposition in ("returned", "no candidate", "unreadable")
        else dropped_by(point)
    )
