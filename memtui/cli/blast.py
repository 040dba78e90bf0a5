"""`memtui blast`: how far one memory reached, and one change that mends what it reached in the store."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.cli.memory_changes import add_safety_arguments, carry_out, open_to_change
from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_text
from memtui.cli.show import moment
from memtui.engine import UsageError, counted

if TYPE_CHECKING:
    from memtui.engine.witness import Mend, Reach


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui blast`."""
    parser.add_argument(
        "id", metavar="ID", help="id, or its first 8 or more characters; also of a deleted memory"
    )
    parser.add_argument(
        "--do",
        action="append",
        metavar="ROW=CHOICE",
        help="one change: ROW is an id, or all, same, near, captured; CHOICE is archive, "
        "delete, mask, replace:OLD=>NEW, text:WORDS, by:ID, scope:SCOPE or leave. Repeat it; the last one counts",
    )
    add_safety_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Look, print; or change what was chosen."""
    from memtui.engine.witness import plan_mends, reach_of

    if args.do:
        engine = open_to_change(args)
        reach = reach_of(engine, args.id, engine.environ, Path.cwd())
        return carry_out(engine, plan_mends(engine, reach, _mends(reach, args.do)), args)
    if args.dry_run or args.yes or args.break_lock:
        raise UsageError("No change was named.", fix="Name one: --do same=archive, for example.")
    engine = open_for(args)
    reach = reach_of(engine, args.id, engine.environ, Path.cwd())
    if args.json:
        print_json(reach.as_json())
        return 0
    gone = "" if reach.there else "  (no longer in the store)"
    lines = [f"{reach.id}  {reach.scope}{gone}", f"  {reach.text}", ""]
    lines.append(f"copies    {len(reach.copies)}")
    lines += [
        f"  {'=' if copy.same else '≈'} {copy.id[:8]}  {copy.likeness:.2f}  {copy.scope}  {copy.preview}"
        for copy in reach.copies
    ]
    lines.append(f"agents    {len(reach.agents)}")
    lines += [f"  {agent}  {counted(count, 'turn')}" for agent, count in reach.agents.items()]
    for turn in reach.turns:
        lines.append(f"    {moment(turn.time_ms)}  {turn.session}  {turn.name}  {turn.evidence}")
    if reach.events:
        lines.append(f"  {counted(len(reach.events), 'more injection')}, known from the store only (minimum)")
    lines.append(f"answers   {reach.answers} with its words, likely used")
    lines.append(
        f"captured  {counted(len(reach.captured), 'memory', 'memories')} from these sessions afterwards"
    )
    lines += [f"  {each[:8]}  {preview}" for each, preview in reach.captured.items()]
    lines.append(f"files     {len(reach.files)}, listed and never touched")
    lines += [f"  {file.path}  {file.kind}" for file in reach.files]
    if reach.versions:
        lines.append(f"versions  v{reach.versions[0]} to v{reach.versions[1]} hold its text")
    lines += [f"! {warning}" for warning in reach.warnings]
    if reach.removable:
        lines += [
            "",
            f"one change fixes it, row by row: memtui blast {reach.id[:8]} --do same=archive --dry-run",
        ]
    print_text("\n".join(lines))
    return 0


def _mends(reach: Reach, given: list[str]) -> dict[str, Mend]:
    from memtui.engine.witness import read_mend, rows_meant

    mends: dict[str, Mend] = {}
    for item in given:
        name, equals, words = item.partition("=")
        if not equals:
            raise UsageError(f"{item!r} does not name a change.", fix="Write ROW=CHOICE: same=archive.")
        mend = read_mend(words)
        mends |= dict.fromkeys(rows_meant(reach, name.strip()), mend)
    return mends
