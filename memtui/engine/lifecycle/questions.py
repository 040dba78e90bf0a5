"""What can be asked of a store's lifecycle: population, plan, forecast, one memory's life, and the review.

Reads only; calls may come from several threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.catalog.types import Finding
from memtui.engine.core.progress import CancelToken, OnProgress
from memtui.engine.lifecycle.board import Board, BoardAsk, StoreHistory
from memtui.engine.lifecycle.curves import Measure
from memtui.engine.lifecycle.memory_life import MemoryLife
from memtui.engine.lifecycle.reading import CachedPopulation
from memtui.engine.lifecycle.review_queue import Review
from memtui.engine.lifecycle.settings import LifecycleSettings, resolve_settings, with_changes
from memtui.engine.lifecycle.tier_plan import Mover, mover_of

if TYPE_CHECKING:
    from memtui.engine.cases.case import Case
    from memtui.engine.changes.change_set import ChangeSet
    from memtui.engine.engine import Engine
    from memtui.engine.lifecycle.case_effects import CaseLoss, Questions, SweepEffect
    from memtui.engine.lifecycle.population import PopulationEvidence, ScoredPopulation
    from memtui.engine.lifecycle.review_queue import ReviewProgress
    from memtui.engine.lifecycle.tier_plan import Crossing, TierMove, TierPlan
    from memtui.engine.recall.record import Trace


RECIPE = "pro/agent"
"""Saved questions are asked as the agent of memory-lancedb-pro does: its recalls are the ones that decay."""

CHUNK = 4_096
"""Rows whose ids are made into text at a time."""


# ------------------------------------------------------------------ settings


def own_settings(engine: Engine, config: Mapping[str, Any] | None = None) -> LifecycleSettings:
    """The plugin's own blocks of this store's agent, with `config` ({"decay": ..., "tier": ...}) over them.

    Raises ConfigError with the path of a bad key in `config`.
    """
    found = engine.found
    return resolve_settings(
        config,
        base_decay=found.decay if found else None,
        base_tier=found.tier if found else None,
        origin=found.config if found else "",
    )


def mover_in(engine: Engine) -> Mover:
    """Who moves memories between tiers here, beside a sweep; see `Mover`."""
    return mover_of(engine.found.settings if engine.found else None)


# ------------------------------------------------------------------ the whole store


def make_board(
    engine: Engine,
    ask: BoardAsk,
    settings: LifecycleSettings | None = None,
    *,
    texts: bool = True,
    cancel: CancelToken | None = None,
) -> Board:
    """Population, plan and forecast as `ask` wants them; `texts` reads the titles of what is listed."""
    from memtui.engine.lifecycle.board import build_board

    began = engine.timer()
    read = engine.population.present(cancel)
    traits, chosen = engine.population.chosen(read, ask.scopes)
    used = with_changes(settings or own_settings(engine), ask.changes)
    known = engine.population.known_evidence(read.catalog)
    pinned = known.pinned[chosen] if known else None
    board = build_board(read.catalog, traits, chosen, ask, used, read.now_ms, cancel, pinned)
    board = replace(board, ms=(engine.timer() - began) * 1000, mover=mover_in(engine))
    if not texts:
        return board
    listed = [*(move.id for move in board.moves), *(crossing.id for crossing in board.crossings)]
    return replace(board, titles=engine.population.titles(read.catalog, listed))


def store_history(engine: Engine, scopes: tuple[str | None, ...] | None = None) -> StoreHistory:
    """Ages, use, growth and calendar: what no setting changes."""
    from memtui.engine.lifecycle.board import history_of

    read = engine.population.present(None)
    traits, chosen = engine.population.chosen(read, scopes)
    return history_of(read.catalog, traits, read.now_ms, chosen)


def lifecycle_findings(
    engine: Engine,
    settings: LifecycleSettings | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> tuple[Finding, ...]:
    """What a person should know of this store's lifecycle; reads the metadata once."""
    from memtui.engine.lifecycle.reality_check import find_reality

    read = engine.population.present(cancel)
    used = settings or own_settings(engine)
    evidence = engine.population.evidence(read.catalog, on_progress, cancel)
    plan, scored = _plan(read, used, evidence)
    return find_reality(
        read.catalog,
        read.traits,
        scored,
        plan,
        used,
        now_ms=read.now_ms,
        evidence=evidence,
        plugin=engine.found.settings if engine.found else None,
    )


def plan_moves(
    engine: Engine, settings: LifecycleSettings | None = None, now_ms: int | None = None
) -> tuple[TierMove, ...]:
    """Every move that the tier manager would make now, in the order of the list."""
    from memtui.engine.lifecycle.tier_plan import moves_of

    read = engine.population.present(None, now_ms)
    used = settings or own_settings(engine)
    plan, scored = _plan(read, used, engine.population.evidence(read.catalog, None, None))
    return tuple(moves_of(plan, read.catalog, read.traits, scored, used.tier))


def plan_sweep(
    engine: Engine, settings: LifecycleSettings | None = None, *, everyone: bool = False
) -> tuple[ChangeSet, tuple[TierMove, ...]]:
    """The plan as a change set to apply, and the moves that it makes; held ones only with `everyone`."""
    from memtui.engine.changes.suggested import sweep_set, swept

    moves = swept(plan_moves(engine, settings), everyone=everyone)
    planned = sweep_set(engine, moves)
    made = set(planned.ids)
    return planned, tuple(move for move in moves if move.id in made)


def find_crossings(
    engine: Engine,
    *,
    days: float,
    scenario: str,
    settings: LifecycleSettings | None = None,
    now_ms: int | None = None,
    cancel: CancelToken | None = None,
) -> tuple[Crossing, ...]:
    """Every crossing of every memory within the horizon, the earliest first."""
    import numpy as np

    from memtui.engine.lifecycle.board import crossings_of, scenario_named
    from memtui.engine.lifecycle.crossings import forecast, horizon

    read = engine.population.present(cancel, now_ms)
    used = settings or own_settings(engine)
    scored = _score(read, used)
    coming = forecast(
        read.traits,
        now_ms=read.now_ms,
        until_ms=horizon(read.now_ms, days),
        scenario=scenario_named(scenario),
        decay=used.decay,
        tier=used.tier,
        scored=scored,
        cancel=cancel,
    )
    everyone = np.arange(read.traits.n)
    return crossings_of(coming, read.catalog, read.traits, scored, everyone, everyone=True)[1]


def iterate_numbers(
    engine: Engine, settings: LifecycleSettings | None = None, now_ms: int | None = None
) -> Iterator[dict[str, Any]]:
    """One document a memory with all its numbers, in the order of the list."""
    from memtui.engine.core.memory import TIERS

    read = engine.population.present(None, now_ms)
    scored = _score(read, settings or own_settings(engine))
    numbers = ("recency", "frequency", "intrinsic", "composite", "boost")
    for start in range(0, read.traits.n, CHUNK):
        at = slice(start, min(read.traits.n, start + CHUNK))
        ids = read.catalog.ids.texts(range(at.start, at.stop))
        columns = [getattr(scored, name)[at].tolist() for name in numbers]
        stale, tier, after = (
            column[at].tolist() for column in (scored.stale, read.traits.tier, scored.next_tier)
        )
        for n, memory in enumerate(ids):
            values = {name: column[n] for name, column in zip(numbers, columns, strict=True)}
            tiers = {"tier": TIERS[tier[n]], "next_tier": TIERS[after[n]]}
            yield {"id": memory, **values, "stale": stale[n], **tiers}


# ------------------------------------------------------------------ one memory


def follow_memory(
    engine: Engine,
    memory: str,
    ask: BoardAsk,
    *,
    measure: Measure = "composite",
    points: int = 160,
    settings: LifecycleSettings | None = None,
) -> MemoryLife:
    """One memory on its curve: past, future, where each number comes from, and what could be done.

    An empty text is a memory as the plugin makes one by default, written now. Raises UsageError when there
    is no such memory, or several.
    """
    from memtui.engine.catalog.views import find_one
    from memtui.engine.core.text import one_line
    from memtui.engine.lifecycle.curves import typical
    from memtui.engine.lifecycle.memory_life import make_life

    read = engine.population.present(None)
    used = with_changes(settings or own_settings(engine), ask.changes)
    if not memory:
        model = make_life("", typical(read.now_ms), 0, ask, used, read.now_ms, measure, points)
        return replace(model, mover=mover_in(engine))
    found = find_one(engine.population.store, read.catalog, memory, now_ms=read.now_ms)
    place = int(read.catalog.find(found.id)[0])
    life = make_life(found.id, read.traits, place, ask, used, read.now_ms, measure, points)
    return replace(life, title=one_line(found.text[:400]), mover=mover_in(engine))


# ------------------------------------------------------------------ review


def review(
    engine: Engine,
    progress: ReviewProgress | None = None,
    *,
    limit: int | None = None,
    settings: LifecycleSettings | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Review:
    """The queue of memories to look at, without those that `progress` says are settled."""
    from memtui.engine.core.memory import STATES
    from memtui.engine.lifecycle.crossings import forecast, horizon
    from memtui.engine.lifecycle.review_queue import (
        NEXT_DAYS,
        ReviewEvidence,
        make_review,
        settled_lately,
        weigh,
    )

    read = engine.population.present(cancel)
    used = settings or own_settings(engine)
    evidence = engine.population.evidence(read.catalog, on_progress, cancel)
    coming = forecast(
        read.traits,
        now_ms=read.now_ms,
        until_ms=horizon(read.now_ms, NEXT_DAYS),
        scenario="no access",
        decay=used.decay,
        tier=used.tier,
        cancel=cancel,
    )
    meta = read.catalog.meta
    assert meta is not None
    doubts = weigh(read.traits, evidence, meta.state == STATES.index("pending"), coming)
    decisions = progress.decisions() if progress else {}
    return make_review(
        engine.population.store,
        ReviewEvidence(read.catalog, read.traits, evidence, coming, doubts),
        settled={memory for memory, decision in decisions.items() if decision.holds(read.now_ms)},
        lately=settled_lately(decisions, read.now_ms),
        limit=limit,
    )


# ------------------------------------------------------------------ cases


def case_losses(
    engine: Engine,
    cases: Sequence[Case],
    *,
    days: float,
    scenario: str = "no access",
    settings: LifecycleSettings | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> tuple[CaseLoss, ...]:
    """Which cases lose an expected memory within so many days of a scenario, and when.

    What is used is read from the store as it is now; that the agent itself would use what it recalls is
    left out.
    """
    from memtui.engine.lifecycle.board import scenario_named
    from memtui.engine.lifecycle.case_effects import cause_of, find_losses, uses_of
    from memtui.engine.lifecycle.crossings import horizon, usage_of

    read = engine.population.present(cancel)
    now_ms, config, questions = read.now_ms, _recall_config(settings), _questions(engine, cancel)
    named = scenario_named(scenario)
    usage = usage_of(read.traits, now_ms, named)
    uses = None if named == "no access" else uses_of(read.catalog, usage, now_ms)

    def ask(case: Case, at_ms: int) -> Trace:
        return questions.answer(case, at_ms, config, uses)

    found = find_losses(
        cases,
        lambda case, at_ms: ask(case, at_ms).returned,
        now_ms=now_ms,
        until_ms=horizon(now_ms, days),
        cause=lambda case, memory, low, high: cause_of(ask(case, low), ask(case, high), memory),
        on_progress=on_progress,
        cancel=cancel,
    )
    named_ids = [each for loss in found for each in (loss.memory, *_overtakers(loss))]
    titles = engine.population.titles(read.catalog, named_ids)
    return tuple(
        replace(
            loss,
            title=titles[loss.memory],
            cause=loss.cause and replace(loss.cause, overtaker=titles.get(loss.cause.overtaken_by, "")),
        )
        for loss in found
    )


def case_effect(
    engine: Engine, cases: Sequence[Case], settings: LifecycleSettings, *, cancel: CancelToken | None = None
) -> Mapping[str, float | None]:
    """The cases' measures when recall runs with these settings: hit, recall, mrr, ndcg, ..."""
    config = _recall_config(settings)
    return _questions(engine, cancel).measures(cases, config, engine.population.known_ids).mean


def sweep_effect(
    engine: Engine, cases: Sequence[Case], moves: Sequence[TierMove], *, cancel: CancelToken | None = None
) -> SweepEffect:
    """What the moves would do to the cases, without writing them."""
    tiers = {move.id: move.after for move in moves}
    return _questions(engine, cancel).effect(cases, tiers, engine.population.known_ids)


def _questions(engine: Engine, cancel: CancelToken | None) -> Questions:
    from memtui.engine.lifecycle.case_effects import Questions

    return Questions(engine.recall_context(), RECIPE, cancel)


def _recall_config(settings: LifecycleSettings | None) -> dict[str, Any] | None:
    return None if settings is None else {"decay": settings.as_blocks()["decay"]}


# ------------------------------------------------------------------ inside


def _score(read: CachedPopulation, settings: LifecycleSettings) -> ScoredPopulation:
    from memtui.engine.lifecycle.population import score

    return score(read.traits, now_ms=read.now_ms, decay=settings.decay, tier=settings.tier)


def _plan(
    read: CachedPopulation, settings: LifecycleSettings, evidence: PopulationEvidence
) -> tuple[TierPlan, ScoredPopulation]:
    from memtui.engine.lifecycle.tier_plan import make_plan

    scored = _score(read, settings)
    return make_plan(read.traits, scored, read.now_ms, evidence.pinned), scored


def _overtakers(loss: CaseLoss) -> tuple[str, ...]:
    """The memory that takes a lost one's place, if one does."""
    return (loss.cause.overtaken_by,) if loss.cause and loss.cause.overtaken_by else ()
