"""One streamed pass over the vectors of a store: finite, long enough, varied, and which are the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.dialects.base import ZERO_NORM

if TYPE_CHECKING:
    from memtui.engine.store.table import Store


BATCH_BYTES = 32 << 20

BLOCK_BYTES = 1 << 20
"""Worked through while it is in the processor's cache: the pass costs little more than reading."""

OFF_UNIT = 1e-3

FLAT = 1e-6
"""Variance of the numbers of a vector below which it says nothing."""

SAME_SHARE = 0.9

_LEAD_NUMBERS = 16
"""64 bytes of each vector decide whether it may equal another."""

_FEWEST = 4

_PAIRS = 12

_SOUGHT_AT_ONCE = 1 << 20

_PRIME = np.uint64(0x9E3779B97F4A7C15)

Rows = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class VectorPass:
    """What the pass saw; rows by their row ids."""

    rows: int
    dims: int
    null: Rows
    wrong_length: Rows
    not_finite: Rows
    zero: Rows
    off_unit: Rows
    constant: Rows
    equal: tuple[Rows, ...]
    """Groups of rows whose vectors have the same first numbers."""
    usable: int
    direction: NDArray[np.float64]
    """Sum of all usable vectors, each of length 1: [dims]."""
    norms: tuple[float, float] = (1.0, 1.0)
    """Shortest and longest usable vector."""


def read_vectors(
    store: Store, on_progress: OnProgress | None = None, cancel: CancelToken | None = None
) -> VectorPass:
    """Read every vector once, in storage order; nothing but row ids and sums is kept."""
    pin = store.pin()
    column, dims = pin.dialect.columns.vector, pin.dims
    assert column is not None
    assert dims is not None
    tally = VectorTally(dims)
    total = pin.count()
    size = int(min(65_536, max(512, BATCH_BYTES // (4 * dims))))
    for batch in pin.scan([column], with_row_id=True, batch_size=size):
        if cancel is not None:
            cancel.check()
        tally.take_column(batch.column(column), batch.column("_rowid").to_numpy())
        if on_progress is not None:
            on_progress(Progress("reading vectors", tally.rows, total))
    return tally.done()


class VectorTally:
    """What is kept of vectors between two batches."""

    def __init__(self, dims: int) -> None:
        self.rows, self.dims, self.usable = 0, dims, 0
        self.null: list[Rows] = []
        self.not_finite: list[Rows] = []
        self.zero: list[Rows] = []
        self.off_unit: list[Rows] = []
        self.constant: list[Rows] = []
        self.hashes: list[NDArray[np.uint64]] = []
        self.hashed: list[Rows] = []
        self.direction = np.zeros(dims, np.float64)
        self.shortest, self.longest = np.inf, 0.0
        self.ones = np.ones(dims, np.float32)
        picks = np.random.default_rng(dims).integers(0, dims, size=(2, _PAIRS))
        self.left, self.right = picks[0], (picks[0] + 1 + picks[1] % max(1, dims - 1)) % dims

    def take_column(self, vectors: Any, row_ids: Rows) -> None:
        """Look at a batch as Arrow has it: a column of lists of `dims` numbers, absent ones and holes included."""
        import pyarrow as pa

        self.rows += len(vectors)
        if vectors.null_count:
            empty = vectors.is_null().to_numpy(zero_copy_only=False)
            self.null.append(row_ids[empty])
            vectors, row_ids = vectors.filter(pa.array(~empty)), row_ids[~empty]
        if vectors.flatten().null_count:
            gaps = vectors.flatten().is_null().to_numpy(zero_copy_only=False)
            holed = gaps.reshape(-1, self.dims).any(axis=1)
            self.not_finite.append(row_ids[holed])
            vectors, row_ids = vectors.filter(pa.array(~holed)), row_ids[~holed]
        numbers = vectors.flatten().to_numpy(zero_copy_only=False).reshape(-1, self.dims)
        self.take(np.asarray(numbers, np.float32), row_ids)

    def take(self, vectors: NDArray[np.float32], row_ids: Rows) -> None:
        """Look at a batch of vectors: float32 [n, dims]."""
        step = max(16, BLOCK_BYTES // (4 * self.dims))
        with np.errstate(all="ignore"):  # numbers of a spoilt file overflow: that is what is looked for
            self._blocks(vectors, row_ids, step)

    def _blocks(self, vectors: NDArray[np.float32], row_ids: Rows, step: int) -> None:
        for start in range(0, len(vectors), step):
            self._block(vectors[start : start + step], row_ids[start : start + step])

    def _block(self, block: NDArray[np.float32], row_ids: Rows) -> None:
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            squares = np.einsum("ij,ij->i", block, block)
            sums = block @ self.ones
        finite = np.isfinite(squares)
        if not finite.all():
            finite |= np.isfinite(block).all(axis=1)  # a square may overflow where the number does not
            self.not_finite.append(row_ids[~finite])
        norms = np.sqrt(squares)
        zero = finite & (norms < ZERO_NORM)
        good = finite & ~zero
        if zero.any():
            self.zero.append(row_ids[zero])
        off = good & (np.abs(norms - 1) > OFF_UNIT)
        if off.any():
            self.off_unit.append(row_ids[off])
        flat = self._flat(block, squares, sums, good)
        if flat.any():
            self.constant.append(row_ids[flat])
        if good.any():
            lengths = norms[good]
            self.shortest = min(self.shortest, float(lengths.min()))
            self.longest = max(self.longest, float(lengths.max()))
            weights = np.zeros(len(norms), np.float32)
            weights[good] = 1 / lengths
            clean = block if good.all() else np.nan_to_num(block, posinf=0, neginf=0)
            self.direction += weights @ clean
            self.usable += int(good.sum())
            keep = good & ~flat
            self.hashes.append(_hash(block[keep]))
            self.hashed.append(row_ids[keep])

    def _flat(self, block: Any, squares: Any, sums: Any, good: Any) -> NDArray[np.bool_]:
        """Rows of one number: hardly any variance, or one value in nine of ten places."""
        if self.dims < _FEWEST:
            return np.zeros(len(block), np.bool_)  # too few numbers to say
        variance = squares / self.dims - (sums / self.dims) ** 2
        scale = np.maximum(squares / self.dims, 1e-30)
        found = good & ((variance < FLAT) & (variance < 1e-3 * scale))
        if self.dims < _LEAD_NUMBERS:
            return np.asarray(found)
        equal = (block[:, self.left] == block[:, self.right]).sum(axis=1) >= _PAIRS // 3
        for at in np.flatnonzero(good & equal & ~found):
            counts = np.unique(block[at], return_counts=True)[1]
            found[at] = counts.max() > SAME_SHARE * self.dims
        return np.asarray(found)

    def done(self) -> VectorPass:
        """The whole of it, equal vectors grouped."""
        hashes, hashed = _taken(self.hashes), _taken(self.hashed)
        return VectorPass(
            rows=self.rows,
            dims=self.dims,
            null=_joined(self.null),
            wrong_length=np.zeros(0, np.uint64),
            not_finite=_joined(self.not_finite),
            zero=_joined(self.zero),
            off_unit=_joined(self.off_unit),
            constant=_joined(self.constant),
            equal=_groups(hashes, hashed),
            usable=self.usable,
            direction=self.direction,
            norms=(float(self.shortest if self.usable else 1), float(self.longest if self.usable else 1)),
        )


def _hash(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    lead = np.ascontiguousarray(vectors[:, :_LEAD_NUMBERS]).view(np.uint32).astype(np.uint64)
    out = np.zeros(len(vectors), np.uint64)
    with np.errstate(over="ignore"):
        for column in range(lead.shape[1]):
            out = (out ^ lead[:, column]) * _PRIME
            out ^= out >> np.uint64(29)
    return out


def _groups(hashes: NDArray[np.uint64], rows: Rows) -> tuple[Rows, ...]:
    """The rows of each hash that comes more than once; only these few are ordered, whatever the table holds."""
    ordered = np.sort(hashes)
    repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    del ordered
    if not len(repeated):
        return ()
    members = np.concatenate(
        [
            start + np.flatnonzero(_among(hashes[start : start + _SOUGHT_AT_ONCE], repeated))
            for start in range(0, len(hashes), _SOUGHT_AT_ONCE)
        ]
    )
    found = hashes[members]
    order = np.argsort(found, kind="stable")
    ends = np.flatnonzero(found[order][1:] != found[order][:-1]) + 1
    return tuple(np.split(rows[members[order]], ends))


def _among(hashes: NDArray[np.uint64], repeated: NDArray[np.uint64]) -> NDArray[np.bool_]:
    at = np.minimum(np.searchsorted(repeated, hashes), len(repeated) - 1)
    return np.asarray(repeated[at] == hashes)


def _taken(parts: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """The parts as one, which are held no more afterwards: of ten million rows that is 80 MB."""
    found = _joined(parts)
    parts.clear()
    return found


def _joined(parts: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    return np.concatenate(parts) if parts else np.zeros(0, np.uint64)
