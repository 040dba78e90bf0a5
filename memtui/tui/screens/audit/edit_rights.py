"""Editing what one agent may read: its scopes marked, then a planned change of the configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content

from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.table import bindings
from memtui.tui.config_request import Make
from memtui.tui.dialogs.config_preview import PlannedConfig
from memtui.tui.host import host
from memtui.tui.paint.cells import fit, right
from memtui.tui.paint.numbers import full
from memtui.tui.screens.audit.view import scope_words
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Row, RowList

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.configuration import Configuration
    from memtui.engine.witness import Rights


USUAL = "\0usual"
"""The key of the row that takes the list away."""


def plan_of(rights: Rights, agent: str, scopes: tuple[str, ...] | None) -> Make:
    """The plan of an agent's new list, with the cells that would change in sentences; for a worker."""

    def make(engine: Engine, config: Configuration) -> PlannedConfig:
        from memtui.engine.configuration import access_under, draft_of, plan_access
        from memtui.engine.witness import rights_under

        changes = plan_access(config, agent, scopes)
        _, cells = rights_under(engine, rights, access_under(config, changes, engine.environ))
        draft = draft_of(
            config, changes, name=f"access of {agent}", title=f"What {agent} may read",
            store=engine.store, environ=engine.environ,
        )  # fmt: skip
        said = tuple(cell.sentence for cell in cells)
        return PlannedConfig(
            draft, said or ("no agent reads more or less than before",), "WHO READS MORE OR LESS"
        )

    return make


def listed_now(rights: Rights, agent: str) -> tuple[tuple[str, ...], bool]:
    """What the agent may read, in the order of its list, and whether it has a list of its own at all."""
    from memtui.engine.access import GLOBAL, ScopePolicy, scope_of

    listed = rights.access.access.get(agent) if isinstance(rights.access, ScopePolicy) else None
    return (listed, True) if listed is not None else ((GLOBAL, scope_of("agent", agent)), False)


class ListRows(RowList):
    """Every scope with its memories; what the agent's list grants is marked."""

    BINDINGS = bindings("choice")

    def __init__(self, rights: Rights, agent: str) -> None:
        super().__init__()
        self._rights = rights
        listed, own = listed_now(rights, agent)
        self.chosen, self.usual = list(listed), not own
        known = [count for count in rights.matrix.counts if count is not None and count.strip()]
        self._scopes = tuple(dict.fromkeys((*known, *listed)))

    def paint(self, width: int) -> Sequence[Row]:
        counts = self._rights.matrix.counts
        rows = [self._row(USUAL, "no list: global and its own", "", self.usual, width)]
        for scope in self._scopes:
            marked = not self.usual and scope in self.chosen
            count = full(counts[scope].rows) if scope in counts else "0"
            rows.append(self._row(scope, scope_words(scope), count, marked, width))
        return rows

    def _row(self, key: str, name: str, count: str, marked: bool, width: int) -> Row:
        mark = (f" {host(self).glyphs.mark} ", "bold $mark") if marked else "   "
        return Row((Content.assemble(mark, fit(name, width - 14), (right(count, 10), "$dim"), " "),), key)

    def action_mark(self) -> None:
        """Grant the scope under the cursor, or take it away."""
        if self.key == USUAL:
            self.usual = not self.usual
        elif self.key:
            if self.usual:
                self.usual = False
            if self.key in self.chosen:
                self.chosen.remove(self.key)
            else:
                self.chosen.append(self.key)
        self.repaint()

    def action_take(self) -> None:
        self.screen.dismiss((None,) if self.usual else (tuple(self.chosen),))


class EditRights(QuickModal["tuple[tuple[str, ...] | None] | None"]):
    """Returns the new list in a tuple of its own (None inside: no list), None when it is left."""

    DEFAULT_CSS = """
    EditRights { align: center middle; }
    EditRights Panel { width: 64; max-width: 100%; height: 24; max-height: 100%; border: round $frame-focus; }
    """
    BINDINGS = bindings("choice", only=("close",))

    def __init__(self, rights: Rights, agent: str) -> None:
        super().__init__()
        self._rows = ListRows(rights, agent)
        self._title = f"What {agent} may read and write"

    def compose(self) -> ComposeResult:
        with Panel(title=self._title):
            yield self._rows

    def on_mount(self) -> None:
        self.query_one(Panel).headline(
            what=self._title, where="{choice.mark} grant   {choice.take} preview   {choice.close} leave it"
        )
        self._rows.focus()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        event.stop()
        self._rows.action_mark()

    def action_close(self) -> None:
        self.dismiss(None)
