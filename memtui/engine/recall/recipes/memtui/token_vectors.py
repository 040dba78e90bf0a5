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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from memtui.engine.core.errors import EmbeddingError, MemtuiError
from memtui.engine.core.products import all_products, unit
from memtui.engine.providers.token_model import TokenModel
from memtui.engine.recall.candidates import Floats
from memtui.engine.recall.recipes.memtui.late_interaction import KEPT, Matrix, words_at
from memtui.engine.store.token_table import KeptTokens, TokenTable, made_when, open_token_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = 32
"""Memories read by the model between two looks at whether the recall was cancelled."""


class MemoryToRead(NamedTuple):
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
    question: NDArray[np.float32]
    """Of each of its pieces the vector, shortened."""

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
        self._keys: dict[MemoryToRead, bytes] = {}

    def kept(self, rows: Sequence[MemoryToRead]) -> dict[str, KeptTokens]:
        """The vectors of `rows` made by the model now, shortened, in bytes; not yet in the table."""
        read = self.model.read_many([(row.before, row.text) for row in rows])
        return {
            row.id: KeptTokens(self._key(row), in_bytes(shortened(found.matrix, self._projection)))
            for row, found in zip(rows, read, strict=True)
        }

    def scores(
        self,
        question: str,
        rows: Sequence[MemoryToRead],
        *,
        rarity: Callable[[str], float],
        check: Callable[[], None],
        like: TokenScores | None = None,
    ) -> TokenScores:
        """Compare a question with memories; `check` may raise between two chunks. EmbeddingError as the model.

        `like` are scores of the same question, which need not be read again.
        """
        if like is None:
            asked = self.model.read(question)
            rated = tuple(rarity(word) if word else 0.0 for word in words_at(question, asked.spans))
            if not any(rated):
                rated = tuple(1.0 for _ in rated)
            read = shortened(asked.matrix, self._projection)
            like = TokenScores(tuple(asked.tokens), rated, np.empty((0, len(read))), 0, read)
        found = self.table.read([row.id for row in rows])
        missing = [row for row in rows if row.id not in found or found[row.id].key != self._key(row)]
        for start in range(0, len(missing), CHUNK):
            check()
            made = self.kept(missing[start : start + CHUNK])
            found |= made
            with suppress(
                MemtuiError, OSError, RuntimeError, ValueError
            ):  # kept for the next time, if it can be
                self.table.put(made)
        cosines = best_cosines(like.question, [found[row.id].matrix for row in rows])
        return replace(like, cosines=cosines, fresh=len(missing))

    def _key(self, row: MemoryToRead) -> bytes:
        key = self._keys.get(row)
        if key is None:
            if len(self._keys) > KEPT:
                self._keys.clear()
            key = self._keys[row] = row.key(self.table.info.model)
        return key


class TokensAtHand:
    """The token vectors of one store: opened when they are first asked for, and again when they were made anew."""

    def __init__(self, place: Path | None) -> None:
        self._place = place
        self._open: tuple[tuple[int, int, int], TokenReader] | None = None

    def __call__(self) -> TokenReader | None:
        """The reader, with what others have written since; None where none were made.

        EmbeddingError where the model is not there or another one, MemtuiError for a table that cannot be read.
        """
        made = None if self._place is None else made_when(self._place)
        if self._place is None or made is None:
            self._open = None
            return None
        held = self._open
        if held is not None and held[0] == made:
            reader = held[1]
            reader.table.catch_up()
        else:
            table = open_token_table(self._place)
            if table is None:
                return None
            reader = TokenReader(table, TokenModel(Path(table.info.folder)))
            self._open = made, reader
        if reader.model.name != reader.table.info.model:
            raise EmbeddingError(
                f"the model in {reader.model.folder} is another one than the token vectors were made with",
                fix="Make them again: memtui context build.",
            )
        return reader


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
