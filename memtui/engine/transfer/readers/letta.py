"""Letta: archival passages of one agent, its memory blocks, and agent files (which have blocks only)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.record import Read, Record, Rejected, SourceRemark
from memtui.engine.transfer.sources.fields import others, put_id, put_time, record_of, text_of, word, words
from memtui.engine.transfer.sources.head import Head
from memtui.engine.transfer.sources.json_stream import Value, items_of, open_json
from memtui.engine.transfer.sources.options import ReadOptions

_PASSAGE = frozenset(
    [
        "id",
        "text",
        "created_at",
        "updated_at",
        "metadata",
        "tags",
        "archive_id",
        "source_id",
        "file_id",
        "file_name",
        "is_deleted",
        "organization_id",
        "embedding",
        "embedding_config",
    ]
)

_BLOCK = frozenset(("id", "label", "value", "read_only"))

_LIMIT = 100

_PROFILE = "profile"


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    """A list of passages or blocks."""
    scope = f"agent:{options.agent}" if options.agent else None
    rows = 0
    with open_json(path, options.meter) as reader:
        for item in items_of(reader):
            rows += 1
            row = item.value
            if not isinstance(row, dict):
                yield Rejected(item.where, "it is no object with a text")
            elif "label" in row and "value" in row:
                yield block(item, scope)
            else:
                yield _passage(item, scope, options)
        reader.finish()
    if scope is None:
        yield SourceRemark("The list does not say which agent it belongs to: name it, or choose a scope.")
    if rows == _LIMIT:
        yield SourceRemark(f"It has exactly {_LIMIT} passages, Letta's default page: there may be more.")


def read_agent_file(path: Path, options: ReadOptions) -> Iterator[Read]:
    """An `.af` file: it holds no passages; its blocks are offered, each to the agents that name it as theirs.

    A person's word for the agent picks the blocks of the agent of that name or id; where none has it, it is the name
    that all of them get.
    """
    agents: list[_Agent] = []
    blocks: Any = []
    others_there: list[str] = []
    with open_json(path, options.meter) as reader:
        for key in reader.members():
            value = reader.value()
            if key == "agents":
                agents = (
                    [_agent(item) for item in value if isinstance(item, dict)]
                    if isinstance(value, list)
                    else []
                )
            elif key == "blocks":
                blocks = value if isinstance(value, list) else []
            elif key not in _FRAME and value not in (None, [], {}, ""):
                others_there.append(key)
        reader.finish()
    held = [(each, f"blocks, {number}") for number, each in enumerate(blocks, 1)]
    if options.agent and not any(options.agent in (agent.name, agent.id) for agent in agents):
        for each, where in held:
            yield block(Value(each, where), f"agent:{options.agent}")
    else:
        for each, where in held:
            yield from _of_agents(each, where, agents, options.agent)
    for agent in agents:
        for number, each in enumerate(agent.own, 1):
            scope = f"agent:{options.agent or agent.name}" if options.agent or agent.name else None
            if not options.agent or options.agent in (agent.name, agent.id):
                yield block(Value(each, f"agent {agent.name}, block {number}"), scope)
    if others_there:
        yield SourceRemark(f"No memories, and left alone: {', '.join(others_there)} of the file.")
    yield SourceRemark(
        "An agent file holds no archival passages: fetch them from the server to have them too."
    )


_FRAME = frozenset(("metadata", "created_at", "revision_id"))
"""Keys of an agent file that say where it is from."""


@dataclass(frozen=True, slots=True)
class _Agent:
    """An agent of the file: its names, the ids of its blocks, and blocks that stand in it itself."""

    id: str
    name: str
    blocks: frozenset[str]
    own: tuple[Any, ...]


def _agent(row: dict[str, Any]) -> _Agent:
    ids = row.get("block_ids")
    memory = row.get("memory")
    own = (
        row.get("blocks")
        or row.get("core_memory")
        or (memory.get("blocks") if isinstance(memory, dict) else None)
    )
    return _Agent(
        word(row.get("id")) or "",
        word(row.get("name")) or "",
        frozenset(str(memory_id) for memory_id in ids) if isinstance(ids, list) else frozenset(),
        tuple(each for each in own if isinstance(each, dict)) if isinstance(own, list) else (),
    )


def _of_agents(row: Any, where: str, agents: list[_Agent], wanted: str | None) -> Iterator[Read]:
    """A block for each agent that has it; of a file with one agent, everything is that agent's."""
    named = word(row.get("id")) if isinstance(row, dict) else None
    owners = [agent for agent in agents if named in agent.blocks] or (agents if len(agents) == 1 else [])
    if wanted:
        kept = [owner for owner in owners if wanted in (owner.name, owner.id)]
        if not kept:
            whose = ", ".join(owner.name or owner.id for owner in owners) or "no agent of the file"
            yield Rejected(where, f"it belongs to {whose}")
        owners = kept
    elif not owners:
        found = block(Value(row, where), None)
        if isinstance(found, Record):
            found.lost(
                "scope", "no agent of the file has this block: it goes where memories without a scope go"
            )
        yield found
    for owner in owners:
        found = block(Value(row, where), f"agent:{owner.name}" if owner.name else None)
        if isinstance(found, Record) and len(owners) > 1:
            found.rest["shared_by"] = [other.name or other.id for other in owners]
        yield found


def block(item: Value, scope: str | None) -> Record | Rejected:
    """A memory block: what the agent knows of its human; what it is told about itself is left out."""
    row = item.value
    if not isinstance(row, dict):
        return Rejected(item.where, "it is no object with a text")
    found = text_of(row.get("value"), item.where)
    if isinstance(found, Rejected):
        return found
    if row.get("read_only") is True or row.get("label") == "persona":
        return Rejected(item.where, "the agent's own instructions, not a memory", text=found[0][:80])
    if len(found[0].strip()) < 2:
        return Rejected(item.where, "its text is shorter than 2 characters")
    record = Record(
        text=found[0], where=item.where, scope=scope, category=_PROFILE, title=word(row.get("label"))
    )
    record.foreign_id = word(row.get("id"))
    record.rest = {"block": row.get("label"), **others(row, _BLOCK)}
    return record


def _passage(item: Value, scope: str | None, options: ReadOptions) -> Record | Rejected:
    row: dict[str, Any] = item.value
    record = record_of(row.get("text"), item.where)
    if isinstance(record, Rejected):
        return record
    if row.get("is_deleted") is True:
        return Rejected(item.where, "it was deleted there", text=record.text[:80])
    record.scope = scope
    put_id(record, row.get("id"))
    record.foreign_id = record.id or record.foreign_id
    put_time(record, "timestamp_ms", row.get("created_at"), options.now_ms)
    put_time(record, "updated_ms", row.get("updated_at"), options.now_ms, name="updated_at")
    record.tags = words(row.get("tags"))
    for key in ("archive_id", "source_id", "file_id", "file_name", "metadata"):
        if row.get(key) is not None:
            record.rest[key] = row[key]
    if row.get("embedding") is not None:
        record.lost("vector", "padded with zeros by Letta: never reused, re-embedded")
    if row.get("organization_id") is not None:
        record.lost("organization_id", "has no place here")
    record.rest |= others(row, _PASSAGE)
    return record


def detects(head: Head) -> Sighting | None:
    """Passages with the keys of an archive, or blocks with a label and a value."""
    document = head.document
    if document.share("text") and document.some("archive_id", "is_deleted", "embedding_config"):
        return Sighting(("passages with `archive_id` and `is_deleted`",), 0.8)
    if document.share("label", "value") == 1:
        return Sighting(("memory blocks with `label` and `value`",), 0.8)
    return None


def detects_agent_file(head: Head) -> Sighting | None:
    """The keys that an agent file always has."""
    if {"agents", "blocks", "tools"} <= set(head.document.keys):
        return Sighting(("the keys agents, blocks and tools of a Letta agent file",))
    return None


PROTOCOL = 1

FORMATS = (
    Format("letta", "Letta's archival passages or blocks", {"json": read}, detects, 60, stored=True),
    Format(
        "letta-agent", "a Letta agent file", {"json": read_agent_file}, detects_agent_file, 70, stored=True
    ),
)
