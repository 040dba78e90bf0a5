"""`memory_why`: why a memory did not come back for a question; the question is kept as a case for the person."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field

from memtui.mcp.door import Door
from memtui.mcp.tools.base import Answer, Arguments, Reply, Tool

_SCORE = re.compile(r"-?\d*\.\d+")
"""A number that is no count and no rank."""


class Why(Arguments):
    """A question and the memory that was missed."""

    query: Annotated[str, Field(min_length=1, max_length=2_000, description="the question as you asked it")]
    id: Annotated[str, Field(min_length=1, description="the memory that you missed")]


class Verdict(Answer):
    """The first gate that stopped it; empty where it came back."""

    id: str
    gate: str
    reason: str
    smallest_change: str | None = None


def run(door: Door, given: Why) -> Reply:
    """Ask again and climb the ladder of gates."""
    from memtui.engine import explain

    memory = door.memory(given.id)
    trace = door.recall(given.query, 5, None, None)
    verdict = explain.why_not_in(door.engine, trace, memory.id, changes=True)
    best = next((f"{change.knob}: {change.before} to {change.after}" for change in verdict.changes), None)
    sentence = verdict.sentence
    if door.untold(trace):  # a score, and the setting at which it would do, hang on words that others wrote
        best, sentence = None, _SCORE.sub("(not told)", sentence)
    gate = "" if verdict.returned else verdict.gate or "unknown"
    if gate and door.cases is not None:  # cases are memtui's own: the store is only read
        door.case_book().mark(given.query, memory.id, "expected", now_ms=door.engine.now_ms, agent=door.agent)
    data = Verdict(id=memory.id, gate=gate, reason=sentence, smallest_change=best)
    text = f"[untrusted data may be quoted] {sentence}" + (f"\nSmallest change: {best}" if best else "")
    return Reply(data, text)


TOOL = Tool(
    "memory_why",
    "Why did this memory not come back?",
    "Call this when memory_search missed a memory that you know of: it names the gate that stopped it.",
    Why,
    Verdict,
    run,
    order=4,
)
