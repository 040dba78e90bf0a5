"""What is written into the files of a host: planned, looked at, written with a backup, taken back exactly."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.core.private_file import make_private_folder
from memtui.engine.core.replace_file import back_up, create_file, digest_of, replace_file
from memtui.engine.hosts.formats import edited, read_text
from memtui.engine.hosts.piece import ConfigPiece

_RECORDS = "hosts.jsonl"

LARGEST = 8_000_000
"""Bytes of a configuration file that is read."""


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file as it is and as it would be; None where it is not there, or would go."""

    path: Path
    before: bytes | None
    after: bytes | None
    pieces: tuple[ConfigPiece, ...] = ()
    """What of it is memtui's; empty where the whole file is."""


@dataclass(frozen=True, slots=True)
class HostPlan:
    """Files of a host that would be written; nothing is written yet."""

    host: str
    what: str
    """`server` or `hooks`."""
    files: tuple[PlannedFile, ...]
    undoes: int = 0
    """The number of the record that this plan takes back."""

    @property
    def changed(self) -> tuple[PlannedFile, ...]:
        """The files that would become others."""
        return tuple(file for file in self.files if file.before != file.after)

    @property
    def difference(self) -> tuple[str, ...]:
        """The unified difference of all files, written keys masked."""
        from memtui.engine.configuration.draft import text_difference

        return text_difference(
            (str(file.path), _shown(file.before), _shown(file.after)) for file in self.changed
        )


@dataclass(frozen=True, slots=True)
class HostFile:
    """A file that was written: digests before and after (empty where it was not there), and the backup."""

    path: str
    before: str
    after: str
    backup: str
    pieces: tuple[ConfigPiece, ...]
    folders: tuple[str, ...]
    """The folders that were made for it."""

    def as_json(self) -> dict[str, Any]:
        """For the record and the command line."""
        told: dict[str, Any] = {"path": self.path, "before": self.before, "after": self.after}
        pieces = [
            {"place": list(piece.place), "value": piece.value, "key": piece.key, "ours": list(piece.ours)}
            for piece in self.pieces
        ]
        return {**told, "backup": self.backup, "pieces": pieces, "folders": list(self.folders)}


@dataclass(frozen=True, slots=True)
class HostRecord:
    """One write into the files of a host, as it is kept for undo."""

    number: int
    time_ms: int
    host: str
    what: str
    files: tuple[HostFile, ...]
    undone: bool = False

    def as_json(self) -> dict[str, Any]:
        """For the record and the command line."""
        told = {"number": self.number, "time_ms": self.time_ms, "host": self.host, "what": self.what}
        return {**told, "files": [file.as_json() for file in self.files]}


def _shown(content: bytes | None) -> str:
    return "" if content is None else content.decode("utf-8", "replace").removeprefix("\ufeff")


def read_file(path: Path) -> bytes | None:
    """The content of a configuration file, None where there is none. MemtuiError for what is no readable file."""
    try:
        if path.is_file() and path.stat().st_size > LARGEST:
            raise RefusedError(f"{path} is too large for a configuration.", fix="Nothing was changed.")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise MemtuiError(
            f"{path} cannot be read: {error.strerror}.",
            fix="Correct that and try again; nothing was changed.",
        ) from error


def plan_pieces(host: str, what: str, path: Path, pieces: Sequence[ConfigPiece]) -> HostPlan:
    """Plan pieces in one file. MemtuiError for a file that cannot be read, RefusedError where they have no place."""
    real = Path(os.path.realpath(path))
    before = after = read_file(real)
    for piece in pieces:
        after = edited(real, after, piece)
    return HostPlan(host, what, (PlannedFile(real, before, after, tuple(pieces)),))


def write_plan(plan: HostPlan, *, state: Path, now_ms: int) -> HostRecord:
    """Write what was planned and keep a record of it; a plan of an undo marks the record that it takes back.

    RefusedError where a file is not what was read any more. A failure in the middle puts back what was written.
    """
    done: list[tuple[PlannedFile, HostFile]] = []
    try:
        for file in plan.changed:
            written = _write(file, now_ms, kept=not plan.undoes)
            done.append((file, written))
    except BaseException:
        for file, written in reversed(done):
            _write(replace(file, before=file.after, after=file.before), now_ms, kept=False)
            _remove_made(written)
        raise
    files = tuple(written for _, written in done)
    if plan.undoes:
        record = next(record for record in host_records(state) if record.number == plan.undoes)
        _append(state, {"kind": "undone", "number": plan.undoes, "time_ms": now_ms})
        for written in record.files:
            _remove_made(written)
        return replace(record, undone=True)
    record = HostRecord(len(host_records(state)) + 1, now_ms, plan.host, plan.what, files)
    try:
        _append(state, {"kind": "written", **record.as_json()})
    except OSError as error:
        for file, written in reversed(done):
            _write(replace(file, before=file.after, after=file.before), now_ms, kept=False)
            _remove_made(written)
        raise MemtuiError(
            f"The record for undo cannot be written in {state}: {error.strerror}.", fix="Nothing was changed."
        ) from error
    return record


def _write(file: PlannedFile, now_ms: int, *, kept: bool) -> HostFile:
    """Write one file, its backup beside it where it is `kept` and the file was there."""
    current = read_file(file.path)
    if current != file.before:
        raise RefusedError(
            f"{file.path} was changed by another program since it was read.",
            fix="Try again; nothing was changed.",
        )
    old = "" if file.before is None else digest_of(file.before)
    new = "" if file.after is None else digest_of(file.after)
    try:
        if file.after is None:
            file.path.unlink()
            return HostFile(str(file.path), old, new, "", file.pieces, ())
        if file.before is None:
            folders = _make_folders(file.path.parent)
            create_file(file.path, file.after)
            return HostFile(str(file.path), old, new, "", file.pieces, folders)
        backup = str(back_up(file.path, file.before, now_ms)) if kept else ""
        try:
            replace_file(file.path, file.after, only_if=old)
        except BaseException:
            if backup:
                Path(backup).unlink()
            raise
    except OSError as error:
        raise RefusedError(
            f"{file.path} cannot be written: {error.strerror}.", fix="Nothing was changed."
        ) from error
    return HostFile(str(file.path), old, new, backup, file.pieces, ())


def _make_folders(folder: Path) -> tuple[str, ...]:
    """Make a folder and those above it that are missing; the innermost is named first."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for made in reversed(missing):
        made.mkdir()
    return tuple(str(made) for made in missing)


def _remove_made(written: HostFile) -> None:
    """Remove the folders that were made for a file where they are empty, and a backup that the file equals again."""
    for folder in written.folders:
        with suppress(OSError):
            os.rmdir(folder)
    if written.backup:
        with suppress(OSError):
            if digest_of(Path(written.path).read_bytes()) == written.before:
                Path(written.backup).unlink()


def host_records(state: Path) -> list[HostRecord]:
    """Every write into the files of a host, oldest first."""
    found: dict[int, HostRecord] = {}
    try:
        lines = (state / _RECORDS).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    for line in lines:
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            continue  # cut by a full disk
        if told.get("kind") == "undone":
            if told["number"] in found:
                found[told["number"]] = replace(found[told["number"]], undone=True)
            continue
        files = tuple(
            HostFile(
                file["path"],
                file["before"],
                file["after"],
                file["backup"],
                tuple(_piece(piece) for piece in file["pieces"]),
                tuple(file["folders"]),
            )
            for file in told["files"]
        )
        found[told["number"]] = HostRecord(told["number"], told["time_ms"], told["host"], told["what"], files)
    return list(found.values())


def _piece(told: Mapping[str, Any]) -> ConfigPiece:
    return ConfigPiece(tuple(told["place"]), told["value"], told["key"], tuple(told["ours"]))


def plan_host_undo(state: Path, host: str, what: str, path: Path | None = None) -> HostPlan:
    """Plan to undo the last write into a host's files, or the last one at `path`, a file or folder.

    Whole files go back while they are as memtui left them; in a file that was changed since only memtui's own entry
    goes, or becomes what it was. RefusedError where there is nothing to undo, or the entry is not memtui's any more.
    """
    wanted = None if path is None else os.path.realpath(path)
    record = next(
        (
            record
            for record in reversed(host_records(state))
            if not record.undone
            and (record.host, record.what) == (host, what)
            and (wanted is None or any(_is_at(file.path, wanted) for file in record.files))
        ),
        None,
    )
    if record is None:
        raise RefusedError(f"memtui has written nothing for {host} here.", fix="There is nothing to undo.")
    files = [plan for file in record.files if (plan := _reversed(file)) is not None]
    return HostPlan(host, what, tuple(files), undoes=record.number)


def _is_at(path: str, wanted: str) -> bool:
    """Whether a file is the one that is named, or lies in the folder that is."""
    return path == wanted or path.startswith(os.path.join(wanted, ""))


def _reversed(written: HostFile) -> PlannedFile | None:
    """How a file goes back; None where it is gone already."""
    path = Path(written.path)
    now = read_file(path)
    if now is None:
        return None
    before = _content_of(written)
    if digest_of(now) == written.after:
        return PlannedFile(path, now, before, written.pieces)
    if not written.pieces:
        raise RefusedError(
            f"{path} was changed since memtui wrote it.", fix="Nothing was changed; remove it by hand."
        )
    after = now
    tree_then = {} if before is None else read_text(path, before)[1]
    for piece in reversed(written.pieces):
        there = piece.found_in(read_text(path, after)[1])
        if there is None:
            continue
        if not _is_ours(there, piece.value):
            raise RefusedError(
                f"{path} was changed since, and the entry of memtui in it, too.",
                fix="Nothing was changed; correct it by hand.",
            )
        then = piece.found_in(tree_then)
        if isinstance(then, dict) and isinstance(piece.value, dict):
            ours = (*piece.ours, *piece.value)
            kept = {name: value for name, value in then.items() if name in ours}
            after = edited(path, after, ConfigPiece(piece.place, kept, piece.key, ours))
        else:
            after = edited(path, after, piece, take=True)
    return PlannedFile(path, now, after, written.pieces)


def _is_ours(there: Any, written: Any) -> bool:
    """Whether what stands in a file is still what was written, perhaps with members beside it."""
    if isinstance(there, dict) and isinstance(written, dict):
        return all(there.get(name) == value for name, value in written.items())
    return bool(there == written)


def _content_of(written: HostFile) -> bytes | None:
    """What a file held before it was written. RefusedError where the backup is gone or another."""
    if not written.before:
        return None
    content = read_file(Path(written.backup))
    if content is None or digest_of(content) != written.before:
        raise RefusedError(
            f"The backup {written.backup} is not there any more.",
            fix="Nothing was changed; correct it by hand.",
        )
    return content


def _append(state: Path, told: Mapping[str, Any]) -> None:
    make_private_folder(state)
    with (state / _RECORDS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(told) + "\n")
        file.flush()
        os.fsync(file.fileno())
