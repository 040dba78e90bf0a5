"""Transcripts as JSON lines, with the recorder's trajectory file beside them."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from memtui.engine.core.progress import CancelToken
from memtui.engine.core.text import counted
from memtui.engine.witness.session import SessionFile, SessionRecord, entry_of, prompts_of

FORM = "jsonl"

LONGEST_LINE = 32 << 20
"""Bytes of one line; a longer one is skipped and counted."""

_NAME = re.compile(r"(?P<stem>.+?)\.jsonl(?:\.(?P<why>reset|deleted)\.(?P<when>.+))?")

_TRAJECTORY = ".trajectory"

_POINTER = "openclaw-trajectory-pointer"


def find(folder: Path, agent: str) -> list[SessionFile]:
    """The transcripts below `<folder>/sessions`, archives included."""
    found = []
    keys = _keys(folder / "sessions" / "sessions.json")
    for path in _files(folder / "sessions"):
        match = _NAME.fullmatch(path.name)
        if match is None or match["stem"].endswith(_TRAJECTORY):
            continue
        why: Literal["", "reset", "deleted"] = match["why"] or ""  # type: ignore[assignment]
        name = match["stem"]
        modified = int(path.stat().st_mtime * 1000)
        found.append(SessionFile(name, agent, path, "jsonl", why, modified, keys.get(name, "")))
    live = {each.id for each in found if not each.archived}
    return [
        replace(each, id=archive_id(each.path), key="")
        if each.archived and (each.id in live or _twice(found, each))
        else each
        for each in found
    ]


def archive_id(path: Path) -> str:
    """The id of an archived transcript whose session goes on: with the time at which it was put away."""
    return path.name.replace(".jsonl", "", 1)


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
        record.warnings.append(f"{_lines(foreign)} of {file.path.name} are no entries of a transcript")
    match = _NAME.fullmatch(file.path.name)
    stem = match["stem"] if match else file.id
    tail = f".{match['why']}.{match['when']}" if match and match["why"] else ""
    read_trajectory(record, file.path.parent, stem, environ, cancel, tail)
    return record


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


def _twice(found: list[SessionFile], one: SessionFile) -> bool:
    return sum(each.id == one.id for each in found) > 1


def _is_event(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("type"), str)


def _files(folder: Path) -> list[Path]:
    """The regular files in a folder, by name; a pipe or a device is never opened."""
    try:
        with os.scandir(folder) as there:
            return sorted(Path(each.path) for each in there if each.is_file())
    except OSError:
        return []


def _values(path: Path, warnings: list[str], cancel: CancelToken | None) -> Iterator[tuple[int, Any]]:
    """(line number, value) of every line that parses; the others are counted into `warnings`."""
    bad: list[int] = []
    number = 0
    try:
        with path.open("rb") as stream:
            while line := stream.readline(LONGEST_LINE):
                number += 1
                if cancel is not None and number % 256 == 0:
                    cancel.check()
                if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                    bad.append(number)
                    while (more := stream.readline(LONGEST_LINE)) and not more.endswith(b"\n"):
                        pass
                    continue
                if not line.strip():
                    continue
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError):
                    bad.append(number)
                    continue
                yield number, value
    except OSError as error:
        warnings.append(f"{path.name} cannot be read: {error.strerror}")
        return
    if bad == [number] and number:
        warnings.append(f"{path.name} is cut at line {number}, read till there")
    elif bad:
        warnings.append(f"{_lines(len(bad))} of {path.name} cannot be read, the first is line {bad[0]}")


def _lines(count: int) -> str:
    return counted(count, "line")


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
