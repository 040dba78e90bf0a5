"""Recall reads ahead what a first question would wait for, as soon as it is on the screen."""

from __future__ import annotations

from pathlib import Path

from memtui.engine import Engine, open_engine
from tests.conftest import NOW_MS
from tests.engine.test_read_ahead import surveyed
from tests.quality import dialogues
from tests.tui.driving import press, running, screen_text, until


async def test_recall_is_ready_before_anything_is_asked(tmp_path: Path) -> None:
    turns, _ = dialogues.read("carmen-louis")
    folder = dialogues.write(tmp_path / "store", turns)
    engine: Engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)
    async with running(engine, (120, 36)) as (app, pilot):
        assert not surveyed(engine.store.pin())
        await press(pilot, "3")
        await until(pilot, lambda: surveyed(engine.store.pin()))
        await press(pilot, *"choir", "enter")
        await until(pilot, lambda: "answer found" in screen_text(app))
