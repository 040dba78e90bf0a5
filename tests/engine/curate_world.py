"""Stores to curate in tests: copies of the recorded ones, the writer's view of a table, a second writer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from memtui.engine.discovery.target import Target
from memtui.engine.discovery.types import FoundStore
from memtui.engine.engine import Engine
from memtui.engine.providers.embedder import Embedder, NoEmbedder
from memtui.engine.store.open import open_store
from tests.conftest import NOW_MS, ROOT

NO_EMBEDDER = NoEmbedder("No embedding provider is configured.", "Configure one.")


class WordEmbedder:
    """Vectors made of the words of a text: the same text always gives the same vector, others give others."""

    def __init__(self, dims: int, name: str = "words") -> None:
        self.name, self.dims = name, dims
        self.calls = 0

    def describe(self) -> str:
        return f"{self.name}, {self.dims} numbers"

    def embed_query(self, text: str) -> Any:
        return self.embed_passages([text])[0]

    def embed_passages(self, texts: Sequence[str]) -> Any:
        self.calls += 1
        rows = [
            np.random.default_rng([len(self.name), *text.encode("utf-8", "replace")]).standard_normal(
                self.dims
            )
            for text in texts
        ]
        made = np.array(rows, dtype=np.float32).reshape(len(texts), self.dims)
        return made / np.linalg.norm(made, axis=1, keepdims=True)


def engine_at(
    folder: Path,
    *,
    embedder: Embedder | NoEmbedder = NO_EMBEDDER,
    writable: bool = True,
    now: Callable[[], int] = lambda: NOW_MS,
    found: FoundStore | None = None,
    **more: Any,
) -> Engine:
    """An engine on the store in `folder`, to change it; its state is kept beside it. `found`: what discovery knows."""
    target = None if found is None else Target(str(folder), folder.name, found=found)
    state = folder.parent / "state"
    return Engine(
        open_store(folder), embedder=embedder, now=now, state=state, writable=writable, target=target, **more
    )


def rows_of(folder: Path, version: int | None = None, *, but: Sequence[str] = ()) -> pa.Table:
    """Every row of the table with all columns, by id, as another program reads it."""
    os.environ["LANCEDB_LOG"] = "error"
    import lancedb

    table = lancedb.connect(folder).open_table("memories")
    if version is not None:
        table.checkout(version)
    rows = table.to_arrow().sort_by("id")
    keep = [value not in set(but) for value in rows.column("id").to_pylist()]
    return rows.filter(pa.array(keep, pa.bool_())).combine_chunks()


def row_of(folder: Path, memory: str) -> dict[str, Any]:
    """One row as plain values; it must be there exactly once."""
    found = [row for row in rows_of(folder).to_pylist() if row["id"] == memory]
    assert len(found) == 1, f"{memory} is there {len(found)} times"
    return found[0]


def version_of(folder: Path) -> int:
    """The newest version of the table."""
    import lancedb

    return int(lancedb.connect(folder).open_table("memories").version)


def same_rows(left: pa.Table, right: pa.Table) -> bool:
    """Equal in every column, vectors bit for bit."""
    if left.schema != right.schema or left.num_rows != right.num_rows:
        return False
    return all(_bits(left.column(name)) == _bits(right.column(name)) for name in left.schema.names)


def _bits(column: Any) -> Any:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if pa.types.is_fixed_size_list(array.type):
        flat = array.flatten().to_numpy(zero_copy_only=False)
        return array.is_valid().to_pylist(), flat.tobytes()
    return array.to_pylist()


def file_formats(folder: Path) -> set[bytes]:
    """The versions that the data files carry at their ends: what an older reader can and cannot open."""
    return {path.read_bytes()[-8:-4] for path in (folder / "memories.lance" / "data").glob("*.lance")}


@contextmanager
def second_writer(
    folder: Path, kind: str = "own-rows", seconds: float = 60
) -> Iterator[subprocess.Popen[str]]:
    """Another program that writes to the same table until the block ends; see `second_writer.py`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.engine.second_writer", str(folder), kind, str(seconds)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env=_environment(),
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline().strip() == "writing"
        yield process
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def _environment() -> Mapping[str, str]:
    return {**os.environ, "LANCEDB_LOG": "error"}
