"""All vectors of a table in memory as one matrix: a search is one product, and a new version reads what is new.

The library's own search without an index reads every vector from disk for each question. Rows are known by their
address (fragment and place): files of a table are never rewritten, so an address has one vector for ever.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from memtui.engine.core.products import row_products

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa

    from memtui.engine.dialects.base import Dialect


class Pinned(Protocol):
    """What is read of a version of a table: `Snapshot`."""

    version: int
    dialect: Dialect

    @property
    def dims(self) -> int | None:
        """Numbers in each vector."""

    def scan(
        self,
        columns: Sequence[str],
        *,
        where: str | None = None,
        with_row_id: bool = False,
        batch_size: int = ...,
    ) -> Iterator[pa.RecordBatch]:
        """See `Snapshot.scan`."""

    def take(self, row_ids: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """See `Snapshot.take`."""


MOST_BYTES = 256 << 20
"""Larger tables are searched by the library: 170,000 rows of 384 numbers fit."""

BATCH = 8_192
"""Rows that are read at a time."""

MOST_TAKEN = 0.2
"""With more rows than this part of them unread, all are read of a table far away, where each row costs a request."""

ADDRESS = "_rowaddr"

Addresses = np.ndarray[Any, np.dtype[np.uint64]]

Units = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True, eq=False)
class VectorMatrix:
    """The vectors of one version as rows of length 1, by address in ascending order."""

    version: int
    addresses: Addresses
    row_ids: Addresses
    units: Units
    """[n, dims]; a row without a usable vector is all NaN."""
    lengths: Units
    """[n] of the vectors as stored; NaN without a usable one."""

    def stored(self, row_ids: Sequence[int]) -> dict[int, Units]:
        """The vectors of these rows by row id, but for rounding as they are stored; those without one are left out."""
        wanted = np.asarray(row_ids, np.uint64)
        if not len(self.row_ids) or not wanted.size:
            return {}
        order, ids = self._by_row_id
        place = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
        at = order[place]
        good = (ids[place] == wanted) & ~np.isnan(self.lengths[at])
        found = self.units[at[good]] * self.lengths[at[good], None]
        return dict(zip(wanted[good].tolist(), found, strict=True))

    @cached_property
    def _by_row_id(self) -> tuple[np.ndarray[Any, np.dtype[np.int64]], Addresses]:
        """The places in the order of row ids, and these ids: of some tables they are no addresses."""
        order = np.argsort(self.row_ids, kind="stable")
        return order, self.row_ids[order]

    def of(self, rows: np.ndarray[Any, np.dtype[np.bool_]], version: int) -> VectorMatrix:
        """Some of the rows, under the number of another version."""
        return VectorMatrix(
            version, self.addresses[rows], self.row_ids[rows], self.units[rows], self.lengths[rows]
        )

    def nearest(
        self, question: Units, k: int, among: np.ndarray[Any, np.dtype[np.bool_]] | None
    ) -> NearestRows:
        """The `k` rows with the highest cosine to `question` (any length above 0), the nearest first.

        `among` keeps rows by place, None every one; rows without a vector are never found, and a question without
        a direction finds nothing.
        """
        length = float(np.linalg.norm(question))
        if not length > 0 or not len(self.units):
            return NearestRows(np.empty(0, np.uint64), np.empty(0, np.float32))
        cosines = row_products(self.units, question / np.float32(length))
        usable = ~np.isnan(cosines)
        places = np.flatnonzero(usable if among is None else usable & among)
        if len(places) > k:
            best = np.argpartition(-cosines[places], k - 1)[:k]
            places = np.sort(places[best])
        order = places[np.argsort(-cosines[places], kind="stable")]
        return NearestRows(self.row_ids[order], 1 - cosines[order])


@dataclass(frozen=True, eq=False)
class NearestRows:
    """Rows by their ids, and the cosine distance of each."""

    row_ids: Addresses
    distances: Units


def nearest_in_batches(
    batches: Iterable[tuple[Any, Any]], question: Units, k: int, check: Callable[[], None]
) -> NearestRows:
    """The `k` rows of the highest cosine to `question` out of batches of row ids and vectors, the nearest first.

    The same as `VectorMatrix.nearest` of all of them; no more than a batch and the best so far are held.
    """
    best = NearestRows(np.empty(0, np.uint64), np.empty(0, np.float32))
    length = float(np.linalg.norm(question))
    for row_ids, stored in batches:
        check()
        if not length > 0:
            break
        valid = stored.is_valid().to_numpy(zero_copy_only=False)
        rows = stored.filter(stored.is_valid()).flatten().to_numpy(zero_copy_only=False)
        rows = rows.astype(np.float32, copy=False).reshape(-1, len(question))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
            cosines = (rows @ (question / np.float32(length)) / lengths).astype(np.float32)
        good = np.isfinite(cosines)
        ids = np.concatenate([best.row_ids, row_ids.to_numpy(zero_copy_only=False)[valid][good]])
        distances = np.concatenate([best.distances, 1 - cosines[good]])
        order = np.argsort(distances, kind="stable")[:k]
        best = NearestRows(ids[order], distances[order])
    return best


class KeptFile(Protocol):
    """A file of vectors that outlives the program: `kept_vectors.KeptVectors`."""

    def newest(self) -> int:
        """The version that is shown: an older one, which is looked at in between, is not kept."""

    def holds(self, version: int) -> bool:
        """Whether the file is of this version."""

    def read(self, version: int) -> VectorMatrix | None:
        """What it has of this version, under its number, or of another, under none."""

    def write(self, matrix: VectorMatrix) -> None:
        """Keep this matrix in place of the one before."""

    def drop(self) -> None:
        """Keep nothing any more."""


class MatrixCache:
    """The newest matrix of a table, shared by its versions; used by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: VectorMatrix | None = None
        self.file: KeptFile | None = None
        """Where the matrix is kept of a table on object storage; None for any other, or where nothing is kept."""
        self._asked: tuple[int, tuple[Addresses, Addresses]] | None = None
        self.read = 0
        """Vectors read from the table so far."""

    def matrix(self, pin: Pinned, check: Callable[[], None] = lambda: None) -> VectorMatrix:
        """The matrix of this version, made of the kept one and of what it has not read yet.

        `check` may raise between two batches; nothing is kept of what was read then.
        """
        with self._lock:
            if self._kept is None or self._kept.version != pin.version:
                self._kept = self._advanced(pin, self._at_hand(pin), check)
            return self._kept

    def unread(self, pin: Pinned) -> int:
        """How many vectors of this version would have to be read from the table."""
        with self._lock:
            old = self._at_hand(pin)
            if old is not None and old.version == pin.version:
                return 0
            addresses = self._addresses(pin)[0]
            return (
                len(addresses) if old is None else int(np.count_nonzero(~np.isin(addresses, old.addresses)))
            )

    def _at_hand(self, pin: Pinned) -> VectorMatrix | None:
        """What is in memory, else in the file, of this version or of another; its vectors are as long as these."""
        other = self._kept is None or self._kept.version != pin.version
        if other and self.file is not None and (self._kept is None or self.file.holds(pin.version)):
            self._kept = self.file.read(pin.version) or self._kept
        same = self._kept is not None and self._kept.units.shape[1] == pin.dims
        return self._kept if same else None

    def _addresses(self, pin: Pinned) -> tuple[Addresses, Addresses]:
        """`addressed` of every memory, asked for once of a version."""
        if self._asked is None or self._asked[0] != pin.version:
            self._asked = (pin.version, addressed(pin, None))
        return self._asked[1]

    def _advanced(self, pin: Pinned, old: VectorMatrix | None, check: Callable[[], None]) -> VectorMatrix:
        if old is not None and old.version == pin.version:
            return old
        addresses, row_ids = self._addresses(pin)
        dims = pin.dims or 1
        units = np.full((len(addresses), dims), np.nan, np.float32)
        lengths = np.full(len(addresses), np.nan, np.float32)
        fresh = np.ones(len(addresses), bool)
        if old is not None and len(old.addresses):
            at = np.minimum(np.searchsorted(old.addresses, addresses), len(old.addresses) - 1)
            fresh = old.addresses[at] != addresses
            units[~fresh] = old.units[at[~fresh]]
            lengths[~fresh] = old.lengths[at[~fresh]]
        most = len(fresh) if self.file is None else MOST_TAKEN * len(fresh)
        if fresh.all() or np.count_nonzero(fresh) > most:
            self._fill(pin, addresses, units, lengths, check)
        else:
            self._take(pin, np.flatnonzero(fresh), row_ids, units, lengths, check)
        units.setflags(write=False)
        made = VectorMatrix(pin.version, addresses, row_ids, units, lengths)
        if self.file is not None and made.version >= self.file.newest():
            self.file.write(made)
        return made

    def holds(self, version: int) -> bool:
        """Whether the vectors of this version are on this machine now."""
        kept, file = self._kept, self.file
        return (kept is not None and kept.version == version) or (file is not None and file.holds(version))

    def _fill(
        self, pin: Pinned, addresses: Addresses, units: Units, lengths: Units, check: Callable[[], None]
    ) -> None:
        """Every vector, in the order of the files."""
        column = str(pin.dialect.columns.vector)
        for batch in pin.scan([column, ADDRESS], batch_size=BATCH):
            check()
            places = np.searchsorted(addresses, batch.column(ADDRESS).to_numpy(zero_copy_only=False))
            self._put(batch.column(column), places, units, lengths)

    def _take(
        self,
        pin: Pinned,
        places: Any,
        row_ids: Addresses,
        units: Units,
        lengths: Units,
        check: Callable[[], None],
    ) -> None:
        """The vectors at `places` only."""
        column = str(pin.dialect.columns.vector)
        for start in range(0, len(places), BATCH):
            check()
            part = places[start : start + BATCH]
            table = pin.take(row_ids[part].tolist(), [column])
            got = {int(row): at for at, row in enumerate(table.column("_rowid").to_pylist())}
            here = np.array([at for at in part if int(row_ids[at]) in got], np.int64)
            order = [got[int(row_ids[at])] for at in here]
            self._put(table.take(order).column(column).combine_chunks(), here, units, lengths)

    def _put(self, stored: Any, places: Any, units: Units, into: Units) -> None:
        """Vectors as stored into their places, at length 1, and their lengths."""
        valid = stored.is_valid().to_numpy(zero_copy_only=False)
        flat = stored.flatten().to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
        dims = units.shape[1]
        rows = flat.reshape(-1, dims) if flat.size == valid.sum() * dims else flat.reshape(-1, dims)[valid]
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
        good = (lengths > 0) & np.isfinite(lengths)
        units[places[valid][good]] = rows[good] / lengths[good, None].astype(np.float32)
        into[places[valid][good]] = lengths[good]
        self.read += len(rows)


def addressed(pin: Pinned, where: str | None) -> tuple[Addresses, Addresses]:
    """(addresses in ascending order, their row ids) of the memories that `where` keeps."""
    parts = [
        (
            batch.column(ADDRESS).to_numpy(zero_copy_only=False),
            batch.column("_rowid").to_numpy(zero_copy_only=False),
        )
        for batch in pin.scan([ADDRESS], where=where, with_row_id=True)
    ]
    if not parts:
        return np.empty(0, np.uint64), np.empty(0, np.uint64)
    addresses = np.concatenate([address for address, _ in parts])
    order = np.argsort(addresses, kind="stable")
    return addresses[order], np.concatenate([row for _, row in parts])[order]
