"""`memtui mcp`: the store for agents, over the Model Context Protocol."""

from __future__ import annotations

import argparse
import gc
import os
import shlex
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.cli.open_store import open_for, wall_clock
from memtui.cli.output import print_text
from memtui.client_register import only_store, register_for
from memtui.demo_store import DEMO
from memtui.engine import Engine, UsageError
from memtui.engine.access import DEFAULT_AGENT
from memtui.engine.cases import CaseBook
from memtui.engine.discovery import read_config
from memtui.paths import cases_file

if TYPE_CHECKING:
    from memtui.mcp.door import Door
    from memtui.mcp.tools.base import Tool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui mcp`."""
    parser.add_argument("--rw", action="store_true", help="allow the agent to store, update and forget")
    parser.add_argument(
        "--as",
        dest="agent",
        default="",
        metavar="AGENT",
        help="it reads global and agent:AGENT, and writes there",
    )
    parser.add_argument("--config", metavar="FILE", help="the plugin's own block: retrieval, decay")
    parser.add_argument(
        "--tools",
        choices=("memtui", "openclaw"),
        default="memtui",
        help="memtui's own tools, or those of memory-lancedb-pro with its names and answers",
    )
    parser.add_argument(
        "--workspace",
        metavar="DIR",
        help="with --tools openclaw: the agent's folder, for its learning files (default: the current one)",
    )
    parser.add_argument(
        "--client", default="", metavar="NAME", help="its name in the journal (default: that of the agent)"
    )
    parser.add_argument(
        "--allow",
        default="",
        metavar="RIGHT,...",
        help="with --rw: what the agent does without asking a person: update, forget (default: nothing)",
    )
    parser.add_argument(
        "--http",
        metavar="[HOST:]PORT",
        help="serve over streamable HTTP at /mcp; from other machines only with a token (memtui clients add)",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="with --http: a host name that clients may use",
    )
    parser.add_argument(
        "--keep-texts",
        action="store_true",
        help="keep questions in the log of calls, secrets masked",
    )
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
    if find_spec("mcp") is None:
        raise UsageError(
            "The server needs the package mcp, which is not installed.",
            fix="Install it with: pip install 'memtui[mcp]'",
        )
    os.environ.setdefault("LANCEDB_LOG", "error")
    door, tools = opened_door(args, now)
    if args.http:
        from memtui.engine.clients import OWNER, Client, place_of
        from memtui.mcp.http import serve_http

        if args.allow:
            raise UsageError(
                "--allow with --http would hold for every client.",
                fix="Give it to one: memtui clients add NAME --allow update,forget.",
            )
        first = Client(OWNER, as_started=True, added_ms=now(), store=only_store(args.store))
        serve_http(
            door, register_for(args.store), place_of(args.http), first, allowed=args.allow_host, tools=tools
        )
        gc.freeze()
        return 0
    from memtui.mcp.greeting import Greeting
    from memtui.mcp.stdio import StandardStreams

    streams = StandardStreams(Greeting(args.rw))  # before the SDK: a host waits for its first answers
    try:
        import anyio

        from memtui.mcp.server import serve_stdio

        anyio.run(serve_stdio, door, streams, tools)
    finally:
        door.close()
        streams.close()
        gc.freeze()  # else the interpreter looks once more through everything that the SDK has made
    return 0


def opened_door(
    args: argparse.Namespace, now: Callable[[], int] = wall_clock
) -> tuple[Door, tuple[Tool, ...] | None]:
    """Return the door that these options ask for, and its tools where they are not memtui's own."""
    from memtui.engine.clients import rights_of
    from memtui.mcp.door import Door

    def open_engine() -> Engine:
        engine = open_for(args, now, writable=args.rw)
        engine.load_catalog()
        return engine

    def cases(engine: Engine) -> CaseBook:
        return CaseBook(cases_file(engine.info.uri))

    door = Door(
        open_engine,
        agent=args.agent,
        writable=args.rw,
        client=args.client or (f"mcp:{args.agent}" if args.agent else "mcp"),
        config=read_config(args.config),
        cases=cases,
        register=register_for(args.store),
        keep_texts=args.keep_texts,
        allowed=rights_of(args.allow),
    )
    if args.tools != "openclaw":
        return door, None
    from memtui.mcp.openclaw import openclaw_tools

    place = Path(args.workspace or ".").resolve()
    named = ({"id": args.agent or DEFAULT_AGENT, "workspace": str(place)},) if args.workspace else ()
    return door, openclaw_tools(place, door.config or {}, named)


def _whole(path: str) -> str:
    """A path that is there in full, since hosts start the server in a folder of their own; else as it was given."""
    found = Path(path).expanduser()
    return str(found.resolve()) if path != DEMO and found.exists() else path


def _print_http(args: argparse.Namespace, given: list[str]) -> int:
    """What a host needs to call the server at --http, and how that is started."""
    from memtui.engine.clients import TOKEN, WHERE, host_config_http, is_loopback, place_of

    host, port = place_of(args.http)
    if not port:
        raise UsageError("--http 0 takes any port that is free.", fix="Name the port: --http 8765.")
    local = is_loopback(host)
    name = args.allow_host[0] if args.allow_host else host
    if name in ("0.0.0.0", "::"):
        import socket

        name = socket.gethostname()
    url = f"http://{f'[{name}]' if ':' in name else name}:{port}/mcp"
    register = register_for(args.store)
    client = register.named(args.client) if args.client else None
    token = not local or args.rw or register.needs_token()
    print_text(host_config_http(args.print_config, url, token=token), reveal=True)
    started = shlex.join(["memtui", *given, "--http", args.http])
    sys.stderr.write(f"Put it {WHERE[args.print_config]}. Start the server: {started}\n")
    if token:
        known = "" if client is not None else f" (memtui clients add {args.client or 'NAME'} prints it, once)"
        sys.stderr.write(f"The host sends the token of its variable {TOKEN}{known}.\n")
    return 0


def _print_config(args: argparse.Namespace) -> int:
    from memtui.engine.clients import HOSTS, WHERE, host_config

    if args.print_config not in HOSTS:
        raise UsageError(
            f"--print-config does not know {args.print_config!r}.", fix=f"Name one of {', '.join(HOSTS)}."
        )
    given = ["mcp"]
    if args.store:
        given += ["--store", _whole(str(args.store))]
    given += ["--rw"] * args.rw + (["--as", args.agent] if args.agent else [])
    if args.tools != "memtui":
        given += ["--tools", args.tools]
    for option, value in (("--config", args.config), ("--workspace", args.workspace)):
        given += [option, _whole(value)] if value else []
    given += ["--client", args.client] if args.client else []
    given += ["--allow", args.allow] if args.allow and not args.http else []
    given += ["--keep-texts"] * args.keep_texts
    if args.http:
        given += [word for each in args.allow_host for word in ("--allow-host", each)]
        return _print_http(args, given)
    command = sys.argv[0] if os.path.basename(sys.argv[0]) == "memtui" else "memtui"
    print_text(host_config(args.print_config, command, given), reveal=True)
    sys.stderr.write(f"Put it {WHERE[args.print_config]}.\n")
    return 0
