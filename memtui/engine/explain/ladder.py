"""The ladder: every gate in order, each with what it looked at, the memory's own number and the limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.access import DEFAULT_AGENT
from memtui.engine.explain import sentences
from memtui.engine.explain.ranks import VectorRank
from memtui.engine.explain.verdict import GATES, GateResult
from memtui.engine.recall.candidates import Hit
from memtui.engine.recall.lanes import Lane
from memtui.engine.recall.pipeline import pool_of
from memtui.engine.recall.stage import Drop
from memtui.engine.recall.stages.gates import NEAR_DUPLICATE
from memtui.engine.recall.store_search import fetch_size

if TYPE_CHECKING:
    from memtui.engine.access import Grant
    from memtui.engine.explain.ranks import WordRank
    from memtui.engine.recall.candidates import CandidatePool
    from memtui.engine.recall.context import StageContext
    from memtui.engine.recall.recipe import PlannedRun
    from memtui.engine.recall.recipes.pro.plan import Plan
    from memtui.engine.recall.record import StageRecord
    from memtui.engine.recall.rows import CandidateRow


OF_THE_QUESTION = ("adaptive_gate",)
"""Gates that let the question through, whatever became of a memory: passed, they are passed."""

Answer = tuple[bool | None, Any, Any, dict[str, Any]]
"""(passed, value, limit, further facts); passed None: not known."""


@dataclass(frozen=True)
class GateEvidence:
    """All that is known of the memory and the recall."""

    plan: Plan
    setting: StageContext
    row: CandidateRow
    columns: Mapping[str, Any]
    """The row as stored."""
    by_vector: VectorRank
    by_words: WordRank
    passage: ForcedPass | None
    """Its way through the stages, every gate held open; None where it has no score to start from."""
    rank: int | None
    """Where it came back; None when it did not."""
    without_rerank: Callable[[], bool]
    """Whether it would come back with the reranker off."""
    scope_column: str | None
    grant: Grant | None = None
    """Whether the agent that asks may read its scope, and why; None where no agent asks."""
    agent: str = ""
    """The agent that asks."""
    floor: float | None = None
    """The least score, where the recipe alone decides it."""

    @property
    def minimum(self) -> float:
        """The floor of the recipe."""
        return self.plan.retrieval.min_score if self.floor is None else self.floor

    @property
    def blocked(self) -> bool:
        """Whether a search would never deliver the memory, whatever its rank."""
        return not _scope(self)[0] or (not self.plan.plain and not inactive(self.row, self.plan.now_ms)[0])


def climb(evidence: GateEvidence) -> tuple[GateResult, ...]:
    """All gates in order; those after the first that failed are hypothetical."""
    rungs: list[GateResult] = []
    failed = False
    for gate in _gates(evidence):
        asked = _ASKED.get(gate)
        applies = asked is None or asked(evidence)
        passed, value, limit, facts = _CHECKS[gate](evidence) if applies else (True, None, None, {})
        if evidence.rank is not None and passed is False:
            passed = True  # it came back: an indirect loss cost it places, not the answer
        sentence = sentences.sentence(gate, passed, value, limit, facts) if applies else sentences.NOT_ASKED
        beyond = failed and not (passed and gate in OF_THE_QUESTION)
        rungs.append(GateResult(gate, passed, value, limit, sentence, applies, beyond, facts))
        failed = failed or passed is False
    return tuple(rungs)


def _gates(evidence: GateEvidence) -> tuple[str, ...]:
    """The gates of this recall: a recall by tag has one more."""
    if evidence.setting.route != "tag":
        return GATES
    at = GATES.index("category")
    return (*GATES[:at], "tag", *GATES[at:])


def _known(e: GateEvidence) -> Answer:
    return True, e.row.id, None, {}


def _scope(e: GateEvidence) -> Answer:
    if e.plan.plain:
        return _builtin_scope(e)
    scopes = e.plan.request.scopes
    column = e.scope_column
    if scopes is None or column is None:
        return True, e.row.scope, None, {}
    facts = {} if e.grant is None else {"agent": e.agent, "reason": e.grant.reason, "because": e.grant.words}
    return e.row.scope in scopes, e.row.scope, list(scopes), facts


def _builtin_scope(e: GateEvidence) -> Answer:
    agent = e.plan.request.agent or DEFAULT_AGENT
    if "agentId" not in e.columns:
        return True, None, None, {}
    owner = e.columns["agentId"]
    if owner != agent:
        return False, owner, [agent], {"what": "agent"}
    if "scope" not in e.columns:
        return True, owner, [agent], {"what": "agent"}
    wanted = [*(e.plan.request.scopes or ()), ""]
    return e.columns["scope"] in wanted, e.columns["scope"], wanted, {}


def inactive(row: CandidateRow, now: int) -> Answer:
    """Whether it is valid at a time: from then on, and not superseded by then."""
    meta = row.metadata
    if meta.valid_from > now:
        return False, meta.valid_from, now, {"what": "future"}
    ended = meta.invalidated_at
    facts = {"superseded_by": meta.superseded_by} if meta.superseded_by else {}
    return not (ended and ended <= now), ended, now, facts


def expired(row: CandidateRow, now: int) -> Answer:
    """Whether its time is over."""
    return not row.metadata.expired(now), row.metadata.valid_until, now, {}


def _adaptive_gate(e: GateEvidence) -> Answer:
    return e.plan.gate_rule is None, e.plan.gate_rule, None, {}


def _candidate_pool(e: GateEvidence) -> Answer:
    """By each lane that ran: the true rank, and whether the lane's walk gets that far."""
    facts: dict[str, Any] = {"lanes": {}}
    passed = False
    fetched = fetch_size(e.plan.lane_limit)
    lanes: list[tuple[str, Lane, VectorRank | WordRank]] = []
    places: list[int] = []
    if e.setting.route in ("hybrid", "vector"):
        lanes.append(("vector", e.setting.vector_lane, e.by_vector))
    if e.setting.route != "vector":
        lanes.append(("bm25", e.setting.bm25_lane, e.by_words))
    for name, lane, rank in lanes:
        hit = next((hit for hit in lane.hits if hit.row.id == e.row.id), None)
        met = hit is not None or any(
            gone.row.id == e.row.id and gone.reason != "inactive" for gone in lane.dropped
        )
        within = rank.rank is not None and rank.rank <= e.plan.lane_limit
        reached = rank.rank is not None and (e.plan.plain or rank.rank + rank.inactive_ahead <= fetched)
        passed = passed or met or (e.blocked and within and reached)
        place = rank.rank if hit is None else hit.rank  # the recall's own where it has one
        places += [place] if place is not None else []
        facts["lanes"][name] = {"rank": place, "of": rank.of, "why": rank.why, "met": met}
        if isinstance(rank, VectorRank) and reached and not met and not e.blocked:
            facts["lanes"][name]["kept_back"] = (rank.rank or 0) + rank.tied <= e.plan.lane_limit
        if rank.inactive_ahead:
            facts["lanes"][name]["inactive_ahead"] = rank.inactive_ahead
    words = e.by_words
    if e.setting.route != "vector":
        facts |= {"question_words": list(words.asked), "shared_words": list(words.shared)}
    if words.folded is False:
        facts["in_index"] = False
    return passed, min(places) if places else None, e.plan.lane_limit, {**facts, "fetched": fetched}


def _tag(e: GateEvidence) -> Answer:
    missing = [tag for tag in e.plan.tags if tag.lower() not in e.row.text.lower()]
    return not missing, missing or None, list(e.plan.tags), {}


def _category(e: GateEvidence) -> Answer:
    meta = e.row.metadata
    return e.plan.matches(e.row), e.row.category, e.plan.request.category, {"smart": meta.memory_category}


def _state(e: GateEvidence) -> Answer:
    meta = e.row.metadata
    passed = meta.state == "confirmed" and meta.memory_layer not in ("archive", "reflection")
    value = meta.state if passed or meta.state != "confirmed" else meta.memory_layer
    return passed, value, "confirmed", {"state": meta.state, "layer": meta.memory_layer}


def _suppressed(e: GateEvidence) -> Answer:
    until = e.row.metadata.suppressed_until_ms
    return not e.row.metadata.suppressed(e.plan.now_ms), until, e.plan.now_ms, {}


def _min_score(e: GateEvidence) -> Answer:
    minimum = e.minimum
    if e.setting.route == "vector":
        score = e.by_vector.score
        return None if score is None else score >= minimum, score, minimum, {}
    record = e.passage.record("rerank_input", "scored_input", "min_score") if e.passage else None
    if e.passage is None or record is None:
        return None, None, minimum, {}
    score = e.passage.before(record)
    return None if score is None else score >= minimum, score, minimum, {}


def _rerank_window(e: GateEvidence) -> Answer:
    record = e.passage.record("rerank_input") if e.passage else None
    if e.passage is None or record is None:
        return None, None, None, {}
    window = record.outcome.params["window"]
    place = 1
    for index in record.before.order.tolist():
        if index == e.passage.index:
            break
        gate = record.outcome.dropped.get(index)
        place += gate is None or gate.reason == "rerank_window"
    return place <= window, place, window, {}


def _rerank(e: GateEvidence) -> Answer:
    """Failed when the reranker lowered the memory, and without it the memory would have come back."""
    record = e.passage.record("reranked") if e.passage else None
    if e.passage is None or record is None:
        return None, None, None, {}
    before, after = e.passage.before(record), e.passage.after(record)
    raw = record.outcome.inputs.get("reranked", record.outcome.inputs.get("cosine"))
    asked = "answer" in record.outcome.params
    said = None if raw is None else float(raw[e.passage.index])
    facts = {"service": asked, "said": said if said == said else None, "note": record.outcome.note}
    facts |= {"from": record.rank_before.get(e.passage.index), "to": record.rank_after.get(e.passage.index)}
    if before is None or after is None or e.rank is not None or after >= before - 1e-12:
        return True, after, before, facts
    cut = _hard_cutoff(e)[0] is False
    lost = (cut and asked) or (not cut and _limit(e)[0] is False and _mmr(e)[0] is not False)
    return not (lost and e.without_rerank()), after, before, facts


def _hard_cutoff(e: GateEvidence) -> Answer:
    record = e.passage.record("hard_cutoff") if e.passage else None
    limit = e.plan.retrieval.hard_min_score
    if e.passage is None or record is None:
        return None, None, limit, {}
    score = e.passage.before(record)
    return None if score is None else score >= limit, score, limit, {"losses": _losses(e)}


def _losses(e: GateEvidence) -> dict[str, float]:
    """What each stage took from or gave to the score, up to the cutoff."""
    out: dict[str, float] = {}
    for record in e.passage.records if e.passage else ():
        if record.kind == "score" and record.name != "fused" and e.passage is not None:
            before, after = e.passage.before(record), e.passage.after(record)
            if before is not None and after is not None and after != before:
                out[record.name] = after - before
    return out


def _noise(e: GateEvidence) -> Answer:
    rule = e.row.noise
    return rule is None, rule, None, {}


def _mmr(e: GateEvidence) -> Answer:
    """Failed when being put last as a near-duplicate is what cost it its place."""
    record = e.passage.record("mmr_diversity") if e.passage else None
    if e.passage is None or record is None:
        return None, None, NEAR_DUPLICATE, {}
    inputs, index = record.outcome.inputs, e.passage.index
    cosine, partner = float(inputs["cosine"][index]), inputs["nearest"][index]
    value = cosine if cosine == cosine else None
    before, after = record.rank_before.get(index), record.rank_after.get(index)
    facts = {"near": partner, "from": before, "to": after}
    if index in record.outcome.dropped:
        return False, value, NEAR_DUPLICATE, facts
    deferred = record.outcome.rule[index] == "deferred"
    lost = deferred and before is not None and before <= e.plan.limit
    return not (lost and after is not None and after > e.plan.limit), value, NEAR_DUPLICATE, facts


def _limit(e: GateEvidence) -> Answer:
    record = e.passage.record("limit") if e.passage else None
    if e.passage is None or record is None:
        return None, None, e.plan.limit, {}
    place = record.rank_before.get(e.passage.index)
    return None if place is None else place <= e.plan.limit, place, e.plan.limit, {}


_CHECKS: Mapping[str, Callable[[GateEvidence], Answer]] = {
    "unknown_id": _known,
    "scope": _scope,
    "inactive": lambda e: inactive(e.row, e.plan.now_ms),
    "expired": lambda e: expired(e.row, e.plan.now_ms),
    "adaptive_gate": _adaptive_gate,
    "candidate_pool": _candidate_pool,
    "tag": _tag,
    "category": _category,
    "state": _state,
    "suppressed": _suppressed,
    "min_score": _min_score,
    "rerank_window": _rerank_window,
    "rerank": _rerank,
    "hard_cutoff": _hard_cutoff,
    "noise_filter": _noise,
    "mmr_diversity": _mmr,
    "limit": _limit,
}


def _pro(e: GateEvidence) -> bool:
    return not e.plan.plain


def _guarded(e: GateEvidence) -> bool:
    return e.plan.guarded


def _reranks(e: GateEvidence) -> bool:
    return _pro(e) and e.setting.route in ("hybrid", "keyword") and e.plan.retrieval.rerank != "none"


def _filters_noise(e: GateEvidence) -> bool:
    named = {stage.name for stage in e.plan.recipe.stages}
    return "noise_filter" in named and e.plan.retrieval.filter_noise


_ASKED: Mapping[str, Callable[[GateEvidence], bool]] = {
    "inactive": _pro,
    "expired": _pro,
    "adaptive_gate": _guarded,
    "category": lambda e: e.plan.request.category is not None,
    "state": _guarded,
    "suppressed": _guarded,
    "min_score": lambda e: e.setting.route != "tag",
    "rerank_window": _reranks,
    "rerank": _reranks,
    "hard_cutoff": _pro,
    "noise_filter": _filters_noise,
    "mmr_diversity": _pro,
}
"""Gates that some recalls do not ask."""


# A memory put among the candidates, and let through every gate: what each stage would have made of it.


@dataclass(frozen=True)
class ForcedPass:
    """One memory's way through the stages, its drops included."""

    index: int
    pool: CandidatePool
    records: Sequence[StageRecord]

    def record(self, *names: str) -> StageRecord | None:
        """The first stage with one of these names that ran."""
        return next((record for record in self.records if record.name in names), None)

    def gate(self, reason: str) -> Drop | None:
        """The gate of this name, where a stage dropped the memory by it."""
        gates = (record.outcome.dropped.get(self.index) for record in self.records)
        return next((gate for gate in gates if gate is not None and gate.reason == reason), None)

    def before(self, record: StageRecord) -> float | None:
        """The memory's score when it came to a stage."""
        return _number(record.before.score[self.index])

    def after(self, record: StageRecord) -> float | None:
        """The memory's score after a stage."""
        return _number(record.outcome.flow.score[self.index])


def force(
    run: PlannedRun, setting: StageContext, row: CandidateRow, by_vector: VectorRank, by_words: WordRank
) -> ForcedPass | None:
    """Run the stages with `row` among the candidates; None where it has no score to start from.

    Where a lane found it, the hits that were made are all that counts: this is the recall as it was. Where none did,
    it is put into the lanes that reach as far as its true rank (a memory of a scope that was not searched), at its
    true distance and with its true BM25 value, and what it pushes out of them is gone: the recall as it would be if
    the memory were let past. Where no lane reaches it, it is put into both in addition to what these found.
    """
    vector_lane, bm25_lane = setting.vector_lane, setting.bm25_lane
    if not any(hit.row.id == row.id for lane in (vector_lane, bm25_lane) for hit in lane.hits):
        most = run.plan.lane_limit
        near, worded = (
            by_vector.rank is not None and by_vector.rank <= most,
            (by_words.rank or most + 1) <= most,
        )
        if near or not worded:
            hit = _vector_hit(setting, row, by_vector, run.plan.plain)
            vector_lane = _with(vector_lane, hit, most if near else None)
        if worded or not near:
            bm25_lane = _with(bm25_lane, _word_hit(setting, row, by_words), most if worded else None)
    given = replace(setting, vector_lane=vector_lane, bm25_lane=bm25_lane)
    pool = pool_of(vector_lane, bm25_lane, run.plan.now_ms, run.outside.kin)
    index = next((at for at, each in enumerate(pool.rows) if each.id == row.id), None)
    if index is None or not (index in pool.vector or index in pool.bm25):
        return None
    return ForcedPass(index, pool, run.stages(given, pool, keep=index))


def _vector_hit(setting: StageContext, row: CandidateRow, rank: VectorRank, plain: bool) -> Hit | None:
    if rank.distance is None or rank.score is None or setting.route in ("tag", "keyword"):
        return None
    rule = "inverse_squared_l2" if plain else "inverse_distance"
    return Hit(row, 0, rank.score, rank.distance, rule, {"distance": rank.distance})


def _word_hit(setting: StageContext, row: CandidateRow, rank: WordRank) -> Hit | None:
    if rank.raw is None or rank.score is None or setting.route == "vector":
        return None
    return Hit(row, 0, rank.score, rank.raw, "bm25_logistic", {"raw_bm25": rank.raw})


def _with(lane: Lane, hit: Hit | None, most: int | None) -> Lane:
    """`lane` with `hit` at its place by score, the first `most` kept, unless it holds the memory already."""
    if hit is None or any(each.row.id == hit.row.id for each in lane.hits):
        return lane
    ahead = [each for each in lane.hits if each.score >= hit.score]
    hits = [*ahead, hit, *lane.hits[len(ahead) :]]
    kept = tuple(hit._replace(rank=rank) for rank, hit in enumerate(hits[:most], 1))
    dropped = tuple(each for each in lane.dropped if each.row.id != hit.row.id)
    return replace(lane, hits=kept, dropped=dropped)


def _number(value: float) -> float | None:
    return float(value) if value == value else None
