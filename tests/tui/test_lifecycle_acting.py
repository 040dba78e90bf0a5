"""What Lifecycle does beside showing: saved questions that get lost, undo, fixing a card, rows that are odd."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from memtui.engine import Engine, changes, lifecycle
from memtui.engine.cases import CaseBook
from memtui.engine.cases.case import Case
from memtui.engine.lifecycle import BoardAsk
from memtui.paths import cases_file
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.screens.lifecycle import state as reduce
from memtui.tui.screens.lifecycle.panel_actions import EDITS, ways
from memtui.tui.screens.lifecycle.questions import review_progress
from memtui.tui.screens.lifecycle.screen import LifecycleScreen
from tests.conftest import NOW_MS
from tests.engine.pro_store import row, write_store
from tests.engine.test_lifecycle_store import odd_store
from tests.tui.driving import (
    check_golden,
    lines,
    make_app,
    press,
    running,
    screen_text,
    settle,
    until,
)
from tests.tui.test_lifecycle_screen import IDS, go, opened, panels, plugin_rows, screen_of


@pytest.fixture
def writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    rows = plugin_rows()
    rows[4] = {**rows[4], "vector": (0.0, 1.0)}
    return opened(write_store(tmp_path / "plugin", rows, dims=2, fts=False), writable=True)


def save_case(engine: Engine) -> None:
    """A question whose only answer expires in three days."""
    case = Case("1", "What ends this week?", expected=(IDS[4],), query_vector=(0.0, 1.0))
    CaseBook(cases_file(engine.info.uri)).put(case)


async def test_a_saved_question_that_gets_lost_is_on_top_with_its_date(writable: Engine):
    save_case(writable)
    async with running(writable) as (app, pilot):
        await go(pilot)
        at = next(i for i, line in enumerate(lines(app)) if "! case" in line)
        assert "3d ! case    What ends this week?" in lines(app)[at]
        assert "loses on 4 Sep 2026: Expires on Friday" in lines(app)[at + 1]
        assert "1 case, " in screen_text(app).split("About to change")[1].split("\n")[0]
        screen_of(app).query_one("#next BuiltRows").focus()
        await press(pilot, "g")
        assert screen_of(app).state.selected == IDS[4]
        assert "no longer recalled from 4 Sep 2026 12:0" in screen_text(app)
        check_golden("lifecycle-loss-120x36", panels(app))
        for size in ((60, 15), (40, 9), (60, 15)):
            await pilot.resize_terminal(*size)
            await settle(pilot)
        assert app.focused in app.screen.focus_chain  # its panel has no room here: another has the keyboard


async def test_the_cases_are_asked_again_for_another_horizon_and_for_tried_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    until_then = {"valid_until": NOW_MS + 20 * 86_400_000}
    rows = [row(IDS[4], "Ends in three weeks", (0.0, 1.0), timestamp=NOW_MS, metadata=until_then)]
    engine = opened(write_store(tmp_path / "plugin", rows, dims=2, fts=False))
    save_case(engine)
    async with running(engine) as (app, pilot):
        await go(pilot)
        before, after = screen_of(app).state.effect
        assert before["ndcg"] == after["ndcg"] > 0
        assert [loss.memory for loss in screen_of(app).state.losses] == [IDS[4]]
        assert "cases, nDCG" in screen_text(app)
        assert "unchanged" not in screen_text(app)
        await press(pilot, "less_than_sign")
        await until(pilot, lambda: screen_of(app).state.losses == ())
        await press(pilot, "p", "shift+right")
        await until(pilot, lambda: "unchanged" in screen_text(app))


@pytest.mark.slow
async def test_a_sweep_is_taken_back_where_it_was_made(writable: Engine):
    async with running(writable) as (app, pilot):
        await go(pilot, "A")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        await press(pilot, "enter")
        await until(pilot, lambda: writable.get(IDS[0]).tier == "core")
        await settle(pilot)
        await press(pilot, "u")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        await press(pilot, "enter")
        await until(pilot, lambda: writable.get(IDS[0]).tier == "working")
        await settle(pilot)
        assert "undone" in screen_text(app)
        assert screen_of(app).state.board.promotions > 0


async def test_a_decision_is_taken_back_in_a_store_that_is_only_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    engine = opened(write_store(tmp_path / "plugin", plugin_rows(), dims=2, fts=False))
    async with running(engine) as (app, pilot):
        await go(pilot, "W")
        state = screen_of(app).state
        first, waiting = state.card, state.review.waiting
        await press(pilot, "s")
        assert screen_of(app).state.review.settled == 0  # skipped is not settled
        await press(pilot, "i")
        assert (screen_of(app).state.review.waiting, screen_of(app).state.review.settled) == (waiting - 2, 1)
        await press(pilot, "u", "u")
        state = screen_of(app).state
        assert (state.card, state.review.waiting, state.review.settled) == (first, waiting, 0)


@pytest.mark.slow
async def test_what_was_written_in_the_review_is_taken_back_with_its_decision(writable: Engine):
    async with running(writable) as (app, pilot):
        await go(pilot, "W")
        memory, waiting = screen_of(app).state.card, screen_of(app).state.review.waiting
        before = writable.get(memory).state
        await press(pilot, "a")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        await press(pilot, "enter")
        await until(pilot, lambda: writable.get(memory).state == "archived")
        await settle(pilot)
        assert screen_of(app).state.review.waiting == waiting - 1
        await press(pilot, "u")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        await press(pilot, "enter")
        await until(pilot, lambda: writable.get(memory).state == before)
        await settle(pilot)
        assert screen_of(app).state.review.waiting == waiting
        assert memory in {card.id for card in screen_of(app).state.review.cards}


async def test_a_card_is_fixed_in_place(writable: Engine):
    async with running(writable) as (app, pilot):
        await go(pilot, "W")
        memory = screen_of(app).state.card
        await press(pilot, "f")
        assert isinstance(app.screen, ChooseOne)
        check_golden("lifecycle-fix-120x36", panels(app))
        await press(pilot, "t", "down", "enter")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        tier = writable.get(memory).tier
        await press(pilot, "enter")
        await until(pilot, lambda: writable.get(memory).tier != tier)
        await settle(pilot)
        kept = review_progress(screen_of(app).session).decisions()
        assert kept[memory].settlement == "fix"


async def test_a_contradiction_is_shown_and_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    says = {"relations": [{"type": "contradicts", "targetId": IDS[1]}]}
    month = NOW_MS - 30 * 86_400_000
    rows = [
        row(IDS[0], "The pilot boat is called Gull", (1.0, 0.0), timestamp=month, metadata=says),
        row(IDS[1], "The pilot boat is called Heron", (1.0, 0.0), timestamp=month),
    ]
    engine = opened(write_store(tmp_path / "plugin", rows, dims=2, fts=False), writable=True)
    async with running(engine) as (app, pilot):
        await go(pilot, "W")
        assert {card.id for card in screen_of(app).state.review.cards} == {IDS[0], IDS[1]}
        memory = screen_of(app).state.card
        other = IDS[1] if memory == IDS[0] else IDS[0]
        check_golden("lifecycle-contradiction-120x36", panels(app))
        assert [each.id for each in screen_of(app).state.others] == [other]
        await press(pilot, "M")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, LifecycleScreen))
        await until(pilot, lambda: memory in review_progress(screen_of(app).session).decisions())
        assert review_progress(screen_of(app).session).decisions()[memory].settlement == "merge"


def test_what_ends_by_its_own_date_is_kept_by_taking_the_date_away(writable: Engine) -> None:
    ends, rests = (ways(lifecycle.follow_memory(writable, IDS[n], BoardAsk(horizon_days=30))) for n in (4, 6))
    assert (ends[0].value, ends[0].hint) == ("endless", "else it ends 4 Sep 2026")
    assert [each.value for each in rests] == [each.value for each in ends[1:]]
    plan = changes.plan_edit(writable, [IDS[4]], EDITS["endless"])
    assert plan.title == "1 memory: valid_until to never"


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["80x24", "120x36"])
async def test_what_can_be_done_is_listed_with_its_effect(writable: Engine, size: tuple[int, int]):
    async with running(writable, size) as (app, pilot):
        await go(pilot)
        app._told.add("lifecycle.chart")  # what c did once; said for some seconds only
        await press(pilot, "c")
        assert isinstance(app.screen, ChooseOne)
        check_golden(f"lifecycle-act-{size[0]}x{size[1]}", panels(app))
        await press(pilot, "escape")
        assert isinstance(app.screen, LifecycleScreen)
        app.push_screen(ChooseOne("Scope", [Option(str(n), f"用户:美惠 {n}") for n in range(60)], "40"))
        await settle(pilot)
        assert "▌✓   用户:美惠 40 " in screen_text(app)  # more than there are lines: the cursor is in sight
        await press(pilot, "k", "k")
        await pilot.resize_terminal(60, 15)
        await settle(pilot)
        assert "▌    用户:美惠 38 " in screen_text(app)
        assert "esc close" in lines(app)[-1]


# ---------------------------------------------------------------------------- odd rows, no rows, no store


@pytest.mark.slow
async def test_odd_rows_are_shown_with_defined_numbers_for_a_hundred_years(tmp_path: Path):
    engine = odd_store(tmp_path)
    async with running(engine, (200, 50)) as (app, pilot):
        await go(pilot, *["greater_than_sign"] * 7, "percent_sign")
        screen = screen_of(app)
        assert "next 100 y" in screen_text(app)
        assert "access as before" in screen_text(app)
        said = {
            "zero-time": "1970",
            "seconds": "= now - creation, never used",
            "future": "still to come",
            "busy": "e^(-1000000000/5)",
            "textual": "= .7 x .7",
        }
        for memory, words in said.items():
            screen.state = reduce.select(screen.state, memory)
            await settle(pilot)
            text = screen_text(app)
            assert words in text, (memory, text)
            assert "nan" not in text
            assert "inf " not in text
        findings = "\n".join(lines(app))
        for title in (
            "without a creation time",
            "with a time in seconds",
            "from the future",
            "every one is working",
        ):
            assert title in findings, title


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["80x24", "120x36"])
async def test_an_empty_store_says_what_to_do(tmp_path: Path, size: tuple[int, int]):
    async with running(opened(write_store(tmp_path / "empty", [], dims=2, fts=False)), size) as (app, pilot):
        await go(pilot)
        check_golden(f"lifecycle-empty-{size[0]}x{size[1]}", panels(app))


async def test_a_store_without_a_lifecycle_says_why_and_what_to_open(shared: Path, unpack):
    from memtui.engine import open_engine

    folder = unpack(shared / "fixtures/stores/builtin-old.tar.gz")
    engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=Path("/"))
    async with running(engine, (80, 24)) as (app, pilot):
        await go(pilot)
        check_golden("lifecycle-failed-80x24", panels(app))


async def test_while_the_store_opens_the_frame_stands(writable: Engine):
    gate = threading.Event()

    def slowly() -> Engine:
        gate.wait()
        return writable

    app = make_app(slowly)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("4")
        await until(pilot, lambda: isinstance(app.screen, LifecycleScreen))
        try:
            await pilot.pause()
            check_golden("lifecycle-loading-80x24", panels(app))
        finally:
            gate.set()
        await until(pilot, lambda: isinstance(app.screen, LifecycleScreen) and app.screen.said is None)
        await settle(pilot)
        assert "Decay curves" in screen_text(app)
