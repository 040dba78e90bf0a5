"""The file of a journal: SQLite with a write-ahead log, made at the first write, readable by its owner only."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memtui.engine.errors import MemtuiError

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
    """One SQLite file. Every failure becomes a MemtuiError, so that no change is made without a journal."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._open: sqlite3.Connection | None = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """The journal, None while there is none: looking at it does not make it."""
        with self._lock, self._explained():
            yield self._connection() if self._open or self.path.exists() else None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The journal inside a transaction, which an exception takes back."""
        with self._lock, self._explained():
            db = self._connection()
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def fold(self) -> None:
        """Move what the write-ahead log holds into the file."""
        with self._lock, self._explained():
            if self._open is not None:
                self._open.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def shrink(self) -> None:
        """Rewrite the file, so that nothing of what was deleted is left in it."""
        with self._lock, self._explained():
            db = self._connection()
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
            db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=30)
            try:
                self._check_layout(db)
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = FULL")
                db.execute("PRAGMA wal_autocheckpoint = 0")
                db.execute("PRAGMA secure_delete = ON")
                self._prepare(db)
            except BaseException:
                db.close()
                raise
            self._open = db
        return self._open

    def _check_layout(self, db: sqlite3.Connection) -> None:
        if db.execute("PRAGMA user_version").fetchone()[0] not in (0, LAYOUT):
            raise MemtuiError(
                f"The journal {self.path} was written by a newer memtui.",
                fix="Use that version for this store.",
            )

    @staticmethod
    def _prepare(db: sqlite3.Connection) -> None:
        if db.execute("PRAGMA user_version").fetchone()[0] == LAYOUT:
            return
        db.execute("BEGIN IMMEDIATE")
        if not db.execute("PRAGMA user_version").fetchone()[0]:  # unless another memtui was first
            for statement in _SCHEMA:
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {LAYOUT}")
        db.execute("COMMIT")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise MemtuiError(
                f"The journal {self.path} cannot be used: {error}.",
                fix="Without a journal nothing is changed; make room, or check the rights of its folder.",
                details=str(error),
            ) from error
