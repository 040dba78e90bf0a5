"""`memtui review`: which memories to look at first, and why."""

from __future__ import annotations

import argparse

from memtui.cli.open_store import open_for, wall_clock
from memtui.cli.output import print_json, print_row, print_text
from memtui.engine import UsageError, lifecycle
from memtui.paths import review_file

SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui review`."""
    parser.add_argument(
        "--limit", type=int, metavar="N", help=f"number of cards (default {SHOWN}; all with --json)"
    )
    parser.add_argument("--now", type=int, metavar="MS", help="as of this time, milliseconds since the epoch")


def run(args: argparse.Namespace) -> int:
    """Queue, print."""
    from memtui.engine.lifecycle import (
        ReviewProgress,
    )

    if args.limit is not None and args.limit < 0:
        raise UsageError("--limit counts cards and cannot be negative.", fix="Give 0 or more.")
    engine = open_for(args, now=wall_clock if args.now is None else lambda: args.now)
    engine.load_catalog()
    engine.load_metadata()
    progress = ReviewProgress(review_file(engine.info.uri))
    limit = args.limit if args.limit is not None or args.json else SHOWN
    review = lifecycle.review(engine, progress, limit=limit)
    if args.json:
        print_json(review.as_json())
        return 0
    for card in review.cards:
        print_row(f"{card.priority:6.2f}  {card.id[:8]}  {card.tier:<10}  {card.title[:90]}")
        for reason in card.reasons:
            print_row(f"{'':18}{reason.sentence}")
    print_text(f"\n{review.waiting} waiting, {review.settled} settled in the last seven days")
    return 0
