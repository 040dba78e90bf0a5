"""`memtui blame`: from a sentence that an agent said to the memory that it rests on, or to none."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.cli.open_store import NOT_OPENED, open_for
from memtui.cli.output import print_json, print_text, warning
from memtui.cli.show import moment
from memtui.engine import UsageError, one_line
from memtui.paths import state_dir

if TYPE_CHECKING:
    from memtui.engine.blame import Blame, SuspectedCause


NOT_KNOWN = NOT_OPENED
"""What it ends with where nothing is known: no verdict."""

_LONGEST = 160
"""Characters of a memory's text in a line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui blame`."""
    parser.add_argument("text", metavar="TEXT", help="the sentence that was wrong, as the agent said it")
    parser.add_argument("--session", metavar="ID", help="the session it was said in (default: look for it)")
    parser.add_argument("--turn", type=int, metavar="N", help="the turn, counted as memtui replay counts")
    parser.add_argument("--agent", metavar="A", help="only look in this agent's sessions")
    parser.add_argument("--save", metavar="FILE", help="save the verdict as a receipt, secrets masked")
    parser.add_argument("--no-text", action="store_true", help="with --save: ids and numbers only, no text")


def run(args: argparse.Namespace) -> int:
    """Find the cause, print. Ends with 0 for a verdict, 4 where nothing is known."""
    from memtui.engine.blame import blame_receipt, find_cause
    from memtui.engine.changes import journal_at_rest

    if not args.text.strip():
        raise UsageError("TEXT is empty.", fix='Write what the agent said: memtui blame "..."')
    if args.no_text and args.save is None:
        raise UsageError("--no-text says what a receipt leaves out.", fix="Add: --save FILE.")
    if args.save is not None and Path(args.save).expanduser().exists():
        raise UsageError(f"{args.save} exists already.", fix="Give another name.")
    engine = open_for(args, keeps_state=False)
    engine.send_nothing()
    found = find_cause(
        engine,
        args.text,
        engine.environ,
        Path.cwd(),
        session=args.session,
        number=args.turn,
        agent=args.agent,
        journal=journal_at_rest(state_dir(engine.environ), engine.store.uri, engine.store.table_name),
    )
    if args.save is not None:
        from memtui.engine.explain import save_receipt

        save_receipt(blame_receipt(engine, found, texts=not args.no_text), Path(args.save))
    if args.json:
        for note in found.notes:
            warning(note)
        print_json(found.as_json())
    else:
        print_text(render(found))
    return NOT_KNOWN if found.verdict == "unknown" else 0


def render(found: Blame) -> str:
    """The verdict for a person at a terminal."""
    lines = [_verdict(found)]
    if found.turn is not None:
        told = found.turn.replayed.turn
        lines += [
            "",
            f"turn {told.n} of {found.turn.file.id}  {found.turn.file.agent}  {moment(told.time_ms)}",
            f"  asked: {_short(told.question)}",
        ]
    lines += [f"! {note}." for note in found.notes]
    if found.suspects:
        lines += ["", "suspects" if found.verdict == "memory" else "nearest, none accused"]
        for suspect in found.suspects:
            lines += _suspect(suspect)
    if found.missing:
        lines += ["", "would have been right, and did not come"]
        for each in found.missing:
            lines.append(f"  {each.id[:8]}  {_short(each.text)}")
            lines += [f"            {one_line(each.why_not)}"] if each.why_not else []
    if found.instead:
        lines += ["", "would have come instead"]
        lines += [f"  {other.id[:8]}  {_short(other.text)}" for other in found.instead]
    return "\n".join(lines)


def _verdict(found: Blame) -> str:
    if found.verdict == "unknown":
        return "Not known: there is nothing to judge by."
    where = "of this turn" if found.turn is not None else "in the store"
    if found.verdict == "none":
        return f"No memory {where} caused this sentence."
    first = found.suspects[0]
    return f"Memory {first.id[:8]} probably caused this sentence ({percent(first.confidence)})."


def _suspect(each: SuspectedCause) -> list[str]:
    facts = [fact for fact in (each.how, each.state if each.state != "same" else "") if fact]
    tail = f"  {', '.join(facts)}" if facts else ""
    return [
        f"  {each.id[:8]}  {percent(each.confidence):>4}  {_short(each.text)}{tail}",
        f"                  {one_line(each.why)}",
        *(f"                  {moment(step.time_ms)}  {step.said}" for step in each.came_from),
    ]


def percent(confidence: float) -> str:
    """A probability in percent; none that was computed is certain."""
    return f"{min(99, max(1, round(confidence * 100)))}%"


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
