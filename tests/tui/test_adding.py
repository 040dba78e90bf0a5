"""Adding one memory from Browse: the form, its preview, what keeps a text out, and the undo."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.screens.browse.edit_form import AddForm, EditNotes
from tests.engine.curate_world import rows_of, same_rows
from tests.tui.driving import press, screen_text, type_text
from tests.tui.test_changing import browsing, said, steps
from tests.tui.test_editing import go_to

FRESH = "The kettle in the Lisbon office is blue and belongs to Harriet."


@pytest.fixture
def demo(demo_store: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(demo_store, tmp_path / "store"))


@pytest.mark.slow
async def test_a_memory_is_typed_previewed_added_and_undone(demo: Path) -> None:
    before = rows_of(demo)
    async with browsing(demo) as (app, pilot):
        await press(pilot, "i")
        assert isinstance(app.screen, AddForm)
        await press(pilot, "ctrl+s")
        assert "Type a text first" in screen_text(app)
        await type_text(pilot, FRESH)
        await go_to(pilot, "importance")
        await press(pilot, "l", "ctrl+s")
        assert isinstance(app.screen, ChangePreview)
        text = screen_text(app)
        assert "Would add 1 memory" in text
        assert "The kettle in the Lisbon office" in text
        assert same_rows(rows_of(demo), before)
        await press(pilot, "enter")
        assert "1 memory added (entry 1); u undoes it" in said(app)
        (new,) = [row for row in rows_of(demo).to_pylist() if row["text"] == FRESH]
        assert (new["scope"], new["importance"]) == ("global", pytest.approx(0.75))
        assert any(new["vector"])
        await steps(pilot, "u", "enter")
    assert same_rows(rows_of(demo), before)


@pytest.mark.slow
async def test_what_keeps_a_text_out_stands_in_the_form(demo: Path) -> None:
    before = rows_of(demo)
    async with browsing(demo) as (app, pilot):
        await press(pilot, "i")
        await type_text(pilot, "The api key is sk-proj-abcdefghijklmnopqrstuvwx12345")
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, AddForm)
        assert "holds a password or a key" in str(app.screen.query_one(EditNotes).content)
        await press(pilot, "ctrl+s")  # a secret is never waved through
        assert isinstance(app.screen, AddForm)
        await press(pilot, "escape", "d")
        await press(pilot, "i")
        await type_text(pilot, "Blue")
        await press(pilot, "ctrl+s")
        assert "too short" in str(app.screen.query_one(EditNotes).content)
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, ChangePreview)
        await press(pilot, "escape")
        assert isinstance(app.screen, AddForm), "back to the editor"
    assert same_rows(rows_of(demo), before)
