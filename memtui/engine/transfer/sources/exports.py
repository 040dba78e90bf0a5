"""Data exports of chat services, as an archive or unpacked: their files of one kind, numbered or in several folders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import counted, quoted
from memtui.engine.transfer.record import SourceRemark
from memtui.engine.transfer.sources.files import Tree, TreeFile, tree_of
from memtui.engine.transfer.sources.json_stream import JsonReader
from memtui.engine.transfer.sources.options import ReadProgress
from memtui.engine.transfer.sources.text import unzipped

CONVERSATIONS, MEMORIES = "conversations", "memories"
"""What the files of an export begin with; large ones come in numbered parts."""

_NUMBER = r"(?:[-_ .]?\d{1,6}|[-_ ]?\(\d{1,6}\)|[-_]part[-_]?\d{1,6})?\.json(?:\.gz)?"

_FILES = {name: re.compile(name + _NUMBER, re.IGNORECASE) for name in (CONVERSATIONS, MEMORIES)}

_DIGITS = re.compile(r"(\d+)")

Service = Literal["chatgpt", "claude", ""]


def files_of(tree: Tree, name: str) -> tuple[TreeFile, ...]:
    """The files of one kind in an export, in the order of their numbers; of an unpacked one, at most a folder deep."""
    found = [
        file
        for file in tree.files
        if _FILES[name].fullmatch(file.path.name) and (tree.is_archive or len(file.path.parts) <= 2)
    ]
    return tuple(
        sorted(found, key=lambda file: _in_order(file.name.lower().removesuffix(".gz").removesuffix(".json")))
    )


def export_tree(path: Path) -> Tree:
    """The files of an export: a folder's JSON, or an archive's members."""
    return tree_of(path, (".json", ".json.gz"))


def _in_order(name: str) -> list[tuple[int, int | str]]:
    return [(0, int(part)) if part.isdigit() else (1, part) for part in _DIGITS.split(name) if part]


def service_of(files: tuple[TreeFile, ...]) -> Service:
    """Whose conversations these are, by the first of them; "" where there is none, or one of nobody we know."""
    for file in files:
        try:
            with json_member(file, ReadProgress()) as reader:
                first = next(reader.items(), None) if reader.peek() == "[" else None
        except MemtuiError:
            return ""
        if first is not None:
            row: Any = first.value if isinstance(first.value, dict) else {}
            return "chatgpt" if "mapping" in row else "claude" if "chat_messages" in row else ""
    return ""


@contextmanager
def json_member(file: TreeFile, meter: ReadProgress) -> Iterator[JsonReader]:
    """A reader of one JSON document of an export."""
    handle = file.open()
    try:
        yield JsonReader(unzipped(handle, file.name), file.name, meter)
    finally:
        handle.close()


def no_memory_in(path: Path, conversations: int) -> SourceRemark:
    """What is said of an export that has conversations and no saved memory."""
    return SourceRemark(
        f"{path.name} holds {counted(conversations, 'conversation')} and no saved memory: there is nothing to import. "
        f"Capture finds what is worth keeping in them: memtui capture {quoted(path)}"
    )
