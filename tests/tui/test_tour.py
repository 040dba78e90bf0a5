"""The guided first run: real key presses on the real demo store; skipped for good, begun again on demand."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from memtui.engine import open_engine
from memtui.tui.app import MemtuiApp
from memtui.tui.tour import QUESTION, SEEN, STEPS, TourStrip, look
from memtui.tui.widgets.question_line import QuestionLine
from memtui.ui_state import UiState
from tests.conftest import NOW_MS
from tests.tui.driving import press, screen_text, settle, until


@pytest.fixture
def guided(demo_store: Path, tmp_path: Path) -> Callable[[], MemtuiApp]:
    """Makes the app as `memtui demo` does, on a copy of the demo store; what was seen is kept between two."""
    store = tmp_path / "store"
    shutil.copytree(demo_store, store)

    def opener(target: object, now: object, report: object, cancel: object) -> Any:
        return open_engine(
            store, now=lambda: NOW_MS, environ={}, cwd=tmp_path, writable=True, state=tmp_path / "state"
        )

    def make() -> MemtuiApp:
        kept = UiState(tmp_path / "state" / "ui.json")
        environ = {"MEMTUI_GLYPHS": "unicode"}
        return MemtuiApp("demo", opener=opener, now=lambda: NOW_MS, environ=environ, kept=kept)

    return make


async def at(pilot: Pilot[None], step: int) -> None:
    """Wait until the run is at this step, and is seen."""
    app = pilot.app
    assert isinstance(app, MemtuiApp)
    name = f"TOUR {step + 1} of {len(STEPS)}" if step < len(STEPS) else "TOUR done"
    await until(pilot, lambda: name in screen_text(app))
    await settle(pilot)


async def test_typing_replaces_the_question_that_was_filled_in(guided):
    """Whoever asks something else on Recall types it; an arrow key edits what stands there."""
    app = guided()
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await at(pilot, 0)
        await press(pilot, "3")
        await at(pilot, 1)
        line = app.screen.query_one(QuestionLine)
        await until(pilot, lambda: line.value == QUESTION)
        await press(pilot, *"editor")
        await settle(pilot)
        assert line.value == "editor"
        assert app.screen.state.form.query == "editor"
        await press(pilot, "escape", "slash", "end", *"s")
        await settle(pilot)
        assert line.value == "editors"


@pytest.mark.slow
async def test_the_whole_way_from_a_wrong_answer_to_its_undo(guided):
    app = guided()
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await at(pilot, 0)
        version = app.session.info.version
        await press(pilot, "3")
        await at(pilot, 1)
        await press(pilot, "enter")
        await at(pilot, 2)
        assert "SSH to the bast" in screen_text(app)
        await press(pilot, "w")
        await at(pilot, 3)
        await press(pilot, "escape", "f")
        await at(pilot, 4)
        assert "not recalled" in screen_text(app)
        await press(pilot, "ctrl+s")
        await at(pilot, 5)
        await press(pilot, "enter")
        await at(pilot, 6)
        assert app.session.info.version == version + 1
        recall = app.screen_stack[0]
        await until(pilot, lambda: look(app).right)
        trace = recall.state.trace
        assert "48022" in trace.memories[trace.returned[0]].text
        assert not any("ssh -p 2222" in trace.memories[each].text for each in trace.returned)
        case = recall.marking.case
        assert case is not None
        assert trace.returned[0] in case.expected
        assert case.rejected
        await press(pilot, "2", "u")
        await until(pilot, lambda: len(app.screen_stack) == 2)
        await press(pilot, "enter")
        await at(pilot, 7)
        assert app.session.info.version == version + 2
        await press(pilot, "U")
        await until(pilot, lambda: len(app.screen_stack) == 2)
        await press(pilot, "enter")
        await at(pilot, 8)
        assert app.session.info.version == version + 3
        right = app.session.engine.memories([trace.returned[0]])
        assert "48022" in right[trace.returned[0]].text, "the tour leaves the right port"
        await press(pilot, "7")
        await at(pilot, 9)
        capture = app.screen_stack[0]
        await until(pilot, lambda: capture.state.trace is not None)
        await settle(pilot)
        assert [text.fate for text in capture.state.trace.texts] == ["kept", "deferred", "dropped", "dropped"]
        await press(pilot, "j", "W")
        await at(pilot, 10)
        assert capture.state.verdict.gate == "unsure"
        assert "uncertain wording" in screen_text(app)
        assert app.session.info.version == version + 3, "a conversation that is looked at writes nothing"
        assert "That is the loop" in screen_text(app)
        await press(pilot, "f10")
        assert not app.screen.query(TourStrip)


@pytest.mark.slow
async def test_skipped_it_never_comes_back_by_itself_but_from_the_palette(guided, tmp_path):
    app = guided()
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await at(pilot, 0)
        assert "f10 skip" in screen_text(app)
        await press(pilot, "f10")
        assert "TOUR" not in screen_text(app)
        await settle(pilot)
    assert UiState(tmp_path / "state" / "ui.json").read()[SEEN] is True
    app = guided()
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "TOUR" not in screen_text(app)
        await press(pilot, "ctrl+p", *"guided", "enter")
        await at(pilot, 0)
        await pilot.click(TourStrip, offset=(76, 0))
        await until(pilot, lambda: "TOUR" not in screen_text(app))


def test_every_step_fits_a_small_screen_and_names_real_keys(guided):
    app = guided()
    for step in STEPS:
        for id in [part.split("}")[0] for part in step.do.split("{")[1:]]:
            assert id in app.keys.by_id
        assert len(step.why) <= 110
        assert len(step.do) <= 90
