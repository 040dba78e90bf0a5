"""Recall on a store of openclaw-mem-engine: the scope that was searched, places as shares, the ways to ask another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memtui.engine import Engine, RecallRequest, explain, open_engine
from memtui.engine.providers.embedding_services import EmbeddingSettings
from memtui.tui.dialogs.choose_one import ChooseOne, ScopePick
from memtui.tui.paint.glyphs import UNICODE
from memtui.tui.screens.compare.screen import CompareScreen
from memtui.tui.screens.compare.view import summary
from memtui.tui.trace import results, stages
from tests.conftest import NOW_MS
from tests.engine.loopback import Loopback, loopback
from tests.tui.driving import EACH_SIZE, SIZES, press, screen_text, settle
from tests.tui.recalling import recalling

QUESTION = "oven flour till printer Uferweg"
IN_KORNFELD = "63eb60df"
"""A memory of the scope kornfeld: 'The plan must never skip the night proofing step ...'."""


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with loopback() as running:
        running.dims = 1536
        yield running


@pytest.fixture
def engine(shared: Path, unpack: Callable[[Path], Path], server: Loopback, tmp_path: Path) -> Engine:
    folder = unpack(shared / "fixtures/stores/engine.tar.gz")
    provider = EmbeddingSettings(model="any", base_url=f"{server.url}/v1", timeout_s=60)
    return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=tmp_path, embedding=provider)


@pytest.mark.parametrize("size", EACH_SIZE)
async def test_the_screen_names_the_scope_and_shows_places_as_shares(
    engine: Engine, size: tuple[int, int]
) -> None:
    async with recalling(engine, size, QUESTION, "mem-engine") as (app, _pilot, screen):
        shown = screen_text(app)
        assert "global, its policy's" in shown
        assert "all scopes" not in shown
        assert "share of two first places" in shown
        trace = screen.state.trace
        assert trace is not None
        rows = results.hits(trace)
        assert (
            len({row.shown for row in rows}) > 1
        )  # the third digit of a sum of 1 / (60 + place) never differs
        assert all(row.shown in shown and row.band == "must" for row in rows)
        assert "must" in shown
        if size[0] >= 120:
            assert "scope global (the policy's default); name" in shown


def test_a_fusion_by_places_is_taken_apart_by_search(engine: Engine) -> None:
    trace = engine.recall(RecallRequest(QUESTION, recipe="mem-engine"))
    both = next(c for c in trace.results if len(c.sources) == 3)
    fall = stages.fall(trace, both, UNICODE)
    assert [move.title for move in fall.moves] == ["vector", "bm25"]
    assert fall.adds_up
    for move in fall.moves:
        place = both.sources[move.title]["rank"]
        assert f"1 / (60 + #{place})" in move.formula


@pytest.mark.slow
async def test_the_chooser_of_scopes_says_what_the_policy_does(engine: Engine) -> None:
    async with recalling(engine, (120, 36), QUESTION, "mem-engine") as (app, pilot, screen):
        await press(pilot, "at")
        await settle(pilot)
        assert isinstance(app.screen, ScopePick)
        shown = screen_text(app)
        assert "its policy's: the question's tag or default" in shown
        assert "no filter" not in shown
        await press(pilot, "escape")
        screen.choose(scopes=("kornfeld",))
        await settle(pilot)
        assert screen.state.trace is not None
        assert screen.state.trace.asker.scopes == ("kornfeld",)  # type: ignore[union-attr]
        await press(pilot, "p")
        await settle(pilot)
        assert "kornfeld" in screen_text(app)


@pytest.mark.slow
async def test_what_if_says_which_scopes_are_searched(engine: Engine) -> None:
    async with recalling(engine, (120, 36), QUESTION, "mem-engine") as (app, pilot, _screen):
        await press(pilot, "p")
        await settle(pilot)
        (line,) = [line for line in screen_text(app).splitlines() if " scopes  " in line]
        assert "global, its policy's" in line


def test_a_memory_of_another_scope_comes_back_by_asking_there(engine: Engine) -> None:
    question = "proofing step approve change"
    trace = engine.recall(RecallRequest(question, recipe="mem-engine"))
    verdict = explain.why_not_in(engine, trace, engine.get(IN_KORNFELD).id)
    assert verdict.gate == "scope"
    (change, *_) = verdict.changes
    assert (change.knob, list(change.before), list(change.after)) == ("scopes", ["global"], ["kornfeld"])
    pool = next(rung for rung in verdict.ladder if rung.gate == "candidate_pool")
    assert pool.hypothetical
    assert "Its scope was not searched" in pool.sentence
    assert "did not deliver" not in pool.sentence


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_compare_asks_each_side_by_its_own_rules_and_says_which(
    engine: Engine, size: tuple[int, int]
) -> None:
    """What the policy searched is not handed to an agent's recipe as a choice, nor all scopes for want of one."""
    async with recalling(engine, size, QUESTION, "mem-engine") as (app, pilot, _):
        await press(pilot, "equals_sign")
        await press(pilot, "e")
        assert isinstance(app.screen, ChooseOne)
        await press(pilot, "1")  # pro/agent
        screen = next(each for each in app.screen_stack if isinstance(each, CompareScreen))
        pair = screen.state.pair
        assert pair is not None
        said = dict(summary(pair))
        assert said["A asked"] == "scope global (the policy's default)"
        assert said["B asked"].startswith("by main: ")
        assert "scores" in said
        assert "A asked" in screen_text(app)
