"""`memory_feedback`: whether a memory was right for a question; it becomes a case for the person."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from memtui.mcp.door import Door
from memtui.mcp.tools.base import Answer, Arguments, Reply, Tool


class Feedback(Arguments):
    """A judgement."""

    query: Annotated[str, Field(min_length=1, max_length=2_000, description="the question as you asked it")]
    id: Annotated[str, Field(min_length=1, description="the memory that came back, or should have")]
    verdict: Annotated[Literal["right", "wrong"], Field(description="whether it answers the question")]


class Kept(Answer):
    """The case that was kept."""

    case: str
    id: str


def run(door: Door, given: Feedback) -> Reply:
    """Keep it."""
    door.need_writable()
    memory = door.memory(given.id)
    with door.lock:
        case = door.case_book().mark(
            given.query, memory.id, given.verdict, now_ms=door.engine.now_ms, agent=door.agent
        )
    return Reply(Kept(case=case.id, id=memory.id), f"untrusted feedback answer: kept as case {case.id}")


TOOL = Tool(
    "memory_feedback",
    "Judge an answer",
    "Call this when a memory that came back was right or wrong for the question.",
    Feedback,
    Kept,
    run,
    writes=True,
    order=9,
)
