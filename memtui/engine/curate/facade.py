"""Everything that can be done to a store: plan, look, apply, take back. What the screen and the command line call."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.curate.access import Access, Gatekeeper, access_to
from memtui.engine.curate.changes import ChangeSet, Outcome
from memtui.engine.curate.lock import LockState, lock_state
from memtui.engine.errors import RefusedError

if TYPE_CHECKING:
    from memtui.engine.curate.apply import Bench
    from memtui.engine.curate.journal import Entry, EntryRow, Journal
    from memtui.engine.curate.plan import Bureau
    from memtui.engine.curate.recover import Interrupted
    from memtui.engine.discovery.found import FoundStore
    from memtui.engine.embed.embedder import Embedder, NoEmbedder
    from memtui.engine.store.table import Store


class Curator:
    """Plans and makes changes to one store.

    Planning reads at the version that the store is pinned to, so that a plan is about what a person saw;
    applying compares with the newest one. `state` is memtui's state folder, where the journal goes.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder | NoEmbedder,
        *,
        now: Callable[[], int],
        state: Path | None,
        writable: bool,
        found: FoundStore | None = None,
        environ: Mapping[str, str] | None = None,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        self._store, self._embedder, self._now = store, embedder, now
        self._state, self._writable = state, writable
        self._found, self._new_id = found, new_id
        self.access: Access = access_to(store.dialect, store.folder, found, environ or {})
        self._bench: Bench | None = None
        self._journal: Journal | None = None
        self._lock = threading.Lock()

    # ------------------------------------------------------------------ what may be done

    @property
    def writable(self) -> bool:
        """Whether changes can be applied: opened for writing, and the store allows it (perhaps when confirmed)."""
        return self._writable and self._state is not None and self.access.verdict != "read-only"

    def lock_state(self) -> LockState:
        """The state of the store's own lock right now; LockState(False) where it has none."""
        folder = self._store.folder
        return LockState(False) if folder is None else lock_state(folder, time.time())

    def break_abandoned_lock(self) -> None:
        """A person has made sure that no agent runs: the next change may remove a lock left by a dead program."""
        self._made_bench().gatekeeper.break_abandoned()

    # ------------------------------------------------------------------ planning

    def edit(
        self, ids: Sequence[str], given: Mapping[str, Any], *, reason: str = "", in_place: bool = False
    ) -> ChangeSet:
        """Plan to set fields; see `plan.plan_edit`."""
        from memtui.engine.curate.plan import plan_edit

        return plan_edit(self._bureau(), ids, given, reason=reason, in_place=in_place)

    def texts(self, texts: Mapping[str, str], *, in_place: bool = False) -> ChangeSet:
        """Plan new texts, one for each memory; see `plan.plan_texts`."""
        from memtui.engine.curate.plan import plan_texts

        return plan_texts(self._bureau(), texts, in_place=in_place)

    # ------------------------------------------------------------------ doing

    def apply(self, change_set: ChangeSet, *, confirmed: bool = False) -> Outcome:
        """Write a change set; see `apply.apply`. The store is pinned to the version after it.

        Raises RefusedError when the store is open for reading only.
        """
        from memtui.engine.curate.apply import apply

        outcome = apply(change_set, self._made_bench(), confirmed=confirmed)
        self._store.refresh()
        return outcome

    def undo(self, entry: int | None = None, *, forced: Collection[str] = ()) -> ChangeSet | None:
        """Plan to take back an entry, the last one that is applied when none is named.

        Rows in `forced` are brought back even where another program changed them since. An interrupted entry
        of which nothing is in the table is dropped: then there is nothing to write, and the answer is None.
        """
        from memtui.engine.curate.history import plan_undo

        return plan_undo(self._made_bench(), entry, forced)

    def redo(self, entry: int | None = None, *, forced: Collection[str] = ()) -> ChangeSet:
        """Plan to make again what was taken back: the last undone entry, or the one named."""
        from memtui.engine.curate.history import plan_redo

        return plan_redo(self._made_bench(), entry, forced)

    # ------------------------------------------------------------------ the journal

    def journal(self, limit: int = -1) -> list[Entry]:
        """The entries, newest first."""
        return self._made_journal().entries(limit=limit)

    def entry(self, number: int) -> tuple[Entry, list[EntryRow]]:
        """One entry with the memories it changed; UsageError for a number that is not there."""
        journal = self._made_journal()
        return journal.entry(number), journal.rows(number)

    def history(self, memory: str) -> list[tuple[Entry, EntryRow]]:
        """What was changed in one memory through memtui, newest first."""
        return self._made_journal().of_memory(memory)

    def interrupted(self) -> list[Interrupted]:
        """Changes whose program was killed in the middle, and what the table says of them; ask at every start."""
        from memtui.engine.curate.recover import look

        if self._state is None or self.access.verdict == "read-only":
            return []
        journal = self._made_journal()
        gatekeeper = Gatekeeper(self.access, self._store.folder, journal.path)
        return look(journal, gatekeeper, self._store.writer)

    def finish(self, entry: int, *, confirmed: bool = False) -> Outcome | None:
        """Complete an interrupted entry; None when it was wholly there and is applied now."""
        from memtui.engine.curate.recover import plan_finish

        bench = self._made_bench()
        planned = plan_finish(bench.journal.entry(entry), bench)
        if planned is None:
            return None
        outcome = self.apply(planned, confirmed=confirmed)
        bench.journal.drop(entry)
        return outcome

    # ------------------------------------------------------------------ parts

    def _bureau(self) -> Bureau:
        from memtui.engine.curate.plan import Bureau

        scopes = self._found.scopes if self._found and self._found.scopes else {}
        defined = scopes.get("definitions")
        return Bureau(
            self._store,
            self._embedder,
            self._now(),
            self._new_id,
            tuple(defined) if isinstance(defined, Mapping) else (),
        )

    def _made_journal(self) -> Journal:
        from memtui.engine.curate.journal import Journal
        from memtui.engine.curate.place import journal_of

        with self._lock:
            if self._journal is None:
                if self._state is None:
                    raise RefusedError(
                        "There is no folder for the journal.",
                        fix="Set MEMTUI_STATE_DIR; nothing was changed.",
                    )
                self._journal = Journal(journal_of(self._state, self._store.uri, self._store.table_name))
            return self._journal

    def _made_bench(self) -> Bench:
        from memtui.engine.curate.apply import Bench

        if not self._writable:
            raise RefusedError(
                f"{self._store.name} is open for reading only.",
                fix="Open it for writing; nothing was changed.",
            )
        self.access.require(confirmed=True)
        journal = self._made_journal()
        with self._lock:
            if self._bench is None:
                gatekeeper = Gatekeeper(self.access, self._store.folder, journal.path)
                self._bench = Bench(self._store.writer(), journal, gatekeeper, self.access, self._now)
            return self._bench
