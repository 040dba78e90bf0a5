"""From an answer onwards: why a memory is not in it, what other settings give, more like this one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.message import Message

from memtui.engine import CancelToken, MemtuiError, RecallRequest, changes, explain
from memtui.engine.explain import History
from memtui.paths import questions_file
from memtui.tui.bound_panel import BoundPart
from memtui.tui.calls import Report
from memtui.tui.change_request import ChangeRequests
from memtui.tui.dialogs.choose_memory import MemoryPick
from memtui.tui.dialogs.correct_answer import CorrectAnswer, Correction
from memtui.tui.screens.recall import state as reduce
from memtui.tui.screens.recall.state import RecallState
from memtui.tui.screens.recall.view import RADAR, TOLD, tell
from memtui.tui.widgets.dropped_list import DroppedList
from memtui.tui.widgets.screen_bars import FlashLine

if TYPE_CHECKING:
    from memtui.engine import Engine, Trace
    from memtui.engine.changes import Outcome


CORRECT = "correct"
"""The slot of the engine call that finds out why the right memory did not win."""

MORE_LIKE = "more-like"
"""The slot of the engine call that reads a memory's vector."""


def with_kept_vector(engine: Engine, request: RecallRequest) -> RecallRequest:
    """`request` with the vector its question was asked with before, where nothing here embeds. For a worker."""
    try:
        return explain.with_kept_vector(engine, request, History(questions_file()))
    except MemtuiError:  # without the history the question is asked by its words
        return request


class Explore(BoundPart[RecallState]):
    """Opens Why not and What if over an answer, and takes back what was tried there."""

    BESIDE = frozenset((RADAR,))
    OF_ROW = frozenset((TOLD,))

    @dataclass
    class Answered(Message):
        """What was tried has become the answer of the screen."""

        trace: Trace

    @dataclass
    class Corrected(Message):
        """A wrong memory of the answer was replaced by the right one, in this version of the table."""

        right: str
        wrong: str
        version: int

    def __init__(self) -> None:
        super().__init__()
        self._wanted = ""
        """A memory to be looked into as soon as a question is answered."""

    # ------------------------------------------------------------------ why not

    def why_not(self) -> None:
        """Of the dropped memory under the cursor; else of one that the person picks."""
        engine = self.session.engine
        if engine is None or self.state.trace is None:
            return
        dropped = self.screen.query_one(DroppedList)
        if dropped.has_focus and dropped.key:
            self.why_not_of(dropped.key)
            return

        def taken(memory_id: str | None) -> None:
            if memory_id is not None:
                self.why_not_of(memory_id)

        self.app.push_screen(MemoryPick(engine, "Why does this not come back?"), taken)

    def why_not_of(self, memory_id: str) -> None:
        """Of this memory, for the answered question; without one as soon as there is one."""
        from memtui.tui.screens.whynot.screen import WhyNotScreen

        engine, trace = self.session.engine, self.state.trace
        if engine is None or trace is None:
            self._wanted = memory_id
            self.flash("Ask a question: then you see why this memory does not come back for it.", "note")
            return
        self._wanted = ""
        self.app.push_screen(WhyNotScreen(engine, trace, memory_id, self.what_if))

    def want_none(self) -> None:
        """Another question comes with its own wish: no memory waits for an answer any more."""
        self._wanted = ""

    def answered(self, trace: Trace) -> None:
        """A question was answered: its stories are written, and a memory may have been waiting for that."""
        engine, form = self.session.engine, self.state.answered
        if engine is not None:
            self.call(
                TOLD,
                lambda cancel, report: tell(engine, trace, cancel, report),
                lambda told: None,
                progress=lambda told: self.become(
                    lambda state: reduce.tell(state, told) if state.trace is trace else state
                ),
            )
            self.call(
                RADAR,
                lambda cancel, report: explain.find_disagreements(trace),
                lambda found: self.become(
                    lambda state: reduce.warn(state, found) if state.trace is trace else state
                ),
            )
        given = dict(form.tried).get("query_vector") if form is not None else None
        if trace.request is not None and trace.request.query_vector is not None and given is None:
            self.flash("No embedder: asked with the vector that this question had the last time.", "note")
        if self._wanted:
            self.why_not_of(self._wanted)

    def forget_answer(self) -> None:
        """Another question is asked: what is still worked out about the answer before is not wanted."""
        self.runner.cancel(TOLD)
        self.runner.cancel(RADAR)

    def correct(self) -> None:
        """Replace a wrong memory of the answer by the right one: the newer that says otherwise, else a picked one."""
        engine, trace, radar = self.session.engine, self.state.trace, self.state.radar
        if engine is None or trace is None:
            return
        if radar:
            self._correct(engine, trace, radar[0].recalled, radar[0].newer, explain.corrected_text(radar[0]))
            return
        wrong = self.state.selected

        def taken(right: str | None) -> None:
            if right == wrong:
                self.flash("That is the memory itself. Take the one that should have come first.", "note")
            elif right is not None:
                self._correct(engine, trace, wrong, right, "")

        if wrong:
            self.app.push_screen(MemoryPick(engine, "What should have been read in its place?"), taken)

    def _correct(self, engine: Engine, trace: Trace, wrong: str, right: str, text: str) -> None:
        def work(cancel: CancelToken, report: Report) -> Correction:
            verdict = explain.why_not_in(engine, trace, right, changes=False, cancel=cancel)
            places = {id: place for place, id in enumerate(trace.returned, 1)}
            told = engine.get(right).text
            return Correction(
                trace.query,
                wrong,
                places.get(wrong, 0),
                engine.get(wrong).text,
                right,
                told,
                places.get(right),
                verdict.sentence,
                text or told,
            )

        self.flash("looking up why the right memory did not come", "note")
        self.call(CORRECT, work, self._show_correction)

    def _show_correction(self, found: Correction) -> None:
        self.screen.query_one(FlashLine).dismiss()

        def taken(text: str | None) -> None:
            if text is None:
                return
            new = None if text == " ".join(found.right_text.split()) else text

            def written(outcome: Outcome) -> None:
                self.post_message(self.Corrected(found.right, found.wrong, outcome.version_after))

            self.screen.query_one(ChangeRequests).stage(
                lambda engine: changes.plan_merge(
                    engine, [found.right, found.wrong], survivor=found.right, text=new
                ),
                then=written,
            )

        self.app.push_screen(CorrectAnswer(found), taken)

    # ------------------------------------------------------------------ what if

    def what_if(self, changes: Mapping[str, Any] | None = None, memory_id: str = "") -> None:
        """Every setting as a slider over the present answer, `changes` turned already."""
        from memtui.tui.screens.whatif.screen import WhatIfScreen

        engine, state = self.session.engine, self.state
        form = state.answered
        if engine is None or state.trace is None or form is None:
            return
        given = dict(changes or {})
        if given.keys() & {"recipe", "query"}:  # another question: nothing is tried on this one
            self.become(lambda now: reduce.turned(now, given), ask=True)
            return
        base = state.trace if not form.tried else None
        tried = {**dict(form.tried), **given}
        chosen = memory_id or state.selected

        def taken(kept: Mapping[str, Any], trace: Trace) -> None:
            def change(state: RecallState) -> RecallState:
                asked = reduce.turned(reduce.edit(state, **reduce.fields(form.own)), kept)
                return reduce.answered(asked, asked.form, trace)

            self.become(change)
            self.post_message(self.Answered(trace))

        self.app.push_screen(WhatIfScreen(engine, form.own.request(), base, tried, chosen, taken))

    # ------------------------------------------------------------------ more like this

    def more_like(self) -> None:
        """Ask with the selected memory: its words, and its own vector."""
        engine, memory_id = self.session.engine, self.state.selected
        if engine is None or not memory_id:
            return
        request = self.state.form.own.request()

        def work(cancel: CancelToken, report: Report) -> RecallRequest:
            return explain.more_like(engine, memory_id, request)

        self.call(MORE_LIKE, work, self._like_known)

    def _like_known(self, request: RecallRequest) -> None:
        """The memory's words and vector are there: ask with them."""
        like = {"query": request.query, "query_vector": request.query_vector}
        self.become(lambda state: reduce.turned(state, like), ask=True)
