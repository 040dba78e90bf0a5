"""`memory_get`: whole memories by their ids."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from memtui.engine import Memory
from memtui.engine.clients import Reach
from memtui.mcp.door import Door, shown, untrusted
from memtui.mcp.tools.base import Answer, Arguments, Reply, Tool


class Get(Arguments):
    """Ids."""

    ids: Annotated[list[str], Field(min_length=1, max_length=20, description="whole ids, from memory_search")]


class Record(Answer):
    """One memory."""

    id: str
    text: str
    scope: str | None
    category: str | None = None
    tier: str | None = None
    importance: float | None = None
    created_ms: int = 0
    active: bool = True
    superseded_by: str | None = None


class Records(Answer):
    """Memories, in the order of the ids."""

    memories: list[Record]


def record_of(memory: Memory, reach: Reach) -> Record:
    """A memory as it goes out."""
    return Record(
        id=memory.id,
        text=shown(memory),
        scope=reach.scope_of(memory),
        category=memory.category,
        tier=memory.tier,
        importance=memory.importance,
        created_ms=memory.timestamp_ms,
        active=memory.active and not memory.expired and memory.state != "archived",
        superseded_by=memory.superseded_by,
    )


def run(door: Door, given: Get) -> Reply:
    """Read them."""
    reach = door.reach
    memories = [record_of(door.memory(id, "ids"), reach) for id in given.ids]
    lines = [f"[{each.id}] {each.text}" + ("" if each.active else "  (no longer valid)") for each in memories]
    return Reply(Records(memories=memories), untrusted(lines))


TOOL = Tool(
    "memory_get",
    "Get memories",
    "Call this with ids from memory_search to read whole memories and whether they still hold.",
    Get,
    Records,
    run,
    order=2,
)
