"""Keys at random, at any pace, on every screen: whatever arrives late, and for whichever view, nothing falls over."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import string
from pathlib import Path

import pytest
from textual import events

from memtui.engine import open_engine
from tests.conftest import NOW_MS
from tests.tui.driving import running, settle

SEEDS = range(int(os.environ.get("MEMTUI_MONKEY", "12")))
KEYS = (
    *string.ascii_lowercase,
    *string.ascii_uppercase,
    *string.digits,
    *("enter", "escape", "tab", "shift+tab", "space", "up", "down", "left", "right", "home", "end"),
    *(
        "pageup",
        "pagedown",
        "slash",
        "question_mark",
        "plus",
        "minus",
        "full_stop",
        "comma",
        "less_than_sign",
    ),
    *("right_square_bracket", "left_square_bracket", "f1", "f2", "ctrl+p", "ctrl+z", "backspace", "delete"),
)
WALKED = 160
LEFT_OUT = {"q"}
"""Leaves the program."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
async def test_no_key_at_any_time_ends_the_program(
    seed: int, demo_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("STATE", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"MEMTUI_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    at = random.Random(seed)
    store = shutil.copytree(demo_store, tmp_path / "store")
    engine = open_engine(
        store,
        writable=True,
        state=tmp_path / "state",
        now=lambda: NOW_MS,
        environ=dict(os.environ),
        cwd=tmp_path,
    )
    size = at.choice(((80, 24), (120, 36), (200, 50)))
    pressed: list[str] = []
    keys = [key for key in KEYS if key not in LEFT_OUT]
    try:
        async with running(engine, size) as (app, pilot):
            for _ in range(WALKED):
                for key in at.choices(keys, k=at.choice((1, 1, 2, 5))):
                    pressed.append(key)
                    char = key if len(key) == 1 else None
                    app.post_message(events.Key(key, char))
                pace = at.random()
                if pace < 0.4:
                    await settle(pilot)
                elif pace < 0.8:
                    await asyncio.sleep(at.random() / 50)
                if at.random() < 0.1:  # out of whatever has opened, to another place
                    for key in ("escape", "escape", "escape", at.choice(string.digits)):
                        pressed.append(key)
                        app.post_message(events.Key(key, key if len(key) == 1 else None))
                if not app.is_running:
                    break
            await settle(pilot)
            assert app.is_running, "the program ended"
    except BaseException:
        print("pressed:", " ".join(pressed))
        raise
