"""The story of one memory: the versions that replaced one another, and what memtui changed in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.engine.core.memory import Memory

if TYPE_CHECKING:
    from memtui.engine.changes.journal import EntryRow, Journal, JournalEntry
    from memtui.engine.store.table import Store


MOST_VERSIONS = 20
"""Versions that are followed in each direction; a longer chain is a loop or nobody's to read."""


@dataclass(frozen=True, slots=True)
class Story:
    """`versions` from the oldest to the newest, the memory among them; empty where it stands alone.

    `changes` are entries of the journal with what they did to it, the last first.
    """

    memory: str
    versions: tuple[Memory, ...] = ()
    changes: tuple[tuple[JournalEntry, EntryRow], ...] = ()


def story(store: Store, memory: Memory, journal: Journal | None, now_ms: int) -> Story:
    """Follow the links of `memory` both ways, at the pinned version; a link to a row that is gone ends the chain."""
    seen = {memory.id: memory}
    older = _follow(store, memory, "supersedes", seen, now_ms)
    newer = _follow(store, memory, "superseded_by", seen, now_ms)
    versions = (*reversed(older), memory, *newer) if older or newer else ()
    return Story(memory.id, versions, tuple(journal.of_memory(memory.id)) if journal is not None else ())


def _follow(store: Store, memory: Memory, link: str, seen: dict[str, Memory], now_ms: int) -> list[Memory]:
    found: list[Memory] = []
    at = memory
    while len(found) < MOST_VERSIONS:
        target = getattr(at, link)
        if not target or target in seen:
            break
        table = store.rows_by_id([target], store.row_columns)
        if not table.num_rows:
            break
        at = store.dialect.to_memories(table, now_ms)[0]
        seen[target] = at
        found.append(at)
    return found
