"""Compare: the same question answered in two ways, side by side, and what made the difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.reactive import reactive

from memtui.engine import CancelToken, MemtuiError, explain, one_line
from memtui.paths import store_state_dir
from memtui.tui import layouts
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.calls import Report
from memtui.tui.dialogs.stage_ledger import LedgerPage, StageLedger
from memtui.tui.host import host
from memtui.tui.layout import WIDE_WIDTH, Arrangement, size_class
from memtui.tui.messages import RunFailed, RunFinished, ShowMemory
from memtui.tui.no_store import of_session
from memtui.tui.paint.cells import crop
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.screens.compare import state as reduce
from memtui.tui.screens.compare import view
from memtui.tui.screens.compare.side_picker import SidePicker, choosing
from memtui.tui.screens.compare.state import CompareState, Pair, Side
from memtui.tui.session import Session
from memtui.tui.trace import ledger
from memtui.tui.widgets.breakdown import Breakdown
from memtui.tui.widgets.connectors import Connectors
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import BuiltRows, Row, RowList
from memtui.tui.widgets.state_panel import Choice, State, StatePanel, failed
from memtui.tui.widgets.text_lines import TextLines

if TYPE_CHECKING:
    from memtui.engine import Engine, Trace
    from memtui.tui.screens.recall.judging import ChangeRequest


# State to panels of a comparison.

LISTS = ("list-a", "list-b", "list-merged", "list-differs", "list-stages")


class Painting:
    """Paints the panels of one comparison."""

    def __init__(self, screen: CompareScreen) -> None:
        self._screen = screen

    @property
    def _state(self) -> CompareState:
        return self._screen.state

    @property
    def _glyphs(self) -> Glyphs:
        return host(self._screen).glyphs

    def shape(self) -> layouts.CompareShape:
        """What the arrangement needs to know of the state."""
        state = self._state
        found = state.pair.comparison if state.pair is not None else None
        return layouts.CompareShape(
            flows=len(found.flows) if found is not None else 0,
            stages=len(found.stages) if found is not None else 0,
            shown=state.shown,
            zoom=state.zoom,
            answered=found is not None and not self._blank,
        )

    @property
    def _blank(self) -> bool:
        """Whether words stand in place of the panels."""
        return self._instead() is not None

    def _instead(self) -> State | None:
        state, session = self._state, self._screen.session
        if session.engine is None:
            return of_session(session)
        if state.phase == "failed" and state.error is not None:
            ways = [Choice("again", "try again"), Choice("other", "compare with something else")]
            if state.pair is not None:
                ways.append(Choice("back", "back to the comparison before"))
            return failed("This cannot be compared.", state.error, *ways)
        if state.pair is None:
            return (
                choosing(state.a)
                if state.phase == "choosing"
                else State("loading", "asking both", skeleton=True)
            )
        if not state.pair.comparison.flows:
            return State(
                "empty",
                "Neither side returned anything.",
                choices=(Choice("other", "compare with something else"),),
            )
        return None

    def build(self, name: str, width: int, height: int) -> Sequence[Row]:
        """The rows of one list."""
        pair, glyphs = self._state.pair, self._glyphs
        if pair is None:
            return []
        if name in ("a", "b"):
            which: Literal["a", "b"] = "a" if name == "a" else "b"
            return view.side_rows(pair, which, width, glyphs)
        if name == "merged":
            return view.merged_rows(pair, width, glyphs)
        if name == "stages":
            return view.stage_rows(pair, width, glyphs)
        wide = self._screen.app.size.width >= WIDE_WIDTH
        return view.rows(pair, self._state.selected, width, glyphs, stages=not wide)

    def everything(self) -> None:
        """Paint all panels."""
        self.change(None, self._state)

    def change(self, old: CompareState | None, new: CompareState) -> None:
        """Paint what has changed."""
        screen = self._screen
        if not screen.query(LayoutContainer):
            return

        def changed(*names: str) -> bool:
            return old is None or any(getattr(old, name) is not getattr(new, name) for name in names)

        screen.set_class(new.stale, "-stale")
        self._head(new)
        if changed("pair", "phase", "error"):
            self._words()
            for name in LISTS:
                screen.query_one(f"#{name}", RowList).repaint(new.selected if name != "list-stages" else None)
        elif changed("selected"):
            for name in ("list-a", "list-b", "list-merged"):
                screen.query_one(f"#{name}", RowList).choose(new.selected)
            screen.query_one("#list-differs", RowList).repaint()
        if changed("pair", "selected"):
            self._selected(new)
        if changed("pair", "phase", "shown", "zoom"):
            screen.query_one(LayoutContainer).rearrange()
            screen.refresh_bindings()

    def _words(self) -> None:
        screen = self._screen
        said = self._instead()
        panel = screen.query_one("#flow", Panel)
        panel.set_class(said is not None, "-state")
        state_panel = screen.query_one(StatePanel)
        if said is not None:
            if state_panel.state != said:
                state_panel.state = said
            panel.headline(what="Compare", which="", where="")
            screen.call_after_refresh(state_panel.focus)

    def _head(self, state: CompareState) -> None:
        screen, glyphs = self._screen, self._glyphs
        width = screen.app.size.width
        pair = state.pair
        question = next(
            (s.account.query for s in (state.a, state.b) if s and s.account and s.account.query), ""
        )
        second = Content.styled("asking both", "$primary") if state.phase == "running" else Content()
        if pair is not None and state.phase != "running":
            second = view.scores(pair, glyphs)
            said = view.outdated(
                pair, self._screen.session.info.version if self._screen.session.info else None
            )
            if said:
                cap = host(screen).keys.cap("compare.again")
                text = said.replace("{compare.again}", cap)
                second = Content.assemble((f"{glyphs.warn} {text}", "bold $stale"), "   ", second)
        first = Content.styled(
            crop(one_line(question) or "(the receipt holds no words)", width - 4), "bold $foreground"
        )
        lines = [Content.assemble(" ", first), Content.assemble(" ", second)]
        narrow = size_class(width) == "narrow"
        titles = self._titles(state, width - 4 if narrow else width - 14)
        if narrow:
            lines = (
                [lines[0], Content.assemble(" ", titles)]
                if pair is None
                else [Content.assemble(" ", titles), lines[1]]
            )
        screen.query_one("#head-lines", TextLines).show(lines)
        screen.query_one("#head", Panel).headline(which="" if narrow else titles)

    def _titles(self, state: CompareState, room: int) -> Content:
        """Both sides with the version and the clock that each stands on; those are never cut, the names are."""
        pair = state.pair if state.phase != "running" else None
        a, b = view.stands(pair) if pair is not None else ("", "")
        both = f"both {a}" if a and a == b else ""
        marks = ("", "") if both else (a, b)
        for took in (True, False):
            parts = [
                view.side_title(side, name, took, mark)
                if side is not None
                else Content.assemble((f"{name} ", "bold $key"), ("?", "$dim"))
                for name, side, mark in (("A", state.a, marks[0]), ("B", state.b, marks[1]))
            ]
            line = Content("   ").join([*parts, *([Content.styled(both, "$foreground")] if both else [])])
            if line.cell_length <= room:
                return line
        fixed = len(both) + sum(len(mark) + 4 for mark in marks) + 9
        cut = max(6, (room - fixed) // 2)
        parts = [
            view.side_title(side, name, False, mark, cut)
            for name, side, mark in (("A", state.a, marks[0]), ("B", state.b, marks[1]))
            if side is not None
        ]
        return Content("   ").join([*parts, *([Content.styled(both, "$foreground")] if both else [])])

    def _selected(self, state: CompareState) -> None:
        screen, pair, glyphs = self._screen, state.pair, self._glyphs
        if pair is None:
            return
        wide = screen.app.size.width >= WIDE_WIDTH
        for which in ("a", "b"):
            side: Side = pair.a if which == "a" else pair.b
            why = view.why(pair, which, state.selected, glyphs)
            screen.query_one(f"#fall-{which}", Breakdown).show(why)
            candidate = view.candidate_of(pair, which, state.selected)
            place = (
                "not found"
                if candidate is None
                else f"#{candidate.rank}"
                if candidate.rank
                else "not returned"
            )
            room = 40 if wide else 24
            screen.query_one(f"#why-{which}", Panel).headline(
                what=f"{which.upper()}  {crop(one_line(side.title), room, glyphs.ellipsis)}",
                which=place,
                where=""
                if wide
                else "{compare.turn} what differs"
                if which == "b"
                else "{compare.turn} other side",
            )
        found = pair.comparison
        ids = [flow.id for flow in found.flows]
        at = f"{len(ids)} memories"
        screen.query_one("#flow", Panel).headline(
            what="A",
            which=Content.assemble((f"{at}   ", "$dim"), ("B", "bold $foreground")),
            where="{compare.other} compare with another",
        )
        screen.query_one("#merged", Panel).headline(what="A > B", which="score A  score B")
        screen.query_one("#differs", Panel).headline(
            what="What differs", which=crop(view.text_of(pair, state.selected), 44, glyphs.ellipsis)
        )
        screen.query_one("#stages", Panel).headline(which=view.stage_heading(layouts.STAGE_CELLS - 2))
        screen.query_one(Connectors).show(view.pairings(pair, state.selected))


class CompareScreen(BaseScreen):
    """Opened over Recall with the answer that is there as side A; `cases` opens the saved cases with both sides."""

    MODE = "recall"
    CSS_PATH = "compare.tcss"
    BINDINGS = bindings("compare")

    state: reactive[CompareState] = reactive(CompareState(Side("", None)), init=False)

    def __init__(
        self, a: Side, b: Side | None = None, *, cases: Callable[[ChangeRequest, ChangeRequest | None], None]
    ) -> None:
        super().__init__()
        self._cases = cases
        self._painting = Painting(self)
        self._sides = SidePicker(self)
        first = CompareState(a)
        self.set_reactive(CompareScreen.state, first if b is None else reduce.take(first, b))

    def body(self) -> ComposeResult:
        def rows(name: str) -> BuiltRows:
            return BuiltRows(partial(self._painting.build, name), id=f"list-{name}")

        left, right = rows("a"), rows("b")
        yield LayoutContainer(
            Panel(TextLines(id="head-lines"), title="Compare", id="head"),
            Panel(rows("stages"), title="Stages", id="stages"),
            Panel(Horizontal(left, Connectors(left, right), right), StatePanel(), id="flow"),
            Panel(rows("merged"), id="merged"),
            Panel(Breakdown(id="fall-a"), id="why-a"),
            Panel(Breakdown(id="fall-b"), id="why-b"),
            Panel(rows("differs"), title="What differs", id="differs"),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        return layouts.compare(width, height, self._painting.shape())

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
        one, other = explain.pair(engine, a.request, b.request, None, cancel)
        a, b = replace(a, account=one), replace(b, account=other)
    elif a.request is not None:
        a = replace(a, account=engine.recall(a.request, None, cancel))
    elif b.request is not None:
        b = replace(b, account=engine.recall(b.request, None, cancel))
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


# Every stage of the compared memories, on the side that is looked at.


def open_ledger(screen: CompareScreen) -> None:
    """Open it at the selected memory; closing selects the one that was shown last."""
    state = screen.state
    pair = state.pair
    if pair is None or not state.selected:
        return
    focused = screen.focused.id if screen.focused is not None else None
    which: Literal["a", "b"] = "b" if focused == "list-b" or state.shown == "b" else "a"
    if not hasattr(view.account_of(pair, which), "pool"):
        screen.flash("A receipt has no ledger: look at the other side.", "note")
        return
    trace = cast("Trace", view.account_of(pair, which))
    ids = [flow.id for flow in reduce.listed(pair, which) if view.candidate_of(pair, which, flow.id)]
    if state.selected not in ids:
        screen.flash(f"No search of {which.upper()} found this memory.", "note")
        return

    def page_of(id: str) -> LedgerPage:
        candidate = view.candidate_of(pair, which, id)
        assert candidate is not None  # `ids` are the trace's own
        return ledger.page(trace, candidate, host(screen).glyphs, host(screen).now_ms())

    def closed(id: str | None) -> None:
        if id is not None and screen.state.pair is pair:
            screen.state = reduce.select(screen.state, id)

    screen.app.push_screen(StageLedger(ids, ids.index(state.selected), page_of), closed)
