"""What if, driven as a person drives it: sliders, flip points, clock, versions, agents, other questions' vectors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import lancedb
import pytest
from textual.pilot import Pilot

from memtui.engine import Engine, RecallRequest, explain
from memtui.tui.actions.table import load_keys
from memtui.tui.app import MemtuiApp
from memtui.tui.paint.glyphs import ASCII, UNICODE
from memtui.tui.screens.recall.screen import RecallScreen
from memtui.tui.screens.whatif import state as reduce
from memtui.tui.screens.whatif.screen import SettingRows, WhatIfScreen
from memtui.tui.screens.whatif.state import WhatIfState
from memtui.tui.screens.whatif.view import about, result_rows, slider_rows
from tests.conftest import NOW_MS, thinned
from tests.engine.pro_store import row, write_store
from tests.tui.conftest import _open
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
from tests.tui.recalling import Wrapped, panels, recalling

DEPLOY = "what is the deploy window on friday"


@asynccontextmanager
async def trying(
    engine: Any, size: tuple[int, int] = (120, 36), query: str = DEPLOY, recipe: str = "pro/agent"
) -> AsyncIterator[tuple[MemtuiApp, Pilot[None], WhatIfScreen]]:
    """The app on What if, the list and every flip point there."""
    async with recalling(engine, size, query=query, recipe=recipe) as (app, pilot, _screen):
        await press(pilot, "p")
        assert isinstance(app.screen, WhatIfScreen)
        yield app, pilot, app.screen


async def on(pilot: Pilot[None], screen: WhatIfScreen, path: str) -> None:
    """Put the cursor on a setting."""
    rows = screen.query_one(SettingRows)
    rows.focus()
    rows._go(path)
    await settle(pilot)
    assert screen.state.key == path


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_the_screen_looks_as_it_was_approved(demo_engine: Engine, size: tuple[int, int]) -> None:
    async with trying(demo_engine, size) as (app, pilot, screen):
        await on(pilot, screen, "retrieval.vectorWeight")
        await press(pilot, "shift+right")
        check_golden(f"whatif-{size[0]}x{size[1]}", panels(app))


@pytest.mark.slow
async def test_turning_a_setting_turns_the_list_and_a_full_recall_gives_the_same(demo_engine: Engine) -> None:
    engine = Wrapped(demo_engine)
    async with trying(engine) as (app, pilot, screen):
        before = screen.state.trace
        assert before is not None
        asked = len(engine.asked)
        await on(pilot, screen, "limit")
        await press(pilot, "l", "l")
        assert screen.state.tried == {"limit": 8}
        assert len(screen.state.trace.returned) == 8  # type: ignore[union-attr]
        assert "2 new, 0 gone" in screen_text(app)
        assert "new" in screen_text(app)
        assert len(engine.asked) == asked  # from what was found before
        await press(pilot, "escape")
        recall = app.screen
        assert isinstance(recall, RecallScreen)
        full = demo_engine.recall(recall.state.form.request())
        assert recall.state.trace.returned == full.returned  # type: ignore[union-attr]
        assert recall.state.form.limit == 8
        await press(pilot, "equals_sign")
        text = screen_text(app)
        assert "another recipe" in text
        assert "the same as it is set" not in text  # neither its clock nor its version was tried


@pytest.mark.slow
async def test_flip_points_are_drawn_and_the_next_one_is_a_key_away(demo_engine: Engine) -> None:
    async with trying(demo_engine) as (app, pilot, screen):
        await on(pilot, screen, "retrieval.hardMinScore")
        strip = screen.state.strips["retrieval.hardMinScore"]
        assert strip.flips
        assert "▲" in screen_text(app)
        base = screen.state.trace.returned  # type: ignore[union-attr]
        assert "> at " in screen_text(app)
        await press(pilot, "greater_than_sign")
        flip = next(flip for flip in strip.flips if flip.after > strip.value)
        assert screen.state.tried == {"retrieval.hardMinScore": pytest.approx(flip.after)}
        assert screen.state.trace.returned != base  # type: ignore[union-attr]
        assert "NO LONGER" in screen_text(app)
        assert "below the hard cutoff" in screen_text(app)
        await press(pilot, "less_than_sign")
        assert screen.state.trace.returned == base  # type: ignore[union-attr]
        await press(pilot, "X")
        assert screen.state.tried == {}


@pytest.mark.slow
async def test_knobs_without_effect_say_so_and_change_nothing(demo_engine: Engine) -> None:
    async with trying(demo_engine, (200, 50)) as (app, pilot, screen):
        text = screen_text(app)
        assert "no effect: agents never read it" in text
        assert "it rejects nothing here" in text
        assert "has no API key" in text
        await on(pilot, screen, "retrieval.recencyWeight")
        await press(pilot, "shift+right")
        assert "the same list" in screen_text(app)


@pytest.mark.slow
async def test_the_clock_goes_back_to_before_the_first_memory(demo_engine: Engine) -> None:
    async with trying(demo_engine) as (app, pilot, screen):
        await on(pilot, screen, "now_ms")
        await pilot.press("h")
        assert screen.state.tried["now_ms"] < NOW_MS
        await pilot.press("enter", "ctrl+u")
        await type_text(pilot, "2001-01-01")
        await press(pilot, "enter")
        assert screen.state.trace.returned == ()  # type: ignore[union-attr]
        text = screen_text(app)
        assert "Nothing comes back." in text
        assert "before that nothing was known" in text
        await pilot.press("enter", "ctrl+u")
        await type_text(pilot, "yesterday")
        await press(pilot, "enter")
        assert "yesterday is no date" in screen_text(app)
        await press(pilot, "escape", "backspace")
        assert screen.state.tried == {}
        assert screen.state.trace.returned  # type: ignore[union-attr]


@pytest.mark.slow
async def test_an_agent_is_its_effective_scopes(demo_engine: Engine) -> None:
    async with trying(demo_engine) as (app, pilot, screen):
        await on(pilot, screen, "scopes")
        await press(pilot, "enter", "j", "j", "enter")  # the first is the one that asks already
        await until(pilot, lambda: "scopes" in screen.state.tried and not screen.state.running)
        await settle(pilot)
        agent = screen.state.bounds.agents[1]  # type: ignore[union-attr]
        assert screen.state.tried["scopes"] == explain.agent_scopes(demo_engine, agent)
        found = screen.state.trace
        assert found is not None
        assert {found.memories[id].scope for id in found.returned} <= set(screen.state.tried["scopes"])
        assert "searched again" in screen_text(app) or "new," in screen_text(app)


@pytest.mark.slow
async def test_an_older_version_is_asked_and_a_cleaned_one_says_so(tmp_path: Path) -> None:
    folder = write_store(tmp_path / "store", [row("old", "The gateway port is 8080", (1, 0))], dims=2)
    table = lancedb.connect(folder).open_table("memories")
    table.add([row("new", "The gateway port is 8443", (0.9, 0.436))])
    engine = _open(folder)
    async with trying(engine, query="gateway port", recipe="pro/tool") as (app, pilot, screen):
        assert screen.state.base.returned  # type: ignore[union-attr]
        await on(pilot, screen, "table_version")
        await press(pilot, "h")
        assert screen.state.trace.returned == ("old",)  # type: ignore[union-attr]
        assert "1 gone" in screen_text(app)
        await press(pilot, "backspace")
        assert set(screen.state.trace.returned) == {"old", "new"}  # type: ignore[union-attr]
        screen.tried(reduce.put(screen.state, "table_version", 9_999))
        await settle(pilot)
        assert screen.state.error is not None
        assert "9999" in screen_text(app) or "version" in screen_text(app).lower()
        await press(pilot, "escape")
        assert isinstance(app.screen, WhatIfScreen)  # the error first
        await press(pilot, "backspace")
        assert set(screen.state.trace.returned) == {"old", "new"}  # type: ignore[union-attr]


@pytest.mark.slow
async def test_numbers_out_of_range_and_weights_of_nothing_are_said(demo_engine: Engine) -> None:
    async with trying(demo_engine) as (app, pilot, screen):
        await on(pilot, screen, "limit")
        await press(pilot, "enter", "ctrl+u")
        await type_text(pilot, "0")
        await press(pilot, "enter")
        assert "limit runs from 1 to 20; 0 is not in it." in screen_text(app)
        await press(pilot, "escape")
        for path in ("retrieval.vectorWeight", "retrieval.bm25Weight"):
            await on(pilot, screen, path)
            await press(pilot, "enter", "ctrl+u")
            await type_text(pilot, "0")
            await press(pilot, "enter")
        assert "are both 0" in screen_text(app)
        assert screen.state.trace.proof.recomputed  # type: ignore[union-attr]


@pytest.mark.slow
async def test_more_like_this_asks_with_the_memory_itself(demo_engine: Engine) -> None:
    async with recalling(demo_engine, query=DEPLOY) as (app, pilot, recall):
        chosen = recall.state.selected
        await press(pilot, "K")
        trace = recall.state.trace
        assert trace is not None
        assert trace.returned[0] == chosen
        assert trace.request is not None
        assert trace.request.query_vector is not None
        await press(pilot, "slash", "end")
        await type_text(pilot, " more")
        assert dict(recall.state.form.tried) == {}  # another question has another vector
        assert app.screen is recall


@pytest.mark.slow
async def test_an_earlier_question_lends_its_vector_where_nothing_embeds(tmp_path: Path) -> None:
    rows = [row(f"m{n}", f"gateway port note {n}", (1.0, n / 10)) for n in range(6)]
    engine = _open(write_store(tmp_path / "store", rows, dims=2))
    async with running(engine) as (app, pilot):
        await press(pilot, "3")
        recall = app.screen
        assert isinstance(recall, RecallScreen)
        recall.choose(recipe="pro/tool", query="gateway port", tried=(("query_vector", [1.0, 0.0]),))
        recall.ask_again()
        await settle(pilot)
        assert recall.state.trace.mode == "hybrid"  # type: ignore[union-attr]
        recall.ask("another question of the gateway")
        await settle(pilot)
        assert recall.state.trace.mode == "keyword"  # type: ignore[union-attr]
        recall.ask("gateway port")
        await settle(pilot)
        assert recall.state.trace.mode == "hybrid"  # type: ignore[union-attr]
        assert "asked with the vector that this question had" in screen_text(app)
        await press(pilot, "p")
        screen = app.screen
        assert isinstance(screen, WhatIfScreen)
        await on(pilot, screen, "query_vector")
        await press(pilot, "enter", "j", "j", "enter")
        assert "gateway port" in screen_text(app)
        await press(pilot, "enter")
        assert screen.state.tried["query_vector"] == [1.0, 0.0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "recipe", thinned(["memtui", "mem-engine", "memory-core", "pro/cli", "memory-lancedb"], 3)
)
def test_every_setting_of_every_recipe_has_a_row_that_fits(demo_engine: Engine, recipe: str) -> None:
    base = demo_engine.recall(RecallRequest(DEPLOY, recipe=recipe))
    state = WhatIfState(
        base=base,
        parameters=explain.parameters(base),
        bounds=explain.bounds(demo_engine.store, demo_engine.catalog),
    )
    state = reduce.replace(state, strips={"limit": explain.flips(demo_engine, base, "limit")})
    rows = slider_rows(state, 80, UNICODE)
    assert {each.knob.path for each in state.parameters} | set(reduce.QUESTION) == {
        r.key for r in rows if r.key
    }
    owned = reduce.replace(
        state,
        bounds=reduce.replace(explain.bounds(demo_engine.store, demo_engine.catalog), owners=("main", "ops")),
    )
    asks_for_one = recipe == "memory-lancedb"  # the only one that asks whose a row is
    assert (reduce.OWNER in {r.key for r in slider_rows(owned, 80, UNICODE)}) == asks_for_one
    for width in (58, 64, 90, 140):
        for glyphs in (UNICODE, ASCII):
            for each in (*slider_rows(state, width, glyphs), *result_rows(state, width, glyphs)):
                assert all(line.cell_length <= width for line in each.lines), (width, each.key)
            for path in (*reduce.QUESTION, *(each.knob.path for each in state.parameters)):
                assert about(reduce.replace(state, key=path), width, glyphs, load_keys())
