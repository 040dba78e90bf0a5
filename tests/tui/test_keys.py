"""The key table: unique, bound, and the same in bindings, key bar, help and palette."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections import Counter

import pytest
from textual.binding import Binding
from textual.dom import DOMNode

import memtui.tui
from memtui.tui.actions.action import Action
from memtui.tui.actions.dispatch import NOTHING
from memtui.tui.actions.table import BY_ID, TABLE, bindings
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.help import help_lines
from tests.tui.driving import lines, press, running, screen_text, settle, type_text
from tests.tui.memory_engine import MemoryEngine


def owners() -> list[tuple[type, Binding]]:
    """Every class of the screen with the bindings that it declares itself."""
    found = []
    for module in pkgutil.walk_packages(memtui.tui.__path__, "memtui.tui."):
        for _, cls in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if cls.__module__ == module.name and issubclass(cls, DOMNode) and "BINDINGS" in vars(cls):
                found += [(cls, binding) for binding in cls.BINDINGS if isinstance(binding, Binding)]
    return found


def test_ids_are_unique_and_dotted():
    assert len(BY_ID) == len(TABLE)
    assert all(key.id.count(".") == 1 for key in TABLE)


def test_no_key_means_two_things_in_one_context():
    pressed = Counter((key.context, name.strip()) for key in TABLE for name in key.each)
    assert [pair for pair, count in pressed.items() if count > 1] == []


def test_every_bound_key_comes_from_the_table_and_does_something():
    for cls, binding in owners():
        assert binding.id in BY_ID, f"{cls.__name__}: {binding}"
        action = binding.action.split("(")[0]
        name = f"action_{action.removeprefix('app.')}"
        # A key that its widget does not answer is offered to the screen around it.
        around = vars(importlib.import_module(cls.__module__)).values()
        able = [MemtuiApp] if action.startswith("app.") else [cls, *filter(inspect.isclass, around)]
        assert any(hasattr(each, name) for each in able), (
            f"nobody around {cls.__name__} has {name} for {binding.id}"
        )


def test_every_key_of_the_table_is_bound_somewhere():
    bound = {binding.id for _, binding in owners()}
    assert sorted(set(BY_ID) - bound) == []


def test_a_destructive_letter_is_not_next_to_a_harmless_one():
    assert all("delete" not in key.title for key in TABLE if key.keys == "d")


def test_caps_are_written_for_people():
    assert Action("a.b", "ctrl+d", "x", "G").caps == "^d"
    assert Action("a.b", "slash,question_mark", "x", "G").caps == "/ ?"
    assert Action("a.b", "escape", "x", "G", shown="esc").caps == "esc"


def test_only_keeps_the_actions_that_are_asked_for():
    assert [binding.id for binding in bindings("list", only=("first", "last"))] == ["list.first", "list.last"]


async def test_the_key_bar_and_the_help_follow_the_focus():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "2")
        assert "enter open" in screen_text(app).split("\n")[-1]
        await press(pilot, "h")
        assert "enter filter by scope" in screen_text(app).split("\n")[-1]
        await press(pilot, "question_mark")
        text = screen_text(app)
        assert "Keys: Browse, scopes" in text
        assert "filter by scope" in text
        await press(pilot, "escape")
        assert "Keys:" not in screen_text(app)


async def test_a_key_that_cannot_act_now_is_listed_with_the_reason():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "2", "l", "question_mark")
        assert "disabled here" in screen_text(app)
        await press(pilot, "slash", *"superseded", "enter")
        assert "DISABLED HERE" in screen_text(app)
        assert "older version: needs a memory that superseded another" in screen_text(app)
        await press(pilot, "escape", "escape", BY_ID["detail.older"].each[0])
        assert "older version: needs a memory that superseded another" in lines(app)[-2]


@pytest.mark.slow
async def test_every_disabled_key_of_every_screen_says_what_it_needs(keyword_engine):
    async with running(keyword_engine) as (app, pilot):
        for mode in app.MODES:
            await app.switch_mode(mode)
            await settle(pilot)
            silent = [line.key.id for line in help_lines(app.screen) if line.refused == NOTHING]
            assert silent == [], f"{mode}: give them `needs`, or their place"


async def test_the_help_is_searched_and_the_search_given_up_first():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "2", "question_mark", "slash")
        await type_text(pilot, "page")
        await press(pilot, "enter")
        text = screen_text(app)
        assert "page down" in text
        assert "recall this text" not in text
        await press(pilot, "escape")
        assert "recall this text" in screen_text(app)
        await press(pilot, "escape")
        assert "Keys:" not in screen_text(app)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_at_most_eight_keys_are_in_the_bar(size):
    async with running(MemoryEngine(50), size) as (app, pilot):
        await press(pilot, "2")
        bar = screen_text(app).split("\n")[-1]
        assert len([part for part in bar.split("  ") if part.strip()]) <= 9
