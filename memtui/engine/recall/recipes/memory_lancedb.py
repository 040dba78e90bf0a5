"""The recall of OpenClaw's built-in memory-lancedb: one vector search by squared L2, a floor, a limit."""

from __future__ import annotations

from dataclasses import replace

from memtui.engine.recall.candidates import CandidatePool, DroppedHit, Floats, Hit
from memtui.engine.recall.context import StageContext
from memtui.engine.recall.lanes import Lane, Search
from memtui.engine.recall.stage import Drop, Outcome, Ranking
from memtui.engine.store import sql

MIN_SCORE = 0.1
"""The recall tool's floor; auto-recall uses 0.3, the command line 0.3."""

OVERFETCH = 10

DEFAULT_AGENT = "main"


def l2_lane(search: Search, query: Floats, *, agent: str) -> Lane:
    """Nearest memories by squared L2; score = 1 / (1 + distance).

    With an agentId column only the agent's rows are searched (blank means `main`). With a scope column rows of
    the asked scopes come first, then unscoped ones; without an asked scope only unscoped rows.
    """
    names = search.outside.pin.columns
    by_agent = sql.is_in("agentId", [agent or DEFAULT_AGENT]) if "agentId" in names else None
    wanted: list[str | None] = [None]
    if "agentId" in names and "scope" in names:
        wanted = [sql.is_in("scope", [s]) for s in (*(search.scopes or ()), "")]
    hits: dict[str, Hit] = {}
    k = search.limit + (OVERFETCH if by_agent else 0)
    for condition in wanted:
        where = " AND ".join(part for part in (by_agent, condition) if part) or None
        answer = search.outside.nearest(query, k=k, where=where, metric="l2")
        for stored, distance in zip(answer.rows, answer.numbers, strict=True):
            row = search.outside.read(stored)
            if row is None:
                continue
            score = 1.0 / (1.0 + distance)
            hits.setdefault(
                row.id, Hit(row, 0, score, distance, "inverse_squared_l2", {"distance": distance})
            )
    found = [hit for hit in hits.values() if search.matches(hit.row)]
    refused = tuple(
        DroppedHit(hit.row, "category", hit.score) for hit in hits.values() if not search.matches(hit.row)
    )
    params = {"limit": search.limit, "fetched": k, "found": len(hits), "by_agent": by_agent is not None}
    return Lane(
        tuple(replace(hit, rank=rank) for rank, hit in enumerate(found, 1)), refused, "native", params=params
    )


def floor(flow: Ranking, pool: CandidatePool, setting: StageContext) -> Outcome:
    """Keep score >= 0.1."""
    keep = flow.score[flow.order] >= MIN_SCORE
    dropped = {int(i): Drop("min_score", float(flow.score[i]), MIN_SCORE) for i in flow.order[~keep]}
    return Outcome(
        Ranking(flow.order[keep], flow.score), dropped=dropped, params={"minScore": MIN_SCORE}, kind="filter"
    )
