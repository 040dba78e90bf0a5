"""One memory and the fields to set in it: what becomes of its columns and of its metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memtui.engine.changes.change_set import COUNTERS, Change, Conflict, Edit
from memtui.engine.core.memory import Memory
from memtui.engine.dialects.base import Dialect
from memtui.engine.dialects.crewai import PRIVATE, SOURCE
from memtui.engine.dialects.hermes import ABSTRACT, TAGS
from memtui.engine.dialects.importance_labels import label_of
from memtui.engine.dialects.mem_engine import LABEL, TRUST
from memtui.engine.metadata.categories import TEMPORAL_VERSIONED
from memtui.engine.metadata.json_patch import REMOVED, JsonMember, dump, members
from memtui.engine.metadata.json_patch import patch as edited
from memtui.engine.metadata.read import fact_key
from memtui.engine.store.row_values import same

DURABLE = ("profile", "preferences", "events")
"""Categories that memory-lancedb-pro keeps in the durable layer."""

PINNED = "pinned"
"""The metadata key that protects a memory from sweeps; unknown to the agent's program, which keeps it."""


@dataclass(frozen=True, slots=True)
class EditableRow:
    """A memory with its columns as stored (vectors aside)."""

    memory: Memory
    values: Mapping[str, Any]


@dataclass(slots=True)
class RowPatch:
    """What is to be written to a row, as it is put together."""

    columns: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    vector: Any = None
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FieldEdit:
    """What one edit sets, and when, and why (the reason is kept with an archived memory)."""

    values: Mapping[str, Any]
    now_ms: int
    reason: str = ""


def patch_of(row: EditableRow, setting: FieldEdit, dialect: Dialect) -> RowPatch:
    """Everything that the fields of `setting` change in this row, the text aside."""
    patch = RowPatch()
    for name, value in setting.values.items():
        if name != "text":
            _SETTERS[name](row, value, patch, setting, dialect)
    return patch


def _column(role: str) -> Callable[[EditableRow, Any, RowPatch, FieldEdit, Dialect], None]:
    def put(row: EditableRow, value: Any, patch: RowPatch, setting: FieldEdit, dialect: Dialect) -> None:
        patch.columns[getattr(dialect.columns, role)] = value

    return put


def _key(key: str) -> Callable[[EditableRow, Any, RowPatch, FieldEdit, Dialect], None]:
    def put(row: EditableRow, value: Any, patch: RowPatch, setting: FieldEdit, dialect: Dialect) -> None:
        patch.metadata[key] = REMOVED if value is None else value

    return put


def _importance(
    row: EditableRow, value: float, patch: RowPatch, setting: FieldEdit, dialect: Dialect
) -> None:
    """The plugin's own tool sets the confidence with it, openclaw-mem-engine's the label."""
    patch.columns[str(dialect.columns.importance)] = value
    if LABEL in dialect.labels and LABEL not in setting.values:
        patch.columns[LABEL] = label_of(None, value)
    if not dialect.reads_metadata or "confidence" in setting.values:
        return
    if row.memory.metadata_valid:
        patch.metadata["confidence"] = value
    else:
        patch.warnings.append("confidence stays as it is where the metadata is not a JSON object")


def _category(
    row: EditableRow, value: tuple[str, str] | str, patch: RowPatch, setting: FieldEdit, dialect: Dialect
) -> None:
    """Column and metadata together, else filters and supersede rules contradict each other; a list as a whole."""
    if isinstance(value, str):
        patch.columns[str(dialect.columns.category)] = value
        return
    smart, column = value
    patch.columns[str(dialect.columns.category)] = column
    if not dialect.reads_metadata:
        return
    patch.metadata["memory_category"] = smart
    key = fact_key(smart, row.memory.l0_abstract)
    if key is not None:
        patch.metadata["fact_key"] = key
    elif row.memory.memory_category in TEMPORAL_VERSIONED:
        patch.metadata["fact_key"] = REMOVED


def _tier(row: EditableRow, value: str, patch: RowPatch, setting: FieldEdit, dialect: Dialect) -> None:
    patch.metadata["tier"] = value
    if dialect.columns.tier:
        patch.columns[dialect.columns.tier] = value


def _state(row: EditableRow, value: str, patch: RowPatch, setting: FieldEdit, dialect: Dialect) -> None:
    """As the plugin's archive and promote tools do it; "pending" keeps a memory out until it is confirmed."""
    memory = row.memory
    patch.metadata["state"] = value
    if dialect.columns.state:
        patch.columns[dialect.columns.state] = value
    layer = memory.layer
    if value == "archived":
        layer = "archive"
        patch.metadata["archived_at"] = setting.now_ms
        if setting.reason:
            patch.metadata["archive_reason"] = setting.reason
    elif memory.layer == "archive":
        layer = "durable" if memory.memory_category in DURABLE else "working"
    if value == "confirmed" and memory.state == "pending":
        layer = "durable" if memory.layer != "reflection" else memory.layer
        patch.metadata |= {"bad_recall_count": 0, "suppressed_until_turn": 0, "suppressed_until_ms": 0}
    if layer != memory.layer and "layer" not in setting.values:
        patch.metadata["memory_layer"] = layer


def _pinned(row: EditableRow, value: bool, patch: RowPatch, setting: FieldEdit, dialect: Dialect) -> None:
    """A pinned memory is core, which keeps it from fading, and sweeps pass it by."""
    patch.metadata[PINNED] = True if value else REMOVED
    if value and "tier" not in setting.values:
        _tier(row, "core", patch, setting, dialect)


def _touched(row: EditableRow, value: bool, patch: RowPatch, setting: FieldEdit, dialect: Dialect) -> None:
    """What a recall by hand writes: one use more, now, and confirmed; earlier recalls in vain are forgiven."""
    if not value:
        return
    uses, now = (row.memory.access_count or 0) + 1, setting.now_ms
    patch.metadata |= {"access_count": uses, "last_accessed_at": now, "last_confirmed_use_at": now}
    if row.memory.metadata_values.get("bad_recall_count"):
        patch.metadata |= {"bad_recall_count": 0, "suppressed_until_turn": 0, "suppressed_until_ms": 0}
    if dialect.columns.access_count:
        patch.columns[dialect.columns.access_count] = uses
    if dialect.columns.last_accessed:
        patch.columns[dialect.columns.last_accessed] = float(now)


def _suppressed(row: EditableRow, value: int, patch: RowPatch, setting: FieldEdit, dialect: Dialect) -> None:
    patch.metadata["suppressed_until_ms"] = value
    if not value:
        patch.metadata["bad_recall_count"] = 0


def _reinstated(row: EditableRow, value: bool, patch: RowPatch, setting: FieldEdit, dialect: Dialect) -> None:
    """A superseded memory counts again; what took its place stays, and both are found."""
    patch.metadata |= {"invalidated_at": REMOVED, "superseded_by": REMOVED}
    if (row.memory.valid_from_ms or 0) > setting.now_ms:
        patch.metadata["valid_from"] = setting.now_ms
    if by := row.memory.superseded_by:
        patch.warnings.append(f"what took its place stays and counts, too: {by}")


_SETTERS: dict[str, Callable[[EditableRow, Any, RowPatch, FieldEdit, Dialect], None]] = {
    "scope": _column("scope"),
    "category": _category,
    "importance": _importance,
    LABEL: lambda row, value, patch, setting, dialect: patch.columns.__setitem__(LABEL, value),
    TRUST: lambda row, value, patch, setting, dialect: patch.columns.__setitem__(TRUST, value),
    "metadata": _column("details"),
    SOURCE: lambda row, value, patch, setting, dialect: patch.columns.__setitem__(SOURCE, value),
    PRIVATE: lambda row, value, patch, setting, dialect: patch.columns.__setitem__(PRIVATE, value),
    TAGS: lambda row, value, patch, setting, dialect: patch.columns.__setitem__(TAGS, value),
    ABSTRACT: lambda row, value, patch, setting, dialect: patch.columns.__setitem__(ABSTRACT, value),
    "agent": lambda row, value, patch, setting, dialect: patch.columns.__setitem__("agentId", value),
    "tier": _tier,
    "confidence": _key("confidence"),
    "state": _state,
    "layer": _key("memory_layer"),
    "pinned": _pinned,
    "touched": _touched,
    "reinstated": _reinstated,
    "suppressed": _suppressed,
    "valid_until": _key("valid_until"),
    "l0_abstract": _key("l0_abstract"),
    "l1_overview": _key("l1_overview"),
    "l2_content": _key("l2_content"),
}


def change_of(
    row: EditableRow, patch: RowPatch, dialect: Dialect, *, why: str = "", group: str = ""
) -> Change | Conflict | None:
    """The change that a patch makes, None when all is so already, a conflict where it cannot be made."""
    columns = {name: value for name, value in patch.columns.items() if not same(row.values.get(name), value)}
    with_them = dialect.written_with(row.values, columns)
    columns |= {name: value for name, value in with_them.items() if not same(row.values.get(name), value)}
    stored, there = "{}", list[JsonMember]()
    texts: dict[str, str] = {}
    metadata: dict[str, Any] = {}
    if patch.metadata:
        if not row.memory.metadata_valid:
            why_not = (
                "Its metadata is not a JSON object: repair that first, or the agent's next write loses it."
            )
            return Conflict(row.memory.id, "refused", why_not)
        stored = row.values.get(str(dialect.columns.metadata)) or "{}"
        there = members(stored)
        texts = {each.key: stored[each.value_start : each.end] for each in there}
        metadata = {key: value for key, value in patch.metadata.items() if not _is_so(row, key, value, texts)}
    if not columns and not metadata and patch.vector is None:
        return None
    before, after = _shown(row, columns, metadata, dialect)
    if metadata:
        columns[str(dialect.columns.metadata)] = edited(stored, metadata, there)
    guarded = (dialect.columns.text, dialect.columns.scope, dialect.columns.category, *columns)
    expects = {name: row.values.get(name) for name in guarded if name}
    expects_metadata = {key: texts.get(key) for key in metadata if key not in COUNTERS}
    return Change(
        id=row.memory.id,
        op="edit",
        before=before,
        after=after,
        title=row.memory.title,
        why=why,
        group=group,
        scope=row.memory.scope,
        edit=Edit(columns, metadata, expects, expects_metadata, patch.vector),
    )


def _is_so(row: EditableRow, key: str, value: Any, texts: Mapping[str, str]) -> bool:
    """Whether the metadata says that already; a default that its own program assumes counts as said."""
    if value is REMOVED:
        return key not in texts
    if key in texts:
        return texts[key] == dump(value)
    return key in _READ and _READ[key](row.memory) == value


_READ: dict[str, Callable[[Memory], Any]] = {
    "tier": lambda memory: memory.tier,
    "state": lambda memory: memory.state,
    "memory_layer": lambda memory: memory.layer,
    "confidence": lambda memory: memory.confidence,
    "memory_category": lambda memory: memory.memory_category,
    "fact_key": lambda memory: memory.fact_key,
    "valid_until": lambda memory: memory.valid_until_ms,
    "invalidated_at": lambda memory: memory.invalidated_at_ms,
    "l0_abstract": lambda memory: memory.l0_abstract,
    "l1_overview": lambda memory: memory.l1_overview,
    "l2_content": lambda memory: memory.l2_content,
    "suppressed_until_ms": lambda memory: memory.metadata_values.get("suppressed_until_ms", 0),
    "suppressed_until_turn": lambda memory: memory.metadata_values.get("suppressed_until_turn", 0),
    "bad_recall_count": lambda memory: memory.metadata_values.get("bad_recall_count", 0),
}
"""What a person reads for a key, also where the metadata does not hold it."""


def _shown(
    row: EditableRow, columns: Mapping[str, Any], metadata: Mapping[str, Any], dialect: Dialect
) -> tuple[dict[str, Any], dict[str, Any]]:
    before: dict[str, Any] = {name: row.values.get(name) for name in columns}
    after: dict[str, Any] = dict(columns)
    for key, value in metadata.items():
        read = _READ.get(key)
        before[key] = read(row.memory) if read else row.memory.metadata_values.get(key)
        after[key] = None if value is REMOVED else value
    return before, after
