"""A file that belongs to another program: replaced in one step, with what it held kept beside it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from pathlib import Path

from memtui.engine.core.errors import RefusedError


def digest_of(content: bytes) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def back_up(path: Path, content: bytes, now_ms: int) -> Path:
    """Keep `content` beside `path`, for its owner alone (0600), and return where.

    `now_ms` (milliseconds since 1970) is part of the name. RefusedError where nothing can be written there.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now_ms / 1000))
    number = 1
    while True:
        place = path.with_name(f"{path.name}.memtui-{stamp}" + (f"-{number}" if number > 1 else ""))
        try:
            handle = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            number += 1
            continue
        except OSError as error:
            raise RefusedError(
                f"No backup can be written beside {path}: {error.strerror}.", fix="Nothing was changed."
            ) from error
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return place


def replace_file(path: Path, content: bytes, only_if: str | None = None) -> None:
    """Write a file in one step, with the rights and the owner that it has.

    With `only_if`, the digest that its content must have until then: RefusedError where another program was faster.
    """
    status = path.stat()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(OSError, AttributeError):
            os.chown(name, status.st_uid, status.st_gid)
        os.chmod(name, status.st_mode & 0o7777)
        if only_if is not None and digest_of(path.read_bytes()) != only_if:
            raise RefusedError(
                f"{path} was changed at this moment.", fix="Refresh and try again; nothing was changed."
            )
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def create_file(path: Path, content: bytes) -> None:
    """Write a file that is not there yet, whole or not at all. RefusedError where one appeared meanwhile."""
    part = path.with_name(f".{path.name}.memtui-{os.getpid()}")
    handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)  # less what the umask takes
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(part, path)
        except FileExistsError as error:
            raise RefusedError(
                f"{path} was made by another program at this moment.", fix="Try again; nothing was changed."
            ) from error
    finally:
        part.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
