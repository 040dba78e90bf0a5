"""A store with changes on top that are not written yet: what a capture run reads and writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.access import GLOBAL
from memtui.engine.dialects.importance_labels import label_of
from memtui.engine.dialects.mem_engine import LABEL, TRUST
from memtui.engine.metadata.read import Metadata, coerce_importance, coerce_timestamp, normalise
from memtui.engine.store import sql

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtui.engine.store.table import Store


_AT_ONCE = 1_024
"""Rows that are asked for by their ids in one question."""

MAX_FETCH = 200
"""Rows of the store that one search looks at, at most, before inactive ones are skipped."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredRow:
    """One row of the table in the plugin's columns. `vector` is float32 [dims], None where it was not read."""

    id: str
    text: str
    category: str
    scope: str | None
    importance: float
    timestamp: int
    """Milliseconds since the epoch."""
    metadata: str
    """The stored JSON text."""
    vector: NDArray[np.float32] | None = None

    def meta(self, now_ms: int) -> Metadata:
        """The metadata as the plugin reads it."""
        return normalise(
            self.metadata,
            text=self.text,
            category=self.category,
            timestamp_ms=self.timestamp,
            now_ms=now_ms,
        )


@dataclass(frozen=True, slots=True)
class Write:
    """One change of one row: a whole new row, a row with new values, or none any more.

    `row` is the row after the change (for a delete: before it). `why` is a phrase for lists; `source` the text
    whose vector the row has, where that is known.
    """

    op: Literal["add", "change", "delete"]
    row: StoredRow
    before: StoredRow | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class VectorHit:
    """A row found by its vector: score = 1 / (1 + cosine distance)."""

    row: StoredRow
    score: float

    @property
    def cosine(self) -> float:
        """The cosine of the two vectors."""
        return 2.0 - 1.0 / self.score


@dataclass(slots=True)
class Draft:
    """The rows of `store` with `writes` on top; every search sees both. Nothing is written by itself."""

    store: Store
    writes: list[Write] = field(default_factory=list)
    seen: dict[str, StoredRow] | None = None
    """Where this is a dictionary, every stored row that was read with its vector is kept in it: for a recording."""
    _over: dict[str, StoredRow | None] = field(default_factory=dict)

    # ------------------------------------------------------------------ reading

    def get(self, row_id: str) -> StoredRow | None:
        """The row with this id and its vector, None where there is none."""
        if row_id in self._over:
            return self._over[row_id]
        found = self._read(self.store.rows_by_id([row_id], self._columns(True)))
        return found[0] if found else None

    def many(self, ids: Sequence[str], *, vectors: bool = True) -> list[StoredRow]:
        """The rows with these ids in their order, without those that are gone: one question for many rows."""
        stored: dict[str, StoredRow] = {}
        wanted = [memory_id for memory_id in ids if memory_id not in self._over]
        columns = self._columns(vectors or self.seen is not None)
        for start in range(0, len(wanted), _AT_ONCE):
            part = self.store.rows_by_id(wanted[start : start + _AT_ONCE], columns)
            stored |= {row.id: row for row in self._read(part)}
        found = (
            self._over[memory_id] if memory_id in self._over else stored.get(memory_id) for memory_id in ids
        )
        return [row for row in found if row is not None]

    def rows(self, scopes: Sequence[str] | None = None, *, vectors: bool = False) -> list[StoredRow]:
        """All rows of these scopes (None: every row), the stored ones first, in storage order."""
        batches = self.store.scan(self._columns(vectors), where=self.where(scopes))
        kept = [row for batch in batches for row in self._read(batch) if row.id not in self._over]
        return [*kept, *(row for row in self._over.values() if row is not None and _in(row.scope, scopes))]

    def search(
        self,
        vector: Any,
        *,
        limit: int,
        min_score: float = 0.0,
        scopes: Sequence[str] | None = None,
        active_at: int | None = None,
    ) -> list[VectorHit]:
        """The rows nearest to `vector`, nearest first, at most `limit` (1 to 20) of a score of at least `min_score`.

        `scopes` None is no filter, an empty one denies all. With `active_at` (milliseconds) rows that are not
        valid at that time are left out.
        """
        import numpy as np

        if scopes is not None and not scopes:
            return []
        query = np.asarray(vector, dtype=np.float32)
        fetch = min(min(20, max(1, limit)) * (20 if active_at is not None else 10), MAX_FETCH)
        found: list[tuple[float, StoredRow]] = []
        if query.any() and self.store.count():
            table = self.store.vector_search(
                query.tolist(),
                k=fetch + len(self._over),
                where=self.where(scopes),
                columns=self._columns(True),
            )
            distances = table.column("_distance").to_pylist()
            found = [
                (distance, row)
                for distance, row in zip(distances, self._read(table), strict=True)
                if row.id not in self._over
            ]
        for row in self._over.values():
            if row is not None and _in(row.scope, scopes) and row.vector is not None and row.vector.any():
                found.append((_distance(query, row.vector), row))
        found.sort(key=lambda pair: pair[0])
        hits = []
        for distance, row in found[:fetch]:
            score = 1.0 / (1.0 + max(0.0, distance))
            if score < min_score:
                continue
            if active_at is not None and not row.meta(active_at).active(active_at):
                continue
            hits.append(VectorHit(row, score))
            if len(hits) >= min(20, max(1, limit)):
                break
        return hits

    # ------------------------------------------------------------------ writing

    def add(self, row: StoredRow, why: str = "") -> Write:
        """Put a new row on top."""
        return self._put(Write("add", row, None, why))

    def change(self, row_id: str, why: str = "", **values: Any) -> Write | None:
        """Give a row new values of `text`, `category`, `scope`, `importance`, `timestamp`, `metadata`, `vector`.

        None where the row is gone.
        """
        before = self.get(row_id)
        if before is None:
            return None
        return self._put(Write("change", replace(before, **values), before, why))

    def delete(self, row_id: str, why: str = "") -> Write | None:
        """Take a row away; None where it is gone already."""
        before = self.get(row_id)
        if before is None:
            return None
        return self._put(Write("delete", before, before, why))

    def count(self) -> int:
        """Rows with the changes on top."""
        new = sum(1 for write in self.writes if write.op == "add")
        return self.store.count() + new - sum(1 for write in self.writes if write.op == "delete")

    def flush(self) -> None:
        """Write what is on top into the table itself, in one commit, without a journal: for a store made for it."""
        if not self._over:
            return
        known = set(
            self.store.rows_by_id(list(self._over), []).column(self.store.dialect.columns.id).to_pylist()
        )
        writer = self.store.writer()
        writer.newest()
        updates = [row for key, row in self._over.items() if row is not None and key in known]
        adds = [row for key, row in self._over.items() if row is not None and key not in known]
        deletes = [key for key, row in self._over.items() if row is None and key in known]
        if updates or adds or deletes:
            schema = writer.schema
            writer.commit(
                table_of(updates, schema) if updates else None,
                table_of(adds, schema) if adds else None,
                deletes,
            )
        self._over.clear()
        self.writes.clear()
        self.store.refresh()

    def _put(self, write: Write) -> Write:
        self._over[write.row.id] = None if write.op == "delete" else write.row
        self.writes.append(write)
        return write

    # ------------------------------------------------------------------ the table

    def _columns(self, vectors: bool) -> list[str]:
        each = self.store.dialect.columns
        names = (
            each.id,
            each.text,
            each.category,
            each.scope,
            each.importance,
            each.timestamp,
            each.metadata,
        )
        return [name for name in (*names, each.vector if vectors else None) if name]

    def where(self, scopes: Sequence[str] | None) -> str | None:
        """The condition of the rows of these scopes; None for no condition.

        In tables whose rows have an owner, `agent:x` are the unscoped rows of x.
        """
        dialect = self.store.dialect
        column = dialect.columns.scope
        if scopes is not None and dialect.owned:
            parts = [sql.is_in("agentId", sorted({_agent(scope) for scope in scopes}))]
            if column is not None:
                parts.append(sql.is_in(column, sorted({_own_scope(scope) for scope in scopes})))
            return " AND ".join(f"({part})" for part in parts)
        return None if scopes is None or column is None else sql.is_in(column, list(scopes))

    def _read(self, table: Any) -> list[StoredRow]:
        columns = self.store.dialect.columns
        names = set(table.schema.names)
        vectors = [None] * table.num_rows
        if columns.vector in names:
            vectors = _vectors(table.column(columns.vector))
        wanted = [name for name in self._columns(False) if name in names]
        plain = table.select(wanted).to_pylist()
        rows = [_row(values, vector, columns) for values, vector in zip(plain, vectors, strict=True)]
        if self.seen is not None:
            self.seen |= {row.id: row for row in rows if row.vector is not None}
        return rows


def table_of(rows: Iterable[StoredRow], schema: Any) -> Any:
    """The rows as an Arrow table of `schema`: the plugin's own columns, and what memtui's own table and the built-in
    program's keep as columns."""
    import pyarrow as pa

    listed = list(rows)
    names = set(schema.names)
    lives = [row.meta(row.timestamp) for row in listed] if "tier" in names else []
    values: dict[str, list[Any]] = {
        "id": [row.id for row in listed],
        "text": [row.text for row in listed],
        "category": [row.category for row in listed],
        "scope": [row.scope for row in listed],
        "importance": [float(row.importance) for row in listed],
        "timestamp": [float(row.timestamp) for row in listed],
        "metadata": [row.metadata for row in listed],
        "createdAt": [float(row.timestamp) for row in listed],
        "agentId": [_agent(row.scope) for row in listed],
        LABEL: [label_of(None, row.importance) for row in listed],
        TRUST: ["user" for _ in listed],
        **(
            {
                "tier": [each.tier for each in lives],
                "access_count": [each.access_count for each in lives],
                "last_accessed_at": [float(each.last_accessed_at) for each in lives],
                "state": [each.state for each in lives],
            }
            if lives
            else {}
        ),
    }
    if "agentId" in names and "metadata" not in names:
        values["scope"] = [_own_scope(row.scope) for row in listed]
    if "metadata" in names:  # there the second time is another program's, which leaves it empty in new rows
        del values["createdAt"]
    arrays = [
        _vector_array([row.vector for row in listed], column.type)
        if column.name == "vector"
        else pa.array(values.get(column.name, [None] * len(listed)), column.type)
        for column in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _vector_array(vectors: list[Any], kind: Any) -> Any:
    """Vectors as a column; without a way through Python's numbers where every row has one."""
    import numpy as np
    import pyarrow as pa

    width = getattr(kind, "list_size", 0)
    if not vectors or any(vector is None or len(vector) != width for vector in vectors):
        return pa.array([None if vector is None else vector.tolist() for vector in vectors], kind)
    flat = pa.array(np.concatenate(vectors).astype(np.float32), pa.float32()).cast(kind.value_type)
    return pa.FixedSizeListArray.from_arrays(flat, width)


def _agent(scope: str | None) -> str:
    kind, _, name = (scope or "").partition(":")
    return name if kind == "agent" and name else "main"


def _own_scope(scope: str | None) -> str:
    """A scope as the built-in program writes it beside the row's agent: unscoped is the empty text."""
    return "" if scope is None or scope == GLOBAL or scope.startswith("agent:") else scope


def _row(values: Mapping[str, Any], vector: Any, columns: Any) -> StoredRow:
    def value(name: str | None, default: Any) -> Any:
        found = values.get(name) if name else None
        return default if found is None else found

    return StoredRow(
        id=str(value(columns.id, "")),
        text=str(value(columns.text, "")),
        category=str(value(columns.category, "other")),
        scope=value(columns.scope, None),
        importance=coerce_importance(value(columns.importance, None)),
        timestamp=coerce_timestamp(value(columns.timestamp, 0)),
        metadata=str(value(columns.metadata, "{}")),
        vector=vector,
    )


def _vectors(column: Any) -> list[Any]:
    import numpy as np
    import pyarrow as pa

    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    found: list[Any] = [None] * len(array)
    if not valid.any():
        return found
    rows = array.flatten().to_numpy(zero_copy_only=False).reshape(int(valid.sum()), -1).astype(np.float32)
    for at, vector in zip(np.flatnonzero(valid).tolist(), rows, strict=True):
        found[at] = vector
    return found


def _distance(left: Any, right: Any) -> float:
    import numpy as np

    norms = float(np.linalg.norm(left)) * float(np.linalg.norm(right))
    return 1.0 - float(np.dot(left, right)) / norms if norms else 1.0


def _in(scope: str | None, scopes: Sequence[str] | None) -> bool:
    return scopes is None or scope in scopes
