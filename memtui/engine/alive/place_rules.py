"""Why an agent reads and writes elsewhere than before: workspaces, second states, refused forms (C, D14)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memtui.engine.alive.home import Home
from memtui.engine.alive.index_facts import CoreIndex
from memtui.engine.alive.model import Cause, CauseEvidence, ConfigEdit
from memtui.engine.core.text import one_line
from memtui.engine.discovery.agents import LIST, AgentPlace, agent_entries
from memtui.engine.discovery.places import STATE_FOLDERS, user_path

ALL = ("recall", "capture", "tools")

MEMORY_FILES = ("MEMORY.md", "memory.md", "USER.md")


def form_causes(home: Home) -> tuple[Cause, ...]:
    """Keys of an older form: what the host migrates in memory, and what it refuses."""
    if not home.modern or home.config.file is None:
        return ()
    return (*_refused_keys(home), *_old_list(home))


def _refused_keys(home: Home) -> Iterator[Cause]:
    paths: list[tuple[str | int, ...]] = [("memorySearch",), ("agents", "defaults", "memorySearch")]
    paths += [(*entry.path, "memorySearch") for entry in agent_entries(home.config.values)]
    found = [path for path in paths if _there(home, path)]
    retired = [path for path in (("memory", "backend"), ("memory", "qmd")) if _there(home, path)]
    for code, keys in (("C7", found), ("D14", [*found, *retired])):
        if keys:
            dotted = ", ".join(".".join(map(str, path)) for path in keys)
            yield Cause(
                code, ALL, "dead",
                f"The configuration has {dotted}, which this host refuses: the gateway and every command but doctor "
                "do not start with it.",
                tuple(home.key(*path) for path in keys), "openclaw doctor --fix",
            )  # fmt: skip


def _there(home: Home, path: tuple[str | int, ...]) -> bool:
    node: Any = home.config.values
    for part in path:
        keyed = isinstance(node, dict) and part in node
        listed = isinstance(node, list) and isinstance(part, int) and part < len(node)
        if not keyed and not listed:
            return False
        node = node[part]
    return True


def _old_list(home: Home) -> Iterator[Cause]:
    if any(entry.path[: len(LIST)] == LIST for entry in agent_entries(home.config.values)):
        yield Cause(
            "C7", ("workspace",), "weak",
            "The configuration names its agents in agents.list: the host migrates it in memory at each start, and "
            "other readers of the file see no agents.",
            (home.key(*LIST),), "openclaw doctor --fix",
        )  # fmt: skip


def place_causes(home: Home, place: AgentPlace, index: CoreIndex) -> tuple[Cause, ...]:
    """What moved an agent away from its memory files: the first that explains it, and a second state beside it."""
    moved = (
        tuple(_moved(home, place))
        or tuple(_index_of_another(home, place, index))
        or tuple(_turns_elsewhere(home, place))
    )
    return (*moved, *_second_state(home))


def memory_files(folder: Path | None) -> list[Path]:
    """Memory files of a workspace, at most a hundred."""
    if folder is None:
        return []
    found = [folder / name for name in MEMORY_FILES if (folder / name).is_file()]
    with contextlib.suppress(OSError):
        found += sorted((folder / "memory").glob("*.md"))[:100]
    return found


def _moved(home: Home, place: AgentPlace) -> Iterator[Cause]:
    """A second agent divided the workspace that this one had alone."""
    entry = place.entry
    if entry is None or entry.values.get("workspace") or entry.legacy_owner or len(home.agents) < 2:
        return
    shared = home.config.at("agents", "defaults", "workspace")
    before = (
        user_path(shared, home.user_home, home.cwd) if isinstance(shared, str) and shared.strip() else None
    )
    before = before or home.state / "workspace"
    if place.workspace is None or before == place.workspace or memory_files(place.workspace):
        return
    left = memory_files(before)
    if any(other.workspace == before for other in home.agents) or not left or not _was_alone(home, place):
        return
    path = (*entry.path, "workspace")
    shown = _for_home(home, before)
    edits = (ConfigEdit(tuple(map(str, path)), shown),) if path[:2] != LIST else ()
    yield Cause(
        "C2", ("workspace",), "dead",
        f"A second agent moved the workspace of {one_line(place.id)} from {before} to {place.workspace}: its memory "
        f"files stayed behind ({left[0].name}).",
        (home.key(*path), CauseEvidence(str(left[0]), left[0].name)),
        "memtui alive --fix C2" if edits else f"Set {'.'.join(map(str, path))} to {shown}.",
        edits,
    )  # fmt: skip


def _was_alone(home: Home, place: AgentPlace) -> bool:
    """Whether this agent is the one that had the workspace: the one with a database, else the first named."""
    worked = [other for other in home.agents if home.activity(other.id).there]
    indexed = [other for other in worked if home.activity(other.id).last_ms]
    candidates = indexed or worked or list(home.agents)
    oldest = min(candidates, key=lambda other: _born(other))
    return place.id == oldest.id


def _born(place: AgentPlace) -> float:
    try:
        return 0.0 if place.id == "main" else os.stat(place.database).st_mtime
    except OSError:
        return float("inf")


def _for_home(home: Home, path: Path) -> str:
    if home.user_home is not None and path.is_relative_to(home.user_home):
        return f"~/{path.relative_to(home.user_home)}"
    return str(path)


def _index_of_another(home: Home, place: AgentPlace, index: CoreIndex) -> Iterator[Cause]:
    """The index answers from files that are not in the workspace of today."""
    listed = [path for path in index.files if not path.startswith("..")]
    if place.workspace is None or not listed:
        return
    gone = [path for path in listed if not (place.workspace / path).is_file()]
    if len(gone) < len(listed) or (len(listed) < 2 and not _elsewhere(home, place, gone)):
        return
    entry = place.entry
    path = (*entry.path, "workspace") if entry is not None else ("agents", "defaults", "workspace")
    yield Cause(
        "C3", ("workspace", "index"), "dead",
        f"The index of {one_line(place.id)} holds {gone[0]} and {len(gone) - 1} more files, none of them in its "
        f"workspace {place.workspace}: search answers from the former folder until a sync, and then not at all.",
        (CauseEvidence(str(place.database), f"memory_index_sources: {gone[0]}"), home.key(*path)),
        f"Set {'.'.join(map(str, path))} back to the folder that holds {gone[0]}, or move the files to "
        f"{place.workspace}.",
    )  # fmt: skip


def _elsewhere(home: Home, place: AgentPlace, names: list[str]) -> bool:
    """Whether the files lie in another folder of this home, one that the host used."""
    folders = [home.here(folder) for folder in home.activity(place.id).folders]
    return any((folder / names[0]).is_file() for folder in folders if folder != place.workspace)


def _turns_elsewhere(home: Home, place: AgentPlace) -> Iterator[Cause]:
    """Turns of this agent ran in a folder that no agent indexes, and notes lie there."""
    spaces = {os.path.realpath(other.workspace) for other in home.agents if other.workspace is not None}
    entry = place.entry
    path = (*entry.path, "workspace") if entry is not None else ("agents", "defaults", "workspace")
    written = entry is not None and bool(entry.values.get("workspace"))
    for recorded in home.activity(place.id).folders[:3]:
        folder = home.here(recorded)
        notes = [file for file in memory_files(folder) if written or file.parent.name == "memory"]
        if os.path.realpath(folder) in spaces or not notes:
            continue
        proof = (
            CauseEvidence(str(place.database), "transcript_events: cwd"),
            CauseEvidence(str(notes[0]), notes[0].name),
            home.key(*path),
        )
        if written:
            shown = _for_home(home, folder)
            edits = () if path[:2] == LIST else (ConfigEdit(tuple(map(str, path)), shown),)
            yield Cause(
                "C3", ("workspace",), "dead",
                f"{'.'.join(map(str, path))} was changed: the last turns of {one_line(place.id)} ran in {folder}, "
                f"where {notes[0].name} lies, and its workspace is {place.workspace} now.",
                (proof[-1], *proof[:-1]),
                f"memtui alive --fix C3 (sets it back to {shown}), or move the files to {place.workspace}"
                if edits else f"Set {'.'.join(map(str, path))} back to {shown}, or move its files.",
                edits,
            )  # fmt: skip
        else:
            yield Cause(
                "C2b", ("workspace",), "dead",
                f"Turns of {one_line(place.id)} ran in {folder}, while its workspace is {place.workspace}: what it "
                f"noted there ({notes[0].name}) is read by no agent.",
                proof,
                f"Write down the workspace of every agent ({'.'.join(map(str, path))}), and move the notes there.",
            )  # fmt: skip
        return


def _second_state(home: Home) -> Iterator[Cause]:
    """Another state folder of this home in which turns ran later than in this one."""
    if home.user_home is None:
        return
    own = os.path.realpath(home.state)
    newest = max((activity.last_ms for activity in home.activities.values()), default=0)
    try:
        beside = [item for item in home.user_home.iterdir() if item.is_dir()]
    except OSError:
        return
    lead = STATE_FOLDERS[0]
    for folder in sorted(beside):
        named = folder.name in STATE_FOLDERS or folder.name.startswith(f"{lead}-")
        if not named or os.path.realpath(folder) == own or not (folder / "agents").is_dir():
            continue
        latest = _latest(folder)
        if latest > newest:
            yield Cause(
                "C4", ("workspace",), "weak",
                f"A second state folder {folder} was used later than {home.state}: what is remembered there is not "
                "known here.",
                (CauseEvidence(str(folder), "agents"), CauseEvidence(str(home.state), "agents")),
                "Start service and shell with the same HOME, OPENCLAW_HOME, OPENCLAW_STATE_DIR and profile.",
            )  # fmt: skip
            return


def _latest(state: Path) -> int:
    from memtui.engine.alive.recent_turns import read_activity

    try:
        databases = list((state / "agents").glob("*/agent/openclaw-agent.sqlite"))[:50]
    except OSError:
        return 0
    return max((read_activity(database).last_ms for database in databases), default=0)
