"""The trash: what was deleted or archived, and how it comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.change_set import Change, ChangeSet, Conflict
from memtui.engine.changes.plan import change_planner, plan_edit, read
from memtui.engine.changes.reverse import plan_shift
from memtui.engine.core.text import counted, one_line
from memtui.engine.store.row_values import ID, places

if TYPE_CHECKING:
    from memtui.engine.changes.journal import Journal
    from memtui.engine.core.progress import CancelToken
    from memtui.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class TrashedMemory:
    """A memory in the trash."""

    id: str
    title: str
    scope: str | None
    how: str
    """deleted or archived."""
    when_ms: int
    entry: int | None
    """The journal entry that discarded it; None for one that the agent archived."""

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "id": self.id,
            "text": self.title,
            "scope": self.scope,
            "how": self.how,
            "when_ms": self.when_ms,
            "entry": self.entry,
        }


def deleted_memories(engine: Engine) -> list[TrashedMemory]:
    """What was deleted through memtui and can come back, the last first."""
    journal, writer = engine.write_state.journal, engine.store.writer()
    found: dict[str, TrashedMemory] = {}
    for entry in journal.entries(states=("applied",)):
        for row in journal.rows(entry.entry):
            if row.op == "delete" and row.before and row.id not in found:
                title = one_line(str(row.before.get("text") or ""))
                scope = row.before.get("scope")
                found[row.id] = TrashedMemory(row.id, title, scope, "deleted", entry.time_ms, entry.entry)
    if not found:
        return []
    writer.newest()
    there = places(writer.rows(list(found), [ID]))
    return [memory for memory in found.values() if memory.id not in there]


def archived_memories(
    engine: Engine, limit: int = 1_000, cancel: CancelToken | None = None
) -> list[TrashedMemory]:
    """The archived memories, the newest `limit` of them, with the entry that archived them where there is one."""
    from memtui.engine.catalog.views import memories_at, selection_of

    chosen = selection_of(engine.view, "is:archived", cancel)
    memories = memories_at(engine.store, chosen.catalog, chosen.positions[:limit], now_ms=engine.now_ms)
    journal, found = engine.write_state.journal, []
    for memory in memories:
        number = _discarded_by(journal, memory.id, "edit")
        when = memory.invalidated_at_ms or 0 if number is None else journal.entry(number).time_ms
        found.append(TrashedMemory(memory.id, memory.title, memory.scope, "archived", when, number))
    return found


def plan_restore(engine: Engine, ids: Sequence[str]) -> ChangeSet:
    """Bring back memories: archived ones to how they were before, deleted ones from the journal, byte for byte.

    A memory that the agent archived, and not memtui, becomes confirmed. One that is neither is a conflict.
    """
    planner, journal, writer = change_planner(engine), engine.write_state.journal, engine.store.writer()
    found = read(planner, ids)
    changes: list[Change] = []
    conflicts: list[Conflict] = []
    by_entry: dict[int, list[str]] = {}
    confirm: list[str] = []
    for memory_id in dict.fromkeys(ids):
        row = found.rows.get(memory_id)
        entry = _discarded_by(journal, memory_id, "delete" if row is None else "edit")
        if row is not None and row.memory.state != "archived":
            conflicts.append(Conflict(memory_id, "there again", "It is there, and not archived."))
        elif entry is not None:
            by_entry.setdefault(entry, []).append(memory_id)
        elif row is not None:
            confirm.append(memory_id)
        else:
            sentence = "It is neither archived nor among what was deleted through memtui."
            conflicts.append(Conflict(memory_id, "gone", sentence))
    parts = [
        plan_shift(journal.entry(entry), journal, writer, "before", only=named)
        for entry, named in by_entry.items()
    ]
    if confirm:
        parts.append(plan_edit(engine, confirm, {"state": "confirmed"}))
    for part in parts:
        changes += part.changes
        conflicts += part.conflicts
    count = counted(len(changes), "memory", "memories")
    return ChangeSet(
        "restore", f"{count} restored", tuple(changes), found.version, tuple(conflicts), put_back=True
    )


def _discarded_by(journal: Journal, memory: str, op: str) -> int | None:
    """The number of the last applied entry that deleted or archived the memory, its contents still kept."""
    for entry, row in journal.of_memory(memory):
        if entry.state != "applied" or row.op != op or not row.before:
            continue
        if op == "delete" or row.after.get("state") == "archived":
            return entry.entry
    return None
