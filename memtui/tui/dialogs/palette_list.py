"""The rows of the palette, and the pane that shows the highlighted one in full."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from memtui.engine import clean, one_line
from memtui.tui.dialogs.entry import Entry, Ranked
from memtui.tui.host import host
from memtui.tui.paint.cells import crop, fit
from memtui.tui.paint.numbers import full

DISABLED = "DISABLED HERE"
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

        entry: Entry

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
    def current(self) -> Entry | None:
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

    def _row(self, index: int, entry: Entry, offsets: tuple[int, ...]) -> Content:
        here = index == self.index
        width = max(20, self.size.width)
        share = 3 if entry.group == "MEMORIES" else 2
        name_width = min(max(24, width * share // 5), width - KEY_CELLS - 4)
        about_width = width - name_width - KEY_CELLS - 4
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
            ((entry.key or entry.aside).rjust(KEY_CELLS - 1), "$key" if entry.key else "$dim"),
        )
        style = "$dim" if entry.disabled else "$foreground"
        return line.stylize_before(f"bold {style} on $cursor" if here else style).stylize(
            Style.from_meta({"row": index})
        )


class EntryPane(Widget):
    """The highlighted entry in full; only where there is room for it."""

    DEFAULT_CSS = """
    EntryPane { display: none; width: 46; height: 1fr; padding: 0 2; background: $background; }
    """
    entry: reactive[Entry | None] = reactive(None)

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
