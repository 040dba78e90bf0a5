"""Paths as people give them: typed, pasted by a terminal onto which a file was dropped, and completed."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from memtui.engine.core.progress import CancelToken

MOST = 400
"""Entries of a folder that are offered; typing one more letter is quicker than scrolling further."""

MOST_LOOKED_AT = 5_000
"""Entries of a folder that is looked at while its path is still being typed."""

_KINDS = {
    ".json": "JSON", ".jsonl": "JSON lines", ".ndjson": "JSON lines", ".csv": "table", ".tsv": "table",
    ".parquet": "Parquet", ".md": "Markdown", ".txt": "text", ".zip": "archive", ".gz": "compressed",
    ".sqlite": "SQLite", ".af": "Letta agent", ".lance": "LanceDB table",
}  # fmt: skip

_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class GivenPath:
    """Something in a folder. `kind` is a guess by its name, empty for what is none of ours."""

    path: str
    name: str
    folder: bool
    size: int
    kind: str


def given_paths(text: str, cwd: Path) -> tuple[Path, ...]:
    """The paths in what was typed or dropped: quoted, escaped, as file URIs, one or several."""
    text = text.strip()
    if not text:
        return ()
    whole = _path(text, cwd)
    if whole.exists():
        return (whole,)
    try:
        parts = shlex.split(text)
    except ValueError:
        parts = [_ESCAPED.sub(r"\1", text)]
    found = tuple(_path(part, cwd) for part in parts)
    return found if found and all(path.exists() for path in found) else (whole,)


def _path(text: str, cwd: Path) -> Path:
    if text.startswith("file://"):
        text = unquote(urlsplit(text).path)
    try:
        return cwd / Path(text).expanduser()
    except RuntimeError:  # no such user
        return cwd / text


def looks_like_paths(text: str, cwd: Path) -> bool:
    """Whether a pasted text names things that are there, rather than being memories itself."""
    lines = text.strip().split("\n")
    return len(lines) < 50 and all(path.exists() for line in lines for path in given_paths(line, cwd))


def completions(text: str, cwd: Path) -> tuple[GivenPath, ...]:
    """What is in the folder that `text` leads to and begins with its last part; folders first. May touch disks."""
    head, _, tail = text.rpartition("/")
    folder = _path(f"{head}/" if head or text.startswith("/") else ".", cwd)
    try:
        with os.scandir(folder) as entries:
            found = [entry for entry in entries if _begins(entry.name, tail)]
    except OSError:
        return ()
    lead = f"{head}/" if "/" in text else ""
    places = (_place(entry, lead) for entry in found)
    return tuple(sorted(places, key=lambda each: (not each.folder, not each.kind, each.name.lower())))[:MOST]


def is_large(folder: Path, cancel: CancelToken, *, most: int = MOST_LOOKED_AT) -> bool:
    """Whether a folder holds more than `most` files and folders, at any depth; links are not followed.

    A path that is typed leads through folders that nobody means, such as the root of the disk: this says it without
    reading them through. Raises Cancelled when `cancel` is set.
    """
    count = 0
    for _, folders, names in os.walk(folder):
        cancel.check()
        count += len(folders) + len(names)
        if count > most:
            return True
    return False


def common_start(places: Iterable[GivenPath]) -> str:
    """Return the beginning that all of the names share."""
    return os.path.commonprefix([place.path for place in places])  # noqa: RUF071 - characters, not folders


def _begins(name: str, start: str) -> bool:
    if name.startswith(".") and not start.startswith("."):
        return False
    return name.lower().startswith(start.lower())


def _place(entry: os.DirEntry[str], lead: str) -> GivenPath:
    try:
        folder = entry.is_dir()
        size = 0 if folder else entry.stat().st_size
    except OSError:
        folder, size = False, 0
    suffix = os.path.splitext(entry.name)[1].lower()
    kind = _KINDS.get(suffix, "folder" if folder else "")
    return GivenPath(f"{lead}{entry.name}{'/' if folder else ''}", entry.name, folder, size, kind)
