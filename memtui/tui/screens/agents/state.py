"""What Agents knows: calls as they come, clients and their rights, documents and working sets, to-dos; the cursors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from memtui.engine import Memory
    from memtui.engine.clients import Activity, Call, CallCounts, Client
    from memtui.engine.documents import ColdSource, Todo, WorkingSet

View = Literal["live", "rights", "documents", "to-dos"]

VIEWS: tuple[View, ...] = ("live", "rights", "documents", "to-dos")

MOST_CALLS = 500
"""Calls that the feed holds."""


@dataclass(frozen=True, slots=True)
class PlannedRights:
    """The rights that a person plans for a client; nothing is written before they are applied."""

    name: str
    agent: str
    reads: tuple[str, ...] | None
    writes: str | None
    rate: int


@dataclass(frozen=True, slots=True)
class ClientRow:
    """One caller: with a token, known by its calls alone, or an agent that the configuration names."""

    name: str
    client: Client | None = None
    activity: Activity | None = None

    @property
    def paused(self) -> bool:
        """Whether a person paused it."""
        return self.client is not None and self.client.paused

    @property
    def agent(self) -> str:
        """Whom it acts for."""
        known = self.client.agent if self.client is not None else ""
        return known or (self.activity.agent if self.activity is not None else "")


@dataclass(frozen=True, slots=True)
class Folder:
    """Markdown of an agent, and how much of it there is."""

    agent: str
    path: str
    files: int
    size: int
    newest_ms: int


@dataclass(frozen=True, slots=True)
class AgentsState:
    """Everything that is painted; None is not read yet."""

    view: View = "live"
    zoom: str = ""
    calls: tuple[Call, ...] | None = None
    """The newest first."""
    clients: tuple[ClientRow, ...] = ()
    day: CallCounts | None = None
    paused: bool = False
    """Whether the feed stands still."""
    words: str = ""
    """What the feed is filtered by: words that must be there, `-word` that must not."""
    call: str = ""
    """The key of the call under the cursor."""
    memories: Mapping[str, Memory | None] = field(default_factory=dict)
    """Memories of calls as they are now; None for one that is gone."""
    client: str = ""
    plan: PlannedRights | None = None
    token: tuple[str, str] | None = None
    """Name and token of a client that was just let in: told once."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Memories in each scope."""
    scope: str = ""
    sets: Mapping[str, WorkingSet] = field(default_factory=dict)
    folders: tuple[Folder, ...] | None = None
    sources: tuple[ColdSource, ...] | None = None
    """The files of the store's own documents."""
    todos: tuple[Todo, ...] | None = None
    todo: str = ""

    @property
    def shown(self) -> list[Call]:
        """The calls that pass the filter, the newest first."""
        words = self.words.casefold().split()
        wanted = [word for word in words if not word.startswith("-") or word == "-"]
        unwanted = [word[1:] for word in words if word.startswith("-") and word != "-"]
        found = []
        for call in self.calls or ():
            text = f"{call.client} {call.tool} {call.outcome} {call.gate} {' '.join(call.ids)} {question_of(call)}"
            text = text.casefold()
            if all(word in text for word in wanted) and not any(word in text for word in unwanted):
                found.append(call)
        return found

    @property
    def chosen(self) -> Call | None:
        """The call under the cursor."""
        return next((call for call in self.calls or () if key_of(call) == self.call), None)

    @property
    def who(self) -> ClientRow | None:
        """The client under the cursor of the rights."""
        return next((client for client in self.clients if client.name == self.client), None)

    @property
    def scopes(self) -> list[str]:
        """The scopes with memories, the largest first."""
        return sorted(self.counts, key=lambda scope: (-self.counts[scope], scope))

    @property
    def listed(self) -> Todo | None:
        """The to-do under the cursor."""
        return next((todo for todo in self.todos or () if todo.memory.id == self.todo), None)


def key_of(call: Call) -> str:
    """A call by what tells it from the others."""
    return f"{call.time_ms}:{call.client}:{call.tool}:{call.asked}:{call.ms}"


def question_of(call: Call) -> str:
    """What was asked or said, where the journal keeps it."""
    given = call.arguments or {}
    for name in ("query", "prompt", "text", "filter", "id", "memoryId"):
        value = given.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def text_of(call: Call) -> str:
    """What a call wanted to be remembered, where the journal keeps it."""
    given = call.arguments or {}
    value = given.get("text")
    if isinstance(value, str):
        return value
    said = given.get("messages")
    lines = [
        f"{each.get('role', 'user').title()}: {each.get('content')}"
        for each in (said if isinstance(said, list | tuple) else ())
        if isinstance(each, Mapping) and isinstance(each.get("content"), str)
    ]
    return "\n".join(lines)
