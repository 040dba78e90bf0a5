"""The app where no store is: the agents' own files tell of their sessions, and whether their memory is alive."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memtui.tui.app import MemtuiApp
from memtui.tui.startup.open_store import opener
from tests.conftest import tree_hash
from tests.engine.openclaw_homes import AFTER_MS, RecordedHome, unpack_home
from tests.tui.driving import EACH_SIZE, press, screen_text, settle


def app_at(home: Path, state: Path) -> MemtuiApp:
    """The app as it is started by a person whose home this is."""
    environ = {"HOME": str(home), "MEMTUI_STATE_DIR": str(state), "MEMTUI_GLYPHS": "unicode"}
    return MemtuiApp(None, opener=opener(environ, home), now=lambda: AFTER_MS, environ=environ)


@pytest.fixture
def without_store(shared: Path, tmp_path: Path) -> RecordedHome:
    """A home whose agents were given memories by a store that is gone."""
    home = unpack_home(shared, "lancedb", tmp_path)
    for store in list(home.path.rglob("memories.lance")):
        shutil.rmtree(store.parent)
    assert home.engine() is None
    return home


@pytest.mark.parametrize("size", EACH_SIZE)
async def test_what_agents_did_is_shown_though_there_is_no_store(
    without_store: RecordedHome, tmp_path: Path, size: tuple[int, int]
) -> None:
    before = tree_hash(without_store.path)
    turns = len(without_store.expected["turns"])
    app = app_at(without_store.path, tmp_path / "state")
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        home = screen_text(app)
        assert "agents work here" in home
        assert f"{turns} turns in 6 sessions" in home
        await press(pilot, "0")
        await settle(pilot)
        agents = screen_text(app)
        assert "main" in agents
        assert "scout" in agents
        assert "kept beside a store" in agents
        await press(pilot, "9")
        await settle(pilot)
        health = screen_text(app)
        assert "memory     alive: " in health
        assert "B1" in health
        assert "fix" in health
        assert "open a store" in health, "the ways to one stay in sight"
        await press(pilot, "8")
        await settle(pilot)
        audit = screen_text(app)
        assert "scout" in audit or "main" in audit
        assert "with evidence" in audit
        seen = set()
        for _ in range(8):  # every session can be read, and a block's lines are there without their store
            state = app.screen.state  # type: ignore[attr-defined]
            seen.add(state.session)
            assert "≠" not in screen_text(app), "without a store nothing is known to have changed"
            for turn in state.replayed.turns:
                assert all(memory.text for memory in turn.memories or ())
            await press(pilot, "j")
            await settle(pilot)
        assert len(seen) == 6
        for key in ("t", "c", "u"):  # what needs a store is refused, and nothing breaks
            await press(pilot, key)
        await press(pilot, "right_square_bracket")
        await settle(pilot)
        assert "once a store is open" in screen_text(app)
        await press(pilot, "left_square_bracket")
        await settle(pilot)
        assert "with evidence" in screen_text(app)
    assert tree_hash(without_store.path) == before


async def test_an_empty_home_says_nothing_of_agents(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    app = app_at(tmp_path / "home", tmp_path / "state")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for key in ("1", "8", "9", "0"):
            await press(pilot, key)
            await settle(pilot)
            assert "no memory store was found" in screen_text(app)
            assert "agents work here" not in screen_text(app)


async def test_agents_that_are_only_configured_are_not_said_to_work(shared: Path, tmp_path: Path) -> None:
    home = unpack_home(shared, "config-old-list", tmp_path)
    app = app_at(home.path, tmp_path / "state")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "agents are configured here" in screen_text(app)
        assert "none yet" in screen_text(app)
        await press(pilot, "9")
        await settle(pilot)
        assert "A1" in screen_text(app), "what is dead is said before there is a store"
