"""`memory_search`: what the store's own recall brings back for a question."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from memtui.mcp.door import Door, ToolError, shown, untrusted
from memtui.mcp.tools.base import Answer, Arguments, Reply, Tool


class Search(Arguments):
    """A question."""

    query: Annotated[
        str, Field(min_length=1, max_length=2_000, description="what you want to know, in words")
    ]
    limit: Annotated[int, Field(ge=1, le=20, description="how many at most")] = 5
    scope: Annotated[str | None, Field(description="one scope only; leave out for all that you may read")] = (
        None
    )
    category: Annotated[str | None, Field(description="preference, fact, decision, entity, ...")] = None
    since: Annotated[str | None, Field(description="only memories stored since this day, YYYY-MM-DD")] = None


class Hit(Answer):
    """One memory that came back."""

    id: str
    text: str
    scope: str | None
    score: float | None
    why: str


class Hits(Answer):
    """What came back, best first; and the probability that any of it answers, where that is known."""

    results: list[Hit]
    answered: bool | None = None
    probability: float | None = None


def run(door: Door, given: Search) -> Reply:
    """Recall."""
    since = _since(given.since)
    trace = door.recall(given.query, given.limit, given.scope, given.category)
    reach = door.reach
    hits: list[Hit] = []
    for result in trace.results:
        memory = trace.memories[result.id]
        if not reach.may_read(memory) or memory.timestamp_ms < since or len(hits) == given.limit:
            continue
        lanes = [
            f"{'meaning' if name == 'vector' else 'words' if name == 'bm25' else name} {source['score']:.2f}"
            for name, source in result.sources.items()
            if source.get("score") is not None
        ]
        why = f"number {result.rank}; {', '.join(lanes)}" if lanes else f"number {result.rank}"
        hits.append(
            Hit(id=result.id, text=shown(memory), scope=reach.scope_of(memory), score=result.score, why=why)
        )
    lines = [f"[{hit.id}] {hit.text}" for hit in hits]
    notes = [f"note: {warning}" for warning in trace.warnings]
    if not hits:
        notes.append("untrusted memories: none. Nothing came back; other words may find it.")
    told = trace.confidence
    if told is not None and not told.answered and hits:
        notes.append(
            f"note: no memory answers this well (probability {told.probability:.2f}): what follows is only the nearest."
        )
    answered, probability = (None, None) if told is None else (told.answered, round(told.probability, 3))
    return Reply(
        Hits(results=hits, answered=answered, probability=probability), untrusted(lines, "\n".join(notes))
    )


def _since(day: str | None) -> int:
    if day is None:
        return 0
    try:
        at = datetime.fromisoformat(day)
    except ValueError:
        raise ToolError(f"since: {day!r} is no day. Write it as YYYY-MM-DD.") from None
    return int(at.timestamp() * 1000)


TOOL = Tool(
    "memory_search",
    "Search memories",
    "Call this before you answer when earlier conversations, preferences, decisions or facts may matter.",
    Search,
    Hits,
    run,
    order=1,
)
