"""What is held of one open store for changing it: whether it may be written, what is staged, journal and locks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.changes.owner_lock import LockState, lock_state
from memtui.engine.changes.staging import StagedChanges
from memtui.engine.changes.write_access import WriteAccess, WriteGate, access_to
from memtui.engine.core.errors import RefusedError

if TYPE_CHECKING:
    from memtui.engine.changes.applier import Applier
    from memtui.engine.changes.journal import Journal
    from memtui.engine.discovery.types import FoundStore
    from memtui.engine.store.table import Store


class WriteState:
    """The write access, staged changes, journal and locks of one open store; see `Engine.write_state`.

    `state` is memtui's state folder, where the journal goes; without one nothing is written. The functions of
    `memtui.engine.changes` plan, apply and take back changes with it.
    """

    def __init__(
        self,
        store: Store,
        *,
        now: Callable[[], int],
        state: Path | None,
        writable: bool,
        found: FoundStore | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._store, self._now = store, now
        self._state, self._writable = state, writable
        self.staged = StagedChanges(store.dialect)
        self.client = ""
        """Who changes the store through this program, where it is not a person: named in the journal."""
        self.behind = False
        """Whether the store was written since it was read: the next plan goes to the newest version first."""
        self._applier: Applier | None = None
        self._journal: Journal | None = None
        self._lock = threading.RLock()
        self.configure(found, environ or {})

    def configure(self, found: FoundStore | None, environ: Mapping[str, str]) -> None:
        """Go by this configuration of the store's agent from now on; what is staged stays."""
        store = self._store
        self.access: WriteAccess = access_to(
            store.dialect, store.folder, found, environ, served=store.uri.startswith("db://")
        )
        with self._lock:
            self._applier = None

    @property
    def writable(self) -> bool:
        """Whether changes can be applied: opened for writing, and the store allows it (perhaps when confirmed)."""
        return self._writable and self._state is not None and self.access.verdict != "read-only"

    @property
    def never_because(self) -> str:
        """Why this store can never be written, also when a person wants it, one sentence; empty when it can."""
        if self.access.verdict == "read-only":
            return self.access.reason
        return "" if self._state is not None else "There is no folder for the journal: set MEMTUI_STATE_DIR."

    def unlock(self) -> None:
        """Let changes be applied from now on, as if the store had been opened for writing; nothing is written.

        Raises RefusedError where that can never be.
        """
        if why := self.never_because:
            raise RefusedError(why, fix="The store stays open for reading; nothing was changed.")
        self._writable = True

    def lock_state(self) -> LockState:
        """The state of the store's own lock right now; LockState(False) where it has none."""
        folder = self._store.folder
        return LockState(False) if folder is None else lock_state(folder, time.time())

    def break_abandoned_lock(self) -> None:
        """A person has made sure that no agent runs: the next change may remove a lock left by a dead program."""
        self.applier.gatekeeper.break_abandoned()

    @property
    def journal(self) -> Journal:
        """The journal of the store; RefusedError without a folder to keep it in."""
        from memtui.engine.changes.journal import Journal, journal_of

        with self._lock:
            if self._journal is None:
                if self._state is None:
                    raise RefusedError(
                        "There is no folder for the journal.",
                        fix="Set MEMTUI_STATE_DIR; nothing was changed.",
                    )
                path = journal_of(self._state, self._store.uri, self._store.table_name)
                objects = self._store.objects() if self._store.shares_journal else None
                if objects is None:
                    self._journal = Journal(path)
                else:
                    from memtui.engine.changes.shared_journal import shared_journal

                    self._journal = shared_journal(objects, path)
            return self._journal

    def make_gate(self) -> WriteGate:
        """Return a gate that takes the locks of this store: the one between memtuis, then the store's own."""
        return WriteGate(self.access, self._store.folder, self.journal.path, objects=self._store.objects)

    @property
    def applier(self) -> Applier:
        """What writing needs, for the engine's other parts; RefusedError where nothing may be written."""
        from memtui.engine.changes.applier import Applier

        self.require_writable()
        with self._lock:
            if self._applier is None:
                self._applier = Applier(
                    self._store.writer(), self.journal, self.make_gate(), self.access, self._now, self.client
                )
            elif self._applier.client != self.client:
                self._applier = replace(self._applier, client=self.client)
            return self._applier

    def require_writable(self) -> None:
        """Raise RefusedError where nothing may be written: opened for reading, or never writable."""
        if not self._writable:
            raise RefusedError(
                f"{self._store.name} is open for reading only.",
                fix="Open it for writing; nothing was changed.",
            )
        self.access.require(confirmed=True)

    def close(self) -> None:
        """Close the journal, after a change that is being made; what is staged is dropped."""
        self.staged.clear()
        with self._lock:
            journal, self._journal, self._applier = self._journal, None, None
        if journal is not None:
            journal.close()
