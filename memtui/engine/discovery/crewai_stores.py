"""Where CrewAI keeps its memory: one store a project, in the user's data folder or where a variable says."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from memtui.engine.core.temporary import temporary_folder
from memtui.engine.dialects.crewai import REQUIRED
from memtui.engine.discovery.places import PlaceFinder
from memtui.engine.discovery.types import CREWAI, FoundStore, Lock, WriteGuard
from memtui.engine.discovery.variables import HERE, EnvironmentLayers, read_dotenv
from memtui.engine.store.locate import TABLE
from memtui.engine.store.manifests import sketch_table

FOLDER_VARIABLE, REDIS_VARIABLE = "CREWAI_STORAGE_DIR", "REDIS_URL"

HELP_PLACE = (".crewai", "memory")
"""The folder that the package's own help names, in the working folder."""


def crewai_stores(environ: Mapping[str, str], cwd: Path, look: PlaceFinder) -> tuple[FoundStore, ...]:
    """Every table of CrewAI at its places, the one that the package would open in `cwd` first; nothing is opened."""
    layers = EnvironmentLayers((("environment", environ), (HERE, read_dotenv(cwd / ".env"))))
    guard = _guard(layers)
    found: dict[str, FoundStore] = {}
    for folder, name, why, active in _places(layers, cwd):
        if not look.store(folder) or not _is_its_table(folder):
            continue
        found.setdefault(
            os.path.realpath(folder),
            FoundStore(
                name=name,
                path=str(folder),
                plugin=CREWAI,
                table=TABLE,
                configured=False,
                active=active,
                enabled=True,
                why=why,
                lock=Lock("redis" if guard.verdict == "read-only" else "file"),
                gate=guard,
                embedding_problem="CrewAI chooses its embedding model in code",
            ),
        )
    return tuple(found.values())


def _places(layers: EnvironmentLayers, cwd: Path) -> Iterator[tuple[Path, str, str, bool]]:
    """Folder, name, why it is looked at, and whether the package would open it here."""
    named = layers.get(FOLDER_VARIABLE, "")
    if named:
        folder = Path(os.path.normpath(cwd / named))
        yield folder / "memory", folder.name, f"{FOLDER_VARIABLE} ({layers.origin(FOLDER_VARIABLE)})", True
    data = data_folder(layers, cwd)
    for project in _projects(data) if data is not None else ():
        here = project.name == cwd.name
        why = "CrewAI's project of this folder" if here else f"CrewAI's project {project.name}"
        yield project / "memory", project.name, why, here and not named
    helped = cwd.joinpath(*HELP_PLACE)
    if os.path.isdir(helped):
        yield helped, cwd.name, "the folder that CrewAI's help names", False


def data_folder(environ: Mapping[str, str], cwd: Path) -> Path | None:
    """The folder whose subfolders are CrewAI's projects, by the rules of this system; None without a home."""
    home = environ.get("HOME") or environ.get("USERPROFILE")
    if sys.platform == "win32":
        local = environ.get("LOCALAPPDATA")
        return (
            Path(local) / "CrewAI" if local else Path(home) / "AppData" / "Local" / "CrewAI" if home else None
        )
    if sys.platform == "darwin":
        return Path(home) / "Library" / "Application Support" if home else None
    given = environ.get("XDG_DATA_HOME")
    return Path(os.path.normpath(cwd / given)) if given else Path(home) / ".local" / "share" if home else None


def _projects(data: Path) -> list[Path]:
    """The folders in it that hold a table at the place of a project's memory, by name."""
    try:
        with os.scandir(data) as entries:
            names = sorted(entry.name for entry in entries)
    except OSError:
        return []
    return [data / name for name in names if os.path.isdir(data / name / "memory" / f"{TABLE}.lance")]


def _is_its_table(folder: Path) -> bool:
    """Whether the table has CrewAI's columns; one that cannot be read is another's, or says so when it is opened."""
    sketch = sketch_table(folder / f"{TABLE}.lance")
    return sketch is not None and set(REQUIRED) <= set(sketch.columns)


def _guard(layers: EnvironmentLayers) -> WriteGuard:
    if layers.get(REDIS_VARIABLE, "").strip():
        where = layers.origin(REDIS_VARIABLE)
        return WriteGuard(
            "read-only", f"{REDIS_VARIABLE} is set ({where}): CrewAI locks with Redis, which memtui cannot."
        )
    return WriteGuard(
        "ok", f"CrewAI's own lock in {temporary_folder(layers)} is taken.", read_consistency_s=0.0
    )
