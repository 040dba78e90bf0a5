"""Every line that is typed into takes a paste of many lines as one clean line, and runs nothing of it."""

from __future__ import annotations

import ast

import pytest
from textual import events
from textual.content import Content
from textual.widgets import Input

from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.screens.agents import view as agents
from memtui.tui.screens.audit import view as audit
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.text_lines import MOST_PASTED, CleanInput
from tests.conftest import ROOT, thinned
from tests.tui.driving import make_app, press, running, screen_text, settle
from tests.tui.memory_engine import MemoryEngine

PASTED = "which port\r\nrm -rf ~\n\tq\x1b[2J \x1b]52;c;aGk=\x07 会议 \u202eevil\u202c"
WAYS = {
    "the filter": ("2", "slash"),
    "the question": ("3", "slash"),
    "the palette": ("ctrl+p",),
    "a path to open": ("o",),
    "the search of the help": ("question_mark", "slash"),
}


@pytest.mark.parametrize("way", thinned(WAYS.values(), 2), ids=WAYS)
async def test_a_paste_of_many_lines_becomes_one_and_nothing_of_it_is_run(way, keyword_engine):
    async with running(keyword_engine) as (app, pilot):
        await press(pilot, *way)
        line, stack = app.focused, list(app.screen_stack)
        assert all(isinstance(each, CleanInput) for each in app.screen.query(Input)), app.screen
        app.post_message(events.Paste(PASTED))
        await settle(pilot)
        assert app.focused is line
        assert app.screen_stack == stack
        assert "which port rm -rf ~" in line.value
        assert "会议" in line.value
        assert not any(ord(char) < 32 or char in "\x7f\u202e\u202c" for char in line.value)
        assert "\x1b" not in screen_text(app)


async def test_a_paste_goes_where_the_cursor_is_and_replaces_what_is_selected():
    app = make_app(MemoryEngine(9))
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        app.push_screen(TextPrompt("A line", "hint", "one three"))
        await settle(pilot)
        line = app.screen.query_one(CleanInput)
        line.cursor_position = 4
        app.post_message(events.Paste("two\n"))
        await settle(pilot)
        assert line.value.split() == ["one", "twothree"] or line.value.split() == ["one", "two", "three"]
        line.select_all()
        app.post_message(events.Paste("new"))
        await settle(pilot)
        assert line.value == "new"


async def test_a_paste_that_is_too_long_is_cut_and_said():
    async with running(MemoryEngine(9)) as (app, pilot):
        await press(pilot, "2", "slash")
        app.post_message(events.Paste("x" * (MOST_PASTED + 5)))
        await settle(pilot)
        assert len(app.focused.value) == MOST_PASTED
        assert "Only the first 20,000 characters were pasted." in screen_text(app)


def title_of(panel: Panel) -> Content:
    return Content.from_markup(panel.border_title or "")


@pytest.mark.parametrize("width", [80, 120])
async def test_what_does_not_fit_beside_a_title_is_shortened_not_dropped(width):
    async with running(MemoryEngine(), (width, 24)) as (app, _pilot):
        panel = next(each for each in app.screen.query(Panel) if each.outer_size.width > 40)
        panel.headline(what="Title", which="many words " * 30, where="")
        title = title_of(panel)
        assert "Title" in title.plain
        assert "many words" in title.plain
        assert "…" in title.plain
        assert title.cell_length <= panel.outer_size.width
        panel.headline(which="short")
        assert "short" in title_of(panel).plain
        assert "…" not in title_of(panel).plain
        panel.headline(what="T" * (panel.outer_size.width - 10))  # a beginning of it would say nothing
        assert "short" not in title_of(panel).plain


@pytest.mark.parametrize(("screen", "cells"), [("audit", audit.NAME_CELLS), ("agents", agents.NAME_CELLS)])
def test_the_name_of_a_fact_leaves_a_cell_before_its_words(screen, cells):
    named = [
        str(call.args[0].value)
        for path in (ROOT / "memtui" / "tui" / "screens" / screen).glob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and getattr(call.func, "id", getattr(call.func, "attr", "")) == "fact"
        and isinstance(call.args[0], ast.Constant)
    ]
    assert named
    assert [name for name in named if len(name) >= cells] == []
