"""The full ledger of one memory: every stage, what it found, by which rule, and what it left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.content import Content

from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.table import bindings
from memtui.tui.host import host
from memtui.tui.layout import NORMAL_WIDTH
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.waterfall import number
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Row, RowList

STAGE_CELLS, VALUE_CELLS, DELTA_CELLS, RANK_CELLS = 15, 7, 8, 11

FIXED_CELLS = STAGE_CELLS + 2 * VALUE_CELLS + DELTA_CELLS + RANK_CELLS + 3

SHARE, MOST_WIDTH = 94, 150
"""The panel takes this share of the screen (as in its style), up to so many cells."""

MIN_RULE = 30
"""Narrower than this the rule goes on a line of its own."""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One stage of the ledger; None where there was no score or no rank."""

    stage: str
    style: str
    before: float | None
    after: float | None
    rank_before: int | None
    rank_after: int | None
    rule: str
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class LedgerPage:
    """One memory: who it is, its entries, whether they add up, what follows below, and the whole as JSON."""

    title: str
    badge: Content
    entries: tuple[LedgerEntry, ...]
    below: Callable[[int], Sequence[Content]]
    """Lines below the entries for a width: failures of the proof, the text, the facts."""
    document: str


def heading(width: int) -> Content:
    """The names of the columns."""
    rule = "rule" if width - FIXED_CELLS >= MIN_RULE else ""
    return Content.styled(
        " "
        + fit("STAGE", STAGE_CELLS)
        + right("BEFORE", VALUE_CELLS)
        + right("AFTER", VALUE_CELLS)
        + right("CHANGE", DELTA_CELLS)
        + right("RANK", RANK_CELLS)
        + ("  " + rule.upper() if rule else ""),
        "bold $heading",
    )


def entry_lines(entry: LedgerEntry, width: int, glyphs: Glyphs) -> list[Content]:
    """One stage in as many lines as its rule needs."""
    room = width - FIXED_CELLS
    beside = room >= MIN_RULE
    rule = Content(entry.rule).wrap(max(12, room - 1 if beside else width - 6)) or [Content()]
    rule_style = "$stage-cut" if entry.stopped else "$dim"
    change, change_style = _change(entry, glyphs)
    first = Content.assemble(
        " ",
        (fit(entry.stage, STAGE_CELLS, glyphs.ellipsis), entry.style),
        (right("-" if entry.before is None else number(entry.before), VALUE_CELLS), "$dim"),
        (right("-" if entry.after is None else number(entry.after), VALUE_CELLS), "$foreground"),
        (right(change, DELTA_CELLS), change_style),
        (right(_ranks(entry, glyphs), RANK_CELLS), "$foreground"),
        "  ",
        rule[0].stylize_before(rule_style) if beside else "",
    )
    rest = rule[1:] if beside else rule
    indent = FIXED_CELLS if beside else 4
    return [first, *(Content.assemble(" " * indent, line.stylize_before(rule_style)) for line in rest)]


def _change(entry: LedgerEntry, glyphs: Glyphs) -> tuple[str, str]:
    if entry.stopped:
        return glyphs.cross, "bold $stage-cut"
    if entry.after is None or entry.before is None:
        return "", "$dim"
    delta = round(entry.after, 3) - round(entry.before, 3)
    if entry.after == entry.before:
        return "=", "$dim"
    text = number(delta)
    return ("+" + text if delta >= 0 else text), "$delta-up" if delta >= 0 else "$delta-down"


def _ranks(entry: LedgerEntry, glyphs: Glyphs) -> str:
    a, b = entry.rank_before, entry.rank_after
    if a is None or b is None or a == b:
        return "" if a is None and b is None else f"#{b if b is not None else a}"
    return f"#{a} {glyphs.forth} #{b}"


class LedgerRows(RowList):
    """The entries and what follows them."""

    page: LedgerPage | None = None

    def paint(self, width: int) -> Sequence[Row]:
        if self.page is None:
            return []
        glyphs = host(self).glyphs
        lines = [heading(width)]
        for entry in self.page.entries:
            lines += entry_lines(entry, width, glyphs)
        return [Row((line,)) for line in (*lines, *self.page.below(width))]


class StageLedger(QuickModal[str]):
    """Walks through the ledgers of `ids`; returns the id that was shown last."""

    DEFAULT_CSS = """
    StageLedger { align: center middle; }
    StageLedger Panel { width: 94%; max-width: 150; height: 90%; border: round $frame-focus; }
    StageLedger.-narrow Panel { width: 100%; height: 100%; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal")]  # noqa: RUF012
    BINDINGS = bindings("ledger")

    def __init__(self, ids: Sequence[str], at: int, page_of: Callable[[str], LedgerPage]) -> None:
        super().__init__()
        self._ids, self._at, self._page_of = tuple(ids), at, page_of

    def compose(self) -> ComposeResult:
        with Panel():
            yield LedgerRows()

    def on_mount(self) -> None:
        self.query_one(LedgerRows).focus()
        self._turn(0)

    def _turn(self, by: int) -> None:
        self._at = max(0, min(len(self._ids) - 1, self._at + by))
        page = self._page_of(self._ids[self._at])
        rows = self.query_one(LedgerRows)
        rows.page = page
        rows.repaint()
        rows.scroll_home(animate=False)
        panel = self.query_one(Panel)
        place = f"{self._at + 1} / {len(self._ids)}"
        where = host(self).keys.words(f"{{ledger.next}} {{ledger.previous}} {place}   {{ledger.close}} close")
        screen_width = self.app.size.width
        narrow = screen_width < NORMAL_WIDTH
        beside = page.badge.cell_length + (len(where) if narrow else 0)
        room = (screen_width if narrow else min(MOST_WIDTH, screen_width * SHARE // 100)) - beside - 12
        title = crop(page.title, max(8, room), host(self).glyphs.ellipsis)
        panel.headline(what=title, which=page.badge, where=where)

    def action_next(self) -> None:
        self._turn(1)

    def action_previous(self) -> None:
        self._turn(-1)

    def action_copy(self) -> None:
        host(self).copy(self._page_of(self._ids[self._at]).document, "account")

    def action_close(self) -> None:
        self.dismiss(self._ids[self._at])
