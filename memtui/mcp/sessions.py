"""Sessions over HTTP, for hosts of an older protocol whose person can be asked: a question needs a way back.

All others are served without one: then no request leaves anything behind that another client could name.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Route

from memtui.mcp.gate import ASKED, PATH, WHO
from memtui.mcp.greeting import HANDSHAKES

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.types import Receive, Scope, Send

MOST_SESSIONS = 500
"""Open at a time; the host is told to come back."""

IDLE_S = 30 * 60
"""A session without a request for so long ends; its client begins another one."""


class SessionRouter:
    """Hands each request to the server that keeps sessions, or to the one that keeps none."""

    def __init__(self, plain: Server[Any], keeping: Server[Any]) -> None:
        looked = TransportSecuritySettings(  # the gate has looked, at the whole of both headers
            enable_dns_rebinding_protection=False
        )
        self._plain = StreamableHTTPSessionManager(
            plain, json_response=True, stateless=True, security_settings=looked
        )
        self._keeping = StreamableHTTPSessionManager(
            keeping, security_settings=looked, session_idle_timeout=IDLE_S, max_sessions=MOST_SESSIONS
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        named = any(name.lower() == MCP_SESSION_ID_HEADER.encode() for name, _ in scope["headers"])
        if not named and not can_be_asked(scope.get(ASKED)):
            await self._plain.handle_request(scope, receive, send)
            return
        client = scope.get(WHO)
        if client is not None:  # a session is its client's alone, and ends with the token that opened it
            owner = f"{client.name}:{client.token_hash}"
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=owner, scopes=[]))
        await self._keeping.handle_request(scope, receive, send)

    @asynccontextmanager
    async def running(self, app: Starlette) -> AsyncIterator[None]:
        """Run both for as long as the application does."""
        async with self._plain.run(), self._keeping.run():
            yield


def routed(plain: Server[Any], keeping: Server[Any]) -> Starlette:
    """The application of a server for requests alone and one for sessions."""
    router = SessionRouter(plain, keeping)
    return Starlette(routes=[Route(PATH, endpoint=router)], lifespan=router.running)


def can_be_asked(message: Any) -> bool:
    """Whether a message begins a session of an older protocol and says that its person can be asked in a form."""
    if not isinstance(message, dict) or message.get("method") != "initialize":
        return False
    params = message.get("params")
    if not isinstance(params, dict) or params.get("protocolVersion") not in HANDSHAKES:
        return False
    capabilities = params.get("capabilities")
    how = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(how, dict) and ("form" in how or "url" not in how)
