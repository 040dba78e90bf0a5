"""A new task is one file and one registration: it is listed, begun, filled in, run, and led back from."""

from __future__ import annotations

import pytest

from memtui.tui.screens.transfer import tasks
from memtui.tui.screens.transfer.tasks import TaskEntry
from tests.tui.driving import press, screen_text, settle, type_text
from tests.tui.transferring import HERE, steps, store, transferring

__all__ = ["store"]


@pytest.fixture
def greeting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one registration."""
    entry = TaskEntry("greet", "Greet", "says hello to every memory", "tests.tui.hello_task")
    monkeypatch.setattr(tasks, "TASKS", (*tasks.TASKS, entry))


@pytest.mark.usefixtures("greeting")
async def test_a_new_task_is_listed_and_runs(store):
    async with transferring(store, writable=False) as (app, pilot, screen):
        assert "says hello to every memory" in screen_text(app)
        screen.run.opened("a", "task:greet")
        await settle(pilot)
        assert "Who is greeted" in screen_text(app)
        await press(pilot, "enter")
        await type_text(pilot, "Ana")
        await press(pilot, "enter")
        assert screen.run.state.name == "Ana"
        await steps(pilot, ["j", "space"])
        assert screen.run.state.loud
        await press(pilot, "y")
        assert screen.run.step == "said"
        assert f"memories     {len(HERE)}" in screen_text(app)
        await press(pilot, "backspace")
        assert screen.run.step == "who"
        await steps(pilot, ["y", "n"])
        assert "Tasks" in screen_text(app)


@pytest.mark.usefixtures("greeting")
async def test_its_error_is_a_sentence(store):
    async with transferring(store) as (app, pilot, screen):
        screen.begin("greet", "nobody")
        await settle(pilot)
        await press(pilot, "y")
        assert screen.run.step == "who"
        assert "There is nobody to greet." in screen_text(app)


def test_every_registered_task_is_there() -> None:
    for entry in (*tasks.TASKS, *tasks.UNLISTED):
        task = tasks.task_named(entry.name)
        assert (task.name, task.title) == (entry.name, entry.title)
        assert len({step.name for step in task.steps}) == len(task.steps)
