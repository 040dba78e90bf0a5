"""When a client on standard input leaves room to read ahead: it knows the tools, and asks nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from memtui.engine import CancelToken

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage

    from memtui.mcp.door import Door

WAITED_FOR = ("tools/list", "tools/call")
"""Who sends one of these is going to use the tools; one that only says hello is left alone."""

QUIET_S = 0.5
"""So long nothing came: what a client asks at its start is answered before anything is read."""


class QuietTime:
    """Reads ahead once, in the first quiet time of a client that knows the tools."""

    def __init__(self, door: Door, quiet_s: float = QUIET_S) -> None:
        self._door, self._quiet_s = door, quiet_s
        self._wanted = anyio.Event()
        self._heard = 0.0

    def hear(self, message: SessionMessage | Exception) -> None:
        """Note what came from the client."""
        self._heard = anyio.current_time()
        if getattr(getattr(message, "message", None), "method", "") in WAITED_FOR:
            self._wanted.set()

    async def read_ahead(self) -> None:
        """Wait for it, then read in a thread; cancelled, the thread ends at its next look."""
        await self._wanted.wait()
        while (left := self._heard + self._quiet_s - anyio.current_time()) > 0:
            await anyio.sleep(left)
        from memtui.mcp.ahead import read_ahead

        stopped = CancelToken()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_cancel_with, stopped)
            await anyio.to_thread.run_sync(read_ahead, self._door, stopped)
            tasks.cancel_scope.cancel()


async def _cancel_with(stopped: CancelToken) -> None:
    """Cancel the token when this task is."""
    try:
        await anyio.sleep_forever()
    finally:
        stopped.cancel()
