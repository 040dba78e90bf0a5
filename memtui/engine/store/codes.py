"""Texts as small numbers: one dictionary for a column that is read batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memtui.engine.store.catalog import Coded, Codes


class Coder:
    """Collects the codes of a column of `n` rows; at the end the texts stand in the order first met."""

    def __init__(self, n: int) -> None:
        self._codes: Codes = np.zeros(n, dtype=np.uint16)
        self._known: dict[str | None, int] = {}

    def fill(self, at: slice | NDArray[np.int64], column: Any) -> None:
        """The rows `at` hold the texts of an Arrow array (NULL is a value of its own)."""
        encoded = column.dictionary_encode()
        numbers = np.array([self._code(text) for text in encoded.dictionary.to_pylist()], dtype=np.uint32)
        indices = encoded.indices
        if indices.null_count:
            numbers = np.append(numbers, np.uint32(self._code(None)))
            indices = indices.fill_null(len(numbers) - 1)
        if len(indices):
            self._codes[at] = numbers[indices.to_numpy(zero_copy_only=False)]

    def put(self, row: int, text: str | None) -> None:
        """One row holds `text`."""
        code = self._code(text)
        self._codes[row] = code

    def coded(self, order: NDArray[np.int64] | None = None) -> Coded:
        """The finished column, in `order`."""
        return Coded(self._codes if order is None else self._codes[order], tuple(self._known))

    def _code(self, text: str | None) -> int:
        code = self._known.setdefault(text, len(self._known))
        if code > np.iinfo(self._codes.dtype).max:
            self._codes = self._codes.astype(np.uint32)
        return code
