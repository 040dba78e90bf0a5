"""What the Why-not screen knows: one frozen value, and the pure functions that make the next one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine import Memory, Progress
from memtui.engine.explain import Verdict

if TYPE_CHECKING:
    from memtui.engine import MemtuiError, Trace
    from memtui.engine.explain import MemoryRemedy, SmallestChange


Phase = Literal["looking", "searching", "done", "stopped", "failed"]
"""looking: no verdict yet. searching: the smallest changes are being found. stopped: the person had enough."""


@dataclass(frozen=True, slots=True)
class WhyNotState:
    """One memory, one recall, and what is known so far."""

    memory_id: str
    trace: Trace
    phase: Phase = "looking"
    memory: Memory | None = None
    verdict: Verdict | None = None
    story: str = ""
    """What happened to the memory in the recall, in words."""
    progress: Progress | None = None
    error: MemtuiError | None = None
    zoom: str = ""
    remedies: tuple[MemoryRemedy, ...] | None = None
    """Changes of memories that help; None before they were looked for."""
    trying: Progress | None = None
    """How far the remedies are; None while none is tried."""
    remedies_error: MemtuiError | None = None

    @property
    def change_of(self) -> dict[str, SmallestChange]:
        """The changes found, by the key of their row."""
        return {} if self.verdict is None else {change.knob: change for change in self.verdict.changes}


def hear(state: WhyNotState, news: Any) -> WhyNotState:
    """Something has become known: the memory, a growing verdict, how far the search is."""
    if isinstance(news, Memory):
        return replace(state, memory=news)
    if isinstance(news, Verdict):
        return replace(state, verdict=news, phase="searching")
    return replace(state, progress=news) if isinstance(news, Progress) else state


def try_remedies(state: WhyNotState) -> WhyNotState:
    """Remedies are being tried."""
    return replace(state, trying=Progress("trying remedies", 0, 0, "remedies"), remedies_error=None)


def tried(state: WhyNotState, found: tuple[MemoryRemedy, ...]) -> WhyNotState:
    """All remedies were tried; these do what they are for."""
    return replace(state, trying=None, remedies=found)


def finish(state: WhyNotState, verdict: Verdict) -> WhyNotState:
    """Everything is known."""
    return replace(state, verdict=verdict, phase="done", progress=None)


def stop(state: WhyNotState) -> WhyNotState:
    """The person stopped the search; what was found stays."""
    return replace(state, phase="stopped", progress=None)


def fail(state: WhyNotState, error: MemtuiError) -> WhyNotState:
    """The state after the gates could not be found out."""
    return replace(state, phase="failed", error=error, progress=None)


def ask_of(state: WhyNotState, memory_id: str, trace: Trace | None = None) -> WhyNotState:
    """Another memory, or the same of another recall; zoom and the old verdict's place stay."""
    return WhyNotState(memory_id, trace or state.trace, zoom=state.zoom)
