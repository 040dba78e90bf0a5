"""A wrong answer, walked as a person walks it: the sentence, its turn, the suspects, and what each key does."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from memtui.engine import CancelToken, Engine, MemtuiError, UsageError, open_engine
from memtui.engine import blame as engine_blame
from memtui.engine.cases import CaseBook
from memtui.paths import cases_file
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.dialogs.choose_memory import MemoryPick
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.messages import OpenBlame
from memtui.tui.screens.audit.screen import AuditScreen
from memtui.tui.screens.blame.screen import BlameScreen
from memtui.tui.screens.browse.edit_form import EditForm
from memtui.tui.screens.browse.screen import BrowseScreen
from memtui.tui.screens.recall.screen import RecallScreen
from memtui.tui.screens.whynot.screen import WhyNotScreen
from memtui.tui.widgets.state_panel import StatePanel
from tests.conftest import NOW_MS, tree_hash
from tests.quality.blame.planted import Family, PlantedTurn, families, write_home, write_store
from tests.tui.driving import (
    EACH_SIZE,
    check_golden,
    press,
    running,
    screen_text,
    settle,
    type_text,
    until,
)
from tests.tui.previews import tells_consequences

KITCHEN = next(family for family in families() if family.agent == "kitchen")

SAID = "Set the deck to two hundred and eighty"


def turn_of(family: Family, sentence: str) -> PlantedTurn:
    return next(turn for turn in family.turns if sentence in turn.sentence)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write_home([KITCHEN], tmp_path / "home")
    write_store([KITCHEN], tmp_path / "store")
    return tmp_path


def opened(place: Path) -> Engine:
    environ = {"HOME": str(place / "home")}
    return open_engine(
        place / "store",
        now=lambda: NOW_MS,
        environ=environ,
        cwd=place,
        writable=True,
        state=place / "state",
    )


@asynccontextmanager
async def blaming(
    place: Path, sentence: str = SAID, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[tuple[MemtuiApp, Pilot[None], BlameScreen]]:
    """The app on the cause of a sentence, asked on Home."""
    async with running(opened(place), size) as (app, pilot):
        await press(pilot, "exclamation_mark")
        assert isinstance(app.screen, TextPrompt)
        await type_text(pilot, sentence)
        await press(pilot, "enter")
        assert isinstance(app.screen, BlameScreen)
        await settle(pilot)
        yield app, pilot, app.screen


def memory(key: str) -> str:
    return KITCHEN.memories[key].id


@pytest.mark.parametrize("size", EACH_SIZE)
async def test_the_turn_the_suspects_and_the_right_memory_are_seen(
    place: Path, size: tuple[int, int]
) -> None:
    before = tree_hash(place / "store")
    async with blaming(place, size=size) as (app, pilot, screen):
        found = screen.state.found
        assert found is not None
        assert found.verdict == "memory"
        text = screen_text(app)
        for words in (
            SAID,
            f"turn 1 of {KITCHEN.session[:8]}",
            "probably caused it",
            "shares two hundred",
            "WOULD HAVE BEEN RIGHT",
        ):
            assert words in text, f"{words}\n{text}"
        check_golden(f"blame-{size[0]}x{size[1]}", text)
        await press(pilot, "z")
        assert screen.state.zoom == "suspects"
        await press(pilot, "escape", "escape")
        assert app.screen.MODE == "home"
    assert tree_hash(place / "store") == before


async def test_where_a_suspect_came_from_is_said(place: Path) -> None:
    async with blaming(place) as (app, _, screen):
        assert screen.state.suspect is not None
        steps = screen.state.suspect.came_from
        assert steps
        assert "WHERE IT CAME FROM" in screen_text(app)
        assert steps[0].said.split()[0] in screen_text(app)


async def test_the_cursor_goes_from_the_suspects_to_what_would_have_been_right(place: Path) -> None:
    async with blaming(place) as (app, pilot, screen):
        assert screen.state.memory == memory("oven-old")
        await press(pilot, "tab")
        while screen.state.memory == memory("oven-old"):
            await press(pilot, "tab")
        assert screen.state.memory == memory("oven-new")
        text = screen_text(app)
        assert "WHY IT DID NOT COME" in text
        await press(pilot, "b")
        assert isinstance(app.screen, BrowseScreen)


async def test_the_right_memory_supersedes_the_suspect_and_undo_brings_it_back(place: Path) -> None:
    async with blaming(place) as (app, pilot, screen):
        await press(pilot, "f")
        assert isinstance(app.screen, ChangePreview)
        tells_consequences(app)
        await press(pilot, "enter")
        await settle(pilot)
        assert app.screen is screen
        engine = screen.session.engine
        assert engine is not None
        assert engine.get(memory("oven-old")).superseded_by == memory("oven-new")
        await press(pilot, "u")
        assert isinstance(app.screen, ChangePreview)
        await press(pilot, "enter")
        await settle(pilot)
        assert engine.get(memory("oven-old")).superseded_by is None


async def test_without_a_right_memory_one_is_picked(place: Path) -> None:
    turn = next(turn for turn in KITCHEN.turns if turn.guilty and not turn.missing)
    async with blaming(place, turn.sentence) as (app, pilot, screen):
        assert screen.state.found is not None
        assert not screen.state.found.missing
        await press(pilot, "f")
        assert isinstance(app.screen, MemoryPick)
        await press(pilot, "escape")
        assert app.screen is screen


async def test_a_suspect_is_edited_and_forgotten_by_the_keys_of_browse(place: Path) -> None:
    async with blaming(place) as (app, pilot, screen):
        await press(pilot, "e")
        await settle(pilot)
        assert isinstance(app.screen, EditForm)
        await press(pilot, "escape")
        assert app.screen is screen
        await press(pilot, "D", "a")
        await settle(pilot)
        assert isinstance(app.screen, ChangePreview)
        await press(pilot, "enter")
        await settle(pilot)
        assert app.screen is screen
        engine = screen.session.engine
        assert engine is not None
        assert engine.get(memory("oven-old")).state == "archived"


async def test_a_case_of_the_question_expects_the_right_memory(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(place / "state"))
    async with blaming(place) as (app, pilot, screen):
        await press(pilot, "E")
        await settle(pilot)
        assert "1 memory expected" in screen_text(app)
        engine = screen.session.engine
        assert engine is not None
        [case] = CaseBook(cases_file(engine.info.uri)).cases()
        assert case.query == turn_of(KITCHEN, SAID).question
        assert case.expected == (memory("oven-new"),)
        assert case.rejected == (memory("oven-old"),)
        assert case.agent == "kitchen"
        await press(pilot, "E")  # once more: the same case
        await settle(pilot)
        assert len(CaseBook(cases_file(engine.info.uri)).cases()) == 1


async def test_why_the_right_memory_does_not_come_today(place: Path) -> None:
    async with blaming(place) as (app, pilot, screen):
        while screen.state.memory != memory("oven-new"):
            await press(pilot, "tab")
        await press(pilot, "W")
        await settle(pilot)
        assert isinstance(app.screen, WhyNotScreen)
        assert app.screen.state.memory_id == memory("oven-new")
        await press(pilot, "escape")
        assert app.screen is screen


@pytest.mark.parametrize(("key", "texts"), [("s", True), ("n", False)])
async def test_a_receipt_is_saved_with_every_text_or_with_none(place: Path, key: str, texts: bool) -> None:
    file = place / "receipt.json"
    async with blaming(place) as (app, pilot, _):
        await press(pilot, "x", key)
        app.screen.query_one(Input).value = str(file)
        await press(pilot, "enter")
        await settle(pilot)
        assert f"saved {file}"[:60] in screen_text(app)
        await press(pilot, "x", key)  # never over a file that is there
        app.screen.query_one(Input).value = str(file)
        await press(pilot, "enter")
        await settle(pilot)
        assert "exists already" in screen_text(app)
    written = file.read_text(encoding="utf-8")
    document = json.loads(written)
    assert document["verdict"] == "memory"
    assert document["suspects"][0]["id"] == memory("oven-old")
    assert (SAID in written) is texts
    assert (KITCHEN.memories["oven-old"].text in written) is texts
    assert (KITCHEN.memories["oven-new"].text in written) is texts


async def test_the_turn_under_the_cursor_of_audit_is_taken(place: Path) -> None:
    async with running(opened(place)) as (app, pilot):
        await press(pilot, "8")
        await settle(pilot)
        audit = app.screen
        assert isinstance(audit, AuditScreen)
        await press(pilot, "full_stop")
        await settle(pilot)
        chosen = audit.state.chosen
        assert chosen is not None
        await press(pilot, "exclamation_mark")
        assert isinstance(app.screen, TextPrompt)
        assert app.screen.query_one(Input).value.split() == chosen.turn.answer.split()
        await press(pilot, "enter")
        await settle(pilot)
        assert isinstance(app.screen, BlameScreen)
        found = app.screen.state.found
        assert found is not None
        assert found.turn is not None
        assert found.turn.replayed.turn.n == chosen.turn.n
        await press(pilot, "escape")
        assert app.screen is audit


async def test_recall_and_a_message_ask_too(place: Path) -> None:
    async with running(opened(place)) as (app, pilot):
        await press(pilot, "3", "escape", "exclamation_mark")
        assert isinstance(app.screen, TextPrompt)
        await press(pilot, "escape")
        assert isinstance(app.screen, RecallScreen)
        app.post_message(OpenBlame(SAID))
        await settle(pilot)
        assert isinstance(app.screen, BlameScreen)


@pytest.mark.parametrize("words", ["wrong answer", "blame", "why did it say", "hallucination"])
async def test_the_palette_finds_it(place: Path, words: str) -> None:
    async with running(opened(place)) as (app, pilot):
        await press(pilot, "2", "ctrl+p")
        await type_text(pilot, words)
        await settle(pilot)
        assert "Wrong answer" in screen_text(app), screen_text(app)


async def test_a_sentence_in_the_palette_is_judged(place: Path) -> None:
    async with running(opened(place)) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, f"why did it say {SAID}")
        await settle(pilot)
        assert "Wrong answer: Set the deck" in screen_text(app), screen_text(app)
        await press(pilot, "enter")
        await settle(pilot)
        assert isinstance(app.screen, BlameScreen)
        assert app.screen.state.sentence == SAID


async def test_none_of_these_is_an_answer(place: Path) -> None:
    turn = next(turn for turn in KITCHEN.turns if not turn.guilty and turn.told)
    async with blaming(place, turn.sentence) as (app, _, screen):
        assert screen.state.found is not None
        assert screen.state.found.verdict == "none"
        text = screen_text(app)
        assert "No memory of this turn caused this sentence." in text
        assert "none accused" in text


@pytest.mark.parametrize("size", EACH_SIZE)
async def test_where_nothing_says_it_there_are_words_and_a_way_on(place: Path, size: tuple[int, int]) -> None:
    async with blaming(place, "zyzzyva quokka", size=size) as (app, pilot, screen):
        assert screen.state.found is not None
        assert not screen.state.found.suspects
        text = screen_text(app)
        assert "No memory says anything of this sentence." in text
        assert "another sentence" in text
        assert app.screen.query_one(StatePanel).has_focus
        await press(pilot, "enter")
        assert isinstance(app.screen, TextPrompt)
        assert app.screen.query_one(Input).value == "zyzzyva quokka"
        app.screen.query_one(Input).value = SAID
        await press(pilot, "enter")
        await settle(pilot)
        assert "probably caused it" in screen_text(app)


async def test_nothing_blocks_while_it_is_looked_for(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go, found = threading.Event(), engine_blame.find_cause

    def slow(*given: Any, cancel: CancelToken, **options: Any) -> Any:
        while not go.wait(0.01):
            cancel.check()
        return found(*given, cancel=cancel, **options)

    monkeypatch.setattr(engine_blame, "find_cause", slow)
    async with running(opened(place)) as (app, pilot):
        app.post_message(OpenBlame(SAID))
        await until(pilot, lambda: isinstance(app.screen, BlameScreen))
        screen = app.screen
        assert isinstance(screen, BlameScreen)
        await until(pilot, lambda: "looking for the turn" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not screen)
        app.post_message(OpenBlame(SAID))
        await until(pilot, lambda: isinstance(app.screen, BlameScreen))
        go.set()
        await settle(pilot)
        assert "probably caused it" in screen_text(app)


async def test_a_failure_is_said_and_can_be_tried_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sound, failures = engine_blame.find_cause, [UsageError("The session is gone.", fix="Name another.")]

    def fails(*given: Any, **options: Any) -> Any:
        if failures:
            raise failures.pop()
        return sound(*given, **options)

    monkeypatch.setattr(engine_blame, "find_cause", fails)
    async with blaming(place) as (app, pilot, screen):
        assert isinstance(screen.state.error, MemtuiError)
        text = screen_text(app)
        assert "The cause could not be looked for." in text
        assert "The session is gone." in text
        await press(pilot, "enter")
        await settle(pilot)
        assert "probably caused it" in screen_text(app)
