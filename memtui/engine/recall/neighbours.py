"""Neighbour enrichment: memories whose words resemble a result's own text, attached to it (opt-in)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.recall.lanes import LaneSearch, bm25_lane, clamp_limit
from memtui.engine.recall.rows import CandidateRow

if TYPE_CHECKING:
    from memtui.engine.recall.recipes.pro.settings import RetrievalSettings


def attach_neighbors(
    search: LaneSearch, final: Sequence[CandidateRow], retrieval: RetrievalSettings, route: str
) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """For each final row its keyword neighbours: id, score, rank (spec/retrieval 4.14); hybrid only.

    Skipped: the row itself, other final rows, other scopes, expired rows, noise; with a category asked for, rows
    whose stored category is not literally that. A failing search attaches nothing.
    """
    wanted = retrieval.neighbor_enrichment
    if not wanted.enabled or route != "hybrid":
        return {}
    m = max(1, min(5, wanted.max_per_result))
    taken = {row.id for row in final}
    out: dict[str, list[dict[str, Any]]] = {}
    for row in final:
        limit = clamp_limit(min(50, len(final) + m + max(10, 4 * m)))
        scopes = None if row.scope is None else [row.scope]
        lookup = replace(search, scopes=scopes, limit=limit, matches=lambda _: True)
        try:
            hits = bm25_lane(lookup, row.text).hits
        except MemtuiError:
            continue
        kept = [
            {"id": hit.row.id, "score": hit.score, "rank": hit.rank}
            for hit in hits
            if hit.row.id not in taken
            and hit.row.scope == row.scope
            and not hit.row.metadata.expired(search.now_ms)
            and hit.row.noise is None
            and (search.category is None or hit.row.category == search.category)
        ]
        if kept:
            out[row.id] = kept[:m]
    return out
