"""What Agents asks of the engine and of the register of clients, each one call for a worker."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.client_register import register_for
from memtui.engine import CancelToken, MemtuiError
from memtui.engine.clients import Call, CallJournal, Client, ClientRegister, activities, day_of_calls
from memtui.tui.screens.agents.state import MOST_CALLS, ClientRow, Folder, PlannedRights

if TYPE_CHECKING:
    from memtui.engine import Engine, Memory
    from memtui.engine.clients import CallCounts
    from memtui.engine.documents import ColdSource, Todo, WorkingSet

DAY_MS = 86_400_000

MOST_FILES = 5_000

Stamp = tuple[int, int, int, int]

SAME_MS = 5_000
"""An injection and a hook's call that are nearer to each other are one."""


def register_of(engine: Engine) -> ClientRegister:
    """The register of clients that the store goes by."""
    return register_for(engine.info.uri, engine.environ, resolved=True)


def stamp_of(engine: Engine) -> Stamp:
    """What differs when a call came, a client changed, or the store was written to."""
    place = engine.state_place
    size, changed = CallJournal(place).stamp if place is not None else (0, 0)
    try:
        let_in = register_of(engine).path.stat().st_mtime_ns
    except OSError:
        let_in = 0
    return size, changed, let_in, engine.info.version


Feed = tuple[Stamp, tuple["Call", ...], tuple[ClientRow, ...], "CallCounts", "dict[str, Memory]"]


def read_feed(engine: Engine, seen: Stamp | None, cancel: CancelToken) -> Feed | None:
    """The newest calls, who made them, the day in numbers, and memories that say what a call was about.

    None where nothing is new.
    """
    stamp = stamp_of(engine)
    if stamp == seen:
        return None
    place = engine.state_place
    calls = CallJournal(place).read(MOST_CALLS * 20) if place is not None else []
    now = engine.now_ms
    feed = with_injections(engine, calls, cancel)
    day = day_of_calls(calls, now_ms=now, since_ms=now - DAY_MS)
    alone = sum(len(call.ids) for call in feed if not call.asked)
    day = replace(day, injected=day.injected + alone)  # its times are not known, nor is it a call
    register = register_of(engine)
    rows = {client.name: ClientRow(client.name, client) for client in register.all()}
    for activity in activities(calls, now_ms=now):
        client = register.of_caller(activity.client)
        name = client.name if client is not None else activity.client
        rows[name] = ClientRow(name, client, activity)
    for agent in engine.agents:
        if not any(row.agent == agent for row in rows.values()):
            rows[agent] = ClientRow(agent)
    latest = sorted(rows.values(), key=lambda row: (-(row.activity.last_ms if row.activity else 0), row.name))
    silent = [call.ids[0] for call in feed[:MOST_CALLS] if not call.asked and call.ids]
    about = engine.memories(silent, newest=True) if silent else {}
    return stamp, tuple(feed[:MOST_CALLS]), tuple(latest), day, about


def with_injections(engine: Engine, calls: list[Call], cancel: CancelToken) -> list[Call]:
    """The calls, and what the store's own program put before prompts by itself, as the marks of the store tell.

    What a hook of ours injected stands in the journal already. The newest first.
    """
    from memtui.engine.witness import injection_history

    if engine.state_place is None:
        return calls
    ours = [call for call in calls if call.via == "hook" and call.outcome == "injected"]
    program = engine.info.dialect_title
    found = [
        Call(event.time_ms, program, "", "injection", "injected", tuple(event.ids), 0.0, "", via="hook")
        for event in injection_history(engine, cancel=cancel).events(engine.now_ms - DAY_MS)
        if not any(
            abs(call.time_ms - event.time_ms) < SAME_MS and set(event.ids) <= set(call.ids) for call in ours
        )
    ]
    return sorted((*calls, *found), key=lambda call: -call.time_ms) if found else calls


def read_memories(engine: Engine, ids: Sequence[str], cancel: CancelToken) -> dict[str, Memory | None]:
    """Memories as they are now, those that were stored since the store was read, too; None for one that is gone."""
    found = engine.memories(list(ids), newest=True)
    return {memory_id: found.get(memory_id) for memory_id in ids}


def read_counts(engine: Engine, cancel: CancelToken) -> dict[str, int]:
    """How many memories are in each scope."""
    return {scope: count for scope, count in engine.stats().scopes if scope}


def read_set(engine: Engine, scope: str, cancel: CancelToken) -> tuple[str, WorkingSet, dict[str, Memory]]:
    """The working set of a scope, and the memories that it says already."""
    from memtui.engine.documents import working_set_of

    made = working_set_of(engine, scope)
    return scope, made, engine.memories(list(made.consumed))


def read_todos(engine: Engine, cancel: CancelToken) -> tuple[Todo, ...]:
    """The to-dos of the store."""
    from memtui.engine.documents import todos_of

    return todos_of(engine)


def read_folders(engine: Engine, cancel: CancelToken) -> tuple[Folder, ...]:
    """The Markdown of each agent whose workspace is known."""
    from memtui.engine.discovery import discover

    found = []
    for workspace in discover(engine.environ, cwd=Path.cwd()).workspaces:
        files = [file.stat() for file in _markdown(Path(workspace.path))]
        if files:
            newest = max(int(file.st_mtime * 1000) for file in files)
            size = sum(file.st_size for file in files)
            found.append(Folder(", ".join(workspace.agents), workspace.path, len(files), size, newest))
    return tuple(found)


def read_sources(engine: Engine, cancel: CancelToken) -> tuple[ColdSource, ...]:
    """The files of the store's own documents; none where there are none, or they cannot be read."""
    from memtui.engine.documents import sources_of

    try:
        return sources_of(engine)
    except MemtuiError:
        return ()  # an answer that asks them says why


def _markdown(place: Path) -> Iterable[Path]:
    """The files that memory-core indexes of a workspace."""
    roots = [place / name for name in ("MEMORY.md", "memory.md")]
    found = [root for root in roots if root.is_file() and not root.is_symlink()][:1]
    for folder, _, names in os.walk(place / "memory", followlinks=False):
        found += [Path(folder) / name for name in sorted(names) if name.endswith(".md")]
        if len(found) > MOST_FILES:
            break
    return found


def apply_rights(engine: Engine, plan: PlannedRights) -> None:
    """Write planned rights into the register."""
    register_of(engine).change(
        plan.name, agent=plan.agent, reads=plan.reads, writes=plan.writes, rate=plan.rate
    )


def let_in(engine: Engine, name: str) -> tuple[str, str]:
    """Let a client in that acts for the agent of its name; its name and token."""
    return name, register_of(engine).add(Client(name, added_ms=engine.now_ms))
