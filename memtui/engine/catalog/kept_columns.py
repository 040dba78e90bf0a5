"""The light columns of a store that is far away, kept on this machine for as long as its version is the newest one.

Reading them is the dearest part of opening such a store (62 MB at a million rows), and a version never changes. The
next version reads the rows that it wrote: the data files that both have hold the same rows.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.private_file import make_private_folder
from memtui.engine.store.manifests import FRAGMENT_BITS
from memtui.engine.store.snapshot import BATCH
from memtui.engine.store.vector_matrix import ADDRESS

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    RowIds = np.ndarray[Any, np.dtype[np.uint64]]
    Places = np.ndarray[Any, np.dtype[np.int64]]

    from memtui.engine.store.snapshot import Snapshot
    from memtui.engine.store.table import Store

_KEPT = 3
"""Files of one store: the newest versions that were looked at."""

_FILES = b"memtui.files"
"""Key in the schema metadata of a file; its value names the table's data files at that version."""

MOST_UNREAD = 0.2
"""With more rows than this part of them unknown, all are read: rows one by one cost five times as much as in a row."""

_AT_ONCE = 4_096
"""Rows that are taken at a time."""


def light_batches(store: Store, pin: Snapshot, folder: Path | None) -> Iterator[pa.RecordBatch]:
    """The light columns of all rows at `pin` with `_rowid`: from the file in `folder` if it has them, else read.

    What is read whole of a remote store is kept there, sentinel rows with it, and has `_rowaddr` on object storage; a
    local store is never kept, and its sentinel rows are left out. A file that cannot be used is as good as none.
    """
    if not store.is_far:
        yield from pin.scan(pin.dialect.light, with_row_id=True)
        return
    names = {*pin.dialect.light, *((ADDRESS,) if pin.on_object_storage else ())}
    read = pin.scan_written(sorted(names))
    if folder is None:
        yield from read
        return
    path = _file(store, pin, folder)
    kept = _load(path)
    if kept and names <= {*kept[0].schema.names} and sum(batch.num_rows for batch in kept) == pin.written:
        yield from kept
        return
    files = store.data_files(pin.version) if pin.on_object_storage else {}
    advanced = _advanced(pin, files, path.parent)
    yield from _keeping(read if advanced is None else advanced, path, files)


def is_kept(store: Store, pin: Snapshot, folder: Path | None) -> bool:
    """Whether the columns of `pin` are on this machine already, or need not be."""
    if not store.is_far:
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


def _advanced(
    pin: Snapshot, files: Mapping[int, tuple[bytes, ...]], folder: Path
) -> list[pa.RecordBatch] | None:
    """The columns at `pin`, made of those kept of another version and of the rows that only `pin` has.

    None where nothing is kept that shares enough with it.
    """
    import numpy as np
    import pyarrow as pa

    newest = max(folder.glob("*.arrow"), key=lambda each: each.stat().st_mtime, default=None)
    before = _load(newest) if files and newest is not None else None
    if not before:
        return None
    known = pa.Table.from_batches(before)
    theirs = _files_of(known.schema)
    same = [number for number, named in files.items() if theirs.get(number) == named]
    now = list(pin.scan_written([ADDRESS]))
    if not now or ADDRESS not in known.column_names:
        return None
    here = pa.Table.from_batches(now)
    addresses, row_ids = here.column(ADDRESS).to_numpy(), here.column("_rowid").to_numpy()
    at, old = shared_rows(addresses, known.column(ADDRESS).to_numpy(), same)
    fresh = np.delete(np.arange(len(addresses)), at)
    if len(fresh) > MOST_UNREAD * len(addresses):
        return None
    names = [name for name in known.column_names if name != ADDRESS]
    parts, order = [known.select(names).take(pa.array(old))], [at]
    for start in range(0, len(fresh), _AT_ONCE):
        some = fresh[start : start + _AT_ONCE]
        parts.append(pin.take(row_ids[some].tolist(), pin.dialect.light).select(names))
        order.append(some)
    place = np.argsort(np.concatenate(order), kind="stable")
    whole = pa.concat_tables([part.replace_schema_metadata(None) for part in parts])
    whole = whole.take(pa.array(place)).append_column(ADDRESS, here.column(ADDRESS))
    return list(whole.combine_chunks().to_batches(max_chunksize=BATCH))


def shared_rows(addresses: RowIds, known: RowIds, same: Sequence[int]) -> tuple[Places, Places]:
    """Where the `addresses` stand that `known` has too in one of the files `same`, and where these stand in `known`.

    An address is the number of a fragment and a place in it; row ids may be used where they are addresses.
    """
    import numpy as np

    if not len(known):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    order = np.argsort(known)
    ids = known[order]
    place = np.minimum(np.searchsorted(ids, addresses), len(known) - 1)
    fragments = addresses >> np.uint64(FRAGMENT_BITS)
    at = np.flatnonzero((ids[place] == addresses) & np.isin(fragments, np.array(same, dtype=np.uint64)))
    return at, order[place[at]]


def _files_of(schema: pa.Schema) -> Mapping[int, tuple[bytes, ...]]:
    """The data files of the version that columns were kept of; none where they were kept by an older memtui."""
    try:
        read = json.loads((schema.metadata or {}).get(_FILES, b"{}"))
        return {int(number): tuple(bytes.fromhex(each) for each in named) for number, named in read.items()}
    except (ValueError, AttributeError, TypeError):
        return {}


def _load(path: Path) -> list[pa.RecordBatch] | None:
    import pyarrow as pa

    try:
        with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
            found = [reader.get_batch(at) for at in range(reader.num_record_batches)]
    except (OSError, pa.ArrowException):
        return None
    return found


def _keeping(
    batches: Iterable[pa.RecordBatch], path: Path, files: Mapping[int, tuple[bytes, ...]]
) -> Iterator[pa.RecordBatch]:
    """The batches as they come; when the last has come, they are in the file, else no file is left."""
    import pyarrow as pa

    writing = path.with_suffix(f".{os.getpid()}")
    writer = None
    try:
        make_private_folder(path.parent)
        writing.touch(mode=0o600)
    except OSError:  # no room or no right to keep anything: the list does not depend on it
        yield from batches
        return
    try:
        for batch in batches:
            if writer is None:
                named = {number: [each.hex() for each in several] for number, several in files.items()}
                schema = batch.schema.with_metadata({_FILES: json.dumps(named).encode()})
                writer = pa.ipc.new_file(
                    str(writing), schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
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
