"""Receipts of a recall: ids, scores and counts, never a memory's text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from memtui.engine.dialects.importance_labels import TIER_OF
from memtui.engine.recall.recipes.mem_engine import scope_rules
from memtui.engine.recall.recipes.mem_engine.raw_values import switch, whole
from memtui.engine.recall.recipes.mem_engine.selection import REASONS

SCHEMA = "openclaw-mem-engine.recall.receipt.v1"

COMMENT = "openclaw-mem-engine:autoRecall"

USUAL_ITEMS, MOST_ITEMS = 3, 10

MOST_TIERS, MOST_LABELS = 6, 4

DIGITS = 6

Verbosity = Literal["low", "high"]


@dataclass(frozen=True, slots=True)
class ReceiptRules:
    """The `receipts` block as resolved; an unknown verbosity is low."""

    enabled: bool = True
    verbosity: Verbosity = "low"
    max_items: int = USUAL_ITEMS


def receipt_rules(block: Mapping[str, Any]) -> ReceiptRules:
    """Resolve a `receipts` block: items from 1 to 10."""
    return ReceiptRules(
        enabled=switch(block, "enabled"),
        verbosity="high" if block.get("verbosity") == "high" else "low",
        max_items=whole(block, "maxItems", USUAL_ITEMS, 1, MOST_ITEMS),
    )


@dataclass(frozen=True, slots=True)
class Fused:
    """One memory that is returned, as a receipt needs it."""

    id: str
    label: str
    scope: str


@dataclass(frozen=True, slots=True)
class ReceiptTier:
    """A tier that was searched."""

    name: str
    labels: Sequence[str]
    candidates: float
    selected: float


@dataclass(frozen=True, slots=True)
class ReceiptInput:
    """What a receipt tells: everything but how much of it."""

    scope: str
    scope_mode: str
    skip_reason: str | None = None
    rejected: Sequence[str] = ()
    tiers: Sequence[ReceiptTier] = ()
    fts: Sequence[tuple[str, float]] = ()
    vector: Sequence[tuple[str, float, float]] = ()
    """(id, score, distance)."""
    fused: Sequence[Fused] = ()
    injected: float = 0
    selection_mode: str | None = None
    quota: Mapping[str, int] | None = None
    parts: Mapping[str, Any] = field(default_factory=dict)
    """fallback, budget, coldLane, workingSet where there is one."""


NO_WORKING_SET: Mapping[str, Any] = {
    "enabled": False,
    "generated": False,
    "id": None,
    "chars": 0,
    "sections": {"goal": False, "constraints": 0, "decisions": 0, "nextActions": 0, "openQuestions": 0},
    "consumedCount": 0,
    "suppressedRecallCount": 0,
    "persisted": False,
}
"""What the hook tells of the working set when it makes none; memtui never does."""


def lifecycle(story: ReceiptInput, rules: ReceiptRules) -> dict[str, Any]:
    """The receipt of one recall: the best hits of each search, tiers, and why these ids."""
    quota = {"quota": dict(story.quota)} if story.quota is not None else {}
    mode = {"selectionMode": story.selection_mode} if story.selection_mode else {}
    tiers = list(story.tiers)[:MOST_TIERS]
    return {
        "schema": SCHEMA,
        "verbosity": rules.verbosity,
        "skipped": story.skip_reason is not None,
        "skipReason": story.skip_reason,
        "rejected": [reason for reason in REASONS if reason in story.rejected],
        "scope": story.scope,
        "scopeMode": story.scope_mode,
        **mode,
        **quota,
        "tiersSearched": [tier.name for tier in tiers],
        "tierCounts": [
            {
                "tier": tier.name,
                "labels": list(tier.labels)[:MOST_LABELS] if rules.verbosity == "high" else [],
                "candidates": _count(tier.candidates),
                "selected": _count(tier.selected),
            }
            for tier in tiers
        ],
        "ftsTop": [
            {"id": each, "score": _round(score)}
            for each, score in _best([(i, s) for i, s in story.fts])[: rules.max_items]
        ],
        "vecTop": _vector_top(story, rules),
        "fusedTop": [candidate.id for candidate in story.fused][: rules.max_items],
        "whySummary": _summary(story),
        "whyTheseIds": _reasons(story)[: rules.max_items],
        "finalCount": len(story.fused),
        "injectedCount": _count(story.injected),
        **story.parts,
    }


def store_receipt(
    *,
    place: str,
    table: str,
    model: str | None,
    latency_ms: float,
    scope: str,
    scope_mode: str,
    skipped: str | None = None,
) -> dict[str, Any]:
    """The receipt of one stored memory; `skipped` says why it has no vector: provider_unavailable, or its length.

    Nothing asks before a store here and nothing is mirrored, so both parts say that they are off.
    """
    checked = scope_rules.normalised(scope, scope_rules.ScopeRules())
    return {
        "dbPath": place,
        "tableName": table,
        "model": model,
        "latencyMs": _count(latency_ms),
        "scope": scope,
        "scopeMode": scope_mode,
        "scopeFilterApplied": True,
        "scopeValidation": {
            "validationMode": "strict",
            "invalid": checked.invalid,
            "normalized": checked.normalized,
        },
        "embeddingSkipped": skipped is not None,
        "embeddingSkipReason": skipped,
        "weiJiMemoryPreflight": {
            "enabled": False,
            "attempted": False,
            "decision": "allow",
            "mode": "disabled",
        },
        "gbrainMirror": {"enabled": False},
    }


def comment(receipt: Mapping[str, Any]) -> str:
    """The part of a receipt that is put into the prompt at verbosity high, as an HTML comment."""
    keys = (
        "schema", "verbosity", "skipped", "skipReason", "selectionMode", "quota", "tiersSearched", "fusedTop",
        "whySummary", "whyTheseIds", "why", "injectedCount", "fallback", "workingSet",
    )  # fmt: skip
    whole = {**receipt, "why": {**receipt["whySummary"], "ids": receipt["whyTheseIds"]}}
    compact = {key: whole[key] for key in keys if key in whole}
    return f"<!-- {COMMENT} {json.dumps(compact, ensure_ascii=False, separators=(',', ':'))} -->"


def _vector_top(story: ReceiptInput, rules: ReceiptRules) -> list[dict[str, Any]]:
    distances: dict[str, tuple[float, float]] = {}
    for each, score, distance in story.vector:
        if each not in distances or score > distances[each][0]:
            distances[each] = (score, distance)
    best = _best([(each, score) for each, (score, _) in distances.items()])[: rules.max_items]
    return [
        {"id": each, "score": _round(score), "distance": _round(distances[each][1])} for each, score in best
    ]


def _best(hits: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    best: dict[str, float] = {}
    for each, score in hits:
        best[each] = max(score, best.get(each, -math.inf))
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))


def _summary(story: ReceiptInput) -> dict[str, Any]:
    by_tier = dict.fromkeys(("must", "nice", "unknown", "ignore"), 0)
    for candidate in story.fused:
        by_tier[TIER_OF.get(candidate.label, "unknown")] += 1
    primary = sum(1 for candidate in story.fused if candidate.scope == story.scope)
    return {
        "byTier": by_tier,
        "fromPrimaryScope": primary,
        "fromFallbackScope": len(story.fused) - primary,
    }


def _reasons(story: ReceiptInput) -> list[dict[str, Any]]:
    fts, vector = {each for each, _ in story.fts}, {each for each, *_ in story.vector}
    return [
        {
            "id": candidate.id,
            "tier": TIER_OF.get(candidate.label, "unknown"),
            "scope": candidate.scope,
            "origin": "primary" if candidate.scope == story.scope else "fallback",
            "signals": [name for name, ids in (("fts", fts), ("vec", vector)) if candidate.id in ids],
        }
        for candidate in story.fused
    ]


def _count(value: float) -> int:
    return max(0, math.floor(value)) if math.isfinite(value) else 0


def _round(value: float) -> float | int:
    rounded = round(value, DIGITS)
    return int(rounded) if rounded == int(rounded) else rounded
