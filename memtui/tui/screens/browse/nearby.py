"""Browse with what surrounds the selected memory: its story, and its neighbours in a panel or on a key."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import on
from textual.timer import Timer

from memtui.engine import CancelToken, Memory, UsageError
from memtui.tui.calls import Report
from memtui.tui.screens.browse.detail import MemoryDetail
from memtui.tui.screens.browse.detail_view import title
from memtui.tui.screens.browse.neighbours import NearRows, NeighboursDialog, Wanted
from memtui.tui.screens.browse.remembering import BrowseMemory
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.catalog import (
        Neighbour,
    )
    from memtui.engine.witness import (
        GotIndex,
    )


NEAR, NEAR_ASKED, STORY, GOT = "near", "near-asked", "story", "got"

REST_S = 0.15
"""The cursor must rest so long before the journal is read and all vectors are searched."""


def _neighbours(engine: Engine, memory: str) -> tuple[tuple[Neighbour, ...], str]:
    """The neighbours, or why there are none."""
    try:
        return engine.neighbours(memory), "no other memory has a usable vector"
    except UsageError as error:
        return (), error.message


class BrowseNear(BrowseMemory):
    """The panel, the dialog, and what their keys do."""

    def __init__(self) -> None:
        super().__init__()
        self._rest: Timer | None = None
        self._near_of = ""
        self._got_of: tuple[Engine | None, int] = (None, -1)
        """The engine and the version whose turns were read, or are being read."""

    @property
    def _has_panel(self) -> bool:
        return self.query_one(LayoutContainer).shows("near")

    def resting_on(self, memory: Memory | None) -> None:
        if self._rest is not None:
            self._rest.stop()
        self._rest = None
        if memory is not None and memory.id:
            self._rest = self.set_timer(REST_S, partial(self._rested, memory))
        elif self._has_panel:
            self.query_one(NearRows).show((), "")

    def _rested(self, memory: Memory) -> None:
        """The cursor stays here: look for the story of the memory, and for its neighbours where they are shown."""
        self._rest = None
        engine = self.session.engine
        if engine is None:
            return
        self.runner.start(STORY, lambda token, report: engine.curate.story(memory))
        self._read_got(engine)
        if self._has_panel:
            self._ask_near(memory.id, NEAR)

    def _read_got(self, engine: Engine) -> None:
        """Which turns got which memory: read once for a version of the store, not for each memory."""
        here = (engine, self.session.revision)
        if here == self._got_of or not engine.environ:
            return
        if engine is not self._got_of[0]:
            self.query_one(MemoryDetail).tell_turns(None)
        self._got_of = here

        def work(token: CancelToken, report: Report) -> GotIndex:
            from memtui.engine.witness import (
                read_got,  # not before the first frame
            )

            return read_got(engine, engine.environ, Path.cwd(), token)

        self.runner.start(GOT, work)

    @property
    def resting(self) -> bool:
        """Whether the cursor has just come to a memory whose neighbours will be asked for."""
        return self._rest is not None

    def _ask_near(self, memory: str, slot: str) -> None:
        engine = self.session.engine
        if engine is not None:
            self._near_of = memory
            self.runner.start(slot, lambda token, report: _neighbours(engine, memory))

    def concluded(self, slot: str, value: Any) -> bool:
        if slot == STORY:
            self.query_one(MemoryDetail).tell(value)
        elif slot == GOT:
            self.query_one(MemoryDetail).tell_turns(value)
        elif slot == NEAR:
            self.query_one(NearRows).show(*value)
        elif slot == NEAR_ASKED:
            memory = self.query_one(MemoryDetail).memory
            if memory is not None and memory.id == self._near_of:
                self.app.push_screen(NeighboursDialog(title(memory), *value), self._wanted)
        else:
            return super().concluded(slot, value)
        return True

    def action_neighbours(self) -> None:
        memory = self.query_one(MemoryDetail).memory
        if memory is None:
            return
        if self._has_panel:
            self.query_one(NearRows).focus()
            self.resting_on(memory)
        else:
            self._ask_near(memory.id, NEAR_ASKED)

    def _wanted(self, wanted: Wanted | None) -> None:
        if wanted is None:
            return
        what, memory = wanted
        if what == "show":
            self.post_message(MemoryDetail.LinkFollowed(memory))
        else:
            self._merge(memory)

    def _merge(self, other: str) -> None:
        """Plan to make one of the selected memory and a neighbour; the one that counts more survives."""
        here = self._near_of
        self.staging.stage(lambda engine: engine.curate.merge([here, other]))

    @on(NearRows.MergeWanted)
    def _merge_wanted(self, message: NearRows.MergeWanted) -> None:
        message.stop()
        self._merge(message.id)

    @on(RowList.Opened, "#near-rows")
    def _near_opened(self, message: RowList.Opened) -> None:
        message.stop()
        self._wanted(("show", message.key))
