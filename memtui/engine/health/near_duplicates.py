"""Memories that say the same: by their text, and by the angle between their vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memtui.engine.catalog.catalog import Catalog, Mask, Positions
from memtui.engine.catalog.select import positions_of
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.text import counted
from memtui.engine.store.far_vectors import all_vectors, fetched_words
from memtui.engine.store.snapshot import WINDOW

if TYPE_CHECKING:
    from memtui.engine.engine import Engine
    from memtui.engine.store.table import Store


FLOOR = 0.9
"""Pairs below this cosine are not kept: a threshold can be moved freely above it."""

DEFAULT = 0.95

LOWEST_FLOOR = 0.7

_MOST_BYTES = 2 << 30

MOST_PAIRS = 5_000_000

_ROWS, _COLUMNS = 256, 8_192
"""A block of the product: 8 MB, small enough to stay near the processor, large enough for its speed."""

_DENSE = 0.02
"""Part of a block's pairs from which on multiplying out all of them costs less than picking those."""

_SAMPLE = 4_096

_WORTH = 1_024
"""Fewer vectors are multiplied out sooner than their strongest directions are found."""

TextVectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Memories that say the same. `ids` begins with the one that counts most: what a merge would keep."""

    ids: tuple[str, ...]
    similarities: tuple[float, ...]
    """Cosine of each to the first; 1.0 where the text is the same word for word."""
    exact: bool
    """All have the same text."""
    scope: str | None

    @property
    def lowest(self) -> float:
        """The similarity of the least similar one to the first."""
        return min(self.similarities)


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """All near pairs of a catalog, found once; `clusters` is quick at any threshold above the floor.

    `left`, `right` are positions in the catalog, each pair once, [pairs]; `similarity` its cosine. Of rows with
    the same text one stands for all in them: `copies` has the others by the one.
    """

    catalog: Catalog = field(repr=False)
    left: Positions
    right: Positions
    similarity: NDArray[np.float32]
    copies: Mapping[int, tuple[int, ...]] = field(repr=False)
    floor: float
    compared: int
    without: int
    """Rows without a usable vector, which were compared by text only."""

    def clusters(self, threshold: float = DEFAULT) -> tuple[Cluster, ...]:
        """Clusters in which every memory is at least so similar to the first, the largest first.

        A memory is in one cluster at most. Raises UsageError for a threshold below the floor.
        """
        if not self.floor <= threshold <= 1:
            raise UsageError(
                f"A likeness of {threshold:g} cannot be asked for: pairs were looked for from {self.floor:g} on.",
                fix=f"Take {self.floor:g} to 1, or search again with a lower minimum similarity.",
            )
        keep = self.similarity >= threshold
        near: dict[int, list[tuple[int, float]]] = {}
        pairs = (self.left[keep].tolist(), self.right[keep].tolist(), self.similarity[keep].tolist())
        for i, j, cosine in zip(*pairs, strict=True):
            near.setdefault(i, []).append((j, cosine))
            near.setdefault(j, []).append((i, cosine))
        taken: set[int] = set()
        found: list[Cluster] = []
        rows = np.array(sorted({*near, *self.copies}), dtype=np.int64)
        for first in _by_weight(self.catalog, rows).tolist():
            if first in taken:
                continue
            others = sorted(
                (each for each in near.get(first, ()) if each[0] not in taken), key=lambda e: -e[1]
            )
            members = [(copy, 1.0) for copy in self.copies.get(first, ())]
            for other, cosine in others:
                members += [(each, cosine) for each in (other, *self.copies.get(other, ()))]
            if members:
                taken.update((first, *(other for other, _ in others)))
                found.append(self._cluster(first, members, exact=not others))
        return tuple(sorted(found, key=lambda each: (-len(each.ids), -each.lowest, each.ids)))

    def _cluster(self, first: int, members: list[tuple[int, float]], *, exact: bool) -> Cluster:
        ids = self.catalog.ids.texts([first, *(at for at, _ in members)])
        scope = self.catalog.scopes[int(self.catalog.scope_codes[first])]
        similarities = (1.0, *(round(cosine, 6) for _, cosine in members))
        return Cluster(tuple(memory_id or "" for memory_id in ids), similarities, exact, scope)


def find_duplicates(
    engine: Engine,
    filter: str = "",
    *,
    floor: float = FLOOR,
    across_scopes: bool = False,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Near:
    """The near pairs among the memories that a filter keeps; see `find_near`. UsageError for one with ~words."""
    from memtui.engine.catalog.views import selection_of

    chosen = selection_of(engine.view, filter, cancel)
    return find_near(
        engine.store,
        chosen.catalog,
        now_ms=engine.now_ms,
        mask=chosen.mask,
        floor=floor,
        across_scopes=across_scopes,
        on_progress=on_progress,
        cancel=cancel,
    )


def find_near(
    store: Store,
    catalog: Catalog,
    *,
    now_ms: int,
    mask: Mask | None = None,
    floor: float = FLOOR,
    across_scopes: bool = False,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Near:
    """All pairs of memories with the same text, or with vectors at a cosine of `floor` or more.

    Only memories that are active and not archived, of `mask` where that is given, within one scope unless
    `across_scopes`: versions of a fact are alike by nature. n rows of d numbers take n²·d/6 multiplications at
    worst. Raises UsageError for a floor that keeps too much, MemtuiError for more vectors than fit.
    """
    if not LOWEST_FLOOR <= floor <= 1:
        raise UsageError(f"The floor is a cosine from {LOWEST_FLOOR:g} to 1.", fix="For example 0.9.")
    found = compared(store, catalog, now_ms=now_ms, mask=mask, across_scopes=across_scopes, cancel=cancel)
    rows, groups, lone = found.rows, found.groups, found.lone
    pin = store.pin(catalog.version)
    pairs: list[tuple[Positions, Positions, NDArray[np.float32]]] = []
    without = 0
    if pin.dims is not None and pin.dialect.columns.vector is not None:
        if len(lone) * pin.dims * 4 > _MOST_BYTES:
            raise MemtuiError(
                f"{counted(len(lone), 'vector')} of {pin.dims} numbers are more than can be compared at once.",
                fix="Filter first, for example by scope, or write a plan for a cluster: memtui duplicates --plan ray",
            )
        vectors, usable = _unit_vectors(store, catalog, lone, on_progress, cancel)
        without = int(np.count_nonzero(~usable))
        parts = list(_by_group(lone[usable], groups))
        total, done = sum(len(part) ** 2 for part in parts), 0
        for part in parts:
            at = np.searchsorted(lone, part)

            def advance(share: float, before: int = done, n: int = len(part)) -> None:
                if on_progress:  # the work grows with the square of a group: told as rows of the whole
                    fraction = (before + share * n * n) / total
                    on_progress(Progress("Comparing memories", int(fraction * len(rows)), len(rows)))

            done += len(part) ** 2
            for i, j, cosine in _near_pairs(vectors[at], floor, advance, cancel):
                pairs.append((part[i], part[j], cosine))
                if sum(len(pair[0]) for pair in pairs) > MOST_PAIRS:
                    raise UsageError(
                        f"More than {MOST_PAIRS:,} pairs are nearer than {floor:g}.",
                        fix="Ask for a higher likeness.",
                    )
    none = np.empty(0, dtype=np.int64)
    left = np.concatenate([none, *(pair[0] for pair in pairs)])
    right = np.concatenate([none, *(pair[1] for pair in pairs)])
    similarity = np.concatenate([none.astype(np.float32), *(pair[2] for pair in pairs)])
    return Near(catalog, left, right, similarity, found.copies, floor, len(rows), without)


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Which memories are compared with which: positions in the catalog."""

    rows: Positions
    groups: NDArray[np.int64]
    """Of each position, what it shares with those that it is compared with."""
    copies: Mapping[int, tuple[int, ...]]
    """As in `Near`."""
    lone: Positions
    """One of each text, ascending: what is compared by its vector."""


def compared(
    store: Store,
    catalog: Catalog,
    *,
    now_ms: int,
    mask: Mask | None,
    across_scopes: bool,
    cancel: CancelToken | None,
) -> Compared:
    """The memories that are active and not archived, those of the same text found; reads every text once."""
    rows = np.flatnonzero(_alive(catalog, now_ms) & (True if mask is None else mask))
    groups = np.zeros(catalog.n, dtype=np.int64) if across_scopes else catalog.scope_codes.astype(np.int64)
    copies = _copies(catalog, rows, groups, _digests(store, catalog, cancel))
    lone = np.setdiff1d(rows, [each for others in copies.values() for each in others])
    return Compared(rows, groups, copies, lone.astype(np.int64))


def _alive(catalog: Catalog, now_ms: int) -> Mask:
    from memtui.engine.core.memory import STATES

    meta = catalog.meta
    if meta is None:
        return np.ones(catalog.n, dtype=np.bool_)
    return np.asarray(meta.active(now_ms) & (meta.state != STATES.index("archived")))


def _digests(store: Store, catalog: Catalog, cancel: CancelToken | None) -> NDArray[np.int64]:
    """A number for each text, surrounding space aside; 0 for a blank one."""
    pin = store.pin(catalog.version)
    column = pin.dialect.columns.text
    digests = np.zeros(catalog.n, dtype=np.int64)
    for batch in pin.read_through([column], rows=WINDOW):
        if cancel:
            cancel.check()
        texts = ((text or "").strip() for text in batch.column(column).to_pylist())
        at = positions_of(catalog, batch.column("_rowid").to_numpy())
        digests[at] = [(hash(text) or 1) if text else 0 for text in texts]
    return digests


def _copies(
    catalog: Catalog, rows: Positions, groups: NDArray[np.int64], digests: NDArray[np.int64]
) -> dict[int, tuple[int, ...]]:
    """The rows that have the text of another in their group, by the one of them that counts most.

    One stands for all: else a thousand copies would make half a million pairs.
    """
    rows = _by_weight(catalog, rows[digests[rows] != 0])
    by_text: dict[tuple[int, int], list[int]] = {}
    _, inverse, sizes = np.unique(digests[rows], return_inverse=True, return_counts=True)
    shared = rows[sizes[inverse] > 1]
    for at, group, digest in zip(
        shared.tolist(), groups[shared].tolist(), digests[shared].tolist(), strict=True
    ):
        by_text.setdefault((group, digest), []).append(at)
    return {same[0]: tuple(same[1:]) for same in by_text.values() if len(same) > 1}


def _unit_vectors(
    store: Store,
    catalog: Catalog,
    rows: Positions,
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> tuple[TextVectors, Mask]:
    """Vectors of length 1 of `rows` (ascending): [n, dims], and which of them are usable."""
    pin = store.pin(catalog.version)
    column, dims = str(pin.dialect.columns.vector), pin.dims or 0
    vectors = np.zeros((len(rows), dims), dtype=np.float32)
    place = np.full(catalog.n, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    held = all_vectors(pin, on_progress, cancel)
    if held is not None:
        at = place[positions_of(catalog, held.row_ids)]
        vectors[at[at >= 0]] = np.nan_to_num(held.units[at >= 0])
    far, done = fetched_words(pin, every=True), 0
    size = max(256, (16 << 20) // (4 * dims))
    for batch in pin.read_through([column], rows=size) if held is None else ():
        if cancel:
            cancel.check()
        if far and on_progress:
            on_progress(Progress(far, done, catalog.n))
        done += batch.num_rows
        array = batch.column(column)
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        at = place[positions_of(catalog, batch.column("_rowid").to_numpy())[valid]]
        flat = array.flatten().to_numpy(zero_copy_only=False).reshape(-1, dims)
        vectors[at[at >= 0]] = flat[at >= 0]
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.linalg.norm(vectors, axis=1)
    usable = np.isfinite(norms) & (norms > 0)
    vectors[usable] /= norms[usable, None]
    return vectors, usable


def _by_group(rows: Positions, groups: NDArray[np.int64]) -> Iterator[Positions]:
    for group in np.unique(groups[rows]).tolist():
        yield rows[groups[rows] == group]


def _near_pairs(
    vectors: TextVectors, floor: float, advance: Callable[[float], None], cancel: CancelToken | None
) -> Iterator[tuple[Positions, Positions, NDArray[np.float32]]]:
    """Every pair i < j with cosine >= floor, in blocks; vectors [n, dims] have length 1.

    cos(x, y) <= x1·y1 + |x2||y2| where x1 are the strongest directions and x2 the rest: a product over a few
    directions rules out nearly all pairs, and only those that are left are multiplied out.
    """
    n = len(vectors)
    short = _shortened(vectors)
    limit = np.float32(floor - 1e-4)  # less what the short product may lose by rounding
    room = np.empty(
        _ROWS * _COLUMNS, dtype=np.float32
    )  # used again for each block: asking for it takes longer
    dense = False
    for row in range(0, n, _ROWS):
        if cancel:
            cancel.check()
        advance(1 - ((n - row) / n) ** 2)  # rows further down have fewer partners left
        for column in range(row, n, _COLUMNS):
            dense = dense and column > row  # asked anew in each row of blocks
            above = _at_least(short if not dense else vectors, row, column, limit, room)
            if not dense and np.count_nonzero(above) > _DENSE * above.size:
                dense = True
                above = _at_least(vectors, row, column, limit, room)
            i, j = np.divmod(np.flatnonzero(above), above.shape[1])  # ten times as fast as nonzero
            i, j = i + row, j + column
            i, j = i[i < j], j[i < j]
            for start in range(0, len(i), 65_536):
                a, b = i[start : start + 65_536], j[start : start + 65_536]
                cosine = np.einsum("nd,nd->n", vectors[a], vectors[b]).astype(np.float32)
                near = cosine >= floor
                if near.any():
                    yield a[near], b[near], np.minimum(cosine[near], np.float32(1))


def _at_least(vectors: TextVectors, row: int, column: int, limit: np.float32, room: TextVectors) -> Mask:
    """Which products of a block are `limit` or more; `room` is overwritten."""
    left, right = vectors[row : row + _ROWS], vectors[column : column + _COLUMNS]
    product = room[: len(left) * len(right)].reshape(len(left), len(right))
    above: Mask = np.matmul(left, right.T, out=product) >= limit
    return above


def _shortened(vectors: TextVectors) -> TextVectors:
    """Each vector in its strongest directions, and the length of the rest: [n, k + 1]."""
    n, dims = vectors.shape
    k = max(8, dims // 6)
    if k + 1 >= dims or n < _WORTH:
        return vectors
    sample = vectors[:: max(1, n // _SAMPLE)]
    _, axes = np.linalg.eigh((sample.T @ sample).astype(np.float64))
    head = vectors @ axes[:, ::-1][:, :k].astype(np.float32)
    rest = np.sqrt(np.maximum(0, 1 - np.einsum("nk,nk->n", head, head)))
    return np.concatenate([head, rest[:, None]], axis=1).astype(np.float32)


def _by_weight(catalog: Catalog, rows: Positions) -> Positions:
    """Those that count most first: tier, importance, uses, then the newest."""
    importance = np.nan_to_num(catalog.importance[rows])
    if catalog.meta is None:
        return rows[np.lexsort((rows, -importance))]
    uses = catalog.meta.access_count[rows].astype(np.int64)
    return rows[np.lexsort((rows, -uses, -importance, catalog.meta.tier[rows]))]
