"""The files behind an index: where each one is, whether it may be read, and why it may not be changed."""

from __future__ import annotations

import fnmatch
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.engine.notes.index_file import SESSIONS

CURATED = ("MEMORY.md", "memory.md", "USER.md")
"""The root files that are indexed entry by entry, and whose comments are fields."""

LARGEST = 20_000_000
"""Bytes of a file that is read."""

SESSION_REASON = "It is part of a session: the transcript is the host's, and memtui does not write it."

OUTSIDE_REASON = (
    "Its file is outside the agent's workspace ({path}): memtui changes files of the workspace alone."
)

LINK_REASON = "{path} is a link that leaves the workspace: memtui neither reads nor changes what it leads to."


@dataclass(frozen=True, slots=True)
class ExtraPath:
    """A file or folder beside the workspace that the configuration has indexed; `pattern` narrows a folder."""

    path: Path
    pattern: str = ""

    def holds(self, file: Path) -> bool:
        """Whether the file is this one, or one of this folder that fits the pattern."""
        if file == self.path:
            return True
        if not file.is_relative_to(self.path):
            return False
        inner = file.relative_to(self.path).as_posix()
        if self.pattern:
            return any(fnmatch.fnmatchcase(inner, pattern) for pattern in _globs(self.pattern))
        return file.suffix.lower() == ".md"


def _globs(pattern: str) -> tuple[str, ...]:
    """`**/` also stands for no folder at all, as in the host's patterns."""
    plain = pattern.removeprefix("./")
    return tuple(dict.fromkeys((plain, plain.replace("**/", ""), plain.replace("/**/", "/"))))


def read_extra_paths(values: Any, home: Path | None, workspace: Path | None) -> tuple[ExtraPath, ...]:
    """The `extraPaths` of the search settings: strings, or objects with `path` and `pattern`; others are left out."""
    found = []
    for value in values if isinstance(values, list) else ():
        path = value.get("path") if isinstance(value, Mapping) else value
        pattern = value.get("pattern") if isinstance(value, Mapping) else ""
        if not isinstance(path, str) or not path.strip():
            continue
        text = path.strip()
        if text == "~" or text.startswith("~/"):
            if home is None:
                continue
            text = str(home) + text[1:]
        if not os.path.isabs(text) and workspace is None:
            continue
        place = Path(
            os.path.normpath(text if os.path.isabs(text) else str(workspace / text if workspace else text))
        )
        found.append(ExtraPath(place, pattern if isinstance(pattern, str) else ""))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class MemoryFiles:
    """The agent's workspace and what is indexed beside it. `workspace` is None where it is not known."""

    workspace: Path | None
    extra: tuple[ExtraPath, ...] = ()

    def place(self, path: str) -> Path | None:
        """Where a file of the index is, whether or not it is there; None without a workspace."""
        if self.workspace is None:
            return None
        return Path(os.path.normpath(self.workspace / path))

    def is_inside(self, path: str) -> bool:
        """Whether the path stays in the workspace as it is written."""
        place = self.place(path)
        return (
            place is not None and self.workspace is not None and place.is_relative_to(_plain(self.workspace))
        )

    def leaves(self, path: str) -> bool:
        """Whether a link on the way leads out of the workspace, or of the extra path that holds the file."""
        place = self.place(path)
        if place is None or self.workspace is None:
            return False
        real = Path(os.path.realpath(place))
        roots = [Path(os.path.realpath(self.workspace))]
        roots += [
            Path(os.path.realpath(extra.path)) for extra in self.extra if place.is_relative_to(extra.path)
        ]
        inside = self.is_inside(path)
        return not any(real.is_relative_to(root) for root in (roots[:1] if inside else roots[1:] or [place]))

    def locked_because(self, path: str, source: str) -> str:
        """Why a chunk of this file can be read only, one sentence; empty where its file may be changed."""
        if source == SESSIONS:
            return SESSION_REASON
        if self.workspace is None:
            return "The agent's workspace is not known here: no configuration names it."
        if not self.is_inside(path):
            return OUTSIDE_REASON.format(path=path)
        if self.leaves(path):
            return LINK_REASON.format(path=path)
        return ""

    def allows(self, path: str, indexed: Iterable[str]) -> Path | None:
        """The file that `path` names, if it belongs to the memory: indexed, or held by an extra path; else None.

        A link that leads out of the memory belongs to nothing.
        """
        place = self.place(path)
        if place is None or self.leaves(path):
            return None
        known = {self.place(each) for each in indexed}
        if place in known or any(extra.holds(place) for extra in self.extra):
            return place
        return None


def _plain(path: Path) -> Path:
    return Path(os.path.normpath(path))


@dataclass(frozen=True, slots=True)
class FileText:
    """A file as it is now: its text, None where it is not there or cannot be read as text, and why."""

    text: str | None = None
    hash: str = ""
    problem: str = ""


def read_file_text(place: Path | None) -> FileText:
    """The file's text, byte for byte (line ends and marks kept), and the SHA-256 of its bytes."""
    if place is None:
        return FileText(problem="the agent's workspace is not known")
    try:
        if place.stat().st_size > LARGEST:
            return FileText(problem="the file is larger than 20 MB")
        data = place.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return FileText(problem="the file is gone")
    except OSError as error:
        return FileText(problem=f"the file cannot be read: {(error.strerror or str(error)).lower()}")
    digest = hashlib.sha256(data).hexdigest()
    try:
        return FileText(data.decode("utf-8"), digest)
    except UnicodeDecodeError:
        return FileText(None, digest, "the file is not UTF-8")


def split_lines(text: str) -> Sequence[str]:
    """The lines as the host counts them: cut at line feeds, a carriage return stays at the end of its line."""
    return text.split("\n")
