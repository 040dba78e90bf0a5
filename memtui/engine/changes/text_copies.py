"""Where else the text of a memory stands: Markdown mirrors, notes and backups beside the store."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.text import composed

if TYPE_CHECKING:
    from memtui.engine.discovery.types import FoundStore

_MIRROR = re.compile(r"- \S+ \[[^\]]*\] agent=\S* source=\S* (?P<text>.*)")
"""A line of memory-lancedb-pro's Markdown mirror: time, category and scope, agent, source, text."""

_MIRRORED = 500
"""Characters of a text that the mirror keeps."""

_LARGEST_FILE = 8 << 20

_MOST_FILES = 5_000

_SHORTEST = 12
"""Shorter texts stand everywhere: only whole mirror lines are compared with them."""

_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class TextCopy:
    """One line that holds a memory's text. `goes`: a hard forget removes it."""

    id: str
    path: str
    line: int
    kind: str
    """mirror, notes, backup, rejections, repair."""
    goes: bool

    def as_json(self) -> dict[str, Any]:
        """Place and kind, never the text."""
        return {"id": self.id, "path": self.path, "line": self.line, "kind": self.kind, "goes": self.goes}


def mirror_folders(found: FoundStore | None) -> tuple[Path, ...]:
    """The folder that the plugin mirrors memories into, where its settings name one."""
    mirror = found.settings.get("mdMirror") if found is not None else None
    folder = mirror.get("dir") if isinstance(mirror, Mapping) else None
    return (Path(folder).expanduser(),) if isinstance(folder, str) and folder.strip() else ()


def find_copies(folder: Path, texts: Mapping[str, str], more: Sequence[Path] = ()) -> list[TextCopy]:
    """Every copy of these memories (text by id) in files beside the store in `folder`, and in folders `more`.

    Looks at Markdown files next to the store and in the agents' workspaces, at the plugin's backups and the
    log of rejected memories; at 5,000 files of at most 8 MB each.
    """
    whole = {each: _plain(text) for each, text in texts.items() if text.strip()}
    found: list[TextCopy] = []
    for path, kind in _files(folder, more):
        for n, line in enumerate(_lines(path), 1):
            found += _copies_in(line, n, path, kind, whole)
    return found


def _copies_in(line: str, n: int, path: Path, kind: str, texts: Mapping[str, str]) -> Iterator[TextCopy]:
    mirror = _MIRROR.fullmatch(line.strip()) if kind == "mirror" else None
    if mirror is not None:
        plain = _plain(mirror["text"])
        for each, text in texts.items():
            if plain == _plain(text[:_MIRRORED]):
                yield TextCopy(each, str(path), n, "mirror", True)
        return
    plain = _plain(line)
    for each, text in texts.items():
        in_json = kind != "mirror" and (each in line or json.dumps(text, ensure_ascii=False)[1:-1] in plain)
        if in_json or (len(text) >= _SHORTEST and text in plain):
            yield TextCopy(each, str(path), n, "notes" if kind == "mirror" else kind, False)


def erase(copies: Iterable[TextCopy], texts: Mapping[str, str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Remove the mirror lines among `copies`; every other byte of the files stays.

    A line is looked for again, since the agent may have written meanwhile. Returns what was removed, so that it
    can be put back, and what went wrong, in sentences.
    """
    removed: list[dict[str, Any]] = []
    problems: list[str] = []
    by_path: dict[str, set[str]] = {}
    for copy in copies:
        if copy.goes:
            by_path.setdefault(copy.path, set()).add(_plain(_plain(texts[copy.id])[:_MIRRORED]))
    for path, wanted in by_path.items():
        try:
            lines = Path(path).read_bytes().splitlines(keepends=True)
            hits = [n for n, line in enumerate(lines) if _mirrored(line) in wanted]
            if hits:
                _replace(Path(path), b"".join(line for n, line in enumerate(lines) if n not in set(hits)))
                gone = [[n, lines[n].decode("utf-8", "surrogateescape")] for n in hits]
                removed.append({"path": path, "lines": gone})
        except OSError as error:
            problems.append(f"{path} still holds a copy: {error.strerror or error}.")
    return removed, problems


def put_back(removed: Iterable[Mapping[str, Any]]) -> list[str]:
    """Put erased lines back where they were (at the end of a file that is shorter now); problems in sentences."""
    problems = []
    for each in removed:
        path = Path(each["path"])
        try:
            lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
            for n, line in each["lines"]:
                lines.insert(min(n, len(lines)), line.encode("utf-8", "surrogateescape"))
            _replace(path, b"".join(lines))
        except OSError as error:
            problems.append(f"{path} did not get its line back: {error.strerror or error}.")
    return problems


def take_out(removed: Iterable[Mapping[str, Any]]) -> list[str]:
    """Remove lines again that were put back; problems in sentences."""
    problems = []
    for each in removed:
        path = Path(each["path"])
        wanted = [line.encode("utf-8", "surrogateescape") for _, line in each["lines"]]
        try:
            lines = path.read_bytes().splitlines(keepends=True)
            for line in wanted:
                if line in lines:
                    lines.remove(line)
            _replace(path, b"".join(lines))
        except OSError as error:
            problems.append(f"{path} still holds a copy: {error.strerror or error}.")
    return problems


def _mirrored(line: bytes) -> str | None:
    match = _MIRROR.fullmatch(line.decode("utf-8", "replace").strip())
    return None if match is None else _plain(match["text"])


def _replace(path: Path, content: bytes) -> None:
    """Write a file in one step, with the rights it has."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            os.chmod(name, path.stat().st_mode & 0o7777)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _files(folder: Path, more: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    beside, above = folder.parent, folder.parent.parent
    patterns = [
        (beside, "*.md", "mirror"),
        (beside, "*/*.md", "mirror"),
        (beside, "*/memory/*.md", "mirror"),
        (above, "workspace*/*.md", "mirror"),
        (above, "workspace*/memory/*.md", "mirror"),
        (beside, "backups/memory-backup-*.jsonl", "backup"),
        (beside, "admission-audit/rejections.jsonl", "rejections"),
        (beside, f"{folder.name}-unrecovered-*.json", "repair"),
        (folder, ".legacy-timestamp-backfill-backups/*.json", "repair"),
        *((path, "**/*.md", "mirror") for path in more),
    ]
    seen: set[Path] = set()
    for root, pattern, kind in patterns:
        for path in sorted(root.glob(pattern)):
            if len(seen) >= _MOST_FILES:
                return
            if path not in seen and path.is_file() and not path.is_symlink():
                seen.add(path)
                yield path, kind


def _lines(path: Path) -> list[str]:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            return []
        return path.read_bytes().decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def _plain(text: str) -> str:
    return _SPACES.sub(" ", composed(text)).strip()
