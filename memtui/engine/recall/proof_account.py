"""What must hold of every recipe's account: it says what the stages recorded, and their gates are the settings'.

The formulas of a recipe prove its scores. What no formula uses (ranks, places in a lane, what a gate tested and
allowed) is held here against the other places that know it, so that no recorded number stands alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from memtui.engine.recall.trace import Candidate, Proof

if TYPE_CHECKING:
    from memtui.engine.recall.record import StageRecord, Trace
    from memtui.engine.recall.stage import Drop


MOST_FAILURES = 20

_NUMBERED = ("score", "filter", "order")
"""Kinds of stages after which a living candidate has a score."""


def with_account(trace: Trace, proof: Proof) -> Proof:
    """`proof` with what does not hold of the account of `trace` as a whole."""
    failures = [*proof.failures, *_account(trace), *_numbers(trace), *_gates(trace), *_lanes(trace)]
    return replace(proof, recomputed=not failures, failures=tuple(failures[:MOST_FAILURES]))


def _same(a: Any, b: Any) -> bool:
    """Equal in kind and value, all the way down; NaN equals NaN."""
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b):
        return True
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b)


def _account(trace: Trace) -> Iterator[str]:
    """The account that is shown is the one that the records of the stages make."""
    for shown, told in zip_longest(trace.candidates, trace.told()):
        if shown is None or told is None or shown.id != told.id:
            yield "the candidates are not those that the stages recorded"
            return
        for name in Candidate.__slots__:
            if name != "steps" and not _same(getattr(shown, name), getattr(told, name)):
                yield f"{shown.id}: {name} is {getattr(shown, name)}, the stages recorded {getattr(told, name)}"
        for step, own in zip_longest(shown.steps, told.steps):
            if step is not own and (step is None or own is None or not _same(step.as_json(), own.as_json())):
                yield f"{shown.id}, {(step or own).stage}: not as the stage recorded it"


def _numbers(trace: Trace) -> Iterator[str]:
    """Whoever leaves a stage alive has a score that is a number."""
    for record in trace.records:
        if record.kind in _NUMBERED:
            for index in record.outcome.flow.order.tolist():
                if math.isnan(float(record.outcome.flow.score[index])):
                    yield f"{trace.pool.rows[index].id}, {record.name}: its score is no number"


def _lanes(trace: Trace) -> Iterator[str]:
    """The hits of a lane have the scores that its stage recorded."""
    only = trace.pool.vector if trace.mode == "vector" else trace.pool.bm25
    for name, hits in (
        ("vector_ranked", trace.pool.vector),
        ("bm25_ranked", trace.pool.bm25),
        ("scored_input", only),
    ):
        record = next(
            (record for record in trace.records if record.name == name and record.kind == "search"), None
        )
        if record is None:
            continue
        for index, hit in hits.items():
            score = float(record.outcome.flow.score[index])
            if index in record.rank_after and score != hit.score:
                yield f"{hit.row.id}, {name}: recorded is {score}, the search gave {hit.score}"
            for key, given in hit.inputs.items():
                told = record.outcome.inputs[key][index]
                if index in record.rank_after and not _same(told, given):
                    yield f"{hit.row.id}, {name}: {key} is {told}, the search gave {given}"
    for record in trace.records:
        for lane, hits in (("vector", trace.pool.vector), ("bm25", trace.pool.bm25)):
            column = record.outcome.inputs.get(lane) if record.name == "fused" else None
            if column is None:
                continue
            for index, hit in hits.items():
                if index in record.rank_after and float(column[index]) != hit.score:
                    yield f"{hit.row.id}, fused: {lane} is {column[index]}, the search gave {hit.score}"


def _gates(trace: Trace) -> Iterator[str]:
    """What a gate tested and what it allowed are what the candidate had and what is set."""
    for record in trace.records:
        for index, gate in record.outcome.dropped.items():
            for what, told, known in _known(trace, record, index, gate):
                if not _same(told, known):
                    row = trace.pool.rows[index].id
                    yield f"{row}, {record.name}: {gate.reason} tells {what} {told}, it is {known}"


def _known(trace: Trace, record: StageRecord, index: int, gate: Drop) -> Iterator[tuple[str, Any, Any]]:
    """(what, as the gate tells it, as it is known elsewhere)."""
    if gate.reason in ("min_score", "hard_cutoff") and index in record.rank_before:
        yield "the score", gate.value, float(record.before.score[index])
    if gate.reason in ("rerank_window", "limit"):
        places = sorted(
            each.value or 0.0 for each in record.outcome.dropped.values() if each.reason == gate.reason
        )
        first = len(record.outcome.flow.order) + 1
        yield "the places", places, [float(first + at) for at in range(len(places))]
    if gate.reason == "budget":
        yield "the characters", gate.value, float(record.outcome.params["beforeChars"])
    limit = _LIMITS.get(gate.reason)
    if limit is not None and (known := limit(trace, record)) is not None:
        yield "the limit", gate.limit, known


def _setting(*names: str) -> Callable[[Trace, StageRecord], float | None]:
    """The first of these parameters that the stage ran with."""

    def known(trace: Trace, record: StageRecord) -> float | None:
        found = next((record.outcome.params[name] for name in names if name in record.outcome.params), None)
        return None if found is None else float(found)

    return known


_LIMITS: dict[str, Callable[[Trace, StageRecord], float | None]] = {
    "min_score": _setting("minScore", "min_score"),
    "hard_cutoff": _setting("hardMinScore"),
    "rerank_window": _setting("window"),
    "mmr_diversity": _setting("threshold"),
    "lane_limit": lambda trace, _: float(trace.records[0].outcome.params["limit"]),
    "limit": lambda trace, _: float(trace.limit),
    "budget": _setting("maxChars"),
}
"""Gate -> the limit that is set."""
