"""A question, and everything that decides how it is answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

RECIPES = ("pro/agent", "pro/tool", "pro/cli", "pro/article", "memory-lancedb", "mem-engine", "memtui")
SOURCES = ("manual", "cli", "auto-recall")
UNSET: Any = object()
"""A value that was not given, where None means something."""


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """One recall.

    `config` holds the plugin's own blocks: {"retrieval": {...}, "decay": {...} or None}; a `decay` of None
    switches the decay engine off, a missing one keeps the recipe's. `source` UNSET keeps the recipe's.
    `scopes`: None is no filter, an empty sequence denies all. `limit` None is the recipe's default.
    `query_vector` replaces the embedder; `lanes` replaces the searches:
    {"vector": [[id, score], ...], "bm25": [[id, score], ...]}. `now_ms` None means the engine's clock.
    """

    query: str
    recipe: str = ""
    config: Mapping[str, Any] | None = None
    source: Any = UNSET
    scopes: Sequence[str] | None = None
    category: str | None = None
    limit: int | None = None
    now_ms: int | None = None
    query_vector: Sequence[float] | None = None
    lanes: Mapping[str, Sequence[Sequence[Any]]] | None = None
    agent: str = ""
    """For memory-lancedb stores with an agentId column: whose memories."""
    rerank_timeout_ms: float | None = None
    """Per-call override of the rerank time budget; 0 or less skips the remote reranker."""
    table_version: int | None = None
    """Recall on this older version of the table, read only; None is the version that is open."""


@dataclass(frozen=True, slots=True)
class RecipeInfo:
    """A recipe as a person chooses it."""

    name: str
    title: str
    description: str
    limit: int
    source: str | None
