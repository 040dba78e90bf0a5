"""The plugin's jobs over the whole store: compaction at a gateway's start, and dreaming."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from memtui.engine.capture.draft import StoredRow
from memtui.engine.capture.recipes.pro.mirror import day
from memtui.engine.capture.recipes.pro.settings import CompactionSettings, DreamingSettings
from memtui.engine.capture.recipes.pro.world import World, compact_json
from memtui.engine.capture.stages.compaction import clusters, compaction_merge
from memtui.engine.capture.stages.similarity import cosine
from memtui.engine.core.errors import EmbeddingError
from memtui.engine.core.javascript import to_fixed, utf16_len
from memtui.engine.core.memory import TIERS

DAY_MS = 86_400_000

HOUR_MS = 3_600_000

STATE = ".compaction-state.json"

MOST_PATTERNS = 6

REM_IMPORTANCE = 0.55

DEEP_FACTOR = 6

_WORD = re.compile(r"[\w-]{4,}")

SHORTEST_WORD = 4

_STOP = frozenset((
    "about", "after", "again", "also", "because", "before", "between", "could", "memory", "should", "their", "there",
    "these", "those", "through", "using", "where", "which", "while", "would",
))  # fmt: skip

LEAST_SCANNED = 100

_ALIASES: Mapping[str, tuple[str, ...]] = {
    "daily": ("manual", "auto-capture", "legacy"),
    "sessions": ("session-summary",),
    "recall": ("manual", "auto-capture", "legacy"),
    "logs": ("auto-capture",),
    "memory": ("manual", "auto-capture", "legacy"),
}
"""Words of a source filter that stand for where memories come from."""


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
    found: dict[str, Any] = {
        "enabled": settings.enabled,
        "startedAt": world.now_ms,
        "finishedAt": world.now_ms,
        "scopes": [],
        "phases": {name: {"scanned": 0, "changed": 0} for name in ("light", "deep", "rem")},
        "errors": [],
    }
    if not settings.enabled:
        return found
    found["scopes"] = sorted({str(row.scope) for row in world.draft.rows() if row.scope}) or ["global"]
    for scope in found["scopes"]:
        for name, run, block in (
            ("light", _light, settings.light),
            ("deep", _deep, settings.deep),
            ("rem", _rem, {**settings.rem, "timezone": settings.timezone}),
        ):
            done = _counts()
            if block["enabled"] and block["limit"] > 0:
                try:
                    done = run(world, scope, block)
                except EmbeddingError as error:
                    found["errors"].append({"scope": scope, "phase": name, "message": error.message})
                    continue
            _merge_counts(found["phases"][name], done)
    return found


def _counts() -> dict[str, Any]:
    names = ("scanned", "changed", "created", "archived", "promoted", "tierTransitions")
    return dict.fromkeys(names, 0)


def _merge_counts(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    for name, value in more.items():
        into[name] = into.get(name, [] if isinstance(value, list) else 0) + value


def _newest(rows: Sequence[StoredRow]) -> list[StoredRow]:
    return sorted(rows, key=lambda row: -row.timestamp)


def _user_rows(
    world: World, rows: Sequence[StoredRow], days: float, limit: int, block: Mapping[str, Any]
) -> list[StoredRow]:
    """The newest of `rows` that are a person's own, valid ones of the last days, at most `limit`."""
    oldest = world.now_ms - days * DAY_MS
    chosen = [
        row
        for row in rows
        if row.timestamp >= oldest and _is_active(world, row) and _of_source(world, row, block)
    ]
    return _newest(chosen)[:limit]


def _is_active(world: World, row: StoredRow) -> bool:
    """Whether dreaming looks at a row: what expired, and what a reflection wrote, counts as well."""
    meta = row.meta(world.now_ms)
    replaced = meta.invalidated_at is not None and meta.invalidated_at <= world.now_ms
    return (
        not replaced
        and meta.state != "archived"
        and meta.memory_layer != "archive"
        and meta.source != "dreaming-engine"
    )


def _of_source(world: World, row: StoredRow, block: Mapping[str, Any]) -> bool:
    listed: Sequence[str] = block.get("sources") or ()
    if not listed:
        return True
    meta = row.meta(world.now_ms)
    phase = meta.values.get("dreaming_phase")
    own = {meta.source, row.category, meta.memory_category, meta.memory_layer, phase}
    return any(meta.source in _ALIASES[word] if word in _ALIASES else word in own for word in listed)


def _light(world: World, scope: str, block: Mapping[str, Any]) -> dict[str, Any]:
    young = [row for row in world.draft.rows([scope], vectors=True) if row.timestamp <= world.now_ms]
    scanned = _newest(young)[: max(LEAST_SCANNED, block["limit"] * 10)]
    rows = [
        row
        for row in _user_rows(world, scanned, block["lookbackDays"], len(scanned), block)
        if row.vector is not None
    ][: block["limit"]]
    found = _counts()
    gone: set[str] = set()
    for at, row in enumerate(rows):
        for other in rows[at + 1 :]:
            if row.id in gone or other.id in gone or row.category != other.category:
                continue
            near = cosine(row.vector, other.vector)
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
    listed = _user_rows(world, world.draft.rows([scope]), block["lookbackDays"], block["limit"], block)
    found["scanned"] = max(len(rows), len(listed))
    for row in listed:
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
    """Raise what is recalled often, the newest first: the first that reach the score are taken, not the best."""
    limit = block["limit"]
    rows = _user_rows(
        world, world.draft.rows([scope], vectors=True), block["maxAgeDays"], limit * DEEP_FACTOR, block
    )
    found = _counts()
    found["scanned"] = len(rows)
    for row in rows:
        if found["promoted"] >= limit:
            break
        meta = row.meta(world.now_ms)
        if (
            meta.tier == "core"
            or meta.memory_layer == "durable"
            or meta.access_count < block["minRecallCount"]
            or _unique_queries(meta.values) < block["minUniqueQueries"]
        ):
            continue
        score = _deep_score(row, meta.confidence, meta.access_count, block, world.now_ms)
        if score < block["minScore"]:
            continue
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


def _deep_score(
    row: StoredRow, confidence: float, uses: float, block: Mapping[str, Any], now_ms: int
) -> float:
    """What a memory is worth to the deep phase, 0 to 1: twice the wanted recalls are as good as more."""
    age = max(0.0, (now_ms - row.timestamp) / DAY_MS)
    score: float = (
        0.45 * min(1.0, max(0.0, row.importance))
        + 0.2 * confidence
        + 0.25 * min(1.0, uses / max(1, block["minRecallCount"] * 2))
        + 0.1 * math.exp(-age / max(1, block["recencyHalfLifeDays"]))
    )
    return min(1.0, max(0.0, score))


def _unique_queries(values: Mapping[str, Any]) -> int:
    """How many different questions recalled a memory, under any of the names that it was ever kept under."""
    names = ("unique_query_count", "uniqueQueries", "recall_unique_queries")
    direct = next((values[name] for name in names if values.get(name) is not None), None)
    if isinstance(direct, int | float) and not isinstance(direct, bool) and math.isfinite(direct):
        return max(0, math.floor(direct))
    if isinstance(direct, list | Mapping):
        return len(direct)
    ids = values.get("recall_query_ids")
    ids = values.get("query_ids") if ids is None else ids
    return len({memory_id for memory_id in ids if isinstance(memory_id, str)}) if isinstance(ids, list) else 0


def _rem(world: World, scope: str, block: Mapping[str, Any]) -> dict[str, Any]:
    rows = _user_rows(world, world.draft.rows([scope]), block["lookbackDays"], block["limit"], block)
    found = _counts()
    found["scanned"] = len(rows)
    patterns = _patterns(world, rows, block["minPatternStrength"])
    if not patterns:
        return found
    found["patterns"] = patterns
    date = _day_in(block["timezone"], world.now_ms)
    if any(_dreamt(world, row, date) for row in world.draft.rows([scope])):
        return found
    lines = "\n".join(
        f'- {pattern["type"]} "{pattern["key"]}" appears in {pattern["count"]}/{len(rows)} memories'
        f" (strength {to_fixed(pattern['strength'], 2)})."
        for pattern in patterns
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


def _day_in(zone: str | None, now_ms: int) -> str:
    """The date in a time zone; in UTC where it is none."""
    try:
        here = ZoneInfo(zone) if zone else None
    except (ValueError, OSError, KeyError):
        here = None
    return day(now_ms) if here is None else datetime.fromtimestamp(now_ms / 1000, here).strftime("%Y-%m-%d")


def _dreamt(world: World, row: StoredRow, date: str) -> bool:
    values = row.meta(world.now_ms).values
    return (
        row.category == "reflection"
        and values.get("dream_date") == date
        and values.get("dreaming_phase") == "rem"
        and values.get("source") == "dreaming-engine"
    )


def _patterns(world: World, rows: Sequence[StoredRow], least: float) -> list[dict[str, Any]]:
    """What many of the rows share: columns first, then categories, then words, each the commonest first."""
    columns: Counter[str] = Counter()
    categories: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for row in rows:
        meta = row.meta(world.now_ms)
        columns.update([row.category] if row.category else [])
        categories.update([meta.memory_category] if meta.memory_category else [])
        words.update(_words(f"{meta.l0_abstract} {row.text}"))
    found = [
        {"type": kind, "key": key, "count": count, "strength": count / len(rows)}
        for kind, counts in (("category", columns), ("memory_category", categories), ("term", words))
        for key, count in sorted(counts.items(), key=lambda pair: (-pair[1], _collated(pair[0])))
        if count >= 2 and count / len(rows) >= least
    ]
    return found[:MOST_PATTERNS]


def _words(text: str) -> set[str]:
    stripped = {word.strip("-_") for word in _WORD.findall(text.lower())}
    return {word for word in stripped if utf16_len(word) >= SHORTEST_WORD and word not in _STOP}


def _collated(word: str) -> tuple[str, str]:
    """A key that sorts words as a dictionary does: marks before digits and letters, accents beside their letter."""
    letters = "".join(each for each in unicodedata.normalize("NFD", word) if not unicodedata.combining(each))
    return letters.replace("_", "\1").replace("-", "\2"), word
