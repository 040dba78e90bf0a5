"""What the indexes of one version hold of one memory: a row is written first and folded into them later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memtui.engine.store.faults import explained
from memtui.engine.store.fts import vector_index_rows
from memtui.engine.store.tokens import in_index, words_by_token

if TYPE_CHECKING:
    from memtui.engine.store.pin import Pin

Holding = Literal["no index", "beside", "held"]
"""Whether an index holds a row; "beside": the row is read beside it, so that it is found with other numbers."""
FEW_WORDS = 12
"""So many words of a memory are enough to meet it in the index."""


@dataclass(frozen=True, slots=True)
class Held:
    """A memory in one version of the table."""

    row: str
    """All its columns, to be compared."""
    rows: int
    """Memories of that version."""
    words: Holding
    vectors: Holding
    words_beside: int
    """Rows that the full-text index does not hold."""


def held(pin: Pin, memory_id: str) -> Held | None:
    """What the indexes of the version `pin` hold of a memory; None where that version does not have it."""
    columns = pin.dialect.columns
    found = pin.rows_by_id([memory_id], [each for each in (*pin.row_columns, columns.vector) if each])
    if not found.num_rows:
        return None
    row = found.slice(0, 1).drop_columns(["_rowid"]).to_pylist()[0]
    row_id = int(found.column("_rowid")[0].as_py())
    words = list(words_by_token(pin, str(row[columns.text] or "")).values())[:FEW_WORDS]
    covered = in_index(pin, " ".join(words), row_id)
    return Held(
        row=repr(row),
        rows=pin.rows,
        words="no index" if covered is None else "held" if covered or not words else "beside",
        vectors=_vector_held(pin, row.get(columns.vector or ""), row_id),
        words_beside=pin.fts.unindexed_rows,
    )


def _vector_held(pin: Pin, vector: list[float] | None, row_id: int) -> Holding:
    known = vector_index_rows(pin.table, pin.dialect.columns.vector, pin.where)
    if known is None:
        return "no index"
    if not known[1] or not vector:
        return "held"
    with explained(pin.where):
        query = pin.table.search(
            vector, query_type="vector", vector_column_name=pin.dialect.columns.vector
        ).where(f"_rowid = {row_id}", prefilter=True)
        found = query.select([]).with_row_id(True).limit(1).fast_search().to_arrow()
    return "held" if found.num_rows else "beside"


def gap(before: Held | None, after: Held | None) -> tuple[str, bool]:
    """What the indexes have to do with a change from one version to the next, in words; empty: nothing.

    True where nothing else is known to have changed: as many memories, and the memory's own row the same.
    """
    if before is None or after is None:
        return "", False
    alone = before.row == after.row and before.rows == after.rows
    for kind, was, now in (
        ("full-text", before.words, after.words),
        ("vector", before.vectors, after.vectors),
    ):
        if was != now:
            return _WORDS[was, now].format(kind=kind), alone
    folded = before.words_beside - after.words_beside
    if alone and folded > 0:
        rows = "1 row" if folded == 1 else f"{folded:,} rows"
        return f"it took {rows} into the full-text index, so words weigh otherwise", True
    return "", False


_WORDS: dict[tuple[Holding, Holding], str] = {
    ("no index", "held"): "it made the {kind} index",
    ("no index", "beside"): "it made a {kind} index that does not hold the memory",
    ("beside", "held"): "it took the memory into the {kind} index, before the memory was read beside it",
    ("held", "beside"): "since then the {kind} index does not hold the memory, which is read beside it",
    ("held", "no index"): "since then there is no {kind} index",
    ("beside", "no index"): "since then there is no {kind} index",
}
