"""Compare: the same question answered in two ways, side by side, and what made the difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.reactive import reactive

from memtui.engine import CancelToken, MemtuiError
from memtui.paths import store_state_dir
from memtui.tui.frame import Frame
from memtui.tui.keys import bindings
from memtui.tui.layout import Arrangement, size_class
from memtui.tui.messages import RunFailed, RunFinished, ShowMemory
from memtui.tui.runner import Report
from memtui.tui.screens.recall.compare import arrange
from memtui.tui.screens.recall.compare import state as reduce
from memtui.tui.screens.recall.compare.painting import Painting
from memtui.tui.screens.recall.compare.sides import Sides
from memtui.tui.screens.recall.compare.state import CompareState, Pair, Side
from memtui.tui.session import Session
from memtui.tui.widgets.arranged import Arranged
from memtui.tui.widgets.breakdown import Breakdown
from memtui.tui.widgets.built_rows import BuiltRows
from memtui.tui.widgets.lines import Lines
from memtui.tui.widgets.links import Links
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.rows import RowList
from memtui.tui.widgets.state_panel import StatePanel

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.tui.screens.recall.marking import Asked


class CompareScreen(Frame):
    """Opened over Recall with the answer that is there as side A; `cases` opens the saved cases with both sides."""

    MODE = "recall"
    CSS_PATH = "compare.tcss"
    BINDINGS = bindings("compare")

    state: reactive[CompareState] = reactive(CompareState(Side("", None)), init=False)

    def __init__(
        self, a: Side, b: Side | None = None, *, cases: Callable[[Asked, Asked | None], None]
    ) -> None:
        super().__init__()
        self._cases = cases
        self._painting = Painting(self)
        self._sides = Sides(self)
        first = CompareState(a)
        self.set_reactive(CompareScreen.state, first if b is None else reduce.take(first, b))

    def body(self) -> ComposeResult:
        def rows(name: str) -> BuiltRows:
            return BuiltRows(partial(self._painting.build, name), id=f"list-{name}")

        left, right = rows("a"), rows("b")
        yield Arranged(
            Panel(Lines(id="head-lines"), title="Compare", id="head"),
            Panel(rows("stages"), title="Stages", id="stages"),
            Panel(Horizontal(left, Links(left, right), right), StatePanel(), id="flow"),
            Panel(rows("merged"), id="merged"),
            Panel(Breakdown(id="fall-a"), id="why-a"),
            Panel(Breakdown(id="fall-b"), id="why-b"),
            Panel(rows("differs"), title="What differs", id="differs"),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        return arrange.compare(width, height, self._painting.shape())

    def on_mount(self) -> None:
        self._painting.everything()
        if self.state.phase == "running":
            self._run()

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self._painting.everything()

    def session_changed(self, session: Session) -> None:
        self._painting.everything()

    def watch_state(self, old: CompareState, new: CompareState) -> None:
        self._painting.change(old, new)

    # ------------------------------------------------------------------ asking

    def take(self, b: Side) -> None:
        """Compare with this side."""
        self.state = reduce.take(self.state, b)
        self._run()

    def _run(self) -> None:
        engine, a, b = self.session.engine, self.state.a, self.state.b
        if engine is None or b is None:
            return
        path = store_state_dir(self.session.info.uri if self.session.info else "") / "cases.json"

        def work(cancel: CancelToken, report: Report) -> Pair:
            return answered(engine, a, b, path, cancel)

        self.runner.start("pair", work)

    def on_run_finished(self, message: RunFinished) -> None:
        if not self.runner.done(message):
            return
        if message.slot == "pair":
            first = self.state.pair is None
            self.state = reduce.finish(self.state, message.value)
            if first or isinstance(self.focused, StatePanel):
                self.call_after_refresh(self._focus_list)
        elif message.slot == "side":
            self.take(message.value)
        elif message.slot == "versions":
            self._sides.versions_known(message.value)

    def on_run_failed(self, message: RunFailed) -> None:
        if not self.runner.done(message):
            return
        if message.slot == "pair":
            self.state = reduce.fail(self.state, message.error)
        else:
            self.flash(str(message.error), "error")

    def _focus_list(self) -> None:
        narrow = size_class(self.app.size.width) == "narrow"
        self.query_one("#list-merged" if narrow else "#list-a", RowList).focus()

    # ------------------------------------------------------------------ what the panels say

    @on(RowList.Highlighted)
    def _highlighted(self, event: RowList.Highlighted) -> None:
        if event.rows.id in ("list-a", "list-b", "list-merged"):
            self.state = reduce.select(self.state, event.key)

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        self.state = reduce.select(self.state, event.key)
        self.action_explain()

    @on(StatePanel.Chosen)
    def _chosen(self, event: StatePanel.Chosen) -> None:
        name = event.choice.name
        if name == "again":
            self.action_again()
        elif name == "other":
            self._sides.menu()
        elif name == "back":
            self.state = reduce.give_up(self.state)
            self.call_after_refresh(self._focus_list)
        else:
            self._sides.way(name)

    # ------------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        needs_pair = (
            "swap",
            "again",
            "turn",
            "explain",
            "browse",
            "previous",
            "next",
            "zoom",
            "left",
            "right",
            "cases",
        )
        return None if action in needs_pair and self.state.pair is None else True

    def action_other(self) -> None:
        self._sides.menu()

    def action_settings(self) -> None:
        self._sides.way("settings")

    def action_swap(self) -> None:
        self.state = reduce.swap(self.state)
        self._run()

    def action_again(self) -> None:
        self.state = reduce.again(self.state)
        self._run()

    def action_turn(self) -> None:
        self.state = reduce.turn(self.state)

    def action_previous(self) -> None:
        self.state = reduce.step(self.state, -1)

    def action_next(self) -> None:
        self.state = reduce.step(self.state, 1)

    def action_left(self) -> None:
        self.query_one("#list-a", RowList).focus()

    def action_right(self) -> None:
        self.query_one("#list-b", RowList).focus()

    def action_explain(self) -> None:
        """Every stage of the selected memory, on the side that is looked at."""
        from memtui.tui.screens.recall.compare.ledgers import open_ledger

        open_ledger(self)

    def action_browse(self) -> None:
        if self.state.selected:
            self.app.post_message(ShowMemory(self.state.selected))

    def action_cases(self) -> None:
        """Both sides on every saved case; a receipt cannot be asked again."""
        pair = self.state.pair
        if pair is None or pair.a.request is None or pair.b.request is None:
            self.flash("A receipt cannot be run on the cases.", "note")
            return
        self._cases((pair.a.title, pair.a.request), (pair.b.title, pair.b.request))

    def action_zoom(self) -> None:
        around = self.focused.ancestors if self.focused else ()
        panel = next((node.id for node in around if isinstance(node, Panel)), None)
        self.state = reduce.zoomed(self.state, panel if panel and panel != "head" else "flow")

    def action_back(self) -> None:
        if self.runner.busy("pair"):
            self.runner.cancel("pair")
            self.state = reduce.give_up(self.state)
            self.flash("stopped", "note")
        elif self.state.zoom:
            self.state = reduce.zoomed(self.state, "")
        elif self.state.phase == "failed" and self.state.pair is not None:
            self.state = reduce.give_up(self.state)
        else:
            self.app.pop_screen()


def answered(engine: Engine, a: Side, b: Side, cases: Any, cancel: CancelToken) -> Pair:
    """Ask what can be asked, and compare. Call from a worker."""
    from memtui.engine import CaseBook

    if a.request is not None and b.request is not None:
        one, other = engine.lab.pair(a.request, b.request, None, cancel)
        a, b = replace(a, account=one), replace(b, account=other)
    elif a.request is not None:
        a = replace(a, account=engine.recall(a.request, None, cancel))
    elif b.request is not None:
        b = replace(b, account=engine.recall(b.request, None, cancel))
    assert a.account is not None  # what cannot be asked was read from a file
    assert b.account is not None
    comparison = engine.lab.compare(a.account, b.account)
    memories: dict[str, Any] = {}
    for account in (a.account, b.account):
        memories.update(getattr(account, "memories", {}))
    unknown = [flow.id for flow in comparison.flows if flow.id not in memories]
    if unknown:
        memories.update(engine.memories(unknown))
    asked = a.request or b.request
    case = None
    if asked is not None:
        who = getattr(a.account, "asker", None) or getattr(b.account, "asker", None)
        named, everyone = (who.named, who.sees_all) if who is not None else (None, False)
        try:
            case = CaseBook(cases).find(asked.query, named, asked.category, asked.agent, everyone)
        except MemtuiError:
            case = None  # a broken case book is told where the cases are
    return Pair(a, b, comparison, memories, case)
