"""Why not, for recipes with stages of their own: the gates are those that their traces name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from memtui.engine.access import GLOBAL
from memtui.engine.core.memory import ARCHIVED
from memtui.engine.explain import sentences
from memtui.engine.explain.candidate_changes import (
    FOUND,
    CandidateChange,
    added_words,
    clock_moves,
    let_through,
    of_knob,
)
from memtui.engine.explain.effective_settings import parameters
from memtui.engine.explain.ladder import expired, inactive
from memtui.engine.explain.verdict import GateResult
from memtui.engine.recall.recipes.registry import recipe_named

if TYPE_CHECKING:
    from memtui.engine.explain.ranks import VectorRank, WordRank
    from memtui.engine.recall.record import StageRecord, Trace
    from memtui.engine.recall.rows import CandidateRow


OF_THE_MEMORY = frozenset(
    {"scope", "category", "inactive", "expired", "state", "suppressed", "private", "metadata", "kind", "user"}
)
"""Gates that no larger limit opens."""

EVERY_GATE = FOUND | {"scope", "category"}


def climb_other(
    trace: Trace, row: CandidateRow, by_vector: VectorRank, by_words: WordRank
) -> tuple[GateResult, ...]:
    """The gates of a memory: its id, its scope, whether a search found it, then each stage that can drop it."""
    index = next((at for at, each in enumerate(trace.pool.rows) if each.id == row.id), None)
    scope = _scope(trace, row)
    rungs = [
        GateResult(
            "unknown_id", True, row.id, None, sentences.sentence("unknown_id", True, row.id, None, {})
        ),
        scope,
        *_own_guards(trace, row),
        _pool(trace, index, by_vector, by_words, in_scope=scope.passed is not False),
    ]
    failed = any(rung.passed is False for rung in rungs)
    said = {rung.gate for rung in rungs}
    for record in trace.records:
        rung = _stage(record, index, failed)
        if rung is not None and rung.gate not in said:
            rungs.append(rung)
            failed = failed or rung.passed is False
    return tuple(rungs)


def searched_scopes(trace: Trace) -> Sequence[str] | None:
    """The scopes that were searched; None without a filter. A recipe with a policy of its own names them itself."""
    recipe = recipe_named(trace.recipe)
    if recipe.scope_by_scope and trace.asker is not None:
        return trace.asker.scopes or ()
    if recipe.below_scopes and trace.asker is not None:
        return trace.asker.scopes
    scopes: Sequence[str] | None = trace.filters.get("scopes")
    return scopes


def _scope(trace: Trace, row: CandidateRow) -> GateResult:
    """By the scopes asked for; a recipe with a scope policy of its own takes them as its own words."""
    scopes = searched_scopes(trace)
    blank_is_global = recipe_named(
        trace.recipe
    ).scope_by_scope  # as its policy has it; elsewhere no filter meets it
    passed = scopes is None or row.scope in scopes or (blank_is_global and not row.scope and GLOBAL in scopes)
    limit = None if scopes is None else list(scopes)
    return GateResult(
        "scope", passed, row.scope, limit, sentences.sentence("scope", passed, row.scope, limit, {})
    )


def _own_guards(trace: Trace, row: CandidateRow) -> Iterator[GateResult]:
    """What the recipe asks of every memory: its program's own rules, in force, not expired, not archived."""
    for rule in recipe_named(trace.recipe).row_rules(trace, row):
        yield GateResult(rule.gate, rule.passed, rule.value, rule.wanted, rule.words)
    for gate in recipe_named(trace.recipe).guards:
        if gate == "state":
            state = row.metadata.state
            archived = state == ARCHIVED
            words = "It is archived; this recipe leaves such memories out." if archived else f"It is {state}."
            yield GateResult(gate, not archived, state, None, words)
            continue
        passed, value, limit, facts = (inactive if gate == "inactive" else expired)(row, trace.now_ms)
        yield GateResult(
            gate, passed, value, limit, sentences.sentence(gate, passed, value, limit, facts), facts=facts
        )


def _pool(
    trace: Trace, index: int | None, by_vector: VectorRank, by_words: WordRank, *, in_scope: bool
) -> GateResult:
    hits = max(len(trace.pool.vector), len(trace.pool.bm25))
    lanes: dict[str, dict[str, Any]] = {}
    for name, rank, hits_of in (
        ("vector", by_vector, trace.pool.vector),
        ("bm25", by_words, trace.pool.bm25),
    ):
        hit = None if index is None else hits_of.get(index)
        place, why = (rank.rank if hit is None else hit.rank), rank.why
        if hit is None and name == "bm25" and recipe_named(trace.recipe).scope_by_scope:
            place, why = (
                None,
                (
                    "the search of its tier, which needs no index, did not deliver it"
                    if in_scope
                    else "not known, its scope was not searched"
                ),
            )
        lanes[name] = {"rank": place, "of": rank.of, "why": why, "met": index is not None}
    facts = {
        "lanes": lanes,
        "question_words": list(by_words.asked),
        "shared_words": list(by_words.shared),
        "fetched": hits,
    }
    ranks = [int(lane["rank"]) for lane in lanes.values() if lane["rank"] is not None]
    value, passed = (min(ranks) if ranks else None), index is not None
    words = sentences.sentence("candidate_pool", passed, value, hits, facts)
    if not in_scope:
        words = words.replace("It never became a candidate.", "Its scope was not searched. If it were:", 1)
    return GateResult("candidate_pool", passed, value, hits, words, facts=facts, hypothetical=not in_scope)


def _stage(record: StageRecord, index: int | None, failed: bool) -> GateResult | None:
    gate = record.outcome.dropped.get(index) if index is not None else None
    if gate is not None and gate.reason == "limit" and index in record.rank_before:
        place, most = record.rank_before[index], len(record.outcome.flow.order)
        words = sentences.sentence("limit", False, place, most, {})
        return GateResult("limit", False, place, most, words, hypothetical=failed)
    if gate is not None:
        numbers = "" if gate.value is None else f" at {gate.value:.4g}"
        limit = "" if gate.limit is None else f", the limit is {gate.limit:.4g}"
        words = f"It was dropped by {record.title}: {gate.reason.replace('_', ' ')}{numbers}{limit}."
        return GateResult(gate.reason, False, gate.value, gate.limit, words, hypothetical=failed)
    if record.kind not in ("filter", "order"):
        return None
    if index is None or index not in record.rank_after:
        return GateResult(record.name, None, sentence=sentences.UNKNOWN, hypothetical=failed)
    return GateResult(record.name, True, sentence=f"It passed {record.title}.", hypothetical=failed)


def other_moves(trace: Trace, row: CandidateRow) -> list[CandidateChange]:
    """Every parameter of the recipe, the memory's scope, no category, a word of the memory, what lets it through."""
    moves = [*_parameters(trace), *_filters(trace, row), *added_words(trace, row)]
    if guards := frozenset(recipe_named(trace.recipe).guards):
        moves += clock_moves(row, trace.now_ms, guards)
        moves += let_through(row, trace.now_ms, guards)
    return moves


def other_powerless(trace: Trace) -> dict[str, str]:
    """Parameters that do nothing in this recall, with the reason."""
    return {parameter.knob.path: parameter.inert for parameter in parameters(trace) if parameter.inert}


def _parameters(trace: Trace) -> Iterator[CandidateChange]:
    opens = _gates_of(trace) - OF_THE_MEMORY
    recipe = recipe_named(trace.recipe)
    finding, own = recipe.finding, f"{recipe.block}."
    for parameter in parameters(trace):
        path = parameter.knob.path
        if not parameter.inert and path != "source":
            weighs = finding is not None and path.startswith(own) and path not in finding
            yield from of_knob(
                parameter.knob, parameter.value, opens - {"candidate_pool"} if weighs else opens
            )


def _filters(trace: Trace, row: CandidateRow) -> Iterator[CandidateChange]:
    scopes, category = searched_scopes(trace), trace.filters.get("category")
    changes: list[tuple[str, object, object]] = []
    if scopes is not None and row.scope is not None and row.scope not in scopes:
        named = trace.filters.get("scopes") if recipe_named(trace.recipe).below_scopes else scopes
        changes.append(("scopes", list(scopes), [*(named or ()), row.scope]))
        if recipe_named(
            trace.recipe
        ).scope_by_scope:  # the first scope is asked first, the others only for what is missing
            changes.append(("scopes", list(scopes), [row.scope]))
    if category is not None:
        changes.append(("category", category, None))
    for path, before, after in changes:
        yield CandidateChange(
            path,
            before,
            _gates_of(trace),
            1,
            lambda k, after=after: after,  # type: ignore[misc]
            lambda k: 1.0,
            lambda value, path=path: {path: value},  # type: ignore[misc]
        )


def _gates_of(trace: Trace) -> frozenset[str]:
    """Every gate that this recall knows: what such a move opens is seen by trying."""
    reasons = {gate.reason for record in trace.records for gate in record.outcome.dropped.values()}
    return EVERY_GATE | reasons | {record.name for record in trace.records}
