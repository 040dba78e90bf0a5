"""memory-lancedb-pro's write lock: a directory that exists while somebody writes.

Its programs (proper-lockfile) hold it by making the directory and touching it every few seconds; one that
has not been touched for ten seconds is taken for abandoned and removed. We hold it in the same way, for one
edit at a time, and never remove one that is not ours unless a person said so.
"""

from __future__ import annotations

import contextlib
import os
import random
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.core.private_file import write_private
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

AHEAD_S = 60.0
"""Clocks of two machines may differ by so much; a lock dated further ahead was made by a clock that was wrong."""

GAP_S = 0.05
"""Left free between two holds, else the waiting agent, which looks seldom, would starve."""


_FINE_NS, _COARSE_NS = 1_000, 2_000_000_000
"""What our times are rounded down to: what file systems of today keep, and what the coarsest one does."""

_DATED_ANEW_NS = 1_000_000_000
"""The directory that waits to become the lock is dated anew when it is older: an old lock counts as abandoned."""


class LockLostError(MemtuiError):
    """Somebody else took the lock while we held it: what was being written may or may not be there."""


@dataclass(frozen=True, slots=True)
class LockState:
    """Whether the lock of a store is held, and for how long its holder has been silent (seconds).

    `ahead_s`: how far in the future it is dated. The agents' own program never takes such a lock for abandoned.
    """

    held: bool
    silent_s: float = 0.0
    ahead_s: float = 0.0

    @property
    def misdated(self) -> bool:
        """Whether no clock that is right can have dated it."""
        return self.held and self.ahead_s > AHEAD_S

    @property
    def stale(self) -> bool:
        """Whether it was left behind: the agent's own program would remove it, or never could."""
        return self.misdated or (self.held and self.silent_s >= STALE_S)

    @property
    def phrase(self) -> str:
        """For a status line: "free", "held", "held, silent for 14 s", "held, dated 3 h in the future"."""
        if not self.held:
            return "free"
        if self.misdated:
            return f"held, dated {time_span(self.ahead_s)} in the future"
        return f"held, silent for {time_span(self.silent_s)}" if self.stale else "held"


def lock_state(folder: Path, now_s: float) -> LockState:
    """Look at the lock of the store in `folder`; touches nothing. `now_s` is the time of the file system."""
    try:
        touched = (folder / HELD).stat().st_mtime
    except OSError:
        return LockState(False)
    return LockState(True, max(0.0, now_s - touched), max(0.0, touched - now_s))


class FileLock:
    """The lock of the store in `folder`, held inside a `with` block; a thread keeps it alive meanwhile.

    Waits up to `patience_s` for a holder that is alive. A lock that stays silent for `ABANDONED_S` is left
    where it is and refused, unless `remove_abandoned` says that a person has looked. Raises RefusedError.

    `note` is a file in which each touch is written down before it is made: so a lock that a killed memtui left is
    known for our own and taken over, whenever the kill came. Give one only while no other memtui can hold the lock
    (see `ProcessLock`).
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
        self._grain_ns = _FINE_NS
        self._left_behind: frozenset[int] = frozenset()
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
                fix="Check the permissions of the folder; nothing was changed.",
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
        ready, name_stamp = self._make_ready()
        try:
            while True:
                if self._now_ns() - self._stamp > _DATED_ANEW_NS:
                    self._touch(ready, name_stamp)
                if self._take(ready):
                    return
                stamp, now = self._stamp_there(), self._clock()
                if stamp is None:
                    continue  # released between our two looks
                if stamp in self._left_behind:
                    self._held.rmdir()
                    continue
                if stamp != seen:
                    seen, seen_at = stamp, now
                watched, age = now - seen_at, now - stamp / 1e9
                if age < -AHEAD_S:  # its date says nothing: only that it stands still as seen from here
                    age = watched
                if min(watched, age) >= ABANDONED_S or (self._remove_abandoned and age >= ABANDONED_S):
                    self._abandoned(stamp, age)
                elif now - begun >= self._patience_s and age < STALE_S:
                    raise RefusedError(
                        f"Another program has been writing to {self._folder} for {now - begun:.0f} s.",
                        fix="Try again when it is done; nothing was changed.",
                    )
                else:
                    self._sleep(0.05 + 0.2 * self._jitter())
        finally:
            with contextlib.suppress(OSError):
                ready.rmdir()

    def _abandoned(self, stamp: int, silent_s: float) -> None:
        if not self._remove_abandoned:
            raise RefusedError(
                f"{self._held} was left by a program that has been silent for {time_span(silent_s)}.",
                fix="When no agent is running, break it in the Journal, or with: memtui doctor --fix D34 --yes."
                " Nothing was changed.",
            )
        if self._stamp_there() == stamp:
            self._held.rmdir()

    def _make_ready(self) -> tuple[Path, int]:
        """Make the directory that becomes the lock, dated and written down before it can be seen as one.

        Returns it with the stamp that is part of its name.

        Whatever moment a kill comes at, the lock that it leaves stands in the note.
        """
        self._left_behind = self._noted()
        for stamp in self._left_behind:
            with contextlib.suppress(OSError):
                self._beside(stamp).rmdir()
        wanted = self._now_ns()
        ready = self._beside(wanted)
        self._write_note(wanted)
        ready.mkdir()
        os.utime(ready, ns=(wanted, wanted))
        self._stamp = ready.stat().st_mtime_ns
        if self._stamp != wanted:  # the file system keeps coarser times than ours
            self._grain_ns = _COARSE_NS
            self._write_note(wanted, self._stamp)
        return ready, wanted

    def _take(self, ready: Path) -> bool:
        """Whether the lock is ours now: `ready` has become the directory that is the lock, or that is made."""
        moved = _rename_to_new(ready, self._held)
        if (
            moved is None
        ):  # no such step here: a kill before the touch leaves a lock that only a person may break
            try:
                self._held.mkdir()
            except FileExistsError:
                return False
        elif not moved:
            return False
        if self._stamp_there() != self._stamp:
            self._touch(self._held, self._stamp)
        return True

    def _keep_alive(self) -> None:
        while not self._stop.wait(HEARTBEAT_S):
            with self._guard:
                if not self._ours():
                    self._lost = True
                    return
                try:
                    self._touch(self._held, self._stamp)
                except OSError:
                    self._lost = True
                    return

    def _touch(self, directory: Path, known: int) -> None:
        """Date `directory` anew, and keep the time as the file system gives it back; `known` stays in the note."""
        now = self._now_ns()
        with contextlib.suppress(OSError):  # a full disk of the note's is no reason to lose the lock
            self._write_note(known, now)
        os.utime(directory, ns=(now, now))
        self._stamp = directory.stat().st_mtime_ns

    def _now_ns(self) -> int:
        now = int(self._clock() * 1e9)
        return now - now % self._grain_ns

    def _beside(self, stamp: int) -> Path:
        return self._folder / f"{TARGET}.{stamp}"

    def _write_note(self, *stamps: int) -> None:
        if self._note is not None:
            write_private(self._note, " ".join(map(str, stamps)))

    def _noted(self) -> frozenset[int]:
        """Return the dates that a lock of ours may have: the last one that was made, and one about to be made."""
        try:
            said = self._note.read_text(encoding="ascii") if self._note is not None else ""
            return frozenset(map(int, said.split()))
        except (OSError, ValueError):
            return frozenset()

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


_AT_FOLDER = -100 if sys.platform.startswith("linux") else -2
_ONLY_NEW = 1 if sys.platform.startswith("linux") else 4


def _rename_to_new(source: Path, target: Path) -> bool | None:
    """Give `source` the name `target` unless that exists, in one step; whether it has it.

    None where the system or the file system has no such step. Raises OSError where the name cannot be given.
    """
    if sys.platform == "win32":
        try:
            source.rename(target)
        except FileExistsError:
            return False
        return True
    import ctypes
    import errno

    rename = getattr(
        ctypes.CDLL(None, use_errno=True),
        "renameat2" if sys.platform.startswith("linux") else "renameatx_np",
        None,
    )
    if rename is None:
        return None
    if rename(_AT_FOLDER, os.fsencode(source), _AT_FOLDER, os.fsencode(target), _ONLY_NEW) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EEXIST, errno.ENOTEMPTY):
        return False
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP):
        return None
    raise OSError(number, os.strerror(number), str(target))
