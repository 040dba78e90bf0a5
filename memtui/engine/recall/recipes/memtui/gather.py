"""From what the searches found to candidates with all evidence, including neighbours that earn a place."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from memtui.engine.core.errors import EmbeddingError, MemtuiError
from memtui.engine.core.text import counted
from memtui.engine.providers.static_embedder import StaticEmbedder
from memtui.engine.recall.candidates import CandidatePool, Floats, Hit
from memtui.engine.recall.lanes import Lane
from memtui.engine.recall.recipes.memtui.evidence import FOLLOWING, Evidence, cosines
from memtui.engine.recall.recipes.memtui.late_interaction import (
    WordScores,
    late_interaction,
    piece_cache,
)
from memtui.engine.recall.recipes.memtui.question import CleanQuestion, newest_wanted, spans_named
from memtui.engine.recall.recipes.memtui.searches import MemtuiSearch, following_memories
from memtui.engine.recall.recipes.memtui.settings import OwnSettings
from memtui.engine.recall.recipes.memtui.signals import signals, spoken
from memtui.engine.recall.recipes.memtui.survey import Around, Survey
from memtui.engine.recall.recipes.memtui.token_vectors import MemoryToRead, TokenReader, TokenScores
from memtui.engine.recall.record import StageRecord
from memtui.engine.recall.rows import ROWS_KEPT, CandidateRow

FEW_FRESH = 20
"""So many token vectors made for one recall are not worth a word."""

ALWAYS = "the user"
"""Who asks for newer memories where the setting is on."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A candidate in its session: who said it and what, and what was said before it."""

    speaker: str
    said: str
    around: Around
    said_before: str
    """Empty where nothing was."""
    earlier: CandidateRow | None
    """The memory before, where there is one that may be seen."""

    @property
    def lent(self) -> str:
        """What was said before, where that may be seen."""
        return "" if self.earlier is None else self.said_before


@dataclass
class WorkedOut:
    """What one recall has worked out about memories, for when the same ones are candidates again."""

    placed: dict[CandidateRow, Placed] = field(default_factory=dict)
    cosines: dict[CandidateRow, float] = field(default_factory=dict)
    """Of their vectors with the question's."""
    met: dict[tuple[str, str], int] = field(default_factory=dict)
    """By (text, text before): the row of `compared`."""
    compared: WordScores | None = None
    """All that was compared so far."""
    read: dict[MemoryToRead, Floats] = field(default_factory=dict)
    """Rows of `TokenScores.cosines`."""
    asked: TokenScores | None = None
    """Of the memories that were compared last."""
    fresh: int = 0
    """Token vectors that were made for this recall."""


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
    token_reader: TokenReader | None = None
    """The store's token vectors, where it has any."""
    check: Callable[[], None] = lambda: None
    """May raise while token vectors are made."""
    worked_out: WorkedOut = field(default_factory=lambda: WorkedOut())
    """Shared by the gatherers of one recall."""

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

    def hits(self, name: str, place: Mapping[str, int]) -> dict[int, Hit]:
        """The hits of a search by the place of their rows, which `place` tells by id."""
        lane = self.lanes.get(name)
        return {} if lane is None else {place[hit.row.id]: hit for hit in lane.hits}

    def pool(self) -> CandidatePool:
        """The candidates as columns."""
        rows = self.rows()
        place = {row.id: at for at, row in enumerate(rows)}
        vector, bm25 = self.hits("vector_ranked", place), self.hits("bm25_ranked", place)
        return CandidatePool(rows, vector, bm25, self.search.now_ms)

    def asked(self, pool: CandidatePool) -> tuple[Evidence, Sequence[str]]:
        """The evidence on each candidate; and why words were not compared, nothing when they were."""
        by_identifier = self.hits("identifier_ranked", pool.place)
        past = pool.timestamp[pool.timestamp <= pool.now_ms]
        start = self.search.outside.clock()
        placed = self._placed(pool.rows)
        met, warning = self._met(placed)
        met_at = self.search.outside.clock()
        read, unread = self._read(pool.rows, placed)
        read_ms = (self.search.outside.clock() - met_at) * 1000
        asked = Evidence(
            question=self.question,
            clean=self.clean,
            identifiers=self.identifiers if by_identifier else (),
            spans=spans_named(self.question, self.known.years),
            newest_wanted=self._newest_wanted(),
            cosines=cosines(pool, self.vector, self.worked_out.cosines),
            settings=self.settings,
            limit=self.limit,
            newest_ms=float(past.max()) if past.size else float(pool.now_ms),
            met=met,
            met_ms=(met_at - start) * 1000,
            read=read,
            read_ms=read_ms,
            by_identifier=by_identifier,
            following=self.hits(FOLLOWING, pool.place),
            speakers=[each.speaker for each in placed],
            around=[each.around for each in placed],
            told=lambda: signals(
                self.question, pool, [each.earlier for each in placed], [each.around for each in placed]
            ),
        )
        return asked, [each for each in (warning, unread) if each]

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

    def _placed(self, rows: Sequence[CandidateRow]) -> list[Placed]:
        """Each candidate in its session; what was said before also where it is no candidate, or may not be seen."""
        known = self.worked_out.placed
        fresh = [row for row in rows if row not in known]
        everywhere = self._placed_before()
        if unplaced := [row for row in fresh if row not in everywhere]:
            self._place(unplaced, rows, everywhere)
        gate = self.search.gate
        for row in fresh:
            placed = everywhere[row]
            hidden = placed.earlier is not None and gate(placed.earlier)
            known[row] = replace(placed, earlier=None) if hidden else placed
        return [known[row] for row in rows]

    def _placed_before(self) -> dict[CandidateRow, Placed]:
        """The same of earlier recalls of this version, as if everything may be seen; of none where rows are edited."""
        outside = self.search.outside
        if outside.edits:
            return {}
        placed: dict[CandidateRow, Placed] = outside.pin.derived(("placed", self.search.scope_where), dict)
        if len(placed) > ROWS_KEPT:
            placed.clear()
        return placed

    def _place(
        self, rows: Sequence[CandidateRow], every: Sequence[CandidateRow], into: dict[CandidateRow, Placed]
    ) -> None:
        """Put some of the candidates into `into`, as if everything may be seen."""
        around = [self.known.chains.around(row.id) for row in rows]
        here: dict[str, CandidateRow | None] = {row.id: row for row in every}
        wanted = sorted({name for name, _ in around if name is not None} - here.keys())
        stored = self.search.outside.rows_by_id(wanted) if wanted else {}
        here |= {memory_id: self.search.read(row) for memory_id, row in stored.items()}
        for row, ids in zip(rows, around, strict=True):
            before = None if ids[0] is None else here.get(ids[0])
            into[row] = Placed(*spoken(row), ids, "" if before is None else spoken(before)[1], before)

    def _met(self, placed: Sequence[Placed]) -> tuple[WordScores | None, str]:
        outside = self.search.outside
        texts = [(each.said, each.lent) for each in placed]
        key = ("met", self.clean.text, self.settings.rarity, self.search.scope_where, tuple(texts))
        known = self.worked_out.met

        def compare() -> WordScores:
            old = self.worked_out.compared
            fresh = [text for text in dict.fromkeys(texts) if text not in known]
            if fresh or old is None:
                pieces = piece_cache(outside.pin, self.model).pieces(
                    [text for pair in fresh for text in pair]
                )
                own, lent = pieces[0::2], pieces[1::2]
                scores = late_interaction(
                    self.model, self.clean.text, own, lent, rarity=self._rarity, like=old
                )
                known.update(zip(fresh, range(len(known), len(known) + len(fresh)), strict=True))
                old = scores if old is None else old.and_also(scores)
                self.worked_out.compared = old
            places = np.array([known[text] for text in texts], np.int64)
            return replace(old, cosines=old.cosines[places], before=old.before[places])

        try:
            return outside.made(key, compare), ""
        except EmbeddingError as error:
            return None, f"words were not compared: {error}"

    def _read(self, rows: Sequence[CandidateRow], placed: Sequence[Placed]) -> tuple[TokenScores | None, str]:
        """What the token vectors say, and what is to be said of them."""
        reader = self.token_reader
        if reader is None:
            return None, ""
        wanted = [
            MemoryToRead(row.id, each.said_before, each.said) for row, each in zip(rows, placed, strict=True)
        ]
        key = ("read", self.clean.text, self.settings.rarity, self.search.scope_where, tuple(wanted))
        known = self.worked_out.read

        def compare() -> TokenScores:
            fresh = [each for each in wanted if each not in known]
            scores = reader.scores(
                self.clean.text, fresh, rarity=self._rarity, check=self.check, like=self.worked_out.asked
            )
            self.worked_out.asked = scores
            known.update(zip(fresh, scores.cosines, strict=True))
            self.worked_out.fresh += scores.fresh
            every = np.array([known[each] for each in wanted]) if wanted else scores.cosines
            return replace(scores, cosines=every, fresh=self.worked_out.fresh)

        try:
            found = self.search.outside.made(key, compare)
        except MemtuiError as error:
            return None, f"token vectors were not compared: {error}"
        if found.fresh <= FEW_FRESH:
            return found, ""
        return found, (
            f"{found.fresh} of {counted(len(rows), 'candidate')} had no token vectors yet and were read now: "
            "memtui context build reads them all"
        )
