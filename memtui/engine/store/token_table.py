"""A second table, memtui's own, in a folder of its state: for each memory the int8 vectors of its word pieces.

The store itself is never touched. About 4 KB a memory: 33 pieces of 128 bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.store import sql
from memtui.engine.store.lancedb_import import import_lancedb

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TABLE = "token_vectors"

ABOUT = "about.json"

PROJECTION = "projection.npy"


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


class TokenTable:
    """The table in `folder`; see `create` and `open_token_table`."""

    def __init__(self, folder: Path, info: TokenTableInfo, table: Any) -> None:
        self.folder, self.info, self._table = folder, info, table

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
        """The vectors of these memories; ids that have none are left out."""
        import numpy as np

        if not ids:
            return {}
        read = self._table.search().where(sql.is_in("id", ids)).limit(len(ids)).to_arrow()
        names, keys, stored = (read.column(name).to_pylist() for name in ("id", "key", "vectors"))
        shape = (-1, self.info.dims)
        return {
            name: KeptTokens(key, np.frombuffer(vectors, np.int8).reshape(shape))
            for name, key, vectors in zip(names, keys, stored, strict=True)
        }

    def put(self, rows: Mapping[str, KeptTokens]) -> None:
        """Keep the vectors of these memories, in place of those that they had."""
        if rows:
            merge = self._table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            merge.execute(_as_arrow(rows))

    def remove(self, ids: Iterable[str]) -> None:
        """Forget these memories' vectors."""
        names = list(ids)
        for start in range(0, len(names), 500):
            self._table.delete(sql.is_in("id", names[start : start + 500]))

    def settle(self) -> None:
        """Index the ids, and drop what older versions hold: nothing reads them."""
        from datetime import timedelta

        from lancedb.index import BTree

        if self.rows:
            self._table.create_index("id", config=BTree())
        self._table.optimize(cleanup_older_than=timedelta(seconds=1), delete_unverified=False)


def create_token_table(
    folder: Path, info: TokenTableInfo, projection: NDArray[np.float32] | None
) -> TokenTable:
    """An empty table in `folder`, in place of one that is there."""
    import numpy as np

    lancedb = import_lancedb()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    table = lancedb.connect(str(folder)).create_table(TABLE, _as_arrow({}), mode="overwrite")
    (folder / PROJECTION).unlink(missing_ok=True)
    if projection is not None:
        np.save(folder / PROJECTION, projection.astype(np.float32), allow_pickle=False)
    writing = folder / f"{ABOUT}.{os.getpid()}"
    writing.write_text(json.dumps(asdict(info), indent=1) + "\n", encoding="utf-8")
    writing.replace(folder / ABOUT)
    return TokenTable(folder, info, table)


def open_token_table(folder: Path) -> TokenTable | None:
    """The table in `folder`; None where there is none. MemtuiError for one that cannot be read."""
    about = folder / ABOUT
    if not about.is_file():
        return None
    try:
        info = TokenTableInfo(**json.loads(about.read_text(encoding="utf-8")))
        table = import_lancedb().connect(str(folder)).open_table(TABLE)
    except Exception as error:  # lancedb raises many kinds
        raise MemtuiError(
            f"The token vectors in {folder} cannot be read.",
            fix="Make them again: memtui context build.",
            details=str(error),
        ) from error
    return TokenTable(folder, info, table)


def _as_arrow(rows: Mapping[str, KeptTokens]) -> Any:
    import pyarrow as pa

    return pa.table(
        {
            "id": pa.array(list(rows), pa.string()),
            "key": pa.array([each.key for each in rows.values()], pa.binary()),
            "vectors": pa.array([each.matrix.tobytes() for each in rows.values()], pa.large_binary()),
        }
    )
