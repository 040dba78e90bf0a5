"""`memtui migrate`: a store of another form made out of one, which is only read."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from memtui.cli.open_store import mapping_of, wall_clock
from memtui.cli.output import print_json, print_table, print_text, warning
from memtui.cli.progress import shown
from memtui.engine import UsageError, counted
from memtui.engine.transfer import (
    FORM_TITLES,
    FORMS,
    Migration,
    Migrator,
    parse_scopes,
    request_for,
)
from memtui.paths import state_dir

ACTIONS = ("check", "run", "verify")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui migrate`."""
    parser.add_argument(
        "action", choices=ACTIONS, help="check what it would do, run it, or verify a finished run"
    )
    parser.add_argument("source", type=Path, metavar="SOURCE", help="the folder of the store to read")
    parser.add_argument(
        "destination", nargs="?", type=Path, metavar="NEW", help="the folder of the new store"
    )
    listed = ", ".join(f"{form} ({FORM_TITLES[form]})" for form in FORMS)
    parser.add_argument(
        "--form", choices=FORMS, help=f"form of the new store: {listed} (default: pro; verify: as it is)"
    )
    parser.add_argument("--scope", metavar="S", help="scope of memories without one (default: global)")
    parser.add_argument("--scopes", metavar="THEIRS=OURS,...", help="target scope for memories of a scope")
    parser.add_argument("--dry-run", action="store_true", help="the same as check")
    parser.add_argument("--now", type=int, metavar="MS", help="time for rows that have none")


def run(args: argparse.Namespace) -> int:
    """Check, run or verify."""
    scopes = parse_scopes(args.scopes) if args.scopes else {}
    request = request_for(args.source, args.scope, scopes=scopes, mapping=mapping_of(args.columns))
    work = state_dir(os.environ) / "transfer"
    migrator = Migrator(request, args.form, args.now or wall_clock(), work, time.perf_counter)
    action = "check" if args.dry_run and args.action == "run" else args.action
    if action != "check" and args.destination is None:
        raise UsageError(
            f"migrate {action} needs the folder of the new store.", fix="Name it after the source."
        )
    with shown(sys.stderr) as on_progress:
        if action == "check":
            done = migrator.check(on_progress)
        elif action == "run":
            done = migrator.run(args.destination, on_progress)
        else:
            done = migrator.verify(args.destination, on_progress)
    for note in done.warnings:
        warning(note)
    if args.json:
        print_json(done.as_json())
    else:
        _print(done, action)
    return 1 if done.problems else 0


def _print(done: Migration, action: str) -> None:
    print_text(f"{done.source}: {counted(done.rows, 'row')} of {done.dialect}")
    for theirs, ours, rows in done.scopes:
        if theirs != ours:
            print_text(f"scope {theirs or '(none)'} -> {ours or '(none)'}: {rows:,}")
    for why, rows in done.left_out:
        print_text(f"left out: {rows:,}: {why}")
    if done.loss:
        ledger = [(loss.field, f"{loss.rows:,}", loss.what) for loss in done.loss]
        print_table(ledger, ("field", "rows", "what changes or is lost"), right_aligned=(1,))
    for problem in done.problems[:20]:
        print_text(f"! {problem}")
    written = counted(done.written, "memory", "memories")
    if action == "check":
        print_text(f"{written} would be in the new store ({FORM_TITLES[done.form]})")
    else:
        print_text(f"{written}, {done.verified:,} verified row by row in {done.destination}")
