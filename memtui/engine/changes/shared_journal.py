"""A journal that stands beside a store on object storage, so that every console sees and undoes every change.

The journal is one small SQLite database, held in memory here and as one object there. Each transaction begins with
the object as it is now and ends with a conditional put: where another console was faster the transaction never
happened. Larger images of rows are objects of their own, written once.
"""

from __future__ import annotations

import io
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from memtui.engine.changes.journal import Journal
from memtui.engine.changes.journal_file import JournalError, prepare, transaction
from memtui.engine.core.errors import MemtuiError

if TYPE_CHECKING:
    from memtui.engine.store.object_store import ObjectFolder

OBJECT = "memtui.journal/journal.sqlite"

ROWS = "memtui.journal/rows"

LARGE = 1 << 16
"""Images from this size on are objects of their own: the database is written whole at each change."""


def shared_journal(objects: ObjectFolder, path: Path) -> Journal:
    """The journal beside the store of `objects`. `path` is where this machine's locks and receipts of it stand."""
    return Journal(path, file=_ObjectFile(objects, path), shelf=_ObjectBlobs(objects))


class _ObjectFile:
    """The database as an object; see `journal.JournalFile`, whose part it takes."""

    def __init__(self, objects: ObjectFolder, path: Path) -> None:
        self.path = path
        self._objects = objects
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None
        self._tag: str | None = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """The journal as it is now, None while there is none."""
        with self._lock, self._explained():
            self._pull()
            yield None if self._tag is None else self._db

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The journal inside a transaction, which an exception takes back, and which is there when it ends."""
        with self._lock, self._explained():
            self._pull()
            db = self._db
            assert db is not None
            with transaction(db):
                yield db
            try:
                self._tag = self._objects.put(OBJECT, db.serialize(), tag=self._tag)
            except BaseException:
                self.close()  # what stands in memory never came to be
                raise

    def fold(self) -> None:
        """Nothing stands beside the object."""

    def shrink(self) -> None:
        """Rewrite the object, so that nothing of what was deleted is left in it."""
        with self.writing():
            pass
        with self._lock, self._explained():
            assert self._db is not None
            self._db.execute("VACUUM")
            self._tag = self._objects.put(OBJECT, self._db.serialize(), tag=self._tag)

    def close(self) -> None:
        """Let go of what stands in memory."""
        with self._lock:
            if self._db is not None:
                self._db.close()
            self._db, self._tag = None, None

    def _pull(self) -> None:
        if self._db is not None and self._tag is not None and self._objects.tag(OBJECT) == self._tag:
            return
        found = self._objects.get(OBJECT)
        self.close()
        db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        if found is not None:
            db.deserialize(found[0])
        db.execute("PRAGMA secure_delete = ON")
        prepare(db, self._objects.uri)
        self._db, self._tag = db, None if found is None else found[1]

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise JournalError(
                f"The journal beside {self._objects.uri} cannot be used: {error}.",
                fix="Check the object storage.",
                details=str(error),
            ) from error


class _ObjectBlobs:
    """Images of rows: small ones in the database, large ones as objects; see `blob_store.BlobStore`."""

    def __init__(self, objects: ObjectFolder) -> None:
        self._objects = objects

    def put(
        self,
        db: sqlite3.Connection,
        entry: int,
        side: str,
        data: bytes | memoryview | Callable[[BinaryIO], None],
    ) -> None:
        """Keep one image, given or written by `data` into a file."""
        if callable(data):
            buffer = io.BytesIO()
            data(buffer)
            data = buffer.getvalue()
        if len(data) < LARGE:
            db.execute("INSERT OR REPLACE INTO images VALUES (?, ?, ?)", (entry, side, data))
            return
        self._objects.put_new(_name(entry, side), bytes(data))
        db.execute("INSERT OR REPLACE INTO images VALUES (?, ?, NULL)", (entry, side))

    def sides(self, db: sqlite3.Connection, entry: int) -> Iterator[tuple[str, bytes]]:
        """All images of an entry. Raises MemtuiError when an object is gone."""
        for side, data in db.execute("SELECT side, data FROM images WHERE entry = ?", (entry,)).fetchall():
            yield side, self._read(entry, side) if data is None else data

    def get(self, db: sqlite3.Connection, entry: int, side: str) -> bytes | None:
        """One image, None when there is none of that side."""
        found = db.execute("SELECT data FROM images WHERE entry = ? AND side = ?", (entry, side)).fetchone()
        if found is None:
            return None
        data: bytes = self._read(entry, side) if found[0] is None else found[0]
        return data

    def source(self, db: sqlite3.Connection, entry: int, side: str) -> bytes | None:
        """The bytes of one image."""
        return self.get(db, entry, side)

    def remove(self, db: sqlite3.Connection, entry: int, side: str | None = None) -> None:
        """Let go of one image of an entry, or of all."""
        found = db.execute("SELECT side, data IS NULL FROM images WHERE entry = ?", (entry,)).fetchall()
        for each, outside in found:
            if side in (None, each):
                db.execute("DELETE FROM images WHERE entry = ? AND side = ?", (entry, each))
                if outside:
                    self._objects.delete(_name(entry, each))

    def sweep(self, db: sqlite3.Connection) -> None:
        """Remove objects that no entry knows: left by a program that was killed while it wrote one."""
        known = {_name(entry, side) for entry, side in db.execute("SELECT entry, side FROM images")}
        for name in self._objects.names(ROWS):
            if name not in known:
                self._objects.delete(name)

    def _read(self, entry: int, side: str) -> bytes:
        found = self._objects.get(_name(entry, side))
        if found is None:
            raise MemtuiError(
                f"The rows of entry {entry} are gone from {self._objects.uri}/{ROWS}.",
                fix="Without them it cannot be undone.",
            )
        return found[0]


def _name(entry: int, side: str) -> str:
    return f"{ROWS}/{entry}-{side}.arrow"
