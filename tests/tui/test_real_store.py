"""The app on a real LanceDB store: the recorded one, unpacked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine import ListQuery
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.browse.detail import MemoryDetail
from memtui.tui.screens.browse.memory_list import MemoryList
from memtui.tui.startup.open_store import opener
from tests.conftest import NOW_MS
from tests.tui.driving import lines, press, screen_text, settle, type_text


@pytest.fixture(scope="module")
def store(shared: Path, unpack: Callable[[Path], Path]) -> Path:
    return unpack(shared / "fixtures" / "peer" / "store-clean.tar.gz")


def real_app(store: Path) -> MemtuiApp:
    environ = {"HOME": str(store.parent), "MEMTUI_GLYPHS": "unicode"}
    return MemtuiApp(str(store), opener=opener(environ, store.parent), now=lambda: NOW_MS, environ=environ)


async def test_home_and_browse_show_what_is_stored(store):
    app = real_app(store)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        text = screen_text(app)
        assert "memories   267" in text
        assert "memory-lancedb-pro" in text
        assert "2 memories with" in text
        await press(pilot, "2", "slash")
        await type_text(pilot, "tier:core")
        await press(pilot, "enter")
        assert app.screen.query_one(MemoryList).total == 26
        assert "26 of 267" in lines(app)[1]
        await press(pilot, "s", "i", "G")
        assert "26 / 26" in screen_text(app)


async def test_every_row_can_be_shown_in_full(store):
    app = real_app(store)
    async with app.run_test(size=(200, 50)) as pilot:
        await settle(pilot)
        await press(pilot, "2", "l")
        engine = app.session.engine
        assert engine is not None
        rows = engine.page(engine.view(ListQuery()), 0, 1_000)
        assert len(rows) == 267
        detail = app.screen.query_one(MemoryDetail)
        detail.folded = False  # as with z, where it has the room
        for row in rows:
            detail.show(row)
            text = "\n".join(line.plain for line in detail.lines)
            assert all(key in text for key in row.metadata_values if key.isidentifier()), row.id
            assert (row.scope or "(none)").strip() in text


@pytest.mark.slow
async def test_a_filter_error_of_the_engine_is_shown_at_its_place(store):
    app = real_app(store)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, "2", "slash")
        await type_text(pilot, "cat:nonsense")
        await press(pilot, "enter")
        shown = lines(app)
        assert shown[1].startswith(" / cat:nonsense")
        assert shown[2] == " " * 7 + "^" * len("nonsense")
        assert "nonsense" in shown[3]
        assert app.screen.query_one(MemoryList).total == 267
        await press(pilot, "escape")
        assert "all memories" in lines(app)[1]
        assert lines(app)[2].startswith("╭─ Memories")
