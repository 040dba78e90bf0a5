"""`memtui inbox`: what waits for a person, and working it off."""

from __future__ import annotations

import argparse

from memtui.cli.memory_changes import add_safety_arguments
from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_table, print_text, warning
from memtui.engine import UsageError, changes, one_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui inbox`."""
    parser.add_argument("--accept", metavar="ID", help="keep the proposed memory")
    parser.add_argument("--text", metavar="TEXT", help="with --accept: store this text instead")
    parser.add_argument("--refuse", metavar="ID", help="reject it, and do not propose it again")
    add_safety_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """List, or settle one."""
    from memtui.engine.capture import (
        Inbox,
        shown,
    )

    if args.accept and args.refuse:
        raise UsageError("Accept or refuse, not both.", fix="Give one of them.")
    if args.text and not args.accept:
        raise UsageError("--text belongs to --accept.", fix="Give --accept ID with it.")
    settles = bool(args.accept or args.refuse)
    engine = open_for(args, writable=settles and not args.dry_run)
    engine.load_catalog()
    engine.load_metadata()
    inbox = Inbox(engine)
    if not settles:
        items = inbox.items()
        if args.json:
            print_json(
                {
                    "schema": "memtui.inbox.v1",
                    "counts": shown(items),
                    "items": [item.as_json() for item in items],
                    "done": inbox.done(),
                }
            )
        elif not items:
            print_text("Nothing needs review.")
        else:
            print_table(
                [(item.id, item.verdict, item.text, item.why) for item in items],
                ("id", "verdict", "text", "why"),
            )
        return 0
    item = inbox.find(args.accept or args.refuse)
    planned = inbox.plan_accept(item, args.text) if args.accept else inbox.plan_refuse(item)
    if args.dry_run:
        document = None if planned is None else planned.as_json()
        if args.json:
            print_json({"schema": "memtui.inbox.v1", "item": item.as_json(), "change": document})
        else:
            print_text(
                f"dry run: {item.if_accepted if args.accept else item.if_refused}; nothing was written"
            )
        return 0
    entry = None
    if planned is not None:
        outcome = changes.apply(engine, planned, confirmed=args.yes)
        entry = outcome.entry
        for note in outcome.warnings:
            warning(note)
    inbox.settled(item, "accepted" if args.accept else "refused", entry)
    if args.json:
        print_json({"schema": "memtui.inbox.v1", "item": item.as_json(), "entry": entry})
    else:
        back = "" if entry is None else f"; undo with: memtui undo {entry}"
        words = args.text or item.text
        print_text(f"{'accepted' if args.accept else 'refused'}: {one_line(words)}{back}")
    return 0
