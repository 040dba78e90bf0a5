"""The Recall screen driven as a person drives it, on real stores."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from memtui.engine import Engine, MemtuiError, changes, open_engine
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.dialogs.correct_answer import CorrectAnswer
from memtui.tui.dialogs.stage_ledger import StageLedger
from memtui.tui.messages import AskRecall
from memtui.tui.screens.browse.screen import BrowseScreen
from memtui.tui.screens.recall.screen import RecallScreen
from memtui.tui.widgets.dropped_list import DroppedList
from memtui.tui.widgets.question_line import QuestionLine
from memtui.tui.widgets.result_list import ResultList
from memtui.tui.widgets.row_list import RowList
from memtui.tui.widgets.stage_table import StageTable
from tests.conftest import NOW_MS
from tests.tui.driving import (
    SIZES,
    check_golden,
    press,
    running,
    screen_text,
    settle,
    type_text,
    until,
)
from tests.tui.previews import tells_consequences
from tests.tui.recalling import QUESTION, Wrapped, panels, recalling


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_a_question_is_answered_and_taken_apart(demo_engine: Engine, size: tuple[int, int]) -> None:
    async with recalling(demo_engine, size) as (app, _pilot, screen):
        text = screen_text(app)
        trace = screen.state.trace
        assert trace is not None
        assert trace.results
        assert "2222" in text or size[0] == 80
        assert "▌ 1 ◆ fact SSH to the bastion" in text
        assert "✓ verified" in text
        assert "two memories disagree" in text or "rerank: no API key" in text
        assert "fusion" in text or "fuse+min" in text
        final = f"{trace.results[0].score:.3f}".lstrip("0")
        assert (
            f"= {final}" in text if size[0] == 80 else f"final          {final}" in text.replace("  .", "  .")
        )
        assert isinstance(app.focused, ResultList)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_the_screen_looks_as_it_was_approved(demo_engine: Engine, size: tuple[int, int]) -> None:
    async with recalling(demo_engine, size, query="what is the deploy window on friday") as (
        app,
        pilot,
        _screen,
    ):
        check_golden(f"recall-{size[0]}x{size[1]}", panels(app))
        await press(pilot, "j", "v")
        check_golden(f"recall-missing-{size[0]}x{size[1]}", panels(app))
        await press(pilot, "enter")
        check_golden(f"recall-ledger-{size[0]}x{size[1]}", panels(app))


async def test_the_cursor_takes_another_result_apart_without_asking_again(demo_engine: Engine) -> None:
    engine = Wrapped(demo_engine)
    async with recalling(engine) as (app, pilot, screen):
        first = screen.state.selected
        await press(pilot, "j")
        assert screen.state.selected != first
        assert "Why #2" in screen_text(app)
        await press(pilot, "left_square_bracket")
        assert screen.state.selected == first
        await press(pilot, "G")
        assert f"{len(screen.state.trace.results)} / {len(screen.state.trace.results)}" in screen_text(app)  # type: ignore[union-attr]
        assert len(engine.asked) == 1


async def test_what_is_missing_is_one_key_away_with_its_reason(demo_engine: Engine) -> None:
    async with recalling(demo_engine) as (app, pilot, screen):
        await press(pilot, "v")
        text = screen_text(app)
        assert "MIN + WINDOW  outside the rerank window" in text
        assert "place 13 > 12" in text
        assert isinstance(app.focused, DroppedList)
        assert "Why not" in text
        chosen = screen.state.selected
        assert all(result.id != chosen for result in screen.state.trace.results)  # type: ignore[union-attr]
        await press(pilot, "escape")
        assert "Results" in screen_text(app)
        assert isinstance(app.focused, ResultList)
        assert screen.state.selected == screen.query_one(ResultList).key


async def test_enter_on_a_stage_shows_whom_it_dropped(demo_engine: Engine) -> None:
    async with recalling(demo_engine) as (app, pilot, screen):
        table = screen.query_one(StageTable)
        table.focus()
        await press(pilot, *["j"] * 4)
        assert table.key == "rerank_input"
        assert "minimum .300, the first 12 go to the re" in screen_text(app)
        await press(pilot, "enter")
        assert isinstance(app.focused, DroppedList)
        candidate = next(c for c in screen.state.trace.candidates if c.id == screen.state.selected)  # type: ignore[union-attr]
        assert candidate.disposition == "rerank_input"


@pytest.mark.slow
async def test_stages_fill_in_while_it_runs_and_the_old_answer_stays(demo_engine: Engine) -> None:
    engine = Wrapped(demo_engine)
    async with recalling(engine) as (app, pilot, screen):
        engine.gate = threading.Event()
        await pilot.press("ctrl+r")
        await until(pilot, lambda: any(stage.name == "fused" for stage in screen.state.stages))
        await pilot.pause()
        text = screen_text(app)
        assert "asking" in text
        assert "▌ 1 ◆ fact SSH to the bastion" in text
        assert screen.has_class("-stale")
        engine.gate.set()
        await settle(pilot)
        assert screen.state.phase == "done"
        assert not screen.has_class("-stale")


async def test_escape_stops_a_running_recall(demo_engine: Engine) -> None:
    engine = Wrapped(demo_engine, gate=threading.Event())
    async with recalling(engine, query="") as (app, pilot, screen):
        await type_text(pilot, QUESTION)
        await pilot.press("enter")
        await until(pilot, lambda: bool(screen.state.stages))
        await pilot.press("escape")
        engine.gate.set()  # type: ignore[union-attr]
        await settle(pilot)
        assert screen.state.phase == "idle"
        assert screen.state.trace is None
        assert "stopped" in screen_text(app)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_a_failure_is_said_in_the_result_panel_with_the_next_step(
    demo_engine: Engine, size: tuple[int, int]
) -> None:
    engine = Wrapped(demo_engine, error=MemtuiError("Both searches [/failed].", fix="Run `memtui stats`."))
    async with recalling(engine, size) as (app, pilot, screen):
        text = screen_text(app)
        for words in (
            "! This recall failed.",
            "Both searches [/failed].",
            "Run `memtui stats`.",
            "try again",
        ):
            assert words in text
        engine.error = None
        await press(pilot, "enter")
        assert screen.state.phase == "done"
        assert "✓ verified" in screen_text(app)


async def test_without_a_store_it_says_why_and_a_question_waits_for_nothing() -> None:
    broken = MemtuiError("There is no store at /nowhere.", fix="Give another folder.")
    async with running(broken) as (app, pilot):
        await press(pilot, "3")
        text = screen_text(app)
        assert "There is no store at /nowhere." in text
        assert "Give another folder." in text
        await type_text(pilot, "anything")
        await press(pilot, "enter")
        assert "No store is open." in screen_text(app)


async def test_an_unforeseen_error_is_a_sentence_too(demo_engine: Engine) -> None:
    async with recalling(Wrapped(demo_engine, error=ZeroDivisionError("by zero"))) as (app, _pilot, _screen):
        assert "ZeroDivisionError: by zero" in screen_text(app)


async def test_without_an_embedder_keywords_answer_and_the_stages_say_why(keyword_engine: Engine) -> None:
    async with recalling(keyword_engine, query="what do we know about kafka brokers") as (
        app,
        _pilot,
        screen,
    ):
        text = screen_text(app)
        assert screen.state.trace.mode == "keyword"  # type: ignore[union-attr]
        assert "not asked" in text
        assert "! keyword only:" in text
        assert "✓ verified" in text


async def test_a_greeting_tells_that_the_agent_would_not_ask(demo_engine: Engine) -> None:
    async with recalling(demo_engine, query="hello bastion") as (app, pilot, screen):
        text = screen_text(app)
        assert "The agent would not have asked this." in text
        await press(pilot, "enter")
        assert screen.state.form.recipe == "pro/tool"
        assert screen.state.trace.results  # type: ignore[union-attr]


async def test_a_tag_nobody_carries_finds_nothing_and_says_how_it_searched(demo_engine: Engine) -> None:
    async with recalling(demo_engine, query="what about proj:nowhere-at-all") as (app, _pilot, _screen):
        assert "by tag only" in screen_text(app)


@pytest.mark.slow
async def test_up_and_down_walk_through_the_questions(demo_engine: Engine) -> None:
    async with recalling(demo_engine, query="first bastion question") as (_app, pilot, screen):
        line = screen.query_one(QuestionLine)
        await press(pilot, "slash", "end", "ctrl+u")
        await type_text(pilot, "bastion port")
        await press(pilot, "enter")
        assert screen.state.trace.query == "bastion port"  # type: ignore[union-attr]
        await press(pilot, "slash", "end", "ctrl+u")
        await type_text(pilot, "half")
        await press(pilot, "up")
        assert line.value == "bastion port"
        await press(pilot, "up")
        assert line.value == "first bastion question"
        await press(pilot, "down", "down")
        assert line.value == "half"


async def test_a_question_from_another_screen_runs_here(demo_engine: Engine) -> None:
    async with running(demo_engine) as (app, pilot):
        app.post_message(AskRecall("bastion\nport"))
        await until(pilot, lambda: isinstance(app.screen, RecallScreen) and app.screen.state.phase == "done")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, RecallScreen)
        assert screen.state.trace.query == "bastion\nport"  # type: ignore[union-attr]
        assert screen.query_one(QuestionLine).value == "bastion port"
        await press(pilot, "b")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))


async def test_zoom_gives_the_focused_panel_the_screen(demo_engine: Engine) -> None:
    async with recalling(demo_engine) as (app, pilot, screen):
        await press(pilot, "z")
        assert "Stages" not in screen_text(app)
        assert screen.query_one("#results").outer_size.height > 25
        await press(pilot, "escape")
        assert "Stages" in screen_text(app)


async def test_every_list_has_the_keys_of_a_list(demo_engine: Engine) -> None:
    async with recalling(demo_engine) as (_app, _pilot, screen):
        for rows in screen.query(RowList):
            assert {"rows.down", "rows.up", "rows.first", "rows.last"} <= {
                binding.id for bindings in rows._bindings.key_to_bindings.values() for binding in bindings
            }


@pytest.mark.slow
async def test_the_answer_says_when_the_store_has_moved_on(demo_store: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(demo_store, tmp_path / "store"))
    engine = open_engine(
        folder, now=lambda: NOW_MS, environ={}, cwd=tmp_path, writable=True, state=tmp_path / "state"
    )
    engine.load_catalog()
    engine.load_metadata()
    async with recalling(engine) as (app, pilot, screen):
        assert screen.state.trace is not None
        before = screen.state.trace.table_version
        changes.apply(
            engine, changes.plan_edit(engine, [screen.state.trace.returned[0]], {"importance": "0.1"})
        )
        engine.refresh()
        app.set_session(info=engine.info)
        await settle(pilot)
        said = f"v{engine.info.version} now, this answer is of v{before}"
        assert said in screen_text(app)
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: screen.state.trace.table_version == engine.info.version)
        await settle(pilot)
        assert said not in screen_text(app)


async def test_an_answer_that_is_being_replaced_is_labelled_with_its_recipe(demo_engine: Engine) -> None:
    async with recalling(demo_engine) as (app, pilot, screen):
        screen.state = replace(screen.state, phase="running")
        await pilot.pause()
        assert "still of pro/agent, the answer before" in screen_text(app)
        screen.action_explain()
        await settle(pilot)
        assert isinstance(app.screen, StageLedger)
        assert "pro/agent, the answer before:" in screen_text(app)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_two_memories_that_disagree_are_told_unasked_and_mended_by_one_key(
    demo_store: Path, tmp_path: Path, size: tuple[int, int]
) -> None:
    folder = Path(shutil.copytree(demo_store, tmp_path / "store"))
    engine = open_engine(
        folder, now=lambda: NOW_MS, environ={}, cwd=tmp_path, writable=True, state=tmp_path / "state"
    )
    engine.load_catalog()
    engine.load_metadata()
    async with recalling(engine, size) as (app, pilot, screen):
        await until(pilot, lambda: bool(screen.state.radar))
        await settle(pilot)
        assert "two memories disagree" in screen_text(app)
        found = screen.state.radar[0]
        assert (found.value, found.newer_value) == ("2222", "48022")
        screen.query_one(ResultList).focus()
        await press(pilot, "f")
        await until(pilot, lambda: isinstance(app.screen, CorrectAnswer))
        await settle(pilot)
        text = screen_text(app)
        assert "RETURNED, #1" in text
        assert "CORRECT MEMORY" in text
        assert "WHY NOT" in text
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        plan = app.screen.plan
        await settle(pilot)
        tells_consequences(app, "correct")
        assert {each.id for each in plan.changes} == {found.recalled, found.newer}
