"""What was typed of a memory and not applied outlives the app, however it ends."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from memtui.tui.app import MemtuiApp
from memtui.tui.screens.browse.edit_form import DraftText, EditForm
from tests.engine.curate_world import row_of, rows_of, same_rows
from tests.tui.driving import press, screen_text, settle, until
from tests.tui.test_changing import browsing, current_id, pro_store, steps
from tests.tui.test_editing import go_to

NEW = "The bastion listens on port 2222"


def kept_file(store: Path) -> Path:
    (file,) = (store.parent / "state").rglob("unsaved.json")
    return file


async def type_new(app: MemtuiApp, pilot, text: str) -> str:  # type: ignore[no-untyped-def]
    """Open the form of the memory under the cursor and put another text into it; the memory's id."""
    memory = current_id(app)
    await press(pilot, "e")
    assert isinstance(app.screen, EditForm)
    app.screen.query_one(DraftText).load_text(text)
    await settle(pilot)
    return memory


async def crash_while_editing(store: Path) -> None:
    async with browsing(store) as (app, pilot):
        await type_new(app, pilot, NEW)
        app.call_later(lambda: 1 / 0)
        await pilot.pause(1)


async def test_an_edit_outlives_a_crash_and_goes_on_where_it_was(tmp_path: Path) -> None:
    store = pro_store(tmp_path / "store")
    before = rows_of(store)
    with pytest.raises(ZeroDivisionError):
        await crash_while_editing(store)
    assert same_rows(rows_of(store), before)
    assert stat.S_IMODE(kept_file(store).stat().st_mode) == 0o600
    async with browsing(store) as (app, pilot):
        await press(pilot, "1")
        await until(pilot, lambda: "not applied were kept: 1 memory (row-0000)" in screen_text(app))
        await press(pilot, "2")
        await press(pilot, "e")
        assert isinstance(app.screen, EditForm)
        assert app.screen.query_one(DraftText).text == NEW
        assert "Restored" in screen_text(app)
        await steps(pilot, "escape", "d")
        assert json.loads(kept_file(store).read_text()) == {}
        await press(pilot, "e")
        assert app.screen.query_one(DraftText).text == "Note number 0"


async def test_an_applied_edit_is_not_kept(tmp_path: Path) -> None:
    store = pro_store(tmp_path / "store")
    async with browsing(store) as (app, pilot):
        memory = current_id(app)
        await press(pilot, "e")
        await go_to(pilot, "importance")
        await steps(pilot, "right", "ctrl+s")
        assert json.loads(kept_file(store).read_text())[memory]["given"], "kept while it is previewed"
        await steps(pilot, "enter")
        assert row_of(store, memory)["importance"] != 0.5
        assert json.loads(kept_file(store).read_text()) == {}


async def test_a_secret_is_not_written_down(tmp_path: Path) -> None:
    store = pro_store(tmp_path / "store")
    async with browsing(store) as (app, pilot):
        await type_new(app, pilot, "key sk-proj-" + "a1B2" * 12)
        assert isinstance(app.screen, EditForm)
        app.screen.keep_unsaved()
    files = list((tmp_path / "state").rglob("unsaved.json"))
    assert all("a1B2" not in file.read_text() for file in files)
