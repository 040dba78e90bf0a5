"""A machine that stands still at the wrong moment loses no timer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

import pytest
from textual import _time
from textual.app import App

from memtui.patches.textual_timers import never_lose_timers

HELD_UP_S = 3.0


NAME = "held up"


class LeapingClock:
    """For one timer every look at the clock is three seconds after the one before, as if the process were held up."""

    def __init__(self) -> None:
        self.leapt = 0.0

    def __call__(self) -> float:
        task = asyncio.current_task()
        if task is not None and task.get_name() == NAME:
            self.leapt += HELD_UP_S
            return monotonic() + self.leapt
        return monotonic()


@pytest.mark.parametrize("delay", [0.01, 0.05, 1.0])
async def test_what_is_to_happen_once_happens_even_where_its_time_has_passed(
    delay: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    never_lose_timers()
    happened = asyncio.Event()
    app: App[None] = App()
    async with app.run_test() as pilot:
        on_time: Callable[[], object] = happened.set
        with monkeypatch.context() as leaping:
            leaping.setattr(_time, "get_time", LeapingClock())
            app.set_timer(delay, on_time, name=NAME)
            await asyncio.wait_for(happened.wait(), 60)
        await pilot.pause()
    assert app.return_code in (None, 0)


def test_it_is_done_once_however_often_it_is_asked_for() -> None:
    never_lose_timers()
    done = App.set_timer
    never_lose_timers()
    assert App.set_timer is done
    assert done.__wrapped__.__module__ == "textual.message_pump"  # type: ignore[attr-defined]
