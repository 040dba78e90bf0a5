"""The vectors of a store on object storage, kept on this machine: a program that starts again does not fetch them.

One file a store, of the newest version that was searched. A later version reads the rows that it wrote: data files
that both have hold the same rows. Vectors tell of the texts they were made of: the files are the person's alone
(0600), `MOST_BYTES` of all stores together, and `Store.drop_kept` removes those of one.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memtui.engine.core.private_file import make_private_folder
from memtui.engine.store.manifests import FRAGMENT_BITS
from memtui.engine.store.vector_matrix import VectorMatrix

if TYPE_CHECKING:
    import pyarrow as pa

MOST_BYTES = 1 << 30
"""Of the files of all stores; those that were not asked for the longest go first."""

_FREE = 4
"""A file is written where so many times its size is free."""

_SUFFIX = ".vectors"

_ABOUT = b"memtui.version"
"""Key in the schema metadata of a file: version, tag and data files, as JSON."""

Files = Mapping[int, tuple[bytes, ...]]


def kept_folder(state: Path) -> Path:
    """Return the folder of the kept vectors, below memtui's state folder."""
    return state / "vectors"


def kept_file(state: Path, uri: str, table: str) -> Path:
    """The file of one store."""
    return kept_folder(state) / (hashlib.sha256(f"{uri}\n{table}".encode()).hexdigest()[:16] + _SUFFIX)


class KeptVectors:
    """The file of one store. What cannot be read or written is as good as not there: nothing depends on it."""

    def __init__(
        self, file: Path, tag: Callable[[int], str], files: Callable[[int], Files], newest: Callable[[], int]
    ) -> None:
        self.file, self._newest = file, newest
        self._tag, self._files = tag, files
        """What tells a version of the table from one of the same number, and its data files by fragment."""

    def newest(self) -> int:
        """The version that is shown: an older one, which is looked at in between, is not kept."""
        return self._newest()

    def holds(self, version: int) -> bool:
        """Whether the file is of this version."""
        import pyarrow as pa

        try:
            with pa.OSFile(str(self.file)) as file, pa.ipc.open_file(file) as reader:
                return self._is_of(version, _about(reader.schema))
        except (OSError, pa.ArrowException):
            return False

    def read(self, version: int) -> VectorMatrix | None:
        """What is kept: of this version whole, of another the rows of data files that both have; else None."""
        import pyarrow as pa

        try:
            with pa.OSFile(str(self.file)) as file, pa.ipc.open_file(file) as reader:
                about, rows = _about(reader.schema), reader.get_batch(0)
            kept = _matrix(rows, version)
        except (OSError, pa.ArrowException, KeyError, ValueError, IndexError, AttributeError):
            return None
        if self._is_of(version, about):
            with suppress(OSError):
                os.utime(self.file)
            return kept
        theirs, ours = _named(about), self._files(version)
        shared = [number for number, files in ours.items() if files and theirs.get(number) == files]
        same = np.isin(kept.addresses >> np.uint64(FRAGMENT_BITS), np.array(shared, np.uint64))
        return kept.of(same, version=-1) if same.any() else None

    def _is_of(self, version: int, about: Mapping[str, object]) -> bool:
        return about.get("version") == version and about.get("tag") == self._tag(version)

    def write(self, matrix: VectorMatrix) -> None:
        """Keep this matrix in place of the one before, where there is room."""
        import pyarrow as pa

        size = matrix.units.nbytes + 20 * len(matrix.addresses)
        writing = self.file.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        try:
            make_private_folder(self.file.parent)
            if size > MOST_BYTES or shutil.disk_usage(self.file.parent).free < _FREE * size:
                return
            writing.touch(mode=0o600)
            files = {
                str(at): [each.hex() for each in named] for at, named in self._files(matrix.version).items()
            }
            about = {"version": matrix.version, "tag": self._tag(matrix.version), "files": files}
            rows = pa.record_batch(
                {
                    "address": matrix.addresses,
                    "row_id": matrix.row_ids,
                    "length": matrix.lengths,
                    "unit": pa.FixedSizeListArray.from_arrays(
                        pa.array(matrix.units.reshape(-1)), matrix.units.shape[1]
                    ),
                }
            )
            rows = rows.replace_schema_metadata({_ABOUT: json.dumps(about).encode()})
            with pa.OSFile(str(writing), "wb") as file, pa.ipc.new_file(file, rows.schema) as writer:
                writer.write_batch(rows)
            writing.replace(self.file)
            _tidy(self.file)
        except (OSError, pa.ArrowException):
            return
        finally:
            with suppress(OSError):
                writing.unlink(missing_ok=True)

    def drop(self) -> None:
        """Keep nothing any more."""
        self.file.unlink(missing_ok=True)


def _about(schema: pa.Schema) -> Mapping[str, object]:
    """What a file says of its version; nothing where it says nothing that can be read."""
    try:
        read = json.loads((schema.metadata or {}).get(_ABOUT, b"null"))
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _matrix(rows: pa.RecordBatch, version: int) -> VectorMatrix:
    """The rows of a file; raises ValueError for what no matrix was written from."""
    units = rows.column("unit")
    found = VectorMatrix(
        version,
        rows.column("address").to_numpy(),
        rows.column("row_id").to_numpy(),
        units.flatten().to_numpy().reshape(len(units), units.type.list_size),
        rows.column("length").to_numpy(),
    )
    if found.units.dtype != np.float32 or not (found.addresses[1:] > found.addresses[:-1]).all():
        raise ValueError("no matrix")
    return found


def _named(about: Mapping[str, object]) -> Files:
    files = about.get("files")
    try:
        return {
            int(at): tuple(bytes.fromhex(each) for each in named)
            for at, named in (files.items() if isinstance(files, dict) else ())
        }
    except (ValueError, TypeError):
        return {}


def kept_vector_bytes(state: Path) -> int:
    """Bytes of the vectors of far stores that are kept on this machine, below memtui's state folder."""
    return sum(size for size, _, _ in _listed(kept_folder(state)))


def drop_kept_vectors(state: Path) -> None:
    """Remove the kept vectors; those of a store are kept again when it is searched."""
    for _, _, path in _listed(kept_folder(state)):
        path.unlink(missing_ok=True)


def _listed(folder: Path) -> list[tuple[int, float, Path]]:
    found = []
    for path in folder.glob(f"*{_SUFFIX}"):
        with suppress(OSError):
            stat = path.stat()
            found.append((stat.st_size, stat.st_mtime, path))
    return found


def _tidy(newest: Path) -> None:
    """Remove files of other stores, those that were not asked for the longest first, until all fit."""
    found = sorted(_listed(newest.parent), key=lambda each: each[1])
    total = sum(size for size, _, _ in found)
    for size, _, path in found:
        if total <= MOST_BYTES:
            return
        if path != newest:
            path.unlink(missing_ok=True)
            total -= size
