"""Home: real numbers only, and every number leads into Browse."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from memtui.engine import Engine, RecallRequest, changes, explain, open_engine
from memtui.engine.cases import CaseBook
from memtui.engine.cases.case import demo_cases
from memtui.engine.cases.runner import CaseAnswer, measure
from memtui.engine.explain import History
from memtui.engine.witness import InjectionEconomy, OftenInjected
from memtui.paths import cases_file, questions_file
from memtui.tui.actions.table import load_keys
from memtui.tui.paint.glyphs import ASCII, UNICODE
from memtui.tui.screens.browse.screen import BrowseScreen
from memtui.tui.screens.home.injections import injection_rows
from memtui.tui.screens.home.link_list import LinkList
from memtui.tui.screens.home.view import Lately, case_rows, good, growth_lines
from memtui.tui.screens.home.view import running as running_counts
from tests.conftest import NOW_MS
from tests.tui.driving import lines, press, running, screen_text, settle, until
from tests.tui.memory_engine import MemoryEngine


async def test_the_numbers_are_the_engines():
    engine = MemoryEngine(400)
    async with running(engine) as (app, _):
        text = screen_text(app)
        stats = engine.stats()
        assert "memories   400" in text
        assert f"+{stats.added_7d}" in text
        assert "118 stale memories" in text
        assert "Needs attention" in text
        for tier, count in stats.tiers:
            line = next(line for line in lines(app) if tier in line)
            assert str(count) in line


async def test_a_finding_opens_browse_with_its_filter():
    async with running(MemoryEngine(400)) as (app, pilot):
        app.screen.query_one("#attention LinkList", LinkList).focus()
        await press(pilot, "enter")
        assert isinstance(app.screen, BrowseScreen)
        assert app.screen.wish.query.filter == 'scope:""'


async def test_a_scope_opens_browse_narrowed_to_it():
    async with running(MemoryEngine(400)) as (app, pilot):
        app.screen.query_one("#scopes LinkList", LinkList).focus()
        await press(pilot, "j", "enter")
        assert app.screen.wish.query.scopes == ("agent:main",)
        assert app.screen.wish.query.filter == ""


async def test_a_click_on_a_tier_opens_browse():
    async with running(MemoryEngine(400)) as (app, pilot):
        y = next(i for i, line in enumerate(lines(app)) if "working" in line)
        await pilot.click(offset=(6, y))
        await settle(pilot)
        assert app.screen.wish.query.filter == "tier:working"


async def test_the_cursor_goes_from_panel_to_panel():
    async with running(MemoryEngine(400)) as (app, pilot):
        app.screen.query_one("#store LinkList", LinkList).focus()
        await press(pilot, "j", "j")
        focused = app.screen.focused
        assert focused is not None
        assert focused.parent is not None
        assert focused.parent.id == "attention"
        await press(pilot, "k")
        assert app.screen.focused.parent.id == "store"


async def test_slash_goes_to_the_filter_line_of_browse():
    async with running(MemoryEngine(400)) as (app, pilot):
        await press(pilot, "slash")
        assert isinstance(app.screen, BrowseScreen)
        await pilot.press("r", "o", "t", "a")
        await press(pilot, "enter")
        assert app.screen.wish.query.filter == "rota"


async def test_a_newest_memory_opens_in_browse():
    engine = MemoryEngine(400)
    async with running(engine) as (app, pilot):
        app.screen.query_one("#newest LinkList", LinkList).focus()
        await press(pilot, "j", "enter")
        assert app.screen.wish.query.filter == "id:00000001-0000-4000-8000-000000000001"


def test_growth_ends_at_the_counts_of_today():
    assert running_counts(10, [1, 0, 4]) == [6, 6, 10]
    stats = MemoryEngine(400).stats()
    chart = [line.plain for line in growth_lines(stats, 60, 10, NOW_MS, UNICODE)]
    assert len(chart) == 10
    assert all(len(line) <= 60 for line in chart)
    assert "400" in "".join(chart)
    assert chart[-1].endswith("today")
    assert all(line.isascii() for line in (c.plain for c in growth_lines(stats, 60, 10, NOW_MS, ASCII)))


def test_growth_without_room_is_one_sentence():
    assert [line.plain for line in growth_lines(MemoryEngine(400).stats(), 10, 3, NOW_MS, UNICODE)] == [
        "400 memories"
    ]


@pytest.mark.slow
async def test_saved_questions_are_asked_when_that_is_wanted(demo_engine: Engine):
    CaseBook(cases_file(demo_engine.info.uri)).put_all(demo_cases(NOW_MS)[:3])
    async with running(demo_engine, (200, 50)) as (app, pilot):
        await until(pilot, lambda: "ask them all" in screen_text(app))
        app.screen.query_one("#cases LinkList", LinkList).focus()
        await press(pilot, "enter")
        await until(pilot, lambda: "of 3 right" in screen_text(app))
        await press(pilot, "j", "enter")
        assert app.current_mode == "recall"
        assert app.screen.state.form.query == demo_cases(0)[0].query


def test_a_question_is_right_when_nothing_rejected_came_and_what_is_expected_did():
    (case,) = demo_cases(0)[:1]
    fine, wrong = (
        CaseAnswer(case, ("a",), measure(case, ids, ["global"], 5)) for ids in (case.expected[:1], ["a"])
    )
    assert [good(fine), good(wrong), good(CaseAnswer(case, (), None)), good(None)] == [
        True,
        False,
        None,
        None,
    ]
    for answers, mark in (({}, "."), ({case.id: fine}, "*"), ({case.id: wrong}, "x")):
        rows = case_rows(Lately((), (case,), answers), 40, 9, ASCII, load_keys(), asking=False)
        assert rows[1].content.plain.startswith(f"{mark} ")
    (first, *_) = case_rows(Lately(), 40, 9, ASCII, load_keys(), asking=False)
    assert first.content.plain.startswith("+ or - on an answer")


async def test_home_says_which_of_the_last_questions_are_answered_worse(demo_store: Path, tmp_path: Path):
    """Asked again by the vectors that were kept: the memory that came first was archived since."""
    store = tmp_path / "fernhill"
    copytree(demo_store, store)
    history = History(questions_file())
    with open_engine(
        store, now=lambda: NOW_MS, environ={}, cwd=tmp_path, writable=True, state=tmp_path / "state"
    ) as engine:
        engine.load_catalog()
        engine.load_metadata()
        gone, kept = (
            engine.recall(RecallRequest(query, recipe=engine.default_recipe))
            for query in ("who is on call this week?", "which port does the bastion use?")
        )
        for trace in (gone, kept):
            explain.remember(engine, trace, history)
        assert [each.place for each in explain.asked_again(engine, history)] == [1, 1]
        changes.apply(engine, changes.plan_forget(engine, [gone.returned[0]], hard=True), confirmed=True)
        engine.refresh()
        later = explain.asked_again(engine, history)
        assert {each.question.query: each.place for each in later} == {gone.query: None, kept.query: 1}
        async with running(engine, (200, 50)) as (app, pilot):
            await until(pilot, lambda: "1 of the last 2 questions answered worse" in screen_text(app))
            assert "1 → gone who is on call this week?" in screen_text(app)
            assert "of 0 turns" not in screen_text(app)


def test_injections_say_only_what_is_known():
    often = (OftenInjected("a", 5, "Deploy on Mondays"),)
    days = (0,) * 12 + (2, 3)
    for width in (38, 90):
        rows = [
            row.content.plain
            for row in injection_rows(InjectionEconomy(days, 0, 0, 0, (), often), width, 12, ASCII)
        ]
        assert not any("silent" in row for row in rows)
        assert rows[-1].split() == ["5x", "Deploy", "on", "Mondays"]
    rows = [
        row.content.plain for row in injection_rows(InjectionEconomy(days, 4, 1, 0, (), often), 90, 12, ASCII)
    ]
    assert rows[1].split() == ["turns", "1", "of", "4", "without", "memory"]
