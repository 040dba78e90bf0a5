"""The plugin's own recall inside its write side: tools that look for a memory, and auto-recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtui.engine.capture.draft import StoredRow
from memtui.engine.capture.recipes.pro.world import World
from memtui.engine.recall.request import RecallRequest

MOST_HITS = 20

LANE_SCORE = 0.1


@dataclass(frozen=True, slots=True)
class Recalled:
    """A row that a recall returned, with its score and what it was made of."""

    row: StoredRow
    score: float
    sources: dict[str, dict[str, Any]]

    def as_json(self, now_ms: int) -> dict[str, Any]:
        """As the tools show it."""
        return {
            **shown(self.row),
            "score": self.score,
            "sources": self.sources,
        }


def shown(row: StoredRow) -> dict[str, Any]:
    """A row as the tools show it."""
    return {
        "id": row.id,
        "text": row.text,
        "category": f"{row.category}:{row.scope}",
        "rawCategory": row.category,
        "scope": row.scope,
        "importance": row.importance,
    }


def recall_rows(
    world: World,
    query: str,
    *,
    limit: int,
    scopes: Sequence[str] | None,
    source: str,
    category: str | None = None,
) -> list[Recalled]:
    """Ask the store as the plugin asks it; a recall reads the table, not what is on top of it."""
    from memtui.engine.recall.answer import recall
    from memtui.engine.recall.context import RecallContext

    if world.scratch:
        world.draft.flush()
    vector = world.embed(query)
    raw: Mapping[str, Any] = world.settings.raw
    retrieval, decay = raw.get("retrieval"), raw.get("decay")
    config: dict[str, Any] = {"retrieval": retrieval if isinstance(retrieval, dict) else {}}
    if isinstance(decay, dict):
        config["decay"] = decay
    trace = recall(
        RecallRequest(
            query=query,
            recipe="pro/tool",
            config=config,
            source=source,
            scopes=scopes,
            category=category,
            limit=limit,
            now_ms=world.now_ms,
            query_vector=[float(each) for each in vector],
            lanes=_lanes(world, query, vector, scopes),
            own_words=world.own_words,
        ),
        RecallContext(world.draft.store, world.now_ms, None),
    )
    found = []
    for result in trace.results:
        row = world.draft.get(result.id)
        if row is not None:
            sources = {name: _source(name, dict(each)) for name, each in result.sources.items()}
            found.append(Recalled(row, result.score or 0.0, sources))
    return found


def _lanes(
    world: World, query: str, vector: Any, scopes: Sequence[str] | None
) -> dict[str, list[list[Any]]] | None:
    """The hits of both searches where words are not found by the store itself; None leaves the store to it."""
    if world.search_words is None:
        return None
    near = world.search(vector, MOST_HITS, LANE_SCORE, scopes, active=True)
    return {
        "vector": [[hit.row.id, hit.score] for hit in near],
        "bm25": [list(hit) for hit in world.search_words(query, scopes, MOST_HITS)],
    }


def _source(name: str, values: dict[str, Any]) -> dict[str, Any]:
    kept = ("score", "rank") if name in ("vector", "bm25") else ("score",)
    return {key: values[key] for key in kept if values.get(key) is not None}
