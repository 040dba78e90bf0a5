"""What a recall asks the table for, and the answers: rows with the engine's own numbers, nothing judged yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from memtui.engine.core.javascript import trim, utf16_len
from memtui.engine.core.text import LOOSE_MARKS, composed, letter_forms
from memtui.engine.dialects.base import OWNER
from memtui.engine.recall.candidates import Floats
from memtui.engine.recall.far_rows import FarRowsById
from memtui.engine.recall.rows import CandidateRow, CandidateRows, rows_of
from memtui.engine.recall.rows_at_hand import RowsById
from memtui.engine.store import far_vectors, sql

if TYPE_CHECKING:
    from memtui.engine.dialects.base import Dialect
    from memtui.engine.store.snapshot import Snapshot


FETCH_FACTOR, FETCH_CAP = 20, 200
"""Rows to ask the store for, because inactive ones are skipped afterwards (spec/retrieval 2.2)."""

FIELD_WEIGHTS = (("text", 1.0), ("l2_content", 0.96), ("l0_abstract", 0.98), ("l1_overview", 0.92))

SUBSTRING_BASE, SUBSTRING_PER_CHAR, SUBSTRING_CAP = 0.72, 0.02, 0.95


@dataclass(frozen=True)
class SearchResult:
    """What one search answered: rows in its order, and of each the number it was ranked by.

    Cosine distance or squared L2 (vector search), raw BM25 (words), the score itself (substring).
    `asked` is how many rows were asked for; fewer rows are all there are.
    """

    rows: Sequence[CandidateRow]
    numbers: Sequence[float]
    asked: int
    inputs: Sequence[dict[str, Any]] = ()
    """For a substring hit: the field that holds the text, and its length. For words: what each one adds."""
    of_others: bool = False
    """Whether the numbers count rows, too, that whoever asks may not read."""

    def covers(self, asked: int) -> bool:
        """Whether this answer also answers the same search for `asked` rows."""
        return self.asked >= asked or len(self.numbers) < self.asked


def fetch_size(limit: int) -> int:
    """How many rows a lane of `limit` hits asks the store for."""
    return min(limit * FETCH_FACTOR, FETCH_CAP)


def read_columns(dialect: Dialect) -> list[str]:
    """The columns recall reads."""
    c = dialect.columns
    names = (c.id, c.text, c.vector, c.category, c.scope, c.importance, c.timestamp, c.created, c.metadata)
    return [name for name in dict.fromkeys(names) if name]


def scope_filter(dialect: Dialect, scopes: Sequence[str] | None) -> str | None:
    """The scope filter as SQL, None without one."""
    column = dialect.columns.scope
    return None if scopes is None or column is None else sql.is_in(column, list(scopes))


def rows_searched(dialect: Dialect, scopes: Sequence[str] | None, owners: Sequence[str]) -> str | None:
    """The filter by scope and, where rows have one, by owner as SQL; None without one."""
    of_owner = sql.is_in(OWNER, owners) if owners and dialect.owned else None
    return sql.both(scope_filter(dialect, scopes), of_owner)


def nearest(
    table: Snapshot,
    query: Floats,
    *,
    k: int,
    where: str | None,
    metric: Literal["cosine", "l2"] = "cosine",
    check: Callable[[], None] = lambda: None,
    refined: bool = False,
) -> SearchResult:
    """The `k` nearest rows by the engine's search, nearest first, with their distances.

    On object storage by cosine from the vectors in memory, where they are: the engine would fetch them all again.
    Too many of them, which no index leads to, are passed over in batches: `check` may raise between two.
    """
    far = table.on_object_storage
    if far and metric == "cosine" and table.vectors_in_memory:
        return nearest_in_memory(table, query, k=k, where=where)
    vector = query.astype(np.float32).tolist()
    if far and metric == "cosine" and table.outside_vector_index == table.rows > far_vectors.FAR_VECTORS:
        passed = table.nearest_by_pass(vector, k=k, where=where, check=check)
        rows = FarRowsById(table, passed.row_ids.tolist(), at_once=max(1, k // 2))
        return SearchResult(rows, passed.distances.tolist(), k)
    if far:
        found = table.vector_search(vector, k=k, metric=metric, where=where, with_row_id=True)
        rows = FarRowsById(table, found.column("_rowid").to_pylist(), at_once=max(1, k // 2))
        return SearchResult(rows, found.column("_distance").to_pylist(), k)
    found = table.vector_search(
        vector,
        k=k,
        metric=metric,
        where=where,
        columns=read_columns(table.dialect),
        refined=refined,
    )
    return SearchResult(CandidateRows(found, table.dialect), found.column("_distance").to_pylist(), k)


def nearest_in_memory(
    pin: Snapshot, query: Floats, *, k: int, where: str | None, check: Callable[[], None] = lambda: None
) -> SearchResult:
    """`nearest` by cosine from the vectors in memory, where they are; the rows are read as they are walked.

    The index of a table of memtui's own is asked for more, and refined: no agent's program has to be followed there.
    """
    if not pin.vectors_in_memory:
        return nearest(pin, query, k=k, where=where, check=check, refined=True)
    found = pin.nearest(query.astype(np.float32).tolist(), k=k, where=where)
    rows = _by_row_id(pin, found.row_ids.tolist(), at_once=max(1, k // 2))
    return SearchResult(rows, found.distances.tolist(), k)


def _by_row_id(pin: Snapshot, row_ids: Sequence[int], *, at_once: int) -> CandidateRows:
    """The rows with these row ids, read as they are walked."""
    if pin.on_object_storage:
        return FarRowsById(pin, row_ids, at_once=at_once)
    return RowsById(pin, row_ids, read_columns(pin.dialect), at_once=at_once)


def nearest_exact(table: Snapshot, query: Floats, *, where: str | None) -> SearchResult:
    """All rows by cosine distance in double precision (disableNativeCosine); a zero norm counts as cosine 0."""
    import pyarrow as pa

    batches = list(table.scan(read_columns(table.dialect), where=where))
    if not batches:
        return SearchResult((), (), 0)
    whole = pa.Table.from_batches(batches)
    vectors = whole.column(str(table.dialect.columns.vector)).combine_chunks()
    usable = np.flatnonzero(vectors.is_valid().to_numpy(zero_copy_only=False))
    matrix = np.asarray(vectors.take(pa.array(usable)).flatten(), np.float64).reshape(-1, len(query))
    lengths = np.linalg.norm(matrix, axis=1) * float(np.linalg.norm(query))
    dots = matrix @ query
    distances = 1.0 - np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)
    order = np.argsort(distances, kind="stable")
    rows = CandidateRows(whole.take(pa.array(usable[order])), table.dialect)
    return SearchResult(rows, distances[order].tolist(), len(order))


def by_agent_words(pin: Snapshot, text: str, *, k: int, where: str | None) -> SearchResult:
    """`by_words` as the engine of the table's own program answers it; `inputs` names what each word adds."""
    ranked = pin.agent_search(text, k=k, where=where)
    if ranked is None:
        other = by_words if pin.counted is None else by_words_in_memory
        return other(pin, text, k=k, where=where)
    rows = RowsById(pin, ranked.row_ids.tolist(), read_columns(pin.dialect))
    accounts = [{"words": ranked.account(row)} for row in range(len(rows))]
    return SearchResult(rows, ranked.scores.tolist(), k, accounts)


def by_words_in_memory(pin: Snapshot, text: str, *, k: int, where: str | None) -> SearchResult:
    """`by_words` from the words in memory, where they are: rows count alike before and after they are folded.

    Rows are read as they are walked, and not those that are at hand; behind a service all at once.
    """
    if pin.folder is None and not pin.on_object_storage:
        return in_both_forms(text, k, lambda words: by_words(pin, words, k=k, where=where))
    counted = pin.words_in_memory(text, k=k, where=where)
    if counted is not None:
        rows = _by_row_id(pin, counted.row_ids.tolist(), at_once=max(1, k // 2))
        return SearchResult(rows, counted.scores.tolist(), k)

    def ask(words: str) -> SearchResult:
        found = pin.fts_search(words, k=k, where=where, with_row_id=True)
        rows = _by_row_id(pin, found.column("_rowid").to_pylist(), at_once=max(1, k // 2))
        return SearchResult(rows, found.column("_score").to_pylist(), k, of_others=pin.counted is not None)

    return in_both_forms(text, k, ask)


_WRITTEN = re.compile(rf"[\w{LOOSE_MARKS}]+")


def in_both_forms(text: str, k: int, ask: Callable[[str], SearchResult]) -> SearchResult:
    """The `k` best rows that `ask` finds for the words of `text`, their letters composed or decomposed in the rows.

    An index splits a decomposed letter from its mark: such a word is asked for by its parts, and a row counts that
    holds the whole of it.
    """
    found = ask(composed(text))
    loose = [forms[-1] for word in _WRITTEN.findall(composed(text)) if len(forms := letter_forms(word)) > 1]
    if not loose:
        return found
    other = ask(" ".join(loose))
    wanted = {word.lower() for word in loose}
    held = [
        (row, number)
        for row, number in zip(other.rows, other.numbers, strict=True)
        if any(word in row.text.lower() for word in wanted)
    ]
    if not held:
        return found
    best: dict[str, tuple[CandidateRow, float]] = {}
    for row, number in (*zip(found.rows, found.numbers, strict=True), *held):
        known = best.get(row.id)
        if known is None or known[1] < number:
            best[row.id] = row, number
    order = sorted(best.values(), key=lambda pair: -pair[1])[:k]
    return SearchResult([row for row, _ in order], [n for _, n in order], k, of_others=found.of_others)


def by_words(table: Snapshot, text: str, *, k: int, where: str | None) -> SearchResult:
    """The `k` best rows for the words of `text` by the full-text index; raises MemtuiError where there is none.

    Which of equal rows come first, and which stand at the cut, depends on `k`.
    """
    of_others = table.counted is not None
    if table.on_object_storage:
        ranked = table.fts_search(text, k=k, where=where, with_row_id=True)
        rows = FarRowsById(table, ranked.column("_rowid").to_pylist())
        return SearchResult(rows, ranked.column("_score").to_pylist(), k, of_others=of_others)
    found = table.fts_search(text, k=k, where=where, columns=read_columns(table.dialect))
    numbers = found.column("_score").to_pylist()
    return SearchResult(CandidateRows(found, table.dialect), numbers, k, of_others=of_others)


def by_substring(table: Snapshot, text: str, *, where: str | None) -> SearchResult:
    """Every row that holds the whole trimmed text, best field first, newer before older (spec/retrieval 2.4)."""
    needle = trim(text).lower()
    if not needle:
        return SearchResult((), (), 0)
    base = min(SUBSTRING_CAP, SUBSTRING_BASE + SUBSTRING_PER_CHAR * utf16_len(needle))
    found: list[tuple[float, CandidateRow, dict[str, Any]]] = []
    for batch in table.scan(read_columns(table.dialect), where=where):
        for row in _holding(batch, needle, table.dialect):
            best = _best_field(row, needle, base)
            if best is not None:
                found.append((best[0], row, best[1]))
    found.sort(key=lambda hit: (-hit[0], -hit[1].timestamp_ms))
    return SearchResult(
        [row for _, row, _ in found], [s for s, _, _ in found], len(found) + 1, [i for *_, i in found]
    )


def _holding(batch: Any, needle: str, dialect: Dialect) -> list[CandidateRow]:
    """The rows of a batch whose text or stored metadata may hold `needle`."""
    import pyarrow as pa

    everywhere = needle.startswith("-")  # an overview that is not stored reads as "- " and the abstract
    names = batch.schema.names
    texts = batch.column(dialect.columns.text).to_pylist()
    stored = dialect.columns.metadata
    metadata = batch.column(stored).to_pylist() if stored in names else [None] * len(texts)
    places = [
        at
        for at, (text, raw) in enumerate(zip(texts, metadata, strict=True))
        if everywhere or needle in (text or "").lower() or (raw and ("\\" in raw or needle in raw.lower()))
    ]
    table = pa.Table.from_batches([batch])
    return rows_of(table.take(pa.array(places, pa.int64())), dialect) if places else []


def _best_field(row: CandidateRow, needle: str, base: float) -> tuple[float, dict[str, Any]] | None:
    best: tuple[float, dict[str, Any]] | None = None
    for name, weight in FIELD_WEIGHTS:
        value = row.text if name == "text" else getattr(row.metadata, name)
        if needle in value.lower() and (best is None or base * weight > best[0]):
            best = base * weight, {"field": name, "characters": utf16_len(needle), "weight": weight}
    return best
