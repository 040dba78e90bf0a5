"""Compare: the same question answered in two ways, side by side, and what made the difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

from textual import on
from textual.app import ComposeResult
from textual.reactive import var

from memtui.engine import CancelToken, MemtuiError, explain
from memtui.paths import cases_file
from memtui.tui import layouts
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.bound_panel import Bound
from memtui.tui.calls import Report
from memtui.tui.dialogs.stage_ledger import LedgerPage, StageLedger
from memtui.tui.host import host
from memtui.tui.layout import Arrangement, size_class
from memtui.tui.messages import ShowMemory
from memtui.tui.screens.compare import state as reduce
from memtui.tui.screens.compare import view
from memtui.tui.screens.compare.panels import (
    DiffersPanel,
    HeadPanel,
    MergedPanel,
    PairStagesPanel,
    RankFlowPanel,
    SidePanel,
    shape_of,
)
from memtui.tui.screens.compare.side_picker import SidePicker
from memtui.tui.screens.compare.state import CompareState, Pair, Side
from memtui.tui.session import Session
from memtui.tui.trace import ledger
from memtui.tui.trace.stages import told_waits
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import RowList
from memtui.tui.widgets.state_panel import StatePanel

if TYPE_CHECKING:
    from memtui.engine import Engine, Trace
    from memtui.engine.recall import StageSummary
    from memtui.tui.screens.recall.judging import ChangeRequest


class CompareScreen(BaseScreen):
    """Opened over Recall with the answer that is there as side A; `cases` opens the saved cases with both sides."""

    MODE = "recall"
    CSS_PATH = "compare.tcss"
    BINDINGS = bindings("compare")

    state: var[CompareState] = var(CompareState(Side("", None)), init=False)

    def __init__(
        self, a: Side, b: Side | None = None, *, cases: Callable[[ChangeRequest, ChangeRequest | None], None]
    ) -> None:
        super().__init__()
        self._cases = cases
        first = CompareState(a)
        self.set_reactive(CompareScreen.state, first if b is None else reduce.take(first, b))

    def body(self) -> ComposeResult:
        bound = CompareScreen.state
        yield SidePicker().data_bind(state=bound)
        yield LayoutContainer(
            HeadPanel().data_bind(state=bound),
            PairStagesPanel().data_bind(state=bound),
            RankFlowPanel().data_bind(state=bound),
            MergedPanel().data_bind(state=bound),
            SidePanel("a").data_bind(state=bound),
            SidePanel("b").data_bind(state=bound),
            DiffersPanel().data_bind(state=bound),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        return layouts.compare(width, height, shape_of(self.state, self.session))

    @property
    def _sides(self) -> SidePicker:
        return self.query_one(SidePicker)

    def on_mount(self) -> None:
        if self.state.phase == "running":
            self._run()

    def session_changed(self, session: Session) -> None:
        self.panels_catch_up()
        self.query_one(LayoutContainer).rearrange()

    def watch_state(self, old: CompareState, new: CompareState) -> None:
        self.set_class(new.stale, "-stale")
        if any(getattr(old, name) is not getattr(new, name) for name in ("pair", "phase", "shown", "zoom")):
            self.query_one(LayoutContainer).rearrange()
            self.refresh_bindings()

    @on(Bound.Become)
    def _become(self, message: Bound.Become) -> None:
        self.state = message.change(self.state)

    @on(SidePicker.Chosen)
    def _side_chosen(self, message: SidePicker.Chosen) -> None:
        self.take(message.side)

    # ------------------------------------------------------------------ asking

    def take(self, b: Side) -> None:
        """Compare with this side."""
        self.state = reduce.take(self.state, b)
        self._run()

    def _run(self) -> None:
        engine, a, b = self.session.engine, self.state.a, self.state.b
        if engine is None or b is None:
            return
        path = cases_file(self.session.info.uri if self.session.info else "")

        def work(cancel: CancelToken, report: Report) -> Pair:
            return answered(engine, a, b, path, cancel, told_waits(report))

        self.call("pair", work, self._have_pair, progress=self._waits_for, failed=self._no_pair)

    def _waits_for(self, words: str) -> None:
        self.state = replace(self.state, waits=words)

    def _have_pair(self, pair: Pair) -> None:
        first = self.state.pair is None
        self.state = reduce.finish(self.state, pair)
        if first or isinstance(self.focused, StatePanel):
            self.hand_over(self._focus_list)

    def _no_pair(self, error: MemtuiError) -> None:
        self.state = reduce.fail(self.state, error)

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
            self.hand_over(self._focus_list)
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
        """Every stage of the selected memory on the side that is looked at; closing selects the one shown last."""
        state, pair = self.state, self.state.pair
        if pair is None or not state.selected:
            return
        focused = self.focused.id if self.focused is not None else None
        which: Literal["a", "b"] = "b" if focused == "list-b" or state.shown == "b" else "a"
        if not hasattr(view.account_of(pair, which), "pool"):
            self.flash("A receipt holds no stages: look at the other side.", "note")
            return
        trace = cast("Trace", view.account_of(pair, which))
        ids = [flow.id for flow in reduce.listed(pair, which) if view.candidate_of(pair, which, flow.id)]
        if state.selected not in ids:
            self.flash(f"No search of {which.upper()} found this memory.", "note")
            return

        def page_of(id: str) -> LedgerPage:
            candidate = view.candidate_of(pair, which, id)
            assert candidate is not None  # `ids` are the trace's own
            return ledger.page(trace, candidate, host(self).glyphs, host(self).now_ms())

        def closed(id: str | None) -> None:
            if id is not None and self.state.pair is pair:
                self.state = reduce.select(self.state, id)

        self.app.push_screen(StageLedger(ids, ids.index(state.selected), page_of), closed)

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


def answered(
    engine: Engine,
    a: Side,
    b: Side,
    cases: Any,
    cancel: CancelToken,
    on_stage: Callable[[StageSummary], None] | None = None,
) -> Pair:
    """Ask what can be asked, and compare. Call from a worker."""
    from memtui.engine.cases import CaseBook

    if a.request is not None and b.request is not None:
        one, other = explain.pair(engine, a.request, b.request, on_stage, cancel)
        a, b = replace(a, account=one), replace(b, account=other)
    elif a.request is not None:
        a = replace(a, account=engine.recall(a.request, on_stage, cancel))
    elif b.request is not None:
        b = replace(b, account=engine.recall(b.request, on_stage, cancel))
    assert a.account is not None  # what cannot be asked was read from a file
    assert b.account is not None
    comparison = explain.compare(a.account, b.account)
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
