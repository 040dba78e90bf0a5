"""The neighbours of a memory: a panel on a wide screen, a dialog on the others, and the merge with one of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.screens.browse.detail import MemoryDetail
from memtui.tui.screens.browse.neighbours import NearRows, NeighboursDialog
from tests.conftest import NOW_MS
from tests.engine.curate_world import row_of, rows_of, same_rows
from tests.engine.pro_store import row, write_store
from tests.tui.driving import press, screen_text
from tests.tui.test_changing import browsing, current_id, said, steps

VECTORS = ((1.0, 0.0), (0.96, 0.28), (0.6, 0.8), (0.0, 1.0), (0.8, 0.6), (-1.0, 0.0), None)


def name(i: int) -> str:
    return f"row-{i:05}-aaaa-bbbb-cccc-dddddddddddd"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    rows = [
        row(name(i), f"Note number {i}", vector, timestamp=NOW_MS - i * 86_400_000, metadata={"mine": i})
        for i, vector in enumerate(VECTORS)
    ]
    return write_store(tmp_path / "store", rows, dims=2)


def near(app: MemtuiApp) -> NearRows:
    return app.screen.query_one(NearRows)


@pytest.mark.slow
async def test_a_panel_on_a_wide_screen_follows_the_cursor(store):
    async with browsing(store, size=(200, 50)) as (app, pilot):
        text = screen_text(app)
        for i, similarity in ((1, ".960"), (4, ".800"), (2, ".600"), (3, "0.00"), (5, "-1.0")):
            shown = similarity if similarity != "0.00" else ".000"
            assert any(f"Note number {i}" in line and shown in line for line in text.split("\n")), (i, text)
        await press(pilot, "j")
        assert near(app).key == name(0) or ".960" in screen_text(app)
        await press(pilot, "G")
        assert "This memory has no usable vector." in screen_text(app)


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 36), marks=pytest.mark.slow)])
async def test_a_dialog_where_there_is_no_room_shows_one_of_them(store, size):
    async with browsing(store, size=size) as (app, pilot):
        await press(pilot, "K")
        assert isinstance(app.screen, NeighboursDialog)
        await press(pilot, "j", "enter")
        detail = app.screen.query_one(MemoryDetail)
        assert detail.memory is not None
        assert detail.memory.id == name(4)


@pytest.mark.slow
@pytest.mark.parametrize("size", [pytest.param((120, 36), marks=pytest.mark.slow), (200, 50)])
async def test_a_merge_with_a_neighbour_and_its_undo(store, size):
    before = rows_of(store)
    async with browsing(store, size=size) as (app, pilot):
        assert current_id(app) == name(0)
        await press(pilot, "K", "M")
        assert isinstance(app.screen, ChangePreview)
        assert same_rows(rows_of(store), before)
        await press(pilot, "enter")
        assert "2 memories merged" in said(app)
        assert json.loads(row_of(store, name(1))["metadata"])["superseded_by"] == name(0)
        assert json.loads(row_of(store, name(1))["metadata"])["mine"] == 1
        await press(pilot, "escape")
        await steps(pilot, "u", "enter")
    assert same_rows(rows_of(store), before)


async def test_without_a_vector_the_dialog_says_so(store):
    async with browsing(store) as (app, pilot):
        await press(pilot, "G", "K")
        assert "This memory has no usable vector." in screen_text(app)
        await press(pilot, "M", "escape")
        assert len(app.screen_stack) == 1
