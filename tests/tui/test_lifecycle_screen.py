"""Lifecycle on real stores: what is shown is what the engine says, and what is turned changes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.pilot import Pilot

from memtui.engine import Engine, lifecycle, open_engine
from memtui.engine.lifecycle.memory_life import LifeRemedy
from memtui.paths import review_file
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.screens.browse.screen import BrowseScreen
from memtui.tui.screens.lifecycle.board_view import crossed, day, outlook
from memtui.tui.screens.lifecycle.memory_view import row_words
from memtui.tui.screens.lifecycle.screen import LifecycleScreen
from memtui.tui.widgets.state_panel import StatePanel
from tests.conftest import NOW_MS
from tests.engine.pro_store import row, write_store
from tests.tui.driving import (
    EACH_SIZE,
    check_golden,
    lines,
    press,
    running,
    screen_text,
    settle,
    until,
)

DAY_MS = 86_400_000
IDS = [f"0b7f3a52-6c1e-4f0a-9d55-{n:012}" for n in range(12)]


def plugin_rows() -> list[dict[str, object]]:
    """Twelve memories of which each tier, rule and line has one."""
    used = {"access_count": 14, "last_accessed_at": NOW_MS - DAY_MS}
    never = {**used, "injected_count": 14, "last_injected_at": NOW_MS - DAY_MS}
    old = {"access_count": 3, "last_accessed_at": NOW_MS - 93 * DAY_MS, "confidence": 0.4}
    shapes: list[tuple[str, float, dict[str, object], dict[str, object]]] = [
        ("Rises to core", 40, {"importance": 0.9}, {**used, "confidence": 0.9, "last_confirmed_use_at": NOW_MS}),
        ("Sinks by its age", 90, {}, {}),
        ("Sinks in five days", 55, {}, {}),
        ("Goes stale in a week", 93, {}, old),
        ("Expires on Friday", 2, {}, {"valid_until": NOW_MS + 3 * DAY_MS}),
        ("Is core already", 10, {"importance": 0.9}, {"tier": "core", "access_count": 20, "last_accessed_at": NOW_MS}),
        ("Is peripheral and rests", 80, {"importance": 0.2}, {"tier": "peripheral"}),
        ("Comes up from peripheral", 20, {}, {"tier": "peripheral", **used}),
        ("Put before the agent in vain", 30, {}, never),
        ("Pinned by somebody", 90, {}, {"pinned": True}),
        ("Evil \x1b]0;title\x07 [/oops] \u202etext", 58, {"scope": " [red]x "}, {}),
        ("Archived long ago", 200, {}, {"state": "archived"}),
    ]  # fmt: skip
    return [
        row(IDS[n], text, (1.0, 0.0), timestamp=NOW_MS - age * DAY_MS, metadata=metadata, **columns)
        for n, (text, age, columns, metadata) in enumerate(shapes)
    ]


def opened(folder: Path, *, writable: bool = False) -> Engine:
    state = {"writable": True, "state": folder.parent / "state"} if writable else {}
    engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder, timer=lambda: 0.0, **state)
    engine.load_catalog()
    engine.load_metadata()
    return engine


@pytest.fixture
def plugin_engine(tmp_path: Path) -> Engine:
    return opened(write_store(tmp_path / "plugin", plugin_rows(), dims=2, fts=False))


@pytest.fixture
def writable_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    return opened(write_store(tmp_path / "plugin", plugin_rows(), dims=2, fts=False), writable=True)


async def go(pilot: Pilot[None], *keys: str) -> None:
    """Open Lifecycle, wait for its numbers, then press keys."""
    await press(pilot, "4")
    if keys:
        await press(pilot, *keys)


def panels(app) -> str:
    """The screen without the top bar, which belongs to the app."""
    return "\n".join(lines(app)[1:])


def screen_of(app) -> LifecycleScreen:
    assert isinstance(app.screen, LifecycleScreen)
    return app.screen


@pytest.mark.parametrize("size", EACH_SIZE, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_board_at_three_sizes(demo_engine: Engine, size):
    async with running(demo_engine, size) as (app, pilot):
        await go(pilot)
        check_golden(f"lifecycle-{size[0]}x{size[1]}", panels(app))


@pytest.mark.parametrize("size", EACH_SIZE, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_review_at_three_sizes(demo_engine: Engine, size):
    async with running(demo_engine, size) as (app, pilot):
        await go(pilot, "W")
        await press(pilot, "j")
        check_golden(f"lifecycle-review-{size[0]}x{size[1]}", panels(app))


@pytest.mark.slow
async def test_every_panel_fits_a_small_terminal(demo_engine: Engine):
    async with running(demo_engine, (80, 24)) as (app, pilot):
        await go(pilot)
        shown = []
        for name in ("curves", "scores", "flow", "next", "whatif", "numbers", "history", "findings"):
            assert screen_of(app).state.panel == name
            text = screen_text(app)
            assert all(len(line) <= 80 for line in text.split("\n"))
            shown.append(text)
            await press(pilot, "right_square_bracket")
        assert len(set(shown)) == len(shown)


async def test_the_numbers_on_the_screen_are_the_engines(plugin_engine: Engine):
    async with running(plugin_engine) as (app, pilot):
        await go(pilot)
        state, text = screen_of(app).state, screen_text(app)
        board = lifecycle.make_board(plugin_engine, state.ask)
        for facts in board.tiers:
            line = next(line for line in lines(app) if f" {facts.tier}    " in line)
            assert line.split(facts.tier)[1].split()[0] == str(facts.rows)
        assert f"stale below .30: {board.stale}" in text
        counts = (
            f"{board.counts['stale']} stale, {board.counts['sinks']} may drop a tier, "
            f"{board.counts['expires']} expire"
        )
        assert counts in text.split("About to change")[1].split("\n")[0]


async def test_a_memory_is_put_on_the_curves_with_its_formulas(plugin_engine: Engine):
    async with running(plugin_engine, (200, 50)) as (app, pilot):
        await go(pilot)
        screen = screen_of(app)
        screen.state = screen.state.__class__(**{**_fields(screen.state), "selected": IDS[2]})
        await settle(pilot)
        text = screen_text(app)
        assert "● Sinks in five days" in text
        life = lifecycle.follow_memory(plugin_engine, IDS[2], screen.state.ask)
        for line in life.lines:
            assert line.formula in text, line.formula
        assert "stays: not core, uses 0 < 10" in text
        assert "half-life 86 d; 1/e (half-life in the article) after 124 d" in text


def _fields(state) -> dict[str, object]:
    return {name: getattr(state, name) for name in state.__slots__}


async def test_a_slider_changes_the_plan_at_once_and_can_be_taken_back(plugin_engine: Engine):
    async with running(plugin_engine) as (app, pilot):
        await go(pilot, "p")
        base = screen_of(app).state.board
        await press(
            pilot, "G", "shift+right", "shift+right"
        )  # the last setting is the age at which a memory sinks
        state = screen_of(app).state
        assert dict(state.ask.changes) == {"tier.peripheralAgeDays": 110}
        assert state.board is not base
        assert state.board.demotions < base.demotions
        text = screen_text(app)
        assert "1 of 20 tried" in text
        change = state.board.promotions + state.board.demotions - base.promotions - base.demotions
        assert f"{change:+}" in next(line for line in lines(app) if "moves due" in line)
        await press(pilot, "backspace")
        assert screen_of(app).state.ask.changes == {}
        await press(pilot, "l", "X")
        assert screen_of(app).state.ask.changes == {}
        assert "nothing is written" in screen_text(app)


@pytest.mark.slow
async def test_horizon_scenario_and_day_ask_for_another_board(plugin_engine: Engine):
    async with running(plugin_engine) as (app, pilot):
        await go(pilot)
        assert "Sinks in five days" in screen_text(app)
        await press(pilot, "less_than_sign")
        assert screen_of(app).state.ask.horizon_days == 7
        await press(pilot, *["greater_than_sign"] * 7)
        assert screen_of(app).state.ask.horizon_days == 36_525
        assert "next 100 y" in screen_text(app)
        await press(pilot, "percent_sign")
        assert "access as before" in screen_text(app)
        await press(pilot, "plus", "plus", "plus")
        state = screen_of(app).state
        assert state.board.now_ms == NOW_MS + 7 * DAY_MS
        assert "as of 8 Sep 2026 +7 d" in screen_text(app)
        await press(pilot, *["minus"] * 5)
        assert screen_of(app).state.board.now_ms == NOW_MS


async def test_the_plan_names_its_rules(plugin_engine: Engine):
    async with running(plugin_engine) as (app, pilot):
        await go(pilot, "v")
        text = screen_text(app)
        assert "Due now" in text
        assert "pinned: Pinned by somebody" in text or "no longer recalled" in text
        screen_of(app).query_one("#next BuiltRows").focus()
        await press(pilot, "g")
        assert "uses 14 >= 10" in screen_text(app) or "uses 14 >= 3" in screen_text(app)


async def test_rows_lead_into_browse(plugin_engine: Engine):
    async with running(plugin_engine) as (app, pilot):
        await go(pilot)
        screen_of(app).query_one("#flow BuiltRows").focus()
        await press(pilot, "j", "enter")
        assert isinstance(app.screen, BrowseScreen)
        assert app.screen.wish.query.filter == "tier:working"


async def test_a_remedy_is_drawn_and_said(plugin_engine: Engine):
    async with running(plugin_engine) as (app, pilot):
        await go(pilot, "f")
        assert "+ pin:" in screen_text(app)
        await press(pilot, "f")
        assert "+ touch:" in screen_text(app)
        await press(pilot, "escape")
        assert screen_of(app).state.remedy == ""


async def test_the_probe_reads_the_curves(plugin_engine: Engine):
    async with running(plugin_engine) as (app, pilot):
        await go(pilot)
        screen_of(app).query_one("CurvePlot").focus()
        await press(pilot, "shift+right", "l")
        state = screen_of(app).state
        assert state.probe is not None
        life = state.life
        index = round(state.probe * (len(life.at_ms) - 1))
        assert f"it {life.curve[index]:.3f}".replace("0.", ".") in screen_text(app)
        await press(pilot, "backspace")
        assert screen_of(app).state.probe is None


async def test_hostile_text_stays_text(plugin_engine: Engine):
    async with running(plugin_engine, (200, 50)) as (app, pilot):
        await go(pilot)
        text = screen_text(app)
        assert "[/oops]" in text
        assert "\x1b" not in text
        assert "\u202e" not in text


async def test_what_is_kept_in_the_review_is_remembered(plugin_engine: Engine, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    async with running(plugin_engine) as (app, pilot):
        await go(pilot, "W")
        review = screen_of(app).state.review
        first = review.cards[0].id
        await press(pilot, "i")
        state = screen_of(app).state
        assert (state.review.waiting, state.review.settled) == (review.waiting - 1, 1)
        assert state.card != first
        kept = json.loads((review_file(plugin_engine.info.uri)).read_text())
        assert kept["decisions"][first]["settlement"] == "keep"
    async with running(plugin_engine) as (app, pilot):
        await go(pilot, "W")
        assert first not in {card.id for card in screen_of(app).state.review.cards}


async def test_without_a_lifecycle_the_screen_says_why(shared: Path, unpack):
    engine = open_engine(
        unpack(shared / "fixtures/stores/builtin-old.tar.gz"), now=lambda: NOW_MS, environ={}, cwd=Path("/")
    )
    async with running(engine) as (app, pilot):
        await go(pilot)
        assert "keeps no tiers" in app.screen.query_one(StatePanel).state.facts[0][1]
        await press(pilot, "p", "m", "greater_than_sign")  # keys that need a board do nothing
        assert "there is no lifecycle to show" in screen_text(app)


async def test_an_empty_store_says_so(tmp_path: Path):
    async with running(opened(write_store(tmp_path / "empty", [], dims=2, fts=False))) as (app, pilot):
        await go(pilot)
        assert "Scores, tiers and coming changes will be shown here" in screen_text(app)


# ---------------------------------------------------------------------------- writing


async def test_a_read_only_store_is_not_written(plugin_engine: Engine):
    async with running(plugin_engine) as (app, pilot):
        await go(pilot, "A")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))  # looked at, and not written
        await press(pilot, "enter")
        await settle(pilot)
        assert "read" in screen_text(app)
        assert plugin_engine.store.version == plugin_engine.store.newest_version()


async def test_a_sweep_is_looked_at_then_written(writable_engine: Engine):
    async with running(writable_engine) as (app, pilot):
        await go(pilot)
        board = screen_of(app).state.board
        await press(pilot, "A")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        assert "tier sweep" in screen_text(app)
        await press(pilot, "escape")
        assert screen_of(app).state.board.promotions == board.promotions
        await press(pilot, "A")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        await press(pilot, "enter")
        await until(pilot, lambda: screen_of(app).state.board is not board)
        await settle(pilot)
        after = screen_of(app).state.board
        assert after.promotions == 0
        assert after.demotions == after.held  # what is pinned or archived stays where it is
        assert writable_engine.get(IDS[1]).tier == "peripheral"
        assert writable_engine.get(IDS[9]).tier == "working"
        assert "changed (entry 1)" in screen_text(app)


async def test_a_memory_is_pinned_from_its_curve(writable_engine: Engine):
    async with running(writable_engine) as (app, pilot):
        await go(pilot)
        memory = screen_of(app).state.selected
        await press(pilot, "c", "p")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        await press(pilot, "enter")
        await until(pilot, lambda: writable_engine.get(memory).tier == "core")
        await settle(pilot)
        assert writable_engine.get(memory).metadata_values["pinned"] is True


@pytest.mark.slow
async def test_an_archived_card_is_settled_when_it_is_written(writable_engine: Engine):
    async with running(writable_engine) as (app, pilot):
        await go(pilot, "W")
        memory = screen_of(app).state.card
        await press(pilot, "a")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        await press(pilot, "escape")
        assert screen_of(app).state.card == memory
        await press(pilot, "a")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        await press(pilot, "enter")
        await until(pilot, lambda: writable_engine.get(memory).state == "archived")
        await settle(pilot)
        assert memory not in {card.id for card in screen_of(app).state.review.cards}
        assert screen_of(app).state.review.settled == 1


@pytest.mark.parametrize("ends_on", [None, 4])
def test_what_a_remedy_leaves_to_come_is_the_first_thing_that_comes(ends_on: int | None):
    at = NOW_MS + 4 * 86_400_000
    ends = None if ends_on is None else at
    sinks = LifeRemedy("touch", "touch", (), (), (), None, sinks_at_ms=at, ends_at_ms=ends)
    stale = LifeRemedy("touch", "touch", (), (), (), at - 1, sinks_at_ms=at, ends_at_ms=ends)
    fine = LifeRemedy("pin", "pin", (), (), (), None, ends_at_ms=ends)
    assert outlook(stale, 30) == f"stale on {day(at - 1)}"
    assert outlook(sinks, 30) == (f"may sink {day(at)}" if ends is None else f"still ends {day(at)}")
    assert outlook(fine, 30) == ("not stale within 30 d" if ends is None else f"still ends {day(at)}")


def test_a_move_between_tiers_says_what_it_depends_on():
    assert crossed("stale", "working", "working", "nothing") == "goes stale"
    for mover in ("nothing", "unknown", "dreaming"):
        assert crossed("sinks", "peripheral", "working", mover).startswith(
            "would sink to peripheral if swept"
        )
    assert "dreaming is off" in crossed("sinks", "peripheral", "working", "nothing")


async def test_a_date_of_a_tier_is_told_with_what_it_depends_on(plugin_engine):
    async with running(plugin_engine) as (app, pilot):
        await go(pilot)
        words = [
            row_words(screen_of(app).state, f"sinks:{each.id}")
            for each in screen_of(app).state.board.crossings
            if each.kind == "sinks"
        ]
        assert words
        assert all("if swept" in each for each in words)
