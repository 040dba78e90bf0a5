"""`memtui sweep`: the tier manager's plan as one change, previewed or written, with its effect on saved questions."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from memtui.cli.memory_changes import add_safety_arguments, carry_out, open_to_change
from memtui.cli.output import print_json, print_text, warning
from memtui.engine import RefusedError, counted, lifecycle
from memtui.engine.cases import CaseBook
from memtui.engine.discovery import read_config
from memtui.paths import cases_file

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.changes import Conflict
    from memtui.engine.lifecycle import SweepEffect, TierMove


SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui sweep`."""
    parser.add_argument("--config", metavar="FILE", help="the plugin's decay and tier blocks, JSON or JSON5")
    parser.add_argument(
        "--all",
        action="store_true",
        help="also memories that are pinned, not recalled, or without a time",
    )
    add_safety_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Plan; preview or write."""
    engine = open_to_change(args)
    engine.load_catalog()
    engine.load_metadata()
    settings = lifecycle.own_settings(engine, read_config(args.config))
    planned, moves = lifecycle.plan_sweep(engine, settings, everyone=args.all)
    if args.dry_run:
        effect = _effect(engine, moves)
        if args.json:
            print_json({**planned.as_json(), **_more(moves, effect)})
        else:
            _print(engine, moves, planned.left, effect)
        return 0
    if moves and not args.yes:
        raise RefusedError(
            f"A sweep would move {counted(len(moves), 'memory', 'memories')}.",
            fix="Look with --dry-run, then say --yes; nothing was changed.",
        )
    return carry_out(engine, planned, args)


def _effect(engine: Engine, moves: tuple[TierMove, ...]) -> SweepEffect | None:
    cases = CaseBook(cases_file(engine.info.uri)).cases()
    found = lifecycle.sweep_effect(engine, cases, moves) if cases and moves else None
    if engine.withheld:
        warning(f"what the cases get is not known: {engine.withheld}; --send measures it")
        return None
    return found


def _more(moves: tuple[TierMove, ...], effect: SweepEffect | None) -> dict[str, Any]:
    return {
        "plan": [move.as_json() for move in moves],
        "cases": None if effect is None else effect.as_json(),
    }


def _print(
    engine: Engine, moves: tuple[TierMove, ...], left: tuple[Conflict, ...], effect: SweepEffect | None
) -> None:
    first = sorted(moves, key=lambda move: not move.rises)[:SHOWN]
    titles = {memory.id: memory.title for memory in engine.memories([move.id for move in first]).values()}
    for move in first:
        print_text(
            f"{move.id[:8]}  {move.before} > {move.after}  {move.rule}  {titles.get(move.id, '')[:60]}"
        )
    if len(moves) > SHOWN:
        print_text(f"and {len(moves) - SHOWN:,} more")
    up = sum(move.rises for move in moves)
    print_text(f"dry run: {up} promotions and {len(moves) - up} demotions; nothing was written")
    for each in left:
        warning(f"{each.id[:8]} stays as it is: {each.sentence}")
    if effect is None:
        return
    count = len(effect.changed)
    print_text(f"cases: {count} of {effect.cases} answered differently")
    for name in ("recall", "ndcg"):
        before, after = effect.before.get(name), effect.after.get(name)
        if before is not None and after is not None:
            print_text(f"  {name:<7} {before:.3f} > {after:.3f}")
    for question in effect.changed:
        warning(f"other answers for {question!r}")
