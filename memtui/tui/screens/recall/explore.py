"""From an answer onwards: why a memory is not in it, what other settings give, more like this one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memtui.engine import CancelToken, History, MemtuiError, RecallRequest, explain
from memtui.paths import questions_file
from memtui.tui.calls import Report
from memtui.tui.dialogs.choose_memory import MemoryPick
from memtui.tui.screens.recall import state as reduce
from memtui.tui.screens.recall.view import RADAR, TOLD, tell
from memtui.tui.widgets.dropped_list import DroppedList

if TYPE_CHECKING:
    from memtui.engine import Engine, Trace
    from memtui.tui.screens.recall.screen import RecallScreen


MORE_LIKE = "more-like"
"""The slot of the engine call that reads a memory's vector."""


def with_kept_vector(engine: Engine, request: RecallRequest) -> RecallRequest:
    """`request` with the vector its question was asked with before, where nothing here embeds. For a worker."""
    try:
        return explain.with_kept_vector(engine, request, History(questions_file()))
    except MemtuiError:  # without the history the question is asked by its words
        return request


class Explore:
    """Opens Why not and What if over one Recall screen, and takes back what was tried there."""

    def __init__(self, screen: RecallScreen) -> None:
        self._screen = screen
        self._wanted = ""
        """A memory to be looked into as soon as a question is answered."""

    # ------------------------------------------------------------------ why not

    def why_not(self) -> None:
        """Of the dropped memory under the cursor; else of one that the person picks."""
        screen = self._screen
        engine = screen.session.engine
        if engine is None or screen.state.trace is None:
            return
        dropped = screen.query_one(DroppedList)
        if screen.focused is dropped and dropped.key:
            self.why_not_of(dropped.key)
            return

        def taken(memory_id: str | None) -> None:
            if memory_id is not None:
                self.why_not_of(memory_id)

        screen.app.push_screen(MemoryPick(engine, "Why does this not come back?"), taken)

    def why_not_of(self, memory_id: str) -> None:
        """Of this memory, for the answered question; without one as soon as there is one."""
        from memtui.tui.screens.whynot.screen import WhyNotScreen

        screen = self._screen
        engine, trace = screen.session.engine, screen.state.trace
        if engine is None or trace is None:
            self._wanted = memory_id
            screen.flash("Ask a question: then you see why this memory does not come back for it.", "note")
            return
        self._wanted = ""
        screen.app.push_screen(WhyNotScreen(engine, trace, memory_id, self.what_if))

    def answered(self, trace: Trace) -> None:
        """A question was answered: its stories are written, and a memory may have been waiting for that."""
        screen = self._screen
        engine, form = screen.session.engine, screen.state.answered
        if engine is not None:
            screen.runner.start(TOLD, lambda cancel, report: tell(engine, trace, cancel, report))
            screen.runner.start(RADAR, lambda cancel, report: (trace, explain.find_disagreements(trace)))
        given = dict(form.tried).get("query_vector") if form is not None else None
        if trace.request is not None and trace.request.query_vector is not None and given is None:
            screen.flash("No embedder: asked with the vector that this question had the last time.", "note")
        if self._wanted:
            self.why_not_of(self._wanted)

    def disagreement(self) -> None:
        """Replace the recalled memory by the newer one that says otherwise: previewed, or staged from there."""
        screen = self._screen
        if not screen.state.radar:
            return
        found = screen.state.radar[0]
        screen.staging.stage(
            lambda engine: engine.curate.merge([found.newer, found.recalled], survivor=found.newer)
        )

    # ------------------------------------------------------------------ what if

    def what_if(self, changes: Mapping[str, Any] | None = None, memory_id: str = "") -> None:
        """Every setting as a slider over the present answer, `changes` turned already."""
        from memtui.tui.screens.whatif.screen import WhatIfScreen

        screen = self._screen
        engine, state = screen.session.engine, screen.state
        form = state.answered
        if engine is None or state.trace is None or form is None:
            return
        given = dict(changes or {})
        if given.keys() & {"recipe", "query"}:  # another question: nothing is tried on this one
            screen.state = reduce.turned(state, given)
            screen.ask_again()
            return
        base = state.trace if not form.tried else None
        tried = {**dict(form.tried), **given}
        chosen = memory_id or state.selected

        def taken(kept: Mapping[str, Any], trace: Trace) -> None:
            asked = reduce.turned(reduce.edit(screen.state, **reduce.fields(form.own)), kept)
            screen.state = reduce.answered(asked, asked.form, trace)
            self.answered(trace)

        screen.app.push_screen(WhatIfScreen(engine, form.own.request(), base, tried, chosen, taken))

    # ------------------------------------------------------------------ more like this

    def more_like(self) -> None:
        """Ask with the selected memory: its words, and its own vector."""
        screen = self._screen
        engine, memory_id = screen.session.engine, screen.state.selected
        if engine is None or not memory_id:
            return
        request = screen.state.form.own.request()

        def work(cancel: CancelToken, report: Report) -> RecallRequest:
            return explain.more_like(engine, memory_id, request)

        screen.runner.start(MORE_LIKE, work)

    def like_known(self, request: RecallRequest) -> None:
        """The memory's words and vector are there: ask with them."""
        screen = self._screen
        screen.state = reduce.turned(
            screen.state, {"query": request.query, "query_vector": request.query_vector}
        )
        screen.ask_again()
