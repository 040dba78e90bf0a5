"""Open a store: no dead end on a fresh machine; else what was opened before, and folders, each with what it is."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest
from textual.pilot import Pilot

from memtui.engine import StoreInfo
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.open_store import OpenStore, completed, folders
from memtui.tui.dialogs.sheet import Sheet
from memtui.ui_state import UiState
from tests.engine.transfer_stores import memory, pro_store
from tests.tui.driving import press, screen_text, settle, type_text, until
from tests.tui.test_changing import browsing


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "MEMTUI_STATE_DIR"):
        monkeypatch.setenv(name, str(home / name))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    return home


async def to_dialog(app: MemtuiApp, pilot: Pilot[None]) -> None:
    await until(pilot, lambda: app.session.phase == "none")
    await press(pilot, "o")
    await until(pilot, lambda: isinstance(app.screen, OpenStore) and app.screen._looked)


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_where_nothing_is_found_every_way_out_is_a_row(fresh: Path, size: tuple[int, int]) -> None:
    app = MemtuiApp()
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "no memory store was found" in screen_text(app))
        assert "connect an agent" in screen_text(app)
        await to_dialog(app, pilot)
        said = " ".join(screen_text(app).replace("│", " ").split())
        assert (
            "Nothing was opened before and nothing is discovered: type a folder, or where to make one."
            in said
        )
        for words in (
            "~/memories",
            "open the demo store",
            "bring memories in",
            "Obsidian",
            "connect an agent",
        ):
            assert words in said
        await press(pilot, "up", "down", "down", "down", "down", "down", "enter")
        await until(pilot, lambda: isinstance(app.screen, Sheet))
        assert "memtui connect HOST" in screen_text(app)
        assert ".vscode/mcp.json" in screen_text(app)


async def test_a_store_is_made_and_says_what_comes_next_and_is_known_afterwards(fresh: Path) -> None:
    kept = UiState(fresh / "state.json")
    app = MemtuiApp(kept=kept)
    async with app.run_test(size=(120, 36)) as pilot:
        await to_dialog(app, pilot)
        await press(pilot, "up", "up", "up", "up", "enter")
        await until(pilot, lambda: (fresh / "memories").is_dir() and app.session.engine is not None)
        await until(pilot, lambda: "Transfer brings memories in" in screen_text(app))
    again = MemtuiApp(kept=UiState(fresh / "state.json"))
    async with again.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: again.session.phase != "looking")
        await press(pilot, "o")
        await until(pilot, lambda: isinstance(again.screen, OpenStore) and again.screen._looked)
        seen = screen_text(again)
        assert "OPENED BEFORE" in seen
        assert "~/memories" in seen
        assert "written" in seen


def test_a_path_is_completed_as_far_as_it_is_clear(tmp_path: Path, demo_store: Path) -> None:
    (tmp_path / "notes-a" / "deep").mkdir(parents=True)
    shutil.copytree(demo_store, tmp_path / "notes-b")
    there = folders(str(tmp_path / "no"), tmp_path)
    assert [Path(each.value).name for each in there[:2]] == ["notes-b", "notes-a"], "those with a table first"
    assert [each.store for each in there[:2]] == [True, False]
    assert completed(str(tmp_path / "no"), there[:2]) == str(tmp_path / "notes-")
    only = folders(str(tmp_path / "notes-a/de"), tmp_path)
    assert completed("x", [each for each in only if each.kind == "folder"]).endswith("/notes-a/deep/")


async def test_a_word_that_nothing_holds_says_so(fresh: Path) -> None:
    app = MemtuiApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await to_dialog(app, pilot)
        await type_text(pilot, "s3://nowhere")
        await until(pilot, lambda: "No place known here holds these words" in screen_text(app))


async def test_nothing_that_is_known_of_a_place_is_cut_at_80_columns(fresh: Path, demo_store: Path) -> None:
    long = fresh / "a folder with quite a long name for a store of memories" / "store"
    shutil.copytree(demo_store, long)
    app = MemtuiApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await to_dialog(app, pilot)
        await type_text(pilot, str(long))
        await until(pilot, lambda: "written" in screen_text(app))
        lines = screen_text(app).split("\n")
        at = next(i for i, line in enumerate(lines) if "written" in line)
        assert (
            lines[at - 1].rstrip().endswith("a folder with quite a long name for a store of memories/store")
        )
        assert "…" not in lines[at] + lines[at - 1]


async def test_what_was_seen_before_the_store_was_read_anew_is_not_told_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import lancedb

    store = pro_store(tmp_path / "store", [memory(1, "The gateway listens on port 8443")])
    asked, go_on = threading.Event(), threading.Event()
    async with browsing(store) as (app, pilot):
        engine = app.session.engine
        assert engine is not None
        lancedb.connect(store).open_table("memories").update(values={"text": "It listens on port 8444"})
        plain = engine.newer

        def late(shown: StoreInfo) -> int | None:
            found = plain(shown)
            asked.set()
            assert go_on.wait(120)
            return found

        monkeypatch.setattr(engine, "newer", late)
        try:
            app._store.watch()
            await until(pilot, asked.is_set)
            revision = app.session.revision
            await pilot.press("r")
            await until(pilot, lambda: app.session.phase == "ready" and app.session.revision > revision)
        finally:
            go_on.set()
        await settle(pilot)
        assert "port 8444" in screen_text(app)
        assert app.session.newer == ""
