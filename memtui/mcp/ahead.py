"""Reading ahead for a client: what its first search would wait for. Nothing is imported with it before it is time."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from memtui.engine import Cancelled, MemtuiError
from memtui.mcp.door import ToolError

if TYPE_CHECKING:
    from memtui.engine import CancelToken
    from memtui.mcp.door import Door


def read_ahead(door: Door, cancel: CancelToken) -> None:
    """Open the store and make ready what this client's first search would wait for; nothing for a paused one.

    What cannot be opened or read is left to the call that needs it, which says so.
    """
    with suppress(Cancelled, MemtuiError, ToolError, OSError, RuntimeError, ValueError), door.call():
        if not door.paused and not cancel.cancelled:
            door.engine.read_ahead(door.request(""), cancel)
