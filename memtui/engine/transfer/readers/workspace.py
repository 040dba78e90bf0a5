"""Agents' folders of Markdown: one workspace, a whole OpenClaw home with several, or any folder of notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from memtui.engine.core.text import counted
from memtui.engine.transfer.format import Format, Reader, Sighting
from memtui.engine.transfer.record import Read, Rejected, SourceRemark
from memtui.engine.transfer.sources.files import Tree, TreeFile, tree_of
from memtui.engine.transfer.sources.head import Head, Kind
from memtui.engine.transfer.sources.notes import DATED, MIRROR, note_records
from memtui.engine.transfer.sources.options import ReadOptions

MEMORY_FILES = ("MEMORY.md", "memory.md")

_AGENT_FOLDER = re.compile(r"(?:.*/)?(?:workspace/agents/|workspace-)([A-Za-z0-9._-]+)(?:/|$)")

_SUFFIXES = (".md", ".markdown")


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
    from memtui.engine.discovery.agents import memory_search

    value = memory_search(config).get("extraPaths")
    if not isinstance(value, list):
        return ()
    named = [item.get("path") if isinstance(item, dict) else item for item in value]
    plain = [item.strip().strip("/") for item in named if isinstance(item, str)]
    return tuple(item for item in plain if item and not item.startswith(("..", "~")) and ":" not in item)


def detects(head: Head) -> Sighting | None:
    """Workspaces with memory files; else any Markdown: headings, bullets, front matter, or the name alone."""
    if head.kind == "text":
        text = head.text
        if not (text.bullets or text.headings or text.front or head.path.suffix.lower() in _SUFFIXES):
            return None
        counts = f"{text.headings} headings and {text.bullets} list entries"
        return Sighting((f"{counts} in the first {counted(text.lines, 'line')}",), 0.1)
    notes = head.notes
    if not notes.files:
        return None
    spaces = [space for space in workspaces(head.path, notes.tree) if space.folder or _has_memory(notes.tree)]
    if not spaces:
        return Sighting((f"{len(notes.files)} Markdown files",), 0.1)
    agents = [space.agent for space in spaces if space.agent]
    return Sighting(
        (
            f"{len(spaces)} workspace{'s' if len(spaces) > 1 else ''} with MEMORY.md or dated notes",
            *((f"of {', '.join(agents[:6])}",) if agents else ()),
        ),
        0.5,
    )


def _has_memory(tree: Tree) -> bool:
    return any(file.path.name.lower() == "memory.md" or "memory" in file.path.parts for file in tree.files)


def detects_mirror(head: Head) -> Sighting | None:
    """Lines as the plugin mirrors its memories, first in a text or in most files of a folder."""
    if head.kind == "text":
        mirrored = MIRROR.match(head.text.body.lstrip("\n"))
        return Sighting(("the lines of a mirror",), 0.7) if mirrored else None
    notes = head.notes
    count = sum(MIRROR.match(text.lstrip("\n")) is not None for _, text in notes.heads)
    if not notes.most(count):
        return None
    return Sighting((f"{count} of {counted(len(notes.heads), 'file')} have the lines of a mirror",), 0.7)


_READERS: Mapping[Kind, Reader] = {"folder": read, "text": read, "zip": read}

PROTOCOL = 1

FORMATS = (
    Format(
        "markdown",
        "an agent's Markdown: MEMORY.md and daily files",
        _READERS,
        detects,
        90,
        asks=("prose", "encoding"),
    ),
    Format(
        "mirror",
        "a Markdown mirror of memory-lancedb-pro",
        _READERS,
        detects_mirror,
        100,
        stored=True,
        bare_scopes=True,
        asks=("prose", "encoding"),
    ),
)
