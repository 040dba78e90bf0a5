"""A recall that runs stage by stage: what it keeps on the way, and the trace that it ends in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.core.errors import UsageError
from memtui.engine.core.progress import CancelToken
from memtui.engine.recall.far_rows import whole_rows
from memtui.engine.recall.io_cache import IoCache, check_dims, question_vector
from memtui.engine.recall.record import StageRecord, Trace
from memtui.engine.recall.request import RecallRequest, filters_of
from memtui.engine.recall.stage import Ranking
from memtui.engine.recall.trace import Failure, OnStage, StageKind, StageSummary
from memtui.engine.recall.word_matches import words_met_in

if TYPE_CHECKING:
    from memtui.engine.core.memory import Memory
    from memtui.engine.recall.candidates import CandidatePool, Floats
    from memtui.engine.recall.stage import StageOutcome


@dataclass
class StagedRun:
    """The state of one recall while it is made. Raises UsageError for an empty question."""

    request: RecallRequest
    outside: IoCache
    now_ms: int
    on_stage: OnStage
    cancel: CancelToken

    def __post_init__(self) -> None:
        if not self.request.query.strip() and not self.request.lanes:
            raise UsageError("The question is empty.", fix="Type what the agent would ask.")
        self.findings: tuple[str, ...] = ()
        self.warnings: list[str] = []
        self.operations: list[StageSummary] = []
        self.records: list[StageRecord] = []
        self.failure: Failure | None = None
        self.started = self.outside.clock()

    def add_stage(
        self,
        name: str,
        title: str,
        kind: StageKind,
        before: Ranking | None,
        run: Callable[[], StageOutcome],
        ms: float = 0.0,
    ) -> Ranking:
        """Run a stage and record it; the ranking after it. `ms` was spent on it before.

        `before` is None for a stage that begins anew, as a fusion of searches does: it takes in what it gives out.
        """
        self.cancel.check()
        start = self.outside.clock()
        outcome = run()
        ms += (self.outside.clock() - start) * 1000
        taken_in = outcome.flow if before is None else before
        came = Ranking(taken_in.order[:0], np.full(len(taken_in.score), np.nan)) if before is None else before
        n_in = self.outside.pin.rows if kind == "search" else len(taken_in.order)
        self.records.append(StageRecord(name, title, kind, came, outcome, n_in, ms))
        self.on_stage(self.records[-1].summary())
        return outcome.flow

    def embed_question(self, *, needed: bool = True) -> Floats | None:
        """The question's vector; None where the service failed, which is the recall's failure where it is needed."""
        answer = question_vector(self.request, self.outside, needed=needed)
        if needed and answer.failed:
            self.failure = Failure("vector.embedQuery", answer.failed)
        else:
            self.warnings += answer.warnings
        if answer.operation is not None:
            self.operations.append(answer.operation)
            self.on_stage(answer.operation)
        check_dims(answer.vector, self.outside.pin.dims)
        return answer.vector

    def load_memories(self, pool: CandidatePool) -> Mapping[str, Memory]:
        """The memories of the candidates, by id."""
        pin = self.outside.pin
        table = whole_rows(pin, list(dict.fromkeys(row.id for row in pool.rows)))
        return {memory.id: memory for memory in pin.dialect.to_memories(table, self.now_ms)}

    def make_trace(self, *, mode: str, **own: Any) -> Trace:
        """The trace of what was recorded; `own` are the fields of `Trace` that the recipe says itself.

        Of a recall that failed no stage is told.
        """
        failed = self.failure is not None
        return Trace(
            query=self.request.query,
            mode="failed" if failed else mode,
            failure=self.failure,
            source=None,
            now_ms=self.now_ms,
            filters=filters_of(self.request),
            records=() if failed else tuple(self.records),
            operations=tuple(self.operations),
            warnings=tuple(dict.fromkeys(self.warnings)),
            findings=self.findings,
            total_ms=(self.outside.clock() - self.started) * 1000,
            load_memories=self.load_memories,
            table_version=self.outside.pin.version,
            request=self.request,
            outside=self.outside.live(),
            matcher=words_met_in,
            **own,
        )
