"""`memtui hook`: one event of an agent's host, read as JSON, answered as JSON."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from memtui.cli.capture import add_model_arguments, asking
from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, warning
from memtui.client_register import register_for
from memtui.engine import MemtuiError, UsageError
from memtui.engine.capture import EVENTS
from memtui.engine.discovery import (
    read_config,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui hook`."""
    parser.add_argument(
        "event", choices=EVENTS, metavar="EVENT", help=f"{', '.join(EVENTS)}; its JSON on standard input"
    )
    parser.add_argument("--rw", action="store_true", help="allow capturing, and counting what is injected")
    parser.add_argument("--as", dest="agent", default="", metavar="AGENT", help="the agent of the event")
    parser.add_argument("--config", metavar="FILE", help="the plugin's own block")
    parser.add_argument(
        "--workspace", metavar="DIR", help="the agent's folder, for its files (default: the current one)"
    )
    parser.add_argument(
        "--keep-texts",
        action="store_true",
        help="keep prompts and messages in the log of calls, secrets masked",
    )
    add_model_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Read one event, play it, answer. What fails is told on standard error and never stops the host.

    Claude Code takes 2 for an order to stop: it throws the prompt away, and lets an agent not end. So it is 1 here.
    """
    try:
        return _played(args)
    except UsageError as error:
        raise MemtuiError(error.message, fix=error.fix, details=error.details) from error


def _given() -> str:
    """What stands on standard input: nothing where it is closed, and U+FFFD for what is no UTF-8."""
    return "" if sys.stdin is None else sys.stdin.buffer.read().decode("utf-8-sig", "replace")


def _played(args: argparse.Namespace) -> int:
    from memtui.engine.capture import (
        play,
        read_event,
    )

    event = read_event(args.event, _given(), args.agent)
    known = register_for(args.store).named(f"hook:{event.agent}")
    if known is not None and known.paused:
        note = f"A person paused hook:{event.agent}: memtui clients resume hook:{event.agent}."
        print_json({"event": event.name, "agent": event.agent, "written": 0, "note": note}, compact=True)
        return 0
    engine = open_for(args, writable=args.rw)
    engine.write_state.client = f"hook:{event.agent}"
    try:
        with asking(args, engine, "pro") as chat:
            place = Path(args.workspace or ".").resolve()
            named = ({"id": event.agent, "workspace": str(place)},) if args.workspace else ()
            config = read_config(args.config) or {}
            answer = play(engine, event, config, place, chat, named, keep_texts=args.keep_texts)
    finally:
        engine.close()
    print_json(answer, compact=True, reveal=True)  # the host puts it before the prompt, to the letter
    if "failed" in answer:  # a failure is no silence: hosts show what stands on standard error
        warning(answer["failed"])
    return 0
