"""`memtui mcp`: the store for agents, over the Model Context Protocol."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.cli.open_store import open_for, wall_clock
from memtui.cli.output import print_text
from memtui.cli.server_options import add_server_arguments, served_at, server_words
from memtui.client_register import only_store, register_for
from memtui.demo_store import DEMO
from memtui.engine import Engine, MemtuiError, UsageError
from memtui.engine.access import DEFAULT_AGENT
from memtui.engine.cases import CaseBook
from memtui.engine.discovery import read_config, table_columns
from memtui.paths import SERVER_EXTRA, cases_file, has_server, own_command, settings_file

if TYPE_CHECKING:
    from memtui.mcp.door import Door
    from memtui.mcp.tools.base import Tool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui mcp`."""
    add_server_arguments(parser)
    parser.add_argument(
        "--print-config",
        metavar="HOST",
        help="print the configuration to paste: claude, codex, cursor, vscode, openclaw, claude-desktop, opencode, "
        "gemini, qwen, copilot, cline or continue; with --http for a running server",
    )


def run(args: argparse.Namespace, now: Callable[[], int] = wall_clock) -> int:
    """Serve until the input ends, or print a host's configuration. `now` is the clock of its calls, in milliseconds."""
    if args.print_config is not None:
        return _print_config(args)
    if not has_server():
        raise UsageError(
            "The server needs the package mcp, which is not installed.",
            fix=f"Install it with: {SERVER_EXTRA}",
        )
    os.environ.setdefault("LANCEDB_LOG", "error")
    door = opened_door(args, now)
    if args.http:
        from memtui.engine.clients import OWNER, Client, place_of
        from memtui.mcp.http import serve_http

        if args.allow:
            raise UsageError(
                "--allow with --http would hold for every client.",
                fix="Give it to one: memtui clients add NAME --allow update,forget.",
            )
        first = Client(OWNER, as_started=True, added_ms=now(), store=only_store(args.store))
        serve_http(door, register_for(args.store), place_of(args.http), first, allowed=args.allow_host)
        gc.freeze()
        return 0
    from memtui.mcp.greeting import Greeting
    from memtui.mcp.stdio import StandardStreams

    streams = StandardStreams(Greeting(door.can_store))  # before the SDK: a host waits for its first answers
    try:
        import anyio

        from memtui.mcp.server import serve_stdio

        anyio.run(serve_stdio, door, streams)
    finally:
        door.close()
        streams.close()
        gc.freeze()  # else the interpreter looks once more through everything that the SDK has made
    return 0


def opened_door(args: argparse.Namespace, now: Callable[[], int] = wall_clock) -> Door:
    """Return the door that these options ask for, with the tools of its store."""
    from memtui.engine.clients import rights_of
    from memtui.mcp.door import Door

    def open_engine() -> Engine:
        engine = open_for(args, now, writable=args.rw)
        engine.load_catalog()
        return engine

    def cases(engine: Engine) -> CaseBook:
        return CaseBook(cases_file(engine.info.uri))

    config = read_config(args.config)
    return Door(
        open_engine,
        agent=args.agent,
        writable=args.rw,
        client=args.client or (f"mcp:{args.agent}" if args.agent else "mcp"),
        config=config,
        cases=cases,
        register=register_for(args.store),
        keep_texts=args.keep_texts,
        allowed=rights_of(args.allow),
        tools=_tools_of(args, config or {}),
    )


def _tools_of(args: argparse.Namespace, config: Mapping[str, Any]) -> tuple[Tool, ...] | None:
    """The tools that `--tools` names, as far as the store has what they need; None: memtui's own."""
    if args.tools != "openclaw":
        return None
    if _is_index(args):
        from memtui.mcp.memory_core import memory_core_tools

        return memory_core_tools()
    from memtui.mcp.openclaw import openclaw_tools

    place = Path(args.workspace or ".").resolve()
    named = ({"id": args.agent or DEFAULT_AGENT, "workspace": str(place)},) if args.workspace else ()
    return openclaw_tools(place, config, named, table_columns(args.store, args.table))


def _is_index(args: argparse.Namespace) -> bool:
    """Whether the store is an index of memory-core, told without opening it; one that is not found is none."""
    from memtui.engine.discovery import resolve_target
    from memtui.settings import load_settings

    if args.store == DEMO:
        return False
    try:
        settings = load_settings(settings_file(), os.environ)
        target = resolve_target(args.store, settings, os.environ, Path.cwd())
    except MemtuiError:
        return False
    return target.found is not None and target.found.is_index


def _print_config(args: argparse.Namespace) -> int:
    from memtui.engine.hosts import HOSTS, TOKEN, WHERE, host_config, host_config_http

    if args.print_config not in HOSTS:
        raise UsageError(
            f"--print-config does not know {args.print_config!r}.", fix=f"Name one of {', '.join(HOSTS)}."
        )
    where = WHERE[args.print_config]
    if not args.http:
        print_text(host_config(args.print_config, own_command(), server_words(args)), reveal=True)
        sys.stderr.write(f"Put it {where}.\n")
        return 0
    served = served_at(args)
    print_text(host_config_http(args.print_config, served.url, token=served.token), reveal=True)
    sys.stderr.write(f"Put it {where}. Start the server: {served.started}\n")
    if served.token:
        known = "" if served.known else f" (memtui clients add {args.client or 'NAME'} prints it, once)"
        sys.stderr.write(f"The host sends the token of its variable {TOKEN}{known}.\n")
    return 0
