"""Compare, driven as a person drives it: every way to a second side, the flow between the lists, bad input."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from memtui.engine import Engine, RecallRequest, changes, explain, open_engine
from memtui.engine.cases import CaseBook
from memtui.engine.cases.case import demo_cases
from memtui.engine.recall.recipes.registry import all_recipes
from memtui.paths import cases_file
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.stage_ledger import StageLedger
from memtui.tui.layouts import CompareShape
from memtui.tui.layouts import compare as arrange
from memtui.tui.paint.glyphs import ASCII
from memtui.tui.screens.cases.screen import CasesScreen
from memtui.tui.screens.compare import view
from memtui.tui.screens.compare.screen import CompareScreen
from memtui.tui.screens.compare.side_picker import WAYS, ways
from memtui.tui.screens.compare.state import Pair, Side, listed
from memtui.tui.screens.recall.screen import RecallScreen
from memtui.tui.widgets.connectors import Link, link_lines
from memtui.tui.widgets.row_list import RowList
from memtui.tui.widgets.screen_bars import FlashLine
from tests.conftest import NOW_MS, tree_hash
from tests.tui.driving import SIZES, check_golden, press, screen_text, settle, until
from tests.tui.recalling import panels, recalling

MEMTUI = str(1 + [each.name for each in all_recipes()].index("memtui"))
"""The key of the recipe memtui in the list of recipes."""


@asynccontextmanager
async def comparing(
    engine: Engine, *keys: str, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[tuple[MemtuiApp, Pilot[None], CompareScreen]]:
    """Compare over an answered question, after these keys."""
    async with recalling(engine, size) as (app, pilot, _):
        await press(pilot, "equals_sign")
        for key in keys:
            await press(pilot, key)
        screen = next(each for each in app.screen_stack if isinstance(each, CompareScreen))
        yield app, pilot, screen


def pair_of(screen: CompareScreen) -> Pair:
    assert screen.state.pair is not None
    return screen.state.pair


async def fill_in(pilot: Pilot[None], text: str) -> None:
    """Put this into the line of a dialog, and take it."""
    pilot.app.screen.query_one(Input).value = text
    await press(pilot, "enter")


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_comparison_looks_as_it_was_approved(demo_engine: Engine, size: tuple[int, int]) -> None:
    async with comparing(demo_engine, size=size) as (app, pilot, _):
        check_golden(f"compare-ways-{size[0]}x{size[1]}", panels(app))
        await press(pilot, "e")
        await press(pilot, MEMTUI)
        await press(pilot, "j", "j")
        check_golden(f"compare-{size[0]}x{size[1]}", panels(app))


@pytest.mark.slow
async def test_both_lists_hold_every_memory_and_say_where_it_was_lost(demo_engine: Engine) -> None:
    async with comparing(demo_engine, "e", MEMTUI, size=(200, 50)) as (app, pilot, screen):
        pair = pair_of(screen)
        a, b = listed(pair, "a"), listed(pair, "b")
        assert {f.id for f in a} == {f.id for f in b} == {f.id for f in pair.comparison.flows}
        gone = [f for f in b if f.rank_b is None]
        assert gone
        assert b[-len(gone) :] == tuple(gone)
        text = screen_text(app)
        assert view.loss_words(pair, gone[0], "b") in text
        assert f"overlap {pair.comparison.overlap} of {pair.comparison.k}" in text
        assert "each embeds its own words" in text
        await press(pilot, "j")
        lists = [screen.query_one(f"#list-{name}", RowList) for name in ("a", "b", "merged")]
        assert {rows.key for rows in lists} == {screen.state.selected} == {a[1].id}
        await press(pilot, "l", "G")
        assert screen.state.selected == b[-1].id
        assert screen.query_one("#list-a", RowList).key == b[-1].id


@pytest.mark.slow
async def test_settings_are_changed_one_after_the_other_and_wrong_values_change_nothing(
    demo_engine: Engine,
) -> None:
    async with comparing(demo_engine, size=(200, 50)) as (app, pilot, screen):
        for setting, typed, said in (
            ("bm25weight", "lots", "lots is no number."),
            ("how many", "0", "0 is outside its range. Type 1 to 20."),
            ("filternoise", "maybe", "maybe is neither on nor off."),
            ("retrieval.mode", "both", "both is none of its values."),
        ):
            await press(pilot, "p")
            await fill_in(pilot, setting)
            await fill_in(pilot, typed)
            assert said in screen.query_one(FlashLine).text
            assert screen.state.pair is None
        await press(pilot, "p")
        await fill_in(pilot, "bm25weight")
        await fill_in(pilot, "0")
        assert [d.parameter for d in pair_of(screen).comparison.differences] == ["retrieval.bm25Weight"]
        assert "B pro/agent, bm25Weight 0" in screen_text(app)
        await press(pilot, "p")
        app.screen.query_one(Input).value = "limit most come"
        await press(pilot)
        assert "Nothing holds these words." in screen_text(app)
        await fill_in(pilot, "how many")
        await fill_in(pilot, "3")
        pair = pair_of(screen)
        assert {d.parameter for d in pair.comparison.differences} == {"retrieval.bm25Weight", "limit"}
        assert len([f for f in pair.comparison.flows if f.rank_b]) == 3
        assert "THIS MEMORY" in screen_text(app)
        await press(pilot, "equals_sign", "e")
        await press(pilot, MEMTUI)
        await press(pilot, "p")
        await fill_in(pilot, "lateWeight")
        await fill_in(pilot, "0")
        assert pair_of(screen).b.title == "memtui, lateWeight 0"
        assert pair_of(screen).a.title == "pro/agent"
        screen.take(Side(pair.b.title, pair.b.request))
        await press(pilot)
        await press(pilot, "percent_sign")
        assert pair_of(screen).a.title == "pro/agent, bm25Weight 0, limit 3"
        assert pair_of(screen).b.title == "pro/agent"


@pytest.mark.slow
async def test_a_file_a_version_and_a_time_are_compared_and_nothing_is_written(
    demo_engine: Engine, demo_store: Path, tmp_path: Path
) -> None:
    before = tree_hash(demo_store)
    good, broken = tmp_path / "mine.json", tmp_path / "broken.json"
    good.write_text("{retrieval: {hardMinScore: .7}} // JSON5")
    broken.write_text("{")
    async with comparing(demo_engine) as (app, pilot, screen):
        for path, said in ((broken, "is not JSON"), (tmp_path / "absent.json", "cannot be read")):
            await press(pilot, "equals_sign", "f")
            await fill_in(pilot, str(path))
            assert said in screen.query_one(FlashLine).text
        await press(pilot, "equals_sign", "f")
        await fill_in(pilot, str(good))
        pair = pair_of(screen)
        assert pair.b.title == "mine.json"
        assert [d.parameter for d in pair.comparison.differences] == ["retrieval.hardMinScore"]
        assert all(view.loss_words(pair, f, "b").startswith("hard cutoff, .") for f in pair.comparison.left)
        assert "B dropped" in screen_text(app)
        await press(pilot, "equals_sign", "d")
        await fill_in(pilot, "soon")
        assert "Type a date" in screen.query_one(FlashLine).text
        await press(pilot, "equals_sign", "d")
        await fill_in(pilot, "2026-05-01")
        assert [d.parameter for d in pair_of(screen).comparison.differences] == ["now_ms"]
        assert "as of 2026-05-01" in screen_text(app)
        await press(pilot, "equals_sign", "t")
        oldest = explain.versions(demo_engine)[0].version
        assert f"version {oldest}" in screen_text(app)
        await press(pilot, "enter")
        assert ("table_version", oldest) in {
            (d.parameter, d.b) for d in pair_of(screen).comparison.differences
        }
    assert tree_hash(demo_store) == before


@pytest.mark.slow
async def test_a_receipt_stands_beside_the_answer_of_now(demo_engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "receipt.json"
    async with recalling(demo_engine) as (app, pilot, recall):
        trace = recall.state.trace
        assert trace is not None
        path.write_text(json.dumps(explain.receipt(demo_engine, trace, texts=False)))
        await press(pilot, "equals_sign", "s")
        await fill_in(pilot, str(path))
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        pair = pair_of(screen)
        assert pair.comparison.overlap == pair.comparison.k
        assert "SSH to the bastion" in screen_text(app)  # its text is the store's
        assert "not the same question" in screen_text(app)  # without texts it holds no question
        await press(pilot, "percent_sign")
        assert pair_of(screen).a.request is None
        await press(pilot, "l", "w")
        assert isinstance(app.screen, StageLedger)
        await press(pilot, "escape", "h", "w")
        assert "holds no stages" in screen.query_one(FlashLine).text


@pytest.mark.slow
async def test_what_failed_stays_beside_the_pair_before_and_both_sides_run_on_the_cases(
    demo_engine: Engine,
) -> None:
    CaseBook(cases_file(demo_engine.info.uri)).put_all(demo_cases(NOW_MS)[:2])
    async with comparing(demo_engine, "e", MEMTUI) as (app, pilot, screen):
        assert "case: A has 0 and B 0 of 1 expected" in screen_text(app)
        before = pair_of(screen)
        request = before.a.request
        assert request is not None
        screen.take(Side("version 999", replace(request, table_version=999)))
        await press(pilot)
        text = screen_text(app)
        assert "This cannot be compared." in text
        assert "999" in text
        await press(pilot, "escape")
        assert screen.state.pair is before
        assert "What differs" in screen_text(app)
        await press(pilot, "z")
        assert screen.state.zoom == "flow"
        await press(pilot, "escape", "T")
        await press(pilot, "R")
        cases = app.screen
        assert isinstance(cases, CasesScreen)
        assert "A pro/agent   B memtui" in screen_text(app)
        assert cases.state.report is not None
        assert cases.state.report.other is not None
        await press(pilot, "enter")
        assert isinstance(app.screen, RecallScreen)


def test_links_are_drawn_between_what_is_seen_only() -> None:
    lines = [line.plain for line in link_lines([Link(0, 2, "a"), Link(2, 0, "b"), Link(1, 9, "c")], 20, 3)]
    assert {len(line) for line in lines} == {20}
    assert [line.rstrip().endswith("→") for line in lines] == [True, False, True]
    assert lines[1].strip()
    plain = [line.plain for line in link_lines([Link(0, 0, "a")], 20, 1, ASCII)]
    assert plain == [" " + "*" * 17 + "> "]
    assert [line.plain for line in link_lines([Link(0, 0, "a")], 4, 1)] == [" " * 4]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shown", ["differs", "a", "b"])
def test_panels_never_overlap_and_stay_inside(size: tuple[int, int], shown: str) -> None:
    width, height = size
    for flows in (0, 1, 8, 40):
        boxes = arrange(width, height, CompareShape(flows, 15, shown, answered=True))
        taken: set[tuple[int, int]] = set()
        for box in boxes.values():
            cells = {
                (x, y) for x in range(box.x, box.x + box.width) for y in range(box.y, box.y + box.height)
            }
            assert not cells & taken
            taken |= cells
        assert taken <= {(x, y) for x in range(width) for y in range(height)}


def test_what_was_tried_can_be_compared_with_what_is_set() -> None:
    plain = Side("pro/agent", RecallRequest("q", recipe="pro/agent"))
    tried = Side("pro/agent", RecallRequest("q", recipe="pro/agent", now_ms=5))
    assert ways(plain) == WAYS
    assert [name for name, *_ in ways(tried)] == ["own", *(name for name, *_ in WAYS)]
    letters = [letter for *_, letter in ways(tried)]
    assert len(letters) == len(set(letters))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_each_side_says_its_version_its_clock_and_what_it_embeds(
    demo_engine: Engine, size: tuple[int, int]
) -> None:
    async with comparing(demo_engine, "e", size=size) as (app, pilot, screen):
        await press(pilot, MEMTUI)
        await until(pilot, lambda: screen.state.pair is not None)
        await settle(pilot)
        text = screen_text(app)
        version = demo_engine.info.version
        assert f"both v{version}, 2026-09-01 12:00" in text
        assert "one question vector" not in text or pair_of(screen).a.account.query_vector is not None
        if size[0] >= 120:
            assert "different scales" in text


@pytest.mark.slow
async def test_an_older_side_is_told_and_asked_again(demo_store: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(demo_store, tmp_path / "store"))
    engine = open_engine(
        folder, now=lambda: NOW_MS, environ={}, cwd=tmp_path, writable=True, state=tmp_path / "state"
    )
    engine.load_catalog()
    engine.load_metadata()
    async with comparing(engine, "p") as (app, pilot, screen):
        await fill_in(pilot, "bm25weight")
        await fill_in(pilot, "0")
        await until(pilot, lambda: screen.state.pair is not None)
        before = engine.info.version
        changes.apply(
            engine, changes.plan_edit(engine, [pair_of(screen).a.account.returned[0]], {"importance": "0.1"})
        )
        engine.refresh()
        app.set_session(info=engine.info)
        await settle(pilot)
        said = f"A and B are of v{before}, the store is at v{engine.info.version}"
        assert said in screen_text(app)
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: pair_of(screen).a.account.table_version == engine.info.version)
        await settle(pilot)
        assert pair_of(screen).b.account.table_version == engine.info.version
        assert said not in screen_text(app)


@pytest.mark.slow
async def test_a_memory_of_a_scope_that_one_side_does_not_read_was_not_lost_by_its_search(
    demo_engine: Engine,
) -> None:
    async with recalling(demo_engine, recipe="memtui") as (app, pilot, _):
        await press(pilot, "equals_sign", "e", "1")
        screen = next(each for each in app.screen_stack if isinstance(each, CompareScreen))
        await until(pilot, lambda: screen.state.pair is not None)
        pair = pair_of(screen)
        assert pair.b.account.recipe == "pro/agent"
        read = pair.b.account.asker.scopes
        said = {
            (pair.memories[flow.id].scope in read, view.loss_words(pair, flow, "b"))
            for flow in pair.comparison.flows
            if view.candidate_of(pair, "b", flow.id) is None
        }
        assert (False, "scope not searched") in said
        assert {words for within, words in said if not within} == {"scope not searched"}
        assert "scope not searched" not in {words for within, words in said if within}
        assert "scope not searched" in view.losses(pair, pair.comparison.flows, "b")
        await settle(pilot)
        assert "scope not searched" in screen_text(app)
