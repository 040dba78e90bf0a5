"""Journal: what was changed through memtui, and the way back from each change, days later too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult

from memtui.engine import MemtuiError, changes, dump_json
from memtui.tui import layouts
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.dialogs.change_preview_view import SHOWN
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.forget import receipt_sheet
from memtui.tui.dialogs.unlock import unlocked
from memtui.tui.host import host
from memtui.tui.layout import Arrangement
from memtui.tui.messages import ShowEntry, ShowInBrowse
from memtui.tui.no_store import RETRY, of_session
from memtui.tui.paint.numbers import full
from memtui.tui.screens.journal import view
from memtui.tui.screens.journal.narrowing import SOUGHT_BY, keeps
from memtui.tui.screens.journal.state import MOST, REMOVED, JournalState, why_not_redo, why_not_undo
from memtui.tui.session import Session
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import BuiltRows, Row, RowList
from memtui.tui.widgets.state_panel import Choice, State, StatePanel, failed

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.changes import EntryRow, JournalEntry, LockState


READ, ROWS, CHAIN = "journal", "rows", "chain"

SHOWN_IN_BROWSE = 50
"""Ids that a filter line still holds."""


MOVES = ("down", "up", "page-down", "page-up", "first", "last")


class TimelineRows(BuiltRows, inherit_bindings=False):
    """The entries by day."""

    SOUGHT_BY = SOUGHT_BY
    BINDINGS = [*bindings("rows", only=MOVES), *bindings("timeline"), *bindings("narrow")]  # noqa: RUF012
    entries: Mapping[str, JournalEntry] = {}
    """By the key of the row."""

    def keeps(self, row: Row, words: Sequence[str]) -> bool:
        text = " ".join(line.plain for line in row.lines).lower()
        app = host(self)
        return keeps(self.entries.get(row.key), text, words, app.now_ms(), app.zone)


class EntryRows(BuiltRows, inherit_bindings=False):
    """One entry in full: it scrolls."""

    BINDINGS = [*bindings("rows", only=MOVES), *bindings("narrow")]  # noqa: RUF012


def read(engine: Engine) -> tuple[tuple[JournalEntry, ...], dict[int, str], LockState]:
    """The entries, what of the interrupted ones is in the table, and the lock; for a worker."""
    found = {entry.entry.entry: entry.found.value for entry in changes.find_interrupted(engine)}
    writing = engine.write_state
    return tuple(writing.journal.entries(limit=MOST)), found, writing.lock_state()


def read_chain(engine: Engine) -> str:
    """Which entry was changed outside memtui, in a sentence; empty where none was; for a worker."""
    found = engine.write_state.journal.verify()
    return "" if found.broken is None else found.sentence


Found = tuple[int, "list[EntryRow]", dict[str, str], "list[dict[str, Any]]"]


def read_entry(engine: Engine, number: int) -> Found:
    """One entry: its number, its memories, what those are called now, and its receipts; for a worker."""
    rows = engine.write_state.journal.rows(number)
    there = engine.memories([row.id for row in rows[:SHOWN]])
    titles = {each: memory.title for each, memory in there.items()}
    return number, rows, titles, changes.receipts_of_entry(engine, number)


class JournalScreen(BaseScreen):
    """A timeline, and the entry under the cursor in full."""

    MODE = "journal"
    OF_ROW = frozenset((ROWS,))
    UNDO = "journal.undo"
    BINDINGS = bindings("journal")

    def __init__(self) -> None:
        super().__init__()
        self.state = JournalState()
        self.said = State("loading", "reading the journal", skeleton=True)
        self._engine: Engine | None = None
        self._revision = -1
        self._sought = ""
        """What another screen seeks before the entries are read."""

    def body(self) -> ComposeResult:
        yield LayoutContainer(
            Panel(StatePanel(), title="Journal", id="state"),
            Panel(TimelineRows(self._timeline, id="timeline"), title="Journal", id="entries"),
            Panel(EntryRows(self._detail, id="rows"), title="Entry", id="entry"),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        return layouts.journal(width, height, said=self.said is not None, zoom=self.state.zoom)

    def _timeline(self, width: int, height: int) -> list[Row]:
        app = host(self)
        self.query_one("#timeline", TimelineRows).entries = {
            str(entry.entry): entry for entry in self.state.entries
        }
        return view.timeline(self.state, width, app.now_ms(), app.zone, app.glyphs, app.keys)

    def _detail(self, width: int, height: int) -> list[Row]:
        app = host(self)
        return view.detail(self.state, width, app.now_ms(), app.zone, app.glyphs, app.keys)

    # the store, and what it answers

    def session_changed(self, session: Session) -> None:
        if session.engine is None or of_session(session) is not None:
            self._revision, self._engine = -1, None
            self.state = JournalState()
            self.say(of_session(session) or State("loading", "opening the store", skeleton=True))
        elif session.revision != self._revision:
            self._revision, self._engine = session.revision, session.engine
            engine = session.engine
            self.call(READ, lambda token, report: read(engine), self._have_entries, failed=self._not_read)
            self.call(
                CHAIN, lambda token, report: read_chain(engine), self._have_chain, failed=self._not_read
            )

    def receive(self, wish: ShowEntry) -> None:
        """Show an entry, or those that are sought, at once where the journal was read already."""
        if wish.sought:
            self._sought = wish.sought
            if self.state.entries:
                self._show_sought()
            return
        self.state = replace(self.state, shown=wish.number, rows=None)
        if self.state.entries:
            self.repaint()
            self._read_rows()

    def focus_first(self) -> None:
        self.query_one(StatePanel if self.said is not None else "#timeline").focus()

    def repaint(self) -> None:
        self.query_one("#timeline", BuiltRows).repaint(str(self.state.shown or ""))
        self.query_one("#rows", BuiltRows).repaint()
        count = len(self.state.entries)
        self.query_one("#entries", Panel).headline(
            which=f"the last {full(count)}" if count == MOST else full(count) if count else ""
        )
        entry = self.state.entry(self.state.shown)
        self.query_one("#entry", Panel).headline(which=f"#{full(entry.entry)}" if entry else "")
        self.refresh_bindings()

    def _have_entries(self, found: tuple[tuple[JournalEntry, ...], dict[int, str], LockState]) -> None:
        entries, interrupted, lock = found
        kept = self.state.shown if any(entry.entry == self.state.shown for entry in entries) else 0
        shown = kept or (entries[0].entry if entries else 0)
        self.state = replace(
            self.state, entries=entries, found=interrupted, lock=lock, shown=shown, rows=None
        )
        self.say(None if entries or lock.stale or self.state.broken else _nothing())
        if self._sought:
            self._show_sought()
        else:
            self._read_rows()

    def _have_chain(self, broken: str) -> None:
        if broken != self.state.broken:
            self.state = replace(self.state, broken=broken)
            if broken:
                self.say(None)
            self.repaint()

    def _show_sought(self) -> None:
        """Narrow the timeline to what is sought; the newest of it is shown, or no entry."""
        words, app = self._sought.lower().split(), host(self)
        self._sought = ""
        found = (
            entry
            for entry in self.state.entries
            if keeps(entry, view.words_of(entry), words, app.now_ms(), app.zone)
        )
        first = next(found, None)
        self.state = replace(self.state, shown=first.entry if first is not None else 0, rows=None)
        self.query_one("#timeline", TimelineRows).narrow(" ".join(words))
        self.repaint()
        self._read_rows()

    def _not_read(self, error: MemtuiError) -> None:
        self.say(failed("the journal could not be read", error, RETRY))

    def _have_rows(self, found: Found) -> None:
        number, rows, titles, receipts = found
        if number == self.state.shown:
            self.state = replace(self.state, rows=rows, titles=titles, receipts=receipts)
            self.repaint()

    def _read_rows(self) -> None:
        engine, number = self._engine, self.state.shown
        if engine is not None and number:
            self.call(ROWS, lambda token, report: read_entry(engine, number), self._have_rows)

    @on(RowList.Highlighted, "#timeline")
    def _highlighted(self, event: RowList.Highlighted) -> None:
        event.stop()
        if event.key and int(event.key) != self.state.shown:
            self.state = replace(self.state, shown=int(event.key), rows=None)
            self.repaint()
            self._read_rows()

    @on(RowList.Opened, "#timeline")
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        entry = self.state.entry(self.state.shown)
        if entry is not None and entry.title.endswith(REMOVED) and self.state.receipts:
            self.action_receipts()  # of its memories nothing else is left
        else:
            self.action_other()

    @on(StatePanel.Chosen)
    async def _chosen(self, message: StatePanel.Chosen) -> None:
        if message.choice.name == "browse":
            await self.app.switch_mode("browse")
            return
        host(self).take(message.choice.name, message.choice.value)

    # actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        entry = self.state.entry(self.state.shown)
        cut_off = entry is not None and entry.state == "interrupted"
        left_behind = self.state.lock is not None and self.state.lock.stale
        able = {
            "undo": entry is not None and not why_not_undo(entry, self.state.rows),
            "redo": entry is not None and not why_not_redo(entry, self.state.rows),
            "fix": cut_off or left_behind,
            "finish": cut_off,
            "leave": cut_off,
            "break_lock": left_behind,
            "browse": bool(self.state.rows),
            "copy": entry is not None,
            "receipts": bool(self.state.receipts),
        }
        return True if able.get(action, True) else None

    def why_disabled(self, action: str) -> str:
        """Why the entry under the cursor cannot be undone or redone; empty for other actions, or without an entry."""
        entry = self.state.entry(self.state.shown)
        if entry is None or action not in ("undo", "redo"):
            return ""
        why = (
            why_not_undo(entry, self.state.rows) if action == "undo" else why_not_redo(entry, self.state.rows)
        )
        return host(self).keys.words(f"entry {full(self.state.shown)}: {why}") if why else ""

    def action_undo(self) -> None:
        self.staging.undo(self.state.shown)

    def action_redo(self) -> None:
        self.staging.redo(self.state.shown)

    def action_fix(self) -> None:
        """The ways out of an entry that was cut off, and of a lock that was left behind."""
        entry, lock = self.state.entry(self.state.shown), self.state.lock
        options = [Option("wait", "not now", "a start warns of it again", "n")]
        if entry is not None and entry.state == "interrupted":
            title = f"Entry {full(entry.entry)} was cut off in the middle"
            options += [
                Option("finish", "finish it", "the rest of it is written, after a look", "f"),
                Option("undo", "undo", "what was written of it goes back, after a look", "t"),
                Option("leave", "close the entry", "no memory is changed", "l"),
            ]
        else:
            title = "The write lock was left behind"
        if lock is not None and lock.stale:
            options.append(Option("break", "break the lock", "when no agent runs", "b"))

        def answered(value: str | None) -> None:
            if value == "finish":
                self.action_finish()
            elif value == "undo":
                self.action_undo()
            elif value == "leave":
                self.staging.leave(self.state.shown)
            elif value == "break":
                self.action_break_lock()

        self.app.push_screen(ChooseOne(title, options), answered)

    def action_finish(self) -> None:
        self.staging.finish(self.state.shown)

    def action_leave(self) -> None:
        """Ask, then settle an entry that was cut off as it is."""
        number = self.state.shown

        def answered(value: str | None) -> None:
            if value == "leave":
                self.staging.leave(number)

        options = [
            Option("wait", "not now", "the entry stays open; the next start warns again", "n"),
            Option("leave", "close the entry", "no memory is changed", "l"),
        ]
        self.app.push_screen(ChooseOne(f"Entry {number} was cut off in the middle", options), answered)

    def action_break_lock(self) -> None:
        """Ask whether no agent runs; then the next change removes the lock that a dead program left."""
        engine = self.session.engine
        if engine is None or not self.staging.able():
            return

        def answered(value: str | None) -> None:
            if value == "break":
                unlocked(self, "break the lock", broken)

        def broken() -> None:
            try:
                engine.write_state.break_abandoned_lock()
            except MemtuiError as error:
                self.call_failed(error)
            else:
                self.flash(
                    "The next change removes the abandoned lock, if it is still there and still silent."
                )

        options = [
            Option("keep", "leave it", letter="l"),
            Option("break", "no agent runs: break it", letter="b"),
        ]
        self.app.push_screen(ChooseOne("The write lock was left behind", options), answered)

    def action_browse(self) -> None:
        ids = [row.id for row in self.state.rows or ()][:SHOWN_IN_BROWSE]
        self.post_message(ShowInBrowse(f"id:{','.join(ids)}"))

    def action_copy(self) -> None:
        entry = self.state.entry(self.state.shown)
        if entry is None:
            return
        rows = [
            {"id": row.id, "op": row.op, "before": dict(row.before), "after": dict(row.after)}
            for row in self.state.rows or ()
        ]
        document = {**entry.as_json(), "changes": rows}
        host(self).copy(dump_json(document, ensure_ascii=False, indent=1), "entry")

    def action_receipts(self) -> None:
        """Open the receipt of the entry, the last one where there are several."""
        if self.state.receipts:
            self.app.push_screen(receipt_sheet(self.state.receipts[-1], ()))

    def action_other(self) -> None:
        here = self.query_one("#rows").has_focus
        self.state = replace(self.state, zoom="")
        self.query_one(LayoutContainer).rearrange()
        self.query_one("#timeline" if here else "#rows").focus()

    def action_zoom(self) -> None:
        panel = "entry" if self.query_one("#rows").has_focus else "entries"
        self.state = replace(self.state, zoom="" if self.state.zoom else panel)
        self.query_one(LayoutContainer).rearrange()

    def action_back(self) -> None:
        if self.staging.stop() or self.dismiss_flash():
            return
        if self.state.zoom:
            self.action_zoom()
        elif self.said is None:
            self.query_one("#timeline").focus()


def _nothing() -> State:
    facts = (
        ("lists", "every change made with memtui, with the rows before it"),
        ("undo", "exact to the field, even days later"),
    )
    browse = Choice(
        "browse",
        "go to Browse and change something",
        "{browse.edit} edits, {browse.change} changes, {browse.forget} forgets",
        key="2",
    )
    return State("empty", "Changes made with memtui will be listed here.", facts, (browse,))
