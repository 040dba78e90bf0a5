"""One memtui at a time: an operating-system lock beside the journal, let go by the system when we die.

It keeps two copies of memtui from writing to one store at once, also where the store has no lock of its own,
and it tells a change that is being made from one whose program was killed in the middle.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from memtui.engine.errors import RefusedError

PATIENCE_S = 30.0
_LOOK_S = 0.02


class Busy:
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

    def __enter__(self) -> Busy:
        begun = self._clock()
        while not self.take():
            if self._clock() - begun >= self._patience_s:
                raise RefusedError(
                    "Another memtui is writing to this store.",
                    fix="Try again when it is done; nothing was changed.",
                )
            self._sleep(_LOOK_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def take(self) -> bool:
        """Take it if it is free; whether it is ours now."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        if _locked(handle):
            self._handle = handle
            return True
        os.close(handle)
        return False

    def release(self) -> None:
        """Let go."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _locked(handle: int) -> bool:
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
