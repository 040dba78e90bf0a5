"""A capture trace proved twice: run again from its inputs, and its numbers checked by rules written apart from it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.capture.recipes.registry import capture_recipe
from memtui.engine.capture.run_document import Again
from memtui.engine.capture.trace import CaptureTrace

if TYPE_CHECKING:
    from memtui.engine.capture.draft import Write
    from memtui.engine.capture.recipes.base import CaptureContext, CaptureRequest
    from memtui.engine.capture.trace import CaptureCandidate

MOST_PROVEN = 500
"""Texts of a run up to which it is run a second time to prove it."""

_CLOSE = 1e-9

_TOO_LITTLE = ("too short", "too few texts", "low value", "admission")

_TOO_MUCH = (
    "too long", "no room", "compression", "enough of this turn", "after the third", "said twice", "noise",
    "to-dos of this turn",
)  # fmt: skip
"""Gates that stop what is below their limit, and what is at or above it."""

_IMPORTANCE = {
    "profile": 0.9, "preferences": 0.8, "entities": 0.7, "events": 0.6, "cases": 0.8, "patterns": 0.85,
}  # fmt: skip

_FEATURES = ("utility", "confidence", "novelty", "recency", "typePrior")


def prove(trace: CaptureTrace, request: CaptureRequest, context: CaptureContext) -> dict[str, Any]:
    """Whether the trace holds: the recipe run again with the recorded answers gives the same in every text, candidate,
    neighbour, score, row and question, and each number keeps the rule that it was compared by.

    `context` is a fresh one over the same version of the store, without writes on top.
    """
    from memtui.engine.capture.pipeline import capture

    faults = list(faults_of(trace))
    told = {"texts": len(trace.texts), "candidates": len(trace.candidates), "faults": faults}
    if len(trace.texts) > MOST_PROVEN:
        if faults:
            return {"proven": False, **told, "why": faults[0]}
        return {"proven": None, **told, "why": f"more than {MOST_PROVEN} texts: not run a second time"}
    answers = Again(trace.calls)
    asked = capture_recipe(trace.recipe).model_setting
    asking = bool(trace.calls) or (asked != "" and trace.settings.get(asked) is True)
    again = capture(request, replace(context, chat=answers if asking else None, now_ms=trace.now_ms))
    ours, theirs = _parts(trace), _parts(again)
    differ = {
        name: [
            at
            for at in range(max(len(ours[name]), len(theirs[name])))
            if ours[name][at : at + 1] != theirs[name][at : at + 1]
        ]
        for name in ours
    }
    same = not any(differ.values()) and not answers.missing
    why = "run again with the recorded answers: the same" if same else "run again, it came out differently"
    return {
        "proven": same and not faults,
        **told,
        "differ": {
            name: places for name, places in differ.items() if places or name in ("texts", "candidates")
        },
        "why": faults[0] if faults else why,
    }


def _parts(trace: CaptureTrace) -> dict[str, list[str]]:
    """Everything that a run says, as comparable lines; ids that it made are told by their order."""
    made = {
        write.row.id: f"new row {number}"
        for number, write in enumerate((write for write in trace.writes if write.op == "add"), 1)
    }

    def line(value: Any) -> str:
        text = json.dumps(_rounded(value), ensure_ascii=False, sort_keys=True, default=str)
        for name, order in made.items():
            text = text.replace(name, order)
        return text

    return {
        "texts": [line({**text.as_json(), "message": text.message}) for text in trace.texts],
        "candidates": [line(_candidate(candidate)) for candidate in trace.candidates],
        "writes": [line(_write(write)) for write in trace.writes],
        "calls": [line([call.purpose, call.parts, call.model]) for call in trace.calls],
        "files": [line([file.path, file.text, file.append]) for file in trace.files],
        "settings": [line(dict(trace.settings))],
        "facts": [line(dict(trace.facts))],
    }


def _candidate(each: CaptureCandidate) -> dict[str, Any]:
    own = {
        name: getattr(each, name) for name in ("overview", "grounding", "register", "texts", "context", "raw")
    }
    return {**each.as_json(), **own}


def _write(each: Write) -> dict[str, Any]:
    row = each.row
    names = ("id", "text", "category", "scope", "importance", "timestamp")
    vector = None if row.vector is None else [float(n) for n in row.vector]
    values = {name: getattr(row, name) for name in names}
    return {"op": each.op, "why": each.why, **values, "metadata": row.metadata, "vector": vector}


def _rounded(value: Any) -> Any:
    """Numbers to nine digits: a search may sum in another order."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, Mapping):
        return {str(key): _rounded(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_rounded(item) for item in value]
    return value


# ---------------------------------------------------------------------- rules, written apart from the recipes


def faults_of(trace: CaptureTrace) -> Iterator[str]:
    """What in a trace does not agree with itself, in words; nothing of the recipe is run."""
    for at, text in enumerate(trace.texts):
        value, limit = text.value, text.limit
        if not isinstance(value, int | float) or not isinstance(limit, int | float):
            continue
        if (text.gate in _TOO_LITTLE and value >= limit) or (text.gate in _TOO_MUCH and value < limit):
            yield f"text {at + 1}: {text.gate} with {value:g} of {limit:g}"
    for at, candidate in enumerate(trace.candidates):
        where = f"candidate {at + 1}"
        for fault in (*_admission(candidate), *_neighbours(candidate), *_rows(candidate, trace.now_ms)):
            yield f"{where}: {fault}"


def _admission(candidate: CaptureCandidate) -> Iterator[str]:
    audit = candidate.admission
    if audit is None:
        return
    weights, features, limits = audit["weights"], audit["feature_scores"], audit["thresholds"]
    score = sum(weights[name] * features[name] for name in _FEATURES)
    if abs(score - audit["score"]) > _CLOSE:
        yield f"its score is {audit['score']:.6f}, its features give {score:.6f}"
    if abs(sum(weights.values()) - 1) > 1e-6:
        yield "its weights do not sum to 1"
    if not all(0 <= features[name] <= 1 for name in _FEATURES):
        yield "a feature lies outside of 0 to 1"
    if abs(features["novelty"] - (1 - audit["max_similarity"])) > _CLOSE:
        yield "its novelty is not what its nearest neighbour leaves"
    if not set(audit["matched_existing_memory_ids"]) <= set(audit["compared_existing_memory_ids"]):
        yield "it matches a memory that it was not compared with"
    vetoed = limits["utilityVeto"] > 0 and features["utility"] <= limits["utilityVeto"]
    stopped = vetoed or audit["score"] < limits["reject"]
    if stopped != (audit["decision"] == "reject"):
        yield f"its score {audit['score']:.3f} against {limits['reject']:.3f} is not {audit['decision']}"
    if stopped and candidate.writes:
        yield "it was rejected and writes"
    if f"{audit['score']:.2f}" not in audit["reason"] and f"{audit['score']:.1f}" not in audit["reason"]:
        yield "its reason names another score"


def _neighbours(candidate: CaptureCandidate) -> Iterator[str]:
    scores = [neighbour.score for neighbour in candidate.neighbours]
    if any(not 0 < score <= 1 + 1e-6 for score in scores):
        yield "a neighbour's score lies outside of 0 to 1"
    if scores != sorted(scores, reverse=True):
        yield "its neighbours are not in the order of their scores"


def _rows(candidate: CaptureCandidate, now_ms: int) -> Iterator[str]:
    made = {write.row.id for write in candidate.writes if write.op == "add"}
    if candidate.decision in ("skip", "reject", "drop") and candidate.writes:
        yield f"it is a {candidate.decision} and writes"
    for write in candidate.writes:
        row = write.row
        metadata = json.loads(row.metadata or "{}")
        if row.vector is not None and not math.isfinite(float(row.vector.sum())):
            yield "a row's vector is no vector"
        if not 0 <= row.importance <= 1:
            yield f"a row's importance is {row.importance}"
        if write.op == "add" and row.timestamp > now_ms:
            yield "a row is of a later time than the run"
        if write.op != "add" or not isinstance(metadata, dict) or "memory_category" not in metadata:
            continue
        known = (_IMPORTANCE.get(metadata["memory_category"]), 0.7)
        if metadata.get("source") == "auto-capture" and row.importance not in known:
            yield f"its row has importance {row.importance}, its category {known[0]}"
        if metadata.get("confidence") not in (None, 0.7):
            yield f"its new row has confidence {metadata['confidence']}"
        if candidate.decision == "supersede" and metadata.get("supersedes") in (None, *made):
            yield "its row does not name the one whose place it takes"
