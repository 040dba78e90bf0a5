"""Where the rows of an entry are kept: small ones in the journal itself, large ones as files beside it.

A change of ten thousand rows holds tens of megabytes of vectors; a plain file takes them several times as fast as
the journal's write-ahead log, and the lock is held meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

from memtui.engine.core.private_file import make_private_folder

if TYPE_CHECKING:
    import pyarrow as pa

LARGE = 1 << 20


class ImageStore(Protocol):
    """Where the rows of entries are kept. All calls inside a transaction of the database."""

    def put(
        self,
        db: sqlite3.Connection,
        entry: int,
        side: str,
        data: bytes | memoryview | Callable[[BinaryIO], None],
    ) -> None:
        """Keep one image."""
        ...

    def sides(self, db: sqlite3.Connection, entry: int) -> Iterator[tuple[str, bytes]]:
        """All images of an entry."""
        ...

    def get(self, db: sqlite3.Connection, entry: int, side: str) -> bytes | None:
        """One image; None when there is none."""
        ...

    def source(self, db: sqlite3.Connection, entry: int, side: str) -> Path | bytes | None:
        """Where one image is read from: its file, or its bytes; None when there is none."""
        ...

    def remove(self, db: sqlite3.Connection, entry: int, side: str | None = None) -> None:
        """Let go of one image, or of all."""
        ...

    def sweep(self, db: sqlite3.Connection) -> None:
        """Remove what no entry knows."""
        ...


class BlobStore:
    """The images of the entries of one journal. All calls inside a transaction of its database."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(
        self,
        db: sqlite3.Connection,
        entry: int,
        side: str,
        data: bytes | memoryview | Callable[[BinaryIO], None],
    ) -> None:
        """Keep one image, given or written by `data` into a file; on disk for good before the transaction ends.

        Raises OSError when there is no room.
        """
        if not callable(data) and len(data) < LARGE:
            db.execute("INSERT OR REPLACE INTO images VALUES (?, ?, ?)", (entry, side, data))
            return
        path = self._path(entry, side)
        make_private_folder(path.parent)
        try:
            with os.fdopen(os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
                if callable(data):
                    data(file)
                else:
                    file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            path.unlink(missing_ok=True)
            raise
        db.execute("INSERT OR REPLACE INTO images VALUES (?, ?, NULL)", (entry, side))

    def sides(self, db: sqlite3.Connection, entry: int) -> Iterator[tuple[str, bytes]]:
        """All images of an entry. Raises OSError when a file is gone."""
        found = db.execute("SELECT side, data FROM images WHERE entry = ?", (entry,)).fetchall()
        for side, data in found:
            yield side, self._path(entry, side).read_bytes() if data is None else data

    def get(self, db: sqlite3.Connection, entry: int, side: str) -> bytes | None:
        """One image, None when there is none of that side."""
        found = self.source(db, entry, side)
        return found.read_bytes() if isinstance(found, Path) else found

    def source(self, db: sqlite3.Connection, entry: int, side: str) -> Path | bytes | None:
        """The file of a large image, the bytes of a small one."""
        found = db.execute("SELECT data FROM images WHERE entry = ? AND side = ?", (entry, side)).fetchone()
        if found is None:
            return None
        data: bytes | None = found[0]
        return self._path(entry, side) if data is None else data

    def remove(self, db: sqlite3.Connection, entry: int, side: str | None = None) -> None:
        """Let go of one image of an entry, or of all."""
        sides = [row[0] for row in db.execute("SELECT side FROM images WHERE entry = ?", (entry,))]
        for each in sides if side is None else [side]:
            db.execute("DELETE FROM images WHERE entry = ? AND side = ?", (entry, each))
            with contextlib.suppress(FileNotFoundError):
                self._path(entry, each).unlink()

    def sweep(self, db: sqlite3.Connection) -> None:
        """Remove files that no entry knows: left by a program that was killed while it wrote one."""
        known = {f"{entry}-{side}.arrow" for entry, side in db.execute("SELECT entry, side FROM images")}
        for path in self._folder.glob("*.arrow"):
            if path.name not in known:
                path.unlink(missing_ok=True)

    def _path(self, entry: int, side: str) -> Path:
        return self._folder / f"{entry}-{side}.arrow"


# Rows as bytes: exact, with vectors and columns that we do not know.


def encode(rows: pa.Table) -> memoryview:
    """The rows as an Arrow stream, uncompressed: vectors do not shrink, and a write must not wait."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return memoryview(sink.getvalue())


def encode_into(file: BinaryIO, rows: pa.RecordBatchReader) -> None:
    """The same of rows that come a batch at a time, into a file."""
    import pyarrow as pa

    with pa.ipc.new_stream(file, rows.schema) as stream:
        for batch in rows:
            stream.write_batch(batch)


def decode(data: bytes) -> pa.Table:
    """The rows that `encode` was given: same schema, same bytes in every value."""
    import pyarrow as pa

    with pa.ipc.open_stream(data) as stream:
        return stream.read_all()


@contextlib.contextmanager
def reading(source: Path | bytes) -> Iterator[pa.RecordBatchReader]:
    """The rows of an image a batch at a time; those of a file are mapped, not read into memory."""
    import pyarrow as pa

    with (
        pa.memory_map(str(source)) if isinstance(source, Path) else pa.BufferReader(source) as file,
        pa.ipc.open_stream(file) as rows,
    ):
        yield rows
