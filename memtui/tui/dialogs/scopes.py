"""Which scopes a recall may search: any number of them, or no filter at all."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.content import Content

from memtui.engine import one_line
from memtui.tui.host import host
from memtui.tui.keys import bindings
from memtui.tui.paint.cells import fit, right
from memtui.tui.paint.numbers import full
from memtui.tui.quick import QuickModal
from memtui.tui.theme.tokens import scope_style
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.rows import Row, RowList

ALL = "\0all"
"""The key of the row that takes the filter away; no stored scope is this."""


class ScopeRows(RowList):
    """Every scope with its number of memories, the chosen ones marked."""

    BINDINGS = bindings("choice")

    def __init__(self, scopes: Sequence[tuple[str, int]], chosen: Sequence[str]) -> None:
        super().__init__()
        known = {scope for scope, _ in scopes}
        self._scopes = [*scopes, *((scope, 0) for scope in chosen if scope not in known)]
        self.chosen = list(chosen)

    def paint(self, width: int) -> Sequence[Row]:
        glyphs = host(self).glyphs
        total = sum(count for _, count in self._scopes)
        rows = [self._row(ALL, "all scopes, no filter", total, not self.chosen, "$foreground", width)]
        for scope, count in self._scopes:
            rows.append(
                self._row(
                    scope,
                    one_line(scope) or glyphs.dot,
                    count,
                    scope in self.chosen,
                    scope_style(scope),
                    width,
                )
            )
        return rows

    def _row(self, key: str, name: str, count: int, marked: bool, style: str, width: int) -> Row:
        glyphs = host(self).glyphs
        mark = (f" {glyphs.mark} ", "bold $mark") if marked else "   "
        return Row(
            (Content.assemble(mark, (fit(name, width - 14), style), (right(full(count), 10), "$dim"), " "),),
            key,
        )

    def action_mark(self) -> None:
        """Mark the scope under the cursor, or take its mark away; the first row takes all away."""
        if self.key == ALL:
            self.chosen.clear()
        elif self.key in self.chosen:
            self.chosen.remove(self.key)
        elif self.key:
            self.chosen.append(self.key)
        self.repaint()

    def action_take(self) -> None:
        """Take what is marked; with nothing marked, the scope under the cursor."""
        if not self.chosen and self.key not in ("", ALL):
            self.chosen.append(self.key)
        elif self.key == ALL:
            self.chosen.clear()
        self.screen.dismiss(tuple(self.chosen))


class ScopePick(QuickModal[tuple[str, ...] | None]):
    """Returns the chosen scopes, an empty tuple for no filter, None when closed."""

    DEFAULT_CSS = """
    ScopePick { align: center middle; }
    ScopePick Panel { width: 60; max-width: 100%; height: 22; max-height: 90%; border: round $frame-focus; }
    """
    BINDINGS = bindings("choice", only=("close",))

    def __init__(self, scopes: Sequence[tuple[str, int]], chosen: Sequence[str]) -> None:
        super().__init__()
        self._rows = ScopeRows(scopes, chosen)

    def compose(self) -> ComposeResult:
        with Panel(title="Search these scopes"):
            yield self._rows

    def on_mount(self) -> None:
        self.query_one(Panel).headline(where="{choice.mark} mark   {choice.take} take   {choice.close} close")
        self._rows.focus()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        event.stop()
        self._rows.action_mark()

    def action_close(self) -> None:
        self.dismiss(None)
