"""Filters that make no sense, and values that look like code: words and carets, an untouched list, a quick answer."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from textual.widgets import Input

from memtui.engine import ListQuery, Progress
from memtui.tui.screens.browse.filter_bar import FilterBar
from tests.engine.curate_world import version_of
from tests.tui.driving import EACH_SIZE, lines, press, running, screen_text, settle, until
from tests.tui.test_changing import browsing, listing, pro_store, said


async def asked(app: object, pilot: object, text: str) -> None:
    """The filter line with this text, taken with Enter."""
    await press(pilot, "slash")  # type: ignore[arg-type]
    app.screen.query_one(Input).value = text  # type: ignore[attr-defined]
    await press(pilot, "enter")  # type: ignore[arg-type]


WRONG = (
    ("tier:core (imp>.5", "never closed", "("),
    ("colour:red", '"colour" is not a field', "colour"),
    ("teir:core", "Did you mean tier:?", "teir"),
    ("is:staale", "Did you mean stale?", "staale"),
    ("imp>high", "is not a number", "high"),
    ("/(a+)+{900}{900}$/", "too large", "/(a+)+{900}{900}$/"),
    ("/(?=x)y/", "does not accept this", "/(?=x)y/"),
    ("-~deploys", "orders a whole list", "~deploys"),
    ("age>5", "is not a length of time", "5"),
    ('"never closed', "never closed", '"never closed'),
)
CODE = (
    "scope:\"x' OR '1'='1\"",
    'id:"\'; DROP TABLE memories; --"',
    '"100%_\\\\ \' \\" -- /* */"',
    "/a'; DELETE FROM memories WHERE 'x'='x/",
    'source:"\' UNION SELECT 1"',
    'cat:"it\'s"',
)


@pytest.mark.slow
async def test_a_wrong_filter_is_told_with_its_place_and_the_list_stays(tmp_path):
    async with browsing(pro_store(tmp_path / "store"), size=(120, 24)) as (app, pilot):
        for text, words, under in WRONG:
            await asked(app, pilot, text)
            shown = lines(app)
            assert words in shown[3], text
            start = shown[2].index("^")
            assert shown[1][start : start + len(under)] == under
            assert shown[2].count("^") == len(under)
            assert listing(app).total == 8
            await press(pilot, "escape")
            assert not app.screen.query_one(FilterBar).editing
            assert listing(app).total == 8


@pytest.mark.slow
async def test_code_in_a_value_is_a_value(tmp_path):
    store = pro_store(tmp_path / "store")
    version = version_of(store)
    async with browsing(store) as (app, pilot):
        for text in CODE:
            await asked(app, pilot, text)
            shown = screen_text(app)
            assert any(words in shown for words in ("nothing matches", "No memory here has the")), text
            await press(pilot, "escape", "escape", "escape")
            assert listing(app).total == 8
    assert version_of(store) == version


async def test_a_catastrophic_expression_is_answered(tmp_path):
    from tests.engine.pro_store import row, write_store

    rows = [row(f"row-{i}", "a" * 20_000 + "!", (1.0, 0.1)) for i in range(20)]
    async with browsing(write_store(tmp_path / "store", rows, dims=2)) as (app, pilot):
        await asked(app, pilot, "/(a|aa)+$/")
        assert "nothing matches" in screen_text(app)
        await asked(app, pilot, "/(a|a)*b|a!$/")
        assert listing(app).total == 20


def test_every_condition_of_the_language_answers_on_a_real_store(demo_engine):
    from memtui.engine.query.fields import HAS, HAS_BY_ROW, IS, IS_BY_TEXT

    total = demo_engine.view(ListQuery()).total
    for term in (
        *(f"is:{each}" for each in (*IS, *IS_BY_TEXT)),
        *(f"has:{each}" for each in (*HAS, *HAS_BY_ROW)),
    ):
        found, others = (demo_engine.view(ListQuery(text)).total for text in (term, f"-{term}"))
        assert found + others == total, term


@pytest.mark.parametrize("size", EACH_SIZE)
async def test_words_behind_a_tilde_order_the_list_and_say_how_near(demo_engine, size):
    async with running(demo_engine, size) as (app, pilot):
        await press(pilot, "2")
        await asked(app, pilot, "~when do we deploy")
        text = screen_text(app)
        assert "similarity ▼" in text
        assert listing(app).sort == "~"
        near = [app.screen.state.answer.view.similarity(i) for i in range(20)]
        assert near == sorted(near, reverse=True)
        assert near[0] > 0.4
        assert f"{near[0]:.3f}"[1:] in text
        await press(pilot, "S")
        assert "similarity ▼" in screen_text(app)


@pytest.mark.slow
async def test_without_an_embedder_the_tilde_says_why(tmp_path: Path):
    async with browsing(pro_store(tmp_path / "store")) as (app, pilot):
        await asked(app, pilot, "~number 3")
        assert "keyword search, not by meaning" in screen_text(app)
        assert "~ looks for the words: " in said(app)
        assert listing(app).total == 8
        assert listing(app).current is not None
        assert listing(app).current.text == "Note number 3"


async def test_a_slow_filter_tells_its_progress_and_escape_takes_it_back(demo_engine, monkeypatch):
    go, real = threading.Event(), demo_engine.view

    def slow(query, cancel=None, on_progress=None, **more):
        if query.filter:
            on_progress(Progress("Looking through the memories", 43, 100))
            go.wait(120)
            cancel.check()
        return real(query, cancel, on_progress, **more)

    monkeypatch.setattr(demo_engine, "view", slow)
    async with running(demo_engine) as (app, pilot):
        await press(pilot, "2")
        total = listing(app).total
        await pilot.press("slash")
        app.screen.query_one(Input).value = "is:secret"
        await pilot.press("enter")
        await until(pilot, lambda: "looking 43%   esc stops" in screen_text(app))
        await pilot.press("escape")
        assert "43%" not in screen_text(app)
        assert "all memories" in lines(app)[1]
        go.set()
        await settle(pilot)
        assert listing(app).total == total
        assert app.screen.wish.query.filter == ""
