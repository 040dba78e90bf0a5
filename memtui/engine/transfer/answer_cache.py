"""Answers of a service, kept until they are in the store: what makes a killed run go on, not begin anew."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.private_file import make_private_folder

_ASKED = 1_000
"""Keys in one query."""


class AnswerCache:
    """Keys and answers in one SQLite file, readable by its owner only; other programs may add to it meanwhile."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The answers that are there."""
        return {row[0]: row[1] for row in self._rows("key, answer", keys)}

    def there(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those of the keys that have an answer."""
        return {key for (key,) in self._rows("key", keys)}

    def put(self, answers: Mapping[bytes, bytes]) -> None:
        """Keep answers, on the disk when this returns. Raises MemtuiError when there is no room."""
        try:
            make_private_folder(self.path.parent)
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
        except OSError as error:
            raise self._unkept(error.strerror or str(error)) from error
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", answers.items())
            db.execute("COMMIT")

    def remove(self) -> None:
        """Nothing of it is needed any more; a file that another program has open stays where that is so."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError:
            return

    def _rows(self, columns: str, keys: Sequence[bytes]) -> list[tuple[bytes, ...]]:
        if not self.path.exists():
            return []
        found: list[tuple[bytes, ...]] = []
        with self._open() as db:
            for start in range(0, len(keys), _ASKED):
                part = keys[start : start + _ASKED]
                marks = ",".join("?" * len(part))
                found += db.execute(f"SELECT {columns} FROM kept WHERE key IN ({marks})", part)
        return found

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, isolation_level=None, timeout=30)) as db:
                db.execute("CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, answer BLOB NOT NULL)")
                yield db
        except sqlite3.Error as error:
            raise self._unkept(str(error)) from error

    def _unkept(self, why: str) -> MemtuiError:
        return MemtuiError(
            f"What was made so far cannot be kept in {self.path.parent}: {why.lower()}.",
            fix="Make room there; nothing was written to the store.",
        )


def key_of(text: str) -> bytes:
    """16 bytes that stand for a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
