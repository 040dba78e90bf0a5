"""Writing a configuration: backup, hash check, one rename a file; and the way back."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.engine.configuration.file import REMOVED, Configuration, open_config
from memtui.engine.configuration.plans import SettingChange
from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.core.private_file import make_private_folder
from memtui.engine.core.replace_file import back_up, digest_of, replace_file

_RECORDS = "configuration.jsonl"


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """One file that was written: hashes before and after, and where the text before is kept."""

    path: str
    before: str
    after: str
    backup: str

    def as_json(self) -> dict[str, str]:
        """For the record and the command line."""
        return {"path": self.path, "before": self.before, "after": self.after, "backup": self.backup}


@dataclass(frozen=True, slots=True)
class ConfigRecord:
    """One write of a configuration, as it is kept for the way back."""

    number: int
    time_ms: int
    plan: str
    main: str
    files: tuple[WrittenFile, ...]
    changes: tuple[Mapping[str, Any], ...]
    """Path, from and to of each setting, keys by name only."""
    undone: bool = False

    def as_json(self) -> dict[str, Any]:
        """For the record and the command line."""
        return {
            "number": self.number,
            "time_ms": self.time_ms,
            "plan": self.plan,
            "main": self.main,
            "files": [file.as_json() for file in self.files],
            "changes": [dict(change) for change in self.changes],
        }


def write_changes(
    config: Configuration, changes: Sequence[SettingChange], *, plan: str, state: Path, now_ms: int
) -> ConfigRecord:
    """Write the changes into the files that hold the settings, and nothing else.

    Raises RefusedError when a file is not what was read any more: nothing was changed then. A failure in the
    middle puts back what was written before it.
    """
    texts = config.with_settings([(change.path, change.after) for change in changes])
    if not texts:
        raise RefusedError("The configuration is so already.", fix="Nothing was changed.")
    written: list[WrittenFile] = []
    try:
        for path, text in texts.items():
            written.append(_write(path, config.texts[path], text, now_ms))
        again = open_config(config.loaded.environ, config.main.parent, path=config.main)
        for each in changes:
            found = again.value(each.path)
            if (found is not None) if each.after is REMOVED else (found != each.after):
                raise MemtuiError(f"{each.dotted} was not written as planned.", fix="Nothing was changed.")
    except BaseException:
        for done in reversed(written):
            replace_file(Path(done.path), Path(done.backup).read_bytes())
            Path(done.backup).unlink()
        raise
    shown = tuple(
        {"path": each["path"], "from": each["from"], "to": each["to"], "removed": each["removed"]}
        for each in (change.as_json() for change in changes)
    )
    record = ConfigRecord(len(records(state)) + 1, now_ms, plan, str(config.main), tuple(written), shown)
    _append(state, {"kind": "written", **record.as_json()})
    return record


def _write(path: Path, before: str, after: str, now_ms: int) -> WrittenFile:
    real = Path(os.path.realpath(path))
    old = before.encode("utf-8")
    if digest_of(real.read_bytes()) != digest_of(old):
        raise RefusedError(
            f"{path} was changed by somebody since it was read.",
            fix="Refresh and try again; nothing was changed.",
        )
    backup = back_up(real, old, now_ms)
    try:
        replace_file(real, after.encode("utf-8"), only_if=digest_of(old))
    except BaseException:
        backup.unlink()
        raise
    return WrittenFile(str(real), digest_of(old), digest_of(after.encode("utf-8")), str(backup))


def records(state: Path) -> list[ConfigRecord]:
    """Every write of a configuration through memtui, oldest first."""
    found: dict[int, ConfigRecord] = {}
    try:
        lines = (state / _RECORDS).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    for line in lines:
        try:
            each = json.loads(line)
        except (ValueError, RecursionError):
            continue  # cut by a full disk
        undone = each.get("kind") == "undone"
        if undone and each["number"] in found:
            before = found[each["number"]]
            found[each["number"]] = ConfigRecord(
                before.number, before.time_ms, before.plan, before.main, before.files, before.changes, True
            )
        elif not undone:
            files = tuple(WrittenFile(**file) for file in each["files"])
            found[each["number"]] = ConfigRecord(
                each["number"], each["time_ms"], each["plan"], each["main"], files, tuple(each["changes"])
            )
    return list(found.values())


def last_record(state: Path, main: Path | None = None) -> ConfigRecord:
    """The last write that is not undone, of the configuration `main` if given. Raises RefusedError without one."""
    wanted = None if main is None else str(main)
    for record in reversed(records(state)):
        if not record.undone and wanted in (None, record.main):
            return record
    raise RefusedError("memtui has written nothing into this configuration.", fix="There is nothing to undo.")


def undo_write(
    config: Configuration, record: ConfigRecord, *, state: Path, now_ms: int
) -> tuple[WrittenFile, ...]:
    """Take a write back: whole files while they are as we left them, else the settings that still are.

    Raises RefusedError where neither can be done.
    """
    left = [file for file in record.files if digest_of(Path(file.path).read_bytes()) != file.after]
    done: list[WrittenFile] = []
    if not left:
        for file in record.files:
            content = Path(file.backup).read_bytes()
            replace_file(Path(file.path), content, only_if=file.after)
            done.append(WrittenFile(file.path, file.after, digest_of(content), file.backup))
    else:
        done += _reverse(config, record, now_ms)
    _append(state, {"kind": "undone", "number": record.number, "time_ms": now_ms})
    return tuple(done)


def _reverse(config: Configuration, record: ConfigRecord, now_ms: int) -> list[WrittenFile]:
    """The settings of a write back to what they were, read from the backups, in a file that was changed since."""
    from memtui.engine.configuration.json5_text import parse

    backups = {
        file.path: parse(Path(file.backup).read_bytes().decode("utf-8").removeprefix("\ufeff"))
        for file in record.files
    }
    settings: list[tuple[tuple[str, ...], Any]] = []
    for change in record.changes:
        path = tuple(change["path"])
        spot = config.spot(path)
        if not spot.there:
            continue
        node = backups.get(os.path.realpath(spot.file))
        for key in spot.keys if node is not None else ():
            member = node.member(key) if node is not None and node.kind == "object" else None
            node = None if member is None else member.node
        settings.append((path, REMOVED if node is None else node.plain()))
    texts = config.with_settings(settings)
    if not texts:
        raise RefusedError(
            "The file was changed since, and none of our settings is left in it.", fix="Nothing was changed."
        )
    return [_write(path, config.texts[path], text, now_ms) for path, text in texts.items()]


def _append(state: Path, record: Mapping[str, Any]) -> None:
    make_private_folder(state)
    with (state / _RECORDS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
        file.flush()
        os.fsync(file.fileno())
