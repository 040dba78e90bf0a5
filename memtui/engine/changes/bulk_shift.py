"""Taking back, or making again, an entry of very many memories: a few numbers for each, never its text or vector.

An import of a million rows is one stream and one entry of the journal. Its undo looks at the table once, in batches,
keeps the row id of every memory that is as it came, and removes whole runs of them in one commit; making it again
streams the rows out of the journal's file. What is compared is the text and the scope, as in an ordinary undo.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.changes.applied_state import AppliedState
from memtui.engine.changes.applier import Applier, ConflictError, bookkeeping, committed, lock_kept
from memtui.engine.changes.change_set import Change, ChangeSet, Conflict, FieldConflict, Outcome
from memtui.engine.changes.journal import RowImages
from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.core.text import counted, one_line
from memtui.engine.store.row_values import ID, hash64, same

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from memtui.engine.changes.journal import Journal, JournalEntry
    from memtui.engine.store.snapshot import Snapshot
    from memtui.engine.store.writer import Writer

    Places = NDArray[np.int64]
    RowIds = NDArray[np.uint64]

LARGE = 20_000
"""From so many memories on an entry that does not list them is taken back by numbers."""

LISTED = 200
"""So many of them are shown; all are counted."""

ROWS = 8_192
"""Rows that are held at once."""

ATTEMPTS = 5


@dataclass(frozen=True, slots=True, eq=False)
class BulkShift:
    """Which memories of an entry go, or come back: their places in the entry's image, and their rows in the table."""

    entry: int
    side: Literal["before", "added"]
    """The image of the entry that holds them."""
    op: Literal["delete", "add"]
    places: Places
    rows: RowIds
    """Of a delete the row ids, at the places' order; empty of an add."""
    scopes: NDArray[np.int32]
    """Of each the number of its scope in `names`."""
    names: tuple[str | None, ...]
    held: int
    """How many memories the journal holds of the entry."""
    listed: tuple[Change, ...]
    """The first of them, to be shown."""
    conflicts: tuple[Conflict, ...] = ()
    forced: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.places)

    @property
    def by_scope(self) -> dict[str | None, int]:
        """How many are of each scope."""
        import numpy as np

        counts = np.bincount(self.scopes, minlength=len(self.names)).tolist()
        return {name: count for name, count in zip(self.names, counts, strict=True) if count}

    def without(self, ids: Collection[str]) -> BulkShift:
        """The same without these memories, of which only listed ones can be among them."""
        import numpy as np

        gone = [at for at, change in enumerate(self.listed) if change.id in ids]
        return replace(
            self,
            places=np.delete(self.places, gone),
            rows=np.delete(self.rows, gone) if len(self.rows) else self.rows,
            scopes=np.delete(self.scopes, gone),
            listed=tuple(change for change in self.listed if change.id not in ids),
            conflicts=tuple(conflict for conflict in self.conflicts if conflict.id not in ids),
            left=self.left | frozenset(ids),
        )


def plan_bulk(
    entry: JournalEntry,
    journal: Journal,
    writer: Writer,
    side: Literal["before", "after"],
    *,
    action: str,
    forced: Collection[str] = (),
) -> ChangeSet:
    """Bring all memories of a large entry to how they were before it, or to how they were after it.

    Raises RefusedError where the journal no longer holds them, or keeps too little of them to make them again.
    """
    version = writer.newest()
    shift = find_bulk(entry, journal, writer, side, forced=frozenset(forced))
    lost = entry.rows - shift.held
    return ChangeSet(
        action=action,
        title=f"{action} of entry {entry.entry}: {entry.title}",
        changes=shift.listed,
        conflicts=shift.conflicts,
        version=version,
        warnings=(f"{lost} of its memories were forgotten for good and stay so.",) if lost > 0 else (),
        undoes=entry.entry,
        mark=writer.mark(version),
        bulk=shift,
    )


def find_bulk(
    entry: JournalEntry,
    journal: Journal,
    writer: Writer,
    side: Literal["before", "after"],
    *,
    forced: frozenset[str] = frozenset(),
    left: frozenset[str] = frozenset(),
    version: int | None = None,
) -> BulkShift:
    """What is to be done with the memories of a large entry, in the table as it is at `version`, the newest if None."""
    image: Literal["before", "added"] = "added" if journal.holds(entry.entry, "added") else "before"
    op: Literal["delete", "add"] = "delete" if (image == "added") == (side == "before") else "add"
    pin = writer.at(writer.newest() if version is None else version)
    with journal.image(entry.entry, image) as rows:
        if rows is None:
            raise RefusedError(
                f"Entry {entry.entry} cannot be undone: its contents were removed for good.",
                fix="Nothing was changed.",
            )
        if op == "add" and not set(writer.schema.names) <= set(rows.schema.names):
            raise RefusedError(
                f"Entry {entry.entry} cannot be redone: the journal keeps only id, text and scope of its memories.",
                fix="Import them again; nothing was changed.",
            )
        known = _Known.of(rows, writer)
    found = _looked_up(known, pin)
    return _shift(entry.entry, image, op, known, found, journal, writer, forced, left)


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """The memories of an image as numbers: hashes of id and of what is compared, in the image's order."""

    ids: NDArray[np.int64]
    said: NDArray[np.int64]
    scopes: NDArray[np.int32]
    names: tuple[str | None, ...]
    compared: tuple[str, ...]

    @classmethod
    def of(cls, rows: pa.RecordBatchReader, writer: Writer) -> _Known:
        import numpy as np

        columns = writer.dialect.columns
        compared = tuple(name for name in (columns.text, columns.scope) if name and name in rows.schema.names)
        codes: dict[str | None, int] = {}
        ids, said, scopes = [], [], []
        for part in _pieces(rows):
            ids.append(_hashes(part, (ID,)))
            said.append(_hashes(part, compared))
            named = (
                part.column(columns.scope).to_pylist() if columns.scope in compared else [None] * len(part)
            )
            scopes.append(
                np.fromiter((codes.setdefault(each, len(codes)) for each in named), np.int32, len(part))
            )
        none = [np.empty(0, np.int64)]
        return cls(
            np.concatenate(ids or none),
            np.concatenate(said or none),
            np.concatenate(scopes or [np.empty(0, np.int32)]),
            tuple(codes),
            compared,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """What the table has of an image's memories, at the image's places."""

    times: NDArray[np.int32]
    """How many rows have the id."""
    rows: RowIds
    """The row id of the last of them."""
    changed: dict[int, dict[str, Any]]
    """Of those that say something else by now: what they say."""


def _looked_up(known: _Known, pin: Snapshot) -> _Found:
    """One pass over the table's ids and what is compared."""
    import numpy as np

    order = np.argsort(known.ids)
    keys = known.ids[order]
    times, rows = np.zeros(len(keys), np.int32), np.zeros(len(keys), np.uint64)
    changed: dict[int, dict[str, Any]] = {}
    for batch in pin.scan([ID, *known.compared], with_row_id=True, batch_size=ROWS):
        if not len(keys) or not batch.num_rows:
            continue
        hashes = _hashes(batch, (ID,))
        at = np.minimum(np.searchsorted(keys, hashes), len(keys) - 1)
        hit = np.flatnonzero(keys[at] == hashes)
        if not len(hit):
            continue
        here = batch.take(hit)
        places = order[at[hit]]
        np.add.at(times, places, 1)
        rows[places] = here.column("_rowid").to_numpy()
        unlike = np.flatnonzero(_hashes(here, known.compared) != known.said[places])
        for row in here.take(unlike).select([ID, *known.compared]).to_pylist() if len(unlike) else ():
            changed[int(places[unlike[0]])] = row
            unlike = unlike[1:]
    return _Found(times, rows, changed)


def _shift(
    entry: int,
    image: Literal["before", "added"],
    op: Literal["delete", "add"],
    known: _Known,
    found: _Found,
    journal: Journal,
    writer: Writer,
    forced: frozenset[str],
    left: frozenset[str],
) -> BulkShift:
    import numpy as np

    wrong = set(np.flatnonzero(found.times > 1).tolist()) | found.changed.keys()
    chosen = found.times > 0 if op == "delete" else found.times == 0
    with journal.image(entry, image) as rows:
        told = _rows_at(rows, wrong)
    conflicts = []
    for place in sorted(wrong):
        each = str(told[place][ID])
        chosen[place] = op == "delete" and found.times[place] == 1 and each in forced
        if not chosen[place] and each not in left:
            conflicts.append(
                _conflict(each, op, int(found.times[place]), told[place], found.changed.get(place))
            )
    if left:
        with journal.image(entry, image) as rows:
            chosen[_places_of(rows, left)] = False
    places = np.flatnonzero(chosen)
    with journal.image(entry, image) as rows:
        shown = _rows_at(rows, places[:LISTED].tolist())
    columns = writer.dialect.columns
    listed = tuple(
        _change(op, shown[place], columns.vector, columns.scope) for place in places[:LISTED].tolist()
    )
    taken = found.rows[places] if op == "delete" else found.rows[:0]
    return BulkShift(
        entry,
        image,
        op,
        places,
        taken,
        known.scopes[places],
        known.names,
        len(known.ids),
        listed,
        tuple(conflicts),
        forced,
        left,
    )


def _conflict(each: str, op: str, times: int, then: dict[str, Any], now: dict[str, Any] | None) -> Conflict:
    if times > 1:
        return Conflict(each, "duplicate id", f"{times} rows share this id.")
    fields = tuple(
        FieldConflict(name, then[name], None, value)
        for name, value in (now or {}).items()
        if name != ID and not same(then[name], value)
    )
    if op == "add":
        return Conflict(each, "there again", "A memory with this id is there again.", fields)
    names = ", ".join(one.field for one in fields)
    return Conflict(each, "changed", f"Its {names} was changed since.", fields)


def _change(
    op: Literal["delete", "add"], row: dict[str, Any], vector: str | None, scope: str | None
) -> Change:
    shown = {name: value for name, value in row.items() if name not in (ID, vector)}
    before, after = (shown, {}) if op == "delete" else ({}, shown)
    title = one_line(str(shown.get("text") or ""))
    return Change(str(row[ID]), op, before, after, title=title, scope=shown.get(scope) if scope else None)


# Writing it.


def apply_bulk(change_set: ChangeSet, applier: Applier, *, confirmed: bool) -> Outcome:
    """Write a large undo or redo in one commit and one entry; see `applier.write_rows` for what it raises."""
    applier.access.require(confirmed=confirmed)
    if change_set.conflicts:
        raise ConflictError(change_set.conflicts)
    writer, journal = applier.writer, applier.journal
    planned: BulkShift = change_set.bulk
    undone = journal.entry(planned.entry)
    with applier.gatekeeper.hold() as hold:
        before = writer.newest()
        shift = planned
        if writer.mark(before) != change_set.mark:
            shift = _found_again(planned, undone, journal, writer)
            if shift.conflicts:
                raise ConflictError(shift.conflicts)
        rows = writer.count()
        pin = writer.at(before)
        hold.check()
        streams = {"removed" if shift.op == "delete" else "added": _whole_rows(shift, pin, journal)}
        entry = journal.intend(
            time_ms=applier.now(),
            action=change_set.action,
            title=change_set.title,
            changes=(),
            images=RowImages(None, None, None),
            version_before=before,
            undoes=change_set.undoes,
            detail={"client": applier.client} if applier.client else {},
            count=len(shift),
            **streams,
        )
        after = committed(
            lambda: write_bulk(shift, writer, pin, journal),
            lambda: bulk_whereabouts(journal.entry(entry), journal, writer),
            writer,
            journal,
            entry,
        )
        if after != before + 1 and shift.op == "delete":
            after = _made_sure(shift, undone, journal, writer, after)
        elif after == before + 1:
            _count(writer, rows + (len(shift) if shift.op == "add" else -len(shift)))
        journal.applied(entry, after, **bookkeeping(change_set.undoes, journal))
        lost = lock_kept(hold)
        writer.fold_words(single=True)
    journal.tidy()
    warnings = (*change_set.warnings, *lost, *((applier.access.warning,) if applier.access.warning else ()))
    return Outcome(
        entry,
        change_set.action,
        shift.listed,
        warnings=warnings,
        version_before=before,
        version_after=after,
        count=len(shift),
    )


def write_bulk(shift: BulkShift, writer: Writer, pin: Snapshot, journal: Journal) -> int:
    """One commit; the version after it. `pin` is the table as the shift was found in."""
    if shift.op == "add":
        return writer.commit(None, _whole_rows(shift, pin, journal), ())
    return writer.delete_runs(_runs(shift.rows, pin))


def bulk_whereabouts(entry: JournalEntry, journal: Journal, writer: Writer) -> AppliedState:
    """Whether the change of a large entry is in the table: wholly, not at all, or in part."""
    image: Literal["before", "added"] = "added" if journal.holds(entry.entry, "added") else "before"
    with journal.image(entry.entry, image) as rows:
        if rows is None:
            return AppliedState.CHANGED
        known = _Known.of(rows, writer)
    known = replace(known, compared=(), said=known.said * 0)  # only whether they are there
    there = int((_looked_up(known, writer.at(writer.newest())).times > 0).sum())
    made = there if image == "added" else len(known.ids) - there
    if made == len(known.ids):
        return AppliedState.WHOLE
    return AppliedState.HALF if made else AppliedState.NOTHING


def _found_again(
    shift: BulkShift, undone: JournalEntry, journal: Journal, writer: Writer, version: int | None = None
) -> BulkShift:
    """The same, of the table as it is now or was at `version`."""
    side: Literal["before", "after"] = (
        "before" if (shift.side == "added") == (shift.op == "delete") else "after"
    )
    return find_bulk(undone, journal, writer, side, forced=shift.forced, left=shift.left, version=version)


def _made_sure(shift: BulkShift, undone: JournalEntry, journal: Journal, writer: Writer, version: int) -> int:
    """Another program wrote at the last moment, and perhaps moved rows: only ours are gone in the end.

    Rows are removed by their row ids, which a rewrite of the table's files gives anew. What was lost by that is put
    back from the version before, what is still there goes.
    """
    import numpy as np

    for _ in range(ATTEMPTS):
        previous = writer.at(version - 1)
        nothing = np.empty(0, np.int64)
        now = np.concatenate([nothing, *(_hashes(each, (ID,)) for each in writer.at(version).scan([ID]))])
        ours = _found_again(shift, undone, journal, writer, version - 1)
        lost = []
        for batch in previous.scan([ID], with_row_id=True):
            there = np.isin(_hashes(batch, (ID,)), now)
            lost.append(batch.column("_rowid").to_numpy()[~there])
        foreign = np.setdiff1d(np.concatenate([ours.rows[:0], *lost]), ours.rows)
        if len(foreign):
            rows = previous.take(foreign.tolist(), writer.schema.names).select(writer.schema.names)
            version = writer.commit(None, rows, ())
        left = _found_again(shift, undone, journal, writer)
        if not len(left):
            return version
        begun = writer.newest()
        version = write_bulk(left, writer, writer.at(begun), journal)
        if version == begun + 1:
            return version
    raise MemtuiError(
        f"Other programs write to {writer.where} all the time: not all memories of the entry are gone.",
        fix="Look at the journal: memtui journal; it says what is there.",
    )


def _count(writer: Writer, rows: int) -> None:
    if writer.count() != rows:
        raise MemtuiError(
            f"{writer.where} has {counted(writer.count(), 'row')} after it, not {rows:,}.",
            fix="Look at the journal: memtui journal; it says what is there.",
        )


def _whole_rows(shift: BulkShift, pin: Snapshot, journal: Journal) -> pa.RecordBatchReader:
    """The rows concerned, whole, a piece at a time: of a delete out of the table, of an add out of the journal."""
    import pyarrow as pa

    def out_of_the_table() -> Iterator[pa.RecordBatch]:
        for start in range(0, len(shift.rows), ROWS):
            found = pin.take(shift.rows[start : start + ROWS].tolist(), pin.schema.names)
            yield from found.select(pin.schema.names).to_batches()

    def out_of_the_journal() -> Iterator[pa.RecordBatch]:
        import numpy as np

        first = 0
        with journal.image(shift.entry, shift.side) as rows:
            for piece in _pieces(rows):
                start, stop = np.searchsorted(shift.places, (first, first + piece.num_rows))
                if stop > start:
                    yield piece.take(shift.places[start:stop] - first).select(pin.schema.names)
                first += piece.num_rows

    batches: Callable[[], Iterator[pa.RecordBatch]] = (
        out_of_the_table if shift.op == "delete" else out_of_the_journal
    )
    return pa.RecordBatchReader.from_batches(pin.schema, batches())


def _runs(rows: RowIds, pin: Snapshot) -> list[tuple[int, int]]:
    """First and last row id of each run: between them stands no row of the table that is not one of `rows`."""
    import numpy as np

    everyone = np.sort(np.concatenate([each.column("_rowid").to_numpy() for each in pin.scan_written([ID])]))
    ours = np.sort(rows)
    places = np.searchsorted(everyone, ours)
    ends = np.flatnonzero(np.diff(places) != 1)
    firsts, lasts = ours[np.r_[0, ends + 1]], ours[np.r_[ends, len(ours) - 1]]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


# Images a piece at a time.


def _pieces(rows: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    for batch in rows:
        for start in range(0, batch.num_rows, ROWS):
            yield batch.slice(start, ROWS)


def _hashes(rows: pa.RecordBatch, names: Sequence[str]) -> NDArray[np.int64]:
    """A number for what each row says in these columns."""
    import numpy as np

    if tuple(names) == (ID,):
        return np.fromiter(
            (hash64(value or "") for value in rows.column(ID).to_pylist()), np.int64, rows.num_rows
        )
    if not names:
        return np.zeros(rows.num_rows, np.int64)
    columns = [rows.column(name).to_pylist() for name in names]
    return np.fromiter((hash64(repr(each)) for each in zip(*columns, strict=True)), np.int64, rows.num_rows)


def _rows_at(rows: pa.RecordBatchReader, places: Collection[int]) -> dict[int, dict[str, Any]]:
    """The rows at these places of an image."""
    wanted, found, first = sorted(places, reverse=True), dict[int, dict[str, Any]](), 0
    for piece in _pieces(rows):
        here = []
        while wanted and wanted[-1] < first + piece.num_rows:
            here.append(wanted.pop())
        if here:
            values = piece.take([each - first for each in here]).to_pylist()
            found |= dict(zip(here, values, strict=True))
        first += piece.num_rows
        if not wanted:
            break
    return found


def _places_of(rows: pa.RecordBatchReader, ids: Collection[str]) -> list[int]:
    """Where these memories stand in an image."""
    found, first = [], 0
    for piece in _pieces(rows):
        found += [first + at for at, value in enumerate(piece.column(ID).to_pylist()) if value in ids]
        first += piece.num_rows
    return found
