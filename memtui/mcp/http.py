"""The server over streamable HTTP: who asks is told by a token, and each client meets a door of its own."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from memtui.engine import CancelToken, Engine, UsageError, counted
from memtui.engine.clients import Client, ClientRegister, RateLimit, is_loopback
from memtui.mcp.ahead import read_ahead
from memtui.mcp.door import Door
from memtui.mcp.server import make_server

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from memtui.mcp.tools.base import Tool


WHO = "memtui.client"
"""Where the request carries the client that its token names."""

READY_S = 0.05
"""How often it is looked whether the server is ready to be asked."""


class Doors:
    """One door a client, all on one opened store."""

    def __init__(self, base: Door, register: ClientRegister) -> None:
        self._base, self._register = base, register
        self._lock = threading.RLock()
        self._opened: list[Engine] = []
        self._doors: dict[Client | None, Door] = {}

    def open_engine(self) -> Engine:
        """The one engine, opened at the first call."""
        with self._lock:
            if not self._opened:
                self._opened.append(self._base.open_engine())
            return self._opened[0]

    def of(self, client: Client | None) -> Door:
        """The door of a client with the rights that it has now; None: nobody in particular, on this machine."""
        with self._lock:
            door = self._doors.get(client)
            if door is None:
                door = replace(self._base, open_engine=self.open_engine, lock=self._lock, via="http").fresh()
                if client is not None:
                    door.agent = client.agent or ("" if client.reads is not None else client.name)
                    door.client = f"mcp:{client.name}"
                    door.reads, door.writes = client.reads, client.writes
                    door.writable = self._base.writable and client.writes != ""
                    for other in [each for each in self._doors if each and each.name == client.name]:
                        del self._doors[other]  # the same client with the rights that it had
                self._doors[client] = door
            return door

    def stands(self, door: Door) -> bool:
        """Whether a door is that of a client as it is let in now: not revoked, paused, or given other rights."""
        with self._lock:
            client = next((key for key, each in self._doors.items() if each is door), None)
            if client is None:
                return self._doors.get(None) is door
        known = self._register.named(client.name)
        return known == client and not client.paused

    def read_ahead(self, ready: Callable[[], bool], stopped: CancelToken) -> None:
        """As soon as the server is ready, open the store and make ready what a first search would wait for."""
        while not ready():
            if stopped.cancelled:
                return
            sleep(READY_S)
        read_ahead(self.of(None), stopped)

    def close(self) -> None:
        """Close the store."""
        with self._lock:
            for engine in self._opened:
                engine.close()
            self._opened.clear()
            self._doors.clear()


class Gate:
    """Lets requests in by their token. Without one only where `open_to_all`, which is this machine alone."""

    def __init__(
        self,
        app: ASGIApp,
        register: ClientRegister,
        *,
        open_to_all: bool,
        now: Callable[[], float] = monotonic,
    ) -> None:
        self._app, self._register, self._open = app, register, open_to_all
        self._rate = RateLimit(now)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve, or answer 401, 403 or 429 with what to do."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        from starlette.responses import JSONResponse

        given = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
        kind, _, token = given.partition(" ")
        client: Client | None = None
        refusal: tuple[int, str, dict[str, str]] | None = None
        if given:
            client = self._register.of_token(token.strip()) if kind.lower() == "bearer" else None
            if client is None:
                refusal = (401, "This token is not known.", {"WWW-Authenticate": "Bearer"})
        elif not self._open:
            refusal = (401, "Send a token: memtui clients add NAME.", {"WWW-Authenticate": "Bearer"})
        if client is not None and client.paused:
            refusal = (403, "A person paused this client: memtui clients resume NAME.", {})
        elif client is not None and (wait := self._rate.wait(client)):
            refusal = (429, f"{counted(client.rate, 'call')} a minute at most.", {"Retry-After": str(wait)})
        if refusal is not None:
            status, why, headers = refusal
            await JSONResponse({"error": why}, status, headers)(scope, receive, send)
            return
        scope[WHO] = client
        await self._app(scope, receive, send)


def http_app(
    base: Door,
    register: ClientRegister,
    host: str,
    *,
    allowed: Sequence[str] = (),
    tools: Sequence[Tool] | None = None,
) -> tuple[Gate, Doors]:
    """The application and the doors behind it. A request for another host, or from another origin, is refused."""
    from mcp.server.transport_security import TransportSecuritySettings

    doors = Doors(base, register)

    def door_of(context: Any) -> Door:
        request = context.request
        return doors.of(None if request is None else request.scope.get(WHO))

    local = is_loopback(host)
    names = {"127.0.0.1", "localhost", "[::1]"} if local else {_bracketed(host), *map(_bracketed, allowed)}
    if not local and host in ("0.0.0.0", "::"):
        names |= {socket.gethostname(), *socket.gethostbyname_ex(socket.gethostname())[2]}
    names |= {_bracketed(each) for each in allowed}
    app = make_server(base, tools, door_of=door_of, stands=doors.stands).streamable_http_app(
        host=host,
        stateless_http=True,  # no session that another client could name
        json_response=True,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[form for name in sorted(names) for form in (name, f"{name}:*")],
            allowed_origins=[
                f"{kind}://{form}"
                for kind in ("http", "https")
                for n in sorted(names)
                for form in (n, f"{n}:*")
            ],
        ),
    )
    return Gate(app, register, open_to_all=local), doors


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def serve_http(
    base: Door,
    register: ClientRegister,
    place: tuple[str, int],
    *,
    allowed: Sequence[str] = (),
    tools: Sequence[Tool] | None = None,
) -> None:
    """Serve until interrupted. Raises UsageError for an address beyond this machine while no client has a token."""
    import uvicorn

    host, port = place
    if not is_loopback(host) and not any(each.token_hash for each in register.all()):
        raise UsageError(
            f"{host} is reached from other machines, and no client has a token.",
            fix="Let one in first: memtui clients add NAME.",
        )
    app, doors = http_app(base, register, host, allowed=allowed, tools=tools)
    with socket.create_server(
        (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
    ) as bound:
        sys.stderr.write(f"memtui mcp: http://{_bracketed(host)}:{bound.getsockname()[1]}/mcp\n")
        sys.stderr.flush()
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False))
        stopped = CancelToken()
        ahead = threading.Thread(target=doors.read_ahead, args=(lambda: server.started, stopped))
        ahead.start()
        try:
            server.run(sockets=[bound])
        finally:
            stopped.cancel()
            ahead.join()
            doors.close()
