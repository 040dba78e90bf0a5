"""Cases in the app: marked on Recall, listed, run for A and B, searched for better settings, removed, imported."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from memtui.engine import Engine
from memtui.engine.cases import CaseBook
from memtui.engine.cases.case import Case, demo_cases
from memtui.paths import cases_file
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.sheet import Sheet
from memtui.tui.layouts import cases as arrange
from memtui.tui.screens.cases import screen as working
from memtui.tui.screens.cases.screen import CasesScreen
from memtui.tui.screens.recall.screen import RecallScreen
from memtui.tui.widgets.result_list import ResultList
from memtui.tui.widgets.screen_bars import FlashLine
from tests.conftest import NOW_MS
from tests.tui.driving import SIZES, check_golden, press, screen_text, until
from tests.tui.recalling import QUESTION, panels, recalling


@pytest.fixture(autouse=True)
def _short_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "BUDGET", 6)


def book_of(engine: Engine) -> CaseBook:
    return CaseBook(cases_file(engine.info.uri))


def said(app: MemtuiApp) -> str:
    return app.screen.query_one(FlashLine).text


@asynccontextmanager
async def casing(
    engine: Engine, *keys: str, size: tuple[int, int] = (120, 36), cases: Any = None
) -> AsyncIterator[tuple[MemtuiApp, Pilot[None], CasesScreen]]:
    """The Cases screen over the demo store with its own questions saved, after these keys."""
    book_of(engine).put_all(demo_cases(NOW_MS) if cases is None else cases)
    async with recalling(engine, size, query="") as (app, pilot, _):
        await press(pilot, "escape", "T")
        for key in keys:
            await press(pilot, key)
        screen = app.screen_stack[1]
        assert isinstance(screen, CasesScreen)
        yield app, pilot, screen


async def test_a_grade_is_given_on_the_row_and_kept_with_the_case(demo_engine: Engine) -> None:
    book = book_of(demo_engine)
    async with recalling(demo_engine) as (app, pilot, screen):
        ids = [c.id for c in screen.state.trace.results]  # type: ignore[union-attr]
        await press(pilot, "plus")
        assert "▌ 1³" in screen_text(app)
        assert "grade 3 of 3: it answers the question" in said(app)
        await press(pilot, "minus")
        (case,) = book.cases()
        assert (case.expected, case.grades) == ((ids[0],), ((ids[0], 2),))
        await press(pilot, "j", "minus")
        assert book.cases()[0].rejected == (ids[1],)
        await press(pilot, "plus")
        (case,) = book.cases()
        assert dict(case.grades) == {ids[0]: 2, ids[1]: 1}
        assert "▌ 2¹" in screen_text(app)
        assert screen.query_one(ResultList).verdicts == {ids[0]: "2", ids[1]: "1"}


@pytest.mark.slow
async def test_marks_make_a_case_which_is_there_again_with_the_question(demo_engine: Engine) -> None:
    book = book_of(demo_engine)
    async with recalling(demo_engine) as (app, pilot, screen):
        ids = [c.id for c in screen.state.trace.results]  # type: ignore[union-attr]
        screen.action_right()
        await press(pilot)
        await press(pilot, "j")
        screen.action_wrong()
        await press(pilot)
        (case,) = book.cases()
        assert (case.query, case.expected, case.rejected) == (QUESTION, (ids[0],), (ids[1],))
        assert "▌ 2✗" in screen_text(app)
        assert "  1✓" in screen_text(app)
        assert "marked wrong" in said(app)
        screen.ask("something else entirely")
        await press(pilot)
        assert screen.query_one(ResultList).verdicts == {}
        screen.ask(QUESTION)
        await press(pilot)
        assert screen.query_one(ResultList).verdicts == {ids[0]: "expected", ids[1]: "rejected"}
        screen.action_right()  # the first one: the same mark again takes it away
        await press(pilot)
        await press(pilot, "j")
        await press(pilot, "minus")  # below 0 there is no grade
        assert book.cases() == ()
        assert "no case of this question is left" in said(app)
        await press(pilot, "v")
        dropped = screen.state.selected
        await press(pilot, "E")
        assert book.cases()[0].expected == (dropped,)
        await press(pilot, "v")
        await press(pilot, "E")
        app.screen.query_one(Input).value = "Bluetooth permission"
        await press(pilot)
        await press(pilot, "enter")
        assert len(book.cases()[0].expected) == 2
        await press(pilot, "Q")
        assert book.cases()[0].silent
        assert "no result is expected" in said(app)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_cases_look_as_they_were_approved(demo_engine: Engine, size: tuple[int, int]) -> None:
    async with casing(demo_engine, "equals_sign", "8", "R", "g", size=size) as (app, pilot, _):
        check_golden(f"cases-{size[0]}x{size[1]}", panels(app))
        await press(pilot, "v")
        if size[0] == 80:
            check_golden("cases-case-80x24", panels(app))


@pytest.mark.slow
async def test_a_and_b_are_measured_and_an_honest_sentence_says_whether_they_differ(
    demo_engine: Engine,
) -> None:
    async with casing(demo_engine, "equals_sign", "8", "R") as (app, pilot, screen):
        report = screen.state.report
        assert report is not None
        assert report.paired is not None
        assert report.other is not None
        text = screen_text(app)
        assert report.paired.verdict in text
        assert report.paired.distinguishable == ("is better" in report.paired.verdict)
        assert "14 cases" in report.paired.verdict
        assert f"B better in {report.paired.better}, worse in {report.paired.worse}" in text
        for name in ("hit@5", "recall@5", "MRR", "nDCG@5", "wrong scope"):
            assert name in text
        await press(pilot, "c", "h")
        await press(pilot, "up", "enter")
        assert screen.state.k == 3
        assert "the setups have changed since" in screen_text(app)
        await press(pilot, "equals_sign")
        await press(pilot, "0")
        await press(pilot, "R")
        assert screen.state.report is not None
        assert (screen.state.report.k, screen.state.report.other) == (3, None)
        await press(pilot, "G", "k", "k")  # the last but two asks in scopes of its own
        await press(pilot, "enter")
        recall = app.screen
        assert isinstance(recall, RecallScreen)
        assert recall.state.form.query == "Bluetooth printer list is empty on Android"
        assert recall.state.form.scopes == ("global", "project:mango")
        assert recall.state.trace is not None


async def test_a_case_of_a_forgotten_memory_is_said_and_one_is_removed_and_put_back(
    demo_engine: Engine,
) -> None:
    cases = [Case("gone", "which port", ("no-such-memory",)), *demo_cases(NOW_MS)[:2]]
    async with casing(demo_engine, "R", "g", cases=cases) as (app, pilot, screen):
        text = screen_text(app)
        assert "! which port" in text
        assert "gone from the store" in text
        assert "every expected memory is gone" in text
        assert "2 cases judged, 1 could not be" in text
        await press(pilot, "T")
        assert "3 cases are too few to tune on." in said(app)
        assert screen.state.work == ""
        await press(pilot, "D")
        assert [case.id for case in book_of(demo_engine).cases()] == [case.id for case in cases[1:]]
        assert "u puts it back" in said(app)
        await press(pilot, "u")
        assert len(book_of(demo_engine).cases()) == 3
        assert screen.state.case is not None
        assert screen.state.case.id == "gone"


@pytest.mark.slow
async def test_better_settings_are_searched_judged_apart_copied_and_the_search_can_be_stopped(
    demo_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[str] = []
    monkeypatch.setattr(MemtuiApp, "copy", lambda self, text, what: copied.append(text))
    async with casing(demo_engine, "T") as (app, pilot, screen):
        found = screen.state.tuning
        assert found is not None
        text = screen_text(app)
        assert "SETTINGS FOUND" in text
        assert "kept apart" in text or "none is better" in text
        await press(pilot, "y")
        assert [json.loads(each) for each in copied] == ([found.block] if found.settings else [])
        monkeypatch.setattr(working, "BUDGET", 10_000)
        await pilot.press("T")
        await until(pilot, lambda: screen.state.progress is not None)
        assert "esc stops" in screen_text(app)
        await press(pilot, "escape")
        assert (screen.state.work, screen.state.tuning) == ("", found)
        assert said(app) == "stopped"
        await press(pilot, "escape")
        assert isinstance(app.screen, RecallScreen)


async def test_without_cases_the_screen_says_how_to_get_some_and_a_broken_line_loses_only_itself(
    demo_engine: Engine, tmp_path: Path
) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text('{"query": "one", "expected": []}\n{broken\n{"query": "two"}\n')
    async with casing(demo_engine, cases=[]) as (app, pilot, _):
        assert "Saved questions will be listed here." in screen_text(app)
        await press(pilot, "L")
        app.screen.query_one(Input).value = str(path)
        await press(pilot, "enter")
        assert isinstance(app.screen, Sheet)
        assert "line 2" in screen_text(app)
        await press(pilot, "escape")
        assert [case.query for case in book_of(demo_engine).cases()] == ["one", "two"]
        for _case in ("one", "two"):
            await press(pilot, "D")
        assert "Saved questions will be listed here." in screen_text(app)
        await press(pilot, "d")
        assert len(book_of(demo_engine).cases()) == 14
        assert "Which port do I use" in screen_text(app)


async def test_a_broken_book_is_said_and_left_alone(demo_engine: Engine) -> None:
    path = book_of(demo_engine).path
    path.parent.mkdir(parents=True)
    path.write_text("{")
    async with recalling(demo_engine) as (app, pilot, _):
        assert "cannot be read" in said(app)
        await press(pilot, "T")
        assert "The cases cannot be read." in screen_text(app)
        assert "Repair or move the file away." in screen_text(app)
    assert path.read_text() == "{"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shown", ["measures", "case"])
def test_panels_never_overlap_and_stay_inside(size: tuple[int, int], shown: str) -> None:
    width, height = size
    inside: Callable[[int, int], bool] = lambda x, y: 0 <= x <= width and 0 <= y <= height  # noqa: E731
    for filled in (True, False):
        boxes = arrange(width, height, shown=shown, filled=filled)
        cells = [
            (x, y)
            for b in boxes.values()
            for x in range(b.x, b.x + b.width)
            for y in range(b.y, b.y + b.height)
        ]
        assert len(cells) == len(set(cells))
        assert all(inside(b.x + b.width, b.y + b.height) for b in boxes.values())
