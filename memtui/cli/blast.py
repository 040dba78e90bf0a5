"""`memtui blast`: how far one memory reached."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_text
from memtui.cli.show import moment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui blast`."""
    parser.add_argument(
        "id", metavar="ID", help="the memory's id, or its first 8 or more characters; a removed one, too"
    )


def run(args: argparse.Namespace) -> int:
    """Look, print."""
    from memtui.engine.witness import (
        reach_of,
    )

    reach = reach_of(open_for(args), args.id, os.environ, Path.cwd())
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
    lines += [f"  {agent}  {count} turns" for agent, count in reach.agents.items()]
    for turn in reach.turns:
        lines.append(f"    {moment(turn.time_ms)}  {turn.session}  turn {turn.n}  {turn.evidence}")
    if reach.events:
        lines.append(f"  {len(reach.events)} more injections, which only the store tells of (at least)")
    lines.append(f"answers   {reach.answers} have its words, likely used")
    lines.append(f"captured  {len(reach.captured)} memories from these sessions afterwards")
    lines += [f"  {each}" for each in reach.captured]
    lines.append(f"files     {len(reach.files)}, listed and never touched")
    lines += [f"  {each.path}  {each.kind}" for each in reach.files]
    if reach.versions:
        lines.append(f"versions  v{reach.versions[0]} to v{reach.versions[1]} hold its text")
    lines += [f"! {each}" for each in reach.warnings]
    if reach.removable:
        lines += [
            "",
            f"one change takes it out: memtui forget {' '.join(each[:8] for each in reach.removable)}",
        ]
    print_text("\n".join(lines))
    return 0
