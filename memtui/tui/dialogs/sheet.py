"""A read-only sheet: findings on top, then names, values and what they mean, in sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.content import Content

from memtui.engine import counted, one_line
from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.table import bindings
from memtui.tui.host import host
from memtui.tui.paint.cells import crop, fit
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Row, RowList

VALUE_CELLS = 18
"""A longer value takes the place of its meaning."""


@dataclass(frozen=True, slots=True)
class SheetLine:
    """A name, its value, and what it means."""

    name: str
    value: str
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class SheetSection:
    """Lines that belong together."""

    heading: str
    lines: tuple[SheetLine, ...]


def sheet_lines(
    intro: Sequence[str],
    findings: Sequence[str],
    sections: Sequence[SheetSection],
    width: int,
    glyphs: Glyphs,
) -> list[Content]:
    """The whole sheet for lines of `width` cells."""
    room = max(12, width - 4)
    lines: list[Content] = []
    for text in intro:
        lines += [Content.assemble(" ", line) for line in Content.styled(one_line(text), "$dim").wrap(room)]
    for text in findings:
        if lines and text is findings[0]:
            lines.append(Content())
        for i, line in enumerate(Content.styled(one_line(text), "$foreground").wrap(room)):
            mark = (f" {glyphs.warn} ", "bold $stale") if i == 0 else "   "
            lines.append(Content.assemble(mark, line))
    name_cells = max((len(line.name) for s in sections for line in s.lines), default=0) + 2
    value_cells = VALUE_CELLS
    for section in sections:
        lines += [Content(), Content.styled(f" {section.heading}", "bold $heading")]
        lines += [_line(line, name_cells, value_cells, width, glyphs) for line in section.lines]
    return lines


def _line(line: SheetLine, name_cells: int, value_cells: int, width: int, glyphs: Glyphs) -> Content:
    room = width - name_cells - value_cells - 2
    long = len(line.value) > value_cells - 2
    value = fit(line.value, value_cells + max(0, room) if long else value_cells, glyphs.ellipsis)
    content = Content.assemble(
        " ",
        (fit(line.name, name_cells), "$dim"),
        (value, "$foreground"),
        (crop(line.meaning, room, glyphs.ellipsis) if not long and room >= 12 else "", "$dim"),
    )
    return content.truncate(width - 1, ellipsis=True)


class SheetRows(RowList):
    """Scrolls through the sheet."""

    def __init__(
        self, intro: Sequence[str], findings: Sequence[str], sections: Sequence[SheetSection]
    ) -> None:
        super().__init__()
        self._parts = (tuple(intro), tuple(findings), tuple(sections))

    def paint(self, width: int) -> Sequence[Row]:
        return [Row((line,)) for line in sheet_lines(*self._parts, width, host(self).glyphs)]


class Sheet(QuickModal[None]):
    """Shows the sheet until it is closed."""

    DEFAULT_CSS = """
    Sheet { align: center middle; }
    Sheet Panel { width: 110; max-width: 96%; height: 90%; max-height: 90%; border: round $frame-focus; }
    Sheet.-narrow Panel { width: 100%; max-width: 100%; height: 100%; max-height: 100%; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal")]  # noqa: RUF012
    BINDINGS = bindings("overlay")

    def __init__(
        self, title: str, intro: Sequence[str], findings: Sequence[str], sections: Sequence[SheetSection]
    ) -> None:
        super().__init__()
        self._title = title
        self._count = len(findings)
        self._rows = SheetRows(intro, findings, sections)

    def compose(self) -> ComposeResult:
        with Panel(title=self._title):
            yield self._rows

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        """As high as what it says, where the screen is wide enough to show what lies behind it."""
        panel = self.query_one(Panel)
        if self.has_class("-narrow"):
            panel.styles.height = "100%"
            return
        width = self._rows.size.width or panel.content_size.width
        lines = sum(len(row.lines) for row in self._rows.paint(width))
        panel.styles.height = lines + panel.gutter.height

    def on_mount(self) -> None:
        glyphs = host(self).glyphs
        which = (
            Content.styled(f"{glyphs.warn} {counted(self._count, 'note')}", "$stale")
            if self._count
            else Content()
        )
        self.query_one(Panel).headline(which=which, where="{overlay.close} close")
        self._rows.focus()

    def action_close(self) -> None:
        self.dismiss()
