"""The searches of the recipe `memtui`: by meaning, by words, and by identifiers to the letter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from json import dumps
from typing import Any

from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.memory import ARCHIVED
from memtui.engine.core.text import composed
from memtui.engine.metadata.categories import filter_candidates, matches
from memtui.engine.recall.candidates import DroppedHit, Floats, Hit
from memtui.engine.recall.far_rows import far_rows
from memtui.engine.recall.io_cache import IoCache
from memtui.engine.recall.lanes import Lane
from memtui.engine.recall.recipes.memtui import pairs
from memtui.engine.recall.rows import CandidateRow, CandidateRows, decoded, rows_of
from memtui.engine.recall.store_search import SearchResult, in_both_forms, read_columns, rows_searched
from memtui.engine.store import sql

SLACK = 2
"""Rows asked for are this many times the pool, because those that do not qualify are left out afterwards."""

WIDER, WIDEST = 4, 5_000
"""A search that did not fill the pool is asked again for this many times as much, up to so many rows."""


@dataclass(frozen=True)
class MemtuiSearch:
    """What all searches need to know of the question."""

    outside: IoCache
    scopes: Sequence[str] | None
    category: str | None
    pool: int
    now_ms: int
    owners: tuple[str, ...] = ()
    """Only the rows of these agents, where rows have an owner."""

    @property
    def denied(self) -> bool:
        """An empty scope list denies everything."""
        return self.scopes is not None and not self.scopes

    @property
    def scope_where(self) -> str | None:
        """The filter by scope and owner as SQL, None without one."""
        return rows_searched(self.outside.pin.dialect, self.scopes, self.owners)

    @property
    def where(self) -> str | None:
        """Scope, and every column value that the category may be stored as."""
        column = self.outside.pin.dialect.columns.category
        if self.category is None or column is None:
            return self.scope_where
        if self.outside.pin.dialect.lists_categories:
            return sql.both(self.scope_where, sql.contains(column, dumps(self.category)))
        stored = dict.fromkeys((self.category, *filter_candidates(self.category)))
        return sql.both(self.scope_where, sql.is_in(column, stored))

    def read(self, stored: CandidateRow) -> CandidateRow | None:
        """The row as this recipe reads it, None where a change takes it away."""
        row = self.outside.read(stored)
        return None if row is None else decoded(row)

    def gate(self, row: CandidateRow) -> str:
        """The gate that a row does not pass: inactive, expired, state, category; empty when it passes all."""
        meta, now = row.metadata, self.now_ms
        # of most rows the first half tells it, without a call
        if (meta.valid_from > now or meta.invalidated_at) and not meta.active(now):
            return "inactive"
        if meta.valid_until is not None and meta.expired(now):
            return "expired"
        if meta.state == ARCHIVED:
            return "state"
        if self.category is None or self.outside.pin.dialect.lists_categories:
            return ""  # of a list the search itself asked
        if not matches(row.category, self.category, meta.values):
            return "category"
        return ""


def by_meaning(search: MemtuiSearch, question: Floats) -> Lane:
    """The nearest memories; score = 1 - cosine distance. Rows without a usable vector are never found."""
    if search.denied:
        return Lane(via="denied")

    def ask(k: int) -> SearchResult:
        return search.outside.nearest(question, k=k, where=search.where, in_memory=True)

    return _filled(search, ask, "cosine", lambda distance: 1.0 - distance, "distance", "native")


def by_words(search: MemtuiSearch, question: str) -> Lane:
    """Memories by the words of the question as it was asked; score = BM25 of the full-text index.

    Double quotes would make a phrase of the question and are left out. A table without an index is read row by
    row, and the warning says so.
    """
    if search.denied:
        return Lane(via="denied")
    indexed = search.outside.pin.fts.exists
    text = question.replace('"', " ")

    wanted = pairs.pairs_of(text) if pairs.needed(search.outside.pin.fts) else ()

    def ask(k: int) -> SearchResult:
        if indexed:
            found = search.outside.by_words(text, k=k, where=search.where, in_memory=True)
        else:
            found = _row_by_row(search, text, k)
        return _with_pairs(search, found, wanted, k) if wanted else found

    via = "pairs" if wanted else "fts" if indexed else "flat"
    try:
        lane = _filled(search, ask, "bm25", lambda raw: raw, "raw_bm25", via)
    except MemtuiError as error:
        return Lane(warning=f"full-text search failed ({error.message})")
    if wanted:
        told = (
            "the index keeps runs of Chinese or Japanese whole: pairs of letters were looked for in the texts"
        )
        return replace(lane, warning=told)
    if why := search.outside.pin.unsplit:
        return replace(lane, warning=f"{why.rstrip('.')}: words were looked for in the texts instead")
    return lane if indexed else replace(lane, warning="no full-text index: words were searched row by row")


def _with_pairs(search: MemtuiSearch, found: SearchResult, wanted: Sequence[str], k: int) -> SearchResult:
    """What the words found, and what holds pairs of letters of the question: BM25 of both added up, best first."""
    held = _holding(search, wanted)
    added = pairs.scores([row.text for row in held], wanted, search.outside.pin.word_rows).tolist()
    rows = {row.id: row for row in (*held, *found.rows)}
    total = {row.id: score for row, score in zip(held, added, strict=True)}
    for row, raw in zip(found.rows, found.numbers, strict=True):
        total[row.id] = total.get(row.id, 0.0) + raw
    order = sorted(total, key=lambda memory_id: -total[memory_id])[:k]
    return SearchResult([rows[each] for each in order], [total[each] for each in order], k)


def _row_by_row(search: MemtuiSearch, text: str, k: int) -> SearchResult:
    pin = search.outside.pin

    def ask() -> SearchResult:
        return in_both_forms(text, k, read)

    def read(words: str) -> SearchResult:
        columns = read_columns(pin.dialect)
        table = pin.fts_search(words, k=k, where=search.where, columns=columns, flat=True)
        return SearchResult(CandidateRows(table, pin.dialect), table.column("_score").to_pylist(), k)

    return search.outside.asked(
        ("flat words", text, search.where, k), "a keyword search of the table is needed", ask
    )


def by_identifier(search: MemtuiSearch, wanted: Sequence[str]) -> Lane:
    """Memories that hold identifiers of the question to the letter (case apart); score = the share they hold."""
    if search.denied or not wanted:
        return Lane(via="denied" if search.denied else "")
    rows = [row for each in _holding(search, wanted) if (row := search.read(each)) is not None]
    texts = [composed(row.text).lower() for row in rows]
    counts = [sum(token.lower() in text for token in wanted) for text in texts]
    held = list(zip(counts, rows, strict=True))
    held.sort(key=lambda pair: (-pair[0], -pair[1].timestamp_ms))
    found = SearchResult([row for _, row in held], [float(count) for count, _ in held], len(held) + 1)
    return _filled(search, lambda k: found, "held", lambda count: count / len(wanted), "count", "substring")


def _holding(search: MemtuiSearch, wanted: Sequence[str]) -> list[CandidateRow]:
    """The stored rows whose text holds one of `wanted`, case apart."""
    pin = search.outside.pin
    text_column = pin.dialect.columns.text
    holds = " OR ".join(sql.contains(text_column, token) for token in wanted)
    where = sql.both(search.where, holds)

    def read() -> list[CandidateRow]:
        import pyarrow as pa

        if pin.on_object_storage:  # vectors beside the texts that are looked through would all be fetched
            held = [
                value
                for batch in pin.scan([], where=where, with_row_id=True)
                for value in batch.column("_rowid").to_pylist()
            ]
            return far_rows(pin).by_row_id(held[:WIDEST])
        read: list[CandidateRow] = []
        for batch in pin.scan(read_columns(pin.dialect), where=where):
            read += rows_of(pa.Table.from_batches([batch]), pin.dialect)
            if len(read) >= WIDEST:
                break
        return read

    return search.outside.asked(("identifiers", where), "a search for exact matches is needed", read)


def following_memories(search: MemtuiSearch, leaders: Mapping[str, float]) -> Lane:
    """Memories by id that were said after better ones; score = that of the memory before, the best first."""
    stored = search.outside.rows_by_id(list(leaders)) if leaders else {}
    rows = sorted(stored.values(), key=lambda row: -leaders[row.id])
    found = SearchResult(rows, [leaders[row.id] for row in rows], len(rows) + 1)
    return _filled(search, lambda k: found, "follows", lambda score: score, "score_before", "session")


def recorded(search: MemtuiSearch, items: Sequence[Sequence[Any]], *, lane: str) -> Lane:
    """Hits recorded elsewhere, used in place of a search; their scores are taken as they are."""
    for item in items:
        good = len(item) >= 2 and isinstance(item[0], str) and isinstance(item[1], int | float)
        if not good or isinstance(item[1], bool):
            raise UsageError(f"lanes.{lane} holds {str(item)[:60]}.", fix="Each hit is [id, score].")
    rows = search.outside.rows_by_id([item[0] for item in items])
    known = [(rows[item[0]], float(item[1])) for item in items if item[0] in rows]
    found = SearchResult([row for row, _ in known], [score for _, score in known], len(known) + 1)
    answer = _filled(search, lambda k: found, "recorded", lambda score: score, "recorded", "recorded")
    missing = len(items) - len(known)
    if not missing:
        return answer
    return replace(
        answer, warning=f"{missing} recorded {lane} hits name memories that this store does not have"
    )


def _filled(
    search: MemtuiSearch,
    ask: Callable[[int], SearchResult],
    rule: str,
    score: Callable[[float], float],
    number: str,
    via: str,
) -> Lane:
    """The first rows of a search that qualify, until the pool is full; asked more widely when it is not."""
    k = SLACK * search.pool
    while True:
        found = ask(k)
        lane = _walk(search, zip(found.rows, found.numbers, strict=True), rule, score, number, via)
        if len(lane.hits) >= search.pool or len(found.numbers) < k or k >= WIDEST:
            return lane
        k = min(WIDEST, k * WIDER)


def _walk(
    search: MemtuiSearch,
    found: Iterable[tuple[CandidateRow, float]],
    rule: str,
    score: Callable[[float], float],
    number: str,
    via: str,
) -> Lane:
    hits: list[Hit] = []
    dropped: list[DroppedHit] = []
    taken: set[str] = set()
    edited = bool(search.outside.edits)
    for stored, value in found:
        row = search.read(stored) if edited else decoded(stored)
        if row is None or row.id in taken:
            continue
        taken.add(row.id)
        gate = search.gate(row)
        if gate:
            if len(dropped) < search.pool:  # the account names as many as it lists candidates
                dropped.append(DroppedHit(row, gate, score(value)))
            continue
        hits.append(Hit(row, len(hits) + 1, score(value), value, rule, {number: value}))
        if len(hits) == search.pool:
            break
    return Lane(tuple(hits), tuple(dropped), via)
