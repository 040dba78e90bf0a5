"""Labels and trust of openclaw-mem-engine's memories in Browse: counted, told, set by a letter, and taken back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.curate_world import row_of, rows_of, same_rows
from tests.tui.driving import press, screen_text, type_text
from tests.tui.test_changing import browsing, choose, current_id, said


@pytest.fixture
def folder(shared: Path, unpack: Callable[[Path], Path]) -> Path:
    return unpack(shared / "fixtures" / "stores" / "engine.tar.gz")


async def test_a_label_is_chosen_and_undone(folder: Path) -> None:
    before = rows_of(folder)
    async with browsing(folder, size=(120, 36)) as (app, pilot):
        memory = current_id(app)
        row = row_of(folder, memory)
        shown = screen_text(app)
        assert row["importance_label"] in shown
        assert "trust" in shown
        await press(pilot, "c", "m")
        await choose(pilot, app, "ignore")
        await press(pilot, "enter")
        assert "1 memory changed" in said(app)
        assert row_of(folder, memory) == {**row, "importance_label": "ignore"}
        await press(pilot, "u")
        await press(pilot, "enter")
        assert same_rows(rows_of(folder), before)


async def test_a_quarantine_says_in_its_preview_who_heeds_it(folder: Path) -> None:
    async with browsing(folder, size=(120, 36)) as (app, pilot):
        memory = current_id(app)
        await press(pilot, "c", "r", *["backspace"] * 30)
        await type_text(pilot, "quarantined")
        await press(pilot, "enter")
        words = " ".join(screen_text(app).replace("\u2502", " ").split())
        assert "own recall still returns" in words
        await press(pilot, "enter")
        assert row_of(folder, memory)["trust_tier"] == "quarantined"
