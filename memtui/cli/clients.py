"""`memtui clients`: let clients of the server in, with what rights, pause them, revoke them."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from memtui.cli.open_store import wall_clock
from memtui.cli.output import print_json, print_table, print_text
from memtui.cli.show import moment
from memtui.client_register import only_store, register_for
from memtui.demo_store import is_demo
from memtui.engine import UsageError
from memtui.engine.clients import Client, ClientRegister, rights_of

ACTIONS = ("add", "pause", "resume", "revoke")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui clients`."""
    parser.add_argument(
        "action", nargs="?", choices=ACTIONS, help="add, pause, resume or revoke (default: list the clients)"
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="name of the client")
    parser.add_argument(
        "--as",
        dest="agent",
        default="",
        metavar="AGENT",
        help="with add: the agent it acts for (default: its own name)",
    )
    parser.add_argument(
        "--reads", metavar="SCOPE,...", help="with add: scopes it may read (default: those of its agent)"
    )
    parser.add_argument(
        "--writes", metavar="SCOPE", help="with add: scope it writes to (default: that of its agent)"
    )
    parser.add_argument("--no-writes", action="store_true", help="with add: read only")
    parser.add_argument(
        "--allow",
        default="",
        metavar="RIGHT,...",
        help="with add: what it does without asking a person: update, forget (default: nothing)",
    )
    parser.add_argument(
        "--rate",
        type=int,
        default=0,
        metavar="N",
        help="with add: maximum calls per minute (default: no limit)",
    )


def run(args: argparse.Namespace) -> int:
    """List, or change one client. A token is printed once."""
    register = register_for(args.store)
    if args.action is None:
        return _list(register, args)
    if not (args.name or "").strip():
        raise UsageError("No client is named.", fix=f"Name one: memtui clients {args.action} NAME")
    if args.action == "add":
        return _add(register, args)
    if args.action == "revoke":
        register.revoke(args.name)
    else:
        register.pause(args.name, args.action == "pause")
    done = {
        "pause": "paused",
        "resume": "resumed",
        "revoke": "revoked: its token no longer works",
    }
    print_text(f"{args.name} is {done[args.action]}")
    return 0


def _add(register: ClientRegister, args: argparse.Namespace) -> int:
    if args.rate < 0:
        raise UsageError(
            f"A rate of {args.rate} is not possible.", fix="Give calls a minute, or 0 for no limit."
        )
    reads = tuple(part.strip() for part in args.reads.split(",") if part.strip()) if args.reads else None
    writes = "" if args.no_writes else args.writes
    if reads is not None and writes is None:
        writes = ""  # it was told what to read, and nothing to write
    client = Client(
        args.name,
        agent=args.agent,
        reads=reads,
        writes=writes,
        rate=args.rate,
        added_ms=wall_clock(),
        store=only_store(args.store),
        allow=rights_of(args.allow),
    )
    token = register.add(client)
    if args.json:
        print_json({"name": client.name, "token": token}, reveal=True)
    else:
        print_text(token, reveal=True)
        sys.stderr.write("This is its token. It is not kept and cannot be shown again.\n")
    return 0


def _list(register: ClientRegister, args: argparse.Namespace) -> int:
    clients = register.everywhere() if args.store is None else register.all()
    if args.json:
        hidden = {"token_hash"}
        print_json(
            {
                "clients": [
                    {key: value for key, value in asdict(client).items() if key not in hidden}
                    for client in clients
                ]
            }
        )
        return 0
    if not clients:
        print_text("no client yet: memtui clients add NAME prints a token for one")
        return 0
    print_table(
        [
            (
                client.name,
                "paused" if client.paused else "active",
                *_rights(client),
                ", ".join(client.allow) or "–",
                f"{client.rate}/min" if client.rate else "–",
                moment(client.added_ms) if client.added_ms else "–",
                "demo" if is_demo(args.store) else client.store or "every store",
            )
            for client in clients
        ],
        ("client", "is", "reads", "writes", "allowed", "rate", "since", "store"),
    )
    return 0


def _rights(client: Client) -> tuple[str, str]:
    """What a client reads and writes; one without a token has the rights of the options that it was started with."""
    own = "start options" if client.as_started or (not client.token_hash and not client.agent) else ""
    scope = f"agent:{client.agent or client.name}"
    reads = own or f"global, {scope}" if client.reads is None else ", ".join(client.reads)
    writes = own or scope if client.writes is None else client.writes or "–"
    return reads, writes
