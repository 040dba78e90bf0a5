"""Forgetting from Browse: archived, deleted, deleted with every trace; what is shown and what is left."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memtui.engine import ListQuery
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.dialogs.choose_one import ChooseOne
from memtui.tui.dialogs.sheet import Sheet
from memtui.tui.screens.browse.detail import MemoryDetail
from memtui.tui.screens.browse.screen import BrowseScreen
from tests.conftest import NOW_MS
from tests.engine.curate_world import row_of, rows_of, same_rows, version_of
from tests.engine.pro_store import row, write_store
from tests.tui.driving import EACH_SIZE, check_golden, press, screen_text, settle, type_text, until
from tests.tui.test_changing import browsing, current_id, listing, pro_store, said, steps
from tests.tui.test_editing import dialog


def mirrored_store(folder: Path) -> tuple[Path, Path]:
    """A store whose first memory also stands in the plugin's Markdown mirror beside it."""
    store = pro_store(folder / "store")
    mirror = folder / "memory-md" / "2026-08-01.md"
    mirror.parent.mkdir()
    mirror.write_text(
        "- 2026-08-01T10:00:00Z [fact:global] agent=main source=manual Note number 0\n"
        "- 2026-08-01T10:00:00Z [fact:global] agent=main source=manual Something else\n",
        encoding="utf-8",
    )
    return store, mirror


def many(folder: Path, count: int) -> Path:
    rows = [
        row(
            f"row-{i:05}-aaaa-bbbb-cccc-dddddddddddd", f"Note number {i}", (1.0, i / 10), timestamp=NOW_MS - i
        )
        for i in range(count)
    ]
    return write_store(folder, rows, dims=2)


async def test_archived_it_stays_in_the_table_and_undo_is_exact(tmp_path):
    store = pro_store(tmp_path / "store")
    before = rows_of(store)
    async with browsing(store) as (app, pilot):
        memory = current_id(app)
        await press(pilot, "D")
        assert isinstance(app.screen, ChooseOne)
        await steps(pilot, "a", "enter")
        assert '"state":"archived"' in row_of(store, memory)["metadata"].replace(" ", "")
        await steps(pilot, "u", "enter")
    assert same_rows(rows_of(store), before)


async def test_deleted_with_its_mirror_line_verified_and_undone(tmp_path):
    store, mirror = mirrored_store(tmp_path)
    before, text = rows_of(store), mirror.read_text(encoding="utf-8")
    async with browsing(store) as (app, pilot):
        memory = current_id(app)
        await steps(pilot, "D", "d")
        shown = screen_text(app)
        assert isinstance(app.screen, ChangePreview)
        assert "goes  row-0000" in shown
        assert "COPIES IN FILES  1 goes, 0 stay" in shown
        assert "2026-08-01.md  line 1  mirror  goes" in shown
        await press(pilot, "enter")
        assert isinstance(app.screen, ChangePreview), "enter never deletes"
        await press(pilot, "y")
        assert isinstance(app.screen, Sheet)
        shown = screen_text(app)
        assert "newest version not found" in " ".join(shown.split())
        (receipt,) = (tmp_path / "state").rglob("receipts/forget-1-*.json")
        assert "Note number" not in receipt.read_text(encoding="utf-8")
        assert memory not in rows_of(store).column("id").to_pylist()
        assert "Note number 0" not in mirror.read_text(encoding="utf-8")
        await steps(pilot, "escape", "u", "enter")
    assert same_rows(rows_of(store), before)
    assert mirror.read_text(encoding="utf-8") == text


async def test_with_every_trace_no_version_holds_it_and_undo_says_so(tmp_path):
    store = pro_store(tmp_path / "store")
    async with browsing(store) as (app, pilot):
        memory = current_id(app)
        await steps(pilot, "D", "t")
        assert "cannot be brought back" in screen_text(app)
        await press(pilot, "y")
        shown = screen_text(app)
        assert "older versions not found" in " ".join(shown.split())
        assert "contents removed" in shown
        await steps(pilot, "escape", "u")
        assert "removed for good" in said(app)
        await press(pilot, "6")
        await until(pilot, lambda: "RECEIPT" in screen_text(app))
        shown = " ".join(screen_text(app).split())
        assert "nothing of it" in shown
        assert "sha256" in shown
        assert memory not in shown
        assert "deleted including history" in shown
        await press(pilot, "u")
        await until(pilot, lambda: "Its texts were removed for good" in said(app))
        for key in ("x", "enter"):  # its receipt is all that is left of it
            await press(pilot, key)
            await until(pilot, lambda: isinstance(app.screen, Sheet))
            assert "LOOKED FOR AFTERWARDS" in screen_text(app)
            assert "older versions not found" in " ".join(screen_text(app).split())
            await press(pilot, "escape")
            await until(pilot, lambda: not isinstance(app.screen, Sheet))
    files = (path for path in (store / "memories.lance").rglob("*") if path.is_file())
    assert not any(memory.encode() in path.read_bytes() for path in files)


async def test_from_20_on_the_count_has_to_be_typed(tmp_path):
    store = many(tmp_path / "store", 25)
    version = version_of(store)
    async with browsing(store, size=(80, 24)) as (app, pilot):
        await steps(pilot, "asterisk", "D", "d")
        assert "type 25 to delete" in screen_text(app)
        await steps(pilot, "y", "enter", "2", "4", "enter")
        assert isinstance(app.screen, ChangePreview)
        assert version_of(store) == version
        await steps(pilot, "backspace", "5")
        assert "enter delete them" in screen_text(app)
        await press(pilot, "enter")
        assert isinstance(app.screen, Sheet)
        assert rows_of(store).num_rows == 0


@pytest.mark.slow
async def test_a_dropped_row_stays_with_its_mirror_line(tmp_path):
    store, mirror = mirrored_store(tmp_path)
    async with browsing(store) as (app, pilot):
        await press(pilot, "space", "space", "space")
        first, *others = listing(app).marks.ids
        await steps(pilot, "D", "d")
        assert "Would delete 3 memories" in screen_text(app)
        assert "d exclude this row" in screen_text(app)
        await press(pilot, "d")
        assert "Would delete 2 memories" in screen_text(app)
        assert "COPIES" not in screen_text(app)
        await press(pilot, "y")
        left = rows_of(store).column("id").to_pylist()
    assert first in left
    assert not set(others) & set(left)
    assert "Note number 0" in mirror.read_text(encoding="utf-8")


@pytest.mark.slow
async def test_dropping_every_row_leaves_nothing_to_apply(tmp_path):
    store = pro_store(tmp_path / "store")
    version = version_of(store)
    async with browsing(store) as (app, pilot):
        await press(pilot, "space", "space")
        await press(pilot, "c", "t")
        await steps(pilot, "enter", "d")
        assert "1 memory: tier to core" in screen_text(app)
        await steps(pilot, "escape")
        assert said(app) == "Nothing was changed."
    assert version_of(store) == version


@pytest.mark.parametrize("size", EACH_SIZE)
async def test_the_preview_looks_as_recorded(tmp_path, size):
    store, _ = mirrored_store(tmp_path)
    async with browsing(store, size=size) as (app, pilot):
        await press(pilot, "space", "space", "space")
        await steps(pilot, "D", "d")
        # the folder of the test is another one each time
        shown = [line for line in dialog(app).split("\n") if "2026-08-01.md" not in line]
        check_golden(f"forget-{size[0]}x{size[1]}", "\n".join(shown))


@pytest.mark.slow
async def test_older_versions_go_with_it_and_are_named_as_such(tmp_path, demo_store):
    store = Path(shutil.copytree(demo_store, tmp_path / "store"))
    async with browsing(store, size=(120, 50)) as (app, pilot):
        engine = app.session.engine
        assert engine is not None
        old = engine.page(engine.view(ListQuery(filter="is:superseded")), 0, 1)[0]
        newest = str(old.superseded_by)
        while (after := engine.get(newest).superseded_by) is not None:
            newest = after
        await press(pilot, "slash")
        await type_text(pilot, f"id:{newest}")
        await steps(pilot, "enter", "D", "d")
        shown = screen_text(app)
        assert "1 named, " in shown
        assert f"goes  older version  {old.id[:8]}" in shown
        await press(pilot, "y")
        left = rows_of(store).column("id").to_pylist()
    assert old.id not in left
    assert newest not in left


def detail_id(app: MemtuiApp) -> str | None:
    """The memory that the detail shows."""
    shown = browse(app).query_one(MemoryDetail).memory
    return None if shown is None else shown.id


def browse(app: MemtuiApp) -> BrowseScreen:
    return next(screen for screen in app.screen_stack if isinstance(screen, BrowseScreen))


def the_same(app: MemtuiApp) -> None:
    """The detail shows what is under the cursor, and nothing where nothing is."""
    current = browse(app).listing.current
    assert detail_id(app) == (None if current is None else current.id)
    state = browse(app).state.memory
    assert (None if state is None else state.id) == detail_id(app)


async def test_nothing_of_a_forgotten_memory_stays_on_the_screen(tmp_path: Path) -> None:
    store = pro_store(tmp_path / "store")
    async with browsing(store) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "forget number 3")
        await press(pilot, "enter")
        await settle(pilot)
        await steps(pilot, "escape", "D", "t", "y", "escape")
        assert len(rows_of(store)) == 7
        assert detail_id(app) is None
        the_same(app)
        assert "Note number 3" not in screen_text(app)
        await steps(pilot, "W", "e", "D", "y", "R")
        assert len(rows_of(store)) == 7
        assert isinstance(app.screen, BrowseScreen), "a key worked on a memory that is no longer there"


async def test_the_detail_follows_the_list(tmp_path: Path) -> None:
    store = pro_store(tmp_path / "store")
    async with browsing(store) as (app, pilot):
        await press(pilot, "slash")
        await type_text(pilot, "nothing-holds-this")
        await press(pilot, "enter")
        await settle(pilot)
        assert detail_id(app) is None
        await steps(pilot, "escape")
        await press(pilot, "slash")
        for _ in "nothing-holds-this":
            await pilot.press("backspace")
        await press(pilot, "enter")
        await settle(pilot)
        the_same(app)
        assert detail_id(app) is not None
        await steps(
            pilot, "G", "D", "d", "y", "escape"
        )  # the last row is deleted: the cursor goes to the one before
        the_same(app)
        await steps(pilot, "u", "enter")
        the_same(app)
        await steps(pilot, "g", "asterisk", "D", "t", "y", "escape")  # everything, with every trace
        await settle(pilot)
        assert len(rows_of(store)) == 0
        assert detail_id(app) is None
        assert "Note number" not in screen_text(app)


async def test_the_detail_follows_what_another_program_deletes(tmp_path: Path) -> None:
    import lancedb

    store = pro_store(tmp_path / "store")
    async with browsing(store) as (app, pilot):
        lancedb.connect(store).open_table("memories").delete("true")
        await press(pilot, "r")
        await settle(pilot)
        assert detail_id(app) is None
        assert "Note number" not in screen_text(app)
