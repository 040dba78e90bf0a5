"""The candidates of one recall as columns, and the rows they were made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from memtui.engine.core.memory import TIERS
from memtui.engine.recall.rows import CandidateRow, Wide

# How alike candidates are: the cosine of every pair of rows that was ever compared, worked out once.

Square = np.ndarray[tuple[int, int], np.dtype[np.float64]]


class SimilarityCache:
    """Cosines between rows with vectors of one length; it grows with the rows it is asked about.

    Kept beside the answers of a recall, so that a change of parameters compares nothing twice. A zero vector is
    alike to none (cosine 0).
    """

    def __init__(self) -> None:
        self._place: dict[CandidateRow, int] = {}
        self._units: np.ndarray[tuple[int, int], np.dtype[np.float64]] = np.empty((0, 0))
        self._cosines: Square = np.empty((0, 0))

    def cosines(self, rows: Sequence[CandidateRow]) -> Square:
        """[n, n] cosines of `rows`, which all have vectors of the same length."""
        stored = [row.stored or row for row in rows]
        fresh = [row for row in dict.fromkeys(stored) if row not in self._place]
        if fresh:
            self._add(fresh)
        at = np.array([self._place[row] for row in stored], np.int64)
        return self._cosines[np.ix_(at, at)]

    def _add(self, rows: Sequence[CandidateRow]) -> None:
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


Floats = np.ndarray[Any, np.dtype[np.float64]]

Ints = np.ndarray[Any, np.dtype[np.int64]]


class Hit(NamedTuple):
    """One lane's finding: its 1-based rank there, its score, and what the score was made from."""

    row: CandidateRow
    rank: int
    score: float
    raw: float | None
    """Cosine distance (vector lane) or raw BM25 (keyword lane); None for substring and recorded hits."""
    rule: str
    inputs: Mapping[str, Any] = MappingProxyType({})


class DroppedHit(NamedTuple):
    """A row that a lane found and did not deliver: the gate, the score it had, the limit it missed."""

    row: CandidateRow
    reason: str
    score: float | None
    limit: float | None = None


@dataclass(frozen=True)
class CandidatePool:
    """All candidates; index = position in `rows`. Arrays have one entry a candidate; NaN is absent."""

    rows: Sequence[CandidateRow]
    vector: Mapping[int, Hit]
    bm25: Mapping[int, Hit]
    now_ms: int
    kin: dict[int, SimilarityCache] = field(default_factory=dict, repr=False, compare=False)
    """Cosines between rows, by vector length."""

    @cached_property
    def n(self) -> int:
        """Number of candidates."""
        return len(self.rows)

    @cached_property
    def place(self) -> Mapping[str, int]:
        """The index of each candidate by its id."""
        return {row.id: index for index, row in enumerate(self.rows)}

    def alike(self, dims: int, members: Sequence[int]) -> Floats:
        """[n, n] cosines of the candidates `members`, whose vectors have `dims` numbers."""
        kin = self.kin.setdefault(dims, SimilarityCache())
        return kin.cosines([self.rows[index] for index in members])

    @cached_property
    def v(self) -> Floats:
        """Vector-lane scores."""
        return self._lane(self.vector)

    @cached_property
    def b(self) -> Floats:
        """Keyword-lane scores."""
        return self._lane(self.bm25)

    def _lane(self, hits: Mapping[int, Hit]) -> Floats:
        out = np.full(self.n, np.nan)
        for index, hit in hits.items():
            out[index] = hit.score
        return out

    @cached_property
    def length(self) -> Ints:
        """Text lengths in UTF-16 units, the unit of the peer."""
        return np.array([row.length for row in self.rows], np.int64)

    @cached_property
    def timestamp(self) -> Floats:
        """Creation times, ms; 0 where unknown."""
        return np.array([row.timestamp_ms for row in self.rows], np.float64)

    @cached_property
    def importance(self) -> Floats:
        """Importance, 0 to 1."""
        return np.array([row.importance for row in self.rows], np.float64)

    @cached_property
    def confidence(self) -> Floats:
        """Confidence from the metadata, 0 to 1."""
        return np.array([row.metadata.confidence for row in self.rows], np.float64)

    @cached_property
    def tier(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Tier codes in the order of `memory.TIERS`."""
        return np.array([TIERS.index(row.metadata.tier) for row in self.rows], np.uint8)

    @cached_property
    def access_count(self) -> Ints:
        """Access counts as the decay engine reads them (snake_case key only)."""
        return np.array([row.metadata.access_count for row in self.rows], np.int64)

    @cached_property
    def last_accessed(self) -> Floats:
        """Last access, ms; the creation time where it is 0."""
        return np.array([row.metadata.last_accessed_at or row.timestamp_ms for row in self.rows], np.float64)

    @cached_property
    def dynamic(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Whether the memory's temporal class is dynamic."""
        return np.array([row.metadata.memory_temporal_type == "dynamic" for row in self.rows], np.bool_)

    @cached_property
    def corpus(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Chunks of documents (`corpus:` ids), exempt from length and age."""
        return np.array([row.id.startswith("corpus:") for row in self.rows], np.bool_)

    @cached_property
    def reinforcement(self) -> tuple[Ints, Floats]:
        """Access count and last access as the time-decay stage reads them (camelCase key first)."""
        pairs = [row.reinforcement for row in self.rows]
        return (
            np.array([count for count, _ in pairs], np.int64),
            np.array([last for _, last in pairs], np.float64),
        )

    @cached_property
    def expired(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """valid_until <= now."""
        return np.array([row.metadata.expired(self.now_ms) for row in self.rows], np.bool_)
