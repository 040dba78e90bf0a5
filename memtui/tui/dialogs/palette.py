"""The command palette: everything that can be done from here, found by typing a part of its name."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.screen import Screen
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from memtui.engine import clean, counted, one_line
from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.dispatch import KeymapApp, no_store
from memtui.tui.actions.table import bindings
from memtui.tui.calls import EngineCalls
from memtui.tui.dialogs.palette_entry import PREFIXES, PaletteEntry, Ranked, content, rank, split
from memtui.tui.dialogs.palette_sources import (
    count_of,
    entries_for,
    intent_entries,
    memory_entry,
    needs_memories,
    nothing_else,
    search,
)
from memtui.tui.host import host
from memtui.tui.layout import NORMAL_WIDTH, WIDE_WIDTH
from memtui.tui.messages import RunFailed, RunFinished
from memtui.tui.paint.cells import crop, fit
from memtui.tui.paint.numbers import full
from memtui.tui.session import Session
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.text_lines import CleanInput

# The rows of the palette, and the pane that shows the highlighted one in full.

DISABLED = "CANNOT NOW"

KEY_CELLS = 8


class PaletteList(Widget):
    """The rows, with a heading where the group changes; keeps the highlighted one in sight."""

    DEFAULT_CSS = """
    PaletteList { width: 1fr; height: 1fr; background: $background; }
    """
    index: reactive[int] = reactive(0)

    @dataclass
    class Taken(Message):
        """A row was clicked."""

        entry: PaletteEntry

    def __init__(self) -> None:
        super().__init__()
        self.rows: Ranked = []
        self._counts: dict[str, int] = {}
        self._note = ""
        self._top = 0

    def show(self, rows: Ranked, counts: dict[str, int], note: str = "", *, keep: bool = False) -> None:
        """Replace the rows; `counts` are said beside the headings, `note` is said where nothing matches.

        The first row is highlighted, or with `keep` the one that is.
        """
        before = self.current if keep else None
        self.rows, self._counts, self._note, self._top = rows, counts, note, 0
        places = [i for i, (entry, _) in enumerate(rows) if before is not None and entry == before]
        self.index = places[0] if places else 0
        self.refresh()

    @property
    def current(self) -> PaletteEntry | None:
        """The highlighted entry."""
        return self.rows[self.index][0] if self.index < len(self.rows) else None

    def move(self, by: int) -> None:
        """Move the highlight, stopping at the ends."""
        if self.rows:
            self.index = max(0, min(len(self.rows) - 1, self.index + by))

    def on_click(self, event: events.Click) -> None:
        row = event.style.meta.get("row")
        if isinstance(row, int) and row < len(self.rows):
            self.index = row
            self.post_message(self.Taken(self.rows[row][0]))

    def render(self) -> Content:
        if not self.rows:
            return Content.styled(f"  {one_line(self._note) or 'nothing matches'}", "$dim")
        lines: list[tuple[int, Content]] = []
        group = ""
        for i, (entry, offsets) in enumerate(self.rows):
            heading = DISABLED if entry.disabled else entry.group
            if heading != group:
                group = heading
                count = f"  {full(self._counts[group])}" if group in self._counts else ""
                lines.append((-1, Content.assemble((f" {group}", "bold $heading"), (count, "$dim"))))
            lines.append((i, self._row(i, entry, offsets)))
        at = next((n for n, (i, _) in enumerate(lines) if i == self.index), 0)
        height = max(1, self.size.height)
        if at < self._top + 1:
            self._top = max(0, at - 1)
        elif at >= self._top + height:
            self._top = at - height + 1
        return Content("\n").join(line for _, line in lines[self._top : self._top + height])

    def _row(self, index: int, entry: PaletteEntry, offsets: tuple[int, ...]) -> Content:
        here = index == self.index
        width = max(20, self.size.width)
        share = 3 if entry.group == "MEMORIES" else 2
        name_width = min(max(24, width * share // 5), width - KEY_CELLS - 4)
        about_width = width - name_width - KEY_CELLS - 4
        said, offsets = shifted(one_line(entry.name), offsets, name_width)
        name = Content(crop(said, name_width))
        for offset in offsets:
            if offset < len(name):
                name = name.stylize("bold $match", offset, offset + 1)
        pad = " " * (name_width - cell_len(name.plain))
        about = fit(one_line(entry.disabled or entry.about), about_width)
        mark = host(self).glyphs.cursor if here else " "
        line = Content.assemble(
            (mark, "$primary"),
            " ",
            name,
            pad,
            " ",
            (about, "$dim"),
            " ",
            ((entry.key or entry.aside).rjust(KEY_CELLS - 1), "$key" if entry.key else "$dim"),
        )
        style = "$dim" if entry.disabled else "$foreground"
        return line.stylize_before(f"bold {style} on $cursor" if here else style).stylize(
            Style.from_meta({"row": index})
        )


def _sure(rows: Ranked) -> bool:
    """Whether something is meant by the words without doubt: the first row is no guess, and not only some of them."""
    return bool(rows) and not rows[0][0].guessed and not rows[0][0].partly


def shifted(text: str, offsets: tuple[int, ...], width: int) -> tuple[str, tuple[int, ...]]:
    """The text from a little before its first match, where that would be out of sight, and where its matches are."""
    if not offsets or cell_len(text[: offsets[0]]) < width * 3 // 4:
        return text, offsets
    start = max(0, offsets[0] - width // 4)
    return f"…{text[start + 1 :]}", tuple(offset - start for offset in offsets if offset > start)


class EntryPane(Widget):
    """The highlighted entry in full; only where there is room for it."""

    DEFAULT_CSS = """
    EntryPane { display: none; width: 46; height: 1fr; padding: 0 2; background: $background; }
    """
    entry: reactive[PaletteEntry | None] = reactive(None)

    def render(self) -> Content:
        entry = self.entry
        if entry is None:
            return Content()
        parts = [Content.styled(one_line(entry.name), "bold $foreground"), Content()]
        if entry.disabled:
            parts += [Content.styled(one_line(entry.disabled), "$stale"), Content()]
        parts.append(Content(clean(entry.detail or entry.about)))
        if entry.key:
            parts += [Content(), Content.assemble(("key  ", "$dim"), (entry.key, "bold $key"))]
        return Content("\n").join(parts)


__all__ = ["Palette", "PaletteEntry", "rank"]

MEMORIES = "MEMORIES"

SEARCH_S = 0.12
"""Typing goes on faster than this: the store is not asked for every letter."""

UNASKED_LETTERS = 3
"""So many letters without a prefix, and memories are looked for too."""

UNASKED_ROWS = 6
"""Memories shown among the commands; `@` shows them all."""


_WAYS = "enter run   {palette.group} next group   {palette.close} close"


class Palette(QuickModal[None]):
    """An input and the ranked rows; Enter runs the highlighted one on the screen below."""

    DEFAULT_CSS = """
    Palette Panel { width: 90; max-width: 100%; height: 22; max-height: 95%; border: round $frame-focus; }
    Palette.-wide Panel { width: 150; height: 32; }
    Palette.-wide EntryPane { display: block; border-left: solid $frame; }
    Palette.-narrow Panel { width: 100%; height: 18; border: none; border-top: solid $frame-focus; }
    Palette Input.-textual-compact { border: none; height: 1; padding: 0 1; margin-bottom: 1; background: $background; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NORMAL_WIDTH, "-normal"), (WIDE_WIDTH, "-wide")]  # noqa: RUF012
    BINDINGS = bindings("palette")

    def __init__(self, below: Screen[object], prefix: str = "") -> None:
        super().__init__()
        self._below = below
        self._prefix = prefix
        self._entries = entries_for(below)
        self.runner = EngineCalls(self)
        self._timer: Timer | None = None
        self._found: list[PaletteEntry] = []
        self._total = 0
        self._asked = ""
        self._found_for = ""
        """The words that the memories were found by."""
        self._note = ""
        self._theme = ""
        self._counting = ""
        self._counted: tuple[str, int, bool] = ("", 0, False)
        """A sentence, how many memories it is about, and whether by its words without their plural."""

    def compose(self) -> ComposeResult:
        with Panel(title="Commands"):
            yield CleanInput(self._prefix, placeholder="say it in words, or name it")
            with Horizontal():
                yield PaletteList()
                yield EntryPane()

    def on_mount(self) -> None:
        self._theme = self.app.theme
        self.query_one(Panel).headline(where=_WAYS)
        self._show()
        self.watch(self.app, "session", self._session_changed, init=False)

    def _session_changed(self, before: Session, now: Session) -> None:
        """More, or less, can be done: the store is open, its scopes are known."""
        if (before.phase, before.revision) != (now.phase, now.revision):
            self._entries = entries_for(self._below)
            self._show()

    def on_unmount(self) -> None:
        self.runner.cancel_all()

    @on(Input.Changed)
    def _typed(self) -> None:
        self._show()

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self._take(self.query_one(PaletteList).current)

    @on(PaletteList.Taken)
    def _clicked(self, event: PaletteList.Taken) -> None:
        self._take(event.entry)

    def _show(self) -> None:
        """What answers to the typed text: the entries at once, memories when they have been found."""
        query = self.query_one(Input).value
        self._look_for(query)
        self._list(query)

    def _list(self, query: str, *, keep: bool = False) -> None:
        group, words = split(query)
        counts = Counter(entry.group for entry in self._entries)
        found = self._standing(words)
        found = found if group == MEMORIES else found[:UNASKED_ROWS] if not group else []
        known = self._counted[0] == words
        singular = known and self._counted[2]
        meant = intent_entries(self._below, words, singular=singular) if not group else []
        if meant and known:
            count = self._counted[1]
            said = counted(count, "memory", "memories")
            # about no memory, the words may be those of a command: "erase lifecycle delete"
            if meant[0].guessed or not count:  # and no other reading of them stands before the first
                meant = [replace(entry, guessed=True) for entry in meant]
            meant[0] = replace(meant[0], about=f"{said}; {meant[0].about}")
            if not count and needs_memories(self._below, words):
                meant = meant[1:]
        app = self.app
        recent = app.performed if isinstance(app, KeymapApp) else ()
        rows: Ranked = rank([*meant, *self._entries, *found], query, recent)
        if content(words) and not group and not self._looking and not _sure(rows):
            rows = [
                *rows,
                *((each, ()) for each in nothing_else(self._below, words)),
            ]
        shown = {MEMORIES: self._total if words == self._found_for else len(found)} if found else {}
        shown |= {"COMMANDS": counts["COMMANDS"]} if not words else {}
        note = self._note if group == MEMORIES else ""
        if group == "VIEWS" and not counts["VIEWS"]:
            note = "no view of this store was saved"
        if group == "SCOPES" and not counts["SCOPES"]:
            note = no_store(self)
        self.query_one(PaletteList).show(rows, shown, note, keep=keep)
        prefixes = "  ".join(f"{prefix} {name.lower()}" for prefix, name in PREFIXES.items())
        wide = self.app.size.width >= NORMAL_WIDTH
        total = len(self._entries) + (self._total if found else 0)
        self.query_one(Panel).headline(which=prefixes if wide else " ".join(PREFIXES))
        self.query_one(Panel).headline(where=f"{len(rows)} of {total:,}   {_WAYS}")
        self._preview()

    def _standing(self, words: str) -> list[PaletteEntry]:
        """The memories found; before those of `words` are there, what holds them of those found by other words."""
        if words == self._found_for:
            return self._found
        wanted = words.casefold().split()
        return [each for each in self._found if all(word in each.name.casefold() for word in wanted)]

    def _look_for(self, query: str) -> None:
        """Ask the store for memories, after a moment in which nothing is typed."""
        group, words = split(query)
        self.runner.cancel("count")
        if not group and (work := count_of(self._below, words)) is not None:
            self._counting = words
            self.runner.start("count", work)
        wanted = group == MEMORIES or (not group and len(words) >= UNASKED_LETTERS)
        if not wanted:
            self._found, self._asked, self._note = [], "", ""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.runner.cancel("memories")
        if not wanted or (self._found and words == self._asked):
            return
        if not self._found:
            self._note = "looking for memories"
        self._timer = self.set_timer(SEARCH_S, lambda: self._ask(words))

    def _ask(self, words: str) -> None:
        work = search(self._below, words)
        if work is None:
            self._note = no_store(self)
            self._list(self.query_one(Input).value, keep=True)
            return
        self._asked, self._timer = words, None
        self.runner.start("memories", work)

    @property
    def _looking(self) -> bool:
        """Whether memories are still to be found."""
        return self._timer is not None or self.runner.busy("memories")

    def holds(self, pressed: str) -> bool:
        """Whether a key waits: what acts on a row that is not there, or cannot act, before a search or the store."""
        session, entry = host(self).session, self.query_one(PaletteList).current
        if (
            session.busy
            and session.stats is None
            and (entry is None or entry.disabled or entry.group == "INTENT")
        ):
            return pressed == "enter"
        if entry is not None and entry.group == "INTENT" and self.runner.busy("count"):
            return pressed == "enter"  # which words it is about is known in a moment
        return pressed == "enter" and self._looking and (entry is None or entry.group == MEMORIES)

    def on_run_finished(self, message: RunFinished) -> None:
        """The memories have been found."""
        message.stop()
        if self.runner.done(message):
            if message.slot == "count":
                self._counted = (self._counting, *message.value)
                self._list(self.query_one(Input).value, keep=True)
                return
            self._total, memories = message.value
            self._found = [memory_entry(self._below, memory) for memory in memories]
            self._found_for = self._asked
            self._note = "no memory has these words"
            self._list(self.query_one(Input).value, keep=True)

    def on_run_failed(self, message: RunFailed) -> None:
        """The search failed: the rest of the palette works on."""
        message.stop()
        if self.runner.done(message) and message.slot != "count":
            self._found, self._note = [], str(message.error)
            self._list(self.query_one(Input).value, keep=True)

    def _preview(self) -> None:
        entry = self.query_one(PaletteList).current
        self.query_one(EntryPane).entry = entry
        if entry is not None and entry.preview is not None and self.query_one(Input).value.startswith("%"):
            entry.preview()
        elif self.app.theme != self._theme:
            self.app.theme = self._theme

    def _take(self, entry: PaletteEntry | None) -> None:
        if entry is None:
            return
        if entry.disabled:
            self.query_one(Panel).headline(which=f"cannot now: {entry.disabled}")
            return
        self.dismiss()
        self.app.call_later(entry.run)

    def _move(self, by: int) -> None:
        self.query_one(PaletteList).move(by)
        self._preview()

    def action_down(self) -> None:
        self._move(1)

    def action_up(self) -> None:
        self._move(-1)

    def action_page_down(self) -> None:
        self._move(10)

    def action_page_up(self) -> None:
        self._move(-10)

    def action_group(self) -> None:
        """The next prefix; after the last one none."""
        entry = self.query_one(Input)
        order = ["", *PREFIXES]
        here = entry.value[:1] if entry.value[:1] in PREFIXES else ""
        following = order[(order.index(here) + 1) % len(order)]
        entry.value = following + entry.value[len(here) :]
        entry.cursor_position = len(entry.value)

    def action_copy(self) -> None:
        entry = self.query_one(PaletteList).current
        if entry is not None:
            self.action_close()
            host(self).copy(entry.copies or entry.name, "id" if entry.copies else "name")

    def action_close(self) -> None:
        if self.app.theme != self._theme:
            self.app.theme = self._theme
        self.dismiss()
