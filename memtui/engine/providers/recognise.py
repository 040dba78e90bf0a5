"""Whether a table's vectors are the bundled model's: shown by embedding some of its texts again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.errors import EmbeddingError, MemtuiError
from memtui.engine.providers.static_embedder import BUNDLED_DIMS, bundled

if TYPE_CHECKING:
    from memtui.engine.store.snapshot import Snapshot


ROWS = 16

SAME = 0.8
"""Another model's vectors are at right angles to ours; a name put before the embedded text costs a little."""


def made_by_bundled(pin: Snapshot) -> bool:
    """Whether at least half of the first rows have vectors that the bundled model gives their texts."""
    if pin.dims != BUNDLED_DIMS:
        return False
    return pin.derived(("made by the bundled model",), lambda: _compare(pin))


def _compare(pin: Snapshot) -> bool:
    import numpy as np

    columns = pin.dialect.columns
    try:
        batch = next(pin.scan([columns.text, str(columns.vector)], batch_size=ROWS), None)
    except MemtuiError:  # what is wrong with the table is for the recall itself to say
        return False
    if batch is None:
        return False
    rows = list(zip(*(batch.column(name).to_pylist()[:ROWS] for name in batch.schema.names), strict=True))
    usable = [(text, vector) for text, vector in rows if text and vector and any(vector)]
    if not usable:
        return False
    try:
        made = bundled().embed_passages([text for text, _ in usable])
    except EmbeddingError:
        return False
    stored = np.array([vector for _, vector in usable], np.float64)
    cosines = (made * stored).sum(axis=1) / np.linalg.norm(stored, axis=1)
    return bool((cosines >= SAME).mean() >= 0.5)
