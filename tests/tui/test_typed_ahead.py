"""Keys typed faster than the engine answers: each is taken by what has the keyboard when the one before is done."""

from __future__ import annotations

import re
import shutil
import time
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest
from textual import events

from memtui.engine import open_engine
from memtui.tui import app as app_module
from memtui.tui.actions import dispatch
from memtui.tui.app import MemtuiApp
from memtui.tui.calls import EngineCalls
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.dialogs.choose_one import ChooseOne
from memtui.tui.dialogs.palette import Palette
from memtui.tui.screens.browse.memory_list import MemoryList
from memtui.tui.startup.open_store import opener
from memtui.tui.widgets.row_list import RowList
from tests.conftest import NOW_MS, thinned
from tests.tui.driving import lines, press, running, screen_text, settle, until
from tests.tui.memory_engine import MemoryEngine
from tests.tui.test_changing import browsing, pro_store

NAMES = {
    "/": "slash",
    " ": "space",
    ":": "colon",
    ".": "full_stop",
    "-": "minus",
    "?": "question_mark",
    "]": "right_square_bracket",
}


def type_at_once(app: Any, text: str, *after: str) -> None:
    """All of it is in the queue of the app before any of it is handled, as a terminal hands on a paste of keys."""
    for char in text:
        app.post_message(events.Key(NAMES.get(char, char), char))
    for key in after:
        char = next((each for each, name in NAMES.items() if name == key), key if len(key) == 1 else None)
        app.post_message(events.Key(key, char))


class SlowEngine(MemoryEngine):
    """Takes its time for every list."""

    def view(self, *args: Any, **more: Any) -> Any:
        time.sleep(0.3)
        return super().view(*args, **more)


async def test_a_key_after_enter_is_the_lists_and_waits_for_its_rows(tmp_path):
    async with browsing(pro_store(tmp_path / "store")) as (app, pilot):
        type_at_once(app, "/number 3", "enter", "D")
        await until(pilot, lambda: isinstance(app.screen, ChooseOne))
        browse = app.screen_stack[0]
        assert browse.wish.query.filter == "number 3"
        assert browse.query_one(MemoryList).total == 1
        await settle(pilot)
        assert "Forget 1 memory" in screen_text(app)
        type_at_once(app, "d")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        await settle(pilot)
        assert "Note number 3" in screen_text(app)


@pytest.mark.slow
async def test_the_same_on_a_hundred_thousand_rows_with_an_engine_that_is_slow():
    async with running(SlowEngine(100_000)) as (app, pilot):
        await press(pilot, "2")
        before = app.screen.query_one(MemoryList).total
        type_at_once(app, "/deploy", "enter", "j", "space", "y")
        await until(pilot, lambda: isinstance(app.screen, ChooseOne))
        browse = app.screen_stack[0]
        assert browse.wish.query.filter == "deploy"
        listing = browse.query_one(MemoryList)
        assert 0 < listing.total < before
        assert listing.cursor >= 1, "j was the new list's"
        assert len(listing.marks) == 1


async def test_escape_never_waits_and_gives_up_what_was_typed_ahead():
    async with running(SlowEngine(10_000)) as (app, pilot):
        await press(pilot, "2")
        type_at_once(app, "/deploy", "enter", "D", "D")
        await until(pilot, lambda: app._holding)
        await until(pilot, lambda: "filtering..." in screen_text(app))
        type_at_once(app, "", "escape")
        await settle(pilot)
        assert not app.typed_ahead
        assert not isinstance(app.screen, ChooseOne)


async def test_keys_after_the_palettes_key_are_the_palettes():
    async with running(MemoryEngine(500)) as (app, pilot):
        type_at_once(app, "2", "ctrl+p")
        type_at_once(app, "arrange sort order", "enter")
        await until(pilot, lambda: isinstance(app.screen, ChooseOne))
        await press(pilot, "escape")
        type_at_once(app, "", "ctrl+p")
        type_at_once(app, "q?x")
        await settle(pilot)
        assert isinstance(app.screen, Palette)
        assert app.screen.query_one("Input").value == "q?x"


async def test_a_standing_filter_is_selected_typing_replaces_it_and_an_arrow_edits_it():
    async with running(MemoryEngine(500)) as (app, pilot):
        await press(pilot, "2")
        type_at_once(app, "/deploy", "enter")
        await settle(pilot)
        type_at_once(app, "/deploy", "enter")
        await settle(pilot)
        assert app.screen.wish.query.filter == "deploy"
        type_at_once(app, "", "slash", "right")
        type_at_once(app, "s", "enter")
        await settle(pilot)
        assert app.screen.wish.query.filter == "deploys"


@pytest.mark.parametrize("mode", thinned("0123456789", 3))
async def test_a_list_that_is_not_laid_out_yet_misses_no_key(mode: str, tmp_path: Path) -> None:
    """The keyboard may be with a list a moment before it has a size: what moves in it waits for its rows."""
    engine = open_engine(pro_store(tmp_path / "store"), now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    async with running(engine) as (app, pilot):
        type_at_once(app, "", mode, "right_square_bracket", "G")
        await settle(pilot)
        listing = app.focused
        if isinstance(listing, MemoryList):
            assert listing.cursor == listing.total - 1
        elif isinstance(listing, RowList):
            assert listing.place[0] == listing.place[1]


def everything_takes_time(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Every call of the engine from every screen, panel and dialog begins with a pause."""
    call, start = EngineCalls.call, EngineCalls.start

    def slow(work: Any) -> Any:
        def late(token: Any, report: Any) -> Any:
            time.sleep(seconds)
            return work(token, report)

        return late

    monkeypatch.setattr(
        EngineCalls, "call", lambda self, slot, work, *a, **k: call(self, slot, slow(work), *a, **k)
    )
    monkeypatch.setattr(EngineCalls, "start", lambda self, slot, work: start(self, slot, slow(work)))


def what_is_seen(app: Any) -> tuple[str, str]:
    """The screen and its text, without how long something took, as a number or a bar, and without the flash line."""
    shown = lines(app)
    if "─ Stages ─" in "".join(shown):
        shown = [line[48:] for line in shown]
    shown = [re.sub(r"[\d.,]+ ms|[ ─]+", " ", line) for line in shown]
    return type(app.screen).__name__, "\n".join((*shown[:-2], shown[-1]))


ASKED = [*"which port", "enter"]

WALK = {
    **{f"the list of {mode}": [mode, "j", "j"] for mode in "0123456789"},
    **{f"the next view of {mode}": [mode, "right_square_bracket", "G", "k"] for mode in "0123456789"},
    "noise is looked for": [*"2mnjj", "space"],
    "secrets are looked for": [*"2msj", "space"],
    "duplicates, another likeness": [*"2md", "minus", "minus", "j"],
    "an answer is worked out": ["3", *ASKED, *"jj"],
    "a memory of an answer is explained": ["3", *ASKED, *"jw"],
    "a change is planned": [*"2jDd"],
    "the change after a filter": ["2", "slash", *ASKED, *"Da"],
    "a change is written": [*"2jDa", "enter", "j"],
    "the journal after a change": [*"2jDa", "enter", *"6j"],
    "a change is undone": [*"2jDa", "enter", "u"],
    "a memory is chosen": [*"3", *ASKED, *"E", *"kelp", "enter"],
    "a file is imported": ["5", "enter", *"said.md", "enter", *"nj", "space", "n"],
    "a path that leads nowhere": ["5", "enter", *"gone.md", "enter", *"x"],
}


def the_machine_stands_still(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Every action holds up everything for longer than a key is waited for that has got lost."""
    act = dispatch.KeymapApp.run_action
    monkeypatch.setattr(dispatch, "LOST_S", seconds / 2)

    async def held_up(self: Any, *given: Any, **more: Any) -> bool:
        done = await act(self, *given, **more)
        time.sleep(seconds)
        return done

    monkeypatch.setattr(dispatch.KeymapApp, "run_action", held_up)


@pytest.mark.slow
@pytest.mark.parametrize("hindered", [everything_takes_time, the_machine_stands_still])
@pytest.mark.parametrize("keys", WALK.values(), ids=WALK.keys())
async def test_keys_typed_at_once_do_what_they_do_one_by_one(
    keys: list[str], hindered: Any, demo_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On every screen, slow or held up in all that it does: what is typed ahead ends the same."""
    world = tmp_path / "world"
    pressed = [NAMES.get(key, key) for key in keys]
    (tmp_path / "said.md").write_text("- The gallery closes at five.\n- The kiln is hot on Mondays.\n")
    monkeypatch.chdir(tmp_path)

    async def seen(*, at_once: bool) -> tuple[str, str]:
        shutil.rmtree(world, ignore_errors=True)
        async with browsing(Path(shutil.copytree(demo_store, world / "store"))) as (app, pilot):
            if at_once:
                hindered(monkeypatch, 0.1)
                type_at_once(app, "", *pressed)
            else:
                await press(pilot, *pressed)
            await settle(pilot)
            return what_is_seen(app)

    (name, slowly), (screen, text) = await seen(at_once=False), await seen(at_once=True)
    changes = unified_diff(slowly.split("\n"), text.split("\n"), "one by one", "at once", lineterm="", n=0)
    assert screen == name, text
    assert not (found := list(changes)), "\n".join(found)


class LateApp(MemtuiApp):
    """Asks for its store a while after its first frame, as on a machine that has much to do."""

    CSS_PATH = Path(app_module.__file__).with_name("app.tcss")

    def _start(self) -> None:
        self.set_timer(1.5, super()._start)


async def test_a_sentence_typed_before_the_store_is_asked_for_is_done_when_it_is_open(tmp_path):
    around = {"HOME": str(tmp_path), "MEMTUI_STATE_DIR": str(tmp_path / "state")}
    target = str(pro_store(tmp_path / "store"))
    app = LateApp(target, opener=opener(around, tmp_path), now=lambda: NOW_MS, environ=around)
    async with app.run_test(size=(80, 24)) as pilot:
        type_at_once(app, "", "ctrl+p")
        type_at_once(app, "show number 3", "enter")
        await until(pilot, lambda: app.current_mode == "browse")
        await settle(pilot)
        assert app.screen_stack[0].wish.query.filter == '"number" "3"'


async def test_an_enter_from_before_the_terminal_was_ours_is_an_enter(tmp_path):
    async with browsing(pro_store(tmp_path / "store")) as (app, pilot):
        type_at_once(app, "/number 3", "ctrl+j")
        await settle(pilot)
        assert app.screen.query_one(MemoryList).has_focus
        assert app.screen.wish.query.filter == "number 3"
