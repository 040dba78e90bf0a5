"""Recorded lifecycle values: decay, tiers, access, suppression, temporal class."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from memtui.engine.core.content_rules import noise_rule
from memtui.engine.core.memory import TIERS
from memtui.engine.decay.decay import (
    DecayParams,
    DecayScores,
    access_metadata,
    decay_scores,
    effective_half_life,
    search_multiplier,
)
from memtui.engine.decay.tiers import TierParams, next_tier, reason
from memtui.engine.decay.validity import (
    InjectionPolicy,
    auto_recall_barrier,
    infer_expiry,
    injection_patch,
    temporal_type,
)
from memtui.engine.metadata.read import coerce_importance, coerce_timestamp, normalise

Recorded = dict[str, Any]
Case = tuple[str, Any, Any]
KINDS = (("default", "tier"), ("custom", "tier_custom"))


def memories(folder: Path) -> list[dict[str, Any]]:
    """The stored rows, in the order of the recorded ones."""
    return [json.loads(line) for line in (folder / "memories.jsonl").read_text().splitlines()]


def snake(block: dict[str, Any]) -> dict[str, Any]:
    """A settings block with our spelling of its keys."""
    return {re.sub("([A-Z])", lambda m: "_" + m[1].lower(), key): value for key, value in block.items()}


def score(views: list[dict[str, Any]], params: DecayParams, now_ms: int) -> tuple[DecayScores, np.ndarray]:
    """The decay of recorded lifecycle views, and their search multipliers."""
    tier = np.array([TIERS.index(view["tier"]) for view in views], np.uint8)
    keys = ("importance", "confidence", "accessCount", "createdAt", "lastAccessedAt")
    importance, confidence, count, created, last = (np.array([v[key] for v in views], float) for key in keys)
    dynamic = np.array([view.get("temporalType") == "dynamic" for view in views])
    scores = decay_scores(
        importance, confidence, tier, count, created, last, dynamic, now_ms=now_ms, params=params
    )
    return scores, search_multiplier(scores, tier, params)


def transitions(
    views: list[dict[str, Any]], composite: np.ndarray, params: TierParams, now_ms: int
) -> list[dict[str, Any] | None]:
    """What the tier manager would do with each recorded view, None where it does nothing."""
    tier = np.array([TIERS.index(view["tier"]) for view in views], np.uint8)
    count, importance, created = (
        np.array([view[key] for view in views]) for key in ("accessCount", "importance", "createdAt")
    )
    after = next_tier(
        tier,
        access_count=count,
        composite=composite,
        importance=importance,
        created_ms=created,
        now_ms=now_ms,
        params=params,
    )
    return [
        None
        if old == new
        else {
            "memoryId": view["id"],
            "fromTier": TIERS[old],
            "toTier": TIERS[new],
            "reason": reason(
                TIERS[old],
                TIERS[new],
                access_count=view["accessCount"],
                composite=float(value),
                importance=view["importance"],
                created_ms=view["createdAt"],
                now_ms=now_ms,
                params=params,
            ),
        }
        for view, value, old, new in zip(views, composite, tier, after, strict=True)
    ]


def _scored(cases: list[Recorded], recorded: Recorded) -> Iterator[Case]:
    now = recorded["now_ms"]
    views = [case["memory"] for case in cases]
    usual = score(views, DecayParams(), now)[0].composite  # tiers were recorded with the default decay
    for name, tier_key in KINDS:
        scores, boost = score(views, DecayParams(**snake(recorded["decay_config"][name])), now)
        columns = (scores.recency, scores.frequency, scores.intrinsic, scores.composite, boost)
        keys = ("recency", "frequency", "intrinsic", "composite", "boost")
        moves = transitions(views, usual, TierParams(**snake(recorded["tier_config"][name])), now)
        for at, case in enumerate(cases):
            ours = {key: float(column[at]) for key, column in zip(keys, columns, strict=True)}
            yield f"{views[at]['id']} {name}", ours, case[name]
            yield f"{views[at]['id']} {tier_key}", moves[at], case[tier_key]


def decay_grid(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """Scores, multiplier and tier of made-up memories at the edges of the rules."""
    yield from _scored(recorded["decay_grid"], recorded)


def rows(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """Every stored row: normalised metadata, lifecycle view, decay, tier, access, flags."""
    yield from _scored(recorded["rows"], recorded)
    now = recorded["now_ms"]
    for stored, case in zip(memories(folder), recorded["rows"], strict=True):
        row_id, raw, stamp = stored["id"], stored["metadata"], coerce_timestamp(stored["timestamp"])
        meta = normalise(
            raw, text=stored["text"], category=stored["category"], timestamp_ms=stamp, now_ms=now
        )
        ours = {key: getattr(meta, key) for key in case["meta"]}
        yield f"{row_id} meta", ours, case["meta"]
        view = {
            "id": row_id,
            "importance": coerce_importance(stored["importance"]),
            "confidence": meta.confidence,
            "tier": meta.tier,
            "accessCount": meta.access_count,
            "createdAt": stamp,
            "lastAccessedAt": meta.last_accessed_at or stamp,
        }
        temporal = {"temporalType": meta.memory_temporal_type} if meta.memory_temporal_type else {}
        yield f"{row_id} view", {**view, **temporal}, case["memory"]
        count, last = access_metadata(raw)
        yield f"{row_id} access", {"accessCount": count, "lastAccessedAt": last}, case["access"]
        stretched = effective_half_life([60, 20], count, last, now_ms=now, factor=0.5, max_multiplier=3)
        half_life = {"base60": float(stretched[0]), "base20": float(stretched[1])}
        yield f"{row_id} half-life", half_life, case["effective_half_life"]
        flags = (meta.active(now), meta.expired(now), noise_rule(stored["text"]) is not None)
        yield f"{row_id} flags", flags, (case["active"], case["expired"], case["noise"])
        yield f"{row_id} barrier", auto_recall_barrier(meta, now), case["auto_recall_excluded"]


def stale(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """Which rows are stale, lowest first."""
    views = [case["memory"] for case in recorded["rows"]]
    for name, theirs in recorded["stale"].items():
        params = DecayParams(**snake(recorded["decay_config"][name]))
        scores = score(views, params, recorded["now_ms"])[0]
        found = [
            (views[at]["id"], float(scores.composite[at])) for at in np.flatnonzero(scores.stale(params))
        ]
        ours = sorted(found, key=lambda pair: pair[1])
        yield f"{name} count", len(ours), len(theirs)
        for mine, other in zip(ours, theirs, strict=False):
            yield f"{name} {other[0]}", list(mine), other


def tier_evaluate_all(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """All transitions of the stored rows, in their order."""
    views = [case["memory"] for case in recorded["rows"]]
    composite = score(views, DecayParams(), recorded["now_ms"])[0].composite
    moves = [move for move in transitions(views, composite, TierParams(), recorded["now_ms"]) if move]
    yield "count", len(moves), len(recorded["tier_evaluate_all"])
    for mine, other in zip(moves, recorded["tier_evaluate_all"], strict=False):
        yield other["memoryId"], mine, other


def tier1_patch(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """What an injection writes."""
    names = {
        "minRepeated": "min_repeated",
        "badRecallDecayMs": "bad_recall_decay_ms",
        "suppressionDurationMs": "suppression_duration_ms",
    }
    for case in recorded["tier1_patch"]:
        at = case["opts"]["injectedAt"]
        meta = normalise(json.dumps(case["meta"]), text="", category=None, timestamp_ms=0, now_ms=at)
        policy = InjectionPolicy(
            **{ours: case["opts"][key] for key, ours in names.items() if key in case["opts"]}
        )
        yield f"{case['meta']}", injection_patch(meta, at_ms=at, policy=policy), case["patch"]
        yield f"{case['meta']} suppressed", meta.suppressed(at), case["suppressed"]


def temporal(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """Temporal class and inferred expiry of a text."""
    for case in recorded["temporal"]:
        ours = (temporal_type(case["text"]), infer_expiry(case["text"], recorded["now_ms"]))
        yield case["text"], ours, (case["type"], case["expiry"])
