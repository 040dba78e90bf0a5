"""A re-embedded table against the store that it was made of, and its vectors against ones made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.errors import MemtuiError
from memtui.engine.js import trim
from memtui.engine.progress import CancelToken, OnProgress, Progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from memtui.engine.embed.embedder import Embedder
    from memtui.engine.store.table import Store

SAMPLE = 64
ALIKE = 0.999
"""Cosine of a stored vector and one made anew of the same text by the same model; services round a little."""
_WINDOW = 4_096


class Checked(NamedTuple):
    """What a verification found."""

    sampled: int
    similarity: float
    """The lowest cosine between a stored vector of the sample and one made anew; 1 for an empty sample."""
    found_itself: int
    """How many of the sample are their own nearest neighbour in the new table."""


def verified(
    store: Store,
    made: Store,
    embedder: Embedder,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Checked:
    """Compare every column but the vector row by row, and a sample of the vectors with ones made anew.

    Raises MemtuiError for a difference.
    """
    import numpy as np

    _compare_rows(store, made, on_progress, cancel)
    columns = store.dialect.columns
    sample = _sample(made, str(columns.vector), columns.text)
    texts = [text for text, _ in sample]
    again = embedder.embed_passages(texts) if texts else np.zeros((0, made.dims or 0), np.float32)
    cosines = [_cosine(vector, anew) for (_, vector), anew in zip(sample, again, strict=True)]
    lowest = min(cosines, default=1.0)
    if lowest < ALIKE:
        raise MemtuiError(
            f"A vector of the new table and one made anew of the same text differ (cosine {lowest:.3f}).",
            fix="The service does not answer the same twice; choose another model. Nothing was changed.",
        )
    itself = 0
    for text, vector in sample:
        nearest = made.vector_search(vector.tolist(), k=1, columns=[columns.text])
        itself += nearest.num_rows == 1 and nearest.column(columns.text)[0].as_py() == text
    return Checked(len(sample), lowest, itself)


def _compare_rows(
    store: Store, made: Store, on_progress: OnProgress | None, cancel: CancelToken | None
) -> None:
    """Both tables are read side by side, in the order that they are stored in."""
    names = [name for name in store.columns if name != store.dialect.columns.vector]
    total, done = store.count(), 0
    if made.count() != total:
        raise MemtuiError(
            f"The new table has {made.count():,} rows, the store {total:,}.",
            fix="Try again; nothing was changed.",
        )
    for old, new in zip(_windows(store, names), _windows(made, names), strict=True):
        if not _equal(old, new):
            raise MemtuiError(
                f"Rows {done + 1:,} to {done + old.num_rows:,} of the new table are not those of the store.",
                fix="Nothing was kept; report this.",
            )
        done += old.num_rows
        if on_progress:
            on_progress(Progress("comparing with the store", done, total))
        if cancel is not None:
            cancel.check()


def _windows(store: Store, names: list[str]) -> Iterator[pa.Table]:
    """The rows in storage order, the same number in each window whatever files they lie in."""
    import pyarrow as pa

    parts: list[pa.RecordBatch] = []
    for batch in store.pin().read_through(names, rows=_WINDOW):
        parts.append(batch.select(names))
        if sum(part.num_rows for part in parts) == _WINDOW:
            yield pa.Table.from_batches(parts)
            parts = []
    if parts:
        yield pa.Table.from_batches(parts)


def _equal(old: pa.Table, new: pa.Table) -> bool:
    from memtui.engine.curate.rows import comparable, same

    for a, b in zip(old.columns, new.columns, strict=True):
        if not a.equals(b):  # true of rows with a NaN, too
            pairs = zip(comparable(a.combine_chunks()), comparable(b.combine_chunks()), strict=True)
            if not all(same(x, y) for x, y in pairs):
                return False
    return True


def _sample(store: Store, vector: str, text: str) -> list[tuple[str, NDArray[np.float32]]]:
    """Up to 64 rows with a text, spread evenly over the table."""
    import numpy as np

    step = max(1, store.count() // SAMPLE)
    found: list[tuple[str, NDArray[np.float32]]] = []
    at = 0
    for batch in store.pin().read_through([text, vector], rows=_WINDOW):
        texts = batch.column(text).to_pylist()
        vectors = batch.column(vector)
        for row in range(-at % step, batch.num_rows, step):
            if trim(texts[row] or "") and len(found) < SAMPLE:
                found.append((texts[row], np.asarray(vectors[row].as_py(), dtype=np.float32)))
        at += batch.num_rows
    return found


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    import numpy as np

    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 1.0
