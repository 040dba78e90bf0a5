"""The plugin's management tools: list, statistics, promote, archive, compact, explain, resolve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memtui.engine.access import ScopePolicy
from memtui.engine.capture.draft import StoredRow
from memtui.engine.capture.recipes.pro.recall import Recalled, recall_rows, shown
from memtui.engine.capture.recipes.pro.tools import (
    Caller,
    ToolAnswer,
    find_row,
    readable_scopes,
    scopes_asked,
)
from memtui.engine.capture.recipes.pro.world import World
from memtui.engine.capture.stages.matching import pattern
from memtui.engine.core.javascript import to_fixed, trim
from memtui.engine.metadata.categories import matches

_SPACE = pattern(r"\s+")

SAMPLE = 20

MISSING = ToolAnswer("Provide memoryId or query.", {"error": "missing_selector"})

CLEAR_SCORE = 0.85

DEFAULT_RETRIEVAL: Mapping[str, Any] = {
    "mode": "hybrid",
    "vectorWeight": 0.7,
    "bm25Weight": 0.3,
    "queryExpansion": True,
    "minScore": 0.3,
    "rerank": "cross-encoder",
    "candidatePoolSize": 20,
    "recencyHalfLifeDays": 14,
    "recencyWeight": 0.1,
    "filterNoise": True,
    "rerankModel": "jina-reranker-v3",
    "rerankEndpoint": "https://api.jina.ai/v1/rerank",
    "rerankTimeoutMs": 5000,
    "lengthNormAnchor": 500,
    "hardMinScore": 0.35,
    "timeDecayHalfLifeDays": 60,
    "reinforcementFactor": 0.5,
    "maxHalfLifeMultiplier": 3,
    "tagPrefixes": ["proj", "env", "team", "scope"],
    "neighborEnrichment": {"enabled": False, "maxPerResult": 2},
}


def memory_list(world: World, caller: Caller, params: Mapping[str, Any]) -> ToolAnswer:
    """The newest memories: limit, offset, scope, category."""
    limit = _whole(params.get("limit"), 10, 1, 50)
    offset = _whole(params.get("offset"), 0, 0, 1000)
    scopes, notice, ignored = readable_scopes(world, caller, params)
    scope, category = params.get("scope"), params.get("category")
    filters: dict[str, Any] = {"scope": scope} if isinstance(scope, str) and scope else {}
    filters |= {"scopes": scopes, **ignored}
    if category:
        filters["category"] = category
    filters |= {"limit": limit, "offset": offset}
    rows = _newest(world, scopes)
    if isinstance(category, str) and category:
        rows = [row for row in rows if matches(row.category, category, row.meta(world.now_ms).values)]
    page = rows[offset : offset + limit]
    if not page:
        return ToolAnswer(f"{notice}No memories found.", {"count": 0, "filters": filters})
    lines = "\n".join(
        f"{at}. [{row.id}] [{row.category}:{row.scope}] {row.text} ({_day(row.timestamp)})"
        for at, row in enumerate(page, offset + 1)
    )
    return ToolAnswer(
        f"{notice}Recent memories (showing {len(page)}):\n\n{lines}",
        {
            "count": len(page),
            "memories": [{**shown(row), "timestamp": row.timestamp} for row in page],
            "filters": filters,
        },
    )


def memory_stats(world: World, caller: Caller, params: Mapping[str, Any]) -> ToolAnswer:
    """Counts by scope and category: scope."""
    scopes = scopes_asked(world, caller, params)
    if isinstance(scopes, ToolAnswer):
        return scopes
    rows = world.draft.rows(scopes)
    by_scope: dict[str, int] = {}
    by_category: dict[str, int] = {}
    for row in rows:
        by_scope[str(row.scope)] = by_scope.get(str(row.scope), 0) + 1
        by_category[row.category] = by_category.get(row.category, 0) + 1
    policy = world.policy
    retrieval = {**DEFAULT_RETRIEVAL, **_retrieval(world)}
    listed = len(policy.definitions)
    lines = [
        "Memory Statistics:",
        f"• Total memories: {len(rows)}",
        f"• Available scopes: {listed}",
        f"• Retrieval mode: {retrieval['mode']}",
        "• FTS support: Yes",
        "",
        "Memories by scope:",
        *(f"  • {name}: {count}" for name, count in by_scope.items()),
        "",
        "Memories by category:",
        *(f"  • {name}: {count}" for name, count in by_category.items()),
    ]
    return ToolAnswer(
        "\n".join(lines),
        {
            "stats": {
                "totalCount": len(rows),
                "scopeCounts": by_scope,
                "categoryCounts": by_category,
            },
            "scopeManagerStats": _scope_stats(policy),
            "scopes": scopes if scopes is not None else policy.accessible(caller.agent),
            "retrievalConfig": retrieval,
            "hasFtsSupport": True,
        },
    )


def _retrieval(world: World) -> Mapping[str, Any]:
    block = world.settings.raw.get("retrieval")
    return block if isinstance(block, dict) else {}


def _scope_stats(policy: ScopePolicy) -> dict[str, Any]:
    return {
        "totalScopes": len(policy.definitions),
        "agentsWithCustomAccess": len(policy.access),
        "scopesByType": policy.counts(),
    }


def memory_promote(world: World, caller: Caller, params: Mapping[str, Any]) -> ToolAnswer:
    """Make a memory count: memoryId or query, state, layer."""
    row = _chosen(world, caller, params)
    if isinstance(row, ToolAnswer):
        return row
    state = params.get("state") or "confirmed"
    layer = params.get("layer") or "durable"
    patch: dict[str, Any] = {
        "source": "manual",
        "state": state,
        "memory_layer": layer,
        "bad_recall_count": 0,
        "suppressed_until_turn": 0,
        "suppressed_until_ms": 0,
    }
    if state == "confirmed":
        patch["last_confirmed_use_at"] = world.now_ms
    world.patch(row.id, patch, why="promoted")
    return ToolAnswer(
        f"Promoted memory {row.id[:8]} to state={state}, layer={layer}.",
        {"action": "promoted", "id": row.id, "state": state, "layer": layer},
    )


def memory_archive(world: World, caller: Caller, params: Mapping[str, Any]) -> ToolAnswer:
    """Put a memory away: memoryId or query, reason."""
    row = _chosen(world, caller, params)
    if isinstance(row, ToolAnswer):
        return row
    reason = params.get("reason") or "manual_archive"
    world.patch(row.id, _archived(str(reason), world.now_ms), why="archived")
    return ToolAnswer(
        f"Archived memory {row.id[:8]}.", {"action": "archived", "id": row.id, "reason": reason}
    )


def _archived(reason: str, now_ms: int) -> dict[str, Any]:
    return {
        "state": "archived",
        "memory_layer": "archive",
        "archive_reason": reason,
        "archived_at": now_ms,
    }


def memory_compact(world: World, caller: Caller, params: Mapping[str, Any]) -> ToolAnswer:
    """Archive older rows of the same category and abstract: dryRun (default), limit, scope."""
    scopes = scopes_asked(world, caller, params)
    if isinstance(scopes, ToolAnswer):
        return scopes
    limit = _whole(params.get("limit"), 200, 20, 1000)
    rows = _newest(world, scopes)[:limit]
    kept: dict[str, StoredRow] = {}
    duplicates: list[tuple[StoredRow, StoredRow, str]] = []
    for row in rows:
        meta = row.meta(world.now_ms)
        if meta.state == "archived":
            continue
        key = f"{meta.memory_category}:{trim(_SPACE.sub(' ', meta.l0_abstract)).lower()}"
        if key in kept:
            duplicates.append((row, kept[key], key))
        else:
            kept[key] = row
    apply = params.get("dryRun") is False
    if apply:
        for row, canonical, _ in duplicates:
            patch = {**_archived("compact_duplicate", world.now_ms), "canonical_id": canonical.id}
            world.patch(row.id, patch, why="compact duplicate")
    done = len(duplicates) if apply else 0
    text = (
        f"Compaction complete: archived {done} duplicate memory record(s)."
        if apply
        else f"Compaction preview: {len(duplicates)} duplicate(s) detected across {len(rows)} entries."
    )
    return ToolAnswer(
        text,
        {
            "action": "compact_applied" if apply else "compact_preview",
            "scanned": len(rows),
            "duplicates": len(duplicates),
            "archived": done,
            "sample": [
                {"duplicateId": row.id, "canonicalId": canonical.id, "key": key}
                for row, canonical, key in duplicates[:SAMPLE]
            ],
        },
    )


def memory_explain_rank(world: World, caller: Caller, params: Mapping[str, Any]) -> ToolAnswer:
    """Why memories rank as they do: query, limit, scope."""
    query = str(params.get("query") or "")
    scopes, notice, ignored = readable_scopes(world, caller, params)
    limit = _whole(params.get("limit"), 5, 1, 20)
    found = recall_rows(world, query, limit=limit, scopes=scopes, source="manual")
    if not found:
        filtered = {} if scopes is None else {"scopeFilter": list(scopes)}
        return ToolAnswer(
            f"{notice}No relevant memories found.", {"action": "empty", "query": query, **filtered, **ignored}
        )
    return ToolAnswer(
        notice + "\n".join(_explained(at, each, world.now_ms) for at, each in enumerate(found, 1)),
        {
            "action": "explain_rank",
            "query": query,
            "count": len(found),
            "results": [each.as_json(world.now_ms) for each in found],
            **ignored,
        },
    )


def _explained(at: int, each: Recalled, now_ms: int) -> str:
    def score(name: str) -> str:
        source = each.sources.get(name)
        return to_fixed(source["score"], 3) if source else "—"

    meta = each.row.meta(now_ms)
    until = meta.suppressed_until_ms
    return (
        f"{at}. [{each.row.id}] score={to_fixed(each.score, 3)} vec={score('vector')} bm25={score('bm25')}"
        f" rerank={score('reranked')}\n"
        f"   state={meta.state} layer={meta.memory_layer} source={meta.source} tier={meta.tier}\n"
        f"   access={meta.access_count} injected={meta.injected_count} badRecall={meta.bad_recall_count}"
        f" suppressedUntilMs={'—' if until is None else until}\n"
        f"   text={meta.l0_abstract}"
    )


def _chosen(world: World, caller: Caller, params: Mapping[str, Any]) -> StoredRow | ToolAnswer:
    scopes = world.policy.store_filter(caller.agent)
    reference, query = params.get("memoryId"), params.get("query")
    if reference:
        return find_row(world, str(reference), scopes)
    if not query:
        return MISSING
    found = recall_rows(world, str(query), limit=5, scopes=scopes, source="manual")
    if not found:
        return ToolAnswer("No memory found matching query.", {"error": "not_found", "query": query})
    if len(found) == 1 or found[0].score > CLEAR_SCORE:
        return found[0].row
    lines = "\n".join(f"- [{each.row.id[:8]}] {each.row.text[:60]}" for each in found)
    return ToolAnswer(
        f"Multiple matches. Specify memoryId:\n{lines}",
        {"action": "candidates", "candidates": [each.as_json(world.now_ms) for each in found]},
    )


def _newest(world: World, scopes: Any) -> list[StoredRow]:
    return sorted(world.draft.rows(scopes), key=lambda row: -row.timestamp)


def _whole(value: Any, default: int, least: int, most: int) -> int:
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    return min(most, max(least, int(value))) if usable and value is not None else default


def _day(ms: int) -> str:
    from memtui.engine.capture.recipes.pro.mirror import day

    return day(ms)
