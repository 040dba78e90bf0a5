"""A trace in the words of the painters: stages on the clock, a score taken apart, who was dropped where."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.engine import one_line
from memtui.tui.paint.glyphs import UNICODE, Glyphs
from memtui.tui.paint.numbers import score
from memtui.tui.paint.timeline import StageTiming
from memtui.tui.paint.waterfall import TOLERANCE, Waterfall, WaterfallStep
from memtui.tui.trace.rule_text import figure, formula, stretch_words, stretched

if TYPE_CHECKING:
    from memtui.engine import Trace
    from memtui.engine.recall import Candidate, StageSummary, Step


_STYLES = {
    "embed_query": "$stage-vector",
    "vector_ranked": "$stage-vector",
    "bm25_ranked": "$stage-lexical",
    "scored_input": "$stage-fuse",
    "rerank_input": "$stage-cut",
    "fused": "$stage-fuse",
    "reranked": "$stage-rerank",
    "rerank_request": "$stage-rerank",
    "identifier_ranked": "$stage-lexical",
    "late_interaction": "$stage-rerank",
    "token_vectors": "$stage-rerank",
}

_KINDS = {"operation": "$stage-vector", "search": "$stage-vector", "score": "$stage-boost"}

_SHORT = {
    "min score, window": "min + window",
    "min score, expiry": "min + expiry",
    "fusion +15 %": "fusion +15%",
    "adaptive gate": "adaptive gate",
}

_MERGED = (
    (("fused", "rerank_input", "scored_input", "min_score"), "fuse+min"),
    (
        (
            "recency_boost",
            "importance_weight",
            "length_normalization",
            "time_decay",
            "decay_boost",
            "speaker",
            "date",
            "neighbours",
            "kind",
            "recency",
        ),
        "boosts",
    ),
    (("hard_cutoff", "noise_filter"), "cut+noise"),
    (("mmr_diversity", "limit"), "mmr+limit"),
    (("governance", "adaptive_gate"), "agent gates"),
)
"""Stages that share a row where there is no room for one each."""


RANKS_K = 60
"""The constant of reciprocal rank fusion: a place is worth 1 / (60 + place)."""

BEST_RANKS = 2 / (RANKS_K + 1)
"""What a memory gets that is first in both searches: the whole of a fusion by ranks."""


def stage_style(name: str, kind: str = "score") -> str:
    """The hue of a stage, the same in every panel."""
    return _STYLES.get(name) or _KINDS.get(kind, "$stage-cut")


def told_waits(report: Callable[[str], None]) -> Callable[[StageSummary], None]:
    """What hears the stages of a recall, and reports in words what its answer waits for."""
    return lambda stage: report(waits(stage)) if stage.begins else None


def waits(stage: StageSummary) -> str:
    """What an answer waits for, with how much of it is there: "fetching 100,000 vectors (102 MB) ..., 41% so far"."""
    share = stage.n_out / stage.n_in if stage.n_in else 0.0
    return f"{stage.note}, {share:.0%} so far" if stage.n_out else stage.note


def stage_title(stage: StageSummary) -> str:
    """The stage's title in at most 13 cells."""
    return _SHORT.get(stage.title, one_line(stage.title))


def ran(trace: Trace) -> tuple[StageSummary, ...]:
    """Everything that took its turn: the operations before the stages, then the stages.

    The reranker is asked inside its stage, whose time includes the answer's.
    """
    return (*(o for o in trace.operations if o.name != "rerank_request"), *trace.stages)


def laps(
    stages: Sequence[StageSummary], *, stale: Sequence[StageSummary] = (), merged: bool = False
) -> list[StageTiming]:
    """The stages on the clock; searches side by side, the others one after the other.

    `stale` are those of the recall before, still awaited.
    """
    out: list[StageTiming] = []
    at, after = 0.0, 0.0
    rows = [*((s, False) for s in _grouped(stages, merged)), *((s, True) for s in _grouped(stale, merged))]
    for group, old in rows:
        first, last = group[0], group[-1]
        counted = first.kind != "operation"
        ms = sum(max(0.0, s.ms) for s in group)
        if first.kind != "search":
            at = after
        out.append(
            StageTiming(
                stage_title(first) if len(group) == 1 else _merged_title(group),
                at,
                ms,
                first.n_in if counted else None,
                last.n_out if counted else None,
                stage_style(first.name, first.kind),
                stale=old,
                warn=any(warns(s) for s in group),
                name=first.name,
                idle=first.kind == "search" and first.params.get("via") == "",
            )
        )
        after = max(after, at + ms)
        if first.kind != "search":
            at = after
    return out


def warns(stage: StageSummary) -> bool:
    """Whether a stage has something to say that a person should read."""
    return bool(stage.note) and stage.note != "off"


def _grouped(stages: Sequence[StageSummary], merged: bool) -> list[list[StageSummary]]:
    if not merged:
        return [[stage] for stage in stages]
    where = {name: title for names, title in _MERGED for name in names}
    groups: list[list[StageSummary]] = []
    for stage in stages:
        title = where.get(stage.name)
        if groups and title is not None and where.get(groups[-1][0].name) == title:
            groups[-1].append(stage)
        else:
            groups.append([stage])
    return groups


def _merged_title(group: Sequence[StageSummary]) -> str:
    title = next(title for names, title in _MERGED if group[0].name in names)
    return f"{title} x{len(group)}" if title == "boosts" else title


def fall(trace: Trace, candidate: Candidate, glyphs: Glyphs = UNICODE) -> Waterfall:
    """The candidate's score as steps from 0: from the stage where its chain of scores begins.

    Lanes before a fusion are evidence, not part of the chain; a weighted fusion shows one step for each lane.
    """
    stages = {stage.name: stage for stage in trace.stages}
    moves: list[WaterfallStep] = []
    for step in _chain(candidate):
        stage = stages.get(step.stage)
        if step.after is None:
            continue
        title = stage_title(stage) if stage else step.stage
        style = stage_style(step.stage, stage.kind if stage else "score")
        scores = stage is None or stage.kind in ("score", "search")
        if not scores and step.after == step.before and step.rule != "deferred":
            continue
        lanes = _lane_moves(step)
        if lanes:
            moves += lanes
        else:
            said = formula(step.rule, step.before, step.inputs)
            if step.rule == "unchanged" and stage is not None and stage.note:
                said = one_line(stage.note)
            moves.append(
                WaterfallStep(title, step.before or 0.0, step.after, style, said, _places(step, glyphs))
            )
    limit = candidate.limit if candidate.reason in ("min_score", "hard_cutoff") else None
    if not moves:  # stopped in its lane: there is nothing to take apart
        return Waterfall((), 0.0)
    return Waterfall(tuple(moves), candidate.score or 0.0, limit)


def _chain(candidate: Candidate) -> tuple[Step, ...]:
    """The steps from the last fresh start: a fusion starts anew from what both lanes found."""
    starts = [i for i, step in enumerate(candidate.steps) if step.before is None and step.after is not None]
    return candidate.steps[starts[-1] :] if starts else ()


def _lane_moves(step: Step) -> list[WaterfallStep]:
    """A fusion as one step a lane, and one more where a sum was clamped; nothing where the parts do not give it."""
    assert step.after is not None  # the caller asks only for steps that kept the candidate
    moves: list[WaterfallStep] = []
    at = 0.0
    for lane, gain, style, words in _shares(step):
        moves.append(WaterfallStep(lane, at, at + gain, style, words))
        at += gain
    if step.rule == "weighted_sum" and moves and at > 1 >= step.after:
        return [
            *moves,
            WaterfallStep("clamp", at, step.after, "$stage-fuse", "a score stays between 0 and 1"),
        ]
    if not moves or abs(at - step.after) > TOLERANCE:
        return []
    return [*moves[:-1], replace(moves[-1], after=step.after)]


def _shares(step: Step) -> list[tuple[str, float, str, str]]:
    """What each lane gave to a fusion: its name, the gain, its hue, the formula."""
    i = step.inputs
    found: list[tuple[str, float, str, str]] = []
    if step.rule == "weighted_sum":
        for lane, style in (("vector", "$stage-vector"), ("bm25", "$stage-lexical")):
            score, weight = i.get(lane), i.get(f"{lane}_weight")
            if isinstance(score, int | float) and isinstance(weight, int | float):
                found.append((lane, score * weight, style, f"{figure(weight)} x {figure(score)}"))
    elif step.rule == "reciprocal_ranks":
        tier = f", tier {one_line(str(i['tier']))}" if i.get("tier") else ""
        for lane, style in (("vector", "$stage-vector"), ("bm25", "$stage-lexical")):
            rank = i.get(f"{lane}_rank")
            if isinstance(rank, int | float):
                found.append((lane, 1 / (RANKS_K + rank), style, f"1 / (60 + #{rank:.0f}){tier}"))
    elif step.rule == "stretched_sum":
        part, weight = stretched(i, "cosine"), float(i.get("vector_weight") or 0.0)
        words = f"{figure(weight)} x {stretch_words(i, 'cosine')} cosine"
        found.append(("vector", part * weight, "$stage-vector", words))
        b, best, weight = (
            i.get("bm25"),
            float(i.get("highest_bm25") or 0.0),
            float(i.get("bm25_weight") or 0.0),
        )
        if isinstance(b, int | float) and best > 0:
            words = f"{figure(weight)} x {figure(b, 2)} / {figure(best, 2)}"
            found.append(("bm25", weight * b / best, "$stage-lexical", words))
        letter, weight = float(i.get("identifiers") or 0.0), float(i.get("identifier_weight") or 0.0)
        if letter:
            words = f"{figure(weight)} x {figure(letter)} of the identifiers"
            found.append(("exact match", weight * letter, "$stage-lexical", words))
    return found


def of_ranks(candidate: Candidate) -> Mapping[str, Any] | None:
    """What a fusion by ranks knew of the candidate: its place in each search and its tier; None without one."""
    return next((step.inputs for step in candidate.steps if step.rule == "reciprocal_ranks"), None)


def score_words(candidate: Candidate) -> str:
    """The candidate's score as printed: a sum of places as its share of the best, hundredths would look alike."""
    if candidate.score is not None and of_ranks(candidate) is not None:
        return f"{candidate.score / BEST_RANKS:.1%}".replace("100.0%", "100%")
    return score(candidate.score)


def _places(step: Step, glyphs: Glyphs) -> str:
    a, b = step.rank_before, step.rank_after
    return f"#{a} {glyphs.forth} #{b}" if a is not None and b is not None and a != b else ""


@dataclass(frozen=True, slots=True)
class Dropped:
    """One stage's gate and the candidates that it stopped, the nearest miss first."""

    stage: str
    title: str
    reason: str
    note: str
    candidates: tuple[Candidate, ...]


def dropped(trace: Trace) -> tuple[Dropped, ...]:
    """Who did not come back, by gate, in the order of the stages."""
    order = {stage.name: i for i, stage in enumerate(trace.stages)}
    stages = {stage.name: stage for stage in trace.stages}
    groups: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in trace.candidates:
        if candidate.rank is None:
            groups.setdefault((candidate.disposition, candidate.reason), []).append(candidate)
    found = sorted(groups.items(), key=lambda item: order.get(item[0][0], len(order)))
    return tuple(
        Dropped(
            name,
            stage_title(stages[name]) if name in stages else name,
            reason,
            stages[name].note if name in stages else "",
            tuple(sorted(candidates, key=lambda c: -(c.score or 0.0))),
        )
        for (name, reason), candidates in found
    )


def in_order(trace: Trace) -> list[str]:
    """Ids of all candidates as the lists show them: the results, then the dropped by gate."""
    return [c.id for c in trace.results] + [c.id for group in dropped(trace) for c in group.candidates]


def climbed(candidate: Candidate) -> int | None:
    """Places won (positive) or lost against the fused order, or that of the only lane; None where unknown."""
    if candidate.rank is None:
        return None
    for name in ("fused", "vector", "bm25"):
        start = candidate.sources.get(name, {}).get("rank")
        if start is not None:
            return int(start) - candidate.rank
    return None


def gate_step(candidate: Candidate) -> Mapping[str, Any]:
    """The inputs of the step that dropped the candidate; empty when it came back."""
    return next((step.inputs for step in candidate.steps if step.after is None), {})
