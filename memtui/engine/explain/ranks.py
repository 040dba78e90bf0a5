"""The true rank of one memory among all that a search considers: by vector, by words, over the whole table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
from numpy.typing import NDArray

from memtui.engine.catalog.build import build_catalog
from memtui.engine.catalog.metadata_columns import read_metadata
from memtui.engine.catalog.select import in_scopes, positions_of
from memtui.engine.catalog.similar import VectorBlock, VectorColumn
from memtui.engine.catalog.text_search import in_index, index_tokens, words_by_token
from memtui.engine.core.errors import MemtuiError
from memtui.engine.explain.sentences import SHARES_NONE
from memtui.engine.recall.lanes import logistic
from memtui.engine.recall.store_search import scope_filter

if TYPE_CHECKING:
    from memtui.engine.catalog.catalog import Catalog
    from memtui.engine.core.progress import CancelToken, OnProgress
    from memtui.engine.recall.candidates import Floats
    from memtui.engine.store.snapshot import Snapshot
    from memtui.engine.store.table import Store


Mask = NDArray[np.bool_]

Metric = Literal["cosine", "l2"]

NEAR = 1e-5
"""Single-precision similarities closer than this to the memory's own are worked out again in double precision."""


@dataclass(frozen=True, slots=True)
class VectorRank:
    """Where a memory stands by distance to the question. `rank` is 1-based; None with the reason in `why`."""

    rank: int | None
    of: int
    """Memories that are ranked at all: in scope, active, with a usable vector."""
    tied: int
    """Others at exactly the same distance; the engine may put them before or after."""
    inactive_ahead: int
    """Superseded and future rows that are nearer: a search meets them first, and drops them afterwards."""
    distance: float | None
    score: float | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class WordRank:
    """Where a memory stands by its words. `rank` is 1-based; None where it shares no word with the question."""

    rank: int | None
    of: int
    inactive_ahead: int
    raw: float | None
    score: float | None
    asked: tuple[str, ...]
    """The words of the question that the index knows how to look for, as they were written."""
    shared: tuple[str, ...]
    """Those of them that the memory has, in whatever form."""
    folded: bool | None
    """Whether the index itself covers the row; False: it is read beside it, with other statistics."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class RankInput:
    """Rows of the catalog that a search meets, and those among them that it delivers."""

    met: Mask
    active: Mask


NO_WORDS = WordRank(None, 0, 0, None, None, (), (), None, "this recall has no keyword search")


class StoreRanking:
    """Ranks in one version of a table; `catalog` is of the same version, with its metadata where there is any."""

    def __init__(self, pin: Snapshot, catalog: Catalog) -> None:
        self.pin = pin
        self.catalog = catalog
        self.vectors = VectorColumn(pin)
        self._places: tuple[VectorBlock, NDArray[np.int64]] | None = None
        self._cancel: CancelToken | None = None
        self._on_progress: OnProgress | None = None

    def told_by(self, on_progress: OnProgress | None, cancel: CancelToken | None) -> StoreRanking:
        """The same ranks, which say what they fetch from far away, and stop."""
        other = copy(self)
        other._on_progress, other._cancel = on_progress, cancel
        return other

    def reading(self, pin: Snapshot) -> StoreRanking:
        """The same ranks, words searched as `pin` of the same version searches them."""
        if pin.counted == self.pin.counted:
            return self
        other = copy(self)
        other.pin = pin
        return other

    def considered(self, scopes: Sequence[str] | None, now_ms: int) -> RankInput:
        """Which rows of the catalog a search meets (in scope), and which of them it delivers (active)."""
        met = np.ones(self.catalog.n, np.bool_)
        if scopes is not None and self.pin.dialect.columns.scope:
            met = in_scopes(self.catalog, list(scopes))
        meta = self.catalog.meta
        return RankInput(met, met if meta is None else met & meta.active(now_ms))

    def considered_by_agent(self, agent: str, scopes: Sequence[str] | None) -> RankInput:
        """The same for the built-in program: the agent's rows, and of these the scopes asked for and unscoped ones."""
        met = np.ones(self.catalog.n, np.bool_)
        owners = self.catalog.labels.get("agentId")
        if owners is not None:
            wanted = np.array([owner == agent for owner in owners.values], np.bool_)
            met = wanted[owners.codes] if wanted.size else met
            if "scope" in self.pin.columns:
                met = met & in_scopes(self.catalog, [*(scopes or ()), ""])
        return RankInput(met, met)

    def by_vector(
        self,
        row_id: int,
        vector: NDArray[np.float32] | None,
        query: Floats | None,
        considered: RankInput,
        *,
        metric: Metric = "cosine",
        cancel: CancelToken | None = None,
    ) -> VectorRank:
        """The rank of the row `row_id` with `vector` by its distance to `query`, itself always considered.

        One pass over the vectors: similarities in single precision, those near the memory's own again in double.
        """
        if query is None:
            return VectorRank(None, 0, 0, 0, None, None, "the question has no vector")
        why = _unusable(vector, query, metric)
        if why or vector is None:
            return VectorRank(None, 0, 0, 0, None, None, why)
        own = _closeness(vector.astype(np.float64)[None, :], query, metric)[0]
        better, tied, ranked, inactive = 0, 0, 1, 0
        stop, told = cancel or self._cancel, self._on_progress
        for block in self.vectors.blocks(told, stop, metric):
            places = self._positions(block)
            met = considered.met[places] & block.usable & (block.row_ids != row_id)
            if metric == "cosine":
                met &= block.norms > 0
            active = considered.active[places] & met
            nearer, same = _nearer(block, query, own, metric, met)
            ranked += int(np.count_nonzero(active))
            better += int(np.count_nonzero(nearer & active))
            inactive += int(np.count_nonzero(nearer & ~active))
            tied += int(np.count_nonzero(same & active))
        distance = 1.0 - float(own) if metric == "cosine" else -float(own)
        return VectorRank(better + 1, ranked, tied, inactive, distance, 1.0 / (1.0 + distance))

    def by_words(
        self,
        row_id: int,
        text: str,
        question: str,
        scopes: Sequence[str] | None,
        considered: RankInput,
        *,
        agent: bool = False,
        alike: bool = False,
    ) -> WordRank:
        """The rank of the row `row_id` with `text` by the words of `question`, itself always considered.

        With `agent` as the engine of the table's own program searches them; with `alike` rows beside the index count
        as those in it, where the words are in memory.
        """
        words = words_by_token(self.pin, question, agent=agent)
        own = set(index_tokens(self.pin, text, agent=agent))
        asked = tuple(dict.fromkeys(words.values()))
        shared = tuple(dict.fromkeys(word for token, word in words.items() if token in own))
        if not self.pin.fts.exists:
            return WordRank(None, 0, 0, None, None, asked, shared, None, "the table has no full-text index")
        if not asked:
            return WordRank(
                None, 0, 0, None, None, asked, shared, None, "the question has no word that counts"
            )
        where = scope_filter(self.pin.dialect, scopes)
        try:
            row_ids, raw = self._found(question, where, agent, alike)
            if where is not None and not (row_ids == row_id).any():
                row_ids, raw = self._found(question, None, agent, alike)
        except MemtuiError as error:  # the recall goes on without it, and so does the answer why
            return WordRank(None, 0, 0, None, None, asked, shared, None, error.message.rstrip("."))
        at = np.flatnonzero(row_ids == row_id)
        if not at.size:
            why = SHARES_NONE if not shared else "the index does not find it"
            return WordRank(None, len(row_ids), 0, None, None, asked, shared, None, why)
        places, first = positions_of(self.catalog, row_ids), int(at[0])
        active = considered.active[places]
        inactive = considered.met[places] & ~active
        own_raw = float(raw[first])
        better = int(np.count_nonzero(active[:first]))
        behind = int(np.count_nonzero(active[first + 1 :]))
        return WordRank(
            rank=better + 1,
            of=better + 1 + behind,
            inactive_ahead=int(np.count_nonzero(inactive[:first])),
            raw=own_raw,
            score=logistic(own_raw),
            asked=asked,
            shared=shared,
            folded=None if alike and self.pin.words_count_alike else in_index(self.pin, question, row_id),
        )

    def _found(
        self, question: str, where: str | None, agent: bool, alike: bool
    ) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
        """All rows that a word of the question finds, best first: their row ids and BM25 values."""
        k = max(1, self.pin.rows)
        ranked = self.pin.agent_search(question, k=k, where=where) if agent else None
        if ranked is not None:
            return ranked.row_ids, ranked.scores
        counted = self.pin.words_in_memory(question.replace('"', " "), k=k, where=where) if alike else None
        if counted is not None:
            return counted.row_ids, counted.scores
        found = self.pin.fts_search(question, k=k, where=where, with_row_id=True)
        return found.column("_rowid").to_numpy(), found.column("_score").to_numpy()

    def _positions(self, block: VectorBlock) -> NDArray[np.int64]:
        if self._places is None or self._places[0] is not block:
            self._places = (block, positions_of(self.catalog, block.row_ids))
        return self._places[1]


def ranking_at(store: Store, version: int, catalog: Catalog) -> StoreRanking:
    """The ranks in one version, kept with it; `catalog` serves where it is of that version."""
    pin = store.pin(version)

    def make() -> StoreRanking:
        known = catalog if catalog.version == version and not catalog.metadata_pending else None
        return StoreRanking(pin, known or _catalog_of(pin))

    return pin.derived("ranking", make)


class _At:
    """A store that stands at one version, for the makers of catalogs."""

    folder = None
    """Nothing of another version is taken over, so no file is named."""

    is_far = True
    """All of it is read in one pass, the sentinel rows with it."""

    def __init__(self, pin: Snapshot) -> None:
        self._pin = pin

    def pin(self, version: int | None = None) -> Snapshot:
        """The one version."""
        return self._pin

    def data_files(self, version: int) -> Mapping[int, tuple[bytes, ...]]:
        """None: what is read of this version is not taken over into another."""
        return {}


def _catalog_of(pin: Snapshot) -> Catalog:
    store = cast("Store", _At(pin))
    return read_metadata(store, build_catalog(store))


def _unusable(vector: NDArray[np.float32] | None, query: Floats, metric: Metric) -> str:
    if vector is None:
        return "it has no vector"
    if len(vector) != len(query):
        return f"its vector has {len(vector)} numbers, the question's {len(query)}: they are of two models"
    if metric == "cosine" and not np.any(vector):
        return "its vector is all zero"
    if metric == "cosine" and not np.any(query):
        return "the question's vector is all zero"
    return "" if np.isfinite(vector).all() else "its vector is not finite"


def _closeness(rows: Floats, query: Floats, metric: Metric) -> Floats:
    """The larger the nearer, in double precision: the cosine, or the squared distance negated."""
    if metric == "l2":
        gaps = rows - query
        return np.asarray(-np.einsum("ij,ij->i", gaps, gaps))
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows)) * float(np.linalg.norm(query))
    return np.asarray(np.einsum("ij,j->i", rows, query) / lengths)


def _nearer(block: VectorBlock, query: Floats, own: float, metric: Metric, met: Mask) -> tuple[Mask, Mask]:
    """Which rows of `met` are nearer than `own`, and which exactly as near."""
    margin = _margins(block, query, own, metric)
    wide = float(np.linalg.norm(query))
    near = NEAR if metric == "cosine" else NEAR * max(1.0, wide**2, float(block.norms.max(initial=0.0)) ** 2)
    nearer = met & (margin > near)
    same = np.zeros(len(met), np.bool_)
    close = np.flatnonzero(met & (np.abs(margin) <= near))
    exact = _closeness(block.vectors[close].astype(np.float64), query, metric)
    nearer[close[exact > own]] = True
    same[close[exact == own]] = True
    return nearer, same


def _margins(block: VectorBlock, query: Floats, own: float, metric: Metric) -> NDArray[np.float32]:
    """By how much each row is nearer than the memory, in single precision."""
    wide = float(np.linalg.norm(query))
    if metric == "cosine":
        dots = block.vectors @ (query / wide).astype(np.float32)
        lengths = np.where(block.norms > 0, block.norms, np.float32(1.0))
        return np.asarray(dots / lengths - np.float32(own), np.float32)
    squares = block.norms**2 - 2 * (block.vectors @ query.astype(np.float32)) + np.float32(wide**2)
    return np.asarray(-squares - np.float32(own), np.float32)
