"""What a recall asks of the outside (searches, embedder, reranker), and what it was told: never asked twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import numpy as np

from memtui.engine.recall import search
from memtui.engine.recall.ask_reranker import request_scores
from memtui.engine.recall.kin import Kin
from memtui.engine.recall.pool import Floats
from memtui.engine.recall.rows import Row, rows_of
from memtui.engine.recall.search import Found
from memtui.engine.recall.setting import RerankAnswer

if TYPE_CHECKING:
    from memtui.engine.recall.config import Retrieval
    from memtui.engine.store.pin import Pin

Embed = Callable[[str], "np.ndarray[Any, np.dtype[np.float32]]"]
T = TypeVar("T")


ROWS_KEPT = 8192
"""Rows read by id that are remembered: some megabytes."""


class NotAsked(Exception):  # noqa: N818 - an outcome: the answer is not at hand
    """A recall that may ask nothing needs an answer that it was never given; `what` names it."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class Outside:
    """One version of a table, an embedder and a reranker, with a memory.

    A trace keeps the one it was made with, so that the same question under other parameters needs no I/O.
    `edits` are rows to read in place of the stored ones (None: as if the row were gone): what a change of a
    memory would do, without writing it. Answers are kept until the last trace that holds them goes.
    """

    def __init__(
        self,
        pin: Pin,
        embed: Embed | None = None,
        *,
        no_embedder: str = "",
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.pin = pin
        self.embed_text = embed
        self.no_embedder = no_embedder
        self.clock = clock
        self.edits: Mapping[str, Row | None] = {}
        self._live = True
        self._told: dict[Hashable, Any] = {}
        self.kin: dict[int, Kin] = {}

    def offline(self) -> Outside:
        """The same memory; a question that was never asked raises `NotAsked`."""
        return self._variant(live=False)

    def live(self) -> Outside:
        """The same memory, which asks what it was never told."""
        return self if self._live else self._variant(live=True)

    def with_edits(self, edits: Mapping[str, Row | None]) -> Outside:
        """The same memory, reading `edits` (by id) in place of the stored rows."""
        return self._variant(edits=edits)

    def _variant(self, *, live: bool | None = None, edits: Mapping[str, Row | None] | None = None) -> Outside:
        other = Outside(self.pin, self.embed_text, no_embedder=self.no_embedder, clock=self.clock)
        other.edits = self.edits if edits is None else edits
        other._live = self._live if live is None else live
        other._told, other.kin = self._told, self.kin
        return other

    def asked(self, key: Hashable, what: str, ask: Callable[[], T]) -> T:
        """The answer to `key`: remembered, else asked for now; `what` says it in words."""
        if key not in self._told:
            if not self._live:
                raise NotAsked(what)
            self._told[key] = ask()
        return cast(T, self._told[key])

    def made(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` works out without asking anybody, made once for each `key`."""
        if key not in self._told:
            self._told[key] = make()
        return cast(T, self._told[key])

    def read(self, row: Row) -> Row | None:
        """The row as this recall reads it: the edit in its place, None when the edit takes it away."""
        return self.edits.get(row.id, row) if self.edits else row

    def embed(self, text: str) -> Floats:
        """The question as a vector, float64 [dims]. Call only where there is an embedder."""
        assert self.embed_text is not None
        embed = self.embed_text
        return self.asked(
            ("embed", text), "the question has to be embedded", lambda: np.asarray(embed(text), np.float64)
        )

    def nearest(
        self,
        query: Floats,
        *,
        k: int,
        where: str | None,
        metric: Literal["cosine", "l2"] = "cosine",
        exact: bool = False,
    ) -> Found:
        """See `search.nearest`; `exact` is `search.nearest_exact`."""
        key = ("vector", query.tobytes(), where, metric, exact)
        if exact:
            return self.asked(
                key, "all vectors have to be read", lambda: search.nearest_exact(self.pin, query, where=where)
            )
        return self._search(
            key, "vectors", k, lambda: search.nearest(self.pin, query, k=k, where=where, metric=metric)
        )

    def by_words(self, text: str, *, k: int, where: str | None, agent: bool = False) -> Found:
        """See `search.by_words`; with `agent` `search.by_agent_words`.

        Asked for as many as any search of the plugin takes: the engine's order of equal rows depends on how many
        are asked for, and a recall from memory has to come out as one that is made anew.
        """
        most = max(k, search.FETCH_CAP)

        def ask() -> Found:
            if agent:
                return search.by_agent_words(self.pin, text, k=most, where=where)
            return search.by_words(self.pin, text, k=most, where=where)

        return self._search(("words", text, where, most, agent), "words", k, ask)

    def by_substring(self, text: str, *, where: str | None) -> Found:
        """See `search.by_substring`."""
        return self.asked(
            ("substring", text, where),
            "the text has to be looked for as a substring",
            lambda: search.by_substring(self.pin, text, where=where),
        )

    def rows_by_id(self, ids: Sequence[str]) -> dict[str, Row]:
        """The rows with these ids; a duplicated id gives the last one. Rows are kept with the table's version."""
        kept: dict[str, Row] = self.pin.derived(("rows by id",), dict)
        found = {memory_id: row for memory_id in ids if (row := kept.get(memory_id)) is not None}
        missing = tuple(memory_id for memory_id in ids if memory_id not in found)
        if missing:
            columns = search.read_columns(self.pin.dialect)
            read = self.asked(
                ("rows", missing),
                "rows have to be read",
                lambda: rows_of(self.pin.rows_by_id(missing, columns), self.pin.dialect),
            )
            if len(kept) > ROWS_KEPT:
                kept.clear()
            fresh = {row.id: row for row in read}
            kept.update(fresh)
            found |= fresh
        return {memory_id: found[memory_id] for memory_id in ids if memory_id in found}

    def rerank(
        self, retrieval: Retrieval, query: str, documents: Sequence[str], top_n: int, budget_ms: float
    ) -> RerankAnswer:
        """The remote reranker's answer; see `ask_reranker.request_scores`."""
        r = retrieval
        key = (r.rerank_provider, r.rerank_endpoint, r.rerank_model, str(r.rerank_api_key))
        return self.asked(
            ("rerank", key, query, tuple(documents), top_n, budget_ms),
            "the reranker has to be asked again",
            lambda: request_scores(retrieval, query, documents, top_n, budget_ms),
        )

    def _search(self, key: Hashable, by: str, k: int, ask: Callable[[], Found]) -> Found:
        known = self._told.get(key)
        if known is None or not known.covers(k):
            if not self._live:
                raise NotAsked(f"the table has to be searched by {by}")
            known = self._told[key] = ask()
        if known.asked == k:
            return cast(Found, known)
        inputs = known.inputs[:k]
        return replace(known, rows=known.rows[:k], numbers=known.numbers[:k], inputs=inputs, asked=k)
