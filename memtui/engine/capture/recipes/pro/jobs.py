"""The plugin's jobs over the whole store: compaction at a gateway's start, and dreaming."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memtui.engine.capture.draft import StoredRow
from memtui.engine.capture.recipes.pro.mirror import day
from memtui.engine.capture.recipes.pro.settings import CompactionSettings, DreamingSettings
from memtui.engine.capture.recipes.pro.world import World, compact_json
from memtui.engine.capture.stages.compaction import clusters, compaction_merge
from memtui.engine.capture.stages.similarity import cosine
from memtui.engine.core.errors import EmbeddingError
from memtui.engine.core.javascript import text_of, to_fixed, utf16_len
from memtui.engine.core.memory import TIERS

DAY_MS = 86_400_000

HOUR_MS = 3_600_000

STATE = ".compaction-state.json"

MOST_PATTERNS = 6

REM_IMPORTANCE = 0.55

DEEP_FACTOR = 6

_WORD = re.compile(r"[a-z]{4,}")

# fmt: off
_STOP = frozenset((
    "about", "after", "again", "also", "been", "before", "being", "between", "both", "could", "does", "doing", "down",
    "during", "each", "from", "further", "have", "having", "here", "into", "just", "more", "most", "must", "only",
    "other", "over", "same", "should", "some", "such", "than", "that", "their", "them", "then", "there", "these",
    "they", "this", "those", "through", "under", "until", "user", "very", "want", "wants", "were", "what", "when",
    "where", "which", "while", "will", "with", "would", "your",
))

# fmt: on


Groups = Callable[[Sequence[StoredRow], CompactionSettings, int], list[list[StoredRow]]]


def compact(
    world: World,
    settings: CompactionSettings,
    *,
    force: bool = False,
    groups: Groups | None = None,
    failed: list[EmbeddingError] | None = None,
) -> list[list[StoredRow]]:
    """Merge old rows that say nearly the same; the groups that were merged.

    The state file is written before the work, as the plugin writes it. `force` ignores the pause between runs and
    leaves that file alone; `groups` finds the groups in place of the plugin's rule. Why a group stays as it is, as its
    text got no vector, is added to `failed`.
    """
    if not force:
        path = f"{world.state_folder}/{STATE}"
        if not _due(world, path, settings):
            return []
        world.files.write(path, compact_json({"lastRunAt": world.now_ms}))
    oldest = world.now_ms - settings.min_age_days * DAY_MS
    rows = [row for row in world.draft.rows(vectors=True) if row.timestamp < oldest]
    rows = sorted(rows, key=lambda row: -row.timestamp)[: settings.most_rows]
    if groups is None:
        found = clusters(rows, settings.similarity, settings.min_cluster)
    else:
        found = groups(rows, settings, world.now_ms)
    done: list[list[StoredRow]] = []
    for members in found:
        merged = compaction_merge(members, world.now_ms)
        try:
            vector = world.embed(merged.text)
        except EmbeddingError as error:
            if failed is not None:
                failed.append(error)
            continue  # its rows stay as they are
        done.append(members)
        world.add(
            text=merged.text,
            vector=vector,
            category=merged.category,
            scope=str(merged.scope),
            importance=merged.importance,
            metadata=merged.metadata,
            why="compacted",
        )
        for member in members:
            world.draft.delete(member.id, "merged into one")
    return done


def _due(world: World, path: str, settings: CompactionSettings) -> bool:
    try:
        last = json.loads(world.files.read(path) or "{}").get("lastRunAt")
    except (ValueError, AttributeError, RecursionError):
        return True
    usable = isinstance(last, int | float) and not isinstance(last, bool)
    return not usable or world.now_ms - last >= settings.cooldown_hours * HOUR_MS


# ---------------------------------------------------------------- dreaming


def dream(world: World, settings: DreamingSettings) -> dict[str, Any]:
    """One sweep over every scope: light, deep and rem; what each phase did, counted."""
    phases = {name: _counts() for name in ("light", "deep", "rem")}
    scopes = list(dict.fromkeys(str(row.scope) for row in world.draft.rows() if row.scope))
    errors: list[str] = []
    if settings.enabled:
        for scope in scopes:
            for name, run, block in (
                ("light", _light, settings.light),
                ("deep", _deep, settings.deep),
                ("rem", _rem, settings.rem),
            ):
                if block["enabled"]:
                    try:
                        _merge_counts(phases[name], run(world, scope, block))
                    except EmbeddingError as error:
                        errors.append(f"{name} in {scope}: {error.message}")
    return {
        "enabled": settings.enabled,
        "startedAt": world.now_ms,
        "finishedAt": world.now_ms,
        "scopes": scopes,
        "phases": phases,
        "errors": errors,
    }


def _counts() -> dict[str, Any]:
    names = ("scanned", "changed", "created", "archived", "promoted", "tierTransitions")
    return dict.fromkeys(names, 0)


def _merge_counts(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    for name, value in more.items():
        into[name] = into.get(name, [] if isinstance(value, list) else 0) + value


def _user_rows(
    world: World, scope: str, days: float, limit: int, block: Mapping[str, Any]
) -> list[StoredRow]:
    """The newest rows of a person's own, valid ones of the last days, at most `limit`."""
    oldest = world.now_ms - days * DAY_MS
    rows = [
        row
        for row in world.draft.rows([scope], vectors=True)
        if row.timestamp >= oldest and _is_active(world, row) and _of_source(world, row, block)
    ]
    return sorted(rows, key=lambda row: -row.timestamp)[:limit]


def _is_active(world: World, row: StoredRow) -> bool:
    meta = row.meta(world.now_ms)
    return (
        meta.active(world.now_ms)
        and not meta.expired(world.now_ms)
        and meta.state != "archived"
        and meta.memory_layer not in ("archive", "reflection")
        and row.category != "reflection"
        and meta.source not in ("reflection", "dreaming-engine", "session-summary")
    )


def _of_source(world: World, row: StoredRow, block: Mapping[str, Any]) -> bool:
    listed: Sequence[str] = block.get("sources") or ()
    if not listed:
        return True
    meta = row.meta(world.now_ms)
    kind = str(meta.values.get("corpus_kind") or "")
    own = {meta.source, meta.memory_category, meta.memory_layer, row.category, "memory"}
    if meta.values.get("source_session"):
        own.add("sessions")
    if meta.access_count > 0:
        own.add("recall")
    if kind:
        own.add("daily" if "daily" in kind else "logs")
    return any(each in own for each in listed)


def _light(world: World, scope: str, block: Mapping[str, Any]) -> dict[str, Any]:
    rows = _user_rows(world, scope, block["lookbackDays"], block["limit"], block)
    found = _counts()
    found["scanned"] = len(rows)
    gone: set[str] = set()
    for at, row in enumerate(rows):
        for other in rows[at + 1 :]:
            if row.id in gone or other.id in gone or row.category != other.category:
                continue
            near = (
                cosine(row.vector, other.vector) if row.vector is not None and other.vector is not None else 0
            )
            if near < block["dedupeSimilarity"]:
                continue
            winner, loser = (row, other) if _worth(row) >= _worth(other) else (other, row)
            gone.add(loser.id)
            patch = {
                "state": "archived",
                "memory_layer": "archive",
                "invalidated_at": world.now_ms,
                "canonical_id": winner.id,
                "dreaming_phase": "light",
                "dreaming_archived_at": world.now_ms,
                "dreaming_archive_reason": f"duplicate similarity {to_fixed(near, 3)}",
            }
            world.patch(loser.id, patch, why="duplicate")
            found["archived"] += 1
            found["changed"] += 1
    for row in rows:
        if row.id not in gone and _retiered(world, row):
            found["tierTransitions"] += 1
            found["changed"] += 1
    return found


def _worth(row: StoredRow) -> float:
    return row.importance * 10 + min(2, utf16_len(row.text) / 400) + row.timestamp / 1e13


def _retiered(world: World, row: StoredRow) -> bool:
    import numpy as np

    from memtui.engine.decay.decay import DecayParams, decay_scores
    from memtui.engine.decay.tiers import TierParams, next_tier, reason

    meta = row.meta(world.now_ms)
    code = np.array([TIERS.index(meta.tier)], np.uint8)
    scores = decay_scores(
        [row.importance],
        [meta.confidence],
        code,
        [meta.access_count],
        [row.timestamp],
        [meta.last_accessed_at or row.timestamp],
        [meta.memory_temporal_type == "dynamic"],
        now_ms=world.now_ms,
        params=DecayParams(),
    )
    params = TierParams()
    after = next_tier(
        code,
        access_count=[meta.access_count],
        composite=scores.composite,
        importance=[row.importance],
        created_ms=[row.timestamp],
        now_ms=world.now_ms,
        params=params,
    )
    tier = TIERS[int(after[0])]
    if tier == meta.tier:
        return False
    why = reason(
        meta.tier,
        tier,
        access_count=meta.access_count,
        composite=float(scores.composite[0]),
        importance=row.importance,
        created_ms=row.timestamp,
        now_ms=world.now_ms,
        params=params,
    )
    patch = {
        "tier": tier,
        "dreaming_phase": "light",
        "dreaming_last_light_at": world.now_ms,
        "dreaming_tier_reason": why,
    }
    world.patch(row.id, patch, why="tier")
    return True


def _deep(world: World, scope: str, block: Mapping[str, Any]) -> dict[str, Any]:
    rows = _user_rows(world, scope, block["maxAgeDays"], block["limit"] * DEEP_FACTOR, block)
    found = _counts()
    found["scanned"] = len(rows)
    scored: list[tuple[float, StoredRow]] = []
    for row in rows:
        meta = row.meta(world.now_ms)
        if (
            meta.tier == "core"
            or meta.memory_layer == "durable"
            or meta.access_count < block["minRecallCount"]
        ):
            continue
        age = max(0.0, (world.now_ms - row.timestamp) / DAY_MS)
        score = (
            0.45 * row.importance
            + 0.2 * meta.confidence
            + 0.25 * min(1.0, meta.access_count / 6)
            + 0.1 * math.exp(-age / max(1, block["recencyHalfLifeDays"]))
        )
        if score >= block["minScore"]:
            scored.append((score, row))
    for score, row in sorted(scored, key=lambda pair: -pair[0])[: block["limit"]]:
        importance = max(row.importance, min(0.98, max(row.importance, score) + 0.05))
        patch = {
            "tier": "core",
            "memory_layer": "durable",
            "dreaming_phase": "deep",
            "dreaming_promoted_at": world.now_ms,
            "dreaming_deep_score": float(to_fixed(score, 4)),
        }
        world.draft.change(row.id, "promoted", importance=importance, metadata=world.built(row, patch))
        found["promoted"] += 1
        found["changed"] += 1
    return found


def _rem(world: World, scope: str, block: Mapping[str, Any]) -> dict[str, Any]:
    rows = _user_rows(world, scope, block["lookbackDays"], block["limit"], block)
    found = _counts()
    found["scanned"] = len(rows)
    patterns = _patterns(world, rows, block["minPatternStrength"])
    if not patterns:
        return found
    found["patterns"] = patterns
    date = day(world.now_ms)
    if any(_dreamt(world, row, date) for row in world.draft.rows([scope])):
        return found
    lines = "\n".join(
        f'- {each["type"]} "{each["key"]}" appears in {each["count"]}/{len(rows)} memories'
        f" (strength {text_of(each['strength'])})."
        for each in patterns
    )
    text = f'Dreaming REM reflection for scope "{scope}" on {date}.\n\nObserved recurring memory patterns:\n{lines}'
    blank = StoredRow("", text, "reflection", scope, REM_IMPORTANCE, world.now_ms, "{}")
    patch = {
        "source": "dreaming-engine",
        "state": "confirmed",
        "memory_layer": "reflection",
        "memory_category": "patterns",
        "dreaming_phase": "rem",
        "dream_date": date,
        "dream_timestamp": world.now_ms,
        "patterns_count": len(patterns),
        "memories_analyzed": len(rows),
    }
    world.add(
        text=text,
        vector=world.embed(text),
        category="reflection",
        scope=scope,
        importance=REM_IMPORTANCE,
        metadata=world.built_values(blank, patch),
        why="dreamt",
    )
    found["created"] += 1
    found["changed"] += 1
    return found


def _dreamt(world: World, row: StoredRow, date: str) -> bool:
    values = row.meta(world.now_ms).values
    return values.get("dream_date") == date and values.get("source") == "dreaming-engine"


def _patterns(world: World, rows: Sequence[StoredRow], least: float) -> list[dict[str, Any]]:
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        meta = row.meta(world.now_ms)
        words = {word for word in _WORD.findall(row.text.lower()) if word not in _STOP}
        counts.update(
            [
                ("category", row.category),
                ("memory_category", meta.memory_category),
                *(("term", word) for word in sorted(words)),
            ]
        )
    found = [
        {"type": kind, "key": key, "count": count, "strength": count / len(rows)}
        for (kind, key), count in counts.items()
        if count >= 2 and count / len(rows) >= least
    ]
    found.sort(key=lambda each: (-float(str(each["strength"])), str(each["type"]), str(each["key"])))
    return [
        {**each, "strength": float(to_fixed(float(str(each["strength"])), 2))}
        for each in found[:MOST_PATTERNS]
    ]
