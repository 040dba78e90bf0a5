"""The plugin's tool that says a line of a reflection is done with: named by its id, or found by a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memtui.engine.capture.draft import StoredRow
from memtui.engine.capture.recipes.pro.recall import recall_rows
from memtui.engine.capture.recipes.pro.tools import Caller, ToolAnswer, scopes_asked
from memtui.engine.capture.recipes.pro.world import World
from memtui.engine.capture.stages.matching import pattern
from memtui.engine.core.javascript import to_fixed, trim, utf16_len, utf16_slice

MOST_LISTED = 1000

MOST_NAMED = 20

SHOWN_CHARS, DETAIL_CHARS = 180, 220

_SPACE = pattern(r"\s+")


def memory_reflection_resolve(world: World, caller: Caller, params: Mapping[str, Any]) -> ToolAnswer:
    """Say that a line of a reflection is done with: memoryId or query, scope, note, limit, dryRun."""
    reference, query = (trim(str(params.get(name) or "")) for name in ("memoryId", "query"))
    if not reference and not query:
        return ToolAnswer("Provide memoryId or query.", {"error": "missing_selector"})
    if reference and query:
        return ToolAnswer("Provide only one of memoryId or query.", {"error": "ambiguous_selector"})
    scopes = scopes_asked(world, caller, params)
    if isinstance(scopes, ToolAnswer):
        return scopes
    found: list[tuple[StoredRow, float | None]]
    if reference:
        row = _referred(world, reference, scopes)
        if isinstance(row, ToolAnswer):
            return row
        found = [(row, None)]
    else:
        recalled = recall_rows(
            world, query, limit=_limit(params), scopes=scopes, category="reflection", source="cli"
        )
        found = [(each.row, each.score) for each in recalled if _is_open(world, each.row)]
        if not found:
            filtered = {} if scopes is None else {"scopeFilter": list(scopes)}
            return ToolAnswer(
                "No unresolved reflection items matched.", {"action": "empty", "query": query, **filtered}
            )
    dry = params.get("dryRun")
    if bool(query) if dry is None else bool(dry):
        return _preview(world, {"query": query} if query else {"memoryId": reference}, found)
    if len(found) != 1:
        return ToolAnswer(
            f"Query matched {len(found)} unresolved reflection items. Preview first, then resolve a specific memoryId.",
            {
                "error": "ambiguous_query",
                "query": query,
                "candidates": [_candidate(world, *each) for each in found],
            },
        )
    return _resolve(world, caller, found[0][0], trim(str(params.get("note") or "")))


def _limit(params: Mapping[str, Any]) -> int:
    given = params.get("limit")
    usable = isinstance(given, int | float) and not isinstance(given, bool)
    return min(MOST_NAMED, max(1, int(given))) if usable and given is not None else 5


def _referred(world: World, reference: str, scopes: Sequence[str] | None) -> StoredRow | ToolAnswer:
    """The open line that an id names, whole or by its beginning; else the answer why not."""
    short = reference[:8]
    exact = world.get(reference, scopes)
    if exact is not None and not _is_item(exact.meta(world.now_ms).values):
        return ToolAnswer(
            f"Memory {short} is not a reflection item.",
            {"error": "not_reflection_item", "memoryId": reference},
        )
    rows = sorted(
        (row for row in world.draft.rows(scopes) if row.category == "reflection"),
        key=lambda row: -row.timestamp,
    )
    named = [
        row
        for row in rows[:MOST_LISTED]
        if row.id.startswith(reference) and _is_item(row.meta(world.now_ms).values)
    ]
    items = [exact] if exact is not None else named
    still = [row for row in items if _is_open(world, row)]
    if items and not still:
        at = items[0].meta(world.now_ms).values.get("resolvedAt")
        return ToolAnswer(
            f"Reflection item {short} is already resolved.",
            {"error": "already_resolved", "memoryId": reference, "resolvedAt": at},
        )
    if not still:
        return ToolAnswer(
            f"Unresolved reflection item {short} not found.", {"error": "not_found", "memoryId": reference}
        )
    if len(still) > 1:
        return ToolAnswer(
            f"Reflection item prefix {reference} is ambiguous; use a longer id.",
            {
                "error": "ambiguous_memory_id",
                "memoryId": reference,
                "matches": [row.id for row in still[:MOST_NAMED]],
            },
        )
    return still[0]


def _is_item(values: Mapping[str, Any]) -> bool:
    return values.get("type") == "memory-reflection-item"


def _is_open(world: World, row: StoredRow) -> bool:
    values = row.meta(world.now_ms).values
    return _is_item(values) and "resolvedAt" not in values


def _preview(
    world: World, asked: Mapping[str, str], found: Sequence[tuple[StoredRow, float | None]]
) -> ToolAnswer:
    lines = []
    for at, (row, score) in enumerate(found, 1):
        kind = row.meta(world.now_ms).values.get("itemKind")
        name = kind if isinstance(kind, str) else "item"
        told = "" if score is None else f" score={to_fixed(score, 3)}"
        lines.append(f"{at}. [{row.id}] {name}{told}: {_on_one_line(row.text, SHOWN_CHARS)}")
    return ToolAnswer(
        "\n".join((f"Reflection resolve preview: {len(found)} candidate(s). No changes made.", *lines)),
        {"action": "preview", **asked, "candidates": [_candidate(world, *each) for each in found]},
    )


def _candidate(world: World, row: StoredRow, score: float | None) -> dict[str, Any]:
    values = row.meta(world.now_ms).values
    known = {name: values[name] for name in ("itemKind", "agentId") if name in values}
    told = {} if score is None else {"score": score}
    return {"id": row.id, "text": _on_one_line(row.text, DETAIL_CHARS), **known, **told}


def _on_one_line(text: str, length: int) -> str:
    line = trim(_SPACE.sub(" ", text))
    return line if utf16_len(line) <= length else f"{utf16_slice(line, length - 1).rstrip()}…"


def _resolve(world: World, caller: Caller, row: StoredRow, note: str) -> ToolAnswer:
    patch: dict[str, Any] = {"resolvedAt": world.now_ms, "resolvedBy": caller.agent}
    details: dict[str, Any] = {"action": "resolved", "id": row.id, "resolvedBy": caller.agent}
    if note:
        patch["resolutionNote"] = note
        details["note"] = note
    world.patch(row.id, patch, why="resolved")
    return ToolAnswer(f"Resolved reflection item {row.id[:8]}.", details)
