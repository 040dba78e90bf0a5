"""Which kind of notes, list or table a text, a folder of texts or an archive is."""

from __future__ import annotations

import csv
import io
import re
from itertools import islice
from pathlib import Path

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import counted
from memtui.engine.transfer.readers.head import HEAD, head_text
from memtui.engine.transfer.readers.notes import MIRROR
from memtui.engine.transfer.readers.obsidian import EXPORTERS
from memtui.engine.transfer.readers.pasted import looks_like_list
from memtui.engine.transfer.readers.registry import Kind
from memtui.engine.transfer.readers.workspace import workspaces
from memtui.engine.transfer.sources.files import Tree, TreeFile, tree_of
from memtui.engine.transfer.sources.markdown import split
from memtui.engine.transfer.sources.text import byte_order_mark, is_wide, unzipped, wide

_LOOKED_AT = 40

_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s+\S")

_HEADING = re.compile(r" {0,3}#{1,6}\s")

_TABLES = (".csv", ".tsv")

_MARKDOWN = (".md", ".markdown")

Found = tuple[str, tuple[str, ...]]


def notes_format(path: Path, kind: Kind) -> Found:
    """The format and the evidence for it; MemtuiError for what holds no memories."""
    if kind == "text":
        return _of_text(path)
    if kind == "zip" and (found := _of_archive(path)):
        return found
    tree = tree_of(path, (".md",))
    notes = [file for file in tree.files if file.name.lower().endswith(".md")]
    if not notes:
        what = "archive" if kind == "zip" else "folder"
        raise MemtuiError(
            f"{path.name or path} is an {what} without notes, tables or exports that we know."
            if kind == "zip"
            else f"{path} holds neither Markdown nor a LanceDB table.",
            fix="Name a file in it, or the folder that holds the notes.",
        )
    return _of_notes(path, tree, notes)


def _of_archive(path: Path) -> Found | None:
    files = tree_of(path, ()).files
    names = {file.path.name for file in files}
    if names & {"memories.jsonl.gz", "memories.jsonl"}:
        return "mem0", ("an OpenMemory backup: memories.jsonl in the archive",)
    if "memories.json" in names:
        return "claude", ("memories.json in the archive of an export",)
    if any(file.path.parts[:-1] == ("memories",) and file.path.suffix == ".json" for file in files):
        return "claude", ("memories/<account>.json in the archive of an export",)
    if "conversations.json" in names:
        return "chatgpt", ("conversations.json in the archive of an export",)
    return None


def _of_notes(path: Path, tree: Tree, notes: list[TreeFile]) -> Found:
    heads = [split(_head(file)) for file in notes[:_LOOKED_AT]]
    keys = [set(head) for head, _, _ in heads]
    permalinks = sum("permalink" in each for each in keys)
    if permalinks * 2 > len(keys):
        return "basic-memory", (
            f"{permalinks} of {counted(len(keys), 'note')} have a permalink in their front matter",
        )
    exported = [
        str(head["source"]) for head, _, _ in heads if head.get("source") in EXPORTERS and head.get("id")
    ]
    if len(exported) * 2 > len(keys):
        return "obsidian", (
            f"{len(exported)} of {counted(len(keys), 'note')} were written by {exported[0]}, one memory each",
        )
    mirrored = sum(MIRROR.match(text.lstrip("\n")) is not None for _, text, _ in heads)
    if mirrored * 2 > len(keys):
        return "mirror", (f"{mirrored} of {counted(len(keys), 'file')} have the lines of a mirror",)
    spaces = [space for space in workspaces(path, tree) if space.folder or _has_memory(tree)]
    if spaces:
        agents = [space.agent for space in spaces if space.agent]
        return "markdown", (
            f"{len(spaces)} workspace{'s' if len(spaces) > 1 else ''} with MEMORY.md or dated notes",
            *((f"of {', '.join(agents[:6])}",) if agents else ()),
        )
    if not tree.is_archive and (path / ".obsidian").is_dir():
        return "obsidian", ("the folder .obsidian of a vault",)
    with_head = sum(bool(each) for each in keys)
    if with_head * 2 > len(keys):
        return "obsidian", (f"{with_head} of {counted(len(keys), 'note')} have front matter",)
    return "markdown", (f"{len(notes)} Markdown files",)


def _has_memory(tree: Tree) -> bool:
    return any(file.path.name.lower() == "memory.md" or "memory" in file.path.parts for file in tree.files)


def _head(file: TreeFile) -> str:
    handle = file.open()
    try:
        return head_text(handle.read(HEAD))
    finally:
        handle.close()


def _looks_wide(data: bytes) -> bool:
    """Whether it is a text once it is read as UTF-16: hardly any NUL is left in it."""
    return any(
        data.decode(each, "replace").count("\0") < len(data) // 64 for each in ("utf-16-le", "utf-16-be")
    )


def _of_text(path: Path) -> Found:
    with path.open("rb") as handle:
        data = unzipped(handle, path.name).peek(HEAD)[:HEAD]
    if data[257:262] == b"ustar":
        raise MemtuiError(f"{path.name} is a tar archive.", fix="Unpack it, and import the folder.")
    if data.count(0) > len(data) // 8 and not byte_order_mark(data)[0]:
        if is_wide(data) and _looks_wide(data):
            raise wide(path.name)
        raise MemtuiError(
            f"{path.name} is no text, and no form that we know.", fix="Export it again as text."
        )
    text = head_text(data)
    head, body, _ = split(text)
    if head.get("source") in EXPORTERS and head.get("id"):
        return "obsidian", (f"a note written by {head['source']}",)
    if "permalink" in head:
        return "basic-memory", ("a permalink in the front matter",)
    if MIRROR.match(body.lstrip("\n")):
        return "mirror", ("the lines of a mirror",)
    dated, lines = looks_like_list(body)
    if dated and dated * 2 >= lines - 2:
        return "pasted", (f"{dated} of {counted(lines, 'line')} begin with a date and a dash",)
    marked = [line for line in body.splitlines() if line.strip()]
    bullets = sum(_BULLET.match(line) is not None for line in marked)
    headings = sum(_HEADING.match(line) is not None for line in marked)
    suffix = path.suffix.lower()
    columns = _columns(text) if suffix not in _MARKDOWN and bullets * 2 < len(marked) else []
    if len(columns) > (1 if suffix in _TABLES else 2):
        return "csv", (f"a table with the columns {', '.join(name or '(none)' for name in columns[:12])}",)
    if bullets or headings or head or suffix in _MARKDOWN:
        return "markdown", (
            f"{headings} headings and {bullets} list entries in the first {counted(len(marked), 'line')}",
        )
    return "pasted", (f"{counted(lines, 'line')} of plain text, taken as one memory each",)


def _columns(text: str) -> list[str]:
    """The header when most of the first lines have the same number of cells, two or more; else nothing."""
    from memtui.engine.transfer.readers.tables import delimiter_of

    whole = text[: text.rfind("\n") + 1] or text
    try:
        rows = [
            row
            for row in islice(csv.reader(io.StringIO(whole, newline=""), delimiter=delimiter_of(whole)), 20)
            if row
        ]
    except csv.Error:
        return []
    width = len(rows[0]) if rows else 0
    same = sum(len(row) == width for row in rows)
    return rows[0] if width > 1 and len(rows) > 1 and same * 5 >= len(rows) * 4 else []
