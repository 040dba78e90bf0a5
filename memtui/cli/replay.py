"""`memtui replay`: a session turn by turn, with what was injected and what became of it since."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.cli.output import print_json, print_text
from memtui.cli.sessions import store_or_none
from memtui.cli.show import moment
from memtui.demo_store import agents_environ
from memtui.engine import UsageError

if TYPE_CHECKING:
    from memtui.engine.witness import Injected, ReplayedTurn


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui replay`."""
    parser.add_argument(
        "session", metavar="SESSION", help="id of the session, or its beginning (see memtui sessions)"
    )
    parser.add_argument("--turn", type=int, metavar="N", help="only this turn")
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--now", action="store_true", help="also ask each question again, today")
    again.add_argument(
        "--as-of", action="store_true", help="also ask each question again on the version of its time"
    )


def run(args: argparse.Namespace) -> int:
    """Replay, print."""
    from memtui.engine.alive import explain_silence
    from memtui.engine.witness import replay_session

    environ, engine = agents_environ(args.store), store_or_none(args)
    replayed = replay_session(
        args.session,
        environ,
        Path.cwd(),
        engine=engine,
        only=args.turn,
        again="now" if args.now else "as-of" if args.as_of else "",
    )
    if args.turn is not None and not replayed.turns:
        raise UsageError(f"The session has no turn {args.turn}.", fix="Replay it without --turn to see them.")
    explain_silence(replayed, environ, Path.cwd(), engine)
    if args.json:
        print_json(replayed.as_json())
        return 0
    lines = [f"{replayed.file.id}  {replayed.file.agent}"]
    lines += [f"! {warning}" for warning in replayed.warnings]
    for turn in replayed.turns:
        lines += ["", *_turn(turn)]
    print_text("\n".join(lines))
    return 0


def _turn(turn: ReplayedTurn) -> list[str]:
    from memtui.engine import (
        mask,
    )

    told = turn.evidence if turn.evidence != "none" else "not recorded"
    sender = f"  {turn.turn.sender.name or turn.turn.sender.id}" if turn.turn.sender is not None else ""
    lines = [
        f"{turn.turn.n}  {moment(turn.turn.time_ms)}  {told}{sender}",
        f"   {mask(turn.turn.question)[0]}",
    ]
    if turn.turn.why:
        lines.append(f"   {turn.turn.why}")
    lines += [f"   ! {warning}" for warning in turn.turn.warnings]
    for other in (*turn.turn.active, *turn.turn.intents):
        lines.append(f"     {mask(other.text)[0]}  ({other.source})")
    for tool in turn.turn.tools:
        named = ", ".join((*(memory_id[:8] for memory_id in tool.ids), *tool.sources)) or "no memory"
        lines.append(f"   {tool.name} {mask(tool.query)[0]}: {'refused' if tool.failed else named}")
    for memory in turn.memories or ():
        lines.append(f"     {mask(memory.line or memory.text)[0]}")
        lines.append(f"       {_fate(memory)}")
    return lines


def _fate(memory: Injected) -> str:
    words = [memory.id[:8] if memory.id else "no id", memory.state]
    if memory.candidates:
        words.append("one of " + ", ".join(candidate[:8] for candidate in memory.candidates))
    if memory.superseded_by:
        words.append(f"by {memory.superseded_by[:8]}")
    if memory.cut_to is not None:
        words.append(f"cut to {memory.cut_to} characters")
    if memory.rank_now is not None:
        words.append(f"today at {memory.rank_now}")
    if memory.rank_as_of is not None:
        words.append(f"as of then at {memory.rank_as_of}")
    if memory.gate_as_of:
        words.append(f"stopped then by {memory.gate_as_of.replace('_', ' ')}")
    if memory.gate:
        words.append(f"today stopped by {memory.gate.replace('_', ' ')}")
    if memory.used is not None:
        words.append("used in the answer: likely" if memory.used >= 0.3 else "no evidence of use")
    return ", ".join(words)
