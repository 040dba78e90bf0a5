"""Who is let in over HTTP: the address that was called, the page that calls, the token, the calls of a minute."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from memtui.engine import UsageError, counted
from memtui.engine.clients import Client, ClientRegister, RateLimit
from memtui.mcp.messages import MOST_BYTES, Fault, read_message

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

WHO = "memtui.client"
"""Where the request carries the client that its token names."""

ASKED = "memtui.message"
"""Where the request carries the message that was read of its body."""

PATH = "/mcp"

COUNTED = ("tools/call", "resources/read", "prompts/get")
"""The requests that a rate counts: those that read or write memories, not the greetings of a host."""

_PORT = re.compile(r":[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """Why a request is not served: the status, the code of the protocol, the sentence, further headers."""

    status: int
    code: int
    why: str
    headers: Mapping[str, str]


class Gate:
    """Lets requests in by their token.

    Without one only where `open_to_all`, and there only until a first client was let in: who is paused or revoked
    gets no more by leaving its token out. `names` are the hosts that the server is called by, in lower case.
    """

    def __init__(
        self,
        app: ASGIApp,
        register: ClientRegister,
        *,
        open_to_all: bool,
        names: Collection[str],
        now: Callable[[], float] = monotonic,
    ) -> None:
        self._app, self._register, self._open = app, register, open_to_all
        self._names = frozenset(names)
        self._rate = RateLimit(now)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve, or answer with an error of the protocol that says what to do."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"].rstrip("/") != PATH:  # a host that looks for a login finds that there is none
            await _answer(
                scope, receive, send, RefusedCall(404, -32600, f"There is only {PATH} here.", {}), None
            )
            return
        sends = scope["method"] == "POST"
        body = await _body(receive) if sends else b""
        if body is None:
            return  # whoever called hung up
        told = read_message(body) if sends else {}
        fault = told if isinstance(told, Fault) else None
        asked = told if isinstance(told, dict) else {}
        try:
            refusal = self._address(scope) or self._caller(scope, asked.get("method"))
        except UsageError as error:
            refusal = RefusedCall(500, -32603, f"{error.message} {error.fix}", {})
        if refusal is not None:
            await _answer(scope, receive, send, refusal, fault.id if fault else asked.get("id"))
            return
        if fault is not None:
            status = 413 if len(body) > MOST_BYTES else 400
            await _answer(scope, receive, send, RefusedCall(status, fault.code, fault.why, {}), fault.id)
            return
        if sends:  # what was read is what is served: half characters and a byte-order mark are gone
            body = json.dumps(told).encode()
            scope[ASKED] = told
            scope["headers"] = [
                (name, str(len(body)).encode() if name == b"content-length" else value)
                for name, value in scope["headers"]
            ]
        await self._app(scope, _replayed(body, receive) if sends else receive, send)

    def _address(self, scope: Scope) -> RefusedCall | None:
        """Refuse a name that is not this server's, and a page of another site: a browser sends both as they are."""
        hosts = _header(scope, b"host")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            why = "This host name is not served. A person can allow it: memtui mcp --allow-host NAME."
            return RefusedCall(421, -32600, why, {})
        for origin in _header(scope, b"origin"):
            kind, separator, host = origin.partition("://")
            if kind.lower() not in ("http", "https") or not separator or not self._is_ours(host):
                why = "A page of another site may not call this server."
                return RefusedCall(403, -32600, why, {})
        return None

    def _is_ours(self, host: str) -> bool:
        """Whether a host is one of the names, with a port or without, and nothing else."""
        name, low = "", host.lower()
        for each in self._names:
            if low.startswith(each) and len(each) > len(name):
                name = each
        rest = low[len(name) :]
        return bool(name) and (not rest or _PORT.fullmatch(rest) is not None)

    def _caller(self, scope: Scope, method: object) -> RefusedCall | None:
        """Refuse whom the register does not let in; else note in the request who it is."""
        given = (_header(scope, b"authorization") or [""])[-1]
        kind, _, token = given.partition(" ")
        client: Client | None = None
        if given:
            client = self._register.of_token(token.strip()) if kind.lower() == "bearer" else None
            if client is None:
                why = "This token is not known. Add the client: memtui clients add NAME."
                return RefusedCall(401, -32001, why, {})
        elif not self._open or self._register.needs_token():
            why = "Send a token (Authorization: Bearer TOKEN). A person makes one: memtui clients add NAME."
            return RefusedCall(401, -32001, why, {})
        if client is not None and client.paused:
            why = f"This client is paused. Resume it: memtui clients resume {client.name}."
            return RefusedCall(403, -32003, why, {})
        if client is not None and method in COUNTED and (wait := self._rate.wait(client)):
            why = f"{counted(client.rate, 'call')} a minute at most. Wait {counted(wait, 'second')}."
            return RefusedCall(429, -32029, why, {"Retry-After": str(wait)})
        scope[WHO] = client
        return None


def _header(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


async def _answer(
    scope: Scope, receive: Receive, send: Send, refusal: RefusedCall, id: str | int | None
) -> None:
    """An error of the protocol. No header asks for a login: hosts would look for a page that is not there."""
    from starlette.responses import JSONResponse

    error = {"code": refusal.code, "message": refusal.why}
    told = {"jsonrpc": "2.0", "id": id, "error": error}
    await JSONResponse(told, refusal.status, dict(refusal.headers))(scope, receive, send)


async def _body(receive: Receive) -> bytes | None:
    """What was sent, up to one byte more than is taken; None where it broke off."""
    held = bytearray()
    while len(held) <= MOST_BYTES:
        message = await receive()
        if message["type"] != "http.request":
            return None
        held += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return bytes(held)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """What gives the body once more, then what comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
