"""Files that a person named to be written: whole or not at all, and through what stands there."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memtui.engine.core.text import cut_bytes

_PART_NAME = 200
"""Bytes of a name that its unfinished file keeps: a name may be as long as a file system takes."""

_NOT_KEPT = ("/dev/", "/proc/")
"""Below these nothing is a file of its own, whatever it looks like."""


def real_place(path: Path) -> Path:
    """Where writing to `path` really goes: behind every link, which itself stays. OSError for a ring of links."""
    if str(path.absolute()).startswith(_NOT_KEPT):
        return path
    try:
        return path.resolve()
    except RuntimeError as error:
        raise OSError(str(error)) from error


def is_replaced(path: Path) -> bool:
    """Whether writing to the real place `path` takes a file of a person's away: not a pipe's or a device's."""
    return path.is_file() and not str(path.absolute()).startswith(_NOT_KEPT)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A file to fill, which then stands at the real place `path`, readable by its owner only unless one was there.

    It takes the place of a file in one step. What cannot be replaced without being lost (a pipe, a device, a file with
    several names) gets the finished bytes. Where the block raises, nothing has happened. Its folder has to be there:
    a folder mistyped is told, not made. Raises OSError.
    """
    stays = path.exists() and (not is_replaced(path) or path.stat().st_nlink > 1)
    handle, name = tempfile.mkstemp(
        prefix=f".{cut_bytes(path.name, _PART_NAME)}.", suffix=".part", dir=None if stays else path.parent
    )
    os.close(handle)
    part = Path(name)
    try:
        yield part
        if stays:
            with part.open("rb") as made, path.open("wb") as target:
                shutil.copyfileobj(made, target)
        else:
            os.chmod(part, path.stat().st_mode & 0o777 if path.exists() else 0o600)
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)
