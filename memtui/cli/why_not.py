"""`memtui why-not`: the verdict on one memory for one question, and the smallest change that returns it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_text, tell_wait
from memtui.cli.question_options import add_question_options, request_of
from memtui.cli.show import moment
from memtui.engine import counted, explain
from memtui.engine.cases import CaseBook
from memtui.engine.explain import DROP, TIMES, check_name
from memtui.paths import cases_file

if TYPE_CHECKING:
    from memtui.engine.explain import GateResult, MemoryRemedy, SmallestChange, Verdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui why-not`: those of recall."""
    parser.add_argument("id", metavar="ID", help="id of the memory, or its first 8 or more characters")
    parser.add_argument("query", metavar="QUERY", help="the question, as the agent would ask it")
    add_question_options(parser)
    parser.add_argument(
        "--no-changes", action="store_true", help="the reason only, without searching for changes"
    )
    parser.add_argument(
        "--remedies",
        action="store_true",
        help="also test edits of memories on a copy; nothing is written",
    )
    parser.add_argument("--explain", action="store_true", help="include the whole trace of the recall")


def run(args: argparse.Namespace) -> int:
    """Ask, look for the memory, print."""
    engine = open_for(args)
    trace = engine.recall(request_of(args), tell_wait)
    memory = explain.resolve(engine, args.id)
    verdict = explain.why_not_in(engine, trace, memory, changes=not args.no_changes)
    cured = None
    if args.remedies:
        cases = CaseBook(cases_file(engine.info.uri)).cases()
        cured = explain.find_remedies(engine, trace, memory, cases)
    if args.json:
        document = verdict.as_json()
        if cured is not None:
            document["remedies"] = [each.as_json() for each in cured]
        if args.explain:
            document["trace"] = trace.as_json()
        print_json(document)
    else:
        print_text(render(verdict, sought=not args.no_changes))
        if cured is not None:
            print_text("\n".join(_cured(cured)))
    return 0


def render(verdict: Verdict, *, sought: bool = True) -> str:
    """The verdict for a person at a terminal; `sought`: whether changes that bring it back were looked for."""
    lines = [verdict.sentence, ""]
    lines += [f"! {warning}" for warning in verdict.warnings]
    lines += [_rung(rung) for rung in verdict.ladder]
    if verdict.changes:
        lines += ["", "one of these brings it back, the smallest change first"]
        for change in verdict.changes:
            sure = "" if change.confirmed else "  (estimated)"
            note = f"  {change.note}" if change.note else ""
            lines.append(f"  {change.knob:<28} {_turned(change)}  to number {change.rank}{note}{sure}")
    elif sought and not verdict.returned and verdict.gate != "unknown_id":
        lines += ["", "no single change was found that brings it back"]
    if verdict.powerless:
        lines += ["", "no effect on its own"]
        by_reason: dict[str, list[str]] = {}
        for each in verdict.powerless:
            by_reason.setdefault(each.why, []).append(each.knob)
        lines += [f"  {why}: {', '.join(knobs)}" for why, knobs in by_reason.items()]
    return "\n".join(lines)


def _cured(found: Sequence[MemoryRemedy]) -> list[str]:
    if not found:
        return ["", "no change of a memory was found that helps"]
    lines = ["", "edits of memories, smallest first; each tested by a whole recall and all saved cases"]
    for each in found:
        kept = each.effect.cases
        cases = "no cases"
        if kept.cases:
            cases = (
                f"{kept.right_before} of {counted(kept.cases, 'case')} right before, {kept.right_after} after"
            )
        lines.append(f"  {each.name:<12} {each.title}  {each.place}; {cases}")
    return lines


def _rung(rung: GateResult) -> str:
    mark = {True: "+", False: "x", None: "?"}[rung.passed]
    aside = " (if it had passed)" if rung.hypothetical and rung.passed is not None and rung.applies else ""
    return f"  {mark if rung.applies else '.'} {check_name(rung.gate):<16} {rung.sentence}{aside}"


def _turned(change: SmallestChange) -> str:
    """From what it is to what it would have to be."""
    if change.knob == "memory.twin":
        return f"{change.before} forgotten"
    if change.knob == DROP:
        return f"{change.before} dropped"
    return f"{_value(change.knob, change.before)} -> {_value(change.knob, change.after)}"


def _value(knob: str, value: Any) -> str:
    if knob in TIMES:
        return moment(value) if value else "none"
    if value is None and knob in ("scopes", "category"):
        return "any"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
