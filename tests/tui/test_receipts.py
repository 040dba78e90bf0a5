"""Receipts, the history of questions, and what the agent would see, in the app."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from memtui.engine import Engine, RecallRequest, UsageError, explain
from memtui.engine.explain import PromptBlockSettings
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.find_list import FindList, ItemRows
from memtui.tui.dialogs.sheet import Sheet
from memtui.tui.paint.glyphs import UNICODE
from memtui.tui.screens.compare.screen import CompareScreen
from memtui.tui.screens.recall.prompt_block import PromptBlockDialog, injected_rows
from memtui.tui.screens.recall.receipts import file_name
from memtui.tui.widgets.screen_bars import FlashLine
from tests.conftest import NOW_MS
from tests.tui.driving import SIZES, check_golden, press, screen_text
from tests.tui.recalling import QUESTION, panels, recalling


async def fill_in(pilot: Pilot[None], text: str) -> None:
    pilot.app.screen.query_one(Input).value = text
    await press(pilot, "enter")


def said(app: MemtuiApp) -> str:
    return app.screen_stack[0].query_one(FlashLine).text


@pytest.mark.slow
async def test_a_receipt_is_saved_with_and_without_words_and_replays_as_it_was(
    demo_engine: Engine, tmp_path: Path
) -> None:
    path, bare = tmp_path / "mine.json", tmp_path / "bare.json"
    async with recalling(demo_engine) as (app, pilot, _):

        async def replay(of: Path) -> str:
            await press(pilot, "x", "r")
            await fill_in(pilot, str(of))
            text = screen_text(app)
            if isinstance(app.screen, Sheet):
                await press(pilot, "escape")
            return text

        await press(pilot, "x", "s")
        await fill_in(pilot, str(path))
        assert f"saved {path}" in said(app)
        assert json.loads(path.read_text())["trace"]["query"] == QUESTION
        await press(pilot, "x", "s")
        await fill_in(pilot, str(path))
        assert "exists already" in said(app)
        assert "It comes out as it did." in await replay(path)
        await press(pilot, "x", "n")
        await fill_in(pilot, str(bare))
        assert "bastion" not in bare.read_text()
        assert "2222" not in bare.read_text()
        assert "holds no texts" in await replay(bare)
        document: dict[str, Any] = json.loads(path.read_text())
        for each in (*document["trace"]["candidates"], *document["trace"]["results"]):
            each["id"] = "x" + each["id"][1:-1] + "z"
        for content, words in (
            (None, "cannot be read"),
            ("{", "not JSON"),
            ('{"schema": "memtui.receipt.v9"}', "v9"),
            (json.dumps(document), "it is of another store"),
        ):
            other = tmp_path / "other.json"
            if content is not None:
                other.write_text(content)
            await replay(other)
            assert words in said(app)


async def test_differences_are_listed_and_shown_beside_the_answer_of_now(
    demo_engine: Engine, tmp_path: Path
) -> None:
    trace = demo_engine.recall(RecallRequest(QUESTION, recipe="pro/agent"))
    document = explain.receipt(demo_engine, trace)
    document["trace"]["candidates"][0]["score"] = 0.5
    path = tmp_path / "other.json"
    path.write_text(json.dumps(document))
    async with recalling(demo_engine, query="") as (app, pilot, _):
        await press(pilot, "escape", "x")
        assert "save without texts" not in screen_text(app)  # nothing was asked yet
        await press(pilot, "r")
        await fill_in(pilot, str(path))
        text = screen_text(app)
        assert "It comes out differently." in text
        assert "SCORE" in text
        assert ".500000  now" in text
        await press(pilot, "escape", "x", "o")
        await fill_in(pilot, str(path))
        assert isinstance(app.screen, CompareScreen)
        assert "A receipt other.json" in screen_text(app)


def test_a_proposed_name_is_not_taken(tmp_path: Path) -> None:
    first = file_name(NOW_MS, tmp_path)
    assert first.name == "memtui-recall-2026-09-01.json"
    first.touch()
    assert file_name(NOW_MS, tmp_path).name == "memtui-recall-2026-09-01-2.json"


@pytest.mark.slow
async def test_questions_are_kept_searched_asked_again_and_forgotten(demo_engine: Engine) -> None:
    async with recalling(demo_engine) as (app, pilot, screen):
        screen.choose(run=False, recipe="pro/tool", scopes=("global",))
        screen.ask("where are the backups")
        await press(pilot)
        screen.choose(run=False, recipe="memtui", scopes=None)
        await press(pilot, "H")
        assert isinstance(app.screen, FindList)
        text = screen_text(app)
        assert QUESTION in text
        assert text.index("where are the backups") < text.index(QUESTION)
        await fill_in(pilot, "backups tool")
        form = screen.state.form
        assert (form.query, form.recipe, form.scopes) == ("where are the backups", "pro/tool", ("global",))
        assert screen.state.trace is not None
        assert screen.state.trace.query == "where are the backups"
        await press(pilot, "H")
        await fill_in(pilot, "clear history")
        assert "forgotten" in said(app)
        await press(pilot, "H")
        assert "Nothing was asked of this store yet." in screen_text(app)
        await press(pilot, "escape")
        screen.ask("is sk-proj-abcdefghijklmnopqrstuvwx1234567890 the key")
        await press(pilot)
        await press(pilot, "H")
        (kept, _) = app.screen.query_one(ItemRows).items
        assert kept.label.startswith("is ")
        assert "abcdefghijklmnop" not in kept.label  # a secret is not kept


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_what_the_agent_sees_looks_as_it_was_approved(
    demo_engine: Engine, size: tuple[int, int]
) -> None:
    async with recalling(demo_engine, size) as (app, pilot, _):
        await press(pilot, "I")
        await press(pilot, "v")
        check_golden(f"injected-{size[0]}x{size[1]}", panels(app))


@pytest.mark.slow
async def test_the_block_follows_the_settings_and_marks_what_is_cut(
    demo_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[str] = []
    monkeypatch.setattr(MemtuiApp, "copy", lambda self, text, what: copied.append(text))
    async with recalling(demo_engine) as (app, pilot, screen):
        await press(pilot, "I")
        view = app.screen
        assert isinstance(view, PromptBlockDialog)
        assert view.found is not None
        assert f"about {view.found.tokens} tokens" in screen_text(app)
        assert "LEFT OUT" in screen_text(app)
        await press(pilot, "y")
        assert copied == [view.found.block]
        await press(pilot, "plus", "plus")
        await press(pilot, "less_than_sign", "less_than_sign", "less_than_sign")
        assert (view.settings.max_items, view.settings.max_chars) == (5, 300)
        assert view.found.chars <= 300
        assert "characters cut" in screen_text(app)
        await press(pilot, "v", "v", "v")
        assert "Nothing is injected: recallMode is off." in screen_text(app)
        await press(pilot, "escape")
        screen.choose(recipe="memtui")
        await press(pilot)
        await press(pilot, "I")
        assert "memtui itself injects nothing" in screen_text(app)
        assert "<relevant-memories>" in screen_text(app)
        await press(pilot, "escape")
        screen.choose(recipe="mem-engine")
        await press(pilot)
        await press(pilot, "I")
        assert "Only mem-engine's hook puts memories into the prompt." in screen_text(app)


async def test_every_cut_character_is_counted_on_the_screen(demo_engine: Engine) -> None:
    trace = demo_engine.recall(RecallRequest(QUESTION, recipe="pro/agent"))
    found = explain.injected(trace, PromptBlockSettings(per_item_chars=40))
    cut = [part for part in found.parts if part.line and part.cut]
    assert cut
    text = "\n".join(line.plain for row in injected_rows(found, {}, 100, UNICODE) for line in row.lines)
    for part in cut:
        assert f"{part.cut} characters cut" in text


def test_the_block_of_mem_engine_is_the_one_that_its_hook_packs(demo_engine: Engine) -> None:
    trace = demo_engine.recall(RecallRequest(QUESTION, recipe="mem-engine", source="auto-recall"))
    found = explain.injected(trace)
    assert found.block == trace.extra["injected"]["text"]
    assert [part.id for part in found.parts if part.line] == trace.extra["injected"]["memories"]
    assert all(part.line in found.block for part in found.parts)
    assert found.budget == 1800
    asked = demo_engine.recall(RecallRequest(QUESTION, recipe="mem-engine"))
    with pytest.raises(UsageError, match="Only mem-engine's hook"):
        explain.injected(asked)
