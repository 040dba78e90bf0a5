"""The journal: every change with what was there before, written down before the change is made."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from memtui.engine.changes.blob_store import BlobStore, ImageStore, decode, encode, encode_into, reading
from memtui.engine.changes.change_set import Change, Op
from memtui.engine.changes.journal_chain import DROPPED, REMOVED, ChainReport, JournalChain, verify
from memtui.engine.changes.journal_file import FileAtRest, JournalDatabase, JournalError, JournalFile
from memtui.engine.changes.stored_changes import StoredChanges
from memtui.engine.core.errors import UsageError
from memtui.engine.metadata.read import dump_json, loads

if TYPE_CHECKING:
    import pyarrow as pa


INTENDED = "intended"
"""The state of an entry while it is being written; of one whose program died, until somebody has looked."""

LEFT = "left"
"""The state of an entry that was interrupted, and that a person left as it was found."""

LISTED = ("applied", "undone", "interrupted", LEFT)
"""The states that a person sees."""

SIDES = ("before", "after", "added")

SHOWN = "shown"
"""The image of what a person sees: the changed fields of each row before and after, in one text for all."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One change that was made, or was about to be."""

    entry: int
    time_ms: int
    action: str
    title: str
    state: str
    rows: int
    version_before: int
    version_after: int | None = None
    undoes: int | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The entry of the command-line contract."""
        shown = {"entry": self.entry, "time_ms": self.time_ms, "action": self.action, "rows": self.rows}
        more = {"title": self.title, "version_before": self.version_before}
        later = {"version_after": self.version_after, "undoes": self.undoes}
        return {**shown, "state": self.state, **more, **later, **self.detail}


@dataclass(frozen=True, slots=True)
class EntryRow:
    """One memory in an entry: its changed fields before and after."""

    entry: int
    id: str
    op: Op
    before: Mapping[str, Any]
    after: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class RowImages:
    """The rows of an entry. Tables without rows where a side has none.

    `before`: whole rows that were changed or deleted. `after`: id and the changed columns of changed rows.
    `added`: whole rows that are new.
    """

    before: pa.Table | None
    after: pa.Table | None
    added: pa.Table | None


@contextmanager
def _meaning(said: str) -> Iterator[None]:
    """Let a failure of the journal say first what it means for the table."""
    try:
        yield
    except JournalError as error:
        raise JournalError(error.message, fix=f"{said} {error.fix}", details=error.details) from error


def _made(entry: int, version: int | None) -> str:
    at = "" if version is None else f" (version {version} of the table)"
    return (
        f"The change itself is made{at}, but entry {entry} could not be completed: make room, then preview with"
        f" memtui journal, and complete it with memtui journal --finish {entry}."
    )


class Journal:
    """The journal of one store, a file of its own; made at the first entry. Safe to use from several threads."""

    def __init__(
        self, path: Path, *, file: JournalDatabase | None = None, shelf: ImageStore | None = None
    ) -> None:
        self._file = file or JournalFile(path)
        self._shelf = shelf or BlobStore(path.parent / "rows")
        self._chain = JournalChain(path)
        self._shared = shelf is not None

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def intend(
        self,
        *,
        time_ms: int,
        action: str,
        title: str,
        changes: Sequence[Change],
        images: RowImages,
        version_before: int,
        undoes: int | None = None,
        detail: Mapping[str, Any] | None = None,
        count: int | None = None,
        added: pa.RecordBatchReader | None = None,
        removed: pa.RecordBatchReader | None = None,
        changed: pa.RecordBatchReader | None = None,
        done: int | None = None,
    ) -> int:
        """Write down what is about to be done, safe against a crash and a power cut; the entry's number.

        `count` is how many memories it is about, where they are too many to be listed one by one; `added` or
        `removed` their rows, where they are too many to be held at once; of edits `removed` has the rows as they
        are, `changed` ids and new columns. `done` is the version after
        it, of what is done already. Raises JournalError, which says what that means for the table.
        """
        shown = _shown_lines(changes)
        said = (
            "Nothing was changed: without a journal no change is made."
            if done is None
            else f"What was to be noted is done: {title}."
        )
        with _meaning(said), self._file.writing() as db:
            entry = db.execute(
                "INSERT INTO entries (time_ms, action, title, state, rows, version_before, version_after,"
                " undoes, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(time_ms, action, title, INTENDED if done is None else "applied"),
                    *(count or len(changes), version_before, done, undoes, _dump(detail or {})),
                ),
            ).lastrowid
            assert entry is not None
            listed = (
                changes.named()
                if isinstance(changes, StoredChanges)
                else ((change.id, change.op) for change in changes)
            )
            rows = ((entry, n, *each) for n, each in enumerate(listed))
            db.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", rows)
            self._shelf.put(db, entry, SHOWN, shown)
            self._put(db, entry, images)
            for side, rows_of_it in (("added", added), ("before", removed), ("after", changed)):
                if rows_of_it is not None:
                    self._shelf.put(db, entry, side, partial(encode_into, rows=rows_of_it))
            self._chain.add(db, self._shelf, entry, "made", anew=True)
        return entry

    def applied(
        self, entry: int, version_after: int, *, undoes: int | None = None, redone: int | None = None
    ) -> None:
        """The change is there; `undoes` becomes undone by it, `redone` applied again.

        Raises JournalError, which says that the change is made although that could not be noted.
        """
        with _meaning(_made(entry, version_after)), self._file.writing() as db:
            db.execute(
                "UPDATE entries SET state = 'applied', version_after = ? WHERE entry = ?",
                (version_after, entry),
            )
            for other, state in ((undoes, "undone"), (redone, "applied")):
                if other is not None:
                    db.execute("UPDATE entries SET state = ? WHERE entry = ?", (state, other))
                    self._chain.add(db, self._shelf, other, state)
            if undoes is not None and redone is None:  # a redo of what is undone again is over, too
                over = db.execute(
                    "UPDATE entries SET state = 'undone' WHERE action = 'redo' AND state = 'applied' AND undoes IN"
                    " (SELECT entry FROM entries WHERE action = 'undo' AND undoes = ?) RETURNING entry",
                    (undoes,),
                ).fetchall()
                for (other,) in over:
                    self._chain.add(db, self._shelf, other, "undone")
            self._chain.add(db, self._shelf, entry, "applied")

    def drop(self, entry: int) -> None:
        """The change was never made: no trace of it is kept."""
        with self._file.writing() as db:
            self._shelf.remove(db, entry)
            for table in ("entries", "rows"):
                db.execute(f"DELETE FROM {table} WHERE entry = ?", (entry,))
            self._chain.add(db, self._shelf, entry, DROPPED)

    def correct(self, entry: int, images: RowImages, left_out: Sequence[str]) -> None:
        """Another program was faster: other rows were replaced than was thought, and some were left alone.

        Raises JournalError, which says that the change is made although that could not be noted.
        """
        with _meaning(_made(entry, None)), self._file.writing() as db:
            for side in SIDES:
                self._shelf.remove(db, entry, side)
            self._put(db, entry, images)
            db.executemany(
                "DELETE FROM rows WHERE entry = ? AND id = ?", ((entry, each) for each in left_out)
            )
            db.execute("UPDATE entries SET rows = rows - ? WHERE entry = ?", (len(left_out), entry))
            self._chain.add(db, self._shelf, entry, "corrected", anew=True)

    def mark(self, entry: int, state: str) -> None:
        """Set the state of an entry."""
        with self._file.writing() as db:
            db.execute("UPDATE entries SET state = ? WHERE entry = ?", (state, entry))
            self._chain.add(db, self._shelf, entry, state)

    def note(self, entry: int, detail: Mapping[str, Any]) -> None:
        """Add to what is known of an entry."""
        with self._file.writing() as db:
            old = db.execute("SELECT detail FROM entries WHERE entry = ?", (entry,)).fetchone()
            db.execute(
                "UPDATE entries SET detail = ? WHERE entry = ?",
                (_dump({**json.loads(old[0]), **detail}), entry),
            )
            self._chain.add(db, self._shelf, entry, "noted")

    def verify(self) -> ChainReport:
        """Look along the chain of the entries: whether each is what was written down; see `journal_chain`."""
        with self._file.reading() as db:
            return verify(db, self._shelf, self._file.path, shared=self._shared)

    def entries(self, *, states: Sequence[str] = LISTED, limit: int = -1) -> list[JournalEntry]:
        """Entries in these states, newest first."""
        with self._file.reading() as db:
            if db is None:
                return []
            marks = ", ".join("?" * len(states))
            found = db.execute(
                f"{_ENTRY} WHERE state IN ({marks}) ORDER BY entry DESC LIMIT ?",
                (*states, limit),
            )
            return [_entry(row) for row in found]

    def entry(self, number: int) -> JournalEntry:
        """One entry; UsageError when there is none of this number."""
        with self._file.reading() as db:
            row = None if db is None else db.execute(f"{_ENTRY} WHERE entry = ?", (number,)).fetchone()
        if row is None:
            raise UsageError(
                f"The journal has no entry {number}.", fix="See the entries with: memtui journal."
            )
        return _entry(row)

    def taken_back(self) -> frozenset[int]:
        """The entries whose change was taken back, and was not made again since."""
        entries = self.entries()
        again = {entry.detail.get("redone") for entry in entries if entry.state != "undone"}
        return frozenset(
            entry.entry for entry in entries if entry.state == "undone" and entry.entry not in again
        )

    def rows(self, number: int) -> list[EntryRow]:
        """The memories of an entry, in the order of the change."""
        with self._file.reading() as db:
            if db is None:
                return []
            rows = db.execute("SELECT place, id, op FROM rows WHERE entry = ? ORDER BY place", (number,))
            return self._entry_rows(db, number, rows.fetchall())

    def of_memory(self, memory: str) -> list[tuple[JournalEntry, EntryRow]]:
        """What was changed in one memory, newest first."""
        with self._file.reading() as db:
            if db is None:
                return []
            found = db.execute(
                "SELECT r.entry, r.place, r.id, r.op FROM rows r JOIN entries e ON e.entry = r.entry"
                f" WHERE r.id = ? AND e.state IN ({', '.join('?' * len(LISTED))}) ORDER BY r.entry DESC",
                (memory, *LISTED),
            )
            pairs = [(number, self._entry_rows(db, number, [row])[0]) for number, *row in found.fetchall()]
        return [(self.entry(number), row) for number, row in pairs]

    def images(self, number: int) -> RowImages:
        """The rows of an entry, byte for byte."""
        with self._file.reading() as db:
            found = {} if db is None else dict(self._shelf.sides(db, number))
        return RowImages(*(decode(found[side]) if side in found else None for side in SIDES))

    def unlisted(self, number: int) -> bool:
        """Whether the memories of an entry are too many to be listed one by one: only an image holds them."""
        with self._file.reading() as db:
            if db is None:
                return False
            return db.execute("SELECT 1 FROM rows WHERE entry = ? LIMIT 1", (number,)).fetchone() is None

    def holds(self, number: int, side: str) -> bool:
        """Whether an entry has an image of that side."""
        with self._file.reading() as db:
            return db is not None and self._shelf.source(db, number, side) is not None

    @contextmanager
    def image(self, number: int, side: str) -> Iterator[pa.RecordBatchReader | None]:
        """One image a batch at a time, left on the disk until it is asked for; None where there is none."""
        with self._file.reading() as db:
            source = None if db is None else self._shelf.source(db, number, side)
        if source is None:
            yield None
        else:
            with reading(source) as rows:
                yield rows

    def redact(self, ids: Sequence[str]) -> int:
        """Take the contents of these memories out of every entry for good; how many entries had any.

        Ids, times and actions stay. What is taken out can no longer be undone.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = pa.array(list(ids), pa.string())
        with self._file.writing() as db:
            db.execute("CREATE TEMP TABLE gone (id TEXT PRIMARY KEY)")
            db.executemany("INSERT OR IGNORE INTO gone VALUES (?)", ((memory_id,) for memory_id in ids))
            hit = [row[0] for row in db.execute("SELECT DISTINCT entry FROM rows WHERE id IN gone")]
            for entry in hit:
                self._hide(db, entry)
            db.execute("DROP TABLE gone")
            # An entry of very many memories does not list them: only its images tell whose they are.
            unlisted = "SELECT entry FROM entries WHERE entry NOT IN (SELECT entry FROM rows)"
            touched = dict.fromkeys(hit)
            for entry in (*hit, *(row[0] for row in db.execute(unlisted).fetchall())):
                for side, data in list(self._shelf.sides(db, entry)):
                    if side == SHOWN:
                        continue
                    table = decode(data)
                    kept = table.filter(pc.invert(pc.is_in(table.column("id"), wanted)))
                    if kept.num_rows < table.num_rows:
                        self._shelf.remove(db, entry, side)
                        if kept.num_rows:
                            self._shelf.put(db, entry, side, encode(kept))
                        touched[entry] = None
            for entry in touched:
                self._chain.add(db, self._shelf, entry, REMOVED, anew=True)
            self._shelf.sweep(db)
        self._file.shrink()
        return len(hit)

    def tidy(self) -> None:
        """Fold the write-ahead log into the file: left for after a change, so that no writer waits for it."""
        with suppress(JournalError):  # the change is made and noted; the log is folded by the next one
            self._file.fold()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _put(self, db: sqlite3.Connection, entry: int, images: RowImages) -> None:
        for side in SIDES:
            table = getattr(images, side)
            if table is not None and table.num_rows:
                self._shelf.put(db, entry, side, encode(table))

    def _entry_rows(
        self, db: sqlite3.Connection, entry: int, rows: Sequence[Sequence[Any]]
    ) -> list[EntryRow]:
        """The rows (place, id, op) of an entry with their changed fields."""
        shown = self._shown_of(db, entry, {row[0] for row in rows}) if rows else {}
        return [EntryRow(entry, memory, op, *(shown[place] or ({}, {}))) for place, memory, op in rows]

    def _shown_of(self, db: sqlite3.Connection, entry: int, places: Collection[int]) -> Mapping[int, Any]:
        """What is shown of the memories at these places; of a large entry only their lines are read."""
        source = self._shelf.source(db, entry, SHOWN)
        if isinstance(source, Path):
            with source.open("rb") as file:
                if file.readline() == _FIRST_LINE:
                    lines = ((n, line) for n, line in enumerate(file) if n in places)
                    return {n: loads(line.rstrip(b",\n").decode("ascii")) for n, line in lines}
        return dict(enumerate(self._shown(db, entry)))

    def _shown(self, db: sqlite3.Connection, entry: int) -> list[Any]:
        text = (self._shelf.get(db, entry, SHOWN) or b"[]").decode("ascii")
        try:
            shown: list[Any] = json.loads(text)
        except RecursionError:
            shown = loads(text)
        return shown

    def _hide(self, db: sqlite3.Connection, entry: int) -> None:
        """Take what is shown of the memories in the table `gone` out of an entry, and what else tells of them."""
        shown = self._shown(db, entry)
        gone = "SELECT place FROM rows WHERE entry = ? AND id IN gone"
        for (place,) in db.execute(gone, (entry,)).fetchall():
            shown[place] = None
        self._shelf.remove(db, entry, SHOWN)
        self._shelf.put(db, entry, SHOWN, _dump(shown).encode("ascii"))
        db.execute(
            "UPDATE entries SET title = action || ': contents removed', detail = '{}' WHERE entry = ?",
            (entry,),
        )


_COLUMNS = tuple(JournalEntry.__slots__)

_ENTRY = f"SELECT {', '.join(_COLUMNS)} FROM entries"


def _entry(row: tuple[Any, ...]) -> JournalEntry:
    values = dict(zip(_COLUMNS, row, strict=True))
    return JournalEntry(**{**values, "detail": json.loads(values["detail"])})


def _dump(value: Any) -> str:
    return dump_json(value, ensure_ascii=True, separators=(",", ":"))


_FIRST_LINE = b"[\n"
"""What a list begins with that has a line for each memory."""


def _shown_lines(changes: Sequence[Change]) -> bytes | Callable[[BinaryIO], None]:
    """What is shown of the changes as one JSON list; of very many a line each, written one by one."""
    if not isinstance(changes, StoredChanges):
        return _dump([[change.before, change.after] for change in changes]).encode("ascii")

    def write(file: BinaryIO) -> None:
        file.write(_FIRST_LINE)
        for n, change in enumerate(changes):
            file.write((",\n" if n else "").encode() + _dump([change.before, change.after]).encode("ascii"))
        file.write(b"\n]")

    return write


# Where the journal of a store is kept.

_ODD = re.compile(r"[^A-Za-z0-9._-]+")


def journal_of(state: Path, uri: str, table: str) -> Path:
    """The journal file of one table below memtui's state folder; the same for every way to write its path."""
    where = uri if "://" in uri else str(Path(uri).resolve())
    digest = hashlib.sha256(f"{where}\n{table}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    name = _ODD.sub("-", where.rstrip("/\\").replace("\\", "/").rpartition("/")[2])[:40] or "store"
    return state / "curate" / f"{name}-{digest}" / "journal.sqlite"


def journal_at_rest(state: Path, uri: str, table: str) -> Journal:
    """The journal of a store below memtui's state folder, only to be read: nothing is made, nothing is written."""
    path = journal_of(state, uri, table)
    return Journal(path, file=FileAtRest(path))
