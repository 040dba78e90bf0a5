"""The database of a journal: one SQLite file with a write-ahead log, readable by its owner only."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol
from weakref import WeakValueDictionary

from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.core.private_file import make_private_folder

LAYOUT = 1

_SCHEMA = (
    """CREATE TABLE entries (
        entry INTEGER PRIMARY KEY AUTOINCREMENT,
        time_ms INTEGER NOT NULL,
        action TEXT NOT NULL,
        title TEXT NOT NULL,
        state TEXT NOT NULL,
        rows INTEGER NOT NULL,
        version_before INTEGER NOT NULL,
        version_after INTEGER,
        undoes INTEGER,
        detail TEXT NOT NULL
    )""",
    """CREATE TABLE rows (
        entry INTEGER NOT NULL,
        place INTEGER NOT NULL,
        id TEXT NOT NULL,
        op TEXT NOT NULL,
        PRIMARY KEY (entry, place)
    ) WITHOUT ROWID""",
    "CREATE INDEX rows_by_id ON rows (id)",
    """CREATE TABLE images (
        entry INTEGER NOT NULL,
        side TEXT NOT NULL,
        data BLOB,
        PRIMARY KEY (entry, side)
    )""",
)


class JournalFile:
    """One SQLite file. Every failure becomes a MemtuiError, so that no change is made without a journal.

    All objects for one path share one connection, whoever opened the store twice: see `_Shared`. A closed one opens
    again when it is used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._shared: _Shared | None = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """The journal, None while there is none: looking at it does not make it."""
        shared = self._joined()
        with shared.lock, self._explained():
            yield shared.connection() if shared.is_open() or self.path.exists() else None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The journal inside a transaction, which an exception takes back."""
        shared = self._joined()
        with shared.lock, self._explained():
            db = shared.connection()
            with transaction(db):
                yield db

    def fold(self) -> None:
        """Move what the write-ahead log holds into the file."""
        shared = self._joined()
        with shared.lock, self._explained():
            if shared.is_open():
                shared.connection().execute("PRAGMA wal_checkpoint(PASSIVE)")

    def shrink(self) -> None:
        """Rewrite the file, so that nothing of what was deleted is left in it."""
        shared = self._joined()
        with shared.lock, self._explained():
            db = shared.connection()
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Let go of the file; the last user in this process closes it."""
        self._shared = None

    def _joined(self) -> _Shared:
        shared = self._shared
        if shared is None:
            shared = self._shared = _shared(self.path)
        return shared

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise JournalError(
                f"The journal {self.path} cannot be used: {error}.",
                fix="Make room, or check the permissions of its folder.",
                details=str(error),
            ) from error


class JournalError(MemtuiError):
    """The journal cannot be read or written. Whether the table was changed meanwhile, it does not say."""


class _Shared:
    """The one connection of this process to one journal; closed when the last `JournalFile` lets go of it.

    POSIX gives locks to the process, not to the handle: closing any handle of the file drops the locks of every
    other, SQLite's too, and then another process takes itself for the last one and removes the log that we write
    to (https://sqlite.org/howtocorrupt.html, section 2.2). So nothing but SQLite ever opens a file that is there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = threading.RLock()
        self._open: sqlite3.Connection | None = None
        self._inode = -1

    def is_open(self) -> bool:
        """Whether it is open; a file that was removed or put in its place meanwhile is let go of."""
        if self._open is not None and self._inode != _inode(self.path):
            self.close()
        return self._open is not None

    def connection(self) -> sqlite3.Connection:
        """The open file; made when it is not there."""
        if not self.is_open():
            make_private_folder(self.path.parent)
            with _OPENING:
                self._make()
                db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=30)
            try:
                check_layout(db, str(self.path))
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = FULL")
                db.execute("PRAGMA wal_autocheckpoint = 0")
                db.execute("PRAGMA secure_delete = ON")
                prepare(db, str(self.path))
            except BaseException:
                db.close()
                raise
            self._open, self._inode = db, _inode(self.path)
        assert self._open is not None
        return self._open

    def close(self) -> None:
        """Close the file."""
        with self.lock:
            if self._open is not None:
                self._open.close()
                self._open = None

    def __del__(self) -> None:
        self.close()

    def _make(self) -> None:
        """An empty file that only its owner may read, unless there is one: that is left to SQLite alone."""
        if self.path.is_symlink() and not self.path.exists():
            raise RefusedError(
                f"{self.path} is a link to what is not there.",
                fix="Remove the link: a journal is made in its place, and never where somebody's link points.",
            )
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


_OPENING = threading.Lock()

_SHARED: WeakValueDictionary[Path, _Shared] = WeakValueDictionary()
"""The connections of this process, by resolved path. Global, because the locks are the process's."""


def _shared(path: Path) -> _Shared:
    real = path.parent.resolve() / path.name
    with _OPENING:
        found = _SHARED.get(real)
        if found is None:
            found = _SHARED[real] = _Shared(real)
        return found


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return -1


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """A transaction that waits for other writers first, and which an exception takes back."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def check_layout(db: sqlite3.Connection, where: str) -> None:
    """Raise MemtuiError for a journal of a layout that this program does not know."""
    if db.execute("PRAGMA user_version").fetchone()[0] not in (0, LAYOUT):
        raise MemtuiError(
            f"The journal {where} was written by a newer memtui.", fix="Use that version for this store."
        )


def prepare(db: sqlite3.Connection, where: str) -> None:
    """Make the tables of an empty journal. Raises MemtuiError for a layout that this program does not know."""
    check_layout(db, where)
    if db.execute("PRAGMA user_version").fetchone()[0] == LAYOUT:
        return
    db.execute("BEGIN IMMEDIATE")
    if not db.execute("PRAGMA user_version").fetchone()[0]:  # unless another memtui was first
        for statement in _SCHEMA:
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {LAYOUT}")
    db.execute("COMMIT")


class FileAtRest:
    """A journal's file, only read: nothing is made beside it, and no byte of file or log is written.

    A log that another process keeps beside it is read along, as one more of its readers.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """The journal as its file has it; None while there is none."""
        if not self.path.exists():
            yield None
            return
        log = self.path.with_name(f"{self.path.name}-wal")
        try:
            alone = "" if log.exists() and log.stat().st_size else "&immutable=1"
            with contextlib.closing(
                sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro{alone}", uri=True)
            ) as db:
                check_layout(db, str(self.path))
                yield db
        except (sqlite3.Error, OSError) as error:
            raise JournalError(
                f"The journal {self.path} cannot be read: {error}.",
                fix="Check the permissions of its folder.",
                details=str(error),
            ) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Never: RefusedError."""
        raise RefusedError(f"The journal {self.path} was opened to be read.", fix="Nothing was changed.")
        yield

    def fold(self) -> None:
        """Nothing was written."""

    def shrink(self) -> None:
        """Nothing was written."""

    def close(self) -> None:
        """Nothing is held between two looks."""


class JournalDatabase(Protocol):
    """Where a journal's database stands: a file of this machine, or an object beside the store."""

    path: Path

    def reading(self) -> AbstractContextManager[sqlite3.Connection | None]:
        """The database as it is now; None while there is none."""
        ...

    def writing(self) -> AbstractContextManager[sqlite3.Connection]:
        """The database inside a transaction, kept for good when the block ends."""
        ...

    def fold(self) -> None:
        """Do what may be left for after a change."""
        ...

    def shrink(self) -> None:
        """Leave no byte of what was deleted."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...
