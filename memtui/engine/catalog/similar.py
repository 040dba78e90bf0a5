"""Nearness in meaning: every row against one vector, and the nearest to one memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from memtui.engine.catalog.catalog import Catalog, Mask
from memtui.engine.catalog.select import positions_of
from memtui.engine.catalog.text_search import TextLookup
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.memory import Memory
from memtui.engine.core.products import row_products
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.store.far_vectors import all_vectors, fetched_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memtui.engine.store.snapshot import Snapshot
    from memtui.engine.store.table import Store
    from memtui.engine.store.vector_matrix import VectorMatrix


_VECTOR_BYTES = 16 << 20
"""Bytes of vectors that are held at a time."""

_FOLLOWING = 4
"""Neighbours asked for beyond the wanted ones: rows that share an id take places."""

Vector = NDArray[np.float32]

Scores = NDArray[np.float32]

Embed = Callable[[str], Vector]
"""The vector of some words; raises MemtuiError with the reason where there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class SimilarityRanking:
    """How near each row is: [n] in catalog order, NaN where unknown.

    `kept` are the rows that belong to the list at all, None for every one. `note` says, where no vector could be
    compared, why and what was done instead.
    """

    scores: Scores
    kept: Mask | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory and the cosine of its vector to another's, -1 to 1."""

    memory: Memory
    similarity: float


def rank(
    words: str,
    store: Store,
    catalog: Catalog,
    embed: Embed | None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> SimilarityRanking:
    """How near each row is to `words`: by the cosine of its vector, without an embedder by the words in its text.

    By words, a row's score is the share of the words that it holds, and rows with none of them are left out.
    """
    pin = store.pin(catalog.version)
    try:
        if embed is None or pin.dims is None:
            raise MemtuiError("These memories have no vectors.")
        vector = np.asarray(embed(words), dtype=np.float32)
        if vector.shape != (pin.dims,):
            raise MemtuiError(
                f"The embedder gives {vector.size} numbers, the vectors of {store.name} have {pin.dims}."
            )
    except MemtuiError as error:
        return _by_words(words, store, catalog, error.message, cancel)
    key = ("cosines", vector.tobytes())
    return SimilarityRanking(pin.derived(key, lambda: cosines(pin, catalog, vector, on_progress, cancel)))


def cosines(
    pin: Snapshot,
    catalog: Catalog,
    vector: Vector,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Scores:
    """The cosine of every row's vector to `vector`: [n] in catalog order, NaN for a row without a usable one."""
    column, dims = str(pin.dialect.columns.vector), pin.dims or 1
    scores = np.full(catalog.n, np.nan, dtype=np.float32)
    wanted = vector.astype(np.float64) / max(float(np.linalg.norm(vector.astype(np.float64))), 1e-300)
    if (held := all_vectors(pin, on_progress, cancel)) is not None:
        scores[positions_of(catalog, held.row_ids)] = row_products(held.units, wanted.astype(np.float32))
        scores.setflags(write=False)
        return scores
    what, done = fetched_words(pin, every=True) or "Comparing vectors", 0
    for batch in pin.read_through([column], rows=max(256, _VECTOR_BYTES // (4 * dims))):
        if cancel:
            cancel.check()
        array = batch.column(column)
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        rows = array.flatten().to_numpy(zero_copy_only=False).reshape(-1, dims).astype(np.float32, copy=False)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found = (rows @ wanted.astype(np.float32)) / np.linalg.norm(rows, axis=1)
        at = positions_of(catalog, batch.column("_rowid").to_numpy()[valid])
        scores[at] = np.where(np.isfinite(found), found, np.nan)
        done += batch.num_rows
        if on_progress:
            on_progress(Progress(what, done, catalog.n))
    scores.setflags(write=False)
    return scores


def _by_words(
    words: str, store: Store, catalog: Catalog, reason: str, cancel: CancelToken | None
) -> SimilarityRanking:
    lookup = TextLookup(store, catalog, cancel)
    each = list(dict.fromkeys(words.lower().split()))
    hits = np.zeros(catalog.n, dtype=np.float32)
    for word in each:
        hits[np.unique(lookup.words(word))] += 1
    return SimilarityRanking(
        (hits / len(each)).astype(np.float32), hits > 0, f"~ looks for the words: {reason}"
    )


def neighbours(store: Store, catalog: Catalog, memory: str, k: int, *, now_ms: int) -> tuple[Neighbour, ...]:
    """The `k` memories whose vectors are nearest to that of `memory`, nearest first; no embedder is needed.

    In all scopes and states, so that a copy in another scope is seen too. Raises UsageError for an id that is not
    there, or a memory without a usable vector.
    """
    pin = store.pin(catalog.version)
    columns = pin.dialect.columns
    if pin.dims is None or columns.vector is None:
        raise UsageError("These memories have no vectors.", fix="Look for words instead.")
    own = pin.rows_by_id([memory], [columns.vector])
    if not own.num_rows:
        raise UsageError(f"No memory has the id {memory!r}.", fix="It may be gone: read the store again.")
    stored: Sequence[float] | None = own.column(columns.vector)[0].as_py()
    vector = np.asarray(stored or (), dtype=np.float32)
    if not vector.size or not np.isfinite(vector).all() or not vector.any():
        raise UsageError("This memory has no usable vector.", fix="Embed it again.")
    found = pin.vector_search(vector.tolist(), k=k + 1 + _FOLLOWING, columns=pin.row_columns)
    distances = found.column("_distance").to_pylist()
    memories = pin.dialect.to_memories(found, now_ms)
    near = [
        Neighbour(each, float(1 - distance))
        for each, distance in zip(memories, distances, strict=True)
        if each.id != memory
    ]
    return tuple(near[:k])


# All vectors of one version in memory, for questions about the whole table: who is nearer than this one?

MOST_BYTES = 1 << 29
"""Vectors above half a gigabyte are read block by block each time instead of being kept."""

BLOCK = 16_384
"""Rows at a time where vectors are not kept."""

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class VectorBlock:
    """Some rows: row ids u64 [n], vectors f32 [n, dims], their lengths f32 [n], and which are vectors at all.

    `usable` is False where the vector is NULL (its numbers here are 0) or not finite.
    """

    row_ids: NDArray[np.uint64]
    vectors: Matrix
    norms: NDArray[np.float32]
    usable: NDArray[np.bool_]


class VectorColumn:
    """The vector column of `pin`. Kept in memory from the first question on, unless it is too large for that."""

    def __init__(self, pin: Snapshot) -> None:
        self.pin = pin
        self._kept: VectorBlock | None = None

    def blocks(
        self,
        on_progress: OnProgress | None = None,
        cancel: CancelToken | None = None,
        metric: Literal["cosine", "l2"] = "cosine",
    ) -> Iterator[VectorBlock]:
        """Every row once, in storage order; far away by cosine out of the vectors in memory, where they fit."""
        dims = self.pin.dims
        if dims is None:
            return
        if self._kept is None and metric == "cosine":
            self._kept = _of_far(all_vectors(self.pin, on_progress, cancel))
        if self._kept is None and self.pin.rows * dims * 4 <= MOST_BYTES:
            self._kept = _joined(list(self._read(on_progress, cancel)), dims)
        if self._kept is not None:
            yield self._kept
        else:
            yield from self._read(on_progress, cancel)

    def _read(self, on_progress: OnProgress | None, cancel: CancelToken | None) -> Iterator[VectorBlock]:
        column = str(self.pin.dialect.columns.vector)
        done = 0
        for batch in self.pin.scan([column], with_row_id=True, batch_size=BLOCK):
            if cancel is not None:
                cancel.check()
            yield _block(batch.column("_rowid"), batch.column(column))
            done += batch.num_rows
            if on_progress is not None:
                what = fetched_words(self.pin, every=True) or "Reading vectors"
                on_progress(Progress(what, done, self.pin.rows))


def _block(row_ids: Any, column: Any) -> VectorBlock:
    usable = column.is_valid().to_numpy(zero_copy_only=False)
    if column.null_count:
        column = column.fill_null([0.0] * column.type.list_size)
    flat = column.flatten().to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
    vectors = flat.reshape(len(column), column.type.list_size)
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return VectorBlock(row_ids.to_numpy(), vectors, norms, usable & np.isfinite(norms))


def _of_far(held: VectorMatrix | None) -> VectorBlock | None:
    """Vectors in memory as a block: rows without a usable one, zero ones too, count as no vectors."""
    if held is None:
        return None
    usable = ~np.isnan(held.lengths)
    norms = np.where(usable, held.lengths, np.float32(0))
    return VectorBlock(held.row_ids, np.nan_to_num(held.units) * norms[:, None], norms, usable)


def _joined(blocks: list[VectorBlock], dims: int) -> VectorBlock:
    if not blocks:
        nothing = np.empty(0, np.float32)
        return VectorBlock(
            np.empty(0, np.uint64), np.empty((0, dims), np.float32), nothing, np.empty(0, np.bool_)
        )
    return VectorBlock(
        np.concatenate([block.row_ids for block in blocks]),
        np.concatenate([block.vectors for block in blocks]),
        np.concatenate([block.norms for block in blocks]),
        np.concatenate([block.usable for block in blocks]),
    )
