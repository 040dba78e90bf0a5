"""How alike candidates are: the cosine of every pair of rows that was ever compared, worked out once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memtui.engine.recall.rows import Row, Wide

Square = np.ndarray[tuple[int, int], np.dtype[np.float64]]


class Kin:
    """Cosines between rows with vectors of one length; it grows with the rows it is asked about.

    Kept beside the answers of a recall, so that a change of parameters compares nothing twice. A zero vector is
    alike to none (cosine 0).
    """

    def __init__(self) -> None:
        self._place: dict[Row, int] = {}
        self._units: np.ndarray[tuple[int, int], np.dtype[np.float64]] = np.empty((0, 0))
        self._cosines: Square = np.empty((0, 0))

    def cosines(self, rows: Sequence[Row]) -> Square:
        """[n, n] cosines of `rows`, which all have vectors of the same length."""
        stored = [row.stored or row for row in rows]
        fresh = [row for row in dict.fromkeys(stored) if row not in self._place]
        if fresh:
            self._add(fresh)
        at = np.array([self._place[row] for row in stored], np.int64)
        return self._cosines[np.ix_(at, at)]

    def _add(self, rows: Sequence[Row]) -> None:
        new = np.stack([_unit(row.wide) for row in rows if row.wide is not None])
        known = len(self._place)
        units = np.concatenate([self._units, new]) if known else new
        block = new @ units.T
        grown = np.empty((len(units), len(units)))
        grown[:known, :known] = self._cosines
        grown[known:, :] = block
        grown[:known, known:] = block[:, :known].T
        self._units, self._cosines = units, grown
        self._place = {**self._place, **{row: known + at for at, row in enumerate(rows)}}


def _unit(wide: Wide) -> Wide:
    norm = float(np.sqrt(wide @ wide))
    return wide / norm if norm > 0 else wide
