"""Panels of Lifecycle; each paints one part of `LifecycleState`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.content import Content

from memtui.engine import counted
from memtui.engine.lifecycle import KNOBS, ReviewCard
from memtui.tui.bound_panel import Bound, BoundPanel
from memtui.tui.host import host
from memtui.tui.layout import NORMAL_WIDTH, size_class
from memtui.tui.paint.bars import shade_legend
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full
from memtui.tui.screens.lifecycle import board_view, curves_view, memory_view
from memtui.tui.screens.lifecycle.board_view import MEASURES, TITLES, finding_rows, flow_rows, head_lines
from memtui.tui.screens.lifecycle.memory_view import number_rows
from memtui.tui.screens.lifecycle.state import LifecycleState, knob
from memtui.tui.widgets.curve_plot import CurvePlot
from memtui.tui.widgets.row_list import BuiltRows, KnobRows, ReviewRows, Row, RowList
from memtui.tui.widgets.text_lines import TextLines


class HeadLines(TextLines, Bound[LifecycleState]):
    """The lines on top: what is asked, and how the store stands."""

    def on_mount(self) -> None:
        self.catch_up()

    def watch_state(self) -> None:
        self.catch_up()

    def catch_up(self) -> None:
        state: LifecycleState | None = self.state
        if state is not None and self.is_mounted and self.screen.is_current:
            app, width = host(self), self.app.size.width
            tabs = width < NORMAL_WIDTH
            self.show(head_lines(state, app.keys, app.now_ms(), width, app.glyphs, tabs=tabs))


class LifecyclePanel(BoundPanel[LifecycleState]):
    """Paints what `OF` names of the state."""

    OF: ClassVar[tuple[str, ...]] = ()

    def part(self, state: LifecycleState) -> tuple[object, ...]:
        return (*(getattr(state, name) for name in self.OF), self.app.size.width)

    @property
    def _glyphs(self) -> Glyphs:
        return host(self).glyphs

    @property
    def _size_class(self) -> str:
        return size_class(self.app.size.width)


class RowsPanel(LifecyclePanel):
    """A panel with one list, whose rows `rows_of` builds."""

    def __init__(self, name: str, rows: type[BuiltRows] = BuiltRows) -> None:
        super().__init__(rows(self._build), title=TITLES[name], id=name)

    @property
    def rows(self) -> BuiltRows:
        """The list."""
        return self.query_one(BuiltRows)

    def _build(self, width: int, height: int) -> Sequence[Row]:
        return [] if self.state is None else self.rows_of(self.state, width, height)

    def rows_of(self, state: LifecycleState, width: int, height: int) -> Sequence[Row]:
        """The rows for a size."""
        raise NotImplementedError

    def paint_part(self, state: LifecycleState) -> None:
        self.rows.repaint()
        self.name_rows(state)

    def name_rows(self, state: LifecycleState) -> None:
        """Write on the frame what the rows are."""

    @on(RowList.Highlighted)
    def _moved(self) -> None:  # goes on to the screen
        if self.state is not None:
            self.name_rows(self.state)


class CurvesPanel(LifecyclePanel):
    """The life of the selected memory as curves."""

    OF = ("life", "measure", "probe", "remedy", "selected", "board")

    def __init__(self) -> None:
        super().__init__(CurvePlot(), title=TITLES["curves"], id="curves")

    def paint_part(self, state: LifecycleState) -> None:
        glyphs, now_ms, kind = self._glyphs, host(self).now_ms(), self._size_class
        plot = curves_view.plot_of(state, now_ms, glyphs, cloud=kind == "wide")
        others = len(plot.cloud) if plot is not None else 0
        words = curves_view.below(state, now_ms, glyphs, others=others)
        self.query_one(CurvePlot).show(plot, words, state.probe)
        probed = curves_view.probe_words(state, glyphs)
        self.headline(
            what=f"{TITLES['curves']}, {MEASURES[state.measure]}",
            which=curves_view.legend(glyphs, short=kind != "wide"),
            where=probed if probed.plain or kind == "narrow" else curves_view.axis_words(state.life),
        )


class ScoresPanel(RowsPanel):
    """How many memories have which score."""

    OF = ("board", "base")

    def __init__(self) -> None:
        super().__init__("scores")

    def rows_of(self, state: LifecycleState, width: int, height: int) -> Sequence[Row]:
        if state.board is None:
            return []
        base = state.base if state.trying else None
        return board_view.score_rows(state.board, base, width, height, self._glyphs)

    def name_rows(self, state: LifecycleState) -> None:
        if state.board is None:
            return
        key, height = self.rows.key, self.rows.container_size.height
        words = board_view.row_words(state.board, key, height, self._glyphs) if key else Content()
        self.headline(
            which=f"composite of {full(state.board.rows)}",
            where=words if words.plain else shade_legend(self._glyphs),
        )


class FlowPanel(RowsPanel):
    """What a sweep would move between the tiers."""

    OF = ("board",)

    def __init__(self) -> None:
        super().__init__("flow")

    def rows_of(self, state: LifecycleState, width: int, height: int) -> Sequence[Row]:
        return [] if state.board is None else flow_rows(state.board, width, height, self._glyphs)

    def name_rows(self, state: LifecycleState) -> None:
        held = state.board.held if state.board is not None else 0
        narrow, said = self._size_class == "narrow", f"{full(held)} held" if held else ""
        self.headline(
            which="  ".join(filter(None, ("if swept now", said if narrow else ""))),
            where="" if narrow or not held else f"{said}: pinned, not recalled, or without a time",
        )


class ComingPanel(RowsPanel):
    """What is about to change, or due now."""

    OF = ("board", "view", "losses")

    def __init__(self) -> None:
        super().__init__("next")

    def rows_of(self, state: LifecycleState, width: int, height: int) -> Sequence[Row]:
        if state.board is None:
            return []
        return memory_view.coming_rows(state, width, height, self._glyphs, host(self).keys)

    def name_rows(self, state: LifecycleState) -> None:
        rows = self.rows
        said = memory_view.row_words(state, rows.key) if rows.key else ""
        at, count = rows.place
        place = f"{full(at)} / {full(count)}" if at else memory_view.listed(state)
        self.headline(
            what="Due now" if state.view == "plan" else "About to change",
            which=memory_view.summary(state),
            where=f"{said}   {place}" if said and self._size_class != "narrow" else place,
        )


class WhatIfPanel(LifecyclePanel):
    """The settings as sliders, and what the tried ones do to the saved questions."""

    OF = ("board", "base", "ask", "settings", "effect", "cases")

    def __init__(self) -> None:
        super().__init__(KnobRows(self._build), TextLines(), title=TITLES["whatif"], id="whatif")

    def _build(self, width: int, height: int) -> Sequence[Row]:
        return [] if self.state is None else board_view.knob_rows(self.state, width, self._glyphs)

    def paint_part(self, state: LifecycleState) -> None:
        self.query_one(KnobRows).repaint()
        said = "none saved" if state.cases == 0 else "asking them"
        lines = board_view.effect_lines(
            state.board,
            state.base,
            state.effect,
            f"{'cases':<{board_view.EFFECT_NAME}}{said}",
            board_view.EFFECT_CELLS,
            self._glyphs,
        )
        narrow = self._size_class == "narrow"
        self.query_one(TextLines).show(board_view.compact(lines) if narrow else lines)
        self._name_knobs(state)

    def _name_knobs(self, state: LifecycleState) -> None:
        """How many settings are tried, and what the one under the cursor means."""
        tried, narrow = len(state.ask.changes), self._size_class == "narrow"
        each = knob(self.query_one(KnobRows).key)
        keys = "{knobs.less} less   {knobs.more} more   {lifecycle.reset} all back   {lifecycle.copy} copy"
        count = f"{tried} of {len(KNOBS)} tried" if tried else "nothing is written"
        self.headline(
            which=f"{each.meaning}   {count}" if narrow and each is not None else count,
            where="" if narrow else keys if each is None else f"{each.key}: {each.meaning}   {keys}",
        )

    @on(RowList.Highlighted)
    def _moved(self) -> None:  # goes on to the screen
        if self.state is not None:
            self._name_knobs(self.state)


class NumbersPanel(RowsPanel):
    """Every formula of the selected memory."""

    OF = ("life", "remedy", "selected", "board")

    def __init__(self) -> None:
        super().__init__("numbers")

    def rows_of(self, state: LifecycleState, width: int, height: int) -> Sequence[Row]:
        return [] if state.board is None else number_rows(state.life, width, state.remedy, self._glyphs)

    def name_rows(self, state: LifecycleState) -> None:
        self.headline(which="where each comes from")


class HistoryPanel(RowsPanel):
    """How the store grew, was used, and is spread."""

    OF = ("history", "chart")

    def __init__(self) -> None:
        super().__init__("history")

    def rows_of(self, state: LifecycleState, width: int, height: int) -> Sequence[Row]:
        now_ms = host(self).now_ms()
        return curves_view.history_rows(state.history, state.chart, now_ms, width, height, self._glyphs)

    def name_rows(self, state: LifecycleState) -> None:
        where = "" if self._size_class == "narrow" else "{lifecycle.chart} next chart"
        self.headline(which=curves_view.TITLES[state.chart], where=where)


class FindingsPanel(RowsPanel):
    """What is odd about the lives of the memories."""

    OF = ("findings",)

    def __init__(self) -> None:
        super().__init__("findings")

    def rows_of(self, state: LifecycleState, width: int, height: int) -> Sequence[Row]:
        return finding_rows(state.findings, width, self._glyphs)

    def name_rows(self, state: LifecycleState) -> None:
        count = sum(1 for finding in state.findings or () if finding.severity != "info")
        self.headline(which=counted(count, "warning") if count else "")


class ReviewPanel(RowsPanel):
    """The cards that wait to be decided."""

    OF = ("review",)

    def __init__(self) -> None:
        super().__init__("review", ReviewRows)

    def rows_of(self, state: LifecycleState, width: int, height: int) -> Sequence[Row]:
        return memory_view.queue_rows(state.review, width, self._glyphs)

    def paint_part(self, state: LifecycleState) -> None:
        self.rows.repaint(f"card:{state.card}" if state.card else None)
        self.name_rows(state)

    def name_rows(self, state: LifecycleState) -> None:
        at, count = self.rows.place
        self.headline(which=memory_view.queue_words(state.review), where=f"{at} / {count}" if count else "")


class CardPanel(RowsPanel):
    """The card under the cursor of the review, and the memory that it is about."""

    OF = ("review", "card", "memory", "others")

    def __init__(self) -> None:
        super().__init__("card")

    def rows_of(self, state: LifecycleState, width: int, height: int) -> Sequence[Row]:
        now_ms = host(self).now_ms()
        return memory_view.card_rows(card_of(state), state.memory, state.others, now_ms, width, self._glyphs)

    def name_rows(self, state: LifecycleState) -> None:
        self.headline(which="why review it")


def card_of(state: LifecycleState) -> ReviewCard | None:
    """The card under the cursor of the review."""
    cards = state.review.cards if state.review else ()
    return next((card for card in cards if card.id == state.card), None)
