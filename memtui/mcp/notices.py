"""Telling clients that what they read has changed: both ways of the protocol, for a server with one client."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated

from memtui.engine import MemtuiError
from memtui.mcp.door import ToolError
from memtui.mcp.prompts import resource

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp.server.session import ServerSession

    from memtui.mcp.door import Door

EVERY_S = 0.5
"""How often the store is looked at while somebody wants to know."""

MOST = 1_000
"""Resources that are watched for a client; further ones are refused."""


class Notices:
    """Who wants to know of which resource, and what stood there last. Nothing is looked at while nobody does."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._known: dict[str, str] = {}
        """Address of a watched resource to a digest of what stood there."""
        self._sessions: dict[str, dict[int, ServerSession]] = {}
        """Of clients of the older protocol, by address."""
        self._listening = 0
        self._seen: tuple[int, int] | None = None

    async def listen(
        self, context: ServerRequestContext[Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve a stream of notices until the client ends it."""
        for uri in params.notifications.resource_subscriptions or ():
            await self._watch(str(uri))
        await anyio.to_thread.run_sync(self._first_look)
        self._listening += 1
        try:
            return await self._listen(context, params)
        finally:
            self._listening -= 1

    async def subscribe(
        self, context: ServerRequestContext[Any], params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """Watch a resource for a client of the older protocol."""
        await self._watch(str(params.uri))
        await anyio.to_thread.run_sync(self._first_look)
        self._sessions.setdefault(str(params.uri), {})[id(context.session)] = context.session
        return types.EmptyResult()

    async def unsubscribe(
        self, context: ServerRequestContext[Any], params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """Watch it no more."""
        self._sessions.pop(str(params.uri), None)
        return types.EmptyResult()

    @asynccontextmanager
    async def running(self, server: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        """Look at the store now and then, for as long as the server runs."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._look_on)
            try:
                yield {}
            finally:
                group.cancel_scope.cancel()

    async def _look_on(self) -> None:
        while True:
            await anyio.sleep(EVERY_S)
            if self._listening or self._sessions:
                await self.look()

    async def look(self) -> None:
        """Look once, and tell what changed."""
        more, changed = await anyio.to_thread.run_sync(self._changes)
        sessions = {key: each for held in self._sessions.values() for key, each in held.items()}
        if more:
            await self._bus.publish(ResourcesListChanged())
            for session in sessions.values():
                await session.send_resource_list_changed()
        for uri in changed:
            await self._bus.publish(ResourceUpdated(uri=uri))
            for session in self._sessions.get(uri, {}).values():
                await session.send_resource_updated(uri)

    # ------------------------------------------------------------------ the store, on threads

    async def _watch(self, uri: str) -> None:
        if uri in self._known:
            return
        if len(self._known) >= MOST:
            raise MCPError(code=-32602, message=f"uri: {MOST:,} resources are watched already.")
        self._known[uri] = await anyio.to_thread.run_sync(self._digest, uri)

    def _first_look(self) -> None:
        if self._seen is None:
            self._seen = self._stand()

    def _stand(self) -> tuple[int, int] | None:
        """Version and rows of the store as it is now; None where it cannot be opened."""
        try:
            info = self._door.engine.info
        except MemtuiError:
            return None
        return info.version, info.rows

    def _changes(self) -> tuple[bool, list[str]]:
        """Whether there are more or fewer memories, and the watched resources that read otherwise."""
        before, now = self._seen, self._stand()
        if now is None or now == before:
            return False, []
        self._seen = now
        changed = []
        for uri, known in list(self._known.items()):
            if (found := self._digest(uri)) != known:
                self._known[uri] = found
                changed.append(uri)
        return before is not None and now[1] != before[1], changed

    def _digest(self, uri: str) -> str:
        """What stands at an address, as a digest; of what may not be read or is not there, that of nothing."""
        try:
            contents = resource(self._door, uri).contents
        except (MCPError, MemtuiError, ToolError):
            contents = []
        text = "".join(each.text for each in contents if isinstance(each, types.TextResourceContents))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
