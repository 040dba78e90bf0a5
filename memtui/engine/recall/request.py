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
    `scopes` UNSET leaves them to the asker: an agent's recipe searches what the agent may read; None is no filter,
    an empty sequence denies all. `limit` None is the recipe's default.
    `query_vector` replaces the embedder; `lanes` replaces the searches:
    {"vector": [[id, score], ...], "bm25": [[id, score], ...]}. `now_ms` None means the engine's clock.
    """

    query: str
    recipe: str = ""
    config: Mapping[str, Any] | None = None
    source: Any = UNSET
    scopes: Any = UNSET
    """A sequence of names, None, or UNSET."""
    category: str | None = None
    limit: int | None = None
    now_ms: int | None = None
    query_vector: Sequence[float] | None = None
    lanes: Mapping[str, Sequence[Sequence[Any]]] | None = None
    agent: str = ""
    """Who asks; empty is the agent that the store's configuration names first, else `main`."""
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
    of_agent: bool = False
    """Whether an agent asks by it, within the scopes that it may read."""


def scopes_key(request: RecallRequest) -> Any:
    """The scopes of a request as something that can be compared and hashed."""
    given = request.scopes
    return "as the asker" if given is UNSET else None if given is None else tuple(given)


def filters_of(request: RecallRequest) -> dict[str, Any]:
    """The filters of a request whose scopes are decided, as a trace records them."""
    return {
        "scopes": None if request.scopes is None else list(request.scopes),
        "category": request.category,
        "agent": request.agent or None,
    }
