"""`memory_store`: one new memory, checked, and compared with what is there."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from memtui.engine import MemtuiError
from memtui.mcp.door import Door, usage
from memtui.mcp.tools.base import Answer, Arguments, Reply, Tool


class Store(Arguments):
    """What is to be remembered."""

    text: Annotated[
        str, Field(min_length=1, max_length=20_000, description="one statement that stands alone")
    ]
    category: Literal["preference", "fact", "decision", "entity", "event", "other"] = "fact"
    importance: Annotated[float | None, Field(ge=0, le=1, description="0 to 1; leave out when unsure")] = None
    scope: Annotated[str | None, Field(description="leave out: it goes to your own scope")] = None


class Stored(Answer):
    """What became of it."""

    action: Literal["created", "duplicate", "superseded", "refused"]
    id: str | None
    scope: str | None
    reason: str = ""


def run(door: Door, given: Store) -> Reply:
    """Check, compare, write."""
    from memtui.engine.capture import commit, outcome_of, remember

    scope = door.write_scope(given.scope)
    with door.lock:
        engine = door.engine
        try:
            trace = remember(
                given.text,
                engine.capture_context(),
                scope=scope,
                category=given.category,
                importance=given.importance,
            )
            if trace.writes:
                commit(engine, trace)
                engine.refresh()
        except MemtuiError as error:
            raise usage(error) from None
    told = outcome_of(trace)
    stored = engine.memories([told["id"]]).get(told["id"]) if told["id"] else None
    if stored is not None:
        told["scope"] = door.scope_of(stored)
    data = Stored(**told)
    words = {
        "created": "stored",
        "duplicate": "it was there already",
        "superseded": "stored; it takes the place of an older memory",
        "refused": f"not stored: {data.reason}",
    }
    said = words[data.action]
    return Reply(
        data, f"untrusted store answer: {said} ({data.scope}, {data.id or 'no id'})", notes=(f"{said}.",)
    )


TOOL = Tool(
    "memory_store",
    "Store a memory",
    "Call this when the user states a lasting preference, fact or decision. Never store secrets.",
    Store,
    Stored,
    run,
    writes=True,
    idempotent=False,
    order=6,
)
