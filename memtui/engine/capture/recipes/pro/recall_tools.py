"""The plugin's tools that answer a question: recall, and what was true of a fact at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memtui.engine.capture.draft import StoredRow
from memtui.engine.capture.recipes.pro.management_tools import DEFAULT_RETRIEVAL
from memtui.engine.capture.recipes.pro.mirror import iso
from memtui.engine.capture.recipes.pro.recall import recall_rows
from memtui.engine.capture.recipes.pro.tools import Caller, ToolAnswer, cut, readable_scopes, scopes_asked
from memtui.engine.capture.recipes.pro.world import World
from memtui.engine.capture.stages.matching import pattern
from memtui.engine.core.javascript import trim
from memtui.engine.metadata.categories import matches

_SPACE = pattern(r"\s+")

FEW, MOST_SHORT, MOST_FULL = 3, 6, 20

ITEM_CHARS = (180, 60, 1000)

FACTS = (10, 1, 100)


def memory_recall(world: World, caller: Caller, params: Mapping[str, Any]) -> ToolAnswer:
    """Recall: query, limit, includeFullText, maxCharsPerItem, scope, category. What came back counts as used."""
    query = str(params.get("query") or "")
    full = params.get("includeFullText") is True
    limit = _whole(params.get("limit"), FEW, 1, MOST_FULL if full else MOST_SHORT)
    length = _whole(params.get("maxCharsPerItem"), *ITEM_CHARS)
    scopes, notice, more = readable_scopes(world, caller, params)
    category = params.get("category")
    found = recall_rows(world, query, limit=limit, scopes=scopes, source="manual")
    if isinstance(category, str) and category:
        found = [
            each for each in found if matches(each.row.category, category, each.row.meta(world.now_ms).values)
        ]
    if not found:
        return ToolAnswer(
            f"{notice}No relevant memories found.", {"count": 0, "query": query, "scopes": scopes, **more}
        )
    mode = "full" if full else "summary"
    lines = [
        f"{at}. [{each.row.id}] [{each.row.category}:{each.row.scope}] {_line(world, each.row, full, length)}"
        for at, each in enumerate(found, 1)
    ]
    block = "\n".join(lines)
    answer = ToolAnswer(
        f"{notice}<relevant-memories>\n<mode:{mode}>\nFound {len(found)} memories:\n\n{block}\n</relevant-memories>",
        {
            "count": len(found),
            "memories": [each.as_json(world.now_ms) for each in found],
            "query": query,
            "scopes": scopes,
            "retrievalMode": _mode(world),
            "recallMode": mode,
            **more,
        },
    )
    for each in found:
        _used(world, each.row)
    return answer


def _mode(world: World) -> Any:
    block = world.settings.raw.get("retrieval")
    own = block.get("mode") if isinstance(block, Mapping) else None
    return own or DEFAULT_RETRIEVAL["mode"]


def _line(world: World, row: StoredRow, full: bool, length: int) -> str:
    meta = row.meta(world.now_ms)
    said = (meta.l2_content or meta.l1_overview or row.text) if full else (meta.l0_abstract or row.text)
    line = trim(_SPACE.sub(" ", said))
    return line if full else cut(line, length)


def _used(world: World, row: StoredRow) -> None:
    """A recall that an agent asked for counts as a use, and lifts what held the memory back."""
    patch = {
        "access_count": row.meta(world.now_ms).access_count + 1,
        "last_accessed_at": world.now_ms,
        "last_confirmed_use_at": world.now_ms,
        "bad_recall_count": 0,
        "suppressed_until_turn": 0,
        "suppressed_until_ms": 0,
    }
    world.patch(row.id, patch, why="recalled")


def memory_fact_query(world: World, caller: Caller, params: Mapping[str, Any]) -> ToolAnswer:
    """What was true of a fact at a time: query or factKey, at (ISO), includeHistory, limit, scope."""
    scopes = scopes_asked(world, caller, params)
    if isinstance(scopes, ToolAnswer):
        return scopes
    key, query = str(params.get("factKey") or ""), str(params.get("query") or "")
    if not key and not query:
        return ToolAnswer("Provide query or factKey.", {"error": "missing_selector"})
    at = _time(params.get("at"), world.now_ms)
    if at is None:
        return ToolAnswer(
            "Invalid 'at'. Use an ISO date or time.", {"error": "invalid_at", "at": params["at"]}
        )
    limit = _whole(params.get("limit"), *FACTS)
    chains = _chains(world, scopes)
    wanted = [key] if key else _keys_of(world, query, scopes, chains, limit)
    facts = []
    for name in [each for each in wanted if each in chains][:limit]:
        rows = chains[name]
        current = next((row for row in reversed(rows) if _true(row, at, world.now_ms)), None)
        fact: dict[str, Any] = {"factKey": name, "current": _version(current, world.now_ms)}
        if params.get("includeHistory") is True:
            fact["history"] = [_version(row, world.now_ms) for row in rows]
        facts.append(fact)
    details = {"count": len(facts), "at": iso(at), "facts": facts}
    if not facts:
        return ToolAnswer("No facts found.", details)
    lines = [f"Facts as of {iso(at)}:"]
    for number, fact in enumerate(facts, 1):
        lines.append(f"{number}. {fact['factKey']}: {_told(fact['current'])}")
        lines += [
            f"   - {each['validFrom']} to {each['validTo'] or 'now'}: {_told(each)}"
            for each in fact.get("history", ())
        ]
    return ToolAnswer("\n".join(lines), details)


def _chains(world: World, scopes: Sequence[str] | None) -> dict[str, list[StoredRow]]:
    """The versions of each fact, oldest first."""
    found: dict[str, list[StoredRow]] = {}
    for row in world.draft.rows(scopes):
        key = row.meta(world.now_ms).fact_key
        if key:
            found.setdefault(key, []).append(row)
    for rows in found.values():
        rows.sort(key=lambda row: (row.meta(world.now_ms).valid_from, row.timestamp))
    return found


def _keys_of(
    world: World,
    query: str,
    scopes: Sequence[str] | None,
    chains: Mapping[str, Sequence[StoredRow]],
    limit: int,
) -> list[str]:
    """The facts that a recall finds, best first, then those whose key holds the words."""
    found = recall_rows(world, query, limit=min(limit, MOST_FULL), scopes=scopes, source="manual")
    keys = [each.row.meta(world.now_ms).fact_key for each in found]
    words = query.lower().split()
    keys += [key for key in chains if all(word in key for word in words)]
    return list(dict.fromkeys(key for key in keys if key))


def _true(row: StoredRow, at: int, now_ms: int) -> bool:
    meta = row.meta(now_ms)
    return meta.active(at) and not meta.expired(at)


def _version(row: StoredRow | None, now_ms: int) -> dict[str, Any] | None:
    if row is None:
        return None
    meta = row.meta(now_ms)
    ends = [each for each in (meta.invalidated_at, meta.valid_until) if each]
    return {
        "id": row.id,
        "text": row.text,
        "scope": row.scope,
        "validFrom": iso(int(meta.valid_from)),
        "validTo": iso(int(min(ends))) if ends else None,
    }


def _told(version: Mapping[str, Any] | None) -> str:
    if version is None:
        return "not known at that time"
    return f"[{version['id']}] {trim(_SPACE.sub(' ', str(version['text'])))}"


def _time(given: Any, now_ms: int) -> int | None:
    """Milliseconds of an ISO time, one without a zone in UTC; now for none; None for what cannot be read."""
    if given is None or given == "":
        return now_ms
    try:
        found = datetime.fromisoformat(str(given))
    except ValueError:
        return None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)


def _whole(value: Any, default: int, least: int, most: int) -> int:
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    return min(most, max(least, int(value))) if usable else default
