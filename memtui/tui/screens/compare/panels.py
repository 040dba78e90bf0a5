"""Panels of Compare; each paints one part of `CompareState`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from textual.containers import Horizontal
from textual.content import Content

from memtui.engine import counted, one_line
from memtui.tui import layouts
from memtui.tui.bound_panel import BoundPanel
from memtui.tui.host import host
from memtui.tui.layout import WIDE_WIDTH, size_class
from memtui.tui.no_store import of_session
from memtui.tui.paint.cells import crop
from memtui.tui.screens.compare import view
from memtui.tui.screens.compare.side_picker import choosing
from memtui.tui.screens.compare.state import CompareState, Side
from memtui.tui.session import Session
from memtui.tui.widgets.breakdown import Breakdown
from memtui.tui.widgets.connectors import Connectors
from memtui.tui.widgets.row_list import BuiltRows, Row, RowList
from memtui.tui.widgets.state_panel import Choice, State, StatePanel, failed
from memtui.tui.widgets.text_lines import TextLines


def instead(state: CompareState, session: Session) -> State | None:
    """The words in place of the panels; None where there is a comparison to see."""
    if session.engine is None:
        return of_session(session)
    if state.phase == "failed" and state.error is not None:
        ways = [Choice("again", "try again"), Choice("other", "compare with something else")]
        if state.pair is not None:
            ways.append(Choice("back", "back to the comparison before"))
        return failed("This cannot be compared.", state.error, *ways)
    if state.pair is None:
        return choosing(state.a) if state.phase == "choosing" else asking(state)
    if not state.pair.comparison.flows:
        return State(
            "empty",
            "Neither side returned anything.",
            choices=(Choice("other", "compare with something else"),),
        )
    return None


def asking(state: CompareState) -> State:
    """Both sides are being asked; what takes long of it is said before it is done, with the way to stop."""
    facts = (("waits for", state.waits), ("stop", "{compare.back}")) if state.waits else ()
    return State("loading", "asking both", facts, skeleton=True)


def shape_of(state: CompareState, session: Session) -> layouts.CompareShape:
    """What the arrangement needs to know of the state."""
    found = state.pair.comparison if state.pair is not None else None
    return layouts.CompareShape(
        flows=len(found.flows) if found is not None else 0,
        stages=len(found.stages) if found is not None else 0,
        shown=state.shown,
        zoom=state.zoom,
        answered=found is not None and instead(state, session) is None,
    )


def titles(state: CompareState, room: int) -> Content:
    """Both sides with the version and the clock that each stands on; those are never cut, the names are."""
    pair = state.pair if state.phase != "running" else None
    a, b = view.stands(pair) if pair is not None else ("", "")
    both = f"both {a}" if a and a == b else ""
    marks = ("", "") if both else (a, b)
    for timed in (True, False):
        parts = [
            view.side_title(side, name, timed, mark)
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


class HeadPanel(BoundPanel[CompareState]):
    """The question, and what stands beside what."""

    def __init__(self) -> None:
        super().__init__(TextLines(id="head-lines"), title="Compare", id="head")

    def part(self, state: CompareState) -> tuple[object, ...]:
        return (
            *(state.a, state.b, state.pair, state.phase, state.waits),
            *(self.session.info, self.app.size.width),
        )

    def paint_part(self, state: CompareState) -> None:
        app, width, pair, info = host(self), self.app.size.width, state.pair, self.session.info
        question = next(
            (s.account.query for s in (state.a, state.b) if s and s.account and s.account.query), ""
        )
        words = f"asking both: {state.waits}" if state.waits and pair is not None else "asking both"
        second = Content.styled(crop(words, width - 4), "$primary") if state.phase == "running" else Content()
        if pair is not None and state.phase != "running":
            second = view.scores(pair, app.glyphs)
            if said := view.outdated(pair, info.version if info else None):
                text = said.replace("{compare.again}", app.keys.cap("compare.again"))
                second = Content.assemble((f"{app.glyphs.warn} {text}", "bold $stale"), "   ", second)
        first = Content.styled(
            crop(one_line(question) or "(the receipt holds no words)", width - 4), "bold $foreground"
        )
        lines = [Content.assemble(" ", first), Content.assemble(" ", second)]
        narrow = size_class(width) == "narrow"
        both = titles(state, width - 4 if narrow else width - 14)
        if narrow:
            lines = (
                [lines[0], Content.assemble(" ", both)]
                if pair is None
                else [Content.assemble(" ", both), lines[1]]
            )
        self.query_one(TextLines).show(lines)
        self.headline(which="" if narrow else both)


class PairPanel(BoundPanel[CompareState]):
    """A panel that shows something of the compared answers."""

    def part(self, state: CompareState) -> tuple[object, ...]:
        session = self.session
        asked = (state.pair, state.phase, state.waits, state.error, session.engine, session.phase)
        return (*asked, self.app.size.width, state.selected)

    def rows(self, name: str) -> BuiltRows:
        """A list of this panel, built by `build`."""
        return BuiltRows(lambda width, height: self.build(name, width), id=f"list-{name}")

    def build(self, name: str, width: int) -> Sequence[Row]:
        """The rows of one list."""
        state: CompareState | None = self.state
        if state is None or state.pair is None:
            return []
        return self.built(name, state, width)

    def built(self, name: str, state: CompareState, width: int) -> Sequence[Row]:
        """The rows of one list, for a comparison."""
        return []


class PairStagesPanel(PairPanel):
    """The stages of both sides."""

    def __init__(self) -> None:
        super().__init__(self.rows("stages"), title="Stages", id="stages")

    def built(self, name: str, state: CompareState, width: int) -> Sequence[Row]:
        assert state.pair is not None  # asked by `build`
        return view.stage_rows(state.pair, width, host(self).glyphs)

    def paint_part(self, state: CompareState) -> None:
        self.query_one(RowList).repaint()
        if state.pair is not None:
            self.headline(which=view.stage_heading(layouts.STAGE_CELLS - 2))


class ListsPanel(PairPanel):
    """Lists of memories: a move of the cursor in one of them moves the others, and builds none anew."""

    _listed: tuple[object, ...] = ()

    def paint_part(self, state: CompareState) -> None:
        listed = self.part(state)[:-1]
        anew = not self._listed or any(
            one is not other for one, other in zip(listed, self._listed, strict=True)
        )
        self._listed = listed
        for rows in self.query(RowList):
            if anew:
                rows.repaint(state.selected)
            else:
                rows.choose(state.selected)
        self.name_lists(state)

    def name_lists(self, state: CompareState) -> None:
        """Write on the frame what the lists are."""


class RankFlowPanel(ListsPanel):
    """Both answers with lines from each memory to itself; or words."""

    def __init__(self) -> None:
        left, right = self.rows("a"), self.rows("b")
        super().__init__(Horizontal(left, Connectors(left, right), right), StatePanel(), id="flow")

    def built(self, name: str, state: CompareState, width: int) -> Sequence[Row]:
        assert state.pair is not None  # asked by `build`
        return view.side_rows(state.pair, "a" if name == "a" else "b", width, host(self).glyphs)

    def name_lists(self, state: CompareState) -> None:
        said, words = instead(state, self.session), self.query_one(StatePanel)
        self.set_class(said is not None, "-state")
        if said is not None:
            if words.state != said:
                words.state = said
            self.headline(what="Compare", which="", where="")
            self.call_after_refresh(words.focus)
        elif state.pair is not None:
            count = counted(len(state.pair.comparison.flows), "memory", "memories")
            self.headline(
                what="A",
                which=Content.assemble((f"{count}   ", "$dim"), ("B", "bold $foreground")),
                where="{compare.other} compare with another",
            )
            self.query_one(Connectors).show(view.pairings(state.pair, state.selected))


class MergedPanel(ListsPanel):
    """Both answers in one list, on a narrow screen."""

    def __init__(self) -> None:
        super().__init__(self.rows("merged"), id="merged")

    def built(self, name: str, state: CompareState, width: int) -> Sequence[Row]:
        assert state.pair is not None  # asked by `build`
        return view.merged_rows(state.pair, width, host(self).glyphs)

    def name_lists(self, state: CompareState) -> None:
        if state.pair is not None:
            self.headline(what="A > B", which="score A  score B")


class SidePanel(PairPanel):
    """How one side came to the score of the selected memory."""

    def __init__(self, which: Literal["a", "b"]) -> None:
        super().__init__(Breakdown(id=f"fall-{which}"), id=f"why-{which}")
        self._side: Literal["a", "b"] = which

    def paint_part(self, state: CompareState) -> None:
        pair, which, glyphs = state.pair, self._side, host(self).glyphs
        if pair is None:
            return
        wide = self.app.size.width >= WIDE_WIDTH
        side: Side = pair.a if which == "a" else pair.b
        self.query_one(Breakdown).show(view.why(pair, which, state.selected, glyphs))
        candidate = view.candidate_of(pair, which, state.selected)
        place = f"#{candidate.rank}" if candidate is not None and candidate.rank else "not returned"
        turn = "{compare.turn} what differs" if which == "b" else "{compare.turn} other side"
        self.headline(
            what=f"{which.upper()}  {crop(one_line(side.title), 40 if wide else 24, glyphs.ellipsis)}",
            which=place if candidate is not None else "not found",
            where="" if wide else turn,
        )


class DiffersPanel(PairPanel):
    """What differs between the sides, for the selected memory."""

    def __init__(self) -> None:
        super().__init__(self.rows("differs"), title="What differs", id="differs")

    def built(self, name: str, state: CompareState, width: int) -> Sequence[Row]:
        assert state.pair is not None  # asked by `build`
        wide = self.app.size.width >= WIDE_WIDTH
        return view.rows(state.pair, state.selected, width, host(self).glyphs, stages=not wide)

    def paint_part(self, state: CompareState) -> None:
        self.query_one(RowList).repaint()
        if state.pair is not None:
            text = crop(view.text_of(state.pair, state.selected), 44, host(self).glyphs.ellipsis)
            self.headline(what="What differs", which=text)
