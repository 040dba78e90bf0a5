"""The light columns of a store that is far away, kept on this machine for as long as its version is the newest one.

Reading them is the dearest part of opening such a store (62 MB at a million rows), and a version never changes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.store.snapshot import Snapshot
    from memtui.engine.store.table import Store

_KEPT = 3
"""Files of one store: the newest versions that were looked at."""


def light_batches(store: Store, pin: Snapshot, folder: Path | None) -> Iterator[pa.RecordBatch]:
    """The light columns of all rows at `pin` with `_rowid`: from the file in `folder` if it has them, else read.

    What is read whole of a remote store is kept there, sentinel rows with it; a local store is never kept, and its
    sentinel rows are left out. A file that cannot be used is as good as none.
    """
    if store.folder is not None:
        yield from pin.scan(pin.dialect.light, with_row_id=True)
        return
    read = pin.scan_written(pin.dialect.light)
    if folder is None:
        yield from read
        return
    path = _file(store, pin, folder)
    kept = _load(path, pin)
    if kept is not None:
        yield from kept
        return
    yield from _keeping(read, path)


def is_kept(store: Store, pin: Snapshot, folder: Path | None) -> bool:
    """Whether the columns of `pin` are on this machine already, or need not be."""
    if store.folder is not None:
        return True
    if folder is None or not any(_of_store(store, pin, folder).glob("*.arrow")):
        return False  # without a request
    return _file(store, pin, folder).is_file()


def _of_store(store: Store, pin: Snapshot, folder: Path) -> Path:
    about = f"{store.uri}\n{store.table_name}\n{list(pin.dialect.light)}"
    return folder / hashlib.sha256(about.encode()).hexdigest()[:16]


def _file(store: Store, pin: Snapshot, folder: Path) -> Path:
    """The file of one version; a table that was made anew has another tag."""
    mark = hashlib.sha256(store.tag(pin.version).encode()).hexdigest()[:16]
    return _of_store(store, pin, folder) / f"{pin.version}-{mark}.arrow"


def _load(path: Path, pin: Snapshot) -> list[pa.RecordBatch] | None:
    import pyarrow as pa

    try:
        with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
            found = [reader.get_batch(at) for at in range(reader.num_record_batches)]
    except (OSError, pa.ArrowException):
        return None
    return found if sum(batch.num_rows for batch in found) == pin.written else None


def _keeping(batches: Iterable[pa.RecordBatch], path: Path) -> Iterator[pa.RecordBatch]:
    """The batches as they come; when the last has come, they are in the file, else no file is left."""
    import pyarrow as pa

    writing = path.with_suffix(f".{os.getpid()}")
    writer = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        writing.touch(mode=0o600)
    except OSError:  # no room or no right to keep anything: the list does not depend on it
        yield from batches
        return
    try:
        for batch in batches:
            if writer is None:
                writer = pa.ipc.new_file(
                    str(writing), batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
                )
            writer.write_batch(batch)
            yield batch
        if writer is not None:
            writer.close()
            writer = None
            writing.replace(path)
            _tidy(path)
    finally:
        if writer is not None:
            writer.close()
        writing.unlink(missing_ok=True)


def _tidy(path: Path) -> None:
    """Remove the files of older versions of the same store."""
    same = sorted(path.parent.glob("*.arrow"), key=lambda each: each.stat().st_mtime)
    for old in same[:-_KEPT]:
        old.unlink(missing_ok=True)
