"""The write lock of a store on object storage: one small object that is only ever changed by conditional puts.

The object says who writes, or that nobody does. It is taken by a put that the service does only where nobody was
faster, kept alive by others every few seconds, and given back by a last one, so no step depends on clocks of two
machines: a holder counts as gone when its object has stood still for a while *as seen from here*.
"""

from __future__ import annotations

import json
import os
import random
import socket
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from memtui.engine.changes.owner_lock import PATIENCE_S, LockLostError
from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.store.object_store import FasterError

if TYPE_CHECKING:
    from memtui.engine.store.object_store import ObjectFolder

OBJECT = "memtui.lock.json"
"""Beside the table; never removed, so that every change of it can be a conditional one."""

HEARTBEAT_S = 5.0

ABANDONED_S = 30.0
"""Standing still for so long, a holder is taken for dead: six missed heartbeats."""


class ObjectLock:
    """The lock of the store whose objects are `objects`, held inside a `with` block; a thread keeps it alive.

    Waits up to `patience_s` for a holder that is alive; one that stands still for `abandoned_s` is taken over: only
    memtui holds this lock, and a commit of its own is guarded by the table itself. Raises RefusedError.
    """

    def __init__(
        self,
        objects: ObjectFolder,
        *,
        patience_s: float = PATIENCE_S,
        abandoned_s: float = ABANDONED_S,
        heartbeat_s: float = HEARTBEAT_S,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._objects = objects
        self._patience_s, self._abandoned_s, self._heartbeat_s = patience_s, abandoned_s, heartbeat_s
        self._clock, self._sleep, self._jitter = clock, sleep, jitter
        self._tag: str | None = None
        self._beats = 0
        self._lost = False
        self._guard = threading.Lock()
        self._stop = threading.Event()
        self._beat: threading.Thread | None = None

    def __enter__(self) -> ObjectLock:
        self._acquire()
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
            if not self._lost:
                try:
                    self._put(held=False)
                except MemtuiError:  # it stands still from now on, and the next writer takes it over
                    self._lost = True

    def check(self) -> None:
        """Raise LockLostError when the lock is no longer ours."""
        with self._guard:
            if not self._lost:
                self._renew()
            if self._lost:
                raise LockLostError(
                    f"The write lock of {self._objects.uri} was taken over by another memtui.",
                    fix="Look at the journal: it says whether the change is there.",
                )

    def _acquire(self) -> None:
        begun = self._clock()
        seen: str | None = None
        seen_at = begun
        while True:
            found = self._objects.get(OBJECT)
            if found is None:
                holder, tag = None, None
            else:
                holder, tag = _holder(found[0]), found[1]
            now = self._clock()
            if tag != seen:
                seen, seen_at = tag, now
            if holder is None or now - seen_at >= self._abandoned_s:
                self._tag = tag
                try:
                    self._put(held=True)
                    return
                except FasterError:
                    pass
            elif now - begun >= max(self._patience_s, self._abandoned_s):
                raise RefusedError(
                    f"{holder} has been writing to {self._objects.uri} for {now - begun:.0f} s.",
                    fix="Try again when it is done; nothing was changed.",
                )
            self._sleep(0.1 + 0.4 * self._jitter())

    def _keep_alive(self) -> None:
        while not self._stop.wait(self._heartbeat_s):
            with self._guard:
                if self._lost:
                    return
                self._renew()

    def _renew(self) -> None:
        try:
            self._put(held=True)
        except FasterError:
            self._lost = True
        except MemtuiError:  # the network failed: the next beat tries again, and the holder's time runs on
            pass

    def _put(self, *, held: bool) -> None:
        self._beats += 1
        data = {"held": held, "by": f"{socket.gethostname()}, process {os.getpid()}", "beat": self._beats}
        # The tag of equal bytes is the same, so the beat makes each put another one; the nonce, each holder.
        data["nonce"] = f"{id(self):x}-{time.time_ns():x}"
        self._tag = self._objects.put(OBJECT, json.dumps(data).encode(), tag=self._tag)


def _holder(data: bytes) -> str | None:
    """The holder that the lock's object names; None for a free lock, and for an object that names none."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not found.get("held"):
        return None
    return str(found.get("by") or "another memtui")
