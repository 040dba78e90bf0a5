"""The stages of the recipe `memtui` in order, and running them over a pool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memtui.engine.progress import CancelToken
from memtui.engine.recall.flow import Flow, Outcome
from memtui.engine.recall.own import stages
from memtui.engine.recall.own.evidence import Asked
from memtui.engine.recall.pool import Pool
from memtui.engine.recall.record import StageRecord
from memtui.engine.recall.searched import blank
from memtui.engine.recall.stages.select import limit_cut
from memtui.engine.recall.trace import StageKind


@dataclass(frozen=True)
class Stage:
    """A stage: its name and title, what it does, when it runs, and whether it starts from the searches."""

    name: str
    title: str
    kind: StageKind
    run: Callable[[Flow, Pool, Asked], Outcome]
    when: Callable[[Asked], bool] = lambda asked: True
    fresh: bool = False


FOLLOWING = "following"
SEARCHES = {
    "vector_ranked": "vector",
    "bm25_ranked": "bm25",
    "identifier_ranked": "to the letter",
    FOLLOWING: "said next",
}
"""The searches by name, with their titles."""
COMPARED = "late_interaction"
SCORES = (
    Stage("fused", "fusion", "score", stages.fused, fresh=True),
    Stage(COMPARED, "word by word", "score", stages.late_interaction, lambda a: a.met is not None),
    Stage("speaker", "speaker", "score", stages.speaker, lambda a: bool(a.clean.named)),
    Stage("date", "date", "score", stages.date, lambda a: bool(a.spans)),
)
"""What a memory earns by itself."""
NEIGHBOURS = Stage(
    "neighbours", "same session", "score", stages.neighbours, lambda a: any(map(any, a.around))
)
"""What it earns by the memories beside it."""
REST = (
    NEIGHBOURS,
    Stage("recency", "newer", "score", stages.recency, lambda a: bool(a.newest_wanted)),
    Stage("min_score", "min score", "filter", stages.min_score, lambda a: a.settings.min_score > 0),
    Stage("limit", "limit", "filter", lambda flow, pool, a: limit_cut(flow, pool, limit=a.limit)),
)


def through(
    todo: Sequence[Stage], pool: Pool, asked: Asked, *, clock: Callable[[], float], cancel: CancelToken
) -> list[StageRecord]:
    """Run the stages that apply, each on what the one before left; the records in order."""
    flow, records = blank(pool), []
    for stage in todo:
        if not stage.when(asked):
            continue
        cancel.check()
        before = blank(pool) if stage.fresh else flow
        start = clock()
        outcome = stage.run(before, pool, asked)
        flow = outcome.flow
        n_in = len(flow.order) if stage.fresh else len(before.order)
        ms = (clock() - start) * 1000 + (asked.met_ms if stage.name == COMPARED else 0.0)
        records.append(StageRecord(stage.name, stage.title, stage.kind, before, outcome, n_in, ms))
    return records
