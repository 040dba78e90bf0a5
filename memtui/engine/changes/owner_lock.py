"""memory-lancedb-pro's write lock: a directory that exists while somebody writes.

Its programs (proper-lockfile) hold it by making the directory and touching it every few seconds; one that
has not been touched for ten seconds is taken for abandoned and removed. We hold it in the same way, for one
edit at a time, and never remove one that is not ours unless a person said so.
"""

from __future__ import annotations

import contextlib
import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.core.text import time_span

TARGET = ".memory-write.lock"
"""The empty file that the lock is named for; made once, never removed."""

HELD = f"{TARGET}.lock"
"""The directory: the lock is held while it exists."""

STALE_S = 10.0
"""Without a touch for so long, the agent's program takes a lock for abandoned."""

ABANDONED_S = 30.0
"""So long we look at a still lock before we call it abandoned: a busy agent may miss a few touches."""

HEARTBEAT_S = 2.0

PATIENCE_S = 60.0

GAP_S = 0.05
"""Left free between two holds, else the waiting agent, which looks seldom, would starve."""


class LockLostError(MemtuiError):
    """Somebody else took the lock while we held it: what was being written may or may not be there."""


@dataclass(frozen=True, slots=True)
class LockState:
    """Whether the lock of a store is held, and for how long its holder has been silent (seconds)."""

    held: bool
    silent_s: float = 0.0

    @property
    def stale(self) -> bool:
        """Whether the agent's own program would remove it."""
        return self.held and self.silent_s >= STALE_S

    @property
    def phrase(self) -> str:
        """For a status line: "free", "held", "held, silent for 14 s"."""
        if not self.held:
            return "free"
        return f"held, silent for {time_span(self.silent_s)}" if self.stale else "held"


def lock_state(folder: Path, now_s: float) -> LockState:
    """Look at the lock of the store in `folder`; touches nothing. `now_s` is the time of the file system."""
    try:
        touched = (folder / HELD).stat().st_mtime
    except OSError:
        return LockState(False)
    return LockState(True, max(0.0, now_s - touched))


class FileLock:
    """The lock of the store in `folder`, held inside a `with` block; a thread keeps it alive meanwhile.

    Waits up to `patience_s` for a holder that is alive. A lock that stays silent for `ABANDONED_S` is left
    where it is and refused, unless `remove_abandoned` says that a person has looked. Raises RefusedError.

    `note` is a file in which the last touch is written down: so a lock that a killed memtui left is known for
    our own and taken over. Give one only while no other memtui can hold the lock (see `ProcessLock`).
    """

    def __init__(
        self,
        folder: Path,
        *,
        patience_s: float = PATIENCE_S,
        remove_abandoned: bool = False,
        note: Path | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._folder = folder
        self._held = folder / HELD
        self._patience_s = patience_s
        self._remove_abandoned = remove_abandoned
        self._note = note
        self._clock, self._sleep, self._jitter = clock, sleep, jitter
        self._stamp = 0
        self._lost = False
        self._stop = threading.Event()
        self._guard = threading.Lock()
        self._beat: threading.Thread | None = None
        self._released_s = float("-inf")

    def __enter__(self) -> FileLock:
        self._leave_a_gap()
        try:
            self._make_target()
            self._acquire()
        except PermissionError as error:
            raise RefusedError(
                f"{self._folder} may not be written by this user.",
                fix="Check the rights of the folder; nothing was changed.",
                details=str(error),
            ) from error
        except OSError as error:
            raise MemtuiError(
                f"The write lock of {self._folder} cannot be taken: {error.strerror or error}.",
                fix="Nothing was changed.",
                details=str(error),
            ) from error
        self._lost = False
        self._stop.clear()
        self._beat = threading.Thread(target=self._keep_alive, name="memtui-lock", daemon=True)
        self._beat.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._beat is not None:
            self._beat.join()
        with self._guard:
            if self._ours():
                self._held.rmdir()
        self._released_s = self._clock()

    def check(self) -> None:
        """Raise LockLostError when the lock is no longer ours."""
        with self._guard:
            if self._lost or not self._ours():
                self._lost = True
                raise LockLostError(
                    f"The write lock of {self._folder} was taken away by another program.",
                    fix="Look at the journal: it says whether the change is there.",
                )

    def _acquire(self) -> None:
        begun = self._clock()
        seen, seen_at = -1, begun
        while True:
            try:
                self._held.mkdir()
                self._remember()
                return
            except FileExistsError:
                pass
            stamp, now = self._stamp_there(), self._clock()
            if stamp is None:
                continue  # released between our two looks
            if stamp == self._noted():
                self._held.rmdir()
                continue
            if stamp != seen:
                seen, seen_at = stamp, now
            silent = min(now - seen_at, now - stamp / 1e9)
            if silent >= ABANDONED_S or (self._remove_abandoned and now - stamp / 1e9 >= ABANDONED_S):
                self._abandoned(stamp, now - stamp / 1e9)
            elif now - begun >= self._patience_s and now - stamp / 1e9 < STALE_S:
                raise RefusedError(
                    f"Another program has been writing to {self._folder} for {now - begun:.0f} s.",
                    fix="Try again when it is done; nothing was changed.",
                )
            else:
                self._sleep(0.05 + 0.2 * self._jitter())

    def _abandoned(self, stamp: int, silent_s: float) -> None:
        if not self._remove_abandoned:
            raise RefusedError(
                f"{self._held} was left by a program that has been silent for {time_span(silent_s)}.",
                fix="When no agent is running, break it in the Journal, or with: memtui doctor --fix D34 --yes."
                " Nothing was changed.",
            )
        if self._stamp_there() == stamp:
            self._held.rmdir()

    def _keep_alive(self) -> None:
        while not self._stop.wait(HEARTBEAT_S):
            with self._guard:
                if not self._ours():
                    self._lost = True
                    return
                now = self._clock()
                try:
                    os.utime(self._held, (now, now))
                    self._remember()
                except OSError:
                    self._lost = True
                    return

    def _remember(self) -> None:
        """Keep the time of the directory as the file system gives it back: it may be coarser than ours."""
        self._stamp = self._held.stat().st_mtime_ns
        if self._note is not None:
            self._note.write_text(str(self._stamp), encoding="ascii")

    def _noted(self) -> int | None:
        try:
            return int(self._note.read_text(encoding="ascii")) if self._note is not None else None
        except (OSError, ValueError):
            return None

    def _ours(self) -> bool:
        return not self._lost and self._stamp_there() == self._stamp

    def _stamp_there(self) -> int | None:
        try:
            return self._held.stat().st_mtime_ns
        except FileNotFoundError:
            return None

    def _make_target(self) -> None:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self._folder / TARGET, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))

    def _leave_a_gap(self) -> None:
        wait = self._released_s + GAP_S - self._clock()
        if wait > 0:
            self._sleep(min(wait, GAP_S))
