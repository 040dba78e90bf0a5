"""`/` in every list: what is typed narrows it, escape shows it whole again; one way for all of them."""

from __future__ import annotations

import pytest
from textual.widget import Widget

from memtui.tui.dialogs.choose_one import ChooseOne, Option, OptionRows
from memtui.tui.widgets.row_list import RowList
from tests.tui.driving import press, running, screen_text, settle, type_text
from tests.tui.test_locked import locked

LISTS = {
    "Mend": "2 f",
    "Journal": "6",
    "Health": "9",
    "Lifecycle, what if": "4 p",
    "Lifecycle, the review": "4 W",
}
"""The keys that lead to a list."""


def focused(app) -> RowList:
    rows = app.screen.focused
    assert isinstance(rows, RowList), rows
    return rows


def text_of(rows: RowList, key: str) -> str:
    return " ".join(line.plain for row in rows._rows if row.key == key for line in row.lines)


@pytest.mark.slow
async def test_slash_narrows_every_list(demo_store, tmp_path):
    async with locked(demo_store, tmp_path) as (app, pilot):
        for name, keys in LISTS.items():
            await press(pilot, *keys.split())
            rows = focused(app)
            all_keys = rows._keys()
            assert len(all_keys) > 1, name
            await press(pilot, "slash")
            assert rows._keys() == all_keys, name
            row = next(each for each in rows._rows if each.key == all_keys[-1])
            word = max((part for line in row.lines for part in line.plain.split() if part.isalnum()), key=len)
            await type_text(pilot, word)
            await settle(pilot)
            found = rows._keys()
            assert all_keys[-1] in found, name
            assert all(word.lower() in text_of(rows, key).lower() for key in found), name
            assert rows.key in found, name
            assert f"/ {word}" in screen_text(app), name
            await press(pilot, "enter")  # the letters are the list's own again, what was found stays
            assert rows._keys() == found, name
            await press(pilot, "escape")
            assert rows._keys() == all_keys, name
            while len(app.screen_stack) > 1:
                app.screen.dismiss(None)
                await settle(pilot)


async def test_nothing_that_holds_the_word_says_so_and_backspace_goes_back(demo_store, tmp_path):
    async with locked(demo_store, tmp_path) as (app, pilot):
        await press(pilot, "6", "slash", *"zzzz")
        assert "/ zzzz" in screen_text(app)
        assert "0 of 3" in screen_text(app)
        assert "no row holds it: esc shows all" in screen_text(app)
        await press(pilot, *["backspace"] * 4)
        assert "no row holds it" not in screen_text(app)
        assert len(focused(app)._keys()) == 3


async def test_a_menu_is_narrowed_and_marks_what_stands_now(demo_engine):
    options = [Option(str(at), f"scope {name}", name) for at, name in enumerate(("amber", "blue", "coral"))]
    taken: list[str | None] = []
    async with running(demo_engine, (80, 24)) as (app, pilot):
        app.push_screen(ChooseOne("Scope", options, "1"), taken.append)
        await settle(pilot)
        assert "✓" in screen_text(app)
        await press(pilot, "slash", *"cor")
        rows: Widget = app.screen.query_one(OptionRows)
        assert isinstance(rows, OptionRows)
        assert rows.shown == [2]
        assert "1 of 3" in screen_text(app)
        await press(pilot, "enter")
        assert taken == ["2"]
