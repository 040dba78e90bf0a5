"""The options that a server is started with, and the words of them that a host's file gets."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import NamedTuple

from memtui.client_register import register_for
from memtui.demo_store import DEMO
from memtui.engine import UsageError


def add_server_arguments(parser: argparse.ArgumentParser) -> None:
    """What the agent may, which tools it gets, how it reaches the server."""
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
        help="memtui's own tools, or those of the agent's own plugin with its names and answers",
    )
    parser.add_argument(
        "--workspace",
        metavar="DIR",
        help="with --tools openclaw: the agent's folder, for its learning files (default: the current one)",
    )
    parser.add_argument(
        "--client",
        default="",
        metavar="NAME",
        help="its name in the journal; over HTTP of callers without a token (default: that of the agent)",
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


class Served(NamedTuple):
    """A server over HTTP as a host calls it."""

    url: str
    token: bool
    """Whether the host must send a token."""
    known: bool
    """Whether a client with the name given by --client exists."""
    started: str
    """The command that starts it."""


def server_words(args: argparse.Namespace) -> list[str]:
    """The arguments that start the server with these options over standard input and output."""
    given = ["mcp"]
    if args.store:
        given += ["--store", whole_path(str(args.store))]
    given += ["--rw"] * args.rw + (["--as", args.agent] if args.agent else [])
    if args.tools != "memtui":
        given += ["--tools", args.tools]
    for option, value in (("--config", args.config), ("--workspace", args.workspace)):
        given += [option, whole_path(value)] if value else []
    given += ["--client", args.client] if args.client else []
    given += ["--allow", args.allow] if args.allow and not args.http else []
    return given + ["--keep-texts"] * args.keep_texts


def served_at(args: argparse.Namespace) -> Served:
    """What a host needs to call the server at --http, and how that is started. UsageError for any free port."""
    from memtui.engine.clients import is_loopback, place_of

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
    known = bool(args.client) and register.named(args.client) is not None
    token = not local or args.rw or register.needs_token()
    words = server_words(args) + [word for each in args.allow_host for word in ("--allow-host", each)]
    return Served(url, token, known, shlex.join(["memtui", *words, "--http", args.http]))


def whole_path(path: str) -> str:
    """A path that is there in full, since hosts start the server in a folder of their own; else as it was given."""
    found = Path(path).expanduser()
    return str(found.resolve()) if path != DEMO and found.exists() else path
