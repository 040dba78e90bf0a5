"""`memtui serve`: the app in a browser."""

from __future__ import annotations

import argparse
import secrets
import sys
import webbrowser

from memtui.cli.output import print_json, print_text
from memtui.engine import RefusedError, UsageError
from memtui.serving import is_loopback, make_server, page_url, serve


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui serve`."""
    parser.add_argument(
        "target", nargs="?", metavar="STORE", help="the store to open; demo is the demo store"
    )
    parser.add_argument("--rw", action="store_true", help="allow changes; without it the store is only read")
    parser.add_argument(
        "--port", type=int, default=8000, metavar="N", help="port to listen on (default: 8000)"
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="address to listen at (default: this machine only)",
    )
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument(
        "--yes", action="store_true", help="confirm listening where other machines can connect"
    )


def run(args: argparse.Namespace) -> int:
    """Listen until Control-C."""
    if not 1 <= args.port <= 65_535:
        raise UsageError(f"{args.port} is no port.", fix="Give a number from 1 to 65535.")
    if not is_loopback(args.host) and not args.yes:
        raise RefusedError(
            f"Other machines reach {args.host}, and nothing that is sent is encrypted.",
            fix="Use a tunnel (ssh -L 8000:127.0.0.1:8000 ...), or say --yes.",
        )
    key = secrets.token_urlsafe(16)
    server = make_server(_app_arguments(args), args.host, args.port, key)
    url = page_url(args.host, args.port, key)
    if args.json:
        print_json({"url": url}, compact=True, reveal=True)
    else:
        print_text(f"memtui is at {url}\nControl-C ends it.")
    sys.stdout.flush()  # a program that started us waits for the address
    if args.open:
        webbrowser.open(url)
    serve(server)
    return 0


def _app_arguments(args: argparse.Namespace) -> list[str]:
    """The words for the app that each page runs."""
    store = args.store or args.target
    if store == "demo":
        return ["demo"]
    words = [store] if store else []
    for option in ("table", "columns"):
        if value := getattr(args, option):
            words += [f"--{option}", value]
    return [*words, "--rw"] if args.rw else words
