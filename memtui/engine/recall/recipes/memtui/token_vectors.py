"""How well each word piece of a question is met by the pieces of a memory that was read with the one before it.

m = sum over question pieces t of r_t * max over memory pieces u of cos(t, u), divided by the sum of r_t, with r_t the
rarity of the piece's word in the scope. As late interaction, with vectors that know their sentence and the turn
before (spec quality 6c, method 3). They stand in a table of memtui's own; what is not there yet is read when it is
needed, and kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.products import all_products
from memtui.engine.recall.candidates import Floats
from memtui.engine.recall.recipes.memtui.late_interaction import Matrix, unit, words_at
from memtui.engine.store.token_table import KeptTokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memtui.engine.providers.token_model import TokenModel
    from memtui.engine.store.token_table import TokenTable

CHUNK = 32
"""Memories read by the model between two looks at whether the recall was cancelled."""


@dataclass(frozen=True)
class MemoryToRead:
    """One memory as the model reads it."""

    id: str
    before: str
    """What was said just before in the same session; empty where nothing was."""
    text: str

    def key(self, model: str) -> bytes:
        """16 bytes that change with the model and with either text."""
        told = "\0".join((model, self.before, self.text)).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(told, digest_size=16).digest()


@dataclass(frozen=True)
class TokenScores:
    """How well memories meet a question, read by the model."""

    tokens: tuple[str, ...]
    """The pieces of the question."""
    rarity: tuple[float, ...]
    """Of the word of each piece in the scope; its weight."""
    cosines: Matrix
    """[n, pieces of the question]: the best with a piece of the memory."""
    fresh: int
    """Memories whose vectors had to be made for this recall."""

    def score(self) -> Floats:
        """m of each memory, [n]."""
        weights = np.array(self.rarity)
        if not weights.sum() > 0:
            return np.zeros(len(self.cosines))
        score: Floats = self.cosines @ weights / weights.sum()
        return score


class TokenReader:
    """The table of token vectors of a store, and the model that they are of."""

    def __init__(self, table: TokenTable, model: TokenModel) -> None:
        self.table, self.model = table, model
        self._projection = table.projection()

    def kept(self, rows: Sequence[MemoryToRead]) -> dict[str, KeptTokens]:
        """The vectors of `rows` made by the model now, shortened, in bytes; not yet in the table."""
        read = self.model.read_many([(row.before, row.text) for row in rows])
        name = self.table.info.model
        return {
            row.id: KeptTokens(row.key(name), in_bytes(shortened(found.matrix, self._projection)))
            for row, found in zip(rows, read, strict=True)
        }

    def scores(
        self,
        question: str,
        rows: Sequence[MemoryToRead],
        *,
        rarity: Callable[[str], float],
        check: Callable[[], None],
    ) -> TokenScores:
        """Compare a question with memories; `check` may raise between two chunks. EmbeddingError as the model."""
        asked = self.model.read(question)
        rated = tuple(rarity(word) if word else 0.0 for word in words_at(question, asked.spans))
        if not any(rated):
            rated = tuple(1.0 for _ in rated)
        name = self.table.info.model
        found = self.table.read([row.id for row in rows])
        missing = [row for row in rows if row.id not in found or found[row.id].key != row.key(name)]
        for start in range(0, len(missing), CHUNK):
            check()
            made = self.kept(missing[start : start + CHUNK])
            found |= made
            with suppress(
                MemtuiError, OSError, RuntimeError, ValueError
            ):  # kept for the next time, if it can be
                self.table.put(made)
        wanted = shortened(asked.matrix, self._projection)
        cosines = best_cosines(wanted, [found[row.id].matrix for row in rows])
        return TokenScores(tuple(asked.tokens), rated, cosines, len(missing))


def shortened(
    matrix: NDArray[np.float32], projection: NDArray[np.float32] | None
) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Rows of length 1 in fewer dimensions; as they are where there is no projection."""
    return unit(matrix if projection is None else matrix @ projection)


def in_bytes(matrix: np.ndarray[Any, np.dtype[np.float32]]) -> NDArray[np.int8]:
    """Rows of length 1 as int8: 127 is 1."""
    rounded: NDArray[np.int8] = np.rint(matrix * 127).astype(np.int8)
    return rounded


def best_cosines(asked: NDArray[np.float32], memories: Sequence[NDArray[np.int8]]) -> Matrix:
    """For each memory and each piece of the question the highest cosine with a piece of the memory; 0 with none."""
    best = np.zeros((len(memories), len(asked)))
    filled = [at for at, pieces in enumerate(memories) if len(pieces)]
    if not filled or not len(asked):
        return best
    flat = unit(np.concatenate([memories[at] for at in filled]).astype(np.float32))
    starts = np.concatenate(([0], np.cumsum([len(memories[at]) for at in filled])[:-1]))
    table = np.minimum(all_products(asked, flat), 1.0)
    best[filled] = np.maximum.reduceat(table, starts, axis=1).T
    return best
