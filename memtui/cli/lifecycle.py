"""`memtui lifecycle`: the population by tier, the tier manager's plan, and what will fade when."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from memtui.cli.open_store import open_for, wall_clock
from memtui.cli.output import print_json, print_row, print_table, print_text, warning
from memtui.engine import (
    day,
    lifecycle,
)
from memtui.engine.discovery import (
    read_config,
)
from memtui.engine.lifecycle import (
    SCENARIOS,
    BoardAsk,
)
from memtui.paths import cases_file

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.lifecycle import (
        Board,
        CaseLoss,
        LifecycleSettings,
    )


SHOWN = 12
"""Moves and crossings printed for a person; JSON has all."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui lifecycle`."""
    parser.add_argument("--rows", action="store_true", help="with --json: every number of every memory")
    parser.add_argument("--now", type=int, metavar="MS", help="as of this time, milliseconds since the epoch")
    parser.add_argument(
        "--horizon", type=float, metavar="DAYS", default=30, help="days to look ahead (default 30)"
    )
    parser.add_argument(
        "--send", action="store_true", help="send the questions of the cases to the agent's model, to measure"
    )
    parser.add_argument("--config", metavar="FILE", help="the plugin's decay and tier blocks, JSON or JSON5")


def run(args: argparse.Namespace) -> int:
    """Look ahead, print."""
    engine = open_for(args, now=wall_clock if args.now is None else lambda: args.now)
    engine.load_catalog()
    engine.load_metadata()
    settings = lifecycle.own_settings(engine, read_config(args.config))
    board = lifecycle.make_board(
        engine, BoardAsk(horizon_days=args.horizon, listed=SHOWN), settings, texts=not args.json
    )
    losses = _losses(engine, settings, args.horizon)
    if args.json:
        print_json(document(engine, settings, board, losses, rows=args.rows))
    else:
        _print(engine, settings, board, losses)
    return 0


def _losses(engine: Engine, settings: LifecycleSettings, days: float) -> tuple[CaseLoss, ...]:
    from memtui.engine.cases import (
        CaseBook,
    )

    cases = CaseBook(cases_file(engine.info.uri)).cases()
    found = lifecycle.case_losses(engine, cases, days=days, settings=settings) if cases else ()
    if engine.withheld:
        warning(f"what the cases lose is not known: {engine.withheld}; --send measures it")
        return ()
    return found


def document(
    engine: Engine, settings: LifecycleSettings, board: Board, losses: tuple[CaseLoss, ...], *, rows: bool
) -> dict[str, Any]:
    """The JSON of the contract: population, plan, forecast, and the rows where they are wanted."""
    forecast: dict[str, Any] = {"horizon_days": board.ask.horizon_days, "until_ms": board.until_ms}
    for scenario in SCENARIOS:
        found = lifecycle.find_crossings(
            engine, days=board.ask.horizon_days, scenario=scenario, settings=settings
        )
        counts = {kind: sum(1 for each in found if each.kind == kind) for kind in board.counts}
        forecast[scenario.replace(" ", "_")] = {
            "counts": counts,
            "crossings": [each.as_json() for each in found],
        }
    forecast["tiers_moved_by"] = board.mover
    forecast["cases_lost"] = [loss.as_json() for loss in losses]
    return {
        "schema": "memtui.lifecycle.v1",
        "now_ms": board.now_ms,
        "config": {**settings.as_blocks(), "origin": settings.origin},
        "population": {
            "rows": board.rows,
            "recalled": board.recalled,
            "by_tier": {facts.tier: facts.rows for facts in board.tiers},
            "stale": board.stale,
            "stale_by_tier": {facts.tier: facts.stale for facts in board.tiers},
            "histogram": {facts.tier: list(facts.bins) for facts in board.tiers},
        },
        "plan": [move.as_json() for move in lifecycle.plan_moves(engine, settings)],
        "forecast": forecast,
        "findings": [
            {
                "severity": f.severity,
                "count": f.count,
                "title": f.title,
                "filter": f.filter,
                "remedy": f.remedy,
            }
            for f in lifecycle.lifecycle_findings(engine, settings)
        ],
        **({"rows": list(lifecycle.iterate_numbers(engine, settings))} if rows else {}),
    }


_MOVED_BY = {
    "nothing": "tiers move only by a sweep: dreaming is off here, and nothing else in the plugin moves them",
    "unknown": "tiers move only by a sweep, or while the plugin dreams (off unless it is configured)",
    "dreaming": "tiers move by a sweep, or while the plugin dreams: that looks at rows of its last two days",
}


def _print(engine: Engine, settings: LifecycleSettings, board: Board, losses: tuple[CaseLoss, ...]) -> None:
    print_text(f"{engine.info.name}  as of {day(board.now_ms)}  settings: {settings.origin}\n")
    print_table(
        [
            (facts.tier, facts.rows, facts.stale, facts.arriving, facts.leaving, facts.after)
            for facts in board.tiers
        ],
        ("tier", "memories", "stale", "in", "out", "after a sweep"),
        right_aligned=(1, 2, 3, 4, 5),
    )
    held = f", {board.held} of them left alone by a sweep" if board.held else ""
    print_text(f"\nplan: {board.promotions} promotions, {board.demotions} demotions{held}")
    for move in board.moves:
        print_row(
            f"  {move.id[:8]}  {move.before} > {move.after}  {move.rule}  {board.titles.get(move.id, '')[:60]}"
        )
    counts = ", ".join(f"{count} {kind}" for kind, count in board.counts.items())
    print_text(f"\nwithin {board.ask.horizon_days:g} days, if nobody uses them: {counts}")
    if board.counts.get("sinks") or board.counts.get("rises"):
        print_text(f"  {_MOVED_BY[board.mover]}")
    for crossing in board.crossings:
        to = f" to {crossing.to} if swept" if crossing.to != crossing.tier else ""
        print_row(
            f"  {day(crossing.at_ms)}  {crossing.kind}{to}  {crossing.id[:8]}  {board.titles.get(crossing.id, '')[:60]}"
        )
    for loss in losses:
        print_row(f"! {day(loss.at_ms)}  {loss.query!r} loses {loss.memory[:8]}  {loss.title[:60]}")
        if loss.cause is not None and loss.cause.overtaken_by:
            print_row(f"    overtaken by {loss.cause.overtaken_by[:8]}  {loss.cause.overtaker[:60]}")
        elif loss.cause is not None:
            print_text(f"    stopped by {loss.cause.gate}")
    print_text("")
    for finding in lifecycle.lifecycle_findings(engine, settings):
        print_text(f"! {finding.count} {finding.title}: {finding.remedy}")
