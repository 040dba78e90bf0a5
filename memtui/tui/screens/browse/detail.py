"""The panel with one memory in full."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual import events, on
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget

from memtui.engine import CancelToken, Memory, MemtuiError, changes, counted
from memtui.engine.query import match_pattern
from memtui.tui.actions.table import bindings
from memtui.tui.bound_panel import BoundPanel
from memtui.tui.calls import Report
from memtui.tui.host import host
from memtui.tui.layout import size_class
from memtui.tui.screens.browse.detail_view import MATCH, concealed, detail_lines, summary, title
from memtui.tui.screens.browse.neighbours import REST_S
from memtui.tui.screens.browse.state import BrowseState
from memtui.tui.widgets.splitter import Splitter

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.changes import Story
    from memtui.engine.lifecycle import MemoryLife
    from memtui.engine.witness import GotIndex


def life_of(engine: Engine, memory: Memory) -> tuple[str, MemoryLife | None, tuple[tuple[str, bool], ...]]:
    """A memory's decay, where there is any, and the saved questions that expect or reject it; for a worker."""
    from memtui.engine.cases import CaseBook
    from memtui.engine.lifecycle import BoardAsk, follow_memory
    from memtui.paths import cases_file

    book = CaseBook(cases_file(engine.info.uri))
    cases = tuple(
        (case.query, memory.id in case.expected)
        for case in book.cases()
        if memory.id in (*case.expected, *case.rejected)
    )
    life = None
    if memory.tier is not None:
        with suppress(MemtuiError):
            life = follow_memory(engine, memory.id, BoardAsk(), points=40)
    return memory.id, life, cases


class MemoryDetail(Widget, can_focus=True):
    """Scrolls through one memory; the old one stays, dimmed, while the next is fetched.

    It keeps its own lines and its own place in them: a scrolling container would lay out the whole screen
    anew for every memory that is longer or shorter than the one before.
    """

    DEFAULT_CSS = """
    MemoryDetail { height: 1fr; background: $background; padding: 0 0 0 1; }
    """
    BINDINGS = bindings("detail")
    auto_links = False

    top: reactive[int] = reactive(0)

    @dataclass
    class Left(Message):
        """The person wants to go back to the list."""

    @dataclass
    class Moved(Message):
        """The person wants the next (+1) or previous (-1) memory of the list."""

        by: int

    @dataclass
    class LinkFollowed(Message):
        """The person wants to see the memory with this id."""

        id: str

    @dataclass
    class MatchShown(Message):
        """A line with what the filter asks for was gone to: number `at` of `of`."""

        at: int
        of: int

    @dataclass
    class CopyWanted(Message):
        """Copy something of this memory."""

        memory: Memory

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.memory: Memory | None = None
        self._story: Story | None = None
        self._got: GotIndex | None = None
        self._sought: re.Pattern[str] | None = None
        self._hit = -1
        """The line of the match that was gone to last."""
        self._life: MemoryLife | None = None
        self._cases: tuple[tuple[str, bool], ...] = ()
        self._cases_of = ""
        self.revealed = False
        """Whether the secrets of this memory are shown, until another one is."""
        self.folded = False
        """Whether metadata is told in one line; it is shown where the detail fills the screen."""
        self.lines: list[Content] = []
        """What there is to see, at the present width."""
        self._drawn: tuple[object, ...] = ()
        self._strips: dict[int, Strip] = {}

    def show(
        self, memory: Memory | None, *, waiting: bool = False, sought: re.Pattern[str] | None = None
    ) -> None:
        """Show a memory; None with `waiting` keeps the old one, dimmed, without it clears the panel.

        What `sought` finds in its text is brightened.
        """
        stale = memory is None and waiting
        if stale != self.has_class("-stale"):
            self.set_class(stale, "-stale")
            self._strips.clear()
            self.refresh()
        if stale:
            return
        changed = memory is None or self.memory is None or memory.id != self.memory.id
        self.memory, self._sought = memory, sought
        self.revealed = self.revealed and not changed
        if memory is None or (self._story is not None and self._story.memory != memory.id):
            self._story = None
        self._build()
        if changed:
            self.top, self._hit = 0, -1
        self.refresh_bindings()

    def tell(self, story: Story) -> None:
        """The versions and changes of a memory are known; what is about another than the shown one is dropped."""
        if self.memory is not None and story.memory == self.memory.id:
            self._story = story
            self._build()

    def tell_life(self, told: tuple[str, MemoryLife | None, tuple[tuple[str, bool], ...]]) -> None:
        """The decay of a memory and the cases that depend on it are known."""
        self._cases_of, self._life, self._cases = told
        self._build()

    def tell_turns(self, got: GotIndex | None) -> None:
        """Which turns got which memory is known; None where the store is another one."""
        self._got = got
        self._build()

    def on_resize(self) -> None:
        self._build()

    def _build(self) -> None:
        """The lines of the memory at the present width; the last column is the scroll bar's."""
        width, height = self.content_size.width - 1, self.content_size.height
        if width <= 0:
            return
        app = host(self)
        state = (
            self.memory,
            self._story,
            id(self._got),
            width,
            height,
            self._sought,
            self.folded,
            self.revealed,
            self._life,
            self._cases,
            app.now_ms() // 60_000,
        )
        if state == self._drawn:
            return
        self._drawn = state
        if self.memory is None:
            self.lines = [Content.styled("no memory under the cursor", "$dim")]
        else:
            lines_of = partial(
                detail_lines,
                self.memory,
                width,
                now_ms=app.now_ms(),
                glyphs=app.glyphs,
                zone=app.zone,
                story=self._story,
                got=self._got.of(self.memory) if self._got is not None else None,
                keys=app.keys.by_id,
                sought=self._sought,
                life=self._life if self._life is not None and self._life.id == self.memory.id else None,
                cases=self._cases if self._cases_of == self.memory.id else (),
                revealed=self.revealed,
            )
            self.lines = lines_of(folded=self.folded)
            if self.folded and len(self.lines) < height:  # empty rows are better used by what is folded
                self.lines = lines_of()
        self._strips.clear()
        self.top = min(self.top, self._last_top)
        self.refresh()

    # drawing

    def render_line(self, y: int) -> Strip:
        width = self.content_size.width
        base = self.visual_style
        index = self.top + y
        if index >= len(self.lines) or width <= 1:
            return Strip.blank(width, base.rich_style)
        strip = self._strips.get(index)
        if strip is None:
            line = self.lines[index]
            if self.has_class("-stale"):
                line = Content.styled(line.plain, "$dim")
            strip = Strip(line.render_segments(base)).adjust_cell_length(width - 1, base.rich_style)
            self._strips[index] = strip
        bar, style = self._bar(y)
        return Strip([*strip, Segment(bar, (base + Style.parse(style)).rich_style)])

    def _bar(self, y: int) -> tuple[str, str]:
        """The cell of the scroll bar in row `y`: where the view is in a text that is longer than it."""
        height, total = max(1, self.content_size.height), len(self.lines)
        if total <= height:
            return " ", ""
        size = max(1, height * height // total)
        start = round(self.top / self._last_top * (height - size)) if self._last_top else 0
        return (" ", "on $frame") if start <= y < start + size else (" ", "")

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    # scrolling

    @property
    def _last_top(self) -> int:
        return max(0, len(self.lines) - max(1, self.content_size.height))

    def validate_top(self, top: int) -> int:
        return max(0, min(top, self._last_top))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.top += 3

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.top -= 3

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        memory = self.memory
        if action == "older":
            return True if memory is not None and memory.supersedes else None
        if action == "newer":
            return True if memory is not None and memory.superseded_by else None
        if action == "copy":
            return True if memory is not None else None
        if action == "reveal":
            return True if memory is not None and concealed(memory) is not memory else None
        if action in ("next_match", "previous_match"):
            return True if self.hits else None
        return True

    def on_click(self, event: events.Click) -> None:
        target = event.style.meta.get("memory")
        if isinstance(target, str):
            self.post_message(self.LinkFollowed(target))

    def action_down(self) -> None:
        self.top += 1

    def action_up(self) -> None:
        self.top -= 1

    def action_page_down(self) -> None:
        self.top += max(1, self.content_size.height - 1)

    def action_page_up(self) -> None:
        self.top -= max(1, self.content_size.height - 1)

    def action_first(self) -> None:
        self.top = 0

    def action_last(self) -> None:
        self.top = self._last_top

    def action_reveal(self) -> None:
        self.revealed = not self.revealed
        self._build()

    def action_left(self) -> None:
        self.post_message(self.Left())

    def action_next(self) -> None:
        self.post_message(self.Moved(1))

    def action_previous(self) -> None:
        self.post_message(self.Moved(-1))

    @property
    def hits(self) -> list[int]:
        """The lines that hold what the filter asks for."""
        return [at for at, line in enumerate(self.lines) if any(span.style == MATCH for span in line.spans)]

    def action_next_match(self) -> None:
        self._to_match(1)

    def action_previous_match(self) -> None:
        self._to_match(-1)

    def _to_match(self, by: int) -> None:
        """The next line with a match, or the one before; behind the last comes the first."""
        if not (hits := self.hits):
            return
        here = hits.index(self._hit) + by if self._hit in hits else 0 if by > 0 else -1
        self._hit = hits[here % len(hits)]
        self.top = self._hit - self.content_size.height // 3
        self.post_message(self.MatchShown(hits.index(self._hit) + 1, len(hits)))

    def action_older(self) -> None:
        if self.memory is not None and self.memory.supersedes:
            self.post_message(self.LinkFollowed(self.memory.supersedes))

    def action_newer(self) -> None:
        if self.memory is not None and self.memory.superseded_by:
            self.post_message(self.LinkFollowed(self.memory.superseded_by))

    def action_copy(self) -> None:
        if self.memory is not None:
            self.post_message(self.CopyWanted(self.memory))


class DetailPanel(BoundPanel[BrowseState], Splitter):
    """The memory with its name on the frame; once the cursor rests, its story and who got it are looked for."""

    BESIDE = frozenset(("story", "life", "got"))

    def __init__(self) -> None:
        super().__init__(MemoryDetail(), title="Memory", id="detail")
        self._rest: Timer | None = None
        self._got_of: tuple[Engine | None, int] = (None, -1)
        """The engine and the version whose turns were read, or are being read."""

    def part(self, state: BrowseState) -> tuple[object, ...]:
        narrow = size_class(self.app.size.width) == "narrow"
        zoomed = state.wish.shape.zoom == "detail"
        return (
            state.memory,
            state.loading,
            state.linked,
            state.engine,
            state.revision,
            state.view,
            narrow,
            zoomed,
        )

    def paint_part(self, state: BrowseState) -> None:
        memory = state.memory
        detail = self.query_one(MemoryDetail)
        detail.folded = state.wish.shape.zoom != "detail"
        sought = match_pattern(state.view.query.filter) if state.view is not None else None
        detail.show(None if state.loading else memory, waiting=state.loading, sought=sought)
        if state.loading:
            return
        self._name_matches(len(detail.hits))
        self._name_memory(state)
        if self._rest is not None:
            self._rest.stop()
        self._rest = None
        if memory is not None and memory.id and state.engine is not None:
            self._rest = self.set_timer(REST_S, partial(self._rested, state.engine, state.revision, memory))

    @property
    def resting(self) -> bool:
        """Whether the cursor has just come to a memory whose story will be asked for."""
        return self._rest is not None

    def _name_matches(self, count: int) -> None:
        self.headline(
            where=f"{counted(count, 'match', 'matches')}   {{detail.next-match}} next" if count else ""
        )

    @on(MemoryDetail.MatchShown)
    def _match_shown(self, message: MemoryDetail.MatchShown) -> None:
        message.stop()
        self.headline(
            where=f"{message.at} of {counted(message.of, 'match', 'matches')}   {{detail.next-match}} next"
        )

    def _name_memory(self, state: BrowseState) -> None:
        memory = state.memory
        if memory is None:
            self.headline(what="Memory", which="")
            return
        app, name = host(self), title(memory)
        if size_class(self.app.size.width) == "narrow" and state.wish.shape.zoom != "detail":
            self.headline(what=name, which=summary(memory, app.now_ms(), app.glyphs))
        else:
            self.headline(what="Memory", which=f"linked  {name}" if state.linked else name)

    def _rested(self, engine: Engine, revision: int, memory: Memory) -> None:
        """The cursor stays here: look for the story of the memory, and for who got it."""
        self._rest = None
        detail = self.query_one(MemoryDetail)
        self.call("story", lambda cancel, report: changes.memory_story(engine, memory), detail.tell)
        self.call("life", lambda cancel, report: life_of(engine, memory), detail.tell_life)
        if (engine, revision) == self._got_of or not engine.environ:
            return  # the turns are read once for a version of the store, not for each memory
        if engine is not self._got_of[0]:
            detail.tell_turns(None)
        self._got_of = (engine, revision)

        def work(token: CancelToken, report: Report) -> GotIndex:
            from memtui.engine.witness import (
                read_got,  # not before the first frame
            )

            return read_got(engine, engine.environ, Path.cwd(), token)

        self.call("got", work, detail.tell_turns)
