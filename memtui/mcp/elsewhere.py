"""The plugin's tools on a store of another program: what such a store can do, by memtui's own tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from memtui.mcp.door import Door, ToolError, untrusted
from memtui.mcp.tools.base import Arguments, Details, Reply, Tool

OF_ANY_STORE = (
    "memory_recall",
    "memory_store",
    "memory_update",
    "memory_forget",
    "memory_list",
    "memory_stats",
)
"""Those of the plugin's tools that need no tiers, states and scopes."""

_WORD = re.compile(r"[\w:./-]+")

MOST_LISTED = 50


def call_elsewhere(door: Door, name: str, given: Mapping[str, Any]) -> Reply:
    """Answer one of the plugin's tools. ToolError for one that needs what this store does not have."""
    match name:
        case "memory_recall":
            return _recall(door, given, 3)
        case "memory_store":
            from memtui.mcp.tools.store import TOOL as STORE

            kept = {key: given[key] for key in ("text", "importance", "category", "scope") if key in given}
            if kept.get("category") not in (None, "preference", "fact", "decision", "entity", "event"):
                kept["category"] = "other"
            return _answer(door, STORE, kept)
        case "memory_update":
            from memtui.mcp.tools.update import TOOL as UPDATE

            kept = {key: given[key] for key in ("text", "importance", "category") if key in given}
            return _answer(door, UPDATE, {"id": given["memoryId"], **kept})
        case "memory_forget":
            if "memoryId" not in given:
                if not given.get("query"):
                    raise ToolError("memoryId: give the id of the memory, or a query to find it.")
                return _recall(door, given, 5, "Nothing was forgotten: call again with the memoryId of one.")
            from memtui.mcp.tools.forget import TOOL as FORGET

            return _answer(door, FORGET, {"id": given["memoryId"], "delete": True})
        case "memory_list":
            from memtui.mcp.tools.list import TOOL as LIST

            asked: dict[str, Any] = {"filter": _filter_of(given), "limit": _count(given, 10, MOST_LISTED)}
            if offset := _count(given, 0, 10**9, "offset"):
                asked["cursor"] = str(offset)
            return _answer(door, LIST, asked)
        case "memory_stats":
            return _stats(door, given)
    raise ToolError(
        f"{name} needs tiers, states and scopes, which {door.engine.store.dialect.title} does not have. "
        f"Here are {', '.join(OF_ANY_STORE)}."
    )


def _recall(door: Door, given: Mapping[str, Any], limit: int, note: str = "") -> Reply:
    from memtui.mcp.tools.search import TOOL as SEARCH

    kept = {key: given[key] for key in ("query", "scope", "category") if key in given}
    return _answer(door, SEARCH, {**kept, "limit": max(1, _count(given, limit, 20))}, note)


def _answer(door: Door, tool: Tool, asked: Mapping[str, Any], note: str = "") -> Reply:
    """What one of memtui's tools answers; a preview is followed by its deed, as the plugin's tools ask nobody."""
    try:
        reply = tool.run(door, _arguments(tool, asked))
        if reply.confirm:
            reply = tool.run(door, _arguments(tool, {**asked, "confirm": reply.confirm}))
    except ToolError as error:  # it names its own argument
        raise ToolError(re.sub(r"^id:", "memoryId:", str(error))) from error
    text = f"{reply.text}\n{note}" if note else reply.text
    return Reply(Details(**reply.data.model_dump()), text, notes=(*reply.notes, *([note] if note else ())))


def _arguments(tool: Tool, asked: Mapping[str, Any]) -> Arguments:
    return tool.arguments.model_validate(dict(asked))


def _count(given: Mapping[str, Any], default: int, most: int, name: str = "limit") -> int:
    value = given.get(name, default)
    return min(most, max(0, int(value)))


def _filter_of(given: Mapping[str, Any]) -> str:
    """The filter of a list: its scope and category."""
    terms = []
    for key, term in (("scope", "scope"), ("category", "cat")):
        value = given.get(key)
        if value is None:
            continue
        if not _WORD.fullmatch(value):
            raise ToolError(f"{key}: a word of letters, digits and : . / - is read.")
        terms.append(f"{term}:{value}")
    return " ".join(terms)


def _stats(door: Door, given: Mapping[str, Any]) -> Reply:
    if "scope" in given:
        door.check_named(given["scope"], "scope")
    view = door.listed(_filter_of({"scope": given["scope"]} if "scope" in given else {}))
    facets = view.facets
    scopes = {name: count for name, count in facets.scopes if name}
    categories = {name: count for name, count in facets.categories if name}
    rows = [f"Total memories: {view.total}"]
    rows += [f"scope {name}: {count}" for name, count in scopes.items()]
    rows += [f"category {name}: {count}" for name, count in categories.items()]
    counts = {"memoryCount": view.total, "scopeCounts": scopes, "categoryCounts": categories}
    return Reply(Details.model_validate(counts), untrusted(rows))
