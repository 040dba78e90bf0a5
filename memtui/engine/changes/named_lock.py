"""A lock of another program that is no part of the store: a file with a name made from it, locked by the system.

The file stays when it is let go; a program that dies lets go of it with its last breath.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from memtui.engine.changes.owner_lock import LockLostError
from memtui.engine.changes.process_lock import ProcessLock, take_lock
from memtui.engine.core.errors import RefusedError

PATIENCE_S = 120.0
"""So long CrewAI itself waits."""


class NamedLock(ProcessLock):
    """The lock file at `path`, held inside a `with` block; waits up to `patience_s`. Raises RefusedError after that."""

    def __init__(
        self,
        path: Path,
        *,
        patience_s: float = PATIENCE_S,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(path, patience_s=patience_s, clock=clock, sleep=sleep)

    def check(self) -> None:
        """Raise LockLostError when the file was removed or replaced: another program then locks another one."""
        if not self._is_there():
            raise LockLostError(
                f"The lock {self._path} was removed while it was held.",
                fix="Look at the journal: it says whether the change is there.",
            )

    def taken(self) -> RefusedError:
        """What is told when another program kept it for as long as is waited."""
        return RefusedError(
            f"Another program has held the lock {self._path} for {self._patience_s:.0f} s.",
            fix="Try again when CrewAI is done; nothing was changed.",
        )

    def take(self) -> bool:
        """Take it if it is free; a file that was removed between opening and locking is not the lock."""
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
        except OSError as error:
            raise RefusedError(
                f"The lock {self._path}, which CrewAI takes, cannot be opened: {error.strerror or error}.",
                fix="Check who owns that file; nothing was changed.",
                details=str(error),
            ) from error
        if take_lock(handle):
            self._handle = handle
            if self._is_there():
                return True
        self._handle = -1
        os.close(handle)
        return False

    def _is_there(self) -> bool:
        try:
            named = os.stat(self._path)
        except OSError:
            return False
        return os.path.samestat(named, os.fstat(self._handle))
