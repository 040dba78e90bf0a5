"""The app in a browser: textual-serve, on this machine only, behind a key that only the person's own page has."""

from __future__ import annotations

import asyncio
import hmac
import re
import shlex
import socket
import sys
from collections.abc import Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from memtui.engine import MemtuiError, UsageError

if TYPE_CHECKING:
    from aiohttp import web
    from textual_serve.server import Server


MISSING = "The package textual-serve is not installed, so there is no page to show."

_FONT = re.compile(r"<link\s[^>]*fonts\.googleapis[^>]*>")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens at `host`."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def app_command(arguments: Sequence[str]) -> str:
    """The command line that every page runs: this memtui with `arguments`."""
    return shlex.join([sys.executable, "-m", "memtui", *arguments])


def make_server(arguments: Sequence[str], host: str, port: int, key: str) -> Server:
    """A server whose pages run memtui with `arguments`; `serve()` runs it until Control-C.

    The page opens at `/?key=KEY`, which leaves a cookie; without it nothing is answered. A page of another site
    cannot open the socket either: its origin is not ours. Raises MemtuiError when the package is missing or the
    port taken.
    """
    try:
        from aiohttp import web
        from textual_serve.server import Server
    except ImportError:
        raise MemtuiError(MISSING, fix="Install it with: pip install 'memtui[serve]'") from None
    _free(host, port)
    cookie = f"memtui-{port}"  # cookies do not know ports: two servers must not take each other's

    class KeyedServer(Server):  # type: ignore[misc]
        """textual-serve with a key, without fonts of other sites."""

        async def on_startup(self, app: Any) -> None:
            """Say nothing: whoever started us does."""

        def initialize_logging(self) -> None:
            """Leave the logging of this process alone."""

        async def handle_index(self, request: web.Request) -> web.StreamResponse:
            """The page, for whoever has the key."""
            given = request.query.get("key", "") or request.cookies.get(cookie, "")
            if not hmac.compare_digest(given.encode(), key.encode()):
                raise web.HTTPForbidden(
                    text="Open the address that memtui serve has printed: it holds the key.\n"
                )
            page: web.Response = await super().handle_index(request)
            page.text = _FONT.sub("", page.text or "")
            page.set_cookie(cookie, key, httponly=True, samesite="Strict")
            return page

        async def handle_websocket(self, request: web.Request) -> web.StreamResponse:
            """The socket of a page that we have made ourselves."""
            origin = request.headers.get("Origin", "")
            known = request.cookies.get(cookie, "")
            if origin not in _origins(host, port) or not hmac.compare_digest(known.encode(), key.encode()):
                raise web.HTTPForbidden(text="This page is none of ours.\n")
            answer: web.StreamResponse = await super().handle_websocket(request)
            return answer

    return KeyedServer(
        app_command(arguments), host=host, port=port, title="memtui", public_url=_url(host, port)
    )


def serve(server: Server) -> None:
    """Run it until Control-C."""
    asyncio.set_event_loop(asyncio.new_event_loop())
    server.serve()


def page_url(host: str, port: int, key: str) -> str:
    """The address to open."""
    return f"{_url(host, port)}/?key={key}"


def _url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _origins(host: str, port: int) -> frozenset[str]:
    """Under which names a page of ours can be open."""
    names = {host, "localhost", "127.0.0.1"} if is_loopback(host) else {host}
    return frozenset(_url(name, port) for name in names)


def _free(host: str, port: int) -> None:
    """Raise when nothing can listen there."""
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, proto) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except socket.gaierror:
        raise UsageError(f"{host} is no address of this machine.", fix="Leave --host out.") from None
    except OSError as error:
        raise MemtuiError(
            f"Port {port} of {host} cannot be listened at: {error.strerror}.",
            fix="Choose another with --port.",
        ) from None
