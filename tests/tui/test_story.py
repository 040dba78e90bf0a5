"""The story in the detail: versions with word differences, links that lead on, changes from the journal."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.tui.screens.browse.detail import MemoryDetail
from memtui.tui.screens.browse.scope_pane import outline
from tests.conftest import NOW_MS
from tests.engine.pro_store import row, write_store
from tests.tui.driving import press, screen_text, type_text
from tests.tui.test_changing import browsing, listing, steps


@pytest.fixture
def store(tmp_path: Path) -> Path:
    day = 86_400_000
    rows = [
        row(
            "new-0001",
            "Staging deploys take eleven minutes",
            (1.0, 0.0),
            timestamp=NOW_MS - day,
            metadata={"supersedes": "old-0001", "layer": "durable", "source": "manual"},
        ),
        row(
            "old-0001",
            "Staging deploys take ten minutes",
            (1.0, 0.1),
            timestamp=NOW_MS - 90 * day,
            metadata={"superseded_by": "new-0001", "invalidated_at": NOW_MS - day, "source": "agent"},
        ),
    ]
    return write_store(tmp_path / "store", rows, dims=2)


async def test_versions_with_their_differences_and_changes_with_their_fields(store):
    async with browsing(store, size=(200, 50)) as (app, pilot):
        text = screen_text(app)
        assert "VERSIONS" in text
        assert "ten eleven" in text
        assert "CHANGED BY MEMTUI" not in text
        await press(pilot, "c", "i", *["backspace"] * 10)
        await type_text(pilot, "0.25")
        await steps(pilot, "enter", "enter")
        text = screen_text(app)
        assert "CHANGED BY MEMTUI" in text
        assert "importance 0.7 → 0.25" in text
        await press(pilot, "l", "comma")
        detail = app.screen.query_one(MemoryDetail)
        assert detail.memory is not None
        assert detail.memory.id == "old-0001"
        assert "VERSIONS" in screen_text(app)
        assert "importance 0.7 → 0.25" not in screen_text(app)


async def test_facets_of_layer_source_and_age_narrow_and_count_within_the_filter(store):
    async with browsing(store, size=(180, 60)) as (app, pilot):
        text = screen_text(app)
        assert all(head in text for head in ("SOURCE", "AGE", "half a year"))
        pane_lines = app.screen.query_one("ScopePane").lines
        at = next(i for i, line in enumerate(pane_lines) if line.term == "age:4w..26w")
        pane = app.screen.query_one("ScopePane")
        pane.focus()
        pane.cursor = at
        await press(pilot, "enter")
        assert listing(app).total == 1
        assert "age:4w..26w" in screen_text(app)
        ages = {line.term: line.count for line in pane.lines if line.kind == "age"}
        assert ages == {"age:4w..26w": 1}
        assert pane._is_chosen(next(line for line in pane.lines if line.term == "age:4w..26w"))
        await press(pilot, "enter")
        assert listing(app).total == 2


def test_an_outline_without_these_counts_has_no_such_heads():
    from memtui.engine.catalog import Facets

    assert [line.label for line in outline(Facets(), [], 0, frozenset())] == ["all"]
