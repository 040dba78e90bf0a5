"""Mend: what is junk in this store, and what to do about it; opened from Browse, closed with escape."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.app import ComposeResult

from memtui.engine import MemtuiError, Progress
from memtui.tui import layouts
from memtui.tui.actions.table import bindings
from memtui.tui.host import host
from memtui.tui.layout import Arrangement
from memtui.tui.messages import RunAdvanced, RunFailed, RunFinished
from memtui.tui.no_store import of_session
from memtui.tui.screens.mend import finding_list
from memtui.tui.screens.mend import state as reduce
from memtui.tui.screens.mend.finding_list import Finds, MendActions
from memtui.tui.screens.mend.state import PARTS, MendState, Part
from memtui.tui.screens.mend.view import LISTED, MEMBERS, detail_rows, head_lines, key_of, list_rows, listed
from memtui.tui.session import Session
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Row, RowList
from memtui.tui.widgets.state_panel import Choice, State, StatePanel, failed
from memtui.tui.widgets.text_lines import TextLines

if TYPE_CHECKING:
    from memtui.engine import Engine


LOOK, READ, CLUSTERS = "look", "read", "clusters"

_NAMES = dict(PARTS)

_NOTHING: dict[Part, str] = {
    "duplicates": "no two memories are that much alike",
    "noise": "the noise filter would drop nothing",
    "secrets": "no secrets and no orders to a model",
    "trash": "the trash is empty: nothing was archived, or deleted through memtui",
}


class MendScreen(MendActions):
    """One state, a list and a detail that paint it, and engine calls that change it."""

    MODE = "browse"
    UNDO = "mend.undo"
    CSS_PATH = "mend.tcss"
    BINDINGS = bindings("mend")

    def __init__(self, part: Part = "duplicates", filter: str = "") -> None:
        super().__init__()
        self.state = MendState(part, filter)
        self._engine: Engine | None = None
        self._revision = -1
        self._keys: list[str] = []
        """The rows of the list, whether they have been painted yet or not."""
        self._said: State | None = State("loading", finding_list.title_of(part))

    @property
    def listed(self) -> bool:
        return self._said is None

    def body(self) -> ComposeResult:
        yield LayoutContainer(
            TextLines(id="head"),
            Panel(StatePanel(), title=_NAMES[self.state.part], id="said"),
            Panel(Finds(self._list, id="finds"), title=_NAMES[self.state.part], id="found"),
            Panel(Finds(self._detail, id="member"), title="Memory", id="one"),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        return layouts.mend(width, height, said=self._said is not None)

    def _list(self, width: int, height: int) -> list[Row]:
        app = host(self)
        return list_rows(self.state, width, app.glyphs, app.now_ms())

    def _detail(self, width: int, height: int) -> list[Row]:
        app = host(self)
        return detail_rows(self.state, self.finds.key, width, app.glyphs, app.now_ms(), app.keys.by_id)

    # the store

    def session_changed(self, session: Session) -> None:
        if session.engine is None:
            self.runner.cancel_all()
            self._engine, self._revision = None, -1
            self.state = MendState(part=self.state.part)
            self._say(of_session(session))
        elif session.phase == "reading" and not self.own and not self.state.looked:
            self._say(State("loading", "reading tiers and states", progress=session.progress))
        elif session.phase == "ready" and session.revision != self._revision:
            again, self._revision = session.engine is self._engine, session.revision
            self._engine = session.engine
            if self.own:  # what it did is known: the lists have lost it already
                self.own = False
                self.state = replace(self.state, trash=None)
                if self.state.part != "trash":
                    self.repaint_all()
                    return
            elif again or self.state.looked:
                self.state = reduce.unlooked(self.state)
            self.look()
        elif session.phase == "ready":
            self.own = False  # reading it anew has failed

    # looking

    def look(self) -> None:
        """Look for what the present part is about."""
        engine, state = self._engine, self.state
        if engine is None:
            return
        self._say(State("loading", finding_list.title_of(state.part), (("{mend.back}", "stops it"),)))
        self.runner.start(LOOK, lambda token, report: finding_list.look(engine, state, token, report))

    def show(self, state: MendState, *, key: str | None = None) -> None:
        """Another state of what was found; a part that was not looked for yet is looked for."""
        other = state.part != self.state.part
        self.state = state
        if other:
            self.runner.cancel(LOOK)
        if not state.looked:
            self.look()
            return
        if other:
            self._say(None)
        self.repaint_all(key)

    def turn(self, state: MendState) -> None:
        """Another threshold: the pairs are known, only the clusters are made anew, in a thread."""
        self.state = state
        self.query_one("#head", TextLines).show(head_lines(state, self.size.width, host(self).keys.by_id))
        if (near := state.near) is not None:
            self.runner.start(CLUSTERS, lambda token, report: near.clusters(state.threshold))

    @on(RunAdvanced)
    def _advanced(self, message: RunAdvanced) -> None:
        if message.slot == LOOK and isinstance(message.value, Progress) and self.runner.is_current(message):
            panel = self.query_one(StatePanel)
            panel.state = replace(panel.state, progress=message.value)

    @on(RunFinished)
    def _finished(self, message: RunFinished) -> None:
        message.stop()
        if not self.runner.done(message):
            return
        value = message.value
        if message.slot == LOOK:
            self.state = self._found(value)
            self._say(None)
            self.repaint_all("")
        elif message.slot == CLUSTERS:
            self.state = replace(self.state, clusters=value)
            self.repaint_all()
        elif message.slot == READ:
            self.state = replace(self.state, memories={**self.state.memories, **value})
            self.finds.repaint()
            self.member.repaint()

    def _found(self, value: Any) -> MendState:
        state = self.state
        if state.part == "duplicates":
            near, clusters = value
            return replace(state, near=near, clusters=clusters)
        if state.part == "trash":
            return replace(state, trash=value)
        return replace(state, suspects={**state.suspects, state.part: value})

    @on(RunFailed)
    def _failed(self, message: RunFailed) -> None:
        message.stop()
        if not self.runner.done(message):
            return
        if message.slot == LOOK:
            self._say(
                failed(
                    "it could not be looked for",
                    message.error,
                    Choice("look", "look again", key="app.reload"),
                )
            )
        else:
            self.flash(str(message.error), "error")

    @on(StatePanel.Chosen)
    def _chosen(self, message: StatePanel.Chosen) -> None:
        if message.choice.name == "look" and self.session.newer:
            host(self).take("retry")  # what another writer did is read first; the look follows it
        elif message.choice.name == "look" and self._engine is not None:
            self.look()
        elif message.choice.name == "all":
            self.action_within()
        elif message.choice.name == "leave":
            self.dismiss()
        else:
            host(self).take(message.choice.name, message.choice.value)

    def action_back(self) -> None:
        if self.runner.busy(LOOK):
            self.runner.cancel(LOOK)
            choices = (
                Choice("look", "look again", key="app.reload"),
                Choice("leave", "back to Browse", "{mend.back}"),
            )
            self._say(State("empty", "stopped; nothing was looked at to the end", choices=choices))
        else:
            super().action_back()

    # showing

    def _say(self, said: State | None) -> None:
        """Words in the place of the lists, or the lists."""
        self._said = said
        self.query_one("#said", Panel).headline(what=_NAMES[self.state.part])
        if said is not None:
            self.query_one(StatePanel).state = said
        self.query_one("#head", TextLines).show(
            head_lines(self.state, self.size.width, host(self).keys.by_id)
        )
        self.query_one(LayoutContainer).rearrange()
        self.call_after_refresh((self.query_one(StatePanel) if said is not None else self.finds).focus)

    def repaint_all(self, key: str | None = None) -> None:
        """Paint the lists anew; the cursor goes to `key`, to the first for an empty one, else it stays."""
        state, width = self.state, self.size.width
        rows = self._keys = [key_of(each) for each in listed(state)[:LISTED]]
        if not rows:
            ways = [] if state.part == "trash" else [Choice("look", "look again", key="app.reload")]
            if state.within and state.part != "trash":
                ways.append(Choice("all", "look at every memory", key="mend.within"))
            self._say(State("empty", _NOTHING[state.part], choices=tuple(ways)))
            return
        if self._said is not None:
            self._say(None)
        self.query_one("#head", TextLines).show(head_lines(state, width, host(self).keys.by_id))
        self.query_one("#found", Panel).headline(what=_NAMES[state.part])
        wanted = self.finds.key if key is None else key
        self.finds.repaint(wanted if wanted in rows else rows[0])
        self._selected()
        self.refresh_bindings()

    def _selected(self) -> None:
        """The cursor of the list is somewhere: paint that one, and read what is not known of it yet."""
        keys = self._keys
        at = keys.index(self.finds.key) + 1 if self.finds.key in keys else 0
        self.query_one("#found", Panel).headline(where=f"{at:,} / {len(keys):,}")
        titles = {"duplicates": "Cluster", "trash": "Thrown away"}
        self.query_one("#one", Panel).headline(what=titles.get(self.state.part, "Memory"))
        self.member.repaint()
        self._read()

    def _read(self) -> None:
        engine, known = self._engine, self.state.memories
        wanted = [each for each in self._wanted() if each and each not in known]
        if engine is not None and wanted:
            self.runner.start(READ, lambda token, report: engine.memories(wanted))

    def _wanted(self) -> list[str]:
        """The members of the selected cluster, and the first of those around it; else the selected one."""
        here = self.finds.key
        if self.state.part != "duplicates":
            return [here]
        clusters = reduce.shown_clusters(self.state)[:LISTED]
        at = next((i for i, each in enumerate(clusters) if each.ids[0] == here), 0)
        near = clusters[max(0, at - MEMBERS) : at + MEMBERS]
        return [*(clusters[at].ids[:MEMBERS] if clusters else ()), *(each.ids[0] for each in near)]

    def on_resize(self, event: events.Resize) -> None:  # beside the frame's own: Textual calls both
        self.query_one("#head", TextLines).show(
            head_lines(self.state, self.size.width, host(self).keys.by_id)
        )

    @on(RowList.Highlighted, "#finds")
    def _moved(self) -> None:
        self.state = replace(reduce.fresh(self.state), revealed="")
        self._selected()

    @on(Finds.Sideways)
    def _sideways(self, message: Finds.Sideways) -> None:
        (self.member if message.by > 0 else self.finds).focus()

    @on(RowList.Opened, "#finds")
    def _opened(self) -> None:
        self.member.focus()

    def fail(self, error: MemtuiError) -> None:
        """A failure that has no panel of its own."""
        self.flash(str(error), "error")
