"""A memory put among the candidates, and let through every gate: what each stage would have made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memtui.engine.recall.flow import Gate
from memtui.engine.recall.lanes import Lane
from memtui.engine.recall.pool import Hit
from memtui.engine.recall.through import pool_of

if TYPE_CHECKING:
    from memtui.engine.lab.ranks import VectorRank, WordRank
    from memtui.engine.recall.pool import Pool
    from memtui.engine.recall.record import StageRecord
    from memtui.engine.recall.rows import Row
    from memtui.engine.recall.run import Run
    from memtui.engine.recall.setting import Setting


@dataclass(frozen=True)
class Passage:
    """One memory's way through the stages, its drops included."""

    index: int
    pool: Pool
    records: Sequence[StageRecord]

    def record(self, *names: str) -> StageRecord | None:
        """The first stage with one of these names that ran."""
        return next((record for record in self.records if record.name in names), None)

    def gate(self, reason: str) -> Gate | None:
        """The gate of this name, where a stage dropped the memory by it."""
        gates = (record.outcome.dropped.get(self.index) for record in self.records)
        return next((gate for gate in gates if gate is not None and gate.reason == reason), None)

    def before(self, record: StageRecord) -> float | None:
        """Its score when it came to a stage."""
        return _number(record.before.score[self.index])

    def after(self, record: StageRecord) -> float | None:
        """Its score after a stage."""
        return _number(record.outcome.flow.score[self.index])


def force(run: Run, setting: Setting, row: Row, by_vector: VectorRank, by_words: WordRank) -> Passage | None:
    """Run the stages with `row` among the candidates; None where it has no score to start from.

    Where a lane found it, the hits that were made are all that counts: this is the recall as it was. Where none did,
    it is put into the vector lane at its true distance and into the keyword lane with its true BM25 value, in
    addition to what these found: the recall as it would be if the memory were let past.
    """
    vector_lane, bm25_lane = setting.vector_lane, setting.bm25_lane
    if not any(hit.row.id == row.id for lane in (vector_lane, bm25_lane) for hit in lane.hits):
        vector_lane = _with(vector_lane, _vector_hit(setting, row, by_vector, run.plan.plain))
        bm25_lane = _with(bm25_lane, _word_hit(setting, row, by_words))
    given = replace(setting, vector_lane=vector_lane, bm25_lane=bm25_lane)
    pool = pool_of(vector_lane, bm25_lane, run.plan.now_ms, run.outside.kin)
    index = next((at for at, each in enumerate(pool.rows) if each.id == row.id), None)
    if index is None or not (index in pool.vector or index in pool.bm25):
        return None
    return Passage(index, pool, run.stages(given, pool, keep=index))


def _vector_hit(setting: Setting, row: Row, rank: VectorRank, plain: bool) -> Hit | None:
    if rank.distance is None or rank.score is None or setting.route in ("tag", "keyword"):
        return None
    rule = "inverse_squared_l2" if plain else "inverse_distance"
    return Hit(row, 0, rank.score, rank.distance, rule, {"distance": rank.distance})


def _word_hit(setting: Setting, row: Row, rank: WordRank) -> Hit | None:
    if rank.raw is None or rank.score is None or setting.route == "vector":
        return None
    return Hit(row, 0, rank.score, rank.raw, "bm25_logistic", {"raw_bm25": rank.raw})


def _with(lane: Lane, hit: Hit | None) -> Lane:
    """`lane` with `hit` at its place by score, unless it holds the memory already."""
    if hit is None or any(each.row.id == hit.row.id for each in lane.hits):
        return lane
    ahead = [each for each in lane.hits if each.score >= hit.score]
    hits = [*ahead, hit, *lane.hits[len(ahead) :]]
    kept = tuple(replace(each, rank=rank) for rank, each in enumerate(hits, 1))
    dropped = tuple(each for each in lane.dropped if each.row.id != hit.row.id)
    return replace(lane, hits=kept, dropped=dropped)


def _number(value: float) -> float | None:
    return float(value) if value == value else None
