"""Keys pressed while the store opens, and on the first visit of a screen: none is lost, none goes elsewhere."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import pytest
from textual import events

from memtui.engine import Engine, open_engine
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.help import HelpOverlay
from memtui.tui.dialogs.palette import Palette
from memtui.tui.tour import SEEN
from memtui.tui.widgets.question_line import QuestionLine
from memtui.ui_state import KEYS, UiState
from tests.conftest import NOW_MS
from tests.tui.driving import press, running, screen_text, settle, until


class Opening:
    """The app on the demo store, which opens when it is told to; `kept` is what a person left behind."""

    def __init__(self, store: Path, kept: UiState) -> None:
        self.go = threading.Event()
        self.kept = kept

        def opener(target: object, now: object, report: object, cancel: object) -> Any:
            assert self.go.wait(120)
            return open_engine(store, now=lambda: NOW_MS, environ={}, cwd=store.parent)

        environ = {"MEMTUI_GLYPHS": "unicode"}
        self.app = MemtuiApp("demo", opener=opener, now=lambda: NOW_MS, environ=environ, kept=kept)


def typed(app: MemtuiApp, *keys: str) -> None:
    """Keys in the queue of the app, as a terminal hands them on."""
    for key in keys:
        app.post_message(events.Key(key, key if len(key) == 1 else None))


@pytest.fixture
def opening(demo_store: Path, tmp_path: Path) -> Opening:
    """The app of somebody who was never here."""
    return Opening(demo_store, UiState(tmp_path / "ui.json"))


async def test_the_palette_opens_at_once_and_what_is_typed_into_it_stays(opening: Opening) -> None:
    """Also when the tour, which fills in a question on Recall, is to begin by itself."""
    app = opening.app
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.begun)
        typed(app, "ctrl+p", *"jour")
        await until(pilot, lambda: getattr(app.focused, "value", "") == "jour")
        opening.go.set()
        await until(pilot, lambda: app.session.phase == "ready")
        for _ in range(30):
            await pilot.pause(0.02)
        assert isinstance(app.screen, Palette)
        assert app.focused.value == "jour"  # type: ignore[union-attr]
        assert "TOUR" not in screen_text(app)
        await press(pilot, "escape")
        await until(pilot, lambda: "TOUR 1" in screen_text(app))


async def test_keys_that_wait_for_the_store_are_told_and_kept_in_order(opening: Opening) -> None:
    app = opening.app
    opening.kept.put({SEEN: True})
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.begun)
        typed(app, "2", "slash", *"port")
        await until(pilot, lambda: "keys waiting: / p o r t" in screen_text(app))
        opening.go.set()
        await until(pilot, lambda: app.session.phase == "ready" and not app.typed_ahead)
        await settle(pilot)
        assert app.current_mode == "browse"
        assert app.focused.value == "port"  # type: ignore[union-attr]
        assert "keys waiting" not in screen_text(app), "the line goes with what it tells of"


async def test_a_filter_typed_on_home_waits_for_the_store(opening: Opening) -> None:
    """The key bar of Home names the filter from the start: none of its letters is a key of Home."""
    app = opening.app
    opening.kept.put({SEEN: True})
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.begun)
        typed(app, "slash", *"bastion")
        await until(pilot, lambda: "keys waiting" in screen_text(app))
        opening.go.set()
        await until(pilot, lambda: app.session.phase == "ready" and not app.typed_ahead)
        await settle(pilot)
        assert app.current_mode == "browse"
        assert app.focused.value == "bastion"  # type: ignore[union-attr]


_PRESSED = (
    "ctrl+p", "escape", "question_mark", "f1", "f10", "tab", "enter", "slash", "colon", "semicolon", "u", "U", "r", "z",
    "right_square_bracket", "f2", "o", "down", "g", "G", "space", *"1234567890", *"aeDiCWwpxv",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_is_pressed_while_the_store_opens_the_program_goes_on(
    seed: int, opening: Opening
) -> None:
    """Ctrl+P and escape between any keys, at any moment of the opening: nothing fails, and no key is stuck."""
    draw, app = random.Random(seed), opening.app
    if seed % 2:
        opening.kept.put({SEEN: True})
    async with app.run_test(size=(80, 24)) as pilot:
        for at in range(60):
            if at == 45:
                opening.go.set()
            typed(app, draw.choice(("ctrl+p", "escape")) if at % 3 == 2 else draw.choice(_PRESSED))
            for _ in range(draw.choice((0, 0, 1, 3))):
                await pilot.pause()
            assert not app.return_code, "the program was stopped by a fault of its own"
        await until(pilot, lambda: app.session.phase == "ready" and not app.typed_ahead)
        await settle(pilot)
        for _ in range(6):
            await press(pilot, "escape")
        assert "keys waiting" not in screen_text(app)
        await press(pilot, "ctrl+p")
        assert isinstance(app.screen, Palette), "the next key is heard"


async def test_the_palette_does_not_wait_behind_them_and_says_what_it_drops(opening: Opening) -> None:
    app = opening.app
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.begun)
        typed(app, "2", "slash", *"port")
        await until(pilot, lambda: "keys waiting" in screen_text(app))
        typed(app, "ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, Palette))
        assert not app.session.open
        assert not app._ahead
        typed(app, "escape")
        await until(pilot, lambda: "keys discarded: / p o r t" in screen_text(app))
        opening.go.set()
        await until(pilot, lambda: app.session.phase != "opening")


async def test_f10_before_the_tour_begins_ends_it(opening: Opening) -> None:
    app = opening.app
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.begun)
        typed(app, "f10")
        await until(pilot, lambda: "no tour" in screen_text(app))
        opening.go.set()
        await until(pilot, lambda: app.session.phase == "ready")
        await settle(pilot)
        assert "TOUR" not in screen_text(app)
        await until(pilot, lambda: bool(opening.kept.read().get(SEEN)))


async def test_on_the_first_visit_of_recall_digits_and_the_help_are_keys_until_something_is_typed(
    demo_engine: Engine,
) -> None:
    async with running(demo_engine, (80, 24)) as (app, pilot):
        await press(pilot, "3", "6")
        assert app.current_mode == "journal"
        await press(pilot, "3", "question_mark")
        assert isinstance(app.screen, HelpOverlay)
        await press(pilot, "escape", "slash", "4", "question_mark")
        assert app.current_mode == "recall"
        assert app.screen.query_one(QuestionLine).value == "4?"


async def test_a_letter_typed_on_the_first_visit_begins_the_question(demo_engine: Engine) -> None:
    async with running(demo_engine, (80, 24)) as (app, pilot):
        await press(pilot, "3", "x", "4", "question_mark")
        assert app.current_mode == "recall"
        assert app.screen.query_one(QuestionLine).value == "x4?"


@pytest.mark.parametrize("before", [{}, {KEYS: 2, "theme": "paper"}, {"theme": "paper"}])
async def test_only_who_knew_a_key_is_told_where_it_has_gone(
    before: dict[str, Any], demo_store: Path, tmp_path: Path
) -> None:
    kept = UiState(tmp_path / "ui.json")
    kept.put({SEEN: True, **before} if before else {})
    opened = Opening(demo_store, kept)
    opened.go.set()
    app = opened.app
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "5")
        moved = {key: action for action in app.keys.table for key in action.moved}
        live = [app.keys.key(active.binding.id) for active in app.screen.active_bindings.values()]
        gone = next(key for key, action in moved.items() if action in live and key not in action.each)
        await press(pilot, gone)
        told = " is now" in screen_text(app) or " now, " in screen_text(app)
        assert told == (bool(before) and KEYS not in before), screen_text(app)
        assert kept.read()[KEYS] == 2
