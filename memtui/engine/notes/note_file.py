"""A file of notes changed beside whoever else writes it: whole or not at all, and nothing of theirs is lost."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memtui.engine.core.errors import MemtuiError
from memtui.engine.notes.line_merge import merge_lines

ATTEMPTS = 200
"""How often a change is laid anew upon a file that goes on being written."""

LATE_S = 0.02
"""Seconds after which the file that was replaced is looked at once more, for a writer that had it open."""


@dataclass(frozen=True, slots=True)
class WrittenNote:
    """What was in the file just before our change, and what stands there by it."""

    before: str
    after: str


class SameLineError(MemtuiError):
    """Another program changed the very line; `line` counts from 1."""

    def __init__(self, path: Path, line: int) -> None:
        super().__init__(
            f"Line {line} of {path} was changed since by another program.",
            fix="Look at the file, and plan the change again; nothing was changed.",
        )
        self.line = line


def merge_into_file(path: Path, base: str, ours: str) -> WrittenNote:
    """Make of the file at `path` what turns `base` into `ours`, keeping what others changed on other lines since.

    The new text is renamed into place. Lines that a writer with the old file open added at that moment are brought
    over. Raises SameLineError, or MemtuiError where the file cannot be written.
    """
    for attempt in range(ATTEMPTS):
        theirs = _read(path)
        merged = merge_lines(base, ours, theirs)
        if merged.text is None:
            raise SameLineError(path, merged.line)
        if merged.text == theirs:
            return WrittenNote(theirs, theirs)
        # The first try is safe on the disk before it is renamed. Beside a busy writer that takes longer than it pauses:
        # the next ones are renamed at once, and are safe right after.
        if _swapped(path, theirs, merged.text, durable_first=attempt == 0):
            return WrittenNote(theirs, merged.text)
    raise MemtuiError(
        f"{path} is written by another program all the time.",
        fix="Try again in a moment; nothing was changed.",
    )


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise MemtuiError(
            f"{path} cannot be read: {(error.strerror or str(error)).lower()}.", fix="Nothing was changed."
        ) from error
    except UnicodeDecodeError as error:
        raise MemtuiError(f"{path} is not UTF-8.", fix="Nothing was changed.") from error


def _swapped(path: Path, expected: str, text: str, *, durable_first: bool) -> bool:
    """Put the text into place if the file still holds what is expected; whether it did."""
    name = ""
    try:
        with path.open("rb") as old:
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            with os.fdopen(handle, "wb") as new:
                os.fchmod(new.fileno(), os.fstat(old.fileno()).st_mode & 0o7777)
                new.write(text.encode("utf-8"))
                new.flush()
                if durable_first:
                    os.fsync(new.fileno())
                same_file = os.path.samestat(os.fstat(old.fileno()), path.stat())
                if old.read() != expected.encode("utf-8") or not same_file:
                    return False
                os.replace(name, path)
                name = ""
                _bring_over(path, expected, old.fileno())
                os.fsync(new.fileno())
    except OSError as error:
        raise MemtuiError(
            f"{path} cannot be written: {(error.strerror or str(error)).lower()}.",
            fix="Make its folder writable; nothing was changed.",
        ) from error
    finally:
        if name:
            Path(name).unlink(missing_ok=True)
    return True


def _decoded(data: bytes) -> str:
    """The whole characters of a file that is being written: the last one may be cut."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data[: error.start].decode("utf-8")


def _bring_over(path: Path, expected: str, old: int, sleep: Callable[[float], None] = time.sleep) -> None:
    """What a writer put into the replaced file, which it had open, goes into the new one."""
    known = expected
    for wait in (0.0, LATE_S):
        sleep(wait)
        size = os.fstat(old).st_size
        late = _decoded(os.pread(old, size, 0))
        if late != known:
            merge_into_file(path, known, late)
            known = late
