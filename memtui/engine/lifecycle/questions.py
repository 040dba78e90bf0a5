"""Saved questions asked at other dates, under other settings, over other tiers: searched once, judged again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.recall.request import RecallRequest, scopes_key

if TYPE_CHECKING:
    from memtui.engine.cases.case import Case
    from memtui.engine.cases.run import Report
    from memtui.engine.lifecycle.usage import Usage
    from memtui.engine.progress import CancelToken
    from memtui.engine.recall.outside import Outside
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.rows import Row
    from memtui.engine.recall.run import Bench
    from memtui.engine.store.catalog import Catalog

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
        """For the command line."""
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
    """Asks over one bench; what a question found is remembered, so that it is searched for only once."""

    def __init__(self, bench: Bench, recipe: str, cancel: CancelToken | None = None) -> None:
        self._bench, self._recipe, self._cancel = bench, recipe, cancel
        self._found: dict[tuple[Any, ...], Outside] = {}

    def ask(self, request: RecallRequest, tiers: Mapping[str, str] | None = None) -> Trace:
        """The answer, with some memories in another tier than they are stored in."""
        from memtui.engine.recall.run import recall

        if not request.recipe:
            request = replace(request, recipe=self._recipe)
        key = (request.query, request.recipe, scopes_key(request), request.category, request.agent)
        trace = recall(request, self._bench, outside=self._found.get(key), cancel=self._cancel)
        if trace.outside is not None:
            self._found[key] = trace.outside
        return trace if not tiers else self._moved(trace, request, tiers)

    def _moved(self, trace: Trace, request: RecallRequest, tiers: Mapping[str, str]) -> Trace:
        from memtui.engine.lab.edits import edited

        edits = {
            row.id: edited(row, "memory.tier", tiers[row.id], now_ms=trace.now_ms)
            for row in trace.pool.rows
            if row.id in tiers
        }
        return self._with(edits, trace, request)

    def _with(self, edits: Mapping[str, Row], trace: Trace, request: RecallRequest) -> Trace:
        from memtui.engine.recall.run import recall

        if not edits or trace.outside is None:
            return trace
        frozen = replace(request, now_ms=trace.now_ms)
        return recall(frozen, self._bench, outside=trace.outside.with_edits(edits), cancel=self._cancel)

    def answer(
        self, case: Case, at_ms: int, config: Mapping[str, Any] | None, uses: Uses | None = None
    ) -> Trace:
        """What a case gets at a moment, after the memories were used as `uses` says."""
        from memtui.engine.lab.edits import edited

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

    def measures(self, cases: Sequence[Case], config: Mapping[str, Any] | None, known: Known) -> Report:
        """How well the cases are answered with some settings."""
        from memtui.engine.cases.run import Setup, run_cases

        return run_cases(cases, Setup("tried", config=config), self.ask, known, cancel=self._cancel)

    def effect(self, cases: Sequence[Case], tiers: Mapping[str, str], known: Known) -> SweepEffect:
        """What it does to the cases when these memories get these tiers."""
        from memtui.engine.cases.run import Setup, run_cases

        before = run_cases(cases, Setup("now"), self.ask, known, cancel=self._cancel)
        after = run_cases(
            cases, Setup("swept"), lambda request: self.ask(request, tiers), known, cancel=self._cancel
        )
        changed = [
            new.case.query
            for old, new in zip(before.answers, after.answers, strict=True)
            if old.ids != new.ids
        ]
        return SweepEffect(len(cases), before.mean, after.mean, tuple(changed))
