"""Why not, driven as a person drives it: pick a memory, see its gate, try the change or make it."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from memtui.engine import CancelToken, Engine, Progress, RecallRequest, explain, open_engine
from memtui.engine.explain import Verdict, check_name
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.dialogs.choose_memory import MemoryPick
from memtui.tui.messages import AskRecall
from memtui.tui.paint.glyphs import UNICODE
from memtui.tui.screens.browse.screen import BrowseScreen
from memtui.tui.screens.recall.screen import RecallScreen
from memtui.tui.screens.whatif.screen import WhatIfScreen
from memtui.tui.screens.whynot.screen import ChangeRows, WhyNotScreen
from memtui.tui.screens.whynot.view import ladder_rows
from tests.conftest import NOW_MS
from tests.engine.planted import TARGET, healthy
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
from tests.tui.recalling import panels, recalling
from tests.tui.test_recall_hostile import printable

DEPLOY = "what is the deploy window on friday"


@asynccontextmanager
async def asking_why(
    engine: Any, size: tuple[int, int] = (120, 36), query: str = DEPLOY, words: str = "tabby cat"
) -> AsyncIterator[tuple[MemtuiApp, Pilot[None], WhyNotScreen]]:
    """The app on Why not, for the first memory that has these words."""
    async with recalling(engine, size, query=query) as (app, pilot, _screen):
        await press(pilot, "W")
        assert isinstance(app.screen, MemoryPick)
        await type_text(pilot, words)
        await settle(pilot)
        await press(pilot, "enter")
        assert isinstance(app.screen, WhyNotScreen)
        await until(pilot, lambda: app.screen.state.phase != "searching")  # type: ignore[attr-defined]
        await settle(pilot)
        yield app, pilot, app.screen


@asynccontextmanager
async def missing(
    tmp_path: Path, state: str, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[tuple[MemtuiApp, Pilot[None], RecallScreen, Engine]]:
    """The app on Recall, after a question that `TARGET` would answer but for its state; open for writing."""
    world = healthy(3)
    world.change(metadata={"state": state})
    folder = world.write(tmp_path / "store")
    engine = open_engine(
        folder, now=lambda: NOW_MS, environ={}, cwd=folder, writable=True, state=tmp_path / "state"
    )
    asked = world.ask(recipe="pro/agent")
    async with running(engine, size) as (app, pilot):
        await press(pilot, "3")
        recall = app.screen
        assert isinstance(recall, RecallScreen)
        recall.choose(recipe="pro/agent", query=asked.query, tried=(("query_vector", asked.query_vector),))
        recall.ask_again()
        await settle(pilot)
        yield app, pilot, recall, engine


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_the_screen_looks_as_it_was_approved(demo_engine: Engine, size: tuple[int, int]) -> None:
    async with recalling(demo_engine, size, query=DEPLOY) as (app, pilot, _screen):
        await press(pilot, "v", "G", "W")  # the last of the dropped ones
        assert isinstance(app.screen, WhyNotScreen)
        await until(pilot, lambda: app.screen.state.phase == "done")  # type: ignore[attr-defined]
        await settle(pilot)
        check_golden(f"whynot-{size[0]}x{size[1]}", panels(app))


@pytest.mark.slow
async def test_a_memory_that_no_search_found_is_asked_about_by_its_words(demo_engine: Engine) -> None:
    async with asking_why(demo_engine, words="bastion-1.fernhill") as (app, pilot, screen):
        verdict = screen.state.verdict
        assert verdict is not None
        assert verdict.gate == "candidate_pool"
        text = screen_text(app)
        assert "It never became a candidate. By vector it is number" in text
        assert "✗ candidate pool" in text
        assert "NO EFFECT ON THEIR OWN" in text
        assert "the store clamps the pool at 20" in text
        await press(pilot, "slash")
        assert isinstance(app.screen, MemoryPick)
        await type_text(pilot, screen.state.trace.returned[0][:8])  # the beginning of an id
        await settle(pilot)
        await press(pilot, "enter")
        await until(pilot, lambda: screen.state.phase == "done")
        await settle(pilot)
        assert "It came back, number 1." in screen_text(app)
        assert "found by meaning" in screen_text(app)


@pytest.mark.slow
async def test_a_proposed_setting_is_tried_in_what_if_and_taken_along(demo_engine: Engine) -> None:
    async with recalling(demo_engine, query=DEPLOY) as (app, pilot, recall):
        trace = recall.state.trace
        assert trace is not None
        cut = next(c.id for c in trace.candidates if c.reason == "limit")
        recall.explore.why_not_of(cut)
        await settle(pilot)
        why = app.screen
        assert isinstance(why, WhyNotScreen)
        await until(pilot, lambda: why.state.phase == "done")
        await settle(pilot)
        rows = why.query_one(ChangeRows)
        change = why.state.change_of["limit"]
        assert "✓ confirmed" in screen_text(app)
        rows.choose("change:limit")
        await press(pilot, "enter")
        assert isinstance(app.screen, WhatIfScreen)
        assert app.screen.state.tried == {"limit": change.after}
        assert cut in app.screen.state.trace.returned  # type: ignore[union-attr]
        await press(pilot, "escape")
        assert app.screen is recall
        assert recall.state.form.limit == change.after
        assert cut in recall.state.trace.returned  # type: ignore[union-attr]


async def test_a_change_of_the_memory_is_looked_at_made_and_asked_again(tmp_path: Path) -> None:
    async with missing(tmp_path, "archived") as (app, pilot, recall, engine):
        await press(pilot, "2")
        assert isinstance(app.screen, BrowseScreen)
        await press(pilot, "slash")
        await type_text(pilot, f"id:{TARGET}")
        await press(pilot, "enter", "W")  # from Browse: why does this not come back for the last question?
        why = app.screen
        assert isinstance(why, WhyNotScreen)
        await until(pilot, lambda: why.state.phase == "done")
        assert why.state.verdict is not None
        assert why.state.verdict.gate == "state"
        why.query_one(ChangeRows).choose("change:memory.state")
        await press(pilot, "enter")
        tells_consequences(app, "a change that brings it back")
        await press(pilot, "enter")
        await until(pilot, lambda: why.state.verdict is not None and why.state.verdict.returned)
        assert engine.get(TARGET).state == "confirmed"
        assert "It came back" in screen_text(app)
        await press(pilot, "escape")
        assert app.screen is recall


@pytest.mark.slow
async def test_a_remedy_on_the_memory_is_looked_for_and_staged_by_one_key(tmp_path: Path) -> None:
    async with missing(tmp_path, "pending", (80, 24)) as (app, pilot, recall, engine):
        recall.explore.why_not_of(TARGET)
        await settle(pilot)
        why = app.screen
        assert isinstance(why, WhyNotScreen)
        await until(pilot, lambda: why.state.phase == "done")
        await settle(pilot)
        assert "f finds memory changes that bring it back" in screen_text(app)
        await press(pilot, "f")
        await until(pilot, lambda: why.state.remedies is not None)
        await settle(pilot)
        found = why.state.remedies
        assert found
        assert found[0].name == "confirm"
        assert "confirm it" in screen_text(app)
        assert f"to number {found[0].rank}" in screen_text(app)
        assert "risk 0 of 4" in screen_text(app)
        await press(pilot, "f")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        await settle(pilot)
        tells_consequences(app, "a remedy")
        assert engine.get(TARGET).state == "pending"
        await press(pilot, "enter")
        await until(pilot, lambda: why.state.verdict is not None and why.state.verdict.returned)
        assert engine.get(TARGET).state == "confirmed"
        assert why.state.remedies is None  # they were of the answer before


@pytest.mark.slow
async def test_escape_stops_the_trying_of_remedies(
    demo_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, looked = explain.find_remedies, threading.Event()

    def endless(*given: Any, cancel: CancelToken, **more: Any) -> Any:
        """Tried until somebody stops it."""
        try:
            while True:
                whole(*given, cancel=cancel, **more)
        finally:
            looked.set()

    monkeypatch.setattr(explain, "find_remedies", endless)
    async with asking_why(demo_engine, words="bastion-1.fernhill") as (app, pilot, screen):
        await pilot.press("f")
        await until(pilot, lambda: screen.state.trying is not None)
        await pilot.press("escape")
        await until(pilot, looked.is_set)
        await settle(pilot)
        assert screen.state.trying is None
        assert screen.state.remedies is None
        assert app.screen is screen


@pytest.mark.slow
async def test_without_a_question_it_waits_for_one(demo_engine: Engine) -> None:
    async with running(demo_engine) as (app, pilot):
        await press(pilot, "2", "W")
        assert isinstance(app.screen, RecallScreen)
        assert "Ask a question" in screen_text(app)
        app.screen.ask(DEPLOY)
        await settle(pilot)
        assert isinstance(app.screen, WhyNotScreen)


class SlowSearch:
    """A search that tells of the ladder and then waits until it is asked to stop."""

    def __init__(self) -> None:
        self.whole, self.stopped = explain.why_not_in, threading.Event()

    def __call__(self, engine: Engine, trace: Any, id: str, **more: Any) -> Verdict:
        verdict = self.whole(engine, trace, id, changes=False)
        more["on_verdict"](verdict)
        more["on_progress"](Progress("looking", 3, 30, "knobs"))
        while True:
            try:
                more["cancel"].check()
            except BaseException:
                self.stopped.set()
                raise
            self.stopped.wait(0.005)


async def test_the_ladder_is_there_before_the_changes_and_escape_stops_their_search(
    demo_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = SlowSearch()
    monkeypatch.setattr(explain, "why_not_in", search)
    async with recalling(demo_engine, query=DEPLOY) as (app, pilot, recall):
        dropped = next(c.id for c in recall.state.trace.candidates if c.rank is None)  # type: ignore[union-attr]
        recall.explore.why_not_of(dropped)
        await until(
            pilot, lambda: isinstance(app.screen, WhyNotScreen) and app.screen.state.progress is not None
        )
        await pilot.pause()
        assert "✗" in screen_text(app)
        assert "searching: what helps is listed" in screen_text(app)
        await pilot.press("escape")
        await until(pilot, search.stopped.is_set)
        await settle(pilot)
        assert "stopped" in screen_text(app)
        await press(pilot, "escape")
        assert isinstance(app.screen, RecallScreen)


@pytest.mark.slow
async def test_every_gate_is_on_the_ladder_at_any_size(demo_engine: Engine) -> None:
    async with asking_why(demo_engine, words="bastion-1.fernhill") as (_app, _pilot, screen):
        verdict = screen.state.verdict
        assert verdict is not None
        for width in (40, 56, 80, 120):
            for height in (6, 14, 30, 80):
                rows = ladder_rows(verdict, width, height, UNICODE)
                said = "\n".join(line.plain for row in rows for line in row.lines)
                assert "✗" in said
                assert all(line.cell_length <= width for row in rows for line in row.lines), (width, height)
                if height >= 30:
                    assert all(
                        check_name(rung.gate).split()[0] in said or rung.gate == "unknown_id"
                        for rung in verdict.ladder
                    )


async def test_what_stands_behind_the_gate_that_stopped_it_is_told_as_what_would_be(
    demo_engine: Engine,
) -> None:
    trace = demo_engine.recall(RecallRequest("which editor does someone of the team use", recipe="pro/agent"))
    hidden = "0ce92673-4883-5d2c-9c0e-f140fb53e47b"  # her allergy, in the scope user:ines
    verdict = explain.why_not_in(demo_engine, trace, hidden, changes=False)
    assert verdict.gate == "scope"
    for width, height in ((56, 8), (80, 30), (120, 60)):
        rows = ladder_rows(verdict, width, height, UNICODE)
        lines = [line.plain for row in rows for line in row.lines]
        heading = next(n for n, line in enumerate(lines) if line.strip() == "WITHOUT THE FAILED CHECK")
        assert "✗ scope" in "\n".join(lines[:heading])
        assert "candidate pool" not in "\n".join(lines[:heading])
        assert any("candidate pool" in line or "would pass" in line for line in lines[heading:])
        assert "not known" in lines[-1] or "prompt chars" in "".join(lines[-3:])


@pytest.mark.slow
async def test_hostile_memories_are_looked_into_harmlessly(keyword_engine: Engine) -> None:
    async with recalling(
        keyword_engine, (80, 24), query="what do we know about kafka [/x] \x1b[2J", recipe="pro/tool"
    ) as (app, pilot, recall):
        trace = recall.state.trace
        assert trace is not None
        for candidate in trace.candidates:
            recall.explore.why_not_of(candidate.id)
            await settle(pilot)
            why = app.screen
            assert isinstance(why, WhyNotScreen)
            await until(pilot, lambda: why.state.phase in ("done", "failed"))  # noqa: B023
            assert why.state.error is None
            assert printable(screen_text(app))
            await press(pilot, "escape")
        await press(pilot, "W")
        assert isinstance(app.screen, MemoryPick)
        assert printable(screen_text(app))
        for words in ('[/oops] "', "tier:nonsense", "/(a+)+$/", "x'); --"):
            await type_text(pilot, words)
            await settle(pilot)
            assert printable(screen_text(app))
            await pilot.press("ctrl+u")
        await press(pilot, "escape", "p")
        assert isinstance(app.screen, WhatIfScreen)
        assert printable(screen_text(app))


async def test_a_question_from_elsewhere_ends_on_its_answer_whatever_was_wished_before(keyword_engine):
    async with running(keyword_engine) as (app, pilot):
        await press(pilot, "2", "W")  # nothing was asked yet: the memory waits for a question
        await until(pilot, lambda: "Ask a question: then you see why" in screen_text(app))
        await press(pilot, "escape", "1")
        app.post_message(AskRecall("kafka"))
        await until(pilot, lambda: app.current_mode == "recall" and app.screen.state.trace is not None)
        await settle(pilot)
        assert not isinstance(app.screen, WhyNotScreen)
        assert app.screen.state.trace is not None
