"""SQLite files of other programs, read beside them without a byte written."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote


@contextmanager
def open_unchanged(path: Path) -> Iterator[sqlite3.Connection]:
    """The database at `path` without a byte written beside it. sqlite3.Error or OSError where it cannot be read.

    A database with a write-ahead log, at rest, is opened as immutable; one with a rollback journal under its own lock,
    since what a writer has half written must not be read. Beside a program that runs, and after one that was killed,
    its log is read through the shared memory that the program made, which stays read-only: no lock that the program
    could meet.
    A log without it is read from a private copy that goes at once. Text that is no UTF-8 is read with U+FFFD in it.
    """
    with _opened(path) as db:
        try:
            yield db
        except (
            UnicodeDecodeError
        ):  # SQLite quotes the damaged name in its message, which Python then cannot decode
            raise sqlite3.DatabaseError("its schema is damaged: a name in it is no text") from None


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    log, shared = path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")
    if log.is_file() and shared.is_file():
        with closing(_connect(path, "mode=ro&readonly_shm=1")) as db:
            yield db
    elif not log.is_file() or not log.stat().st_size:
        options = "mode=ro&immutable=1" if _has_write_ahead_log(path) else "mode=ro"
        with closing(_connect(path, options)) as db:
            yield db
    else:
        with tempfile.TemporaryDirectory(prefix="memtui-") as folder:
            copy = Path(folder) / path.name
            for each in (path, log):
                shutil.copyfile(each, copy.with_name(each.name))
            os.chmod(copy, 0o600)
            with closing(_connect(copy, "mode=rw")) as db:
                yield db


def _has_write_ahead_log(path: Path) -> bool:
    """Whether the database's header says that it is written through a log (sqlite.org/fileformat.html, 1.3.3)."""
    with path.open("rb") as file:
        return file.read(20)[18:20] == b"\x02\x02"


def column_names(db: sqlite3.Connection, table: str) -> tuple[str, ...]:
    """The columns of a table, () where there is no such table."""
    return tuple(row[0] for row in db.execute("SELECT name FROM pragma_table_info(?)", (table,)))


def _connect(path: Path, options: str) -> sqlite3.Connection:
    db = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{options}", uri=True, timeout=5)
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return db
