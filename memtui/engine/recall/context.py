"""What a recall works with: the store and its configuration, and what every stage of a recipe may look at."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.access import DEFAULT_AGENT, ScopePolicy
from memtui.engine.recall.candidates import Floats
from memtui.engine.recall.io_cache import Embed, IoCache, RerankAnswer

if TYPE_CHECKING:
    from memtui.engine.access import Access
    from memtui.engine.recall.lanes import Lane
    from memtui.engine.recall.recipes.memtui.token_vectors import TokenReader
    from memtui.engine.recall.recipes.pro.settings import DecaySettings, RetrievalSettings
    from memtui.engine.store.table import Store

WINDOW_FACTOR = 2
"""Candidates for each result wanted: at least that many in each lane, and that many reach the reranker."""

Route = Literal["hybrid", "vector", "tag", "keyword"]


@dataclass(frozen=True)
class RecallContext:
    """What a recall works with: the store, the embedder, the store's own configuration."""

    store: Store
    now_ms: int
    embed: Embed | None
    """Question to vector; None where there is no embedder."""
    no_embedder: str = ""
    """Why there is none, and what to do."""
    base_retrieval: Mapping[str, Any] | None = None
    base_decay: Mapping[str, Any] | None = None
    bundled: bool = False
    """Whether the store's vectors, and so the embedder's, are the bundled model's."""
    multilingual: bool = False
    """Whether they are those of the model of the extra `memtui[multilingual]`."""
    tokens: Callable[[], TokenReader | None] = lambda: None
    """The store's token vectors and their model; None where there are none."""
    clock: Callable[[], float] = time.perf_counter
    """Seconds, for durations only."""
    access: Callable[[], Access] = ScopePolicy
    """Who reads which scope; asked only where an agent's recipe needs it. The default has no access lists."""
    agent: str = DEFAULT_AGENT
    """Who asks where a request names nobody."""
    auto_recall: Mapping[str, Any] = field(default_factory=dict)
    """The plugin's settings of what goes into a prompt; empty: its defaults."""

    def outside(self, table_version: int | None = None) -> IoCache:
        """The table at `table_version` (None: the pinned one) and the embedder, nothing asked yet."""
        pin = self.store.pin(table_version)
        return IoCache(pin, self.embed, no_embedder=self.no_embedder, clock=self.clock)


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
