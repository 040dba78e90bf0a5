"""The story of one memory: the versions that replaced one another, and what memtui changed in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.engine.core.memory import Memory

if TYPE_CHECKING:
    from memtui.engine.changes.journal import EntryRow, JournalEntry
    from memtui.engine.engine import Engine
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


def memory_story(engine: Engine, memory: Memory) -> Story:
    """The versions that a memory is one of, and what was changed in it through memtui.

    Its links are followed both ways, at the pinned version; one to a row that is gone ends the chain.
    """
    store, now_ms = engine.store, engine.now_ms
    seen = {memory.id: memory}
    older = _follow(store, memory, "supersedes", seen, now_ms)
    newer = _follow(store, memory, "superseded_by", seen, now_ms)
    versions = (*reversed(older), memory, *newer) if older or newer else ()
    changes = () if engine.state is None else engine.write_state.journal.of_memory(memory.id)
    return Story(memory.id, versions, tuple(changes))


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
