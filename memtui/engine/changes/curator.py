"""Everything that can be done to a store: plan, look, apply, take back. What the screen and the command line call."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.catalog.types import ListQuery, ListView
from memtui.engine.changes.change_set import NAME, PIN, ChangeSet, Outcome
from memtui.engine.changes.owner_lock import LockState, lock_state
from memtui.engine.changes.staging import StagedChanges
from memtui.engine.changes.write_access import WriteAccess, WriteGate, access_to
from memtui.engine.core.errors import RefusedError, UsageError
from memtui.engine.core.progress import CancelToken

if TYPE_CHECKING:
    from memtui.engine.changes.apply import Applier
    from memtui.engine.changes.interrupted import Interrupted
    from memtui.engine.changes.journal import EntryRow, Journal, JournalEntry
    from memtui.engine.changes.merging import Losers
    from memtui.engine.changes.plan import Planner
    from memtui.engine.changes.story import Story
    from memtui.engine.changes.trash import TrashedMemory
    from memtui.engine.changes.version_tags import VersionCopy
    from memtui.engine.core.memory import Memory
    from memtui.engine.discovery.types import FoundStore
    from memtui.engine.providers.embedder import Embedder, NoEmbedder
    from memtui.engine.store.table import Store


def mirror_folders(found: FoundStore | None) -> tuple[Path, ...]:
    """The folder that the plugin mirrors memories into, where its settings name one."""
    mirror = found.settings.get("mdMirror") if found is not None else None
    folder = mirror.get("dir") if isinstance(mirror, Mapping) else None
    return (Path(folder).expanduser(),) if isinstance(folder, str) and folder.strip() else ()


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
        view: Callable[[ListQuery, CancelToken | None], ListView] | None = None,
    ) -> None:
        self._store, self._embedder, self._now = store, embedder, now
        self._state, self._writable = state, writable
        self._found, self._new_id, self._view = found, new_id, view
        self.access: WriteAccess = access_to(
            store.dialect, store.folder, found, environ or {}, served=store.uri.startswith("db://")
        )
        self.stage = StagedChanges(store.dialect)
        self.client = ""
        """Who changes the store through this program, where it is not a person: named in the journal."""
        self._behind = False
        self._applier: Applier | None = None
        self._journal: Journal | None = None
        self._lock = threading.Lock()

    def configure(
        self, embedder: Embedder | NoEmbedder, found: FoundStore | None, environ: Mapping[str, str]
    ) -> None:
        """Go by another configuration of the store's agent from now on; what is staged stays."""
        self._embedder, self._found = embedder, found
        store = self._store
        self.access = access_to(
            store.dialect, store.folder, found, environ, served=store.uri.startswith("db://")
        )
        with self._lock:
            self._applier = None

    # ------------------------------------------------------------------ what may be done

    @property
    def writable(self) -> bool:
        """Whether changes can be applied: opened for writing, and the store allows it (perhaps when confirmed)."""
        return self._writable and self._state is not None and self.access.verdict != "read-only"

    @property
    def plans(self) -> bool:
        """Whether changes can be planned: memtui knows how rows of this kind are written."""
        return self._store.dialect.can.writable

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

    # ------------------------------------------------------------------ planning

    def edit(
        self, ids: Sequence[str], given: Mapping[str, Any], *, reason: str = "", in_place: bool = False
    ) -> ChangeSet:
        """Plan to set fields; see `plan.plan_edit`."""
        from memtui.engine.changes.plan import plan_edit

        return plan_edit(self._planner(), ids, given, reason=reason, in_place=in_place)

    def makes_version(self, memory: Memory) -> bool:
        """Whether a new text makes a new version of this memory, unless it is planned in place."""
        from memtui.engine.changes.reembed_text import makes_version

        return makes_version(memory, self._store.dialect) and self.stage.ops.get(memory.id) != "add"

    def as_staged(self, memory: str) -> Memory:
        """A memory as it will be once everything staged is applied; UsageError when it cannot change any more."""
        from memtui.engine.changes.plan import read

        found = read(self._planner(), [memory])
        if memory not in found.rows:
            raise UsageError(found.conflicts[0].sentence, fix="Look at what is staged.")
        return found.rows[memory].memory

    def edit_each(self, given: Mapping[str, Mapping[str, Any]], title: str, *, reason: str = "") -> ChangeSet:
        """Plan to set fields, each memory its own; see `plan.plan_each`."""
        from memtui.engine.changes.plan import plan_each

        return plan_each(self._planner(), given, title, reason=reason)

    def texts(self, texts: Mapping[str, str], *, in_place: bool = False) -> ChangeSet:
        """Plan new texts, one for each memory; see `plan.plan_texts`."""
        from memtui.engine.changes.plan import plan_texts

        return plan_texts(self._planner(), texts, in_place=in_place)

    def reinstate(self, ids: Sequence[str]) -> ChangeSet:
        """Plan that superseded memories count again; see `plan.plan_reinstate`."""
        from memtui.engine.changes.plan import plan_reinstate

        return plan_reinstate(self._planner(), ids)

    def forget(
        self,
        ids: Sequence[str],
        *,
        hard: bool = False,
        shrink: bool = False,
        spare_pinned: bool = False,
        drop_names: bool = False,
    ) -> ChangeSet:
        """Plan to forget: archive, delete with everything behind it, or delete with every trace; see `plan_forget`."""
        from memtui.engine.changes.forgetting import plan_forget

        return plan_forget(
            self._planner(),
            ids,
            hard=hard,
            shrink=shrink,
            spare_pinned=spare_pinned,
            drop_names=drop_names,
            journal=self._made_journal() if self._state is not None else None,
            mirrors=mirror_folders(self._found),
        )

    def forget_person(
        self, ids: Sequence[str], name: str, redacted: Mapping[str, str] | None = None
    ) -> ChangeSet:
        """Plan to delete memories with every trace, but of those in `redacted` only to take words out.

        `redacted` gives the words by the id of the memory; empty ones mean the `name`, whole or a word of it.
        """
        from memtui.engine.changes.forgetting import with_redacted

        words = {each: said for each, said in (redacted or {}).items() if each in ids}
        planned = self.forget(
            [each for each in ids if each not in words], hard=True, shrink=True, drop_names=True
        )
        return with_redacted(planned, self._planner(), words, name) if words else planned

    def past(self, ids: Sequence[str], *, drop_names: bool = False) -> ChangeSet:
        """Plan to take what older versions and the journal hold of memories that stay; see `plan_past`."""
        from memtui.engine.changes.purge_history import plan_past

        journal, mirrors = self._made_journal(), mirror_folders(self._found)
        return plan_past(self._planner(), ids, journal, mirrors, drop_names=drop_names)

    def restore(self, ids: Sequence[str]) -> ChangeSet:
        """Plan to bring memories back from the trash; see `plan_restore`."""
        from memtui.engine.changes.trash import plan_restore

        return plan_restore(self._planner(), ids, self._made_journal(), self._store.writer())

    def bring_back(self, version: int, ids: Sequence[str]) -> ChangeSet:
        """Plan to bring memories to how they were at an older version of the table; see `plan_bring_back`."""
        from memtui.engine.changes.reverse import plan_bring_back

        return plan_bring_back(self._store.writer(), version, ids)

    def trash(self) -> list[TrashedMemory]:
        """What was deleted through memtui and can come back, the last first. Archived memories: `is:archived`."""
        from memtui.engine.changes.trash import deleted

        return deleted(self._made_journal(), self._store.writer())

    def archived(self, limit: int = 1_000, cancel: CancelToken | None = None) -> list[TrashedMemory]:
        """The archived memories, the newest `limit` of them, with the entry that archived them where there is one."""
        from memtui.engine.catalog.views import memories_at, selection_of
        from memtui.engine.changes.trash import archived

        if self._view is None:
            raise RefusedError("There is no list to choose from here.", fix="Name the memories by their ids.")
        chosen = selection_of(self._view, "is:archived", cancel)
        places = chosen.positions[:limit]
        return archived(
            memories_at(self._store, chosen.catalog, places, now_ms=self._now()), self._made_journal()
        )

    def merge(
        self,
        ids: Sequence[str],
        *,
        survivor: str | None = None,
        text: str | None = None,
        losers: Losers = "supersede",
    ) -> ChangeSet:
        """Plan to make one memory of several; see `plan_merge`."""
        from memtui.engine.changes.merging import plan_merge

        return plan_merge(self._planner(), ids, survivor=survivor, text=text, losers=losers)

    def supersede(self, ids: Sequence[str], by: str) -> ChangeSet:
        """Plan that one memory takes the place of others; see `plan_supersede`."""
        from memtui.engine.changes.merging import plan_supersede

        return plan_supersede(self._planner(), ids, by)

    # ------------------------------------------------------------------ doing

    def apply(self, change_set: ChangeSet, *, confirmed: bool = False) -> Outcome:
        """Write a change set; see `apply.apply`. The next plan is made on the version after it.

        `confirmed` says that a person agreed to a deletion, and that no agent is running where that matters. Raises
        RefusedError without it where it is needed, and when the store is open for reading only.
        """
        from memtui.engine.changes.commit import carry_out, carry_out_aside

        if self._ours_alone(change_set):
            journal = self._made_journal()
            return carry_out_aside(change_set, journal, now_ms=self._now(), client=self.client)
        try:
            outcome = carry_out(change_set, self.applier, confirmed=confirmed, store=self._store.uri)
        finally:
            if (
                change_set.shrinks
            ):  # vectors tell of texts: none of a memory whose every trace goes stays here
                self._store.drop_kept()
        self._behind = True
        return outcome

    def _ours_alone(self, change_set: ChangeSet) -> bool:
        """Whether only names in memtui's own file, or copies that it made, are changed: the store is not touched."""
        if change_set.changes or change_set.tags or not change_set.asides:
            return False
        journal, action, undone = self._made_journal(), change_set.action, change_set.undoes
        while undone is not None:  # a redo takes back the undo of it
            entry = journal.entry(undone)
            action, undone = entry.action, entry.undoes
        return action in (NAME, PIN)

    def apply_staged(self, change_set: ChangeSet, *, confirmed: bool = False) -> Outcome:
        """Write everything that is staged, as it was agreed to; then nothing is staged any more. See `apply`."""
        outcome = self.apply(change_set, confirmed=confirmed)
        self.stage.clear()
        return outcome

    def catch_up(self) -> None:
        """The next plan is made on the newest version, whatever another program has written there meanwhile."""
        self._behind = True

    def fold_words(self) -> None:
        """At the end of a batch: take the rows beside the full-text index into it; see `Writer.fold_words`."""
        with self.applier.gatekeeper.hold():
            self.applier.writer.fold_words()
        self.catch_up()

    def undo(self, entry: int | None = None, *, forced: Collection[str] = ()) -> ChangeSet:
        """Plan to take back an entry, the last one that is applied when none is named.

        Rows in `forced` are brought back even where another program changed them since. The set is empty when
        there is nothing to write, as for an interrupted entry that never reached the table; apply it all the same.
        """
        from memtui.engine.changes.interrupted import plan_undo

        return plan_undo(self._made_journal(), self._store.writer(), entry, forced)

    def redo(self, entry: int | None = None, *, forced: Collection[str] = ()) -> ChangeSet:
        """Plan to make again what was taken back: the last undone entry, or the one named."""
        from memtui.engine.changes.interrupted import plan_redo

        return plan_redo(self._made_journal(), self._store.writer(), entry, forced)

    def note_copy(self, version: int, copy: VersionCopy, title: str) -> int:
        """Write down that a version was copied to a table of its own; the entry, which can be taken back by number."""
        from memtui.engine.changes.journal import RowImages

        return self._made_journal().intend(
            time_ms=self._now(),
            action=PIN,
            title=title,
            changes=(),
            images=RowImages(None, None, None),
            version_before=version,
            detail={"copies": [copy.as_json()], **({"client": self.client} if self.client else {})},
            done=version,
        )

    # ------------------------------------------------------------------ the journal

    def journal(self, limit: int = -1) -> list[JournalEntry]:
        """The entries, newest first."""
        return self._made_journal().entries(limit=limit)

    def taken_back(self) -> frozenset[int]:
        """The entries whose change was taken back, and was not made again since."""
        entries = self.journal()
        again = {each.detail.get("redone") for each in entries if each.state != "undone"}
        return frozenset(each.entry for each in entries if each.state == "undone" and each.entry not in again)

    def entry(self, number: int) -> tuple[JournalEntry, list[EntryRow]]:
        """One entry with the memories it changed; UsageError for a number that is not there."""
        journal = self._made_journal()
        return journal.entry(number), journal.rows(number)

    def receipts_of_entry(self, number: int) -> list[dict[str, Any]]:
        """What was put down when the memories of an entry went: hashes, and where they were looked for afterwards."""
        from memtui.engine.changes.forgetting import receipts_of_entry

        return receipts_of_entry(self._made_journal().path.parent / "receipts", number)

    def history(self, memory: str) -> list[tuple[JournalEntry, EntryRow]]:
        """What was changed in one memory through memtui, newest first."""
        return self._made_journal().of_memory(memory)

    def receipts(self, memory: str) -> list[tuple[Path, Mapping[str, Any]]]:
        """The receipts of forgetting and of a purged past that name a memory, with their files, the oldest first."""
        from memtui.engine.changes.forgetting import read_receipts

        return read_receipts(self._made_journal().path.parent / "receipts", memory)

    def story(self, memory: Memory) -> Story:
        """The versions that a memory is one of, and what was changed in it through memtui."""
        from memtui.engine.changes.story import story

        journal = self._made_journal() if self._state is not None else None
        return story(self._store, memory, journal, self._now())

    def interrupted(self) -> list[Interrupted]:
        """Changes whose program was killed in the middle, and what the table says of them; ask at every start."""
        from memtui.engine.changes.interrupted import look

        if self._state is None or self.access.verdict == "read-only":
            return []
        journal = self._made_journal()
        gatekeeper = WriteGate(self.access, self._store.folder, journal.path, objects=self._store.objects)
        return look(journal, gatekeeper, self._store.writer)

    def finishing(self, entry: int) -> ChangeSet:
        """Plan to complete an interrupted entry; an empty set when it is wholly there."""
        from memtui.engine.changes.interrupted import plan_finish

        journal = self._made_journal()
        return plan_finish(journal.entry(entry), journal, self._store.writer())

    def finish(self, entry: int, *, confirmed: bool = False) -> Outcome:
        """Complete an interrupted entry; one that is wholly there counts as applied from now on."""
        from memtui.engine.changes.interrupted import finish

        applier = self.applier
        outcome = finish(applier.journal.entry(entry), self.finishing(entry), applier, confirmed=confirmed)
        self._behind = True
        return outcome

    def leave(self, entry: int) -> None:
        """Settle an interrupted entry as it is: nothing is written to the table, nothing warns of it any more."""
        from memtui.engine.changes.interrupted import leave

        journal = self._made_journal()
        leave(journal.entry(entry), journal)

    # ------------------------------------------------------------------ parts

    def close(self) -> None:
        """Close the journal, after a change that is being made; what is staged is dropped."""
        self.stage.clear()
        with self._lock:
            journal, self._journal, self._applier = self._journal, None, None
        if journal is not None:
            journal.close()

    def _planner(self) -> Planner:
        from memtui.engine.changes.plan import Planner

        if self._behind:  # of our own last change, which a person has seen
            self._behind = False
            self._store.refresh()
        scopes = self._found.scopes if self._found and self._found.scopes else {}
        defined = scopes.get("definitions")
        return Planner(
            self._store,
            self._embedder,
            self._now(),
            self._new_id,
            tuple(defined) if isinstance(defined, Mapping) else (),
            self.stage.planned,
        )

    def _made_journal(self) -> Journal:
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

    @property
    def applier(self) -> Applier:
        """What writing needs, for the engine's other parts; RefusedError where nothing may be written."""
        from memtui.engine.changes.apply import Applier

        if not self._writable:
            raise RefusedError(
                f"{self._store.name} is open for reading only.",
                fix="Open it for writing; nothing was changed.",
            )
        self.access.require(confirmed=True)
        journal = self._made_journal()
        with self._lock:
            if self._applier is None:
                gatekeeper = WriteGate(
                    self.access, self._store.folder, journal.path, objects=self._store.objects
                )
                self._applier = Applier(
                    self._store.writer(), journal, gatekeeper, self.access, self._now, self.client
                )
            return self._applier
