"""The recall of OpenClaw's built-in memory-lancedb: one vector search by squared L2, a floor, a limit."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from memtui.engine.access import DEFAULT_AGENT
from memtui.engine.recall.asker import by_own_rules
from memtui.engine.recall.candidates import CandidatePool, DroppedHit, Floats, Hit
from memtui.engine.recall.context import RecallContext, StageContext
from memtui.engine.recall.knob import LIMIT
from memtui.engine.recall.lanes import Lane, LaneSearch
from memtui.engine.recall.recipe import Recipe
from memtui.engine.recall.recipes.builtin_prompt import builtin_block, skip_rule
from memtui.engine.recall.recipes.pro.knobs import idle
from memtui.engine.recall.recipes.pro.run import rerun, resolve, run
from memtui.engine.recall.recipes.pro.stages import LIMIT_CUT, StagedRecipe, vector_ranked
from memtui.engine.recall.request import RecallRequest
from memtui.engine.recall.stage import Drop, Ranking, StageOutcome
from memtui.engine.recall.stage_spec import StageSpec
from memtui.engine.recall.trace import Asker
from memtui.engine.store import sql

MIN_SCORE = 0.1
"""The recall tool's floor; auto-recall uses 0.3, the command line 0.3."""

OVERFETCH = 10


def l2_lane(search: LaneSearch, query: Floats, agent: str) -> Lane:
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
        tuple(hit._replace(rank=rank) for rank, hit in enumerate(found, 1)), refused, "native", params=params
    )


def floor(flow: Ranking, pool: CandidatePool, setting: StageContext) -> StageOutcome:
    """Keep score >= 0.1."""
    keep = flow.score[flow.order] >= MIN_SCORE
    dropped = {int(i): Drop("min_score", float(flow.score[i]), MIN_SCORE) for i in flow.order[~keep]}
    return StageOutcome(
        Ranking(flow.order[keep], flow.score), dropped=dropped, params={"minScore": MIN_SCORE}, kind="filter"
    )


BUILTIN = StagedRecipe(
    "memory-lancedb",
    (
        StageSpec("vector_ranked", "vector", "search", vector_ranked, fresh=True),
        StageSpec("min_score", "min score", "filter", floor),
        LIMIT_CUT,
    ),
    "manual",
    5,
    decay_on=False,
    vector_search=l2_lane,
    settings={"minScore": MIN_SCORE},
)


def _asker(request: RecallRequest, context: RecallContext) -> tuple[RecallRequest, Asker]:
    agent = request.agent or DEFAULT_AGENT
    rule = "its own memories" if "agentId" in context.store.dialect.labels else "one pool for all agents"
    return by_own_rules(request, f"asked by {agent}: {rule}", agent)


PROTOCOL = 1

RECIPES = (
    Recipe(
        BUILTIN.name,
        "OpenClaw's built-in memory",
        "One vector search by squared L2, a floor of .1, nothing else: no keywords, no age, no importance.",
        BUILTIN.limit,
        run=partial(run, BUILTIN),
        asker=_asker,
        resolve=partial(resolve, BUILTIN),
        prompt_gate=lambda request, context: skip_rule(request.query),
        knobs=(replace(LIMIT, high=200),),
        idle=idle,
        block="retrieval",
        source=BUILTIN.source,
        family=BUILTIN.name,
        own_rows=True,
        unfiltered="its own rules: the agent's unscoped memories",
        by_meaning=True,
        prompt="built in",
        prompt_block=builtin_block,
        rerun=rerun,
        floor=MIN_SCORE,
        prompt_gates=("prompt_score", "prompt_items"),
        replayable=True,
    ),
)
