"""What is known of each candidate before any weight: cosine, words met, speaker, date; arrays over the pool."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memtui.engine.core.products import row_products
from memtui.engine.recall.candidates import CandidatePool, Floats, Hit
from memtui.engine.recall.recipes.memtui.late_interaction import WordScores
from memtui.engine.recall.recipes.memtui.question import CleanQuestion, DateSpan
from memtui.engine.recall.recipes.memtui.settings import OwnSettings
from memtui.engine.recall.recipes.memtui.survey import Around
from memtui.engine.recall.recipes.memtui.token_vectors import TokenScores
from memtui.engine.recall.rows import CandidateRow

MILLISECONDS_A_DAY = 86_400_000


@dataclass(frozen=True)
class Evidence:
    """The question and everything that it names; what the stages share."""

    question: str
    clean: CleanQuestion
    identifiers: tuple[str, ...]
    spans: tuple[DateSpan, ...]
    newest_wanted: str
    """The words by which the question asks for what is new; empty when it does not."""
    cosines: Floats
    """Of each candidate's stored vector with the question's; NaN where one of them is not there."""
    settings: OwnSettings
    limit: int
    newest_ms: float
    """The time that ages are counted from: the newest memory's, not later than now."""
    met: WordScores | None
    """One row a candidate; None when the bundled model cannot be read."""
    met_ms: float
    """How long the comparison took."""
    read: TokenScores | None
    """The same by token vectors, one row a candidate; None where the store has none."""
    read_ms: float
    by_identifier: Mapping[int, Hit]
    following: Mapping[int, Hit]
    """Those that were said after the best ones."""
    speakers: Sequence[str]
    """Of each candidate, empty where unknown."""
    around: Sequence[Around]
    """Ids of the memories before and after each candidate."""
    told: Callable[[], Mapping[str, Floats]]
    """Works out `signals`."""

    @cached_property
    def signals(self) -> Mapping[str, Floats]:
        """Of `signals.SIGNALS`, by name; worked out when first asked for, which the first pass never does."""
        return self.told()

    @cached_property
    def speaker(self) -> str:
        """The only known speaker that the question names; empty when there is none, or more than one."""
        return self.clean.named[0] if len(self.clean.named) == 1 else ""


@dataclass(frozen=True)
class NormalizedScores:
    """Numbers laid out from 0 (the pool's lowest) to 1 (its highest); absent ones are 0."""

    raw: Floats
    low: float
    high: float

    @cached_property
    def value(self) -> Floats:
        """(raw - low) / (high - low); 0 for all when they are equal."""
        width = self.high - self.low
        return np.nan_to_num((self.raw - self.low) / width) if width > 0 else np.zeros(len(self.raw))


def stretch(raw: Floats) -> NormalizedScores:
    """Stretch by the lowest and highest of the numbers that are there (NaN is absent)."""
    known = raw[~np.isnan(raw)]
    return (
        NormalizedScores(raw, float(known.min()), float(known.max()))
        if known.size
        else NormalizedScores(raw, 0.0, 0.0)
    )


def cosines(
    pool: CandidatePool, question: Floats | None, known: MutableMapping[CandidateRow, float]
) -> Floats:
    """The cosine of the question with each candidate's stored vector; NaN where there is no usable one.

    `known` are those that were worked out before, and has all afterwards. Candidates of recorded lanes without a
    question vector keep the score that was recorded.
    """
    if question is None:
        out = np.full(pool.n, np.nan)
        for index, hit in pool.vector.items():
            out[index] = hit.score
        return out
    fresh = [row for row in pool.rows if row not in known]
    known.update(dict.fromkeys(fresh, math.nan))
    norm = float(np.linalg.norm(question))
    usable = [row for row in fresh if row.vector is not None and len(row.vector) == len(question)]
    if usable and norm > 0:
        matrix = np.array([row.vector for row in usable], np.float64)
        lengths = np.sqrt(row_products(matrix, matrix))
        fits = (lengths > 0) & np.isfinite(lengths)
        found = np.full(len(usable), np.nan)
        found[fits] = row_products(matrix[fits], question) / (lengths[fits] * norm)
        known.update(zip(usable, found.tolist(), strict=True))
    return np.array([known[row] for row in pool.rows])


# The stages of the recipe `memtui` in order, and running them over a pool.


FOLLOWING = "following"
