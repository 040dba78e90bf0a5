"""From a change set and the rows as they are now to the rows that will be written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.change_set import Change, ChangeSet, Conflict, Edit, FieldConflict
from memtui.engine.changes.journal import RowImages
from memtui.engine.core.errors import RefusedError
from memtui.engine.core.text import counted
from memtui.engine.dialects.base import Dialect
from memtui.engine.metadata.json_patch import REMOVED, patch, raw_values
from memtui.engine.store.row_values import ID, places, same, unwritable_vectors, with_values

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class MaterializedRows:
    """What goes into one commit: whole rows to update and to add, ids to delete; or why it cannot."""

    updates: pa.Table | None
    adds: pa.Table | None
    deletes: tuple[str, ...]
    images: RowImages
    conflicts: tuple[Conflict, ...]
    touched: tuple[str, ...]
    """The columns that the updates change."""
    gone: int = 0
    """Rows that have one of the ids to delete."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        return self.updates is None and self.adds is None and not self.deletes


def materialise(
    change_set: ChangeSet, current: pa.Table, dialect: Dialect, *, trusted: bool
) -> MaterializedRows:
    """The rows to write, made from `current`, all rows that now have one of the set's ids.

    A row that is gone, has come back, shares its id, or no longer is what the plan expects is a conflict.
    `trusted` says that `current` is what the plan was made from, so that nothing has to be compared.
    """
    there = places(current)
    conflicts: list[Conflict] = []
    edits: list[tuple[Change, int]] = []
    deletes: list[tuple[Change, int]] = []
    adds: list[Change] = []
    expected = _Expected(current, dialect)
    for change in change_set.changes:
        at = there.get(change.id, [])
        if conflict := _presence(change, at):
            conflicts.append(conflict)
        elif change.op == "add":
            adds.append(change)
        elif not trusted and (wrong := [each for place in at if (each := expected.conflict(change, place))]):
            conflicts.append(wrong[0])
        elif change.op == "edit":
            edits.append((change, at[0]))
        else:
            deletes += [(change, place) for place in at]
    old = _taken(current, [at for _, at in edits])
    updates, touched, refused = _updated(old, [change for change, _ in edits], dialect)
    added = _added(adds, current)
    conflicts += refused
    for rows in (updates, added):
        if rows is not None:
            conflicts += _unwritable(rows, dialect)
    gone = _taken(current, [at for _, at in deletes])
    images = RowImages(
        before=_concat(old, gone),
        after=updates.select(list(dict.fromkeys((ID, *touched)))) if updates is not None else None,
        added=added,
    )
    names = tuple(dict.fromkeys(change.id for change, _ in deletes))
    return MaterializedRows(updates, added, names, images, tuple(conflicts), touched, len(deletes))


def _presence(change: Change, at: list[int]) -> Conflict | None:
    if change.op == "add":
        return Conflict(change.id, "there again", "A memory with this id is there already.") if at else None
    if not at:
        return Conflict(change.id, "gone", "It is no longer there: another program has removed it.")
    if len(at) > 1 and (change.op != "delete" or len(at) != change.rows):
        return Conflict(change.id, "duplicate id", f"{len(at)} rows share this id: a change would hit all.")
    return None


class _Expected:
    """Compares rows with what a plan expects; reads a column when it is first asked for."""

    def __init__(self, rows: pa.Table, dialect: Dialect) -> None:
        self._rows, self._dialect = rows, dialect
        self._columns: dict[str, list[Any]] = {}

    def value(self, column: str, at: int) -> Any:
        if column not in self._columns:
            self._columns[column] = self._rows.column(column).to_pylist()
        return self._columns[column][at]

    def conflict(self, change: Change, at: int) -> Conflict | None:
        edit = change.edit
        metadata = self._dialect.columns.metadata
        fields = [
            FieldConflict(column, before, edit.columns.get(column, change.after.get(column)), theirs)
            for column, before in edit.expects.items()
            if not same(before, theirs := self.value(column, at))
            and not (edit.metadata and column == metadata)
        ]
        if edit.expects_metadata and metadata:
            fields += self._keys(edit, self.value(metadata, at))
        if not fields:
            return None
        names = ", ".join(field.field for field in fields)
        return Conflict(change.id, "changed", f"Another program has changed its {names}.", tuple(fields))

    def _keys(self, edit: Edit, stored: str | None) -> list[FieldConflict]:
        try:
            now: Mapping[str, str] = raw_values(stored)
        except ValueError:
            return [FieldConflict("metadata", None, None, stored)]
        return [
            FieldConflict(key, before, edit.metadata.get(key), now.get(key))
            for key, before in edit.expects_metadata.items()
            if now.get(key) != before
        ]


def _updated(
    old: pa.Table | None, changes: list[Change], dialect: Dialect
) -> tuple[pa.Table | None, tuple[str, ...], list[Conflict]]:
    if old is None:
        return None, (), []
    refused: list[Conflict] = []
    columns: dict[str, list[Any]] = {}

    def values(name: str) -> list[Any]:
        if name not in columns:
            columns[name] = old.column(name).to_pylist()
        return columns[name]

    vectors: dict[int, Any] = {}
    for at, change in enumerate(changes):
        edit = change.edit
        metadata = dialect.columns.metadata or ""
        whole = metadata in edit.columns and same(edit.expects.get(metadata), values(metadata)[at])
        for name, value in edit.columns.items():
            if name != metadata or whole or not edit.metadata:
                values(name)[at] = value
        if edit.vector is not None:
            vectors[at] = None if edit.vector is REMOVED else edit.vector
        if edit.metadata and not whole:
            stored = values(str(metadata))
            try:
                stored[at] = patch(stored[at], edit.metadata)
            except ValueError:
                refused.append(Conflict(change.id, "refused", "Its metadata is not a JSON object."))
    touched = (*columns, *((dialect.columns.vector,) if vectors and dialect.columns.vector else ()))
    return with_values(old, columns, vectors, dialect.columns.vector), touched, refused


def _added(adds: list[Change], current: pa.Table) -> pa.Table | None:
    import pyarrow as pa

    if not adds:
        return None
    return pa.concat_tables([change.row.select(current.schema.names) for change in adds]).combine_chunks()


def refuse_bare_rows(count: int, dialect: Dialect, why: str = "") -> None:
    """Raise RefusedError where `count` new rows have no vector and the table's program does not live with that.

    `why` says in a sentence how they come to have none, and what that would do.
    """
    harm = dialect.can.bare_rows
    if not count or not harm:
        return
    fix = "Start the store's embedding service, or configure its model, and do it again; nothing was written."
    what = counted(count, "memory has", "memories have")
    raise RefusedError(f"{what} no vector. {why or f'Not written: {harm}.'}", fix=fix)


def bare_rows(rows: pa.Table | None, dialect: Dialect) -> int:
    """How many of these rows have no vector."""
    vector = dialect.columns.vector
    return 0 if rows is None or vector is None else int(rows.column(vector).null_count)


def _unwritable(rows: pa.Table, dialect: Dialect) -> list[Conflict]:
    bad = unwritable_vectors(rows, dialect.columns.vector)
    ids = rows.column(ID)
    why = "Its vector holds what is no number (NaN), and the engine writes no such vector."
    return [Conflict(ids[at].as_py(), "refused", why) for at in bad]


def _taken(rows: pa.Table, at: list[int]) -> pa.Table | None:
    import pyarrow as pa

    if not at:
        return None
    return rows if at == list(range(rows.num_rows)) else rows.take(pa.array(at, pa.int64()))


def _concat(*parts: pa.Table | None) -> pa.Table | None:
    import pyarrow as pa

    there = [part for part in parts if part is not None]
    return pa.concat_tables(there) if there else None
