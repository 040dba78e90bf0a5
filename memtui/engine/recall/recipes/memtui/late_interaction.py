"""Late interaction: how well each word of a question is met by the best word of a memory.

m = sum over question pieces t of w_t * max over memory pieces u of cos(t, u), divided by the sum of w_t;
w_t is the length of the piece's stored vector (pieces that are rare in the language are longer) times the rarity
of its word in the scope. Pieces that the model does not know are left out. A memory without known pieces is met
by nothing: 0. What the memory before in the same session meets counts for this one too, at a share: an answer
seldom repeats the words of the question it answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.core.products import all_products, unit
from memtui.engine.providers.static_embedder import StaticEmbedder, TokenVectors
from memtui.engine.recall.candidates import Floats

if TYPE_CHECKING:
    from memtui.engine.store.snapshot import Snapshot


Pieces = np.ndarray[Any, np.dtype[np.int32]]

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]

_WORD = re.compile(r"\w+")

KEPT = 65_536
"""Texts whose word pieces are remembered: about 40 MB with the texts of a dialogue."""


class PieceCache:
    """The word pieces of the texts of one version of a table, remembered by text."""

    def __init__(self, model: StaticEmbedder) -> None:
        self.model = model
        self._known: dict[str, Pieces] = {}

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """The pieces of each text; texts never seen are tokenised together."""
        found = {text: pieces for text in texts if (pieces := self._known.get(text)) is not None}
        fresh = [text for text in dict.fromkeys(texts) if text not in found]
        if fresh:
            made = dict(zip(fresh, self.model.piece_ids(fresh), strict=True))
            if len(self._known) > KEPT:
                self._known.clear()
            self._known.update(made)
            found |= made
        return [found[text] for text in texts]


def piece_cache(pin: Snapshot, model: StaticEmbedder) -> PieceCache:
    """The cache of this version of the table."""
    return pin.derived(("pieces", model.name), lambda: PieceCache(model))


@dataclass(frozen=True)
class WordScores:
    """How well memories meet a question: of each piece of the question the best cosine."""

    question: TokenVectors
    lengths: tuple[float, ...]
    """Of the stored vector of each piece of the question."""
    rarity: tuple[float, ...]
    """Of the word of each piece in the scope."""
    weights: tuple[float, ...]
    """Their products; the score is the mean of the cosines with these weights."""
    cosines: Matrix
    """[n, pieces of the question]."""
    before: Matrix
    """The same of the memory before each one; NaN where there is none."""

    def score(self, context_weight: float) -> Floats:
        """m of each memory, with `context_weight` times what the memory before meets where that is more; [n]."""
        total = sum(self.weights)
        if not total > 0:
            return np.zeros(len(self.cosines))
        met = np.fmax(self.cosines, context_weight * self.before)
        score: Floats = met @ np.array(self.weights) / total
        return score

    def and_also(self, others: WordScores) -> WordScores:
        """The same with other memories, compared with the same question, behind them."""
        return replace(
            self,
            cosines=np.concatenate([self.cosines, others.cosines]),
            before=np.concatenate([self.before, others.before]),
        )


def late_interaction(
    model: StaticEmbedder,
    question: str,
    memories: Sequence[Pieces],
    before: Sequence[Pieces] = (),
    *,
    rarity: Callable[[str], float] = lambda word: 1.0,
    like: WordScores | None = None,
) -> WordScores:
    """Compare a question with memories given as word pieces (`PieceCache.pieces`).

    `before` are those of the memory before each one, empty where there is none; or nothing at all.
    `rarity` rates a word (lower case); where it leaves no piece any weight, all words count as equally rare. `like`
    are scores of the same question, whose words need not be looked at again.
    """
    if like is None:
        asked = model.token_vectors(question)
        lengths = np.linalg.norm(asked.matrix.astype(np.float64), axis=1)
        rated = np.array([rarity(word) if word else 0.0 for word in words_at(question, asked.spans)])
        if not (lengths * rated).any():
            rated = np.ones(len(lengths))
        plain = [tuple(each.tolist()) for each in (lengths, rated, lengths * rated)]
        nothing = np.empty((0, len(asked.tokens)))
        like = WordScores(asked, plain[0], plain[1], plain[2], nothing, nothing)
    every = best_cosines(model, like.question, [*memories, *before])
    cosines, lent = every[: len(memories)], np.full((len(memories), len(like.question.tokens)), np.nan)
    filled = [at for at, pieces in enumerate(before) if len(pieces)]
    lent[filled] = every[len(memories) :][filled]
    return replace(like, cosines=cosines, before=lent)


def words_at(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    """The word (lower case) that each span lies in; empty for punctuation."""
    words = [(found.start(), found.end(), found[0].lower()) for found in _WORD.finditer(text)]
    return [next((word for a, b, word in words if a <= start and end <= b), "") for start, end in spans]


def best_cosines(model: StaticEmbedder, asked: TokenVectors, memories: Sequence[Pieces]) -> Matrix:
    """For each memory and each piece of the question the highest cosine with a piece of the memory; 0 with none.

    Every different piece of the memories is compared once: a hundred memories share most of their words, and what
    stands before one is often another of them.
    """
    alone = {id(pieces): pieces for pieces in memories if len(pieces)}
    if not alone or not asked.tokens:
        return np.zeros((len(memories), len(asked.tokens)))
    different, place = np.unique(np.concatenate(list(alone.values())), return_inverse=True)
    products = all_products(unit(asked.matrix), model.piece_vectors(different))
    lengths = model.piece_lengths(different)
    table = np.minimum(np.divide(products, lengths, out=products, where=lengths > 0), 1.0)
    starts = np.cumsum([0, *map(len, alone.values())])[:-1]
    best = np.zeros((len(alone) + 1, len(asked.tokens)))
    best[:-1] = np.maximum.reduceat(table.take(place, axis=1), starts, axis=1).T
    row = dict(zip(alone, range(len(alone)), strict=True))
    return best[[row.get(id(pieces), -1) for pieces in memories]]  # the last row is of those without pieces
