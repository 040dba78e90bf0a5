"""Products of small matrices on the thread that asks for them.

numpy hands products to a BLAS that wakes a thread for each core as soon as some ten thousand numbers are multiplied.
For what a recall compares, waiting for these threads costs many times the product, and on a busy machine tens of
milliseconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

AT_ONCE = 200_000
"""Multiplications in one product: so few are not shared out (OpenBLAS does from 262,144 on)."""


def row_products(matrix: NDArray[Any], vector: NDArray[Any]) -> NDArray[Any]:
    """The product of each row of `matrix` [n, d] with `vector` [d]."""
    found: NDArray[Any] = np.vecdot(matrix, vector)
    return found


def all_products(few: NDArray[Any], many: NDArray[Any]) -> NDArray[Any]:
    """The product of each row of `few` [a, d] with each of `many` [b, d]: [a, b]."""
    found = np.empty((len(few), len(many)), np.result_type(few, many))
    turned, step = few.T, max(1, AT_ONCE // max(1, few.size))
    for start in range(0, len(many), step):
        found[:, start : start + step] = (many[start : start + step] @ turned).T
    return found


def unit(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length 1; a zero row stays zero."""
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))[:, None]
    unit_rows: NDArray[np.float32]
    unit_rows = np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0)
    return unit_rows
