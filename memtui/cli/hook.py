"""`memtui hook`: one event of an agent's host, read as JSON, answered as JSON."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.cli.capture import add_model_arguments, asking
from memtui.cli.connect import preview_or_write, print_next
from memtui.cli.open_store import open_for
from memtui.cli.outermost import failure_of
from memtui.cli.output import print_json, warning
from memtui.cli.server_options import whole_path
from memtui.client_register import register_for
from memtui.engine import Engine, MemtuiError, UsageError, quoted
from memtui.engine.capture import EVENTS
from memtui.engine.discovery import read_config
from memtui.paths import own_command, state_dir

if TYPE_CHECKING:
    from memtui.engine.capture import Event


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui hook`."""
    parser.add_argument(
        "event",
        nargs="?",
        metavar="EVENT",
        help=f"{', '.join(EVENTS)}; its JSON on standard input. With --install: the folder of the project, "
        "for openclaw of the plugin (default: the current one, openclaw's own)",
    )
    parser.add_argument(
        "--install", metavar="HOST", help="write the hooks of a host: claude, codex, gemini, qwen or openclaw"
    )
    parser.add_argument("--undo", action="store_true", help="with --install: undo the last write")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="with --install: print the lines that would change, write nothing",
    )
    parser.add_argument("--yes", action="store_true", help="with --install: confirm writing")
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
    parser.add_argument(
        "--stable",
        action="store_true",
        help="keep the memories of a block in the order of the session's block before, for the prompt cache",
    )
    add_model_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Read one event, play it, answer in its host's words.

    What fails is said and never stops the host: 0, for the turn may go on. What is no event at all ends with 1;
    Claude Code takes 2 for an order to stop: it throws the prompt away, and lets an agent not end.
    """
    if args.install is not None:
        return _install(args)
    if args.event not in EVENTS:
        said = "No event is named." if args.event is None else f"{args.event!r} is no event."
        raise MemtuiError(said, fix=f"Name one of {', '.join(EVENTS)}.")
    from memtui.engine.capture import host_answer, left_unsaid, read_event

    try:
        event = read_event(args.event, _given(), args.agent)
    except UsageError as error:
        raise MemtuiError(error.message, fix=error.fix, details=error.details) from error
    answer = _answered(args, event)
    # the host puts the block before the prompt as it is, so nothing in it is masked here
    print_json(host_answer(event, answer), compact=True, reveal=True)
    for sentence in left_unsaid(event, answer):
        warning(sentence)
    return 0


def _install(args: argparse.Namespace) -> int:
    """Show what a host's hooks change in its files; write it with --yes, undo it with --undo."""
    from memtui.engine.hosts import HOOK_HOSTS, PERMISSION, permission_block, plan_hooks, plan_host_undo

    host = args.install
    if host not in HOOK_HOSTS:
        raise MemtuiError(f"memtui knows no hooks of {host!r}.", fix=f"Name one of {', '.join(HOOK_HOSTS)}.")
    folder = None if args.event is None else Path(args.event).expanduser().absolute()
    named = f"memtui hook --install {host}" + ("" if args.event is None else f" {quoted(args.event)}")
    if args.undo:
        preview_or_write(
            args, plan_host_undo(state_dir(os.environ), host, "hooks", folder), f"{named} --undo"
        )
        return 0
    plan = plan_hooks(host, folder, own_command(), _options(args), os.environ, Path.cwd())
    record = preview_or_write(args, plan, named)
    if record is None or host != "openclaw":
        return 0
    if not any(file.pieces for file in plan.files):
        print_next(args, f"openclaw.json needs {PERMISSION}: true\n{permission_block()}")
    print_next(args, "restart the gateway: openclaw gateway restart")
    return 0


def _options(args: argparse.Namespace) -> list[str]:
    """The options that each hook is run with: those given here."""
    words = [*(["--store", whole_path(str(args.store))] if args.store else []), *(["--rw"] * args.rw)]
    for option, value in (
        ("--as", args.agent),
        ("--config", args.config and whole_path(args.config)),
        ("--workspace", args.workspace and whole_path(args.workspace)),
        ("--llm-model", args.llm_model),
        ("--llm-key-env", args.llm_key_env),
    ):
        words += [option, str(value)] if value else []
    words += [] if args.llm is None else ["--llm", *([args.llm] if args.llm else [])]
    return words + ["--keep-texts"] * args.keep_texts + ["--stable"] * args.stable


def _given() -> str:
    """What stands on standard input: nothing where it is closed, and U+FFFD for what is no UTF-8."""
    return "" if sys.stdin is None else sys.stdin.buffer.read().decode("utf-8-sig", "replace")


def _answered(args: argparse.Namespace, event: Event) -> dict[str, Any]:
    """The answer to the event; what failed on the way stands in it, and in the journal of calls."""
    opened: list[Engine] = []
    try:
        return _played(args, event, opened)
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as failure:  # a panic of the engine is no Exception
        from memtui.engine.capture import note_failed

        told = failure_of(failure)
        if opened and opened[0].state_place is not None:
            note_failed(opened[0].state_place, event, opened[0].now_ms)
        return {"event": event.name, "agent": event.agent, "written": 0, "failed": str(told)}
    finally:
        for engine in opened:
            engine.close()


def _played(args: argparse.Namespace, event: Event, opened: list[Engine]) -> dict[str, Any]:
    from memtui.engine.capture import play

    known = register_for(args.store).named(f"hook:{event.agent}")
    if known is not None and known.paused:
        note = f"A person paused hook:{event.agent}: memtui clients resume hook:{event.agent}."
        return {"event": event.name, "agent": event.agent, "written": 0, "note": note}
    engine = open_for(args, writable=args.rw)
    opened.append(engine)
    engine.write_state.client = f"hook:{event.agent}"
    with asking(args, engine, "pro") as chat:
        place = Path(args.workspace or ".").resolve()
        named = ({"id": event.agent, "workspace": str(place)},) if args.workspace else ()
        config = read_config(args.config) or {}
        return play(engine, event, config, place, chat, named, keep_texts=args.keep_texts, stable=args.stable)
