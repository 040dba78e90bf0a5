"""The searches of a recall of Hermes: rows by vector and by words, each with its row id, under one filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.dialects.hermes import ABSTRACT, KIND, USER
from memtui.engine.recall.candidates import Floats
from memtui.engine.recall.io_cache import IoCache
from memtui.engine.recall.rows import CandidateRow, rows_of
from memtui.engine.recall.store_search import read_columns, rows_searched
from memtui.engine.store import sql

if TYPE_CHECKING:
    import pyarrow as pa

ROW_ID = "_rowid"


@dataclass(frozen=True, slots=True)
class HermesRow:
    """A row with what the plugin keeps beside the text. `row_id` tells rows apart that share an id."""

    row: CandidateRow
    row_id: int
    kind: str
    abstract: str


@dataclass(frozen=True, slots=True)
class Found:
    """One row of a list, and the number that it stands by: squared L2, or BM25."""

    stored: HermesRow
    number: float


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Which rows are searched, all before the search; an empty word filters nothing."""

    kind: str = "fact"
    workspace: str = ""
    user: str = ""
    category: str = ""

    def where(self, names: Sequence[str]) -> str | None:
        """As SQL for a table of the plugin with these columns; None where all rows are searched."""
        conditions = [
            sql.is_in(KIND, [self.kind]) if self.kind != "any" else None,
            sql.is_in("agent_workspace", [self.workspace]) if self.workspace else None,
            sql.is_in(USER, [self.user, ""]) if self.user else None,
            sql.is_in("category", [self.category]) if self.category else None,
        ]
        return sql.both(*conditions)


def by_vector(outside: IoCache, vector: Floats, where: str | None, limit: int) -> list[Found]:
    """The `limit` rows nearest by squared L2, nearest first."""

    def ask() -> pa.Table:
        return outside.pin.vector_search(
            vector.astype("float32").tolist(),
            k=limit,
            metric="l2",
            where=where,
            columns=_columns(outside),
            with_row_id=True,
        )

    key = ("tier vector", vector.tobytes(), where, limit)
    table = outside.asked(key, "the table has to be searched by vectors", ask)
    return _read(outside, table, "_distance")


def by_words(outside: IoCache, text: str, where: str | None, limit: int) -> list[Found]:
    """The `limit` best rows for the words of `text` by the store's own index, best first.

    Raises MemtuiError where there is no index or it cannot search this text.
    """

    def ask() -> pa.Table:
        return outside.pin.fts_search(text, k=limit, where=where, columns=_columns(outside), with_row_id=True)

    table = outside.asked(("tier words", text, where, limit), "the table has to be searched by keywords", ask)
    if outside.pin.counted is not None:
        outside.count_others()
    return _read(outside, table, "_score")


def recorded(outside: IoCache, items: Sequence[Sequence[Any]]) -> list[Found]:
    """Hits that were recorded elsewhere, (id, number), in place of a search."""
    wanted, columns = tuple(str(item[0]) for item in items), _columns(outside)
    table = outside.asked(
        ("rows of hermes", wanted), "rows have to be read", lambda: outside.pin.rows_by_id(wanted, columns)
    )
    rows = {each.stored.row.id: each for each in _read(outside, table, "")}
    return [replace(rows[str(each)], number=float(number)) for each, number, *_ in items if str(each) in rows]


def where_of(outside: IoCache, rows: RowFilter, scopes: Sequence[str] | None, *, own: bool) -> str | None:
    """The filter of a search as SQL; where it is not the plugin's own the scopes alone decide."""
    if own:
        return rows.where(outside.pin.columns)
    category = outside.pin.dialect.columns.category
    named = sql.is_in(category, [rows.category]) if rows.category and category else None
    return sql.both(rows_searched(outside.pin.dialect, scopes, ()), named)


def _columns(outside: IoCache) -> list[str]:
    dialect = outside.pin.dialect
    more = (KIND, ABSTRACT) if dialect.can.visibility == "users" else ()
    return [*read_columns(dialect), *(name for name in more if name in outside.pin.columns)]


def _read(outside: IoCache, table: pa.Table, number: str) -> list[Found]:
    """The rows of an answer in its order; taken-away ones are left out."""
    names, count = table.column_names, table.num_rows

    def values(name: str) -> list[Any]:
        return table.column(name).to_pylist() if name in names else [None] * count

    out = []
    for at, (row, row_id, kind, abstract, value) in enumerate(
        zip(
            rows_of(table, outside.pin.dialect),
            values(ROW_ID),
            values(KIND),
            values(ABSTRACT),
            values(number),
            strict=True,
        )
    ):
        read = outside.read(row)
        if read is not None:
            place = at if row_id is None else row_id
            stored = HermesRow(read, place, kind or "", abstract or "")
            out.append(Found(stored, 0.0 if value is None else value))
    return out
