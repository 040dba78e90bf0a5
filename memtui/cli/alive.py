"""`memtui alive`: whether each agent's memory works, why not, and the one change that revives it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.cli.open_store import NOT_OPENED, wall_clock
from memtui.cli.output import print_json, print_text
from memtui.demo_store import DEMO, agents_environ, demo_store
from memtui.engine import RefusedError, UsageError, counted
from memtui.engine.alive import check_alive
from memtui.paths import state_dir

if TYPE_CHECKING:
    from memtui.engine.alive import AgentMemory, Aliveness

_EXITS = {"alive": 0, "dead": 1, "unknown": NOT_OPENED}

_MARKS = {"ok": "ok  ", "dead": "DEAD", "weak": "weak", "unknown": "?   "}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui alive`."""
    parser.add_argument(
        "--try",
        dest="ask",
        action="store_true",
        help="also ask the configured embedding service, with one word and no memory",
    )
    parser.add_argument(
        "--fix", metavar="CODE", help="the edit of openclaw.json that removes this cause (A1 ...)"
    )
    parser.add_argument(
        "--yes", action="store_true", help="with --fix: write it; without it only the edit is shown"
    )
    parser.add_argument(
        "--all", action="store_true", help="also the parts that are fine, and notes on defaults"
    )
    parser.add_argument(
        "--now", type=int, metavar="MS", help="another time than the clock's, in ms since the epoch"
    )


def run(args: argparse.Namespace) -> int:
    """Judge and print; 0 alive, 1 some part is dead, 4 there is nothing to judge."""
    if args.yes and not args.fix:
        raise UsageError("--yes belongs to --fix.", fix="Without --fix nothing is ever written.")
    if args.store == DEMO:
        demo_store(wall_clock())  # its agents are there as soon as it is
    now_ms = wall_clock() if args.now is None else args.now
    environ = agents_environ(args.store)
    found = check_alive(environ, Path.cwd(), now_ms=now_ms)
    if args.store:
        found = found.of_store(args.store)
    if args.ask:
        from memtui.engine.alive import try_services

        found = try_services(found, environ, Path.cwd())
    if args.fix:
        return _fix(args, found, now_ms)
    if args.json:
        print_json(found.as_json())
    else:
        _print(found, whole=args.all)
    return _EXITS[found.verdict]


def _print(found: Aliveness, *, whole: bool) -> None:
    version = f" {found.host_version}" if found.host_version else ""
    known = "" if found.host_known or not found.host_version else ", a version that memtui does not know"
    print_text(f"{found.verdict}: {found.summary} ({found.host_name}{version}{known})")
    for remark in found.remarks:
        print_text(f"  {remark}")
    for agent in found.agents:
        print_text("")
        print_text(f"agent {agent.agent}  {agent.owner}  {agent.store or 'no store'}")
        _print_parts(agent, whole=whole)
    if whole and found.notes:
        print_text("")
        print_text("notes")
        for note in found.notes:
            print_text(f"  {note.code:<4} {note.sentence}  {note.key}")


def _print_parts(agent: AgentMemory, *, whole: bool) -> None:
    said: set[str] = set()
    open_parts: dict[str, list[str]] = {}
    for part in agent.parts:
        named = ", ".join(dict.fromkeys(f"{cause.code} {cause.title}" for cause in part.causes))
        if not part.causes:
            if part.state == "unknown":
                open_parts.setdefault(part.sentence, []).append(part.part)
            elif whole:
                print_text(f"  {_MARKS[part.state]} {part.part:<10} {part.sentence}")
            continue
        print_text(f"  {_MARKS[part.state]} {part.part:<10} {named}")
        for cause in part.causes:
            if cause.code in said:
                continue
            said.add(cause.code)
            print_text(f"       {cause.code}: {cause.sentence}")
            for item in cause.evidence:
                print_text(f"         evidence: {item.file}  {item.key}")
            print_text(f"         fix: {cause.fix}")
    for sentence, names in open_parts.items():
        print_text(f"  {_MARKS['unknown']} {', '.join(names):<10} {sentence}")


def _fix(args: argparse.Namespace, found: Aliveness, now_ms: int) -> int:
    from memtui.engine.alive import plan_revival

    planned = plan_revival(found, args.fix, agents_environ(args.store), Path.cwd())
    lines = list(planned.difference)
    answer = {
        "schema": 1,
        "cause": planned.code,
        "changes": [change.as_json() for change in planned.changes],
        "diff": lines,
        "written": False,
    }
    if not args.yes:
        if args.json:
            print_json(answer)
        else:
            print_text("\n".join(lines) or "no difference")
            print_text(f"{counted(len(planned.changes), 'setting')} would change; to write it, add --yes")
        return 0
    if not planned.changes:
        raise RefusedError(
            "There is nothing to change in the configuration.",
            fix="Restart the gateway; nothing was changed.",
        )
    record = planned.apply(state=state_dir(agents_environ(args.store)), now_ms=now_ms)
    if args.json:
        print_json({**answer, "written": True, "record": record.as_json()})
    else:
        print_text("\n".join(lines))
        print_text("written; restart the gateway for it to count; undo: memtui config undo")
    return 0
