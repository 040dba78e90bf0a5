"""Whose recall it is and what it searches: an agent's scopes, scopes that are named, or all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
AGENT = "\0agent:"
"""Before the name of an agent: the key of its row."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What was chosen. `scopes` None leaves them to the agent that asks, or is no filter with `everyone`."""

    scopes: tuple[str, ...] | None = None
    agent: str = ""
    everyone: bool = False


@dataclass(frozen=True, slots=True)
class Reader:
    """An agent that may ask: its key (empty for the store's own), its name, what it reads, how many memories."""

    key: str
    name: str
    reads: str
    rows: int


class ScopeRows(RowList):
    """Every scope with its number of memories, the chosen ones marked."""

    BINDINGS = bindings("choice")

    def __init__(
        self, scopes: Sequence[tuple[str, int]], now: Searched, readers: Sequence[Reader] = ()
    ) -> None:
        super().__init__()
        known, chosen = {scope for scope, _ in scopes}, now.scopes or ()
        self._scopes = [*scopes, *((scope, 0) for scope in chosen if scope not in known)]
        self._readers = tuple(readers)
        self._now = now
        self.chosen = list(chosen)

    def paint(self, width: int) -> Sequence[Row]:
        glyphs = host(self).glyphs
        total = sum(count for _, count in self._scopes)
        rows = []
        for reader in self._readers:
            mine = not self.chosen and not self._now.everyone and self._now.agent in (reader.key, reader.name)
            words = one_line(f"as {reader.name}: {reader.reads or 'everything'}")
            rows.append(self._row(AGENT + reader.key, words, reader.rows, mine, "$foreground", width))
        unfiltered = "all scopes, which no agent sees" if self._readers else "all scopes, no filter"
        nothing = not self.chosen and (self._now.everyone or not self._readers)
        rows.append(self._row(ALL, unfiltered, total, nothing, "$foreground", width))
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
            self._now = replace(self._now, scopes=None, everyone=True)
        elif self.key.startswith(AGENT):
            self.chosen.clear()
            self._now = Searched(agent=self.key.removeprefix(AGENT))
        elif self.key in self.chosen:
            self.chosen.remove(self.key)
        elif self.key:
            self.chosen.append(self.key)
        self.repaint()

    def action_take(self) -> None:
        """Take what is marked; with nothing marked, the scope under the cursor."""
        if self.key == ALL or self.key.startswith(AGENT):
            self.action_mark()
        elif not self.chosen and self.key:
            self.chosen.append(self.key)
        if self.chosen:
            self.screen.dismiss(Searched(tuple(self.chosen), self._now.agent))
        else:
            self.screen.dismiss(self._now)


class ScopePick(QuickModal[Searched | None]):
    """Returns what was chosen, None when closed."""

    DEFAULT_CSS = """
    ScopePick { align: center middle; }
    ScopePick Panel { width: 60; max-width: 100%; height: 22; max-height: 90%; border: round $frame-focus; }
    """
    BINDINGS = bindings("choice", only=("close",))

    def __init__(
        self, scopes: Sequence[tuple[str, int]], now: Searched, readers: Sequence[Reader] = ()
    ) -> None:
        super().__init__()
        self._rows = ScopeRows(scopes, now, readers)

    def compose(self) -> ComposeResult:
        with Panel(title="Who asks, in which scopes"):
            yield self._rows

    def on_mount(self) -> None:
        self.query_one(Panel).headline(where="{choice.mark} mark   {choice.take} take   {choice.close} close")
        self._rows.focus()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        event.stop()
        self._rows.action_mark()

    def action_close(self) -> None:
        self.dismiss(None)
