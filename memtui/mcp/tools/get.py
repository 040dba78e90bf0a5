"""`memory_get`: whole memories by their ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from memtui.mcp.door import Door, fitting, shown, untrusted
from memtui.mcp.fence import FencedText
from memtui.mcp.tools.base import Answer, Arguments, Reply, Tool

if TYPE_CHECKING:
    from memtui.engine import Memory
    from memtui.engine.clients import ClientReach


class Get(Arguments):
    """Ids."""

    ids: Annotated[list[str], Field(min_length=1, max_length=20, description="whole ids, from memory_search")]


class Record(Answer):
    """One memory."""

    id: str
    text: FencedText
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
    left_out: Annotated[list[str], Field(default_factory=list)]
    """Ids of those that one answer has no room for, to be asked for alone."""


def fitting_records(records: Sequence[Record]) -> int:
    """How many of the first records one answer has room for."""
    return fitting(len(record.model_dump_json().encode()) for record in records)


def records_of(door: Door, memories: Sequence[Memory]) -> list[Record]:
    """Memories as they go out; what took one's place is named only where that may be read, too."""
    reach = door.reach
    records = [record_of(memory, reach) for memory in memories]
    if not reach.limited:
        return records
    known = door.readable(record.superseded_by for record in records)
    return [
        record if record.superseded_by in known else record.model_copy(update={"superseded_by": None})
        for record in records
    ]


def record_of(memory: Memory, reach: ClientReach) -> Record:
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
    memories = records_of(door, [door.memory(id, "ids") for id in given.ids])
    lines = [
        f"[{memory.id}] {memory.text}" + ("" if memory.active else "  (no longer valid)")
        for memory in memories
    ]
    room = fitting_records(memories)
    left = [memory.id for memory in memories[room:]]
    note = f"no room for {len(left)}, ask for them again: {', '.join(left)}" if left else ""
    return Reply(
        Records(memories=memories[:room], left_out=left),
        untrusted(lines[:room], note),
        notes=(note,) if note else (),
    )


TOOL = Tool(
    "memory_get",
    "Get memories",
    "Call this with ids from memory_search to read whole memories and whether they still hold.",
    Get,
    Records,
    run,
    order=2,
)
