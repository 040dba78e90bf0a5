"""Reading a file with the plugin's own settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memtui.engine.errors import UsageError

_SHAPE = 'Give {"retrieval": {...}, "decay": {...}}.'


def read_config(path: str | None) -> dict[str, Any] | None:
    """The blocks in a JSON or JSON5 file, None without one; UsageError when it cannot be read or is no object."""
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
        raise UsageError(f"{path} is not JSON.", fix=_SHAPE, details=str(failure)) from None
    if not isinstance(value, dict):
        raise UsageError(f"{path} is not an object.", fix=_SHAPE)
    return value
