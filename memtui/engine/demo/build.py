"""Making the demo store: from the records to a folder that appears complete or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.demo.folder import (
    GENERATION,
    DemoMark,
    demo_home,
    is_complete,
    read_mark,
    write_mark,
)
from memtui.engine.demo.rows import DAY_MS
from memtui.engine.demo.sessions import write_sessions

if TYPE_CHECKING:
    import pyarrow as pa


_SUFFIX = ".making"

_ABANDONED_S = 3600.0
"""A build takes seconds: whatever lies there for so long was left by a process that died."""

_BATCH = 200
"""Texts embedded between two looks at progress and cancellation."""


def build_demo(
    folder: Path,
    *,
    now_ms: int,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
    furnish: Callable[[Path, int], None] | None = None,
) -> Path:
    """Make the demo store in `folder` and return it; a complete one of this generation is left as it is.

    `now_ms` is rounded down to midnight UTC, and every age counts back from there: the same day gives equal
    rows. The folder appears in one step; before that `furnish` gets it with the midnight, to add to it.
    Raises RefusedError when `folder` holds something else, Cancelled
    when `cancel` was set before the end, MemtuiError when the place cannot be written.
    """
    if is_complete(folder):
        return folder
    if read_mark(folder) is None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RefusedError(
            f"{folder} exists and is not a demo store.", fix="Choose another folder; nothing was changed."
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=_SUFFIX, dir=folder.parent))
        _sweep(folder, making)
        try:
            midnight_ms = now_ms - now_ms % DAY_MS
            _fill(making, midnight_ms, on_progress, cancel or CancelToken())
            if furnish is not None:
                furnish(making, midnight_ms)
            _put(making, folder)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    except OSError as error:
        raise MemtuiError(
            f"The demo store cannot be made in {folder}.",
            fix="Make room there, or check the permissions of the folder.",
            details=str(error),
        ) from error
    return folder


def demo_table(now_ms: int, on_progress: OnProgress | None, cancel: CancelToken) -> pa.Table:
    """All rows of the demo with their vectors, in memtui's own schema, oldest first."""
    import numpy as np
    import pyarrow as pa

    from memtui.engine.demo.content import records
    from memtui.engine.demo.rows import table_rows
    from memtui.engine.dialects.memtui import own_schema
    from memtui.engine.providers.static_embedder import BUNDLED_DIMS, bundled

    def at(done: int) -> None:
        cancel.check()
        if on_progress:
            on_progress(Progress("embedding the demo's memories", done, len(rows)))

    rows = table_rows(records(), now_ms)
    schema = own_schema(BUNDLED_DIMS)
    embedder = bundled()
    vectors = np.zeros((len(rows), BUNDLED_DIMS), dtype=np.float32)
    for start in range(0, len(rows), _BATCH):
        at(start)
        part = rows[start : start + _BATCH]
        vectors[start : start + _BATCH] = embedder.embed_passages([row["text"] for row in part])
    vectors[[n for n, record in enumerate(records()) if record.vector == "zero"]] = 0
    at(len(rows))
    columns = {name: [row[name] for row in rows] for name in schema.names if name != "vector"}
    flat = pa.array(vectors.ravel(), pa.float32())
    columns["vector"] = pa.FixedSizeListArray.from_arrays(flat, BUNDLED_DIMS)
    return pa.table(columns, schema=schema)


def _fill(making: Path, now_ms: int, on_progress: OnProgress | None, cancel: CancelToken) -> None:
    from memtui.engine.store.create import create_own

    table = demo_table(now_ms, on_progress, cancel)
    if on_progress:
        on_progress(Progress("writing the demo store", 0, table.num_rows))
    create_own(making, table)
    cancel.check()
    write_sessions(demo_home(making), now_ms)
    write_mark(making, DemoMark(GENERATION, now_ms, table.num_rows))
    if on_progress:
        on_progress(Progress("writing the demo store", table.num_rows, table.num_rows))


def _put(making: Path, folder: Path) -> None:
    """Rename the finished build into place; another process that was first with the same demo wins."""
    if folder.exists() and not any(folder.iterdir()):
        folder.rmdir()
    if folder.exists():
        if is_complete(folder):
            return
        old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=_SUFFIX, dir=folder.parent))
        folder.replace(old / "old")
        shutil.rmtree(old, ignore_errors=True)
    try:
        making.rename(folder)
    except OSError:  # another process put its folder there between our look and our rename
        if not is_complete(folder):
            raise


def _sweep(folder: Path, making: Path) -> None:
    """Remove what builds that died left beside `folder`; ages by the file system's own clock."""
    now_s = making.stat().st_mtime
    for left in folder.parent.glob(f".{folder.name}.*{_SUFFIX}"):
        if now_s - left.stat().st_mtime > _ABANDONED_S:
            shutil.rmtree(left, ignore_errors=True)
