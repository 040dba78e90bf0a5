"""`memory_history`: the versions that a memory is one of, and what was changed in it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from memtui.engine import counted
from memtui.engine.changes import memory_story
from memtui.mcp.door import Door, shared_out, shown, untrusted
from memtui.mcp.fence import FencedText
from memtui.mcp.tools.base import Answer, Arguments, Reply, Tool


class History(Arguments):
    """A memory."""

    id: Annotated[str, Field(min_length=1, description="the memory's id")]


class Version(Answer):
    """One version, the oldest first."""

    id: str
    text: FencedText
    created_ms: int
    valid: bool


class Change(Answer):
    """One change that was made through memtui."""

    entry: int | None
    """Its number in the journal; not told to a client of some scopes, as it counts the changes of all."""
    time_ms: int
    action: str
    client: str | None = None


class Story(Answer):
    """Versions and changes."""

    versions: list[Version]
    changes: list[Change]


def run(door: Door, given: History) -> Reply:
    """Follow the links both ways."""
    memory = door.memory(given.id)
    reach = door.reach
    story = memory_story(door.engine, memory)
    chain = [version for version in (story.versions or (memory,)) if reach.may_read(version)]
    versions = [
        Version(id=each.id, text=text, created_ms=each.timestamp_ms, valid=each.active and not each.expired)
        for each, text in zip(chain, shared_out([shown(each) for each in chain]), strict=True)
    ]
    changes = [_change(entry, numbered=not reach.limited) for entry, _ in story.changes]
    lines = [
        f"[{version.id}]{'' if version.valid else ' (no longer valid)'} {version.text}"
        for version in versions
    ]
    return Reply(
        Story(versions=versions, changes=changes),
        untrusted(lines, f"{counted(len(changes), 'change')} in the journal"),
    )


def _change(entry: Any, *, numbered: bool) -> Change:
    return Change(
        entry=entry.entry if numbered else None,
        time_ms=entry.time_ms,
        action=entry.action,
        client=entry.detail.get("client"),
    )


TOOL = Tool(
    "memory_history",
    "History of a memory",
    "Call this when two memories disagree: it shows which one superseded the other, and when.",
    History,
    Story,
    run,
    order=5,
)
