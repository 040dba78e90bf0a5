"""Transcripts as JSON lines, with the recorder's trajectory file beside them."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from memtui.engine.core.progress import CancelToken
from memtui.engine.witness.formats.compressed import open_archive
from memtui.engine.witness.formats.lines import count_lines, read_values
from memtui.engine.witness.session import SessionFile, SessionRecord, entry_of, prompts_of

FORM = "jsonl"

PACKED = ".zst"

_NAME = re.compile(r"(?P<stem>.+?)\.jsonl(?:\.(?P<why>reset|deleted)\.(?P<when>.+?))?(?:\.zst)?")

_IMPORTED = "session-sqlite-import-archive"
"""Where a host puts the transcripts that it has taken over into its database."""

_TRAJECTORY = ".trajectory"

_POINTER = "openclaw-trajectory-pointer"


def find(folder: Path, agent: str) -> list[SessionFile]:
    """The transcripts below `<folder>/sessions`, archives included, and those that a host took over and put away."""
    found = []
    keys = _keys(folder / "sessions" / "sessions.json")
    for path in _files(folder / "sessions"):
        match = _NAME.fullmatch(path.name)
        if match is None or match["stem"].endswith(_TRAJECTORY):
            continue
        if path.suffix == PACKED and path.with_suffix("").is_file():
            continue  # the same, not yet taken away
        why: Literal["", "reset", "deleted"] = match["why"] or ""  # type: ignore[assignment]
        name = match["stem"]
        modified = int(path.stat().st_mtime * 1000)
        found.append(SessionFile(name, agent, path, "jsonl", why, modified, keys.get(name, "")))
    live = {file.id for file in found if not file.archived}
    return found + [file for file in _imported(folder / _IMPORTED, agent, keys) if file.id not in live]


def archive_id(name: str) -> str:
    """The id of an archived transcript whose session goes on, by its file's name: with the time it was put away."""
    return name.removesuffix(PACKED).replace(".jsonl", "", 1)


def _imported(folder: Path, agent: str, keys: Mapping[str, str]) -> list[SessionFile]:
    """The transcripts that a host has taken over into its database, by the id in the header, the newest of each."""
    found: dict[str, SessionFile] = {}
    for path in _files(folder):
        if ".jsonl" not in path.name or _TRAJECTORY in path.name:
            continue
        header = next((value for _, value in _values(path, [], None)), None)
        name = header.get("id") if isinstance(header, Mapping) and header.get("type") == "session" else None
        if isinstance(name, str) and name:
            modified = int(path.stat().st_mtime * 1000)
            if name not in found or found[name].modified_ms <= modified:
                found[name] = SessionFile(name, agent, path, "jsonl", "", modified, keys.get(name, ""))
    return list(found.values())


def read(file: SessionFile, environ: Mapping[str, str], cancel: CancelToken | None = None) -> SessionRecord:
    """The entries of a transcript and the prompts of its trajectory."""
    record = SessionRecord(file)
    foreign = 0
    for number, value in _values(file.path, record.warnings, cancel):
        entry = entry_of(value)
        if entry is not None:
            record.add(entry)
        elif not isinstance(value, Mapping) or (number > 1 and value.get("type") is None):
            foreign += 1
    record.tell_shortened()
    if foreign:
        record.warnings.append(f"{count_lines(foreign)} of {file.path.name} are no entries of a transcript")
    match = _NAME.fullmatch(file.path.name)
    stem = match["stem"] if match else file.id
    tail = f".{match['why']}.{match['when']}" if match and match["why"] else ""
    read_trajectory(record, file.path.parent, stem, environ, cancel, tail)
    return record


def read_lines(path: Path, warnings: list[str], cancel: CancelToken | None = None) -> Iterator[Any]:
    """The values of a transcript's lines, packed or not; what cannot be read is told in `warnings`."""
    return (value for _, value in _values(path, warnings, cancel))


def read_trajectory(
    record: SessionRecord,
    folder: Path,
    stem: str,
    environ: Mapping[str, str],
    cancel: CancelToken | None = None,
    tail: str = "",
) -> None:
    """Add the prompts of the recorder's file of a session, if there is one; `tail` is that of an archive's name."""
    trajectory = _trajectory(folder, stem, tail, environ)
    if trajectory is not None:
        events = (value for _, value in _values(trajectory, record.warnings, cancel) if _is_event(value))
        record.prompts, record.full, _ = prompts_of(events)
        record.recorded = "trajectory"


def _is_event(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("type"), str)


def _files(folder: Path) -> list[Path]:
    """The regular files in a folder, by name; a pipe or a device is never opened."""
    try:
        with os.scandir(folder) as there:
            return sorted(Path(entry.path) for entry in there if entry.is_file())
    except OSError:
        return []


def _values(path: Path, warnings: list[str], cancel: CancelToken | None) -> Iterator[tuple[int, Any]]:
    """(line number, value) of every line of a file that parses; the others are counted into `warnings`."""
    try:
        with open_archive(path, packed=path.suffix == PACKED) as stream:
            yield from read_values(stream, path.name, warnings, cancel)
    except OSError as error:
        warnings.append(f"{path.name} cannot be read: {error.strerror or error}")


def _trajectory(folder: Path, stem: str, tail: str, environ: Mapping[str, str]) -> Path | None:
    """The recorder's file: beside the transcript, where its pointer says, or in the folder of the variable."""
    places = [folder / f"{stem}{_TRAJECTORY}.jsonl{tail}", folder / f"{stem}{_TRAJECTORY}.jsonl"]
    pointed = _pointed(folder / f"{stem}{_TRAJECTORY}-path.json")
    if pointed is not None:
        places.append(pointed)
    if given := environ.get("OPENCLAW_TRAJECTORY_DIR", "").strip():
        places.append(Path(given).expanduser() / f"{stem}.jsonl")
    return next((place for place in places if _is_regular(place)), None)


def _pointed(path: Path) -> Path | None:
    value = _json(path)
    named = value.get("runtimeFile") if value.get("traceSchema") == _POINTER else None
    return Path(named) if isinstance(named, str) and named.endswith(".jsonl") else None


def _keys(path: Path) -> dict[str, str]:
    """Session id to session key, out of the agent's index of sessions."""
    return {
        entry["sessionId"]: key
        for key, entry in _json(path).items()
        if isinstance(entry, Mapping) and isinstance(entry.get("sessionId"), str)
    }


def _json(path: Path) -> Mapping[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8")) if _is_regular(path) else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) else {}


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False
