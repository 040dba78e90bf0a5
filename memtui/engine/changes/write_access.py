"""Whether a store may be written to, and how other writers are kept out meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memtui.engine.changes.named_lock import NamedLock
from memtui.engine.changes.owner_lock import FileLock
from memtui.engine.changes.process_lock import ProcessLock
from memtui.engine.core.errors import RefusedError
from memtui.engine.core.temporary import temporary_folder

if TYPE_CHECKING:
    from memtui.engine.changes.object_lock import ObjectLock
    from memtui.engine.dialects.base import Dialect
    from memtui.engine.discovery.types import FoundStore
    from memtui.engine.store.object_store import ObjectFolder


REDIS_VARIABLE = "MEMORY_LANCEDB_REDIS_URL"

_UNGUARDED = "On object storage the agent takes no lock: one that runs would write over the change."

_SERVED = (
    "A database service (db://) has no place for a lock of memtui's: it could write over another writer."
)

NAMED_REDIS_VARIABLE = "REDIS_URL"
"""With it CrewAI locks in Redis, where that package is installed beside it."""

_RUNNING = "A CrewAI process that is running may go on reading what it opened until it writes or starts anew."

_UNSEEN = "No configuration here names this store: if an agent uses it, restart that agent."


@dataclass(frozen=True, slots=True)
class WriteAccess:
    """What may be done to a store.

    "confirm": only once a person says that the agent is stopped, or will be restarted. `lock` is the kind of
    lock that is taken; "none" where the store's own program has none.
    """

    verdict: Literal["ok", "confirm", "read-only"]
    lock: Literal["file", "named", "object", "none"]
    reason: str
    """One sentence: why so."""
    warning: str = ""
    """To be said with every change."""
    lock_file: Path | None = None
    """Of a lock by name: the file."""

    def require(self, *, confirmed: bool) -> None:
        """Raise RefusedError unless a change may be made."""
        if self.verdict == "read-only":
            raise RefusedError(self.reason, fix="The store stays open for reading; nothing was changed.")
        if self.verdict == "confirm" and not confirmed:
            raise RefusedError(
                self.reason, fix="When the agent is stopped, repeat with --yes; nothing was changed."
            )


def unwritten(dialect: Dialect) -> str:
    """Why no table of this dialect is ever changed, one sentence; empty where memtui writes them."""
    if dialect.can.writable:
        return ""
    why = dialect.can.read_only_because
    return why or f"memtui reads tables of {dialect.title}, but does not write them."


def require_written(dialect: Dialect) -> None:
    """Raise RefusedError for a table that memtui never writes: what is planned on it could not be applied."""
    if why := unwritten(dialect):
        raise RefusedError(
            why, fix="Change a copy that memtui writes: memtui migrate run STORE NEW makes it."
        )


def access_to(
    dialect: Dialect,
    folder: Path | None,
    found: FoundStore | None,
    environ: Mapping[str, str],
    *,
    served: bool = False,
) -> WriteAccess:
    """The rules for a store of this dialect in `folder` (None: remote), as discovery knows it or not.

    `served`: a database service answers for it, which has no place for a lock beside the table.
    """
    if not dialect.can.writable:
        return WriteAccess("read-only", "none", unwritten(dialect))
    if dialect.can.edits_files:
        return WriteAccess("ok", "none", "memtui changes the Markdown; the index is the host's.")
    if served:
        return WriteAccess("read-only", "none", _SERVED)
    if folder is None:
        if dialect.can.own_store:
            return WriteAccess(
                "ok", "object", "memtui made this store; its lock is an object beside the table."
            )
        return WriteAccess("confirm", "object", _UNGUARDED, warning=_UNGUARDED)
    if dialect.can.owner_lock == "named":
        return _by_name(dialect, folder, found, environ)
    locks = dialect.can.owner_lock == "folder"
    kind: Literal["file", "none"] = "file" if locks else "none"
    if dialect.can.own_store:
        return WriteAccess("ok", kind, "memtui made this store.")
    if found is None:
        if locks and environ.get(REDIS_VARIABLE, "").strip():
            return WriteAccess(
                "read-only", kind, f"{REDIS_VARIABLE} is set: the agent may lock with Redis, memtui cannot."
            )
        return WriteAccess("ok", kind, _UNSEEN, warning=_UNSEEN)
    if found.gate.verdict == "read-only" or found.lock.kind in ("redis", "unknown"):
        return WriteAccess("read-only", kind, found.gate.reason)
    if found.gate.verdict == "stop-agent":
        return WriteAccess("confirm", kind, found.gate.reason, warning=found.gate.reason)
    return WriteAccess("ok", kind, found.gate.reason)


def _by_name(
    dialect: Dialect, folder: Path, found: FoundStore | None, environ: Mapping[str, str]
) -> WriteAccess:
    """The rules where the program's lock is a file elsewhere, or in Redis where a variable says so."""
    if found is not None and found.gate.verdict == "read-only":
        return WriteAccess("read-only", "named", found.gate.reason)
    if environ.get(NAMED_REDIS_VARIABLE, "").strip():
        why = (
            f"{NAMED_REDIS_VARIABLE} is set: {dialect.title} may lock with Redis, which memtui cannot reach."
        )
        return WriteAccess("read-only", "named", why)
    file = dialect.lock_file(folder, temporary_folder(environ))
    why = f"{dialect.title}'s own lock is taken: {file}."
    return WriteAccess("ok", "named", why, warning=_RUNNING, lock_file=file)


class LockHold:
    """What is held while one change is made. `check` raises when it was taken away."""

    def __init__(self, lock: FileLock | NamedLock | ObjectLock | None) -> None:
        self._lock = lock

    def check(self) -> None:
        """Raise LockLostError when another program took the store's lock."""
        if self._lock is not None:
            self._lock.check()


class WriteGate:
    """Takes what must be taken before a change: the lock between memtuis, then the store's own."""

    def __init__(
        self,
        access: WriteAccess,
        folder: Path | None,
        journal: Path,
        *,
        make_lock: Callable[..., FileLock] = FileLock,
        make_named_lock: Callable[[Path], NamedLock] = NamedLock,
        objects: Callable[[], ObjectFolder | None] = lambda: None,
    ) -> None:
        self._access = access
        self._busy = journal.with_suffix(".busy")
        self._note = journal.with_suffix(".lock")
        self._lock: FileLock | NamedLock | ObjectLock | None = None
        self._objects = objects
        if access.lock == "file" and folder is not None:
            self._lock = make_lock(folder, note=self._note)
        if access.lock_file is not None:
            self._lock = make_named_lock(access.lock_file)
        self._folder, self._make_lock = folder, make_lock

    def break_abandoned(self) -> None:
        """A person has looked: a lock that a dead program left may be removed from now on."""
        if isinstance(self._lock, FileLock) and self._folder is not None:
            self._lock = self._make_lock(self._folder, note=self._note, remove_abandoned=True)

    @contextmanager
    def hold(self) -> Iterator[LockHold]:
        """Both locks, for the time of one change."""
        if self._lock is None and self._access.lock == "object":
            from memtui.engine.changes.object_lock import ObjectLock

            place = self._objects()
            if place is None:
                raise RefusedError(
                    "This kind of remote store has no place for a lock of memtui's.",
                    fix="The store stays open for reading; nothing was changed.",
                )
            self._lock = ObjectLock(place)
        with ProcessLock(self._busy), self._lock or nullcontext() as lock:
            yield LockHold(lock)

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Whether no other memtui is writing right now; kept so inside the block. Nothing of the store is touched."""
        busy = ProcessLock(self._busy)
        mine = busy.take()
        try:
            yield mine
        finally:
            busy.release()
