"""Bisect in the app: the version that changed a rank is found, drawn, and set beside the one before."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from memtui.engine import Engine, open_engine
from memtui.tui.paint.glyphs import ASCII
from memtui.tui.paint.line_plot import RankPoint, rank_lines
from memtui.tui.screens.compare.screen import CompareScreen
from memtui.tui.screens.recall.bisect import BisectScreen
from memtui.tui.screens.recall.screen import RecallScreen
from memtui.tui.widgets.screen_bars import FlashLine
from tests.conftest import NOW_MS, tree_hash
from tests.engine.pro_store import row, write_store
from tests.engine.test_bisect import grow
from tests.tui.driving import SIZES, press, screen_text
from tests.tui.recalling import recalling


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Twelve versions; in the middle a rival comes that answers the question in the same words."""
    right = row("right", "The gateway of the staging cluster listens on port 8443 since spring", (0, 1))
    folder = write_store(tmp_path / "plugin", [right], dims=2)
    noise = [row(f"n{i}", f"A note about lunch {i}", (0, 1)) for i in range(8)]
    rival = row("rival", "gateway port gateway port", (0, 1))
    grow(folder, [*noise[:5], rival, *noise[5:]])
    return folder


def engine_on(folder: Path) -> Engine:
    engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)
    engine.load_catalog()
    engine.load_metadata()
    return engine


@pytest.mark.slow
@pytest.mark.parametrize("size", [SIZES[0], SIZES[2]], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_version_that_changed_it_is_found_and_compared_and_nothing_is_written(
    store: Path, size: tuple[int, int]
) -> None:
    before = tree_hash(store)
    async with recalling(engine_on(store), size, query="gateway port", recipe="pro/tool") as (
        app,
        pilot,
        recall,
    ):
        trace = recall.state.trace
        assert trace is not None
        assert trace.returned[:2] == ("rival", "right")
        await press(pilot, "j", "B")
        screen = app.screen
        assert isinstance(screen, BisectScreen)
        found = screen.found
        assert found is not None
        assert found.changed_at is not None
        text = screen_text(app)
        assert f"version {found.changed_at.version} changed it: rank 1 before, rank 2 since" in text
        assert "cause: version" in text
        assert "nothing is restored" in text
        assert "●" in text
        assert f"→   v{found.changed_at.version}" in text or f"→    v{found.changed_at.version}" in text
        await press(pilot, "equals_sign")
        beside = app.screen
        assert isinstance(beside, CompareScreen)
        assert beside.state.pair is not None
        assert [flow.id for flow in beside.state.pair.comparison.entered] == ["rival"]
        await press(pilot, "escape", "escape")
        assert isinstance(app.screen, RecallScreen)
    assert tree_hash(store) == before


@pytest.mark.slow
async def test_a_date_and_the_settings_of_then_are_asked_for(store: Path, tmp_path: Path) -> None:
    config = tmp_path / "then.json"
    config.write_text('{"retrieval": {"hardMinScore": 1}}')
    async with recalling(engine_on(store), query="gateway port", recipe="pro/tool") as (app, pilot, _):
        await press(pilot, "B", "t")
        app.screen.query_one(Input).value = "yesterday-ish"
        await press(pilot, "enter")
        screen = app.screen
        assert isinstance(screen, BisectScreen)
        assert "Type a date" in screen.query_one(FlashLine).text
        await press(pilot, "L")
        app.screen.query_one(Input).value = str(tmp_path / "absent.json")
        await press(pilot, "enter")
        assert "cannot be read" in screen.query_one(FlashLine).text
        await press(pilot, "L")
        app.screen.query_one(Input).value = str(config)
        await press(pilot, "enter")
        assert "settings then: then.json" in screen_text(app)
        await press(pilot, "enter")
        assert isinstance(app.screen, CompareScreen)


def test_ranks_are_drawn_with_the_best_on_top_and_what_was_lost_at_the_bottom() -> None:
    stops = [RankPoint("v1", 1), RankPoint("v2", 3), RankPoint("v3", None, marked=True)]
    lines = [line.plain for line in rank_lines(stops, 40, 10)]
    assert len(lines) == 10
    assert all(len(line) <= 40 for line in lines)
    assert lines[0].startswith("  #1 ┤")
    assert "●" in lines[0]
    assert any(line.startswith("  #3 ┤") and "●" in line for line in lines)
    assert lines[7].startswith(" out ┤")
    assert "✗" in lines[7]
    assert lines[9].split() == ["v1", "v2", "v3"]
    plain = "\n".join(line.plain for line in rank_lines(stops, 40, 10, ASCII))
    assert plain.isascii()
    assert "no room" in rank_lines(stops, 10, 4)[0].plain
    assert "no room" in rank_lines([], 40, 10)[0].plain
    assert "●" in rank_lines([RankPoint("v1", 1)], 40, 10)[0].plain
