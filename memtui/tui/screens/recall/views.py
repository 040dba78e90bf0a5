"""What is opened over an answer: beside another one, as the agent would see it, over the table's versions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtui.engine.recall.request import RecallRequest
    from memtui.tui.screens.recall.screen import RecallScreen


def compare(screen: RecallScreen) -> None:
    """The answer beside another one, which is chosen there."""
    from memtui.tui.screens.recall.compare.screen import CompareScreen
    from memtui.tui.screens.recall.compare.state import Side

    trace, form = screen.state.trace, screen.state.answered
    if trace is not None:
        request = trace.request
        if request is not None and form is not None:
            asked = form.request()  # What if holds the clock and the version of what it began with
            request = replace(request, now_ms=asked.now_ms, table_version=asked.table_version)
        title = trace.recipe + (", changed" if request is not None and request.config else "")
        side = Side(title, request, trace)
        screen.app.push_screen(CompareScreen(side, cases=screen.marking.cases_of))


def injected(screen: RecallScreen) -> None:
    """The block that the agent would see before its prompt."""
    from memtui.tui.screens.recall.injected import Injected

    trace, engine = screen.state.trace, screen.session.engine
    if trace is not None and engine is not None:
        screen.app.push_screen(Injected(engine, trace))


def bisect(screen: RecallScreen) -> None:
    """The selected memory's rank over the versions of the table."""
    trace, selected = screen.state.trace, screen.state.selected
    if trace is None or trace.request is None or not selected:
        return
    memory = trace.memories.get(selected)
    bisect_of(screen, trace.request, selected, memory.text if memory is not None else selected)


def bisect_of(screen: RecallScreen, request: RecallRequest, memory: str, text: str) -> None:
    """The rank of a memory for any question, over the versions of the table."""
    from memtui.tui.screens.recall.bisect.screen import BisectScreen

    engine = screen.session.engine
    if engine is not None:
        screen.app.push_screen(BisectScreen(engine, request, memory, text, screen.marking.cases_of))
