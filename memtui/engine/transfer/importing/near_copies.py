"""Near copies by meaning: blocks of incoming vectors against blocks of present ones, no index, nothing missed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.engine.core.progress import CancelToken
from memtui.engine.store.row_values import hash64

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Codes = NDArray[np.int64]


BLOCK = 2_048
"""Rows of either side in one product: larger ones are no faster, and the best of each row is looked for at once."""

_WORDS = re.compile(r"\w+")

_FIGURES = re.compile(r"(?<![^\W\d_])[^\W\d_]*+\d[^\W_]*+(?:[.,:]\d++)*+")
"""Begins where no letter stands before it and never goes back: a run of a million letters is read once."""


@dataclass(frozen=True, slots=True)
class VectorChunk:
    """Some present rows: unit vectors float32 [n, dims], codes of their scopes, places.

    `kinds` gives the codes (see `kind_of`) of some of them: of the few that anything comes near to.
    """

    vectors: Vectors
    scopes: Codes
    kinds: Callable[[Codes], Codes]
    places: Codes


class Nearest:
    """For each incoming row the nearest present one of its scope, as far as it is near enough.

    `place` and `cosine` are those of the nearest of the same kind, a copy; `rival` and `rival_cosine` those of
    the nearest of another kind, which says nearly the same with other figures. -1 and 0 where there is none.
    Vectors need not have unit length; those of zeros are near nothing.
    """

    def __init__(self, vectors: Vectors, scopes: Codes, kinds: Codes, threshold: float) -> None:
        import numpy as np

        n = len(vectors)
        self._unit = unit(vectors)
        self._scopes, self._kinds = scopes, kinds
        self._threshold = np.float32(threshold)
        self.place: Codes = np.full(n, -1, dtype=np.int64)
        self.rival: Codes = np.full(n, -1, dtype=np.int64)
        self.cosine: NDArray[np.float32] = np.zeros(n, dtype=np.float32)
        self.rival_cosine: NDArray[np.float32] = np.zeros(n, dtype=np.float32)

    def compare(self, present: VectorChunk, cancel: CancelToken | None = None) -> None:
        """Look at some present rows."""
        import numpy as np

        for start in range(0, len(self._unit), BLOCK):
            if cancel is not None:
                cancel.check()
            mine = self._unit[start : start + BLOCK]
            for at in range(0, len(present.vectors), BLOCK):
                product = mine @ present.vectors[at : at + BLOCK].T
                rows = np.flatnonzero(product.max(axis=1) >= self._threshold)
                if rows.size:
                    near = np.flatnonzero(product[rows].max(axis=0) >= self._threshold)
                    self._keep(product[np.ix_(rows, near)], rows + start, present, at + near)

    def _keep(self, product: Vectors, rows: Codes, present: VectorChunk, at: Codes) -> None:
        in_scope = self._scopes[rows][:, None] == present.scopes[at][None, :]
        alike = self._kinds[rows][:, None] == present.kinds(at)[None, :]
        places = present.places[at]
        self._best(product, in_scope & alike, rows, places, self.place, self.cosine)
        self._best(product, in_scope & ~alike, rows, places, self.rival, self.rival_cosine)

    def _best(
        self,
        product: Vectors,
        counts: NDArray[np.bool_],
        rows: Codes,
        places: Codes,
        found: Codes,
        cosines: NDArray[np.float32],
    ) -> None:
        import numpy as np

        product = np.where(counts, product, np.float32(-1))
        best = product.argmax(axis=1)
        cosine = product[np.arange(len(rows)), best]
        better = (cosine >= self._threshold) & (cosine > cosines[rows])
        found[rows[better]] = places[best[better]]
        cosines[rows[better]] = cosine[better]


def within(
    vectors: Vectors, kinds: Codes, threshold: float, cancel: CancelToken | None = None
) -> tuple[Codes, NDArray[np.float32]]:
    """For each row the first earlier one of the same kind that it is a near copy of: (place or -1, cosine).

    Greedy in order: a row that is a copy itself is no original for later ones.
    """
    import numpy as np

    rows = unit(vectors)
    place: Codes = np.full(len(rows), -1, dtype=np.int64)
    cosine: NDArray[np.float32] = np.zeros(len(rows), dtype=np.float32)
    for start in range(0, len(rows), BLOCK):
        if cancel is not None:
            cancel.check()
        end = min(start + BLOCK, len(rows))
        originals = np.flatnonzero(place[:start] < 0)
        for at in range(0, len(originals), BLOCK):
            part = originals[at : at + BLOCK]
            product = rows[start:end] @ rows[part].T
            for row in np.flatnonzero(product.max(axis=1) >= threshold).tolist():
                hit = np.flatnonzero((product[row] >= threshold) & (kinds[part] == kinds[start + row]))
                if hit.size and place[start + row] < 0:
                    place[start + row], cosine[start + row] = part[hit[0]], product[row, hit[0]]
        product = np.tril(rows[start:end] @ rows[start:end].T, -1)
        for row in np.flatnonzero(product.max(axis=1) >= threshold).tolist():
            if place[start + row] >= 0:
                continue
            hit = np.flatnonzero((product[row] >= threshold) & (kinds[start:end] == kinds[start + row]))
            hit = hit[place[start + hit] < 0]
            if hit.size:
                place[start + row], cosine[start + row] = start + hit[0], product[row, hit[0]]
    return place, cosine


def unit(vectors: Vectors) -> Vectors:
    """Vectors of length 1, float32; those of zeros stay zeros."""
    import numpy as np

    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    lengths[lengths == 0] = 1
    found: Vectors = (vectors / lengths[:, None]).astype(np.float32)
    return found


def block(vectors: Vectors, scopes: Codes, kinds: Callable[[Codes], Codes], places: Codes) -> VectorChunk:
    """Some rows as a block; their vectors need not have unit length."""
    return VectorChunk(unit(vectors), scopes, kinds, places)


def kind_of(text: str) -> int:
    """What two texts must share to be copies: every number, time and code in them.

    "The standup is at 9:30" is no copy of "The standup is at 10:00", however near their vectors are.
    """
    return hash64("\0".join(sorted(_FIGURES.findall(text))))


def words_of(text: str) -> int:
    """What two texts of one source must share to be copies: all their words, whatever the order and the signs."""
    return hash64("\0".join(sorted(set(_WORDS.findall(text.casefold())))))
