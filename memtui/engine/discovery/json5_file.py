"""Reading JSON5 files: strict JSON the fast way, errors with line and column, sizes bounded."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from memtui.engine.core.errors import UsageError

MAX_BYTES = 2 * 1024 * 1024
"""OpenClaw's own limit for a configuration file that is included."""

_WHERE = re.compile(r":(\d+) (.*) at column (\d+)$", re.DOTALL)


class UnreadableFileError(Exception):
    """A file that cannot be read or parsed: `reason` in words, `line` and `column` from 1 where known."""

    def __init__(self, path: Path, reason: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason
        self.line = line
        self.column = column


def read_text(path: Path) -> str:
    """The text of a regular UTF-8 file of at most `MAX_BYTES`, without a byte order mark."""
    try:
        if not path.is_file():
            raise UnreadableFileError(path, "is not a file" if path.exists() else "does not exist")
        if os.path.getsize(path) > MAX_BYTES:
            raise UnreadableFileError(path, f"is larger than {MAX_BYTES // 1024**2} MiB")
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = (
            error.strerror.lower() if isinstance(error, OSError) and error.strerror else "is not a valid path"
        )
        raise UnreadableFileError(path, f"cannot be read: {reason}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
        raise UnreadableFileError(path, "is not UTF-8 text", line, column) from error


def read_json5(path: Path) -> Any:
    """Parse a JSON5 file. Raises `UnreadableFileError`; its reason never quotes more than one character."""
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass  # not strict JSON: the slower reader knows the rest of JSON5 and says where it stops
    import json5

    try:
        return json5.loads(text)
    except RecursionError:
        raise UnreadableFileError(path, "is nested too deeply") from None
    except ValueError as error:
        match = _WHERE.search(str(error))
        if match is None:
            raise UnreadableFileError(
                path, "is empty" if not text.strip() else "is not valid JSON5"
            ) from None
        line, what, column = int(match[1]), match[2], int(match[3])
        shown = what[0].lower() + what[1:] if what.isprintable() else "unexpected control character"
        raise UnreadableFileError(path, f"is not valid JSON5: {shown}", line, column) from None


# Reading a file with the plugin's own settings.

_SHAPE = 'Give {"retrieval": {...}, "decay": {...}}.'


def read_config(path: str | None, shape: str = _SHAPE) -> dict[str, Any] | None:
    """The blocks in a JSON or JSON5 file, None without one; UsageError when it cannot be read or is no object.

    `shape` says in that error what it should look like.
    """
    if path is None:
        return None
    import json5

    try:
        value = json5.loads(Path(path).expanduser().read_text(encoding="utf-8-sig"))
    except OSError as failure:
        raise UsageError(
            f"The settings in {path} cannot be read: {failure.strerror}.", fix="Name an existing file."
        ) from None
    except (ValueError, RecursionError) as failure:
        raise UsageError(f"{path} is not JSON.", fix=shape, details=str(failure)) from None
    if not isinstance(value, dict):
        raise UsageError(f"{path} is not an object.", fix=shape)
    return value
