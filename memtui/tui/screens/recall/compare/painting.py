"""State to panels of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from textual.content import Content

from memtui.engine import one_line
from memtui.tui.host import host
from memtui.tui.layout import WIDE_WIDTH, size_class
from memtui.tui.paint.cells import crop
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.screens.recall.compare import arrange, differs, present
from memtui.tui.screens.recall.compare.sides import choosing
from memtui.tui.screens.recall.compare.state import CompareState, Side
from memtui.tui.widgets.arranged import Arranged
from memtui.tui.widgets.breakdown import Breakdown
from memtui.tui.widgets.lines import Lines
from memtui.tui.widgets.links import Links
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.rows import Row, RowList
from memtui.tui.widgets.state_panel import Choice, State, StatePanel, failed
from memtui.tui.words import of_session

if TYPE_CHECKING:
    from memtui.tui.screens.recall.compare.screen import CompareScreen

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

    def shape(self) -> arrange.CompareShape:
        """What the arrangement needs to know of the state."""
        state = self._state
        found = state.pair.comparison if state.pair is not None else None
        return arrange.CompareShape(
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
            return present.side_rows(pair, which, width, glyphs)
        if name == "merged":
            return present.merged_rows(pair, width, glyphs)
        if name == "stages":
            return present.stage_rows(pair, width, glyphs)
        wide = self._screen.app.size.width >= WIDE_WIDTH
        return differs.rows(pair, self._state.selected, width, glyphs, stages=not wide)

    def everything(self) -> None:
        """Paint all panels."""
        self.change(None, self._state)

    def change(self, old: CompareState | None, new: CompareState) -> None:
        """Paint what has changed."""
        screen = self._screen
        if not screen.query(Arranged):
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
            screen.query_one(Arranged).rearrange()
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
            second = present.scores(pair, glyphs)
            said = present.outdated(
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
        screen.query_one("#head-lines", Lines).show(lines)
        screen.query_one("#head", Panel).headline(which="" if narrow else titles)

    def _titles(self, state: CompareState, room: int) -> Content:
        """Both sides with the version and the clock that each stands on; those are never cut, the names are."""
        pair = state.pair if state.phase != "running" else None
        a, b = present.stands(pair) if pair is not None else ("", "")
        both = f"both {a}" if a and a == b else ""
        marks = ("", "") if both else (a, b)
        for took in (True, False):
            parts = [
                present.side_title(side, name, took, mark)
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
            present.side_title(side, name, False, mark, cut)
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
            why = present.why(pair, which, state.selected, glyphs)
            screen.query_one(f"#fall-{which}", Breakdown).show(why)
            candidate = present.candidate_of(pair, which, state.selected)
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
            what="What differs", which=crop(present.text_of(pair, state.selected), 44, glyphs.ellipsis)
        )
        screen.query_one("#stages", Panel).headline(which=present.stage_heading(arrange.STAGE_CELLS - 2))
        screen.query_one(Links).show(present.pairings(pair, state.selected))
