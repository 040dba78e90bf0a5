"""`/` in every list of the program, found by walking it: what is typed narrows it, and the screen says so."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

import memtui.tui
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.choose_one import OptionRows
from memtui.tui.widgets.row_list import RowList
from tests.tui.driving import press, screen_text, settle, type_text
from tests.tui.test_locked import PORT, locked, play

ASKED = f"3 slash ctrl+u text:{PORT} enter"
NEXT = " right_square_bracket"

PLACES = {
    "Lifecycle": "4",
    "Transfer": "5",
    "Journal": "6",
    **{f"Capture {views}": "7" + NEXT * views for views in (1, 2, 3)},
    **{f"Audit {views}": "8" + NEXT * views for views in (1, 2)},
    **{f"Health {views}": "9" + NEXT * views for views in range(4)},
    **{f"Agents {views}": "0" + NEXT * views for views in range(4)},
    "Lifecycle, what if": "4 p",
    "Lifecycle, the review": "4 W",
}

DIALOGS = {
    "the nearest": "2 K",
    "a change": "2 D a",
    "a change of several": "2 asterisk c i ctrl+u text:0.11 enter",
    "the unlock": "2 D a enter",
    "Mend": "2 f",
    "a menu": "2 s",
    "stores": "1 o",
    "help": "2 question_mark",
    "Recall": ASKED,
    "Missing": f"{ASKED} v",
    "every stage": f"{ASKED} w",
    "the settings": f"{ASKED} backslash",
    "the scopes": f"{ASKED} at",
    "the history": f"{ASKED} H",
    "what if": f"{ASKED} p",
    "a memory to ask about": f"{ASKED} W",
    "why not": f"{ASKED} W text:kelp enter",
    "cases": f"{ASKED} E text:atlas enter T",
    "a wrong answer": "1 exclamation_mark text:ssh-port-2222-of-the-bastion enter",
}
"""The keys that lead to lists."""

OF_THE_SCREEN = {
    "StageTable": "in Recall `/` is the question",
    "ResultList": "in Recall `/` is the question",
    "MemoryText": "in Recall `/` is the question, in Why not another memory",
    "ChangeRows": "in Why not `/` is another memory",
    "RemedyRows": "in Why not `/` is another memory",
}
"""Lists of a screen that has a better use for the key: it asks, and the list is the answer."""

ELSEWHERE = {"ConfigRows", "DifferenceRows", "ListRows", "PersonRows", "RepairRows"}
"""What these walks do not lead to: a configuration, which the demo has not, the file of a host that is connected, a
person who is forgotten, and repairs, which are tried on a copy first."""


def classes(of: type[RowList] = RowList) -> Iterator[type[RowList]]:
    """Every kind of list that the program has."""
    for each in of.__subclasses__():
        yield each
        yield from classes(each)


def every_kind() -> set[type[RowList]]:
    for module in pkgutil.walk_packages(memtui.tui.__path__, "memtui.tui."):
        importlib.import_module(module.name)
    return {each for each in classes() if each.__module__.startswith("memtui.")}


def bound(kind: type[RowList]) -> bool:
    return any(
        binding.action == "find" for binding in kind._merge_bindings().key_to_bindings.get("slash", ())
    )


def test_slash_is_a_key_of_every_kind_of_list() -> None:
    kinds = every_kind()
    assert len(kinds) > 25
    assert [each.__name__ for each in kinds if not bound(each)] == []


def text_of(rows: RowList) -> list[str]:
    return [" ".join(line.plain for line in row.lines) for row in rows._rows]


def texts(rows: RowList, keys: list[str]) -> list[str]:
    """What the rows say that can be chosen, or all of them where none can."""
    return [text for row, text in zip(rows._rows, text_of(rows), strict=True) if row.key or not keys]


async def narrowed(app: MemtuiApp, pilot: Pilot[None], rows: RowList, name: str) -> str:
    """What `/` does in the list that has the keyboard: "itself", "line above", or that it is the screen's."""
    screen, whole, keys = app.screen, text_of(rows), rows._keys()
    await press(pilot, "slash")
    if not rows._seeking:
        took = app.screen.focused
        assert isinstance(took, Input), f"{name}: {rows}: `/` does nothing\n{screen_text(app)}"
        while app.screen is not screen:
            app.screen.dismiss(None)
            await settle(pilot)
        return "line above" if rows.LINE_ABOVE else type(screen).__name__
    assert rows._keys() == keys, name
    shown = texts(rows, keys)[not keys :]  # without the line that says what is sought
    said = [part for each in shown for part in each.split() if part.isalnum() and part.isascii()]
    word = max(said[-8:], key=len, default="zz")
    await type_text(pilot, word)
    await settle(pilot)
    found = texts(rows, keys)[not keys :]
    assert bool(found) is bool(said), f"{name}: {rows}: {word}\n{screen_text(app)}"
    assert all(word.lower() in each.lower() for each in found), f"{name}: {rows}: {word}"
    assert f"/ {word}" in screen_text(app) or not keys, f"{name}: {rows}"
    assert text_of(rows)[0].endswith(f"{len(found)} of {len(keys or whole)}"), f"{name}: {rows}"
    await press(pilot, "enter")  # the letters are the list's own again, what was found stays
    assert not rows._seeking, name
    assert app.screen is screen, name
    await press(pilot, "escape")
    assert (rows._keys() or text_of(rows)) == (keys or whole), f"{name}: {rows}"
    return "itself"


@pytest.mark.slow
async def test_slash_narrows_every_list_that_can_be_walked_to(demo_store: Path, tmp_path: Path) -> None:
    seen: dict[str, set[str]] = {}
    async with locked(demo_store, tmp_path) as (app, pilot):
        for name, keys in {**PLACES, **DIALOGS}.items():
            await play(pilot, keys)
            for menu in app.screen.query(OptionRows):
                await press(pilot, "slash", "z", "z")
                assert menu.shown == [], name
                assert f"0 of {len(menu.options)}" in screen_text(app), name
                seen["OptionRows"] = {"itself"}
            for rows in app.screen.query(RowList):
                if rows.region.area and rows._rows and rows.can_focus:
                    rows.focus()
                    await settle(pilot)
                    if app.screen.focused is rows:
                        how = await narrowed(app, pilot, rows, name)
                        seen.setdefault(type(rows).__name__, set()).add(how)
            while len(app.screen_stack) > 1:
                app.screen.dismiss(None)
                await settle(pilot)
            await press(pilot, "escape", "escape")
    asked = {kind for kind, how in seen.items() if not how & {"itself", "line above"}}
    assert asked <= set(OF_THE_SCREEN)
    kinds = {each.__name__ for each in every_kind()} | {"OptionRows"}
    assert kinds - set(seen) - set(OF_THE_SCREEN) == ELSEWHERE, "a list that no walk leads to: add one"
