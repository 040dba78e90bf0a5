"""One recall, fully decided: what every stage of a recipe may look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memtui.engine.recall.candidates import Floats
from memtui.engine.recall.io_cache import RerankAnswer

if TYPE_CHECKING:
    from memtui.engine.recall.lanes import Lane
    from memtui.engine.recall.recipes.pro.settings import DecaySettings, RetrievalSettings


WINDOW_FACTOR = 2
"""Candidates for each result wanted: at least that many in each lane, and that many reach the reranker."""

Route = Literal["hybrid", "vector", "tag", "keyword"]


@dataclass(frozen=True)
class StageContext:
    """The resolved request. `limit` is clamped; `query_vector` is None without a vector lane."""

    query: str
    retrieval: RetrievalSettings
    decay: DecaySettings | None
    route: Route
    limit: int
    query_vector: Floats | None
    tags: tuple[str, ...]
    vector_lane: Lane
    bm25_lane: Lane
    gate_rule: str | None
    """The adaptive gate's verdict when the caller asks it: the rule that skips the question."""
    gate_min_length: int
    """Shortest question that the gate lets through without a question mark, UTF-16 units."""
    guarded: bool
    """Whether the caller's own filters (adaptive gate, governance) apply."""
    ask_reranker: Callable[[Sequence[str], int], RerankAnswer]
    """(documents in order, top_n) to the reranker's answer; called once, by the rerank stage."""
