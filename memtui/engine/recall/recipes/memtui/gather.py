"""From what the searches found to candidates with all evidence, including neighbours that earn a place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memtui.engine.core.errors import EmbeddingError
from memtui.engine.providers.static_embedder import StaticEmbedder
from memtui.engine.recall.candidates import CandidatePool, Floats, Hit
from memtui.engine.recall.lanes import Lane
from memtui.engine.recall.recipes.memtui.evidence import FOLLOWING, Evidence
from memtui.engine.recall.recipes.memtui.late_interaction import (
    WordScores,
    bare_text,
    late_interaction,
    piece_cache,
)
from memtui.engine.recall.recipes.memtui.question import CleanQuestion, newest_wanted, spans_named
from memtui.engine.recall.recipes.memtui.searches import MemtuiSearch, following_memories
from memtui.engine.recall.recipes.memtui.settings import OwnSettings
from memtui.engine.recall.recipes.memtui.signals import signals
from memtui.engine.recall.recipes.memtui.survey import SPEAKER, Survey, text_of
from memtui.engine.recall.record import StageRecord
from memtui.engine.recall.rows import CandidateRow

ALWAYS = "the user"
"""Who asks for newer memories where the setting is on."""


@dataclass(frozen=True)
class CandidateGatherer:
    """Everything that is known before there is a pool."""

    question: str
    clean: CleanQuestion
    identifiers: tuple[str, ...]
    vector: Floats | None
    known: Survey
    settings: OwnSettings
    limit: int
    search: MemtuiSearch
    lanes: Mapping[str, Lane]
    """By the names of `recipe.SEARCHES`."""
    model: StaticEmbedder

    def rows(self) -> list[CandidateRow]:
        """Every row that a search delivered or named, once each: hits by search and rank, then the others."""
        rows: dict[str, CandidateRow] = {}
        for lane in self.lanes.values():
            for hit in lane.hits:
                rows.setdefault(hit.row.id, hit.row)
        for lane in self.lanes.values():
            for gone in lane.dropped:
                rows.setdefault(gone.row.id, gone.row)
        return list(rows.values())

    def hits(self, name: str, rows: Sequence[CandidateRow]) -> dict[int, Hit]:
        """The hits of a search by their place in `rows`."""
        place = {row.id: at for at, row in enumerate(rows)}
        lane = self.lanes.get(name, Lane())
        return {place[hit.row.id]: hit for hit in lane.hits}

    def pool(self, rows: Sequence[CandidateRow]) -> CandidatePool:
        """The candidates as columns."""
        vector, bm25 = self.hits("vector_ranked", rows), self.hits("bm25_ranked", rows)
        return CandidatePool(rows, vector, bm25, self.search.now_ms)

    def asked(self, pool: CandidatePool) -> tuple[Evidence, str]:
        """The evidence on each candidate; and why words were not compared, empty when they were."""
        speakers = [text_of(row.metadata.values, (SPEAKER,)) for row in pool.rows]
        by_identifier = self.hits("identifier_ranked", pool.rows)
        past = pool.timestamp[pool.timestamp <= pool.now_ms]
        start = self.search.outside.clock()
        earlier = self._before(pool.rows)
        met, warning = self._met(pool.rows, earlier)
        met_ms = (self.search.outside.clock() - start) * 1000
        around = [self.known.chains.around(row.id) for row in pool.rows]
        asked = Evidence(
            question=self.question,
            clean=self.clean,
            identifiers=self.identifiers if by_identifier else (),
            spans=spans_named(self.question, self.known.years),
            newest_wanted=self._newest_wanted(),
            vector=self.vector,
            settings=self.settings,
            limit=self.limit,
            newest_ms=float(past.max()) if past.size else float(pool.now_ms),
            met=met,
            met_ms=met_ms,
            by_identifier=by_identifier,
            following=self.hits(FOLLOWING, pool.rows),
            speakers=speakers,
            around=around,
            signals=signals(self.question, pool, earlier, around),
        )
        return asked, warning

    def with_following(self, pool: CandidatePool, asked: Evidence, record: StageRecord) -> CandidateGatherer:
        """The same with what was said after the best candidates, where no search found it.

        `record` is the last stage before the neighbours'. An answer that shares no word with the question is
        found by what was asked before it.
        """
        flow, inside = record.outcome.flow, {row.id for row in pool.rows}
        best = flow.order.tolist()[: self.settings.following]
        leaders = {
            after: float(flow.score[index])
            for index in reversed(best)  # where two lead to the same one, the better counts
            if (after := asked.around[index][1]) is not None and after not in inside
        }
        if not leaders:
            return self
        return replace(self, lanes={**self.lanes, FOLLOWING: following_memories(self.search, leaders)})

    def _rarity(self, word: str) -> float:
        return math.pow(self.known.rarity(word), self.settings.rarity)

    def _newest_wanted(self) -> str:
        if self.settings.recency == "asked":
            return newest_wanted(self.question)
        return ALWAYS if self.settings.recency == "on" else ""

    def _before(self, rows: Sequence[CandidateRow]) -> list[CandidateRow | None]:
        """The memory before each one in its session; None without one, and where it may not be seen."""
        known: dict[str, CandidateRow | None] = {row.id: row for row in rows}
        names = [self.known.chains.around(row.id)[0] for row in rows]
        wanted = sorted({name for name in names if name is not None} - known.keys())
        outside = self.search.outside
        stored = outside.rows_by_id(wanted) if wanted else {}
        known |= {memory_id: self.search.read(row) for memory_id, row in stored.items()}
        earlier = [None if name is None else known.get(name) for name in names]
        return [None if row is None or self.search.gate(row) else row for row in earlier]

    def _met(
        self, rows: Sequence[CandidateRow], earlier: Sequence[CandidateRow | None]
    ) -> tuple[WordScores | None, str]:
        outside = self.search.outside
        texts = [_bare(row) for row in (*rows, *earlier)]
        key = ("met", self.clean.text, self.settings.rarity, self.search.scope_where, tuple(texts))

        def compare() -> WordScores:
            pieces = piece_cache(outside.pin, self.model).pieces(texts)
            own, lent = pieces[: len(rows)], pieces[len(rows) :]
            return late_interaction(self.model, self.clean.text, own, lent, rarity=self._rarity)

        try:
            return outside.made(key, compare), ""
        except EmbeddingError as error:
            return None, f"words were not compared: {error}"


def _bare(row: CandidateRow | None) -> str:
    """What was said, without who said it."""
    return "" if row is None else bare_text(row.text, text_of(row.metadata.values, (SPEAKER,)))
