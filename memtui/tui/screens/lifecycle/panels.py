"""State to panels: which panel must be painted anew, and with what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import KNOBS, ReviewCard
from memtui.tui.host import host
from memtui.tui.layout import NORMAL_WIDTH, size_class
from memtui.tui.layouts import LifecycleShape
from memtui.tui.paint.bars import shade_legend
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full
from memtui.tui.screens.lifecycle import board_view, curves_view, memory_view
from memtui.tui.screens.lifecycle.board_view import MEASURES, TITLES, finding_rows, flow_rows, head_lines
from memtui.tui.screens.lifecycle.memory_view import number_rows
from memtui.tui.screens.lifecycle.state import LifecycleState, knob
from memtui.tui.widgets.curve_plot import CurvePlot
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import BuiltRows, KnobRows, Row
from memtui.tui.widgets.text_lines import TextLines

if TYPE_CHECKING:
    from memtui.tui.screens.lifecycle.screen import LifecycleScreen


_PARTS: dict[str, tuple[str, ...]] = {
    "head": ("ask", "board", "measure", "panel", "review", "reviewing"),
    "curves": ("life", "measure", "probe", "remedy", "selected", "board"),
    "scores": ("board", "base"),
    "flow": ("board",),
    "next": ("board", "view", "losses"),
    "whatif": ("board", "base", "ask", "settings", "effect", "cases"),
    "numbers": ("life", "remedy", "selected", "board"),
    "history": ("history", "chart"),
    "findings": ("findings",),
    "review": ("review",),
    "card": ("review", "card", "memory", "others"),
}
"""What each panel is painted from."""


class Painting:
    """Paints the panels of one Lifecycle screen."""

    def __init__(self, screen: LifecycleScreen) -> None:
        self._screen = screen

    @property
    def _state(self) -> LifecycleState:
        return self._screen.state

    @property
    def _glyphs(self) -> Glyphs:
        return host(self._screen).glyphs

    def shape(self) -> LifecycleShape:
        """What the arrangement needs to know of the state."""
        state = self._state
        return LifecycleShape(
            panel=state.panel,
            aside=state.aside,
            zoom=state.zoom,
            reviewing=state.reviewing,
            said=self._screen.said is not None,
        )

    def everything(self) -> None:
        """Paint all panels."""
        self.change(None, self._state)

    def change(self, old: LifecycleState | None, new: LifecycleState) -> None:
        """Paint the panels whose part of the state has changed."""
        screen = self._screen
        if not screen.query(LayoutContainer):
            return

        def differs(names: Sequence[str]) -> bool:
            return old is None or any(getattr(old, name) is not getattr(new, name) for name in names)

        screen.set_class(new.stale, "-stale")
        for name, parts in _PARTS.items():
            if differs(parts):
                getattr(self, f"_{name}")(new)
        if differs(("panel", "aside", "zoom", "reviewing", "error")):
            screen.query_one(LayoutContainer).rearrange()
        screen.refresh_bindings()

    def _panel(self, name: str) -> Panel:
        return self._screen.query_one(f"#{name}", Panel)

    def _rows(self, name: str) -> BuiltRows:
        return self._screen.query_one(f"#{name} BuiltRows", BuiltRows)

    def _kind(self) -> str:
        return size_class(self._screen.app.size.width)

    # ------------------------------------------------------------------ one method a panel

    def _head(self, state: LifecycleState) -> None:
        width = self._screen.app.size.width
        keys = host(self._screen).keys
        lines = head_lines(state, keys, self._screen.now_ms, width, self._glyphs, tabs=width < NORMAL_WIDTH)
        self._screen.query_one("#head", TextLines).show(lines)

    def _curves(self, state: LifecycleState) -> None:
        screen, glyphs = self._screen, self._glyphs
        plot = curves_view.plot_of(state, screen.now_ms, glyphs, cloud=self._kind() == "wide")
        others = len(plot.cloud) if plot is not None else 0
        words = curves_view.below(state, screen.now_ms, glyphs, others=others)
        screen.query_one(CurvePlot).show(plot, words, state.probe)
        probed = curves_view.probe_words(state, glyphs)
        self._panel("curves").headline(
            what=f"{TITLES['curves']}, {MEASURES[state.measure]}",
            which=curves_view.legend(glyphs, short=self._kind() != "wide"),
            where=probed if probed.plain or self._kind() == "narrow" else curves_view.axis_words(state.life),
        )

    def _scores(self, state: LifecycleState) -> None:
        self._rows("scores").repaint()
        board = state.board
        if board is not None:
            self._panel("scores").headline(
                which=f"composite of {full(board.rows)}", where=self._score_words(self._rows("scores").key)
            )

    def _score_words(self, key: str) -> Content:
        state, height = self._state, self._rows("scores").container_size.height
        words = (
            board_view.row_words(state.board, key, height, self._glyphs) if state.board and key else Content()
        )
        return words if words.plain else shade_legend(self._glyphs)

    def _flow(self, state: LifecycleState) -> None:
        self._rows("flow").repaint()
        held = state.board.held if state.board is not None else 0
        narrow, said = self._kind() == "narrow", f"{full(held)} held" if held else ""
        self._panel("flow").headline(
            which="  ".join(filter(None, ("if it were swept now", said if narrow else ""))),
            where="" if narrow or not held else f"{said}: pinned, not recalled, or without a time",
        )

    def _next(self, state: LifecycleState) -> None:
        self._rows("next").repaint()
        what = "Due now" if state.view == "plan" else "About to change"
        self._panel("next").headline(what=what, which=memory_view.summary(state))
        self._where_next()

    def _where_next(self) -> None:
        rows = self._rows("next")
        said = memory_view.row_words(self._state, rows.key) if rows.key else ""
        at, count = rows.place
        place = f"{full(at)} / {full(count)}" if at else memory_view.listed(self._state)
        self._panel("next").headline(
            where=f"{said}   {place}" if said and self._kind() != "narrow" else place
        )

    def _whatif(self, state: LifecycleState) -> None:
        self._screen.query_one(KnobRows).repaint()
        lines = board_view.effect_lines(
            state.board,
            state.base,
            state.effect,
            self._cases_said(state),
            board_view.EFFECT_CELLS,
            self._glyphs,
        )
        narrow = self._kind() == "narrow"
        self._screen.query_one("#whatif TextLines", TextLines).show(
            board_view.compact(lines) if narrow else lines
        )
        self._whatif_words()

    def _whatif_words(self) -> None:
        """How many settings are tried, and what the one under the cursor means."""
        tried, narrow = len(self._state.ask.changes), self._kind() == "narrow"
        each = knob(self._screen.query_one(KnobRows).key)
        keys = "{knobs.less} less   {knobs.more} more   {lifecycle.reset} all back   {lifecycle.copy} copy"
        count = f"{tried} of {len(KNOBS)} tried" if tried else "nothing is written"
        self._panel("whatif").headline(
            which=f"{each.meaning}   {count}" if narrow and each is not None else count,
            where="" if narrow else keys if each is None else f"{each.key}: {each.meaning}   {keys}",
        )

    def _cases_said(self, state: LifecycleState) -> str:
        said = "none saved" if state.cases == 0 else "asking them"
        return f"{'cases':<{board_view.EFFECT_NAME}}{said}"

    def _numbers(self, state: LifecycleState) -> None:
        self._rows("numbers").repaint()
        self._panel("numbers").headline(which="where each comes from")

    def _history(self, state: LifecycleState) -> None:
        self._rows("history").repaint()
        self._panel("history").headline(
            which=curves_view.TITLES[state.chart],
            where="" if self._kind() == "narrow" else "{lifecycle.chart} next chart",
        )

    def _findings(self, state: LifecycleState) -> None:
        self._rows("findings").repaint()
        count = sum(1 for each in state.findings or () if each.severity != "info")
        self._panel("findings").headline(which=f"{count} to look at" if count else "")

    def _review(self, state: LifecycleState) -> None:
        rows = self._rows("review")
        rows.repaint(f"card:{state.card}" if state.card else None)
        self._panel("review").headline(which=memory_view.queue_words(state.review), where=_place(rows))

    def _card(self, state: LifecycleState) -> None:
        self._rows("card").repaint()
        self._panel("card").headline(which="why it is here")

    def place_words(self, panel: str) -> None:
        """The cursor moved in a panel: say the values of its row."""
        if panel == "next":
            self._where_next()
        elif panel == "scores":
            self._panel("scores").headline(where=self._score_words(self._rows("scores").key))
        elif panel == "whatif":
            self._whatif_words()
        elif panel == "review":
            self._panel("review").headline(where=_place(self._rows("review")))

    # ------------------------------------------------------------------ what the lists build

    def build(self, name: str, width: int, height: int) -> Sequence[Row]:
        """The rows of a list for its size."""
        state, glyphs, now = self._state, self._glyphs, self._screen.now_ms
        board = state.board
        if name == "knobs":
            return board_view.knob_rows(state, width, glyphs)
        if name == "history":
            return curves_view.history_rows(state.history, state.chart, now, width, height, glyphs)
        if name == "findings":
            return finding_rows(state.findings, width, glyphs)
        if name == "review":
            return memory_view.queue_rows(state.review, width, glyphs)
        if name == "card":
            return memory_view.card_rows(self.card(), state.memory, state.others, now, width, glyphs)
        if board is None:
            return []
        if name == "scores":
            return board_view.score_rows(board, state.base if state.trying else None, width, height, glyphs)
        if name == "flow":
            return flow_rows(board, width, height, glyphs)
        if name == "next":
            return memory_view.coming_rows(state, width, height, glyphs, host(self._screen).keys)
        return number_rows(state.life, width, state.remedy, glyphs)

    def card(self) -> ReviewCard | None:
        """The card under the cursor of the review."""
        state = self._state
        return next(
            (each for each in (state.review.cards if state.review else ()) if each.id == state.card), None
        )


def _place(rows: BuiltRows) -> str:
    at, count = rows.place
    return f"{at} / {count}" if count else ""
