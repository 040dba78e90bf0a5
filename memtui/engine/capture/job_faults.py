"""What a job of the plugin would get wrong in this store: its known faults, counted on the rows that they hit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memtui.engine.capture.draft import StoredRow
from memtui.engine.capture.recipes.pro.world import World
from memtui.engine.capture.stages.reflection_text import DERIVED, INVARIANTS, bullets, is_placeholder
from memtui.engine.core.text import counted

DAY_MS = 86_400_000


def of_cluster(group: Sequence[StoredRow], now_ms: int) -> list[str]:
    """Of a compaction: history that comes back to life, scopes and categories that are mixed."""
    metas = [row.meta(now_ms) for row in group]
    found = []
    past = sum(1 for meta in metas if not meta.active(now_ms) or meta.state == "archived")
    if past:
        found.append(f"{past} of {len(group)} are no longer valid or archived: their words would count again")
    if len(scopes := {str(row.scope) for row in group}) > 1:
        found.append(f"scopes are mixed: {', '.join(sorted(scopes))} into {group[0].scope}")
    if len(kinds := {meta.memory_category for meta in metas}) > 1:
        found.append(f"categories are mixed: {', '.join(sorted(kinds))}")
    return found


def of_dream(world: World, light: Mapping[str, Any], before: Mapping[str, StoredRow]) -> Iterator[str]:
    """Of a sweep: copies across categories, and tiers that are never looked at."""
    now_ms = world.now_ms
    for write in world.draft.writes:
        meta = write.row.meta(now_ms)
        winner = before.get(str(meta.values.get("canonical_id") or ""))
        if write.op == "change" and winner is not None:
            kinds = (meta.memory_category, winner.meta(now_ms).memory_category)
            if kinds[0] != kinds[1]:
                yield f"a memory of {kinds[0]} would be archived as a copy of one of {kinds[1]}: {write.row.text}"
    if light["enabled"]:
        oldest = now_ms - light["lookbackDays"] * DAY_MS
        old = sum(row.timestamp < oldest for row in before.values())
        if old:
            span = counted(int(light["lookbackDays"]), "day")
            kept = counted(old, "older memory keeps its tier", "older memories keep their tiers")
            yield f"tiers are only revised for memories younger than {span}: {kept}, whatever their use"


def of_reflection(world: World, report: str) -> Iterator[str]:
    """Of a reflection: lines that are stored already and would weigh double, and lines that become no memory."""
    made = [write.row for write in world.draft.writes if write.op == "add"]
    new = {row.id for row in made}
    stored = {_plain(row.text) for row in world.draft.rows() if row.id not in new}
    again = sum(_plain(row.text) in stored for row in made)
    if again:
        yield (
            f"{counted(again, 'line is', 'lines are')} stored already: the plugin stores them again in each run, "
            "and equal lines weigh double"
        )
    kept = {_plain(row.text) for row in made}
    lines = [
        line for name in (INVARIANTS, DERIVED) for line in bullets(report, name) if not is_placeholder(line)
    ]
    lost = [line for line in lines if _plain(line) not in kept]
    if lost:
        several = counted(len(lost), "line becomes", "lines become")
        yield f"{several} no memory, as not worded like a rule or a change: {lost[0]}"


def _plain(text: str) -> str:
    return " ".join(text.replace("**", "").split()).lower()
