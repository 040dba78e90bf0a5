"""What a recall asks of the outside (searches, embedder, reranker), and what it was told: never asked twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import numpy as np

from memtui.engine.core.errors import MemtuiError, RerankError, UsageError, WithheldError
from memtui.engine.recall import store_search
from memtui.engine.recall.candidates import Floats, SimilarityCache
from memtui.engine.recall.far_rows import far_rows
from memtui.engine.recall.request import RecallRequest
from memtui.engine.recall.rows import ROWS_KEPT, CandidateRow, rows_of
from memtui.engine.recall.rows_at_hand import rows_at_hand
from memtui.engine.recall.store_search import SearchResult
from memtui.engine.recall.trace import StageSummary

if TYPE_CHECKING:
    from memtui.engine.core.progress import CancelToken
    from memtui.engine.recall.recipes.pro.settings import RetrievalSettings
    from memtui.engine.store.snapshot import Snapshot


# One recall, fully decided: what every stage of a recipe may look at.


@dataclass(frozen=True)
class RerankAnswer:
    """What the remote reranker said: (position, score) pairs in its order, or why there are none."""

    scores: Sequence[tuple[int, float]] | None
    note: str = ""


# Asking the remote reranker within its time budget (spec/retrieval 4.5).

_FALLBACK = "so the cosine blend"


def ask_reranker(
    outside: IoCache,
    retrieval: RetrievalSettings,
    query: str,
    documents: Sequence[str],
    top_n: int,
    timeout_ms: float | None,
) -> tuple[RerankAnswer, StageSummary | None]:
    """The reranker's scores, or why there are none; and the call as an operation when one was made.

    `timeout_ms` overrides the configured budget; 0 or less skips the call, as the peer does.
    """
    if not retrieval.rerank_api_key:
        return RerankAnswer(None, f"no API key, {_FALLBACK}"), None
    budget = retrieval.rerank_timeout_ms if timeout_ms is None else timeout_ms
    if budget <= 0:
        return RerankAnswer(None, f"timeout: no time left to ask, {_FALLBACK}"), None
    if not documents:
        return RerankAnswer(()), None
    start = outside.clock()
    answer = outside.rerank(retrieval, query, documents, top_n, budget)
    ms = (outside.clock() - start) * 1000
    n_out = len(answer.scores or ())
    return answer, StageSummary(
        "rerank_request", "ask reranker", "operation", len(documents), n_out, ms, note=answer.note
    )


def request_scores(
    retrieval: RetrievalSettings, query: str, documents: Sequence[str], top_n: int, budget_ms: float
) -> RerankAnswer:
    """One request over HTTP; a failure is an answer without scores."""
    from memtui.engine.providers.reranker import RerankSettings, rerank

    key = retrieval.rerank_api_key if isinstance(retrieval.rerank_api_key, str) else ""
    settings = RerankSettings(
        provider=retrieval.rerank_provider,
        endpoint=retrieval.rerank_endpoint,
        model=retrieval.rerank_model,
        api_key=key,
        timeout_ms=budget_ms,
    )
    try:
        return RerankAnswer(rerank(settings, query, list(documents), top_n, timeout_ms=budget_ms))
    except RerankError as error:
        return RerankAnswer(None, f"{error.reason}: {error.message} {_FALLBACK}")


Embed = Callable[[str], "np.ndarray[Any, np.dtype[np.float32]]"]

T = TypeVar("T")

_NEVER: Any = object()
"""Stands for an answer that nobody has given."""


class NotCached(Exception):  # noqa: N818 - an outcome: the answer is not at hand
    """A recall that may ask nothing needs an answer that it was never given; `what` names it."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


@dataclass(slots=True)
class _Answers:
    """What the table, the embedder and the reranker answered; one for all variants of a cache that ask the same."""

    by_key: dict[Hashable, Any] = field(default_factory=dict)
    words_of_others: bool = False
    """Whether keyword scores among them count rows that should not count."""


class IoCache:
    """One version of a table, an embedder and a reranker, with a memory.

    A trace keeps the one it was made with, so that the same question under other parameters needs no I/O.
    `edits` are rows to read in place of the stored ones (None: as if the row were gone): what a change of a
    memory would do, without writing it. Answers are kept until the last trace that holds them goes.
    """

    def __init__(
        self,
        pin: Snapshot,
        embed: Embed | None = None,
        *,
        no_embedder: str = "",
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.pin = pin
        self.embed_text = embed
        self.no_embedder = no_embedder
        self.clock = clock
        self.edits: Mapping[str, CandidateRow | None] = {}
        self._live = True
        self._answers = _Answers()
        self.kin: dict[int, SimilarityCache] = {}
        self._check: Callable[[], None] = lambda: None

    def offline(self) -> IoCache:
        """The same memory; a question that was never asked raises `NotCached`."""
        return self._variant(live=False)

    @property
    def asks(self) -> bool:
        """Whether it asks what it was never told."""
        return self._live

    def live(self) -> IoCache:
        """The same memory, which asks what it was never told."""
        return self if self._live else self._variant(live=True)

    def with_edits(self, edits: Mapping[str, CandidateRow | None]) -> IoCache:
        """The same memory, reading `edits` (by id) in place of the stored rows."""
        return self._variant(edits=edits)

    def exactly(self) -> IoCache:
        """The same memory, but for what a vector index said: such searches are made again, over every row."""
        other = IoCache(self.pin.exactly(), self.embed_text, no_embedder=self.no_embedder, clock=self.clock)
        other.edits, other.kin = self.edits, self.kin
        left = {key: told for key, told in self._answers.by_key.items() if not _by_vector(key)}
        other._answers = _Answers(left, self._answers.words_of_others)
        return other

    def counting(self, where: str | None) -> IoCache:
        """The same memory, but for searches by words: they count the rows alone that `where` keeps."""
        if where is None or self.pin.counted is not None:
            return self
        other = IoCache(
            self.pin.counting(where), self.embed_text, no_embedder=self.no_embedder, clock=self.clock
        )
        other.edits, other.kin, other._live = self.edits, self.kin, self._live
        left = {key: told for key, told in self._answers.by_key.items() if not _by_words(key)}
        other._answers = _Answers(left)
        return other

    @contextmanager
    def stopped_by(self, cancel: CancelToken | None) -> Iterator[None]:
        """Within this, what passes over vectors far away stops when `cancel` says so."""
        before = self._check
        self._check = before if cancel is None else cancel.check
        try:
            yield
        finally:
            self._check = before

    def _variant(
        self, *, live: bool | None = None, edits: Mapping[str, CandidateRow | None] | None = None
    ) -> IoCache:
        other = IoCache(self.pin, self.embed_text, no_embedder=self.no_embedder, clock=self.clock)
        other.edits = self.edits if edits is None else edits
        other._live = self._live if live is None else live
        other._answers, other.kin = self._answers, self.kin
        return other

    def asked(self, key: Hashable, what: str, ask: Callable[[], T]) -> T:
        """The answer to `key`: remembered, else asked for now; `what` says it in words."""
        told = self._answers.by_key.get(key, _NEVER)  # keys are large: looked up once
        if told is _NEVER:
            if not self._live:
                raise NotCached(what)
            told = self._answers.by_key[key] = ask()
        return cast(T, told)

    def made(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` works out without asking anybody, made once for each `key`."""
        told = self._answers.by_key.get(key, _NEVER)
        if told is _NEVER:
            told = self._answers.by_key[key] = make()
        return cast(T, told)

    def far_vectors_read(self) -> int:
        """How many vectors each search by meaning had to fetch from object storage; 0 where an index led it.

        A database service searches where its vectors are: there it is 0, too.
        """
        if not self.pin.on_object_storage:
            return 0
        if not any(_by_vector(key) for key in self._answers.by_key):
            return 0
        return self.pin.outside_vector_index

    def read(self, row: CandidateRow) -> CandidateRow | None:
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
        in_memory: bool = False,
    ) -> SearchResult:
        """See `store_search.nearest`; `exact` is `nearest_exact` there, `in_memory` `nearest_in_memory`."""
        key = ("vector", query.tobytes(), where, metric, exact, in_memory)
        if exact:
            return self.asked(
                key,
                "all vectors have to be read",
                lambda: store_search.nearest_exact(self.pin, query, where=where),
            )
        if in_memory:
            return self._search(
                key,
                "vectors",
                k,
                lambda: store_search.nearest_in_memory(self.pin, query, k=k, where=where, check=self._check),
            )
        return self._search(
            key,
            "vectors",
            k,
            lambda: store_search.nearest(self.pin, query, k=k, where=where, metric=metric, check=self._check),
        )

    def by_words(
        self, text: str, *, k: int, where: str | None, agent: bool = False, in_memory: bool = False
    ) -> SearchResult:
        """See `store_search.by_words`; with `agent` `search.by_agent_words`, with `in_memory` that with rows at hand.

        Asked for as many as any search of the plugin takes: the engine's order of equal rows depends on how many
        are asked for, and a recall from memory has to come out as one that is made anew.
        """
        most = max(k, store_search.FETCH_CAP)

        def ask() -> SearchResult:
            if agent:
                return store_search.by_agent_words(self.pin, text, k=most, where=where)
            ask_words = store_search.by_words_in_memory if in_memory else store_search.by_words
            return ask_words(self.pin, text, k=most, where=where)

        found = self._search(("words", text, where, most, agent, in_memory), "words", k, ask)
        if found.of_others:
            self.count_others()
        return found

    def count_others(self) -> None:
        """Note that keyword scores of this recall count rows that should not count."""
        self._answers.words_of_others = True

    @property
    def words_of_others(self) -> bool:
        """Whether keyword scores of a recall that should count its own rows alone count others, too.

        So it is where the words of a large table are left to the library: such numbers are for nobody who may not
        read all of it.
        """
        return self._answers.words_of_others

    def by_substring(self, text: str, *, where: str | None) -> SearchResult:
        """See `store_search.by_substring`."""
        return self.asked(
            ("substring", text, where),
            "the text has to be looked for as a substring",
            lambda: store_search.by_substring(self.pin, text, where=where),
        )

    def rows_by_id(self, ids: Sequence[str]) -> dict[str, CandidateRow]:
        """The rows with these ids; a duplicated id gives the last one. Rows are kept with the table's version."""
        columns = store_search.read_columns(self.pin.dialect)
        small = rows_at_hand(self.pin, columns)
        found = {} if small is None else small.by_id(ids)
        kept: dict[str, CandidateRow] = self.pin.derived(("rows by id",), dict)
        found |= {memory_id: row for memory_id in ids if (row := kept.get(memory_id)) is not None}
        missing = tuple(memory_id for memory_id in ids if memory_id not in found)
        if missing:
            read = self.asked(("rows", missing), "rows have to be read", lambda: self._read(missing, columns))
            if len(kept) > ROWS_KEPT:
                kept.clear()
            fresh = {row.id: row for row in read}
            kept.update(fresh)
            found |= fresh
        return {memory_id: found[memory_id] for memory_id in ids if memory_id in found}

    def _read(self, ids: Sequence[str], columns: Sequence[str]) -> Sequence[CandidateRow]:
        if self.pin.on_object_storage:
            return far_rows(self.pin).by_id(ids)
        return rows_of(self.pin.rows_by_id(ids, columns), self.pin.dialect)

    def rerank(
        self, retrieval: RetrievalSettings, query: str, documents: Sequence[str], top_n: int, budget_ms: float
    ) -> RerankAnswer:
        """The remote reranker's answer; see `request_scores`."""
        r = retrieval
        key = (r.rerank_provider, r.rerank_endpoint, r.rerank_model, str(r.rerank_api_key))
        return self.asked(
            ("rerank", key, query, tuple(documents), top_n, budget_ms),
            "the reranker has to be asked again",
            lambda: request_scores(retrieval, query, documents, top_n, budget_ms),
        )

    def _search(self, key: Hashable, by: str, k: int, ask: Callable[[], SearchResult]) -> SearchResult:
        known = self._answers.by_key.get(key)
        if known is None or not known.covers(k):
            if not self._live:
                raise NotCached(f"the table has to be searched by {by}")
            known = self._answers.by_key[key] = ask()
        if known.asked == k:
            return cast(SearchResult, known)
        inputs = known.inputs[:k]
        return replace(known, rows=known.rows[:k], numbers=known.numbers[:k], inputs=inputs, asked=k)


def _by_vector(key: Hashable) -> bool:
    return isinstance(key, tuple) and key[0] in ("vector", "tier vector")


def _by_words(key: Hashable) -> bool:
    return isinstance(key, tuple) and key[0] in ("words", "flat words", "tier words")


# The question as a vector: given, embedded, or not to be had.


@dataclass(frozen=True)
class QuestionVector:
    """The vector, float64 [dims], or None and why; the embedding as an operation when it was asked for."""

    vector: Floats | None
    warnings: list[str] = field(default_factory=list)
    operation: StageSummary | None = None
    failed: str = ""
    """What the embedder said when it was asked and failed, whole; empty otherwise."""


def question_vector(request: RecallRequest, outside: IoCache, *, needed: bool) -> QuestionVector:
    """The vector that the request gives, else the embedder's.

    Where neither is to be had the keyword lane works alone, which the warning says; with `needed` that is an
    error, unless the request brings recorded vector hits. An embedder that was asked and failed is told in
    `failed`: what follows from it is the recipe's own rule.
    """
    if request.query_vector is not None:
        return QuestionVector(_given(request.query_vector))
    if outside.embed_text is None:
        why = outside.no_embedder or "there is no embedder for this store"
        if needed and not (request.lanes or {}).get("vector"):
            raise MemtuiError(
                f"This recall asks by meaning only, and its question has no vector. {_sentence(why)}",
                fix="Choose a recipe with keyword search, or give a question vector.",
            )
        return QuestionVector(None, [f"keyword only: {why}"])
    start = outside.clock()
    try:
        vector = outside.embed(request.query)
        check_dims(vector, outside.pin.dims)
    except (
        WithheldError
    ):  # nobody was asked: an answer by words alone would be another one than the agent gets
        raise
    except MemtuiError as error:
        ms = (outside.clock() - start) * 1000
        details = error.details if " " in error.details.strip() else ""  # one word is a kind, for programs
        said = " ".join(part.strip() for part in (error.message, details, error.fix) if part.strip())
        asked = StageSummary("embed_query", "embed", "operation", 1, 0, ms, note=f"asked and failed: {said}")
        return QuestionVector(None, [f"keyword only: {said}"], asked, said)
    ms = (outside.clock() - start) * 1000
    return QuestionVector(vector, [], StageSummary("embed_query", "embed", "operation", 1, 1, ms))


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text[:1].upper()}{text[1:]}."


def _given(given: Sequence[float]) -> Floats:
    try:
        vector = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        vector = np.array([[]])
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise UsageError(
            "The question vector is not a flat list of finite numbers.", fix="Give one flat list of floats."
        )
    return vector


def check_dims(vector: Floats | None, dims: int | None) -> None:
    """Raise UsageError when the question's vector does not fit the table's."""
    if vector is not None and dims is not None and len(vector) != dims:
        raise UsageError(
            f"The question vector has {len(vector)} dimensions, the table's vectors {dims}.",
            fix="Use the embedding model that made the store's vectors.",
        )
