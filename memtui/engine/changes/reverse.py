"""Taking back, or making again, exactly the rows and fields of one entry of the journal."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.changes.bulk_shift import LARGE, plan_bulk
from memtui.engine.changes.change_set import COUNTERS, Change, ChangeSet, Conflict, Edit, FieldConflict
from memtui.engine.changes.files_beside import FileEdit, edits_in
from memtui.engine.changes.journal import RowImages
from memtui.engine.changes.stored_changes import collected
from memtui.engine.changes.streamed_rows import large_edit, shift_pieces, split
from memtui.engine.changes.version_tags import TagEdit, copies_in, tags_in
from memtui.engine.core.errors import RefusedError, UsageError
from memtui.engine.core.text import counted, one_line
from memtui.engine.metadata.json_patch import REMOVED, Raw, changed_keys, raw_values
from memtui.engine.store.errors import explained
from memtui.engine.store.row_values import ID, comparable, places, same
from memtui.engine.store.sql import is_in as in_values

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.changes.journal import Journal, JournalEntry
    from memtui.engine.engine import Engine
    from memtui.engine.store.writer import Writer


Side = Literal["before", "after"]


def plan_shift(
    entry: JournalEntry,
    journal: Journal,
    writer: Writer,
    side: Side,
    *,
    action: str = "undo",
    forced: Collection[str] = (),
    only: Collection[str] | None = None,
) -> ChangeSet:
    """Bring the rows of `entry` to how they were before it, or to how they were after it.

    Only what the entry changed is touched; what others have changed since stays. A field that is neither as
    before nor as after is a conflict, unless its row is in `forced`. `only` leaves all other rows alone. Raises
    RefusedError when the contents of the entry were removed from the journal for good.
    """
    if only is None and entry.rows > LARGE and journal.unlisted(entry.entry):
        return plan_bulk(entry, journal, writer, side, action=action, forced=forced)
    if only is None and large_edit(journal, entry.entry, entry.rows):
        return _shift_large(entry, journal, writer, side, action=action, forced=forced)
    images = journal.images(entry.entry)
    if only is not None:
        images = RowImages(*(_only(table, only) for table in (images.before, images.after, images.added)))
    return shift_rows(entry, images, writer, side, action=action, forced=forced, only=only)


def shift_rows(
    entry: JournalEntry,
    images: RowImages,
    writer: Writer,
    side: Side,
    *,
    action: str,
    forced: Collection[str] = (),
    only: Collection[str] | None = None,
) -> ChangeSet:
    """Plan what `plan_shift` plans, from rows that the caller has read."""
    version = writer.newest()
    ids = [
        value
        for table in (images.before, images.added)
        if table is not None
        for value in table.column(ID).to_pylist()
    ]
    if entry.rows and not ids:
        raise RefusedError(
            f"Entry {entry.entry} cannot be undone: its contents were removed for good.",
            fix="Nothing was changed.",
        )
    current = writer.rows(ids)
    found = list(_Shift(images, current, writer, side, frozenset(forced)).rows())
    changes = tuple(change for change in found if isinstance(change, Change))
    conflicts = tuple(change for change in found if isinstance(change, Conflict))
    lost = entry.rows - len(ids) if only is None else 0
    planned = _shifted(entry, side, action, changes, conflicts, lost, writer, version)
    if only is not None:
        planned = replace(planned, files=(), tags=(), removed_copies=())
    return replace(planned, base=current)


def _shift_large(
    entry: JournalEntry,
    journal: Journal,
    writer: Writer,
    side: Side,
    *,
    action: str,
    forced: Collection[str],
) -> ChangeSet:
    """The same of a large edit: rows and images are read, compared and let go a piece at a time."""
    version, known, conflicts = writer.newest(), 0, list[Conflict]()

    def found() -> Iterator[Change]:
        nonlocal known
        for images, current in shift_pieces(journal, entry.entry, writer, version):
            known += 0 if images.before is None else images.before.num_rows
            shift = _Shift(images, current, writer, side, frozenset(forced))
            yield from split(shift.rows(), conflicts)

    changes = collected(found(), journal.path.parent)
    return _shifted(entry, side, action, changes, tuple(conflicts), entry.rows - known, writer, version)


def _shifted(
    entry: JournalEntry,
    side: Side,
    action: str,
    changes: Sequence[Change],
    conflicts: tuple[Conflict, ...],
    lost: int,
    writer: Writer,
    version: int,
) -> ChangeSet:
    return ChangeSet(
        action=action,
        title=f"{action} of entry {entry.entry}: {entry.title}",
        changes=changes,
        conflicts=conflicts,
        version=version,
        put_back=True,
        warnings=(f"{lost} of its memories were forgotten for good and stay so.",) if lost > 0 else (),
        undoes=entry.entry,
        files=files_of(entry, side),
        tags=tags_of(entry, side),
        removed_copies=copies_in(entry.detail) if side == "before" else (),
        mark=writer.mark(version),
    )


def files_of(entry: JournalEntry, side: Side) -> tuple[FileEdit, ...]:
    """The files that went with the entry, back to how they were or forth again."""
    written = edits_in(entry.detail)
    return written if side == "after" else tuple(edit.reverse for edit in written)


def tags_of(entry: JournalEntry, side: Side) -> tuple[TagEdit, ...]:
    """The names of versions that the entry changed in the table, back to how they were or forth again."""
    written = tags_in(entry.detail)
    return written if side == "after" else tuple(edit.reverse for edit in reversed(written))


def plan_bring_back(engine: Engine, version: int, ids: Collection[str]) -> ChangeSet:
    """Bring these rows to how they were at `version`: added where they are gone, set back where they changed.

    What the agent counts in a memory is no difference. Raises UsageError for an id that the version does not hold,
    RefusedError where the table had other columns then.
    """
    writer = engine.store.writer()
    newest = writer.newest()
    names = list(writer.schema.names)
    pin = writer.at(version)
    if missing := [name for name in names if name not in pin.schema.names]:
        raise RefusedError(
            f"Version {version} has no column {', '.join(missing)}: its rows do not fit the table of today.",
            fix="Copy what you need by hand from: memtui versions diff.",
        )
    condition = in_values(writer.dialect.columns.id, list(ids))
    with explained(writer.where):
        then = pin.table.search().where(condition).select(names).limit(None).to_arrow()
    there = places(then)
    if absent := [memory_id for memory_id in ids if memory_id not in there]:
        raise UsageError(
            f"Version {version} does not hold {', '.join(absent[:5])}.", fix="See: memtui versions diff."
        )
    twice = frozenset(each for each, at in there.items() if len(at) > 1)
    then = _only(then, set(ids) - twice)
    current = writer.rows(list(ids))
    found: list[Change | Conflict] = [
        Conflict(each, "duplicate id", f"Version {version} has several rows with this id.") for each in twice
    ]
    if then is not None:
        found += _Shift(RowImages(None, None, then), current, writer, "after", frozenset(ids)).rows()
    changes = tuple(change for change in found if isinstance(change, Change))
    count = counted(len(changes), "memory", "memories")
    return ChangeSet(
        action="restore",
        title=f"{count}: back to how they were at version {version}",
        changes=changes,
        conflicts=tuple(change for change in found if isinstance(change, Conflict)),
        version=newest,
        put_back=True,
        mark=writer.mark(newest),
        base=current,
    )


def _only(table: pa.Table | None, ids: Collection[str]) -> pa.Table | None:
    if table is None:
        return None
    at = [place for each, found in places(table).items() if each in ids for place in found]
    return table.take(at) if at else None


def _shared(table: pa.Table) -> dict[str, list[int]]:
    """Where the rows of each id stand that several have."""
    return {each: at for each, at in places(table).items() if len(at) > 1}


@dataclass(frozen=True, slots=True, eq=False)
class _Shift:
    images: RowImages
    current: pa.Table
    writer: Writer
    side: Side
    forced: frozenset[str]
    read: dict[int, _Values] = field(default_factory=dict)
    """Tables by identity: each column is read once, not once a row."""

    def rows(self) -> Iterator[Change | Conflict]:
        before, after, added = self.images.before, self.images.after, self.images.added
        there = places(self.current)
        now = _Values(self.current)
        edited = set() if after is None else set(after.column(ID).to_pylist())
        if before is not None:
            old = _Values(before)
            new = _Values(after) if after is not None else None
            new_at = {} if after is None else {each: at[0] for each, at in places(after).items()}
            shared = _shared(before)
            for at, value in enumerate(before.column(ID).to_pylist()):
                here = there.get(value, [])
                if value in shared:
                    if at == shared[value][0]:
                        wanted = self.side == "before"
                        yield self._together(value, before, shared[value], now, here, wanted=wanted)
                elif len(here) > 1:
                    yield Conflict(value, "duplicate id", f"{len(here)} rows share this id.")
                elif value in edited and new is not None:
                    yield from self._edited(value, old, at, new, new_at[value], now, here)
                else:
                    yield from self._whole(value, before, at, now, here, wanted=self.side == "before")
        if added is not None:
            shared = _shared(added)
            for at, value in enumerate(added.column(ID).to_pylist()):
                here = there.get(value, [])
                if value in shared:
                    if at == shared[value][0]:
                        wanted = self.side == "after"
                        yield self._together(value, added, shared[value], now, here, wanted=wanted)
                    continue
                yield from self._whole(value, added, at, now, here, wanted=self.side == "after")

    def _edited(
        self, each: str, old: _Values, at: int, new: _Values, new_at: int, now: _Values, here: list[int]
    ) -> Iterator[Change | Conflict]:
        """A row whose fields were changed: each field goes from what it should be now to what is wanted."""
        if not here:
            if each in self.forced and self.side == "before":
                yield self._add(each, old.table, at)
            else:
                yield Conflict(each, "gone", "It is no longer there: another program has removed it.")
            return
        dialect = self.writer.dialect.columns
        columns: dict[str, Any] = {}
        metadata: dict[str, Any] = {}
        vector = None
        shown: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        wrong: list[FieldConflict] = []
        for name in new.table.schema.names:
            before, after, value = old.value(name, at), new.value(name, new_at), now.value(name, here[0])
            want, have = (before, after) if self.side == "before" else (after, before)
            if name == ID or same(value, want) or same(before, after):
                continue
            if name == dialect.metadata:
                wrong += self._keys(before, after, value, metadata, shown, each in self.forced)
                if same(value, have):
                    columns[name] = want
                    if not metadata:  # no object before or after: the text as a whole
                        shown[0][name], shown[1][name] = value, want
                continue
            if not same(value, have) and each not in self.forced and name not in COUNTERS:
                wrong.append(FieldConflict(name, _plain(have), _plain(want), _plain(value)))
                continue
            if name == dialect.vector:
                vector = old.vector(at) if self.side == "before" else new.vector(new_at)
            else:
                columns[name] = want
                shown[0][name], shown[1][name] = _plain(value), _plain(want)
        if wrong:
            names = ", ".join(dict.fromkeys(conflict.field for conflict in wrong))
            yield Conflict(each, "changed", f"Its {names} was changed again since.", tuple(wrong))
        elif columns or metadata or vector is not None:
            title = one_line(str(now.value(dialect.text, here[0]) or ""))
            scope = now.value(dialect.scope, here[0]) if dialect.scope else None
            expects = {name: now.value(name, here[0]) for name in columns}
            texts = _texts(now.value(dialect.metadata, here[0])) if metadata and dialect.metadata else {}
            edit = Edit(columns, metadata, expects, {key: texts.get(key) for key in metadata}, vector)
            yield Change(each, "edit", *shown, title=title, scope=scope, edit=edit)

    def _keys(
        self,
        before: str | None,
        after: str | None,
        value: str | None,
        metadata: dict[str, Any],
        shown: tuple[dict[str, Any], dict[str, Any]],
        forced: bool,
    ) -> Iterator[FieldConflict]:
        """Metadata that went on since: only the keys that the entry changed are brought back."""
        try:
            keys, now = changed_keys(before, after), raw_values(value)
        except ValueError:
            if value != (after if self.side == "before" else before):
                yield FieldConflict("metadata", after, before, value)
            return
        for key, (old, new) in keys.items():
            want, have = (old, new) if self.side == "before" else (new, old)
            here = now.get(key)
            if here == want or (key in COUNTERS and here != have):
                continue
            if here != have and not forced:
                yield FieldConflict(key, have, want, here)
                continue
            metadata[key] = REMOVED if want is None else Raw(want)
            shown[0][key], shown[1][key] = _loaded(here), _loaded(want)

    def _whole(
        self, each: str, table: pa.Table, at: int, now: _Values, here: list[int], *, wanted: bool
    ) -> Iterator[Change | Conflict]:
        """A row that was added or deleted whole: there or not there."""
        if wanted and not here:
            yield self._add(each, table, at)
        elif wanted:
            if self._differences(table, at, now, here[0]):
                yield self._overwrite(each, table, at, now, here[0])
        elif here:
            wrong = self._differences(table, at, now, here[0])
            if wrong and each not in self.forced:
                names = ", ".join(difference.field for difference in wrong)
                yield Conflict(each, "changed", f"Its {names} was changed since.", tuple(wrong))
            else:
                yield self._delete(each, now, here[0])

    def _together(
        self, each: str, table: pa.Table, at: list[int], now: _Values, here: list[int], *, wanted: bool
    ) -> Change | Conflict:
        """Rows that share their id, added or deleted as one: all of them come, or all of them go."""
        if wanted and not here:
            added = self._add(each, table, at[0])
            if isinstance(added, Conflict):
                return added
            return replace(added, row=table.take(at), rows=len(at))
        if not wanted and len(here) == len(at):
            return replace(self._delete(each, now, here[0]), rows=len(at))
        said = f"{counted(len(here), 'row has', 'rows have')} this id now, {len(at)} had it."
        return Conflict(each, "there again" if wanted else "changed", said)

    def _differences(self, table: pa.Table, at: int, now: _Values, here: int) -> list[FieldConflict]:
        mine = self._values(table)
        metadata = self.writer.dialect.columns.metadata
        found = []
        for name in table.schema.names:
            before, theirs = mine.value(name, at), now.value(name, here)
            if same(before, theirs) or name in COUNTERS:
                continue
            if name == metadata and _only_counted(before, theirs):
                continue
            found.append(FieldConflict(name, _plain(before), None, _plain(theirs)))
        return found

    def _values(self, table: pa.Table) -> _Values:
        return self.read.setdefault(id(table), _Values(table))

    def _add(self, each: str, table: pa.Table, at: int) -> Change | Conflict:
        row = table.slice(at, 1)
        if not set(self.current.schema.names) <= set(row.schema.names):
            return Conflict(
                each, "refused", "The journal keeps too little of it to make it again: import it again."
            )
        shown = self._shown(self._values(table), at)
        return Change(each, "add", {}, shown, title=_title(shown), scope=shown.get("scope"), row=row)

    def _delete(self, each: str, now: _Values, at: int) -> Change:
        shown = self._shown(now, at)
        text, scope = self.writer.dialect.columns.text, self.writer.dialect.columns.scope
        expects = {name: now.value(name, at) for name in (text, scope) if name}
        edit = Edit(expects=expects)
        return Change(each, "delete", shown, {}, title=_title(shown), scope=shown.get("scope"), edit=edit)

    def _overwrite(self, each: str, table: pa.Table, at: int, now: _Values, here: int) -> Change | Conflict:
        """A deleted row whose id is there again with other contents."""
        differences = self._differences(table, at, now, here)
        if each not in self.forced:
            return Conflict(each, "there again", "A memory with this id is there again.", tuple(differences))
        old = _Values(table)
        vector = self.writer.dialect.columns.vector
        names = [name for name in table.schema.names if name not in (ID, vector)]
        shown = (
            {difference.field: difference.theirs for difference in differences},
            {difference.field: difference.before for difference in differences},
        )
        text, scope = self.writer.dialect.columns.text, self.writer.dialect.columns.scope
        edit = Edit(
            {name: old.value(name, at) for name in names},
            expects={name: now.value(name, here) for name in (text, scope) if name},
            vector=old.vector(at) if vector else None,
        )
        return Change(each, "edit", *shown, title=_title(self._shown(old, at)), edit=edit)

    def _shown(self, values: _Values, at: int) -> dict[str, Any]:
        """What a person reads of a row: everything but its id and its vector."""
        hidden = (ID, self.writer.dialect.columns.vector)
        return {name: values.listed(name, at) for name in values.table.schema.names if name not in hidden}


class _Values:
    """The values of a table by column and place; a column is read when it is first asked for."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self._columns: dict[str, list[Any]] = {}
        self._lists: dict[str, list[Any]] = {}

    def value(self, column: str, at: int) -> Any:
        """The value; a vector as its bytes."""
        return self._column(column)[at]

    def listed(self, column: str, at: int) -> Any:
        """The value; a vector as its numbers."""
        if column not in self._lists:
            found = self.table.column(column)
            self._lists[column] = found.to_pylist() if _is_vector(found.type) else self._column(column)
        return self._lists[column][at]

    def _column(self, name: str) -> list[Any]:
        if name not in self._columns:
            self._columns[name] = comparable(self.table.column(name).combine_chunks())
        return self._columns[name]

    def vector(self, at: int) -> Any:
        """The vector of a row: float32 [dims], REMOVED for a NULL."""
        import numpy as np

        name = next(f.name for f in self.table.schema if f.name not in (ID,) and _is_vector(f.type))
        raw = self.value(name, at)
        return REMOVED if raw is None else np.frombuffer(raw, dtype=np.float32)


def _is_vector(kind: Any) -> bool:
    from memtui.engine.dialects.base import is_vector

    return is_vector(kind)


def _texts(metadata: str | None) -> dict[str, str]:
    try:
        return raw_values(metadata)
    except ValueError:
        return {}


def _only_counted(before: str | None, now: str | None) -> bool:
    try:
        return changed_keys(before, now).keys() <= COUNTERS
    except ValueError:
        return False


def _loaded(raw: str | None) -> Any:
    from memtui.engine.metadata.read import parse_object

    return None if raw is None else parse_object(f'{{"value":{raw}}}')[0].get("value", raw)


def _plain(value: Any) -> Any:
    return "(vector)" if isinstance(value, bytes) else value


def _title(shown: dict[str, Any]) -> str:
    return one_line(str(shown.get("text") or ""))
