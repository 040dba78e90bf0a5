"""Importance labels and trust tiers of openclaw-mem-engine's rows, a column at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memtui.engine.dialects.importance_labels import (
    IGNORE,
    LABELS,
    MUST,
    MUST_FROM,
    NICE,
    NICE_FROM,
    UNKNOWN,
    label_word,
)
from memtui.engine.dialects.mem_engine import LABEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memtui.engine.catalog.catalog import Catalog


def labels_of(catalog: Catalog) -> NDArray[np.uint8] | None:
    """The label of each row as a place in `LABELS` [n], as its program reads it; None where rows have none.

    Where the stored word is no label, the score decides.
    """
    stored = catalog.labels.get(LABEL)
    if stored is None:
        return None
    score = catalog.importance
    codes = np.full(catalog.n, LABELS.index(UNKNOWN), dtype=np.uint8)
    codes[score < NICE_FROM] = LABELS.index(IGNORE)
    codes[score >= NICE_FROM] = LABELS.index(NICE)
    codes[score >= MUST_FROM] = LABELS.index(MUST)
    words = [label_word(value) for value in stored.values]
    told = np.array([-1 if word is None else LABELS.index(word) for word in words], dtype=np.int16)
    if told.size:
        of_row = told[stored.codes]
        codes[of_row >= 0] = of_row[of_row >= 0]
    return codes
