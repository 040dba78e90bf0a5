"""The command palette: everything that can be done from here, found by typing a part of its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.fuzzy import FuzzySearch
from textual.message import Message
from textual.reactive import reactive
from textual.screen import ModalScreen, Screen
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Input

from memtui.engine import one_line
from memtui.tui.host import host
from memtui.tui.keys import bindings
from memtui.tui.paint.cells import crop, fit
from memtui.tui.widgets.panel import Panel

MOST = 200
"""Rows that are ranked and drawn; typing one more letter is quicker than scrolling further."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: a name, what it is about, the direct key, and what to do when it is taken.

    `preview` is called while the row is highlighted. Names are plain text, never markup, and short:
    fuzzy matching may take seconds on a long one.
    """

    group: str
    name: str
    run: Callable[[], object]
    about: str = ""
    key: str = ""
    preview: Callable[[], object] | None = None
    disabled: str = ""
    """Why it cannot be taken just now; empty when it can."""


PREFIXES = {">": "COMMANDS", ":": "SCOPES", "%": "THEMES"}


def rank(entries: list[Entry], query: str) -> list[tuple[Entry, tuple[int, ...]]]:
    """The entries that match, grouped and best first, each with the matched character offsets of its name."""
    group = PREFIXES.get(query[:1], "")
    words = (query[1:] if group else query).strip()
    pool = [entry for entry in entries if not group or entry.group == group]
    if not words:
        return [(entry, ()) for entry in pool[:MOST]]
    search = FuzzySearch()
    scored: list[tuple[float, int, Entry, tuple[int, ...]]] = []
    for order, entry in enumerate(pool):
        value, offsets = search.match(words, entry.name[:80])
        if value > 0:
            scored.append((value, order, entry, tuple(offsets)))
    best: dict[str, float] = {}
    for value, _, entry, _ in scored:
        best[entry.group] = max(value, best.get(entry.group, 0.0))
    scored.sort(
        key=lambda item: (bool(item[2].disabled), -best[item[2].group], item[2].group, -item[0], item[1])
    )
    return [(entry, offsets) for _, _, entry, offsets in scored[:MOST]]


class PaletteList(Widget):
    """The rows, with a heading where the group changes; keeps the highlighted one in sight."""

    DEFAULT_CSS = """
    PaletteList { height: 1fr; background: $background; }
    """
    index: reactive[int] = reactive(0)

    @dataclass
    class Taken(Message):
        """A row was clicked."""

        entry: Entry

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[tuple[Entry, tuple[int, ...]]] = []
        self._top = 0

    def show(self, rows: list[tuple[Entry, tuple[int, ...]]]) -> None:
        """Replace the rows and go to the first."""
        self.rows, self._top = rows, 0
        self.index = 0
        self.refresh()

    @property
    def current(self) -> Entry | None:
        """The highlighted entry."""
        return self.rows[self.index][0] if self.rows else None

    def move(self, by: int) -> None:
        """Move the highlight, stopping at the ends."""
        if self.rows:
            self.index = max(0, min(len(self.rows) - 1, self.index + by))

    def on_click(self, event: events.Click) -> None:
        row = event.style.meta.get("row")
        if isinstance(row, int):
            self.index = row
            self.post_message(self.Taken(self.rows[row][0]))

    def render(self) -> Content:
        if not self.rows:
            return Content.styled("  nothing matches", "$dim")
        lines: list[tuple[int, Content]] = []
        group = ""
        for i, (entry, offsets) in enumerate(self.rows):
            if entry.group != group:
                group = entry.group
                lines.append((-1, Content.styled(f" {group}", "bold $heading")))
            lines.append((i, self._row(i, entry, offsets)))
        at = next(n for n, (i, _) in enumerate(lines) if i == self.index)
        height = max(1, self.size.height)
        if at < self._top + 1:
            self._top = max(0, at - 1)
        elif at >= self._top + height:
            self._top = at - height + 1
        return Content("\n").join(line for _, line in lines[self._top : self._top + height])

    def _row(self, index: int, entry: Entry, offsets: tuple[int, ...]) -> Content:
        here = index == self.index
        width = max(20, self.size.width)
        key_width = 8
        name_width = min(max(24, width * 2 // 5), width - key_width - 4)
        about_width = width - name_width - key_width - 4
        name = Content(crop(one_line(entry.name), name_width))
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
            (entry.key.rjust(key_width - 1), "$key"),
        )
        style = "$dim" if entry.disabled else "$foreground"
        return line.stylize_before(f"bold {style} on $cursor" if here else style).stylize(
            Style.from_meta({"row": index})
        )


class Palette(ModalScreen[None]):
    """An input and the ranked rows; Enter runs the highlighted one on the screen below."""

    DEFAULT_CSS = """
    Palette Panel { width: 90; max-width: 100%; height: 22; max-height: 95%; border: round $frame-focus; }
    Palette.-wide Panel { width: 110; height: 30; }
    Palette.-narrow Panel { width: 100%; height: 18; border: none; border-top: solid $frame-focus; }
    Palette Input.-textual-compact { border: none; height: 1; padding: 0 1; margin-bottom: 1; background: $background; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]  # noqa: RUF012
    BINDINGS = bindings("palette")

    def __init__(self, below: Screen[object], prefix: str = "") -> None:
        super().__init__()
        self._entries = entries_for(below)
        self._theme = ""

    def compose(self) -> ComposeResult:
        with Panel(title="Commands"):
            yield Input(placeholder="type a part of a name", compact=True)
            yield PaletteList()

    def on_mount(self) -> None:
        self._theme = self.app.theme
        self.query_one(Input).cursor_blink = False
        self.query_one(Panel).headline(where="enter run   esc close")
        self._search("")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._search(event.value)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self._take(self.query_one(PaletteList).current)

    @on(PaletteList.Taken)
    def _clicked(self, event: PaletteList.Taken) -> None:
        self._take(event.entry)

    def _search(self, query: str) -> None:
        rows = rank(self._entries, query)
        self.query_one(PaletteList).show(rows)
        self.query_one(Panel).headline(
            which=f"{len(rows)} of {len(self._entries)}   > commands  : scopes  % themes"
        )
        self._preview()

    def _preview(self) -> None:
        entry = self.query_one(PaletteList).current
        if entry is not None and entry.preview is not None:
            entry.preview()
        elif self.app.theme != self._theme:
            self.app.theme = self._theme

    def _take(self, entry: Entry | None) -> None:
        if entry is None or entry.disabled:
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

    def action_close(self) -> None:
        if self.app.theme != self._theme:
            self.app.theme = self._theme
        self.dismiss()


def entries_for(screen: Screen[object]) -> list[Entry]:
    """The active keys of the screen, what the screen itself adds (`palette_entries`), and the themes."""
    app = screen.app
    found: dict[str, Entry] = {}
    for active in screen.active_bindings.values():
        key = host(screen).keys.key(active.binding.id)
        if key is None or key.group == "MOVE" or key.id == "app.palette":
            continue
        entry = Entry(
            "COMMANDS",
            key.title[:1].upper() + key.title[1:],
            partial(app.simulate_key, key.press),
            key.help,
            key.cap,
            disabled="" if active.enabled else active.tooltip or "nothing to act on",
        )
        found.setdefault(key.id, entry)
    extra = getattr(screen, "palette_entries", None)
    entries = [*found.values(), *(extra() if extra is not None else ())]
    for name in host(screen).themes:

        def apply(name: str = name) -> None:
            app.theme = name

        entries.append(Entry("THEMES", f"Theme: {name}", apply, preview=apply))
    return entries
