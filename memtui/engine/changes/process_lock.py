"""One memtui at a time: an operating-system lock beside the journal, let go by the system when we die.

It keeps two copies of memtui from writing to one store at once, also where the store has no lock of its
own, and it tells a change that is being made from one whose program was killed in the middle.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from memtui.engine.core.errors import RefusedError
from memtui.engine.core.private_file import make_private_folder, open_private

PATIENCE_S = 30.0

_LOOK_S = 0.02


class ProcessLock:
    """Held inside a `with` block; waits up to `patience_s` for another memtui. Raises RefusedError after that."""

    def __init__(
        self,
        path: Path,
        *,
        patience_s: float = PATIENCE_S,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._path, self._patience_s = path, patience_s
        self._clock, self._sleep = clock, sleep
        self._handle = -1

    def __enter__(self) -> Self:
        begun = self._clock()
        while not self.take():
            if self._clock() - begun >= self._patience_s:
                raise self.taken()
            self._sleep(_LOOK_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def taken(self) -> RefusedError:
        """What is told when another program kept it for as long as is waited."""
        return RefusedError(
            "Another memtui is writing to this store.", fix="Try again when it is done; nothing was changed."
        )

    def take(self) -> bool:
        """Take it if it is free; whether it is ours now."""
        try:
            make_private_folder(self._path.parent)
            handle = open_private(self._path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise RefusedError(
                f"The journal's folder {self._path.parent} cannot be written: {error.strerror or error}.",
                fix="Nothing was changed: no change is made without a journal. Name another with XDG_STATE_HOME.",
                details=str(error),
            ) from error
        if take_lock(handle):
            self._handle = handle
            return True
        os.close(handle)
        return False

    def release(self) -> None:
        """Let go."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def take_lock(handle: int) -> bool:
    """Lock an open file for this process alone, if nobody else has; whether it is ours."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
