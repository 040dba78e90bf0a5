"""Which saved questions will lose a memory that they need, and on which day."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.progress import CancelToken, OnProgress, Progress

if TYPE_CHECKING:
    from memtui.engine.cases.case import Case
    from memtui.engine.recall.record import Trace

Cause = Callable[["Case", str, int, int], "LossCause"]
"""What a case loses a memory by between two moments (ms): there at the first, not at the second."""
Returns = Callable[["Case", int], Sequence[str]]
"""Ids that a case gets when it is asked at a moment (ms)."""
DAY_MS = 86_400_000
STEPS = 8
"""Moments looked at before halving: a memory can leave and come back, as others fade faster."""
EXACT_MS = 60_000
"""A date is found to the minute."""


@dataclass(frozen=True, slots=True)
class LossCause:
    """What a case loses a memory by: the gate with its number and limit, or another memory that passes it."""

    gate: str
    """The reason of the trace: "limit", "hard_cutoff", "expired", ...; "not found" where no search met it."""
    value: float | None = None
    limit: float | None = None
    overtaken_by: str = ""
    """The memory that takes its place in the list; empty where it falls by itself."""
    overtaker: str = ""
    """That memory's text on one line, where it has been read."""


PLACES = ("limit", "mmr_diversity", "rerank_window", "candidate_pool")
"""Gates that let so many through: a memory is lost there to those that come before it."""


def cause_of(before: Trace, after: Trace, memory: str) -> LossCause:
    """Why `memory`, returned in `before`, is not in `after`: both traces of one question at two moments.

    Where places are few it was overtaken: by the memory that stands before it now and stood behind it, the
    best placed of them.
    """
    found = next((each for each in after.candidates if each.id == memory), None)
    if found is None:
        return LossCause("not found", overtaken_by=_overtaker(before, after, memory))
    cause = LossCause(found.reason or found.disposition, found.score, found.limit)
    if found.disposition in PLACES or found.reason in PLACES:
        return replace(cause, overtaken_by=_overtaker(before, after, memory))
    return cause


def _overtaker(before: Trace, after: Trace, memory: str) -> str:
    at = before.returned.index(memory) if memory in before.returned else len(before.returned)
    ahead = before.returned[:at]
    return next((each for each in after.returned if each not in ahead), "")


@dataclass(frozen=True, slots=True)
class CaseLoss:
    """A case, the expected memory that it loses, and when (ms)."""

    case: str
    query: str
    memory: str
    at_ms: int
    title: str = ""
    """The memory's text on one line, where it has been read."""
    cause: LossCause | None = None
    """What it is lost by; None where that was not looked at."""

    def as_json(self) -> dict[str, Any]:
        """For the command line."""
        return {
            "case": self.case,
            "query": self.query,
            "memory": self.memory,
            "text": self.title,
            "at_ms": self.at_ms,
            "gate": self.cause.gate if self.cause else None,
            "value": self.cause.value if self.cause else None,
            "limit": self.cause.limit if self.cause else None,
            "overtaken_by": self.cause.overtaken_by or None if self.cause else None,
            "overtaker_text": self.cause.overtaker or None if self.cause else None,
        }


def find_losses(
    cases: Sequence[Case],
    returns: Returns,
    *,
    now_ms: int,
    until_ms: int,
    cause: Cause | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> tuple[CaseLoss, ...]:
    """Every expected memory that comes back now and will not at some moment until then, the earliest first.

    The horizon is looked at in `STEPS` equal parts; within the first part at whose end a memory is missing,
    the date is found by halving; `cause` then tells what it is lost by.
    """
    found: list[CaseLoss] = []
    for number, case in enumerate(cases):
        if cancel is not None:
            cancel.check()
        if case.expected and until_ms > now_ms:
            found += _losses(case, _Remembered(case, returns), now_ms, until_ms, cause, cancel)
        if on_progress is not None:
            on_progress(Progress("asking the cases at later dates", number + 1, len(cases), "cases"))
    return tuple(sorted(found, key=lambda loss: (loss.at_ms, loss.case, loss.memory)))


class _Remembered:
    """Asks a case at most once for each moment."""

    def __init__(self, case: Case, returns: Returns) -> None:
        self._case, self._returns = case, returns
        self._known: dict[int, frozenset[str]] = {}

    def __call__(self, at_ms: int) -> frozenset[str]:
        if at_ms not in self._known:
            self._known[at_ms] = frozenset(self._returns(self._case, at_ms))
        return self._known[at_ms]


def _losses(
    case: Case,
    ask: _Remembered,
    now_ms: int,
    until_ms: int,
    cause: Cause | None,
    cancel: CancelToken | None,
) -> list[CaseLoss]:
    there = [memory for memory in case.expected if memory in ask(now_ms)]
    edges = [now_ms + (until_ms - now_ms) * step // STEPS for step in range(STEPS + 1)]
    found = []
    for memory in there:
        after = next((i for i, at in enumerate(edges) if memory not in ask(at)), None)
        if after is None:
            continue
        low, high = edges[after - 1], edges[after]
        while high - low > EXACT_MS:
            if cancel is not None:
                cancel.check()
            middle = (low + high) // 2
            low, high = (middle, high) if memory in ask(middle) else (low, middle)
        why = None if cause is None else cause(case, memory, low, high)
        found.append(CaseLoss(case.id, case.query, memory, high, cause=why))
    return found
