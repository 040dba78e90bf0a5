"""BM25 as LanceDB 0.26 scores it: over the rows of an index, and over rows that it does not hold yet.

Pure functions on numpy arrays. A row's score is the sum over the distinct words of the question of
idf * freq * (k1 + 1) / (freq + k1 * (1 - b + b * length / average length)), with
idf = ln(1 + (rows - rows with the word + 0.5) / (rows with the word + 0.5)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[Any]]


K1, B = 1.2, 0.75


def idf(rows_with: Any, rows: Any) -> Any:
    """How much a word says that stands in `rows_with` of `rows` rows; numbers or arrays."""
    import numpy as np

    return np.log((rows - rows_with + 0.5) / (rows_with + 0.5) + 1.0)


def weight(freqs: Any, lengths: Any, average: Any) -> Any:
    """What a word adds that stands `freqs` times in rows of `lengths` words, before its idf."""
    return freqs * (K1 + 1.0) / (freqs + K1 * (1.0 - B + B * lengths / average))


def beside_index(counts: Numbers, lengths: Numbers, *, rows: int, total: int, rows_with: Numbers) -> Numbers:
    """What each word adds to each row outside the index, float64 [words, rows].

    Read in storage order, as the engine of LanceDB 0.26 does it: each row first adds itself to the statistics of
    the index (`rows`, words in all `total`, `rows_with` of each word, at least 1 once the index holds a row), each
    time that it holds a word as one row more with it; the average length is a whole number, and a row's own length
    is only the number of its words that are in the question. A word counted more often than there are rows adds
    less than nothing. `counts` int [words, rows], `lengths` int [rows].
    """
    import numpy as np

    number = counts.shape[1]
    all_rows = rows + np.arange(1, number + 1)
    average = (total + np.cumsum(lengths)) // all_rows
    with_word = np.maximum(rows_with, min(rows, 1))[:, None] + np.cumsum(counts, axis=1)
    weights = idf(with_word.astype(np.float64), all_rows)
    adds: Numbers = np.where(counts > 0, weights * weight(counts, counts.sum(axis=0), average), 0.0)
    return adds
