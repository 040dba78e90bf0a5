"""Saved questions asked at other dates, under other settings, over other tiers: searched once, judged again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.recall.request import RecallRequest, scopes_key

if TYPE_CHECKING:
    from memtui.engine.cases.case import Case
    from memtui.engine.cases.runner import CaseReport
    from memtui.engine.catalog.catalog import Catalog
    from memtui.engine.lifecycle.crossings import Usage
    from memtui.engine.recall.context import RecallContext
    from memtui.engine.recall.io_cache import IoCache
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.rows import CandidateRow


Uses = Callable[[str, int], tuple[int, int] | None]
"""How often a memory is used until a moment and when last (ms); None where it is not."""

Known = Callable[[Sequence[str]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class SweepEffect:
    """What a sweep does to the saved questions: measures before and after, and whose answers change."""

    cases: int
    before: Mapping[str, float | None]
    after: Mapping[str, float | None]
    changed: tuple[str, ...]
    """The questions that get other memories, or the same in another order."""

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "cases": self.cases,
            "before": dict(self.before),
            "after": dict(self.after),
            "changed": list(self.changed),
        }


def uses_of(catalog: Catalog, usage: Usage, now_ms: int) -> Uses:
    """How often each memory of the catalog will be used by then, if it is used so."""
    import numpy as np

    def uses(memory: str, at_ms: int) -> tuple[int, int] | None:
        found = catalog.find(memory)[:1]
        mine = usage.take(np.asarray(found, np.int64))
        turn = mine.turn_at(float(at_ms))
        if not turn.size or turn[0] < 1:
            return None
        return int(turn[0]), int(mine.start(turn, now_ms)[0])

    return uses


class Questions:
    """Asks in one context; what a question found is remembered, so that it is searched for only once."""

    def __init__(self, context: RecallContext, recipe: str, cancel: CancelToken | None = None) -> None:
        self._context, self._recipe, self._cancel = context, recipe, cancel
        self._found: dict[tuple[Any, ...], IoCache] = {}

    def ask(self, request: RecallRequest, tiers: Mapping[str, str] | None = None) -> Trace:
        """The answer, with some memories in another tier than they are stored in."""
        from memtui.engine.recall.answer import recall

        # no remote reranker: it costs money for each moment that is asked about
        request = replace(request, recipe=request.recipe or self._recipe, rerank_timeout_ms=0)
        key = (request.query, request.recipe, scopes_key(request), request.category, request.agent)
        trace = recall(request, self._context, outside=self._found.get(key), cancel=self._cancel)
        if trace.outside is not None:
            self._found[key] = trace.outside
        return trace if not tiers else self._moved(trace, request, tiers)

    def _moved(self, trace: Trace, request: RecallRequest, tiers: Mapping[str, str]) -> Trace:
        from memtui.engine.explain.candidate_changes import edited

        edits = {
            row.id: edited(row, "memory.tier", tiers[row.id], now_ms=trace.now_ms)
            for row in trace.pool.rows
            if row.id in tiers
        }
        return self._with(edits, trace, request)

    def _with(self, edits: Mapping[str, CandidateRow], trace: Trace, request: RecallRequest) -> Trace:
        from memtui.engine.recall.answer import recall

        if not edits or trace.outside is None:
            return trace
        frozen = replace(request, now_ms=trace.now_ms)
        return recall(frozen, self._context, outside=trace.outside.with_edits(edits), cancel=self._cancel)

    def answer(
        self, case: Case, at_ms: int, config: Mapping[str, Any] | None, uses: Uses | None = None
    ) -> Trace:
        """What a case gets at a moment, after the memories were used as `uses` says."""
        from memtui.engine.explain.candidate_changes import edited

        request = RecallRequest(
            query=case.query,
            config=config,
            scopes=case.searched,
            category=case.category,
            agent=case.agent,
            query_vector=case.query_vector,
            now_ms=at_ms,
        )
        trace = self.ask(request)
        if uses is not None:
            edits = {
                row.id: edited(row, "memory.used", until[0], now_ms=until[1])
                for row in trace.pool.rows
                if (until := uses(row.id, at_ms)) is not None
            }
            trace = self._with(edits, trace, replace(request, recipe=self._recipe))
        return trace

    def measures(self, cases: Sequence[Case], config: Mapping[str, Any] | None, known: Known) -> CaseReport:
        """How well the cases are answered with some settings."""
        from memtui.engine.cases.runner import CaseSetup, run_cases

        return run_cases(cases, CaseSetup("tried", config=config), self.ask, known, cancel=self._cancel)

    def effect(self, cases: Sequence[Case], tiers: Mapping[str, str], known: Known) -> SweepEffect:
        """What it does to the cases when these memories get these tiers."""
        from memtui.engine.cases.runner import CaseSetup, run_cases

        before = run_cases(cases, CaseSetup("now"), self.ask, known, cancel=self._cancel)
        after = run_cases(
            cases, CaseSetup("swept"), lambda request: self.ask(request, tiers), known, cancel=self._cancel
        )
        changed = [
            new.case.query
            for old, new in zip(before.answers, after.answers, strict=True)
            if old.ids != new.ids
        ]
        return SweepEffect(len(cases), before.mean, after.mean, tuple(changed))


# Which saved questions will lose a memory that they need, and on which day.

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
    found = next((candidate for candidate in after.candidates if candidate.id == memory), None)
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
        """Return it as the command line prints it."""
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
