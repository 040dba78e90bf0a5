"""Driving the Recall screen: a question typed and answered, a recall that waits or fails."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from memtui.engine import Engine
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import AskRecall
from memtui.tui.screens.recall.screen import RecallScreen
from tests.tui.driving import press, running, screen_text, settle

QUESTION = "Which port do I use for SSH to the bastion?"


@asynccontextmanager
async def recalling(
    engine: Any, size: tuple[int, int] = (120, 36), query: str = QUESTION, recipe: str = "pro/agent"
) -> AsyncIterator[tuple[MemtuiApp, Pilot[None], RecallScreen]]:
    """The app on Recall, the question answered by `recipe`."""
    async with running(engine, size) as (app, pilot):
        await press(pilot, "3")
        screen = app.screen
        assert isinstance(screen, RecallScreen)
        screen.choose(recipe=recipe)
        if query:
            screen.receive(AskRecall(query))
            await settle(pilot)
        yield app, pilot, screen


class Wrapped:
    """The engine, with a recall that waits for a signal, or fails."""

    def __init__(
        self, engine: Engine, *, error: Exception | None = None, gate: threading.Event | None = None
    ) -> None:
        self._engine, self.error, self.gate = engine, error, gate
        self.asked: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def recall(self, request: Any, on_stage: Any = None, cancel: Any = None) -> Any:
        self.asked.append(request)
        if self.error is not None:
            raise self.error

        def stage(summary: Any) -> None:
            on_stage(summary)
            if self.gate is not None and summary.name == "fused":
                assert self.gate.wait(120)
                cancel.check()

        return self._engine.recall(request, stage, cancel)


def panels(app: MemtuiApp) -> str:
    """The screen without top bar and key bar, which belong to all screens."""
    return "\n".join(screen_text(app).split("\n")[1:-1]).rstrip()
