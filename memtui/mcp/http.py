"""The server over streamable HTTP: who asks is told by a token, and each client meets a door of its own."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import sleep
from typing import Any

from memtui.engine import CancelToken, Engine, UsageError
from memtui.engine.clients import Client, ClientRegister, is_loopback
from memtui.mcp.ahead import read_ahead
from memtui.mcp.door import Door
from memtui.mcp.gate import WHO, Gate
from memtui.mcp.server import make_server

READY_S = 0.05
"""How often it is looked whether the server is ready to be asked."""


STREAM_S = 2
"""How long the end of the server waits for streams that clients hold open."""


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
                if client is not None and not client.as_started:
                    door.agent = client.agent or ("" if client.reads is not None else client.name)
                    door.reads, door.writes = client.reads, client.writes
                    door.writable = self._base.writable and client.writes != ""
                if client is not None:
                    door.client, door.allowed = f"mcp:{client.name}", client.allow
                    for other in [door for door in self._doors if door and door.name == client.name]:
                        del self._doors[other]  # the same client with the rights that it had
                self._doors[client] = door
            return door

    def stands(self, door: Door) -> bool:
        """Whether a door is that of a client as it is let in now: not revoked, paused, or given other rights."""
        with self._lock:
            client = next((key for key, each in self._doors.items() if each is door), None)
            if client is None:
                return self._doors.get(None) is door and not self._register.needs_token()
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


def http_app(
    base: Door,
    register: ClientRegister,
    host: str,
    *,
    allowed: Sequence[str] = (),
) -> tuple[Gate, Doors]:
    """The application and the doors behind it. A request for another host, or from another origin, is refused."""
    from memtui.mcp.sessions import routed

    doors = Doors(base, register)

    def door_of(context: Any) -> Door:
        request = context.request
        return doors.of(None if request is None else request.scope.get(WHO))

    local = is_loopback(host)
    names = {"127.0.0.1", "localhost", "[::1]"} if local else {_bracketed(host), *map(_bracketed, allowed)}
    if not local and host in ("0.0.0.0", "::"):
        names |= {socket.gethostname(), *socket.gethostbyname_ex(socket.gethostname())[2]}
    names |= {_bracketed(each) for each in allowed}
    app = routed(*(make_server(base, door_of=door_of, stands=doors.stands) for _ in range(2)))
    return Gate(app, register, open_to_all=local, names={name.lower() for name in names}), doors


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def serve_http(
    base: Door,
    register: ClientRegister,
    place: tuple[str, int],
    first: Client,
    *,
    allowed: Sequence[str] = (),
) -> None:
    """Serve until interrupted. A server that writes lets `first` in where no client was, and says its token once.

    Raises UsageError for an address beyond this machine while no client has a token.
    """
    import uvicorn

    host, port = place
    if not is_loopback(host) and not any(each.token_hash for each in register.all()):
        raise UsageError(
            f"{host} is reached from other machines, and no client has a token.",
            fix="Add one first: memtui clients add NAME.",
        )
    name = token = ""
    if base.writable:  # without a token everybody on this machine, and every page's script, could write
        name, token = register.add_first(first)
    app, doors = http_app(base, register, host, allowed=allowed)
    with socket.create_server(
        (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
    ) as bound:
        sys.stderr.write(f"memtui mcp: http://{_bracketed(host)}:{bound.getsockname()[1]}/mcp\n")
        if token:
            sys.stderr.write(f"memtui mcp: client {name} was added. Its token, shown this once: {token}\n")
        sys.stderr.flush()
        server = uvicorn.Server(
            uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=STREAM_S)
        )
        stopped = CancelToken()
        ahead = threading.Thread(target=doors.read_ahead, args=(lambda: server.started, stopped))
        ahead.start()
        try:
            server.run(sockets=[bound])
        finally:
            stopped.cancel()
            ahead.join()
            doors.close()
