"""A small file of memtui's own, read by its owner alone and written whole or not at all."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_LEFT_S = 60.0
"""So old, what a killed program has left beside a file is nobody's any more."""


def write_private(path: Path, text: str) -> None:
    """Put `text`, as UTF-8, into the place of `path`, with its folder (0700) where there is none; the file is 0600.

    What stood there stays when this fails, and no half is left beside. Raises OSError, which names `path`.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _sweep(path)
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.", suffix=".new")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8", "surrogatepass"))
            os.replace(beside, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(beside)
            raise
    except OSError as error:
        error.filename = str(path)
        raise


def _sweep(path: Path) -> None:
    """Remove what a kill in the middle of a write has left beside `path`."""
    before = time.time() - _LEFT_S
    with os.scandir(path.parent) as entries:
        for entry in entries:
            if entry.name.startswith(f".{path.name[:100]}.") and entry.name.endswith(".new"):
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < before:
                        os.unlink(entry.path)
