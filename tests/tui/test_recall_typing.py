"""What is typed into the question line stays there, however late the screen hears of it."""

from __future__ import annotations

from memtui.engine import Engine
from memtui.tui.messages import AskRecall
from memtui.tui.screens.recall import state as reduce
from memtui.tui.screens.recall.screen import RecallScreen
from memtui.tui.widgets.question_line import QuestionLine
from tests.tui.driving import press, running, settle, until

TYPED = "which port"


async def test_a_screen_that_is_behind_takes_nothing_back(demo_engine: Engine) -> None:
    """On a busy machine the screen hears of a letter when the line has one more: it stays, and nothing is selected."""
    async with running(demo_engine, (120, 36)) as (app, pilot):
        await press(pilot, "3")
        screen = app.screen
        assert isinstance(screen, RecallScreen)
        line = screen.query_one(QuestionLine)
        for at in range(0, len(TYPED), 2):
            line.insert_text_at_cursor(TYPED[at])
            line.insert_text_at_cursor(TYPED[at + 1])
            screen.state = reduce.typed(screen.state, TYPED[: at + 1])
            assert line.value == TYPED[: at + 2]
            await pilot.pause()
            assert line.value == TYPED[: at + 2]
            assert line.selection.is_empty
        await settle(pilot)
        assert screen.state.form.query == line.value == TYPED
        await press(pilot, "s")
        await until(pilot, lambda: screen.state.form.query == f"{TYPED}s")


async def test_what_others_fill_in_takes_the_place_of_what_was_typed(demo_engine: Engine) -> None:
    """Also where it is a text that was typed on the way; walking through earlier questions too."""
    async with running(demo_engine, (120, 36)) as (app, pilot):
        await press(pilot, "3")
        screen = app.screen
        assert isinstance(screen, RecallScreen)
        line = screen.query_one(QuestionLine)
        await press(pilot, *"ssh", "space", *"port")
        await until(pilot, lambda: screen.state.form.query == line.value == "ssh port")
        screen.receive(AskRecall("ssh"))
        await until(pilot, lambda: line.value == "ssh")
        await settle(pilot)
        screen.receive(AskRecall("who is on call"))
        await until(pilot, lambda: line.value == "who is on call")
        await settle(pilot)
        await press(pilot, "slash", "up")
        await until(pilot, lambda: line.value == "ssh")
