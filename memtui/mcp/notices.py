"""Telling clients that what they read has changed: both ways of the protocol, each client as far as it may read."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable
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


class NoticeBoard:
    """The notices of every door of a server. A door is looked through only while somebody behind it wants to know.

    `door_of` tells the door of a request; `stands` whether a door has the rights that it was made with: streams
    behind another one end, and their clients come back by the way that is theirs now, if there is one.
    """

    def __init__(
        self, door_of: Callable[[ServerRequestContext[Any]], Door], stands: Callable[[Door], bool]
    ) -> None:
        self._door_of, self._stands = door_of, stands
        self._notices: dict[int, Notices] = {}

    def _of(self, context: ServerRequestContext[Any]) -> Notices:
        door = self._door_of(context)
        return self._notices.setdefault(
            id(door), Notices(door)
        )  # it holds the door, so the number stays the door's

    async def listen(
        self, context: ServerRequestContext[Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve a stream of notices until the client ends it."""
        return await self._of(context).listen(context, params)

    async def subscribe(
        self, context: ServerRequestContext[Any], params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """Watch a resource for a client of the older protocol."""
        return await self._of(context).subscribe(context, params)

    async def unsubscribe(
        self, context: ServerRequestContext[Any], params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """Watch it no more."""
        return await self._of(context).unsubscribe(context, params)

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
            for key, notices in list(self._notices.items()):
                stands, paused = self._state(notices.door)
                if not stands or not notices.wanted:
                    del self._notices[key]
                    notices.end()
                elif not paused:
                    await notices.look()

    def _state(self, door: Door) -> tuple[bool, bool]:
        """Whether a door stands, and whether it is paused; where the register cannot be read, nobody is let in."""
        try:
            return self._stands(door), door.paused
        except MemtuiError:
            return False, True


class Notices:
    """Who behind one door wants to know of which resource, and what stood there last."""

    def __init__(self, door: Door) -> None:
        self.door = door
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
        self._listening += 1  # first: nobody is taken for gone while the store is read
        try:
            for uri in params.notifications.resource_subscriptions or ():
                await self._watch(str(uri))
            await anyio.to_thread.run_sync(self._first_look)
            return await self._listen(context, params)
        finally:
            self._listening -= 1

    async def subscribe(
        self, context: ServerRequestContext[Any], params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """Watch a resource for a client of the older protocol."""
        self._sessions.setdefault(str(params.uri), {})[id(context.session)] = context.session
        await self._watch(str(params.uri))
        await anyio.to_thread.run_sync(self._first_look)
        return types.EmptyResult()

    async def unsubscribe(
        self, context: ServerRequestContext[Any], params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """Watch it no more."""
        self._sessions.pop(str(params.uri), None)
        return types.EmptyResult()

    @property
    def wanted(self) -> bool:
        """Whether anybody wants to know."""
        return bool(self._listening or self._sessions)

    def end(self) -> None:
        """End every stream; their clients are told that it was meant."""
        self._listen.close()
        self._sessions.clear()

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
        """The store's version, and the memories of the client's scopes; None where it cannot be opened."""
        try:
            engine = self.door.engine
            count = self.door.listed().total
        except MemtuiError:
            return None
        return engine.info.version, count

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
            contents = resource(self.door, uri).contents
        except (MCPError, MemtuiError, ToolError):
            contents = []
        text = "".join(each.text for each in contents if isinstance(each, types.TextResourceContents))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
