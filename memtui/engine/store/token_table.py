"""A second table, memtui's own, in a folder of its state: for each memory the int8 vectors of its word pieces.

The store itself is never touched. About 4 KB a memory: 33 pieces of 128 bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.private_file import make_private_folder
from memtui.engine.store import sql
from memtui.engine.store.compact import shrink
from memtui.engine.store.lancedb_import import import_lancedb
from memtui.engine.store.locate import TableLocation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDER = "tokens"
"""Where it stands, beside what else memtui keeps of a store."""

TABLE = "token_vectors"

ABOUT = "about.json"

PROJECTION = "projection.npy"

MOST_BYTES = 32 << 20
"""Of vectors that were read so much is remembered: of some 8,000 memories. A table that fits is read at once."""


@dataclass(frozen=True)
class TokenTableInfo:
    """What the vectors were made with."""

    model: str
    """`TokenModel.name`."""
    folder: str
    """Of the model."""
    dims: int
    """Numbers kept of each piece."""


@dataclass(frozen=True)
class KeptTokens:
    """The vectors of one memory."""

    key: bytes
    """Of the texts that were read; another key: the memory, or the one before it, has changed."""
    matrix: NDArray[np.int8]
    """[pieces, dims]; directions, of length about 127."""


@dataclass(frozen=True)
class _Known:
    """What was read of one version of the table."""

    version: int
    rows: Mapping[str, KeptTokens]
    bytes: int
    whole: bool
    """Whether these are all rows there are."""

    def with_rows(self, read: Mapping[str, KeptTokens], *, whole: bool = False) -> _Known:
        """The same with more rows; only with these where all would be too many."""
        size = sum(each.matrix.nbytes for each in read.values())
        if self.bytes + size > MOST_BYTES:
            return _Known(self.version, read, size, False)
        return _Known(self.version, {**self.rows, **read}, self.bytes + size, whole or self.whole)


class TokenTable:
    """The table in `folder`; see `create` and `open_token_table`."""

    def __init__(self, folder: Path, info: TokenTableInfo, table: Any) -> None:
        self.folder, self.info, self._table = folder, info, table
        self._place = TableLocation(str(folder), TABLE, folder)
        self._seen = self._place.newest_version_file()
        self._known = _Known(int(table.version), {}, 0, False)

    def catch_up(self) -> None:
        """See what others have written since. MemtuiError where it cannot be read."""
        newest = self._place.newest_version_file()  # the library takes some milliseconds to say so
        if newest == self._seen:
            return
        try:
            self._table.checkout_latest()
        except Exception as error:  # lancedb raises many kinds
            raise _unreadable(self.folder, error) from error
        if self._now() != self._known.version:
            self._known = _Known(self._now(), {}, 0, False)
        self._seen = newest

    def _now(self) -> int:
        return int(self._table.version)

    @property
    def rows(self) -> int:
        """Memories that have vectors."""
        return int(self._table.count_rows())

    @property
    def size_bytes(self) -> int:
        """Size of the table's files."""
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())

    def projection(self) -> NDArray[np.float32] | None:
        """[model's dimensions, dims] that shortens the vectors; None where they are kept whole."""
        import numpy as np

        path = self.folder / PROJECTION
        return np.load(path, allow_pickle=False) if path.is_file() else None

    def keys(self) -> dict[str, bytes]:
        """The key of each memory by its id."""
        read = self._table.search().select(["id", "key"]).limit(self.rows or 1).to_arrow()
        return dict(zip(read.column("id").to_pylist(), read.column("key").to_pylist(), strict=True))

    def read(self, ids: Sequence[str]) -> dict[str, KeptTokens]:
        """The vectors of these memories; ids that have none are left out. What was read before is remembered."""
        known = self._known
        if not known.rows and not known.whole and self.size_bytes <= MOST_BYTES:
            known = self._known = known.with_rows(self._read(None), whole=True)
        found = {memory_id: tokens for memory_id in ids if (tokens := known.rows.get(memory_id)) is not None}
        missing = (
            [] if known.whole else [memory_id for memory_id in dict.fromkeys(ids) if memory_id not in found]
        )
        if missing:
            read = self._read(missing)
            self._known = known.with_rows(read)
            found |= read
        return found

    def put(self, rows: Mapping[str, KeptTokens]) -> None:
        """Keep the vectors of these memories, in place of those that they had."""
        if not rows:
            return
        merge = self._table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
        merge.execute(_as_arrow(rows))
        now, known = self._now(), self._known
        alone = now == known.version + 1  # else others have written, too
        self._known = replace(known.with_rows(rows), version=now) if alone else _Known(now, {}, 0, False)

    def remove(self, ids: Iterable[str]) -> None:
        """Forget these memories' vectors."""
        names = list(ids)
        for start in range(0, len(names), 500):
            self._table.delete(sql.is_in("id", names[start : start + 500]))
        self._known = _Known(self._now(), {}, 0, False)

    def purge(self, ids: Iterable[str]) -> None:
        """Remove these memories' vectors for good: no older version and no file keeps them."""
        self.remove(ids)
        shrink(self._table, self._place, str(self.folder), stable_row_ids=False, unverified=False)
        self._known = replace(self._known, version=self._now())

    def _read(self, ids: Sequence[str] | None) -> dict[str, KeptTokens]:
        """The vectors in the table of these memories; of all where it is None."""
        import numpy as np

        query = self._table.search()
        if ids is not None:
            query = query.where(sql.is_in("id", ids))
        read = query.limit(max(1, self.rows if ids is None else len(ids))).to_arrow()
        names, keys, stored = (read.column(name).to_pylist() for name in ("id", "key", "vectors"))
        shape = (-1, self.info.dims)
        return {
            name: KeptTokens(key, np.frombuffer(vectors, np.int8).reshape(shape))
            for name, key, vectors in zip(names, keys, stored, strict=True)
        }

    def settle(self) -> None:
        """Index the ids, and drop what older versions hold: nothing reads them."""
        from datetime import timedelta

        from lancedb.index import BTree

        if self.rows:
            self._table.create_index("id", config=BTree())
        self._table.optimize(cleanup_older_than=timedelta(seconds=1), delete_unverified=False)
        self._known = replace(self._known, version=self._now())


def create_token_table(
    folder: Path, info: TokenTableInfo, projection: NDArray[np.float32] | None
) -> TokenTable:
    """An empty table in `folder`, in place of one that is there."""
    import numpy as np

    lancedb = import_lancedb()
    make_private_folder(folder)
    table = lancedb.connect(str(folder)).create_table(TABLE, _as_arrow({}), mode="overwrite")
    (folder / PROJECTION).unlink(missing_ok=True)
    if projection is not None:
        np.save(folder / PROJECTION, projection.astype(np.float32), allow_pickle=False)
    writing = folder / f"{ABOUT}.{os.getpid()}"
    writing.write_text(json.dumps(asdict(info), indent=1) + "\n", encoding="utf-8")
    writing.replace(folder / ABOUT)
    return TokenTable(folder, info, table)


def made_when(folder: Path) -> tuple[int, int, int] | None:
    """What tells the table in `folder` from one that was made there before or after it; None where there is none."""
    try:
        about = (folder / ABOUT).stat()
    except OSError:
        return None
    return about.st_ino, about.st_size, about.st_mtime_ns


def open_token_table(folder: Path) -> TokenTable | None:
    """The table in `folder`; None where there is none. MemtuiError for one that cannot be read."""
    about = folder / ABOUT
    if not about.is_file():
        return None
    try:
        info = TokenTableInfo(**json.loads(about.read_text(encoding="utf-8")))
        table = import_lancedb().connect(str(folder)).open_table(TABLE)
    except Exception as error:  # lancedb raises many kinds
        raise _unreadable(folder, error) from error
    return TokenTable(folder, info, table)


def _unreadable(folder: Path, error: Exception) -> MemtuiError:
    return MemtuiError(
        f"The token vectors in {folder} cannot be read.",
        fix="Make them again: memtui context build.",
        details=str(error),
    )


def _as_arrow(rows: Mapping[str, KeptTokens]) -> Any:
    import pyarrow as pa

    return pa.table(
        {
            "id": pa.array(list(rows), pa.string()),
            "key": pa.array([row.key for row in rows.values()], pa.binary()),
            "vectors": pa.array([row.matrix.tobytes() for row in rows.values()], pa.large_binary()),
        }
    )
