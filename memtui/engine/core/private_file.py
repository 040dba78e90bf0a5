"""Files and folders of memtui's own, read by their owner alone; small ones are written whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_LEFT_S = 60.0
"""So old, what a killed program has left beside a file is nobody's any more."""


def make_private_folder(folder: Path) -> None:
    """Make a folder of memtui's own and those above it that are missing, each for its owner alone (0700).

    One that is there and open to others is closed to them, but where it is shared on purpose: another's, one with a
    group of its own (setgid) or for everybody (sticky), the home. Raises OSError.
    """
    if not _make_missing(folder):
        with suppress(OSError):
            there = os.stat(folder)
            shared = (
                there.st_mode & (stat.S_ISGID | stat.S_ISVTX) or folder.resolve() == Path.home().resolve()
            )
            if there.st_mode & 0o077 and not shared and there.st_uid == os.getuid():
                os.chmod(folder, 0o700)


def _make_missing(folder: Path) -> bool:
    """Make a folder and those above it that are missing (0700); False where nothing was missing."""
    missing: list[Path] = []
    while not folder.is_dir():
        missing.append(folder)
        if folder.parent == folder:
            break
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
    return bool(missing)


def open_private(path: Path, flags: int) -> int:
    """A descriptor of a file for its owner alone (0600); one that lay open to others is closed to them.

    A symbolic link is not followed, for what it points to is another's: OSError, as for what cannot be opened.
    """
    handle = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with suppress(OSError):
        os.chmod(handle if os.chmod in os.supports_fd else path, 0o600)
    return handle


def make_private_file(path: Path) -> None:
    """Make an empty file where there is none, or close the one that is there to others. OSError for a link."""
    os.close(open_private(path, os.O_RDWR | os.O_CREAT))


def write_private(path: Path, text: str) -> None:
    """Put `text`, as UTF-8, into the place of `path`, with its folder (0700) where there is none; the file is 0600.

    What stood there stays when this fails, and no half is left beside. Raises OSError, which names `path`.
    """
    try:
        _make_missing(path.parent)
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
