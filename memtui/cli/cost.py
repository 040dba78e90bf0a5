"""`memtui cost`: what memory costs by agent and day, and what another form of the injected block would cost."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_table, print_text, warning
from memtui.engine import UsageError, counted
from memtui.paths import cases_file

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.cost import CacheFigures, CostReport, CostSum, WhatIfCost


DAYS = 14

_DAY_MS = 86_400_000

MOST_DAYS = 3650

LISTED = 10
"""Memories that a terminal shows."""

_SHOWN = 70


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui cost`."""
    parser.add_argument("--agent", metavar="A", help="only this agent's")
    parser.add_argument("--session", metavar="ID", help="only this session, turn by turn with --json")
    parser.add_argument("--days", type=int, metavar="N", help=f"days to look back (default: {DAYS})")
    parser.add_argument(
        "--rule",
        metavar="NAME",
        default="",
        help="the provider whose cache rule is assumed where a transcript names none that is known: "
        "anthropic or openai",
    )
    parser.add_argument(
        "--lifetime", choices=("5m", "1h"), default="5m", help="of Anthropic's cache entries (default: 5m)"
    )
    parser.add_argument(
        "--what-if",
        action="store_true",
        help="play the same turns with another form of the block, beside its recall on the cases",
    )
    parser.add_argument(
        "--items",
        type=int,
        metavar="N",
        default=1,
        help="what-if: memories of the shorter block (default: 1)",
    )
    parser.add_argument(
        "--repeat",
        type=int,
        metavar="N",
        default=12,
        help="what-if: turns before a memory may come again (default: 12)",
    )
    parser.add_argument(
        "--send", action="store_true", help="what-if: let the embedding service of the store answer the cases"
    )


def run(args: argparse.Namespace) -> int:
    """Read the sessions, print."""
    from memtui.engine.cost import named_rule, read_cost

    if args.rule:
        named_rule(args.rule)
    for name, value, most in (
        ("days", args.days, MOST_DAYS),
        ("items", args.items, 20),
        ("repeat", args.repeat, 100),
    ):
        if value is not None and not 1 <= value <= most:
            raise UsageError(f"--{name} {value} is out of range.", fix=f"Give 1 to {most}.")
    engine = open_for(args)
    if not args.send:
        engine.send_nothing()
    days = args.days or (None if args.session else DAYS)
    since = max(0, engine.now_ms - days * _DAY_MS) if days else 0
    report = read_cost(
        engine,
        engine.environ,
        Path.cwd(),
        since_ms=since,
        agent=args.agent,
        session=args.session,
        assume=args.rule,
        lifetime=args.lifetime,
    )
    if args.what_if:
        return _what_if(args, engine, report)
    if args.json:
        print_json(report.as_json(turns=args.session is not None))
        return 0
    for note in report.notes:
        warning(note)
    _print(report)
    return 0


def _print(report: CostReport) -> None:
    from memtui.engine.cost import ESTIMATOR, NEVER_COMPARED

    if not report.turns:
        print_text("No turns here: no session file of these days. See: memtui sessions.")
        return
    print_table(
        [
            (
                day.day,
                day.agent,
                day.sum.turns,
                tokens_of(day.sum),
                share_of(day.sum),
                place_of(day.sum),
                changes_of(day.sum),
                lost_of(day.sum),
            )
            for day in report.days()
        ],
        ("day", "agent", "turns", "injected", "used", "block stands", "changed", "prefix lost"),
        right_aligned=(2,),
    )
    print_text("\nprompt cache")
    print_table(
        [(name, *cells) for name, cells in cache_rows(report.total)],
        ("", "turns", "read", "written", "neither"),
        right_aligned=(1, 2, 3, 4),
    )
    memories = report.memories()[:LISTED]
    if memories:
        print_text("\nmost expensive memories")
        print_table(
            [
                (
                    memory.id[:8],
                    f"{memory.tokens:,}",
                    memory.turns,
                    f"{memory.used} of {memory.judged}" if memory.judged else "not recorded",
                    memory.preview[:_SHOWN],
                )
                for memory in memories
            ],
            ("id", "tokens", "turns", "used in", "memory"),
            right_aligned=(1, 2),
        )
    print_text("")
    print_text(f"Injected tokens are estimated: {ESTIMATOR}.")
    for rule in report.rules():
        print_text(f"Cache rule: {rule.title}, minimum {rule.minimum:,} tokens, {rule.source} ({rule.read}).")
    print_text(NEVER_COMPARED)


def tokens_of(total: CostSum) -> str:
    """The injected tokens, labelled."""
    return f"{total.tokens:,} estimated" if total.recorded else "not recorded"


def share_of(total: CostSum) -> str:
    """Which share of the judged tokens led to use."""
    return "not recorded" if total.used_share is None else f"{total.used_share:.0%}"


def place_of(total: CostSum) -> str:
    """Where the block stands, the commonest place first."""
    places = [name for name, _ in total.places.most_common() if name not in ("none", "not recorded")]
    if places:
        return ", ".join(places)
    return "no block" if total.places["none"] else "not recorded"


def changes_of(total: CostSum) -> str:
    """How often the block differs from that of the turn before."""
    return f"{total.changed} of {total.pairs}" if total.pairs else "not recorded"


def lost_of(total: CostSum) -> str:
    """How much of the prompt's beginning a change of the block takes out of the cache."""
    return f"{total.lost:,} of {total.head:,} estimated" if total.pairs else "not recorded"


def cache_rows(total: CostSum) -> list[tuple[str, tuple[str, str, str, str]]]:
    """(label, turns, read, written, neither) of what was measured and of what was estimated."""

    def cells(turns: int, figures: CacheFigures) -> tuple[str, str, str, str]:
        if not turns:
            return ("0", "not recorded", "not recorded", "not recorded")
        return (f"{turns:,}", f"{figures.read:,}", f"{figures.written:,}", f"{figures.fresh:,}")

    return [
        ("measured", cells(total.measured_turns, total.measured)),
        ("estimated", cells(total.estimated_turns, total.estimated)),
    ]


def _what_if(args: argparse.Namespace, engine: Engine, report: CostReport) -> int:
    from memtui.engine.cases import CaseBook
    from memtui.engine.cost import NEVER_COMPARED, measure_what_if

    found = measure_what_if(
        engine,
        report,
        CaseBook(cases_file(engine.info.uri)).cases(),
        items=args.items,
        repeat=args.repeat,
        lifetime=args.lifetime,
    )
    if args.json:
        print_json(found.as_json())
        return 0
    _print_variants(found)
    print_text("")
    print_text(
        f"Hypothetical: {counted(found.turns, 'recorded turn')} played again, nothing was sent to a model."
    )
    print_text(
        f"Recall: of the expected memories of {counted(found.cases, 'case')}, the share in the block."
        if found.cases
        else f"Recall: not measured, {found.unmeasured}."
    )
    print_text(NEVER_COMPARED)
    return 0


def _print_variants(found: WhatIfCost) -> None:
    if not found.turns:
        print_text(
            "No turn has a recorded prompt and a known cache rule. Assume one with --rule anthropic or --rule openai."
        )
    print_table(
        [
            (
                variant.name,
                f"{variant.tokens:,}",
                f"{variant.cache.read:,}" if found.turns else "not known",
                f"{variant.cache.written:,}" if found.turns else "not known",
                f"{variant.price:,.0f}" if found.turns else "not known",
                "not measured" if variant.recall is None else f"{variant.recall:.2f}",
            )
            for variant in found.variants
        ],
        ("hypothetical", "injected", "cache read", "cache written", "price in input tokens", "recall"),
        right_aligned=(1, 2, 3, 4, 5),
    )
