"""All vectors of one version in memory, for questions about the whole table: who is nearer than this one?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memtui.engine.progress import CancelToken, OnProgress, Progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memtui.engine.store.pin import Pin

MOST_BYTES = 1 << 29
"""Vectors above half a gigabyte are read block by block each time instead of being kept."""
BLOCK = 16_384
"""Rows at a time where vectors are not kept."""

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some rows: row ids u64 [n], vectors f32 [n, dims], their lengths f32 [n], and which are vectors at all.

    `usable` is False where the vector is NULL (its numbers here are 0) or not finite.
    """

    row_ids: NDArray[np.uint64]
    vectors: Matrix
    norms: NDArray[np.float32]
    usable: NDArray[np.bool_]


class Vectors:
    """The vector column of `pin`. Kept in memory from the first question on, unless it is too large for that."""

    def __init__(self, pin: Pin) -> None:
        self.pin = pin
        self._kept: Block | None = None

    def blocks(
        self, on_progress: OnProgress | None = None, cancel: CancelToken | None = None
    ) -> Iterator[Block]:
        """Every row once, in storage order."""
        dims = self.pin.dims
        if dims is None:
            return
        if self._kept is None and self.pin.rows * dims * 4 <= MOST_BYTES:
            self._kept = _joined(list(self._read(on_progress, cancel)), dims)
        if self._kept is not None:
            yield self._kept
        else:
            yield from self._read(on_progress, cancel)

    def _read(self, on_progress: OnProgress | None, cancel: CancelToken | None) -> Iterator[Block]:
        column = str(self.pin.dialect.columns.vector)
        done = 0
        for batch in self.pin.scan([column], with_row_id=True, batch_size=BLOCK):
            if cancel is not None:
                cancel.check()
            yield _block(batch.column("_rowid"), batch.column(column))
            done += batch.num_rows
            if on_progress is not None:
                on_progress(Progress("Reading vectors", done, self.pin.rows))


def _block(row_ids: Any, column: Any) -> Block:
    usable = column.is_valid().to_numpy(zero_copy_only=False)
    if column.null_count:
        column = column.fill_null([0.0] * column.type.list_size)
    flat = column.flatten().to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
    vectors = flat.reshape(len(column), column.type.list_size)
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return Block(row_ids.to_numpy(), vectors, norms, usable & np.isfinite(norms))


def _joined(blocks: list[Block], dims: int) -> Block:
    if not blocks:
        nothing = np.empty(0, np.float32)
        return Block(np.empty(0, np.uint64), np.empty((0, dims), np.float32), nothing, np.empty(0, np.bool_))
    return Block(
        np.concatenate([block.row_ids for block in blocks]),
        np.concatenate([block.vectors for block in blocks]),
        np.concatenate([block.norms for block in blocks]),
        np.concatenate([block.usable for block in blocks]),
    )
