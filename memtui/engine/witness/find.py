"""The session files of this environment: every state folder, every agent, every layout."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from memtui.engine.core.errors import UsageError
from memtui.engine.witness.formats import find_in
from memtui.engine.witness.session import SessionFile


def state_folders(environ: Mapping[str, str], cwd: Path) -> list[Path]:
    """The state folders that agents of this environment may use, those that a configuration names first."""
    from memtui.engine.discovery.places import PlaceFinder, default_states, read_environment, readings

    where = read_environment(environ, cwd)
    return [state for state in default_states(where, readings(where, PlaceFinder())) if state.is_dir()]


def find_sessions(environ: Mapping[str, str], cwd: Path, agent: str | None = None) -> list[SessionFile]:
    """Every session of every agent (or of one), the newest file first. Nothing is opened but indexes."""
    found: list[SessionFile] = []
    seen: set[str] = set()
    for state in state_folders(environ, cwd):
        for folder in _folders(state / "agents"):
            if agent is not None and folder.name != agent:
                continue
            real = os.path.realpath(folder)
            if real not in seen:
                seen.add(real)
                found += find_in(folder, folder.name)
    return sorted(found, key=lambda each: (-each.modified_ms, each.agent, each.id))


def find_session(sessions: Sequence[SessionFile], name: str) -> SessionFile:
    """The session with this id, or whose id begins with it; UsageError when none or several match."""
    exact = [session for session in sessions if session.id == name]
    found = exact or [session for session in sessions if name and session.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    what = "No session has" if not found else f"{len(found)} sessions have"
    raise UsageError(f"{what} an id that begins with {name!r}.", fix="See: memtui sessions.")


def _folders(place: Path) -> list[Path]:
    try:
        return sorted(path for path in place.iterdir() if path.is_dir())
    except OSError:
        return []
