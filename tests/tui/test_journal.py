"""The Journal: what was changed, undone and redone entry by entry, beside other programs, and after a crash."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from datetime import UTC
from pathlib import Path

import pytest
from textual.pilot import Pilot

from memtui.engine import changes
from memtui.engine.changes.journal import journal_of
from memtui.engine.changes.owner_lock import HELD
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.dialogs.choose_one import ChooseOne
from memtui.tui.messages import ShowEntry
from memtui.tui.screens.journal.narrowing import began
from memtui.tui.screens.journal.screen import JournalScreen, TimelineRows
from tests.conftest import NOW_MS, thinned
from tests.engine.curate_world import engine_at, row_of, rows_of, same_rows, version_of
from tests.tui.driving import SIZES, check_golden, press, screen_text, settle, type_text
from tests.tui.test_changing import _other_program, browsing, pro_store, said, steps

DAY_MS = 86_400_000
FIRST, SECOND = (f"row-{i:05}-aaaa-bbbb-cccc-dddddddddddd" for i in range(2))


def changed_store(folder: Path) -> Path:
    """A store with three entries on two days: importance, tier, a deletion."""
    store = pro_store(folder / "store")
    for days, change in ((3, {"importance": "0.9"}), (3, {"tier": "core"}), (0, None)):
        made = engine_at(store, now=lambda days=days: NOW_MS - days * DAY_MS)  # type: ignore[misc]
        plan = (
            changes.plan_forget(made, [SECOND], hard=True)
            if change is None
            else changes.plan_edit(made, [FIRST], change)
        )
        changes.apply(made, plan, confirmed=True)
        made.close()
    return store


def cut_off(store: Path, *, written: bool) -> None:
    """A change whose program died: before it reached the table, or before it said that it had."""
    made = engine_at(store)
    rest = shutil.copytree(store, store.parent / "rest")
    entry = changes.apply(made, changes.plan_edit(made, [FIRST], {"importance": "0.8"})).entry
    if not written:
        shutil.rmtree(store)
        shutil.copytree(rest, store)
    with sqlite3.connect(journal_of(store.parent / "state", str(store), "memories")) as db:
        db.execute("UPDATE entries SET state = 'intended', version_after = NULL WHERE entry = ?", (entry,))


async def to_entry(pilot: Pilot[None], app: MemtuiApp, number: int) -> None:
    """Put the cursor on an entry."""
    screen = app.screen
    assert isinstance(screen, JournalScreen)
    await press(pilot, "g")
    for _ in range(20):
        if screen.state.shown == number:
            return
        await press(pilot, "j")
    raise AssertionError(f"entry {number} is not listed:\n{screen_text(app)}")


@pytest.mark.slow
async def test_an_old_entry_is_undone_and_made_again_alone(tmp_path):
    store = changed_store(tmp_path)
    before = rows_of(store)
    async with browsing(store) as (app, pilot):
        await press(pilot, "6")
        text = screen_text(app)
        assert "Saturday 29 August 2026" in text
        assert "Tuesday 1 September 2026" in text
        await press(pilot, "1")
        app.post_message(ShowEntry(1))  # as a line of Home does
        await press(pilot)
        assert app.current_mode == "journal"
        assert "0.5 → 0.9" in screen_text(app)
        await press(pilot, "u")
        assert isinstance(app.screen, ChangePreview)
        assert "undo entry 1" in screen_text(app)
        await press(pilot, "enter")
        assert "undone (entry 4)" in said(app)
        row = row_of(store, FIRST)
        assert row["importance"] == pytest.approx(0.5)
        assert '"tier":"core"' in row["metadata"].replace(" ", ""), "the later entry stays"
        await to_entry(pilot, app, 1)
        assert "undone. U redoes it." in screen_text(app)
        await press(pilot, "u")
        assert not isinstance(app.screen, ChangePreview)
        await steps(pilot, "U", "enter")
        assert "redone" in said(app)
    assert same_rows(rows_of(store), before)


async def test_what_another_program_changed_is_shown_and_may_be_overwritten(tmp_path):
    store = changed_store(tmp_path)
    _other_program(store, FIRST, 0.33)
    async with browsing(store) as (app, pilot):
        await press(pilot, "6")
        await to_entry(pilot, app, 1)
        await press(pilot, "u")
        text = " ".join(screen_text(app).split())
        assert "1 conflict" in text
        assert all(f"{side} {value}" in text for side, value in (("theirs", "0.33"), ("mine", "0.5")))
        await press(pilot, "enter")
        assert isinstance(app.screen, ChangePreview), "a conflict is never applied"
        await steps(pilot, "f", "enter")
        assert row_of(store, FIRST)["importance"] == pytest.approx(0.5)


@pytest.mark.slow
async def test_a_row_that_changed_while_the_preview_was_read(tmp_path):
    store = pro_store(tmp_path / "store")
    async with browsing(store) as (app, pilot):
        await press(pilot, "c", "i", *["backspace"] * 10, "1")
        await press(pilot, "enter")
        _other_program(store, FIRST, 0.33)
        await press(pilot, "enter")
        assert isinstance(app.screen, ChangePreview)
        text = " ".join(screen_text(app).split())
        assert "1 conflict" in text
        assert "theirs 0.33" in text
        assert row_of(store, FIRST)["importance"] == pytest.approx(0.33)
        await steps(pilot, "f", "enter")
        assert row_of(store, FIRST)["importance"] == 1


@pytest.mark.parametrize(
    ("written", "key"),
    [
        (True, "f"),
        pytest.param(True, "u", marks=pytest.mark.slow),
        pytest.param(False, "f", marks=pytest.mark.slow),
        (False, "u"),
    ],
)
async def test_a_change_that_was_cut_off_is_said_at_start_and_finished_or_taken_back(tmp_path, written, key):
    store = pro_store(tmp_path / "store")
    cut_off(store, written=written)
    async with browsing(store) as (app, pilot):
        assert isinstance(app.screen, ChooseOne)
        assert "Entry 1 was cut off" in screen_text(app)
        await press(pilot, key)
        if isinstance(app.screen, ChangePreview):
            await press(pilot, "enter")
        assert row_of(store, FIRST)["importance"] == pytest.approx(0.8 if key == "f" else 0.5)
        await press(pilot, "6")
        assert "cut off" not in screen_text(app)
    assert changes.find_interrupted(engine_at(store)) == []


async def test_a_change_that_was_cut_off_stays_in_the_journal_until_it_is_settled(tmp_path):
    store = pro_store(tmp_path / "store")
    cut_off(store, written=False)
    async with browsing(store) as (app, pilot):
        await press(pilot, "l")
        assert isinstance(app.screen, JournalScreen)
        assert "f finishes it," in " ".join(screen_text(app).split())
        await steps(pilot, "f", "f", "enter")
        assert row_of(store, FIRST)["importance"] == pytest.approx(0.8)


async def test_a_lock_that_a_dead_program_left_is_said_and_broken_only_when_told(tmp_path):
    store = pro_store(tmp_path / "store")
    held = store / HELD
    held.mkdir()
    long_ago = time.time() - 3600
    os.utime(held, (long_ago, long_ago))
    async with browsing(store) as (app, pilot):
        await press(pilot, "1")
        assert "The write lock is held, silent for" in said(app)
        await press(pilot, "6")
        assert "f breaks it" in " ".join(screen_text(app).split())
        await steps(pilot, "f", "b", "b")
        assert held.exists(), "only the next change removes it"
        await press(pilot, "2")
        await press(pilot, "c", "i", *["backspace"] * 10, "1")
        await steps(pilot, "enter", "enter")
        assert "1 memory changed" in said(app)
    assert not held.exists()
    assert row_of(store, FIRST)["importance"] == 1


async def test_an_empty_journal_says_what_goes_there_and_leads_to_browse(tmp_path):
    store = pro_store(tmp_path / "store")
    async with browsing(store, size=(80, 24)) as (app, pilot):
        await press(pilot, "6")
        assert "Changes made with memtui will be listed here" in screen_text(app)
        await press(pilot, "enter")
        assert "[2 Browse]" in screen_text(app)
    assert version_of(store) == 3


async def test_a_journal_that_cannot_be_read_says_why(tmp_path):
    store = changed_store(tmp_path)
    journal_of(tmp_path / "state", str(store), "memories").write_bytes(b"this is no database" * 100)
    async with browsing(store) as (app, pilot):
        await press(pilot, "6")
        text = screen_text(app)
        assert "the journal could not be read" in text
        assert "try again" in text


async def test_from_an_entry_to_its_memories(tmp_path):
    store = changed_store(tmp_path)
    async with browsing(store) as (app, pilot):
        await press(pilot, "6")
        await to_entry(pilot, app, 2)
        await press(pilot, "b")
        assert "[2 Browse]" in screen_text(app)
        assert "1 of 7" in screen_text(app)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_the_journal_looks_as_recorded(tmp_path, size):
    store = changed_store(tmp_path)
    _other_program(store, FIRST, 0.33)
    made = engine_at(store)
    changes.apply(made, changes.plan_undo(made, 2))
    async with browsing(store, size=size) as (app, pilot):
        app.zone = UTC
        await press(pilot, "6")
        await to_entry(pilot, app, 1)
        shown = screen_text(app).split("\n")
        check_golden(f"journal-{size[0]}x{size[1]}", "\n".join(shown[1:-1]).rstrip())


async def test_opening_the_same_store_again_lets_go_of_the_old_one(tmp_path):
    store = changed_store(tmp_path)
    async with browsing(store) as (app, pilot):
        await press(pilot, "6")
        before = app.session.engine
        assert before is not None
        assert before.write_state._journal is not None
        app._store.open(str(store))
        await settle(pilot)
        after = app.session.engine
        assert after is not None
        assert after is not before
        assert before.write_state._journal is None
        changes.apply(engine_at(store), changes.plan_edit(engine_at(store), [FIRST], {"importance": "0.7"}))
        assert [each.entry for each in after.write_state.journal.entries()] == [4, 3, 2, 1]


@pytest.mark.parametrize("where", thinned(["at start", "in the journal"], 2))
async def test_a_change_that_was_cut_off_can_be_left_as_it_is(tmp_path, where):
    store = pro_store(tmp_path / "store")
    cut_off(store, written=True)
    _other_program(store, FIRST, 0.33)
    async with browsing(store) as (app, pilot):
        if where == "at start":
            await press(pilot, "e")
        else:
            await press(pilot, "l")
            assert "f finishes it," in " ".join(screen_text(app).split())
            await steps(pilot, "f", "l")
        await press(pilot, "6")
        text = " ".join(screen_text(app).split())
        assert "was cut off in the middle" not in text
        assert "closed without writing" in text
        assert row_of(store, FIRST)["importance"] == pytest.approx(0.33)
    assert changes.find_interrupted(engine_at(store)) == []


async def test_the_journal_is_narrowed_by_who_and_since(tmp_path):
    store = changed_store(tmp_path)  # two of three days ago, one of today
    async with browsing(store) as (app, pilot):
        await press(pilot, "6")
        for typed, left in {
            "since:yesterday": ["3"],
            "since:2d": ["3"],
            "before:today": ["2", "1"],
            "who:you": ["3", "2", "1"],
            "who:claude": [],
            "before:2d tier": ["2"],
            "since:nonsense": [],
            "since:": ["3", "2", "1"],
        }.items():
            await press(pilot, "slash")
            await type_text(pilot, typed)
            await settle(pilot)
            rows = app.screen.query_one("#timeline", TimelineRows)
            assert [key for key in ("3", "2", "1") if rows.holds(key)] == left, typed
            assert f"/ {typed}" in screen_text(app)
            await press(pilot, "escape")


def test_a_time_of_the_journal_begins_when_its_day_does() -> None:
    now = 1_795_449_600_000  # Monday 23 November 2026, 16:00 in UTC
    midnight = 1_795_392_000_000
    times = {
        "today": 0,
        "yesterday": 1,
        "monday": 0,
        "sunday": 1,
        "tuesday": 6,
        "2026-11-20": 3,
        "2026-11": 22,
    }
    for word, days in times.items():
        assert began(word, now, UTC) == midnight - days * DAY_MS, word
    assert began("36h", now, UTC) == now - 36 * 3_600_000
    assert began("2w", now, UTC) == now - 14 * DAY_MS
    assert [began(word, now, UTC) for word in ("", "soon", "2026-13-40", "3")] == [None] * 4


async def test_a_purged_entry_is_not_undone_and_its_keys_undo_nothing_else(tmp_path):
    """The dim key of a row must not fall through to the app's own, which undoes the last change of all."""
    store = changed_store(tmp_path)
    made = engine_at(store)
    changes.apply(made, changes.plan_forget(made, [FIRST], hard=True, shrink=True), confirmed=True)
    made.close()
    before, version = rows_of(store), version_of(store)
    async with browsing(store) as (app, pilot):
        await press(pilot, "6")
        await to_entry(pilot, app, 1)
        screen = app.screen
        assert screen.check_action("undo", ()) is None
        assert not screen.active_bindings["u"].enabled
        for key in ("u", "U"):
            await press(pilot, key)
            assert app.screen is screen, f"{key} opened {app.screen}"
            assert "removed for good" in said(app)
        await to_entry(pilot, app, 3)
        assert screen.active_bindings["u"].enabled
    assert version_of(store) == version
    assert same_rows(rows_of(store), before)


async def test_an_entry_of_which_one_memory_was_purged_is_undone_and_redone_for_the_other(tmp_path):
    """Its keys are bright, what is said is about what is left, and the purged one does not return."""
    store = pro_store(tmp_path / "store")
    made = engine_at(store)
    changes.apply(made, changes.plan_edit(made, [FIRST, SECOND], {"importance": "0.9"}), confirmed=True)
    changes.apply(made, changes.plan_forget(made, [FIRST], hard=True, shrink=True), confirmed=True)
    made.close()
    async with browsing(store) as (app, pilot):
        await press(pilot, "6")
        await to_entry(pilot, app, 1)
        screen = app.screen
        assert screen.active_bindings["u"].enabled
        assert "undoes it" in screen_text(app)
        for key, other, importance in (("u", "U", None), ("U", "u", 0.9)):
            await press(pilot, key)
            assert app.screen is not screen, f"{key} shows what it would do"
            await press(pilot, "enter" if app.screen.check_action("apply", ()) else "Y")
            await settle(pilot)
            await to_entry(pilot, app, 1)
            assert screen.active_bindings[other].enabled
            (row,) = [each for each in rows_of(store).to_pylist() if each["id"] == SECOND]
            assert (row["importance"] == 0.9) == (importance == 0.9)
            assert FIRST not in rows_of(store).column("id").to_pylist()
