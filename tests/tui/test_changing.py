"""Changing memories from Browse: every key from press to changed store, on real stores."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from textual.pilot import Pilot

from memtui.engine import changes
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.change_preview import ChangePreview, PreviewAnswer
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.dialogs.unlock import UnlockRows
from memtui.tui.screens.browse.memory_list import MemoryList
from memtui.tui.startup.open_store import opener
from memtui.tui.widgets.screen_bars import FlashLine
from tests.conftest import NOW_MS
from tests.engine.curate_world import row_of, rows_of, same_rows, version_of
from tests.engine.pro_store import row, write_store
from tests.tui.driving import lines, press, screen_text, settle, type_text, until


def pro_store(folder: Path) -> Path:
    rows = [
        row(
            f"row-{i:05}-aaaa-bbbb-cccc-dddddddddddd",
            f"Note number {i}",
            (1.0, i / 10),
            timestamp=NOW_MS - i * 86_400_000,
            importance=0.5,
            metadata={"tier": "working", "confidence": 0.6, "mine": i},
        )
        for i in range(8)
    ]
    return write_store(folder, rows, dims=2)


@pytest.fixture(params=["pro", "demo"])
def store(request: pytest.FixtureRequest, demo_store: Path, tmp_path: Path) -> Path:
    if request.param == "pro":
        return pro_store(tmp_path / "store")
    return Path(shutil.copytree(demo_store, tmp_path / "store"))


@asynccontextmanager
async def browsing(
    store: Path,
    *,
    writable: bool = True,
    size: tuple[int, int] = (120, 36),
    environ: Mapping[str, str] = MappingProxyType({}),
) -> AsyncIterator[tuple[MemtuiApp, Pilot[None]]]:
    """Browse on this store."""
    whole = {
        "HOME": str(store.parent),
        "MEMTUI_STATE_DIR": str(store.parent / "state"),
        "MEMTUI_GLYPHS": "unicode",
        **environ,
    }
    opened = opener(whole, store.parent, writable=writable)
    app = MemtuiApp(str(store), opener=opened, now=lambda: NOW_MS, environ=whole)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, "2")
        yield app, pilot


async def steps(pilot: Pilot[None], *keys: str) -> None:
    """Press keys one by one, each after the last one has had its effect."""
    for key in keys:
        await press(pilot, key)


def listing(app: MemtuiApp) -> MemoryList:
    return app.screen_stack[0].query_one(MemoryList)


def said(app: MemtuiApp) -> str:
    return app.screen_stack[0].query_one(FlashLine).text


def current_id(app: MemtuiApp) -> str:
    memory = listing(app).current
    assert memory is not None
    return memory.id


async def test_space_marks_and_goes_on_escape_takes_all_marks_away(store):
    async with browsing(store) as (app, pilot):
        first = current_id(app)
        await press(pilot, "space", "space")
        assert listing(app).cursor == 2
        assert len(listing(app).marks) == 2
        assert first in listing(app).marks
        assert "2 marked" in screen_text(app)
        await press(pilot, "k", "space")
        assert len(listing(app).marks) == 1
        await press(pilot, "escape")
        assert len(listing(app).marks) == 0
        assert "marked" not in screen_text(app)


async def test_a_range_all_and_the_inverse(store):
    async with browsing(store) as (app, pilot):
        total = listing(app).total
        await press(pilot, "v", "j", "j")
        assert "v marks to here" in screen_text(app)
        await press(pilot, "v")
        assert len(listing(app).marks) == 3
        await press(pilot, "tilde")
        assert len(listing(app).marks) == total - 3
        await press(pilot, "asterisk")
        assert len(listing(app).marks) == total
        assert f"{total} marked" in screen_text(app)


async def test_all_means_all_of_the_filter_and_marks_outlive_it(demo_store):
    async with browsing(demo_store, writable=False) as (app, pilot):
        await press(pilot, "slash")
        await type_text(pilot, "tier:core")
        await press(pilot, "enter", "asterisk")
        core = listing(app).total
        assert 0 < core == len(listing(app).marks)
        await press(pilot, "slash", *["backspace"] * 9, "enter")
        assert listing(app).total > core == len(listing(app).marks)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "typed", "field", "value"),
    [
        ("t", None, "tier", "core"),
        ("a", None, "state", "archived"),
        ("i", "0.9", "importance", 0.9),
        ("c", "0.25", "confidence", 0.25),
        ("s", "project:moved", "scope", "project:moved"),
        ("g", None, "category", "decision"),
    ],
)
async def test_each_field_of_the_memory_under_the_cursor(tmp_path, keys, typed, field, value):
    store = pro_store(tmp_path / "store")
    before = rows_of(store)
    async with browsing(store, size=(80, 24)) as (app, pilot):
        await press(pilot, "j")
        memory = current_id(app)
        await press(pilot, "c", keys)
        if field == "scope":
            await choose(pilot, app, "another scope")
        if typed is None:
            await choose(pilot, app, str(value))
        else:
            await press(pilot, *["backspace"] * 40)
            await type_text(pilot, typed)
            await press(pilot, "enter")
        assert isinstance(app.screen, ChangePreview)
        assert same_rows(rows_of(store), before)
        assert field in screen_text(app)
        await press(pilot, "enter")
        assert "1 memory changed (entry 1); u undoes it" in said(app)
        assert current_id(app) == memory
        shown = listing(app).current
        assert shown is not None
        assert getattr(shown, field) == pytest.approx(value) if typed else getattr(shown, field) == value
        assert same_rows(rows_of(store, but=[memory]), _without(before, memory))
        await press(pilot, "u")
        assert "undo entry 1" in screen_text(app)
        assert "enter apply   esc cancel" in screen_text(app)
        await press(pilot, "enter")
        assert "1 memory undone" in said(app)
    assert same_rows(rows_of(store), before)


def _without(table: Any, memory: str) -> Any:
    import pyarrow.compute as pc

    return table.filter(pc.not_equal(table.column("id"), memory)).combine_chunks()


async def choose(pilot: Pilot[None], app: MemtuiApp, word: str) -> None:
    """Take a word in the chooser."""
    await press(pilot, *["k"] * 15)
    for _ in range(15):
        if any("▌" in line and f" {word} " in line for line in lines(app)):
            await press(pilot, "enter")
            return
        await press(pilot, "j")
    raise AssertionError(f"{word} is not offered:\n{screen_text(app)}")


@pytest.mark.slow
async def test_marked_memories_change_in_one_version_and_undo_and_redo_are_exact(store):
    before = rows_of(store)
    version = version_of(store)
    async with browsing(store) as (app, pilot):
        await press(pilot, "space", "space", "space")
        ids = listing(app).marks.ids
        await press(pilot, "c", "i", *["backspace"] * 10)
        await type_text(pilot, "0.11")
        await steps(pilot, "enter", "enter")
        assert version_of(store) == version + 1
        assert [row_of(store, each)["importance"] for each in ids] == [pytest.approx(0.11)] * 3
        assert same_rows(rows_of(store, but=ids), _without_all(before, ids))
        assert len(listing(app).marks) == 0
        changed = rows_of(store)
        await steps(pilot, "u", "enter")
        assert same_rows(rows_of(store), before)
        await steps(pilot, "U", "enter")
        assert "redone" in said(app)
    assert same_rows(rows_of(store), changed)


def _without_all(table: Any, ids: tuple[str, ...]) -> Any:
    for each in ids:
        table = _without(table, each)
    return table


async def test_closing_the_preview_changes_nothing(tmp_path):
    store = pro_store(tmp_path / "store")
    version = version_of(store)
    async with browsing(store) as (app, pilot):
        await press(pilot, "c", "i", *["backspace"] * 10, "0")
        await steps(pilot, "enter", "escape")
        assert said(app) == "Nothing was changed."
    assert version_of(store) == version


async def test_a_value_that_makes_no_sense_is_refused_in_words(tmp_path):
    store = pro_store(tmp_path / "store")
    version = version_of(store)
    async with browsing(store) as (app, pilot):
        await press(pilot, "c", "i", *["backspace"] * 10, "7", "enter")
        assert "importance runs from 0 to 1" in said(app)
        await press(pilot, "u")
        assert "There is nothing to undo." in said(app)
        await press(pilot, "U")
        assert "There is nothing to redo." in said(app)
    assert version_of(store) == version


async def test_a_locked_store_is_edited_staged_and_unlocked_once(tmp_path):
    store = pro_store(tmp_path / "store")
    version = version_of(store)
    async with browsing(store, writable=False) as (app, pilot):
        assert " RO " in lines(app)[0]
        memory = current_id(app)
        await press(pilot, "c", "a")  # the state
        await choose(pilot, app, "archived")
        assert "unlock and apply 1 change" in screen_text(app)
        await press(pilot, "enter")
        text = screen_text(app)
        assert "Unlock store" in text
        assert "unlock and apply 1 change" in text
        assert "no configuration here names this store" in text
        assert (
            "gateway runs" in text or "cannot be listed" in text
        )  # whichever this machine has beside the tests
        rows = app.screen.query_one(UnlockRows)
        await until(pilot, lambda: rows.size.height == rows.virtual_size.height + 1)  # as high as its facts
        await press(pilot, "escape")  # back to the preview, where it can be staged
        await press(pilot, "s")
        assert "1 change staged, nothing written" in said(app)
        assert version_of(store) == version
        await press(pilot, "C", "enter", "y")
        assert "1 memory" in said(app)
        assert "(entry 1)" in said(app)
        assert version_of(store) > version
        assert " rw " in lines(app)[0]
        await press(pilot, "u")  # it is asked once
        assert "unlock" not in screen_text(app)
        await press(pilot, "enter")
        assert "undone (entry 2)" in said(app)
    assert '"state":"archived"' not in str(row_of(store, memory)["metadata"]).replace(" ", "")


@pytest.mark.parametrize(("key", "words"), [("u", "nothing to undo"), ("U", "nothing to redo")])
async def test_a_locked_store_says_what_there_is_to_take_back(tmp_path, key, words):
    store = pro_store(tmp_path / "store")
    version = version_of(store)
    async with browsing(store, writable=False) as (app, pilot):
        await press(pilot, key)
        assert words in said(app)
        assert len(app.screen_stack) == 1
    assert version_of(store) == version


async def test_the_bar_says_that_changes_can_be_made(tmp_path):
    store = pro_store(tmp_path / "store")
    async with browsing(store) as (app, _):
        assert " rw " in lines(app)[0]


async def test_undo_shows_what_another_program_changed_and_leaves_or_overwrites_it(tmp_path):
    store = pro_store(tmp_path / "store")
    async with browsing(store) as (app, pilot):
        await press(pilot, "space", "space", "c", "i", *["backspace"] * 10)
        ids = listing(app).marks.ids
        await type_text(pilot, "0.2")
        await steps(pilot, "enter", "enter")
        _other_program(store, ids[0], 0.33)
        await press(pilot, "u")
        text = screen_text(app)
        assert "1 conflict: this cannot be applied" in text
        assert all(word in text for word in ("mine", "theirs", "before", "0.33", "0.5"))
        await press(pilot, "enter")
        assert isinstance(app.screen, ChangePreview)
        await steps(pilot, "x", "enter")
        assert [row_of(store, each)["importance"] for each in ids] == pytest.approx([0.33, 0.5])


@pytest.mark.slow
async def test_undo_may_overwrite_what_another_program_changed(tmp_path):
    store = pro_store(tmp_path / "store")
    async with browsing(store) as (app, pilot):
        memory = current_id(app)
        await press(pilot, "c", "i", *["backspace"] * 10)
        await type_text(pilot, "0.2")
        await steps(pilot, "enter", "enter")
        _other_program(store, memory, 0.33)
        await steps(pilot, "u", "f", "enter")
        assert row_of(store, memory)["importance"] == pytest.approx(0.5)


def _other_program(store: Path, memory: str, importance: float) -> None:
    import lancedb

    lancedb.connect(store).open_table("memories").update(
        where=f"id = '{memory}'", values={"importance": importance}
    )


async def test_a_store_that_memtui_does_not_write_says_so(tmp_path):
    import lancedb
    import pyarrow as pa

    folder = tmp_path / "other"
    vector = pa.array([[1.0, 0.0]], pa.list_(pa.float32(), 2))
    table = pa.table({"doc_id": ["a"], "body": ["some text"], "embedding": vector})
    lancedb.connect(folder).create_table("docs", table)
    environ = {"HOME": str(tmp_path), "MEMTUI_STATE_DIR": str(tmp_path / "state")}
    columns = {"id": "doc_id", "text": "body", "vector": "embedding"}
    opened = opener(environ, tmp_path, writable=True, table="docs", columns=columns)
    app = MemtuiApp(str(folder), opener=opened, now=lambda: NOW_MS, environ=environ)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, "2", "c")
        assert " RO " in lines(app)[0]
        assert "does not write them. Migrate, in Transfer" in said(app)


@pytest.mark.slow
async def test_another_store_takes_the_marks_away(tmp_path):
    store = pro_store(tmp_path / "store")
    other = pro_store(tmp_path / "other")
    async with browsing(store) as (app, pilot):
        await press(pilot, "space")
        app.take("store", str(other))
        await settle(pilot)
        assert len(listing(app).marks) == 0


@pytest.mark.parametrize(
    ("store", "size"),
    [("pro", (120, 36)), pytest.param("demo", (80, 24), marks=pytest.mark.slow)],
    indirect=["store"],
)
async def test_the_preview_of_many_counts_by_scope(store, size):
    async with browsing(store, size=size) as (app, pilot):
        total = listing(app).total
        await press(pilot, "asterisk")
        await press(pilot, "c", "i", *["backspace"] * 10)
        await type_text(pilot, "0.77")
        await press(pilot, "enter")
        text = screen_text(app)
        assert f"{total} memories: importance to 0.77" in text
        assert "enter apply" in text
        assert all(len(line) <= size[0] for line in lines(app))


async def test_beside_an_agent_that_must_be_stopped_enter_does_not_apply(tmp_path):
    store = pro_store(tmp_path / "store")
    async with browsing(store) as (app, pilot):
        engine = app.session.engine
        assert engine is not None
        plan = changes.plan_edit(engine, [current_id(app)], {"importance": "0.9"})
        answers: list[PreviewAnswer | None] = []
        app.push_screen(ChangePreview(plan, stop_agent="Stop the agent first."), answers.append)
        await steps(pilot, "enter")
        assert answers == []
        assert "Stop the agent first." in screen_text(app)
        await steps(pilot, "Y")
        assert answers == [PreviewAnswer("apply", plan, confirmed=True)]


async def test_the_memory_in_the_detail_is_the_one_that_changes(tmp_path):
    store = pro_store(tmp_path / "store")
    async with browsing(store) as (app, pilot):
        memory = current_id(app)
        await steps(pilot, "enter", "c", "t")
        await choose(pilot, app, "core")
        await steps(pilot, "enter")
        assert '"tier":"core"' in row_of(store, memory)["metadata"].replace(" ", "")


async def test_marks_change_the_key_bar_to_what_is_done_with_all_of_them(store):
    async with browsing(store) as (app, pilot):
        assert "enter open" in lines(app)[-1]
        await press(pilot, "space", "space")
        bar = lines(app)[-1]
        assert bar.startswith(" 2 marked   c change  D forget  x export")
        assert "enter open" not in bar
        await press(pilot, "escape")
        assert "marked" not in lines(app)[-1]
        assert "enter open" in lines(app)[-1]


@pytest.mark.parametrize("mode", ["3", *(pytest.param(mode, marks=pytest.mark.slow) for mode in "1456789")])
async def test_the_last_change_is_taken_back_from_every_screen(mode: str, tmp_path: Path) -> None:
    """The key is the same everywhere, whatever the cursor is on, and ends on the preview of the way back."""
    async with browsing(pro_store(tmp_path / "store")) as (app, pilot):
        before = rows_of(tmp_path / "store")
        await steps(pilot, "D", "a", "enter")
        assert not same_rows(before, rows_of(tmp_path / "store"))
        await press(pilot, "escape", mode, "ctrl+z")
        assert isinstance(app.screen, ChangePreview), screen_text(app)
        await press(pilot, "enter")
        assert same_rows(before, rows_of(tmp_path / "store"))


async def test_a_proposed_value_is_replaced_by_typing_and_edited_after_an_arrow(tmp_path: Path) -> None:
    async with browsing(pro_store(tmp_path / "store")) as (app, pilot):
        taken: list[str | None] = []
        for keys, text in ((["x"], "x"), (["end", "x"], "0.5x")):
            app.push_screen(TextPrompt("Importance", "0 to 1", "0.5"), taken.append)
            await press(pilot, *keys, "enter")
            assert taken.pop() == text
