"""Making one memory of several that say the same: what survives, and what becomes of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.changes.change_set import Change, ChangeSet, Conflict, Edit
from memtui.engine.changes.edit_row import PINNED, EditableRow, FieldEdit, RowPatch, change_of
from memtui.engine.changes.fields import check_text
from memtui.engine.changes.plan import DERIVED, Planner, ReadRows, change_planner, new_vectors, planned, read
from memtui.engine.changes.reembed_text import text_patch
from memtui.engine.core.errors import RefusedError, UsageError
from memtui.engine.core.memory import TIERS
from memtui.engine.core.text import counted
from memtui.engine.dialects.importance_labels import label_of
from memtui.engine.dialects.mem_engine import LABEL
from memtui.engine.metadata.patch import FIRST_RELATIONS, append_relation

if TYPE_CHECKING:
    from memtui.engine.dialects.base import Dialect
    from memtui.engine.engine import Engine


Losers = Literal["supersede", "delete"]


def plan_merge(
    engine: Engine,
    ids: Sequence[str],
    *,
    survivor: str | None = None,
    text: str | None = None,
    losers: Losers = "supersede",
) -> ChangeSet:
    """Merge two or more memories into one of them.

    The survivor (by default the one that counts most: pinned, core, important, often used, new) takes over the
    highest tier, importance and confidence and all uses; `text` gives it another text. The others are superseded
    by it, or deleted. Raises UsageError for fewer than two, RefusedError where there is nothing to supersede with.
    """
    planner = change_planner(engine)
    wanted = list(dict.fromkeys(ids))
    if len(wanted) < 2:
        raise UsageError("A merge needs two memories or more.", fix="Name the ones that say the same.")
    dialect = planner.store.dialect
    if losers == "supersede" and not dialect.reads_metadata:
        raise RefusedError(
            f"Memories of {dialect.title} cannot be replaced: they have no validity.",
            fix="Delete the others instead (--losers delete in the shell).",
        )
    found = read(planner, wanted)
    if survivor is not None and survivor not in wanted:
        raise UsageError(f"{survivor} is none of the memories to merge.", fix="Name one of them.")
    rows = list(found.rows.values())
    first = found.rows.get(survivor) if survivor is not None else max(rows, key=_weight, default=None)
    if found.conflicts or first is None:
        return ChangeSet("merge", "nothing to merge", (), found.version, tuple(found.conflicts))
    others = [row for row in rows if row is not first]
    notes: Counter[str] = Counter()
    changes: list[Change] = []
    conflicts: list[Conflict] = [
        Conflict(row.memory.id, "refused", "The agent makes this memory from a file: it would come back.")
        for row in rows
        if row.memory.id.startswith(DERIVED)
    ]
    survives = _survivor(planner, found, first, others, text, losers, notes)
    for part in (survives, *(_loser(planner, row, first.memory.id, losers) for row in others)):
        if isinstance(part, Conflict):
            conflicts.append(part)
        elif part is not None:
            changes.append(part)
    if len(scopes := {row.memory.scope for row in rows}) > 1:
        named = ", ".join(sorted(scope or "(none)" for scope in scopes))
        notes[f"they are in different scopes ({named}); the kept memory stays in {first.memory.scope}"] = 1
    title = f"{counted(len(rows), 'memory', 'memories')} merged into one"
    return planned("merge", title, found, changes, conflicts, notes)


def _weight(row: EditableRow) -> tuple[Any, ...]:
    memory = row.memory
    tier = -TIERS.index(memory.tier) if memory.tier in TIERS else -len(TIERS)
    return (
        memory.active,
        memory.state != "archived",
        memory.metadata_values.get(PINNED) is True,
        tier,
        memory.importance or 0.0,
        memory.access_count or 0,
        memory.timestamp_ms,
    )


def _survivor(
    planner: Planner,
    found: ReadRows,
    row: EditableRow,
    others: Sequence[EditableRow],
    text: str | None,
    losers: Losers,
    notes: Counter[str],
) -> Change | Conflict | None:
    dialect, memory = planner.store.dialect, row.memory
    everyone = [row, *others]
    patch = RowPatch()
    importance = max(row.memory.importance or 0.0 for row in everyone)
    if dialect.columns.importance and importance > (memory.importance or 0.0):
        patch.columns[dialect.columns.importance] = importance
        if LABEL in dialect.labels:
            patch.columns[LABEL] = label_of(None, importance)
    if dialect.reads_metadata:
        _take_over(patch, row, others, dialect, losers)
    setting = FieldEdit({} if text is None else {"text": check_text(text)}, planner.now_ms)
    if text is not None and (vectors := new_vectors(planner, found, {memory.id: setting}, notes)):
        text_patch(row, text, vectors[memory.id], setting, dialect, patch)
    notes.update(patch.warnings)
    return change_of(row, patch, dialect, why="kept", group=memory.id)


def _take_over(
    patch: RowPatch, row: EditableRow, others: Sequence[EditableRow], dialect: Dialect, losers: Losers
) -> None:
    memory, everyone = row.memory, [row.memory, *(row.memory for row in others)]
    tier = min(
        (memory.tier for memory in everyone if memory.tier in TIERS), key=TIERS.index, default=memory.tier
    )
    uses = sum(memory.access_count or 0 for memory in everyone)
    last = max(memory.last_accessed_ms for memory in everyone)
    patch.metadata = {
        "tier": tier,
        "confidence": max(memory.confidence or 0.0 for memory in everyone),
        "access_count": uses,
        "last_accessed_at": last,
    }
    for column, value in (
        (dialect.columns.tier, tier),
        (dialect.columns.access_count, uses),
        (dialect.columns.last_accessed, float(last)),
    ):
        if column:
            patch.columns[column] = value
    if any(memory.metadata_values.get(PINNED) is True for memory in everyone):
        patch.metadata[PINNED] = True
    if losers == "supersede":
        relations = memory.metadata_values.get("relations")
        for each in others:
            relations = append_relation(relations, {"type": "supersedes", "targetId": each.memory.id})
        patch.metadata["relations"] = (relations or [])[-FIRST_RELATIONS:]
        if memory.supersedes is None:
            patch.metadata["supersedes"] = others[0].memory.id


def _loser(
    planner: Planner, row: EditableRow, survivor: str, losers: Losers, *, why: str = ""
) -> Change | Conflict | None:
    memory = row.memory
    merged = not why
    why = why or f"merged into {survivor}"
    if losers == "delete":
        shown = {"text": memory.raw_text, "scope": memory.scope, "category": memory.category}
        edit = Edit(expects={planner.store.dialect.columns.text: row.values.get("text")})
        return Change(
            memory.id, "delete", shown, {}, memory.title, why, group=survivor, scope=memory.scope, edit=edit
        )
    link = {"type": "superseded_by", "targetId": survivor}
    patch = RowPatch(
        metadata={
            "invalidated_at": memory.invalidated_at_ms or planner.now_ms,
            "superseded_by": survivor,
            **({"canonical_id": survivor} if merged else {}),
            "relations": append_relation(memory.metadata_values.get("relations"), link)[-FIRST_RELATIONS:],
        }
    )
    return change_of(row, patch, planner.store.dialect, why=why, group=survivor)


def plan_supersede(engine: Engine, ids: Sequence[str], by: str) -> ChangeSet:
    """Let one memory take the place of others, which stay as history; it inherits none of their uses.

    Raises UsageError for a memory in its own place, RefusedError where there is nothing to supersede with.
    """
    if by in ids:
        raise UsageError(f"{by} cannot take its own place.", fix="Name another memory.")
    planner = change_planner(engine)
    dialect = planner.store.dialect
    if not dialect.reads_metadata:
        raise RefusedError(
            f"Memories of {dialect.title} cannot be replaced: they have no validity.",
            fix="Delete them instead.",
        )
    found = read(planner, [*ids, by])
    survivor = found.rows.get(by)
    losers = [row for each, row in found.rows.items() if each != by]
    conflicts = list(found.conflicts)
    conflicts += [
        Conflict(row, "refused", "The agent makes this memory from a file: it would come back.")
        for row in found.rows
        if row.startswith(DERIVED)
    ]
    losers = [row for row in losers if not row.memory.id.startswith(DERIVED)]
    if survivor is None or not losers:
        return ChangeSet("edit", "nothing to replace", (), found.version, tuple(conflicts))
    notes: Counter[str] = Counter()
    if not survivor.memory.active or survivor.memory.state == "archived":
        notes[f"what takes the place is itself out of use: {by}"] = 1
    patch = RowPatch()
    relations = survivor.memory.metadata_values.get("relations")
    for row in losers:
        relations = append_relation(relations, {"type": "supersedes", "targetId": row.memory.id})
    patch.metadata["relations"] = (relations or [])[-FIRST_RELATIONS:]
    if survivor.memory.supersedes is None:
        patch.metadata["supersedes"] = losers[0].memory.id
    changes: list[Change] = []
    for made in (
        change_of(survivor, patch, dialect, why="takes the place", group=by),
        *(_loser(planner, row, by, "supersede", why=f"replaced by {by}") for row in losers),
    ):
        if isinstance(made, Conflict):
            conflicts.append(made)
        elif made is not None:
            changes.append(made)
    count = counted(len(losers), "memory", "memories")
    return planned("edit", f"{count} replaced", found, changes, conflicts, notes)
