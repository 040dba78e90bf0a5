"""Nearness in meaning: every row against one vector, and the nearest to one memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memtui.engine.errors import MemtuiError, UsageError
from memtui.engine.memory import Memory
from memtui.engine.progress import CancelToken, OnProgress, Progress
from memtui.engine.store.catalog import Catalog, Mask
from memtui.engine.store.select import positions_of
from memtui.engine.store.words import TextLookup

if TYPE_CHECKING:
    from memtui.engine.store.pin import Pin
    from memtui.engine.store.table import Store

_VECTOR_BYTES = 16 << 20
"""Bytes of vectors that are held at a time."""
_FOLLOWING = 4
"""Neighbours asked for beyond the wanted ones: rows that share an id take places."""

Vector = NDArray[np.float32]
Scores = NDArray[np.float32]
Embed = Callable[[str], Vector]
"""The vector of some words; raises MemtuiError with the reason where there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
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
) -> Ranking:
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
    return Ranking(pin.derived(key, lambda: cosines(pin, catalog, vector, on_progress, cancel)))


def cosines(
    pin: Pin,
    catalog: Catalog,
    vector: Vector,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Scores:
    """The cosine of every row's vector to `vector`: [n] in catalog order, NaN for a row without a usable one."""
    column, dims = str(pin.dialect.columns.vector), pin.dims or 1
    scores = np.full(catalog.n, np.nan, dtype=np.float32)
    wanted = vector.astype(np.float64) / max(float(np.linalg.norm(vector.astype(np.float64))), 1e-300)
    done = 0
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
            on_progress(Progress("Comparing vectors", done, catalog.n))
    scores.setflags(write=False)
    return scores


def _by_words(words: str, store: Store, catalog: Catalog, reason: str, cancel: CancelToken | None) -> Ranking:
    lookup = TextLookup(store, catalog, cancel)
    each = list(dict.fromkeys(words.lower().split()))
    hits = np.zeros(catalog.n, dtype=np.float32)
    for word in each:
        hits[np.unique(lookup.words(word))] += 1
    return Ranking((hits / len(each)).astype(np.float32), hits > 0, f"~ looks for the words: {reason}")


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
