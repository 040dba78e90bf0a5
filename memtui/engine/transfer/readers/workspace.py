"""Agents' folders of Markdown: one workspace, a whole OpenClaw home with several, or any folder of notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memtui.engine.transfer.readers.notes import DATED, note_records
from memtui.engine.transfer.record import Read, Rejected, SourceRemark
from memtui.engine.transfer.sources.files import Tree, TreeFile, tree_of
from memtui.engine.transfer.sources.options import ReadOptions

MEMORY_FILES = ("MEMORY.md", "memory.md")

_AGENT_FOLDER = re.compile(r"(?:.*/)?(?:workspace/agents/|workspace-)([A-Za-z0-9._-]+)(?:/|$)")

_NOTES = "memory/"


@dataclass(frozen=True, slots=True)
class NotesWorkspace:
    """One folder of notes below the root of a source, its agent, and further folders of it that count."""

    folder: str
    agent: str | None
    extra: tuple[str, ...] = ()


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    """The notes of one file, a folder or an archive; MEMORY.md first, then `memory/`, in order of names."""
    tree = tree_of(path, (".md",))
    if path.is_file() and not tree.is_archive:
        yield from _notes(tree.files, options, options.agent)
        return
    for refused in tree.refused:
        yield Rejected(refused.name, refused.why)
    options.meter.total = len(tree.files)
    spaces = workspaces(path, tree)
    taken: set[str] = set()
    for space in spaces:
        files = tuple(file for file in _files(tree, space) if file.name not in taken)
        taken.update(file.name for file in files)
        yield from _notes(files, options, options.agent or space.agent)
    left = [file for file in tree.files if file.name not in taken and file.name.lower().endswith(".md")]
    if left:
        yield SourceRemark(
            f"{len(left)} Markdown files are no memory files and were left out, {left[0].name} first."
        )


def _notes(files: tuple[TreeFile, ...], options: ReadOptions, agent: str | None) -> Iterator[Read]:
    for file in files:
        yield from note_records(file, options, f"agent:{agent}" if agent else None)
        options.meter.add(1)


def workspaces(path: Path, tree: Tree) -> tuple[NotesWorkspace, ...]:
    """The workspaces of a source: those of its openclaw.json, else every folder with memory files."""
    configured = () if tree.is_archive else _configured(path)
    if configured:
        return configured
    folders: dict[str, None] = {}
    for file in tree.files:
        folder = _folder_of(file.name)
        if folder is not None:
            folders.setdefault(folder)
    if not folders:
        return (NotesWorkspace("", None),) if tree.files else ()
    return tuple(NotesWorkspace(folder, _agent_of(path, folder)) for folder in sorted(folders))


def _folder_of(name: str) -> str | None:
    """The workspace that a file belongs to by its name; None for a file that is no memory file."""
    folder, _, base = name.rpartition("/")
    if base in MEMORY_FILES:
        return folder
    parts = name.split("/")
    if "memory" in parts[:-1]:
        return "/".join(parts[: parts.index("memory")])
    return folder if DATED.fullmatch(base) else None


def _agent_of(path: Path, folder: str) -> str | None:
    whole = f"{path.as_posix()}/{folder}".rstrip("/")
    match = _AGENT_FOLDER.fullmatch(whole) or _AGENT_FOLDER.match(whole + "/")
    if match:
        return match[1]
    return "main" if re.search(r"(?:^|/)\.openclaw/workspace$", whole) else None


def _files(tree: Tree, space: NotesWorkspace) -> Iterator[TreeFile]:
    lead = f"{space.folder}/" if space.folder else ""
    for name in MEMORY_FILES:
        if found := tree.named(lead + name):
            yield found
            break
    notes = tree.below(f"{lead}memory", ".md")
    yield from notes
    for extra in space.extra:
        yield from tree.below(lead + extra, ".md")
    if not notes and not tree.named(lead + "MEMORY.md"):  # the notes themselves were named
        yield from (file for file in tree.below(space.folder, ".md") if "/" not in file.name[len(lead) :])


def _configured(path: Path) -> tuple[NotesWorkspace, ...]:
    """The workspaces that the openclaw.json below `path` names, as far as they lie below it too."""
    near = (path, *list(path.resolve().parents)[:3])
    home = next((home for home in near if (home / ".openclaw" / "openclaw.json").is_file()), None)
    if home is None:
        return ()
    from memtui.engine.discovery import discover
    from memtui.engine.discovery.json5_file import UnreadableFileError, read_json5

    found = discover({"HOME": str(home)}, cwd=home)
    try:
        config = read_json5(home / ".openclaw" / "openclaw.json")
    except UnreadableFileError:
        config = {}
    extra = _extra_paths(config)
    out = []
    for space in found.workspaces:
        place = Path(space.path).resolve()
        if place.is_relative_to(path.resolve()):
            folder = place.relative_to(path.resolve()).as_posix()
            out.append(
                NotesWorkspace(
                    "" if folder == "." else folder, space.agents[0] if space.agents else None, extra
                )
            )
    return tuple(out)


def _extra_paths(config: object) -> tuple[str, ...]:
    """Folders beside `memory/` that memory-core indexes too, as far as they lie in the workspace."""
    value = config
    for key in ("agents", "defaults", "memorySearch", "extraPaths"):
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, list):
        return ()
    plain = [item.strip().strip("/") for item in value if isinstance(item, str)]
    return tuple(item for item in plain if item and not item.startswith(("..", "~")) and ":" not in item)
