"""Hostile rows and hostile questions on Recall: nothing crashes, nothing but printable cells reaches the terminal."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.content import Content
from textual.pilot import Pilot

from memtui.engine import Engine, clean
from memtui.tui.messages import AskRecall
from memtui.tui.paint.glyphs import ASCII, UNICODE
from memtui.tui.screens.recall.screen import RecallScreen
from memtui.tui.widgets.dropped_list import DroppedGroup, Miss, gate_line, miss_lines
from memtui.tui.widgets.memory_text import text_lines
from memtui.tui.widgets.question_line import OptionChip, QuestionLine, chips_line
from memtui.tui.widgets.result_list import ResultRow, hit_lines
from tests.timing import LEAST_S
from tests.tui.driving import SIZES, press, running, screen_text, settle, until
from tests.tui.traces import memory

ANY = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        ["[/oops]", "[red]x[/red]", "\x1b[2J\x1b]0;x\x07", "\u202eabc", "会议👩‍👩‍👧‍👦", "x" * 5_000, "", " "]
    ),
)


def harmless(content: Content) -> bool:
    return clean(content.plain) == content.plain and "\n" not in content.plain


@pytest.mark.slow
@given(ANY, ANY, ANY, st.integers(40, 200), st.sampled_from([UNICODE, ASCII]), st.booleans())
@settings(max_examples=120, deadline=None)
def test_list_rows_are_harmless_and_never_wider_than_their_line(
    text: str, name: str, lane: str, width: int, glyphs: object, evidence: bool
) -> None:
    hit = ResultRow(
        "id",
        12,
        clean(text),
        name,
        name,
        name,
        0.5,
        0.5,
        -3,
        (("vec", ".81 #3", "$dim"), ("bm25", "", "$dim")),
        ("x", "a"),
    )
    for line in hit_lines(hit, width, glyphs, evidence=evidence):  # type: ignore[arg-type]
        assert harmless(line)
        assert line.cell_length <= width
    miss = Miss("id", clean(text), name, name, ".300", clean(lane).replace("\n", " "))
    for line in miss_lines(miss, width, glyphs):  # type: ignore[arg-type]
        assert harmless(line)
        assert line.cell_length <= width
    gate = DroppedGroup("min + window", "outside", "$stage-cut", (miss,) * 3, lane)
    assert harmless(gate_line(gate, width, glyphs))  # type: ignore[arg-type]
    assert gate_line(gate, width, glyphs).cell_length <= width  # type: ignore[arg-type]


@given(ANY, st.integers(10, 120))
@settings(max_examples=60, deadline=None)
def test_full_text_and_options_stay_in_their_width(text: str, width: int) -> None:
    for line in text_lines(memory("m-1", clean(text)), ("x",), (), width):
        assert harmless(line)
        assert line.cell_length <= width
    chips = (
        OptionChip("recipe", "recipe", text),
        OptionChip("limit", "k", "6"),
        OptionChip("scope", "scope", text, True),
    )
    line = chips_line(chips, 1, width)
    assert harmless(line)
    assert line.cell_length <= width


def printable(text: str) -> bool:
    return all(clean(line) == line for line in text.split("\n"))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_hostile_rows_are_listed_explained_and_read(
    keyword_engine: Engine, size: tuple[int, int]
) -> None:
    async with running(keyword_engine, size) as (app, pilot):
        app.post_message(AskRecall("what do we know about kafka"))
        await until(pilot, lambda: isinstance(app.screen, RecallScreen) and app.screen.state.phase == "done")
        screen = app.screen
        assert isinstance(screen, RecallScreen)
        screen.choose(everyone=True)
        await until(
            pilot, lambda: screen.state.phase == "done" and screen.state.trace.filters["scopes"] is None
        )  # type: ignore[union-attr]
        assert len(screen.state.trace.candidates) == 8  # type: ignore[union-attr]
        for keys in (
            *(["j"],) * 6,
            ["enter"],
            *(["full_stop"],) * 7,
            ["G"],
            ["escape"],
            ["m"],
            ["j"],
            ["j"],
            ["escape"],
            ["at"],
        ):
            await press(pilot, *keys)
            assert printable(screen_text(app))
        await until(pilot, lambda: app.screen is not screen)
        assert "[bold]scope" in screen_text(app)


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        "[/oops] [red]x[/red] [@click=app.quit()]y[/]",
        "\x1b]0;owned\x07\x1b[2J kafka \u202e",
        '"unbalanced AND ( kafka',
        "kafka\nOR\r\n1=1; --",
        "???!!! ... --- '';",
        "👩‍👩‍👧‍👦 会议 ﷽",
        "\x00",
    ],
)
async def test_any_question_is_shown_harmlessly_and_answered_or_refused(
    keyword_engine: Engine, query: str
) -> None:
    async with running(keyword_engine) as (app, pilot):
        app.post_message(AskRecall(query))
        await until(
            pilot,
            lambda: isinstance(app.screen, RecallScreen) and app.screen.state.phase in ("done", "failed"),
        )
        await settle(pilot)
        assert printable(screen_text(app))
        assert isinstance(app.screen, RecallScreen)
        assert app.screen.state.asked.query == query  # type: ignore[union-attr]


@pytest.mark.slow
async def test_a_question_of_100_kb_is_asked_whole_and_the_keys_stay_quick(keyword_engine: Engine) -> None:
    query = "kafka brokers and partitions " * 3_500
    async with running(keyword_engine) as (app, pilot):
        app.post_message(AskRecall(query))
        await until(
            pilot,
            lambda: isinstance(app.screen, RecallScreen) and app.screen.state.phase in ("done", "failed"),
        )
        await settle(pilot)
        assert isinstance(app.screen, RecallScreen)
        assert app.screen.state.asked.query == query  # type: ignore[union-attr]
        assert app.screen.state.phase == "done"
        long = await _typing(pilot)
        await press(pilot, "escape", "j", "enter", "escape")
        assert printable(screen_text(app))
        app.post_message(AskRecall("kafka brokers"))
        await until(
            pilot,
            lambda: isinstance(app.screen, RecallScreen) and app.screen.state.asked.query == "kafka brokers",  # type: ignore[union-attr]
        )
        await settle(pilot)
        assert long < 10 * await _typing(pilot)


async def _typing(pilot: Pilot[Any]) -> float:
    """Processor seconds of a few keys in the line of the question."""
    start = time.process_time()
    await press(pilot, "slash", "end", "x", "left", "backspace")
    return max(time.process_time() - start, LEAST_S)


async def test_pasted_lines_become_one_question(keyword_engine: Engine) -> None:
    from textual.events import Paste

    async with running(keyword_engine) as (app, pilot):
        await press(pilot, "3")
        line = app.screen.query_one(QuestionLine)
        line.post_message(Paste("first\nsecond\x1b[2J\tthird"))
        await settle(pilot)
        assert line.value == "first second␛[2J third"
        await press(pilot, "home", "delete")
        assert line.value == "irst second␛[2J third"


async def test_an_empty_question_is_refused_with_a_word(keyword_engine: Engine) -> None:
    async with running(keyword_engine) as (app, pilot):
        await press(pilot, "3", "space", "enter")
        assert "Type a question first." in screen_text(app)
