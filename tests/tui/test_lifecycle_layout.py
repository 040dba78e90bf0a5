"""Where the panels of Lifecycle stand, and what its state becomes: pure functions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memtui.engine.lifecycle import KNOBS
from memtui.engine.lifecycle.settings import resolve_settings
from memtui.tui.layout import ascii_art
from memtui.tui.layouts import LifecycleShape, lifecycle
from memtui.tui.screens.lifecycle import state as reduce
from memtui.tui.screens.lifecycle.state import LifecycleState

SHAPES = (
    LifecycleShape(),
    LifecycleShape(aside="history"),
    LifecycleShape(reviewing=True),
    LifecycleShape(zoom="next"),
    LifecycleShape(panel="whatif"),
)


def test_the_normal_size_has_four_panels_and_the_sliders():
    assert ascii_art(lifecycle(60, 34), 60, 34).startswith("+head")
    art = ascii_art(lifecycle(120, 34), 120, 34).split("\n")
    assert art[1].startswith("+curves")
    assert "+scores" in art[1]
    second = next(line for line in art if line.startswith("+flow"))
    assert "+next" in second
    assert any(line.startswith("+whatif") for line in art)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "size", [(60, 15), (80, 22), (99, 30), (100, 22), (120, 34), (160, 30), (200, 48), (300, 90)]
)
def test_panels_fill_the_body_without_overlapping(size: tuple[int, int], shape: LifecycleShape):
    width, height = size
    boxes = lifecycle(width, height, shape)
    cells: set[tuple[int, int]] = set()
    for name, box in boxes.items():
        assert box.width >= 10, name
        assert box.height >= (1 if name == "head" else 3), name
        own = {(x, y) for x in range(box.x, box.x + box.width) for y in range(box.y, box.y + box.height)}
        assert not own & cells, name
        cells |= own
    assert cells == {(x, y) for x in range(width) for y in range(height)}


def test_words_take_the_whole_body():
    assert list(lifecycle(120, 34, LifecycleShape(said=True))) == ["state"]


def settled() -> LifecycleState:
    return LifecycleState(settings=resolve_settings({"tier": {"coreAccessThreshold": 8}}))


def knob(name: str):
    return next(each for each in KNOBS if each.key.endswith(name))


def test_a_setting_turned_back_to_its_own_value_is_no_change():
    state = reduce.turn(settled(), knob("coreAccessThreshold"), 1)
    assert dict(state.ask.changes) == {"tier.coreAccessThreshold": 9}
    assert isinstance(state.ask.changes["tier.coreAccessThreshold"], int)
    assert dict(reduce.turn(state, knob("coreAccessThreshold"), -1).ask.changes) == {}


def test_a_setting_stops_at_the_ends_of_what_the_plugin_allows():
    state = reduce.turn(settled(), knob("betaCore"), 10_000)
    assert state.ask.changes["decay.betaCore"] == 5
    assert reduce.turn(state, knob("betaCore"), -10_000).ask.changes["decay.betaCore"] == 0.1


@pytest.mark.parametrize("each", KNOBS, ids=lambda each: each.key)
def test_every_step_of_every_setting_is_one_that_the_settings_accept(each):
    from memtui.engine.lifecycle.settings import with_changes

    value = each.low
    for _ in range(12):
        value = each.moved(value, max(1, round((each.high - each.low) / each.step / 10)))
        assert each.low <= value <= each.high
        assert with_changes(resolve_settings(None), {each.key: value}).values[each.key] == value


def test_every_setting_of_both_blocks_has_a_slider():
    assert {each.key for each in KNOBS} == set(resolve_settings(None).values)
    assert {each.key: each.default for each in KNOBS} == dict(resolve_settings(None).values)


def test_reset_takes_back_one_or_all():
    state = reduce.put(reduce.put(settled(), knob("betaCore"), 1.0), knob("betaWorking"), 1.2)
    assert set(reduce.reset(state, "decay.betaCore").ask.changes) == {"decay.betaWorking"}
    assert dict(reduce.reset(state).ask.changes) == {}


def test_horizons_and_days_stop_at_their_ends():
    state = LifecycleState()
    for _ in range(20):
        state = reduce.ahead(reduce.horizon(state, 1), 1)
    assert (state.ask.horizon_days, state.ask.ahead_days) == (36_525, 730)
    for _ in range(20):
        state = reduce.ahead(reduce.horizon(state, -1), -1)
    assert (state.ask.horizon_days, state.ask.ahead_days) == (7, 0)


def test_another_memory_takes_remedy_and_probe_away():
    state = replace(LifecycleState(), selected="a", remedy="pin", probe=0.5)
    assert reduce.select(state, "a") is state
    moved = reduce.select(state, "b")
    assert (moved.selected, moved.remedy, moved.probe) == ("b", "", None)
