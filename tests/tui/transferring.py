"""Driving Transfer: a small real store, sources beside it, the app on its fifth screen."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from memtui.engine import Engine
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.transfer.screen import TransferScreen
from memtui.tui.startup.open_store import opener
from memtui.tui.widgets.screen_bars import FlashLine
from tests.engine.transfer_stores import memory, opened, own_store
from tests.engine.transfer_world import NOW_MS
from tests.tui.driving import press, settle

HERE = [
    memory(1, "The bastion listens on port 2222.", scope="global"),
    memory(2, "Ana is the designer on mango.", scope="project:mango", metadata={"tier": "core"}),
    memory(3, "The beta of mango has 200 seats.", scope="project:mango"),
    memory(4, "Standup is at 09:30 in the blue room.", scope="agent:main"),
]
"""What is in the store."""
KILNS = [
    f"Kiln {n} in Uferweg fires {what} at {900 + 10 * n} degrees."
    for n, what in enumerate(("stoneware", "porcelain", "raku", "bricks", "bone china", "glass"))
]


def memories(folder: Path) -> Path:
    """A store of memtui's own with `HERE`."""
    return own_store(folder / "store", HERE)


def notes(folder: Path, *, broken: bool = True) -> Path:
    """JSON lines of another program: new ones, copies, two conflicts, noise, a secret, a broken line."""
    rows: list[dict[str, Any]] = [
        {"text": text, "scope": "project:kiln", "created_at": "2026-02-01"} for text in KILNS
    ]
    rows += [{"text": HERE[3]["text"], "scope": "agent:main"}]
    rows += [
        {"id": HERE[0]["id"], "text": "The bastion listens on port 4444.", "scope": "global"},
        {"id": HERE[2]["id"], "text": "The beta of mango has 350 seats.", "scope": "project:mango"},
    ]
    rows += [
        {"text": "ok"},
        {"text": "Hello!"},
        {"text": "The api key is sk-proj-abcdefghijklmnopqrstuvwx12345"},
    ]
    path = folder / "notes.jsonl"
    end = '{"text": "cut off\n' if broken else ""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + end, encoding="utf-8")
    return path


@asynccontextmanager
async def transferring(
    store: Path,
    *,
    writable: bool = True,
    size: tuple[int, int] = (120, 36),
    task: str = "",
    glyphs: str = "unicode",
    **options: Any,
) -> AsyncIterator[tuple[MemtuiApp, Pilot[None], TransferScreen]]:
    """The app on Transfer, with `task` begun."""
    environ = {
        "HOME": str(store.parent),
        "MEMTUI_STATE_DIR": str(store.parent / "state"),
        "MEMTUI_GLYPHS": glyphs,
    }
    app = MemtuiApp(
        str(store),
        opener=opener(environ, store.parent, writable=writable, **options),
        now=lambda: NOW_MS,
        environ=environ,
    )
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, "5")
        screen = app.screen
        assert isinstance(screen, TransferScreen)
        if task:
            screen.run.opened("a", f"task:{task}")
            await settle(pilot)
        yield app, pilot, screen


@asynccontextmanager
async def importing(
    store: Path, source: Path, **options: Any
) -> AsyncIterator[tuple[MemtuiApp, Pilot[None], TransferScreen]]:
    """Transfer with an import of `source`, read and mapped."""
    async with transferring(store, task="import", **options) as (app, pilot, screen):
        screen.put_line(str(source))
        await settle(pilot)
        await press(pilot, "enter")
        yield app, pilot, screen


async def steps(pilot: Pilot[None], keys: Sequence[str]) -> None:
    """Press keys one by one, each after the last one has had its effect."""
    for key in keys:
        await press(pilot, key)


def said(screen: TransferScreen) -> str:
    """The line above the key bar."""
    return screen.query_one(FlashLine).text


def stored(store: Path) -> Engine:
    """The store, opened anew."""
    return opened(store, store.parent / "state", writable=True)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small store; the working folder and the state folder are beside it."""
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return memories(tmp_path)
