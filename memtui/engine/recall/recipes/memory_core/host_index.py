"""The search of OpenClaw 2026.9 over its own index: its full-text tables, its vectors, its order.

Source: spec/openclaw.md 4.4. What is quoted is what the index holds, also where a file went on since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.core.progress import CancelToken
from memtui.engine.core.text import clean, counted
from memtui.engine.notes.index_file import SESSIONS, IndexedChunk, opened_index, search_paths, search_words
from memtui.engine.notes.index_store import IndexView, NotesIndex, day_of_note
from memtui.engine.notes.keywords import keywords
from memtui.engine.notes.ranking import (
    asked_for_file,
    host_tokens,
    importance_factor,
    varied,
    word_inputs,
    word_share,
)
from memtui.engine.recall.asker import by_whoever
from memtui.engine.recall.candidates import CandidatePool, Floats, Hit
from memtui.engine.recall.lanes import Lane
from memtui.engine.recall.pipeline import pool_of
from memtui.engine.recall.proof_account import with_account
from memtui.engine.recall.proof_rules import StepsProof
from memtui.engine.recall.recipe import Recipe
from memtui.engine.recall.recipes.memory_core.recipe import (
    BLOCK,
    DEFAULT_LIMIT,
    KNOBS,
    MOST_FAILURES,
    NAME,
    CoreRun,
    aged,
    expected_score,
    fused,
    idle,
    resolve,
    run,
    searched,
    stored_failures,
)
from memtui.engine.recall.record import Trace
from memtui.engine.recall.rows import CandidateRow, rows_of
from memtui.engine.recall.stage import Drop, Ranking, StageOutcome
from memtui.engine.recall.store_search import read_columns
from memtui.engine.recall.trace import Proof

if TYPE_CHECKING:
    from memtui.engine.core.memory import Memory
    from memtui.engine.recall.context import RecallContext
    from memtui.engine.recall.io_cache import IoCache
    from memtui.engine.recall.request import RecallRequest
    from memtui.engine.recall.trace import OnStage

SNIPPET = 700
"""Characters of a chunk that the host quotes, and compares for diversity."""

KEYWORDS = 6
"""So many words of a question are searched one by one."""


@dataclass
class HostIndexRun(CoreRun):
    """One recall of an index."""

    view: IndexView = field(default_factory=IndexView)
    chunks: Mapping[str, IndexedChunk] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        given = (self.request.config or {}).get(BLOCK)
        given = given if isinstance(given, Mapping) else {}
        # Both are on in the host of today, and off in the one that the settings of the recipe are named after.
        self.settings = self.settings.model_copy(
            update={
                name: True
                for name, key in (("temporal_decay", "temporalDecay"), ("mmr", "mmr"))
                if key not in given and name not in given
            }
        )
        source = self.outside.pin.source
        assert isinstance(source, NotesIndex)
        self.index = source
        self.view = source.view
        mine = f"agent:{source.agent}" if source.agent else None
        scopes = self.request.scopes
        denied = (scopes is not None and mine not in scopes) or self.request.category is not None
        self.chunks = {} if denied else {chunk.id: chunk for chunk in self.view.content.chunks}
        self.most = min(200, max(1, self.limit * self.settings.candidate_multiplier))

    def trace(self) -> Trace:
        """Search both ways, merge, weigh, and order as the host does."""
        settings, vector = self.settings, self._vector()
        words_only = vector is None
        by_vector = self._lane("vector", lambda: Lane() if vector is None else self._nearest(vector))
        words = self._lane("bm25", self._by_words)
        pool = pool_of(by_vector, words, self.now_ms, self.outside.kin)
        for name, title, lane, hits in (
            ("vector_ranked", "vector", by_vector, pool.vector),
            ("bm25_ranked", "words", words, pool.bm25),
        ):
            self._add(name, title, "search", None, searched(hits, pool, {}, lane))
        weights = settings.weights(words_only=words_only)
        flow = self._add("fused", "fusion", "score", None, fused, pool, weights)
        if settings.temporal_decay:
            flow = self._add(
                "temporal_decay", "age", "score", flow, aged, flow, pool, settings.half_life_days
            )
        flow = self._add("importance", "importance", "score", flow, self._weighed, flow, pool)
        if any(asked_for_file(self.request.query, self.chunks[row.id].path) for row in pool.rows):
            flow = self._add("file_name", "file asked for", "score", flow, self._named_first, flow, pool)
        by_score = flow.order.tolist()
        if settings.mmr:
            flow = self._add("mmr", "MMR", "order", flow, _mmr, flow, pool, settings.mmr_lambda)
        flow = self._add(
            "min_score",
            "min score",
            "filter",
            flow,
            _admitted,
            flow,
            pool,
            settings.min_score,
            settings.text_weight,
            self.limit,
        )
        self._add("limit", "limit", "filter", flow, _cut, flow, by_score, self.limit)
        self._warn_of_files(pool)
        return self.make_trace(
            mode="keyword" if words_only else "hybrid",
            recipe=NAME,
            config={BLOCK: settings.as_block()},
            limit=self.limit,
            bm25_query=self.request.query,
            pool=pool,
            query_vector=vector,
            prover=prove_index,
        )

    def _nearest(self, vector: Floats) -> Lane:
        """The chunks whose embeddings are nearest by cosine."""
        found: list[tuple[float, str]] = []
        length = float(np.linalg.norm(vector))
        for chunk in self.chunks.values():
            own = chunk.vector
            if own is not None and len(own) == len(vector):
                found.append((float(own @ vector) / (float(np.linalg.norm(own)) * length), chunk.id))
        best = sorted(found, key=lambda pair: -pair[0])[: self.most]
        rows = self._rows([chunk_id for _, chunk_id in best])
        hits = tuple(
            Hit(rows[chunk_id], rank, cosine, 1.0 - cosine, "cosine", {"distance": 1.0 - cosine})
            for rank, (cosine, chunk_id) in enumerate(best, 1)
        )
        return Lane(hits, via="index", params={"limit": self.most, "found": len(hits)})

    def _by_words(self) -> Lane:
        """Chunks with every word of the question; where that is nothing, or it has stop words, word by word."""
        question = self.request.query
        tokens = list(dict.fromkeys(host_tokens(question)))
        named = keywords(question)
        best: dict[str, float] = {}
        with opened_index(self.index.path) as db:
            for hit in search_words(db, tokens, self.most):
                best[hit.id] = -hit.bm25
            if not best or named != tokens:
                for word in named[:KEYWORDS]:
                    for hit in search_words(db, host_tokens(word), self.most):
                        best[hit.id] = max(best.get(hit.id, 0.0), -hit.bm25)
            paths = search_paths(db, tokens, self.most)
        found: list[tuple[float, str, str, dict[str, float], float]] = []
        for chunk_id, raw in best.items():
            chunk = self.chunks.get(chunk_id)
            if chunk is not None:
                parts = word_inputs(question, chunk.text, chunk.path)
                found.append(
                    (word_share(raw, parts), chunk_id, "word_bonus", {"raw_bm25": raw, **parts}, raw)
                )
        for chunk in self.chunks.values():
            if chunk.id not in best and chunk.path in paths:
                score = abs(paths[chunk.path]) / (1 + abs(paths[chunk.path]))
                found.append((score, chunk.id, "path_match", {"path_score": score}, abs(paths[chunk.path])))
        found = sorted(found, key=lambda item: -item[0])[: self.most]
        rows = self._rows([item[1] for item in found])
        hits = tuple(
            Hit(rows[chunk_id], rank, score, raw, rule, inputs)
            for rank, (score, chunk_id, rule, inputs, raw) in enumerate(found, 1)
        )
        return Lane(hits, via="index", params={"limit": self.most, "found": len(hits)})

    def _rows(self, ids: list[str]) -> dict[str, CandidateRow]:
        """The rows with the text that the index holds, and the time that they age from."""
        pin = self.outside.pin
        rows = rows_of(pin.rows_by_id(ids, read_columns(pin.dialect)), pin.dialect) if ids else []
        return {
            row.id: row.changed(text=self.chunks[row.id].text, timestamp_ms=self._ages_from(row.id))
            for row in rows
        }

    def _ages_from(self, chunk_id: str) -> int:
        """The day in a note's name, the time of a session or of an extra file; 0 for what never ages."""
        chunk = self.chunks[chunk_id]
        day = day_of_note(chunk.path)
        if day is not None and chunk.source != SESSIONS:
            return day
        if chunk.source != SESSIONS and not chunk.path.startswith(".."):
            return 0
        file = self.view.content.file_of.get(chunk.path)
        return int(file.mtime_ms) if file is not None else 0

    def _weighed(self, flow: Ranking, pool: CandidatePool) -> StageOutcome:
        """Scores times what the importance of the entry makes of them."""
        numbers = [self.chunks[row.id].importance for row in pool.rows]
        importance = np.array([np.nan if number is None else float(number) for number in numbers])
        factor = np.array([importance_factor(number) for number in importance.tolist()])
        return StageOutcome(flow.sorted(flow.score * factor), "by_importance", {"importance": importance})

    def _named_first(self, flow: Ranking, pool: CandidatePool) -> StageOutcome:
        """A file that is asked for by its name stands first, with score 1."""
        weight = np.array([asked_for_file(self.request.query, self.chunks[row.id].path) for row in pool.rows])
        score = np.where(weight > 0, 1.0, flow.score)
        order = sorted(flow.order.tolist(), key=lambda at: (-int(weight[at]), -float(score[at])))
        rule = np.where(weight > 0, "recorded", "unchanged").astype(object)
        return StageOutcome(
            Ranking(np.array(order, np.int64), score), rule, {"recorded": np.where(weight > 0, 1.0, np.nan)}
        )

    def _warn_of_files(self, pool: CandidatePool) -> None:
        """Say that what is quoted is another text than the file's by now."""
        old = [
            row.id
            for row in pool.rows
            if (place := self.view.placed.get(row.id)) is not None and place.state != "indexed"
        ]
        if old:
            self.warnings.append(
                f"{counted(len(old), 'candidate')} quoted from the index: the file was changed since, index not updated"
            )

    def load_memories(self, pool: CandidatePool) -> Mapping[str, Memory]:
        """The memories with the texts that the index holds."""
        memories = super().load_memories(pool)
        quoted = {row.id: row.text for row in pool.rows}
        return {
            key: replace(memory, raw_text=quoted[key], text=clean(quoted[key])) if key in quoted else memory
            for key, memory in memories.items()
        }


def _mmr(flow: Ranking, pool: CandidatePool, lam: float) -> StageOutcome:
    """Another order: what is much like what stands above it comes later."""
    items = [(str(at), float(flow.score[at]), pool.rows[at].text[:SNIPPET]) for at in flow.order.tolist()]
    order = np.array([int(found) for found in varied(items, lam)], np.int64)
    return StageOutcome(Ranking(order, flow.score), params={"lambda": lam}, kind="order")


def _kept(flow: Ranking, pool: CandidatePool, least: float, relaxed: float, limit: int) -> list[int]:
    """What reaches the minimum; words alone fill free places, and stand for all where nothing reaches it."""
    order = flow.order.tolist()
    good = [at for at in order if float(flow.score[at]) >= least]
    if not good:
        return [at for at in order if at in pool.bm25 and float(flow.score[at]) >= 0]
    free = max(0, limit - len(good))
    alone = [at for at in order if at not in good and at in pool.bm25 and at not in pool.vector]
    return [*good, *[at for at in alone if float(flow.score[at]) >= relaxed][:free]]


def _admitted(
    flow: Ranking, pool: CandidatePool, least: float, text_weight: float, limit: int
) -> StageOutcome:
    kept = _kept(flow, pool, least, min(least, text_weight), limit)
    dropped = {
        at: Drop("min_score", float(flow.score[at]), least) for at in flow.order.tolist() if at not in kept
    }
    return StageOutcome(
        Ranking(np.array(kept, np.int64), flow.score),
        dropped=dropped,
        params={"minScore": least},
        kind="filter",
    )


def _cut(flow: Ranking, by_score: list[int], limit: int) -> StageOutcome:
    """The first `limit`; what its score alone would have brought in was moved out by diversity."""
    order = flow.order.tolist()
    inside = set([at for at in by_score if at in order][:limit])
    dropped = {
        at: Drop("mmr" if at in inside else "limit", float(place), float(limit))
        for place, at in enumerate(order[limit:], limit + 1)
    }
    return StageOutcome(
        Ranking(flow.order[:limit], flow.score), dropped=dropped, params={"limit": limit}, kind="filter"
    )


def prove_index(trace: Trace) -> Proof:
    """Recompute every score, the order after diversity, and who reaches the minimum."""
    steps = StepsProof(trace, expected_score, searches=("vector_ranked", "bm25_ranked"))
    steps.run()
    failures = [*steps.failures, *stored_failures(trace), *_gates(trace)]
    proof = Proof(not failures, steps.max_error, steps.checked, tuple(failures[:MOST_FAILURES]))
    return with_account(trace, proof)


def _gates(trace: Trace) -> list[str]:
    settings: Mapping[str, Any] = trace.config[BLOCK]
    failures = []
    for record in trace.records:
        after = record.outcome.flow.order.tolist()
        if record.name == "mmr":
            again = _mmr(record.before, trace.pool, settings["mmrLambda"]).flow.order.tolist()
            if again != after:
                failures.append("mmr: the texts give another order")
        least = settings["minScore"]
        relaxed = min(least, settings["textWeight"])
        if record.name == "min_score" and after != _kept(
            record.before, trace.pool, least, relaxed, trace.limit
        ):
            failures.append("min_score: the scores let others through")
    return failures


def run_over(
    request: RecallRequest,
    context: RecallContext,
    outside: IoCache,
    on_stage: OnStage | None = None,
    cancel: CancelToken | None = None,
) -> Trace:
    """Answer as the host does over its own index; over a table as if each memory were a chunk of its files."""
    if outside.pin.source is None:
        return run(request, context, outside, on_stage, cancel)
    now_ms = context.now_ms if request.now_ms is None else request.now_ms
    ears = on_stage or (lambda summary: None)
    return HostIndexRun(request, outside, now_ms, ears, cancel or CancelToken()).trace()


PROTOCOL = 1

RECIPES = (
    Recipe(
        NAME,
        "OpenClaw's memory-core",
        "Vector and keyword search merged .7 to .3, age and diversity (MMR) where switched on, "
        "minimum score .35: each memory a chunk of its Markdown.",
        DEFAULT_LIMIT,
        run=run_over,
        asker=by_whoever,
        resolve=resolve,
        knobs=KNOBS,
        idle=idle,
        block=BLOCK,
        family=NAME,
    ),
)
