"""The lifecycle of real tables: golden values, plans, findings, odd rows, other programs' stores."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import Engine, MemtuiError, UsageError, lifecycle, open_engine
from memtui.engine.core.errors import ConfigError
from memtui.engine.lifecycle.board import OF_EACH_TIER, BoardAsk
from memtui.engine.lifecycle.reality_check import find_reality
from memtui.engine.lifecycle.settings import resolve_settings, with_changes
from tests.conftest import NOW_MS
from tests.engine.pro_store import row, write_store

DAY_MS = 86_400_000
GOLDEN = 1e-9


def opened(folder: Path, now_ms: int = NOW_MS) -> Engine:
    engine = open_engine(folder, now=lambda: now_ms, environ={}, cwd=folder)
    engine.load_catalog()
    engine.load_metadata()
    return engine


@pytest.fixture(scope="module")
def peer(shared: Path, unpack: Callable[[Path], Path]) -> Engine:
    return opened(unpack(shared / "fixtures/peer/store-lived.tar.gz"))


@pytest.fixture(scope="module")
def unpack(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    import tarfile

    def _unpack(archive: Path) -> Path:
        target = tmp_path_factory.mktemp("peer")
        with tarfile.open(archive) as tar:
            tar.extractall(target, filter="data")
        return next(target.iterdir())

    return _unpack


@pytest.fixture(scope="module")
def recorded(shared: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((shared / "fixtures/peer/functions.json").read_text())
    return value


@pytest.mark.parametrize("name", ["default", "custom"])
def test_every_row_has_the_recorded_numbers(peer: Engine, recorded: dict[str, Any], name: str):
    settings = lifecycle.own_settings(peer, {"decay": recorded["decay_config"][name]})
    ours = {each["id"]: each for each in lifecycle.iterate_numbers(peer, settings)}
    theirs = recorded["rows"]
    assert len(ours) == len(theirs) == 267
    for each in theirs:
        for key in ("recency", "frequency", "intrinsic", "composite", "boost"):
            assert ours[each["id"]][key] == pytest.approx(each[name][key], rel=0, abs=GOLDEN), each["id"]
    stale = {each["id"] for each in ours.values() if each["stale"]}
    assert stale == {memory for memory, _ in recorded["stale"][name]}


def test_the_plan_is_the_recorded_one_with_the_plugins_words(peer: Engine, recorded: dict[str, Any]):
    plan = lifecycle.plan_moves(peer)
    ours = {(move.id, move.before, move.after, move.reason) for move in plan}
    theirs = {(m["memoryId"], m["fromTier"], m["toTier"], m["reason"]) for m in recorded["tier_evaluate_all"]}
    assert ours == theirs
    assert len(plan) == len(theirs)


def test_the_custom_tier_settings_give_the_recorded_moves(peer: Engine, recorded: dict[str, Any]):
    settings = lifecycle.own_settings(peer, {"tier": recorded["tier_config"]["custom"]})
    ours = {move.id: (move.after, move.reason) for move in lifecycle.plan_moves(peer, settings)}
    theirs = {
        each["id"]: (each["tier_custom"]["toTier"], each["tier_custom"]["reason"])
        for each in recorded["rows"]
        if each["tier_custom"]
    }
    assert ours == theirs


def test_the_board_counts_what_the_rows_say(peer: Engine):
    board, rows = lifecycle.make_board(peer, BoardAsk()), list(lifecycle.iterate_numbers(peer))
    assert board.stale == sum(each["stale"] for each in rows)
    for facts in board.tiers:
        inside = [each for each in rows if each["tier"] == facts.tier]
        assert facts.rows == len(inside) == sum(facts.bins)
        assert facts.stale == sum(each["stale"] for each in inside)
        assert facts.leaving == sum(each["next_tier"] != facts.tier for each in inside)
        assert facts.arriving == sum(
            each["tier"] != facts.tier and each["next_tier"] == facts.tier for each in rows
        )
    assert sum(facts.after for facts in board.tiers) == board.rows == 267
    assert {each.id for each in board.crossings} <= set(board.titles)
    assert board.titles[board.moves[0].id] == " ".join(peer.get(board.moves[0].id).text.split())


def test_the_flow_counts_every_move_by_its_rule(peer: Engine):
    board = lifecycle.make_board(peer, BoardAsk(listed=10_000))
    assert sum(flow.rows for flow in board.flows) == len(board.moves) == board.promotions + board.demotions
    for flow in board.flows:
        mine = [move for move in board.moves if (move.before, move.after) == (flow.before, flow.after)]
        by_score = [move for move in mine if move.rule.startswith("composite")]
        if (flow.before, flow.after) == ("working", "peripheral"):
            mine = by_score if flow.rule.startswith("composite") else [m for m in mine if m not in by_score]
        assert flow.rows == len(mine), flow
    assert "age > 60 d, uses < 3" in {flow.rule for flow in board.flows}


def test_a_sweep_names_its_rules_and_leaves_out_what_cannot_be_edited(shared: Path, unpack, tmp_path: Path):
    folder = unpack(shared / "fixtures/peer/store-lived.tar.gz")
    engine = open_engine(
        folder, now=lambda: NOW_MS, environ={}, cwd=folder, writable=True, state=tmp_path / "state"
    )
    engine.load_catalog()
    engine.load_metadata()
    planned, moves = lifecycle.plan_sweep(engine)
    rules = {move.id: move for move in moves}
    assert not planned.conflicts
    assert set(rules) == set(planned.ids)
    wanted = {move.id for move in lifecycle.plan_moves(engine) if not move.held}
    assert {each.id for each in planned.left} == wanted - set(rules)
    assert planned.left
    assert all(each.reason == "refused" for each in planned.left)
    assert [each.why for each in planned.changes] == [rules[each.id].rule for each in planned.changes]
    rises = [rules[each.id].rises for each in planned.changes]
    assert rises == sorted(rises, reverse=True)
    assert planned.title == f"tier sweep, {sum(rises)} up and {len(rises) - sum(rises)} down"


def test_a_scope_has_a_board_of_its_own(peer: Engine):
    whole, atlas = (
        lifecycle.make_board(peer, BoardAsk(scopes=scopes)) for scopes in (None, ("project:atlas",))
    )
    assert atlas.rows == 76
    ids = {each.id for each in lifecycle.plan_moves(peer) if peer.get(each.id).scope == "project:atlas"}
    assert {move.id for move in atlas.moves} == ids
    assert atlas.rows < whole.rows


def test_the_future_board_is_the_board_of_a_later_clock(peer: Engine):
    later = lifecycle.make_board(peer, BoardAsk(ahead_days=50))
    then = lifecycle.make_board(opened(Path(peer.info.uri), NOW_MS + 50 * DAY_MS), BoardAsk())
    assert later.now_ms == then.now_ms
    assert [facts.bins for facts in later.tiers] == [facts.bins for facts in then.tiers]
    assert later.moves == then.moves
    assert later.crossings == then.crossings


def test_a_life_repeats_the_numbers_of_its_row(peer: Engine):
    rows = {each["id"]: each for each in lifecycle.iterate_numbers(peer)}
    for memory in list(rows)[:40]:
        life = lifecycle.follow_memory(peer, memory, BoardAsk())
        by_symbol = {line.symbol: line.value for line in life.lines}
        for symbol, key in (
            ("R", "recency"),
            ("F", "frequency"),
            ("I", "intrinsic"),
            ("C", "composite"),
            ("m", "boost"),
        ):
            assert by_symbol[symbol] == pytest.approx(rows[memory][key], abs=1e-12)
        assert life.next_tier == rows[memory]["next_tier"]
        own = next(tier for tier in life.model.tiers if tier.tier == life.tier)
        assert life.curve == pytest.approx(
            own.values, abs=1e-9
        )  # nobody uses it: it stays on its tier's curve


def test_without_a_memory_the_model_is_that_of_a_default_one(peer: Engine):
    life = lifecycle.follow_memory(peer, "", BoardAsk())
    assert (life.id, life.tier, life.composite) == ("", "working", pytest.approx(0.547))
    working = next(tier for tier in life.model.tiers if tier.tier == "working")
    assert working.half_days == pytest.approx(85.73, abs=0.01)
    assert working.fold_days == pytest.approx(123.68, abs=0.01)
    core, peripheral = (
        next(t for t in life.model.tiers if t.tier == name) for name in ("core", "peripheral")
    )
    assert core.half_days == pytest.approx(261, abs=0.5)
    assert peripheral.half_days == pytest.approx(30.7, abs=0.05)


def test_a_remedy_is_drawn_as_it_would_be(peer: Engine):
    memory = next(
        each["id"]
        for each in lifecycle.iterate_numbers(peer)
        if each["tier"] == "working" and not each["stale"]
    )
    life = lifecycle.follow_memory(peer, memory, BoardAsk(horizon_days=400))
    by_name = {each.name: each for each in life.remedies}
    assert set(by_name) == {"pin", "touch", "raise", "promote"}
    for each in by_name.values():
        assert len(each.curve) == len(life.at_ms)
    stale = next((c.at_ms for c in life.crossings if c.kind == "stale"), None)
    assert stale is not None
    assert by_name["raise"].stale_at_ms is None or by_name["raise"].stale_at_ms > stale
    assert ("tier", "core") in by_name["pin"].changes


# ---------------------------------------------------------------------------- rows that are not as they should be


def odd_store(tmp_path: Path) -> Engine:
    used = {"access_count": 4, "last_accessed_at": NOW_MS - DAY_MS}
    often = {"access_count": 10**9, "last_accessed_at": NOW_MS}
    rows = [
        row("zero-time", "a", [1, 0], timestamp=0),
        row("seconds", "b", [1, 0], timestamp=(NOW_MS - 90 * DAY_MS) // 1000),
        row("future", "c", [1, 0], timestamp=NOW_MS + 900 * DAY_MS),
        row("busy", "d", [1, 0], timestamp=NOW_MS - 30 * DAY_MS, metadata=often),
        row("no-importance", "e", [1, 0], timestamp=NOW_MS, importance=None),
        row("nan", "f", [1, 0], timestamp=NOW_MS, importance=float("nan")),
        row("textual", "g", [1, 0], timestamp=NOW_MS, metadata={"importance": "very", "confidence": "high"}),
        row("broken", "h", [1, 0], timestamp=NOW_MS - 300 * DAY_MS, metadata="{not json"),
        row("huge", "i", [1, 0], timestamp=NOW_MS, metadata={"access_count": 10**30, "last_accessed_at": 10**30}),
        row("used-before", "j", [1, 0], timestamp=NOW_MS, metadata=used),
    ]  # fmt: skip
    return opened(write_store(tmp_path / "odd", rows, dims=2, fts=False))


def test_odd_rows_have_defined_numbers(tmp_path: Path):
    engine = odd_store(tmp_path)
    rows = {each["id"]: each for each in lifecycle.iterate_numbers(engine)}
    assert len(rows) == 10
    for each in rows.values():
        for key in ("recency", "frequency", "intrinsic", "composite"):
            assert 0 <= each[key] <= 1, each
        assert 0.3 <= each["boost"] <= 1
    assert rows["zero-time"]["recency"] < 1e-60
    assert rows["seconds"]["recency"] == pytest.approx(0.483, abs=0.001)
    assert rows["future"]["recency"] == 1
    assert rows["busy"]["frequency"] == pytest.approx(1, abs=1e-9)
    assert rows["no-importance"]["intrinsic"] == 0
    assert rows["nan"]["intrinsic"] == pytest.approx(0.49)
    assert rows["textual"]["intrinsic"] == pytest.approx(0.49)


def test_odd_rows_can_be_forecast_for_a_hundred_years(tmp_path: Path):
    engine = odd_store(tmp_path)
    for scenario in ("no access", "access as before"):
        found = lifecycle.find_crossings(engine, days=36_525, scenario=scenario)
        assert all(NOW_MS < each.at_ms <= NOW_MS + 36_525 * DAY_MS for each in found)
        assert (
            "seconds" not in {each.id for each in found if each.kind == "stale" and scenario != "no access"}
            or found
        )
    stale = {
        each.id: each.at_ms
        for each in lifecycle.find_crossings(engine, days=36_525, scenario="no access")
        if each.kind == "stale"
    }
    assert stale["future"] > NOW_MS + 900 * DAY_MS


def test_a_sweep_leaves_a_memory_without_a_time_alone(tmp_path: Path):
    move = next(each for each in lifecycle.plan_moves(odd_store(tmp_path)) if each.id == "zero-time")
    assert (move.before, move.after, move.held) == ("working", "peripheral", "no creation time")


def test_odd_rows_are_found_and_explained(tmp_path: Path):
    engine = odd_store(tmp_path)
    titles = {finding.title: finding for finding in lifecycle.lifecycle_findings(engine)}
    assert titles["memory without a creation time"].count == 1
    assert titles["memory with a time in seconds"].count == 1
    assert titles["memory from the future"].count == 1
    everyone = titles["memories, and every one is working"]
    assert (everyone.count, everyone.filter) == (10, "tier:working")
    assert "dreaming" in everyone.remedy
    for each in ("zero-time", "seconds", "future", "busy"):
        life = lifecycle.follow_memory(engine, each, BoardAsk(horizon_days=36_525))
        assert life.lines
    assert any("1970" in line.note for line in lifecycle.follow_memory(engine, "zero-time", BoardAsk()).lines)
    assert any(
        "still to come" in line.note for line in lifecycle.follow_memory(engine, "future", BoardAsk()).lines
    )


def test_an_empty_store_has_an_empty_board(tmp_path: Path):
    engine = opened(write_store(tmp_path / "empty", [], dims=2, fts=False))
    board = lifecycle.make_board(engine, BoardAsk(horizon_days=36_525, scenario="access as before"))
    assert (board.rows, board.stale, board.moves, board.crossings) == (0, 0, (), ())
    assert list(lifecycle.iterate_numbers(engine)) == []
    assert lifecycle.plan_moves(engine) == ()
    assert lifecycle.lifecycle_findings(engine) == ()
    assert lifecycle.review(engine).cards == ()
    assert sum(lifecycle.store_history(engine).written) == 0


def test_a_store_without_a_lifecycle_says_so(shared: Path, unpack: Callable[[Path], Path]):
    engine = opened(unpack(shared / "fixtures/stores/builtin-old.tar.gz"))
    with pytest.raises(MemtuiError, match="keeps no tiers"):
        lifecycle.make_board(engine, BoardAsk())


# ---------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("block", "path"),
    [
        ({"decay": {"recencyHalfLifeDays": 0}}, "decay.recencyHalfLifeDays"),
        ({"decay": {"recencyHalfLifeDays": -3}}, "decay.recencyHalfLifeDays"),
        ({"decay": {"betaCore": float("nan")}}, "decay.betaCore"),
        ({"decay": {"halfLife": 30}}, "decay.halfLife"),
        ({"tier": {"coreAccessThreshold": "ten"}}, "tier.coreAccessThreshold"),
        ({"tier": []}, "tier"),
    ],
)
def test_a_setting_that_makes_no_curve_is_refused_by_name(block: dict[str, Any], path: str):
    with pytest.raises(ConfigError) as caught:
        resolve_settings(block)
    assert caught.value.path == path


def test_a_broken_block_of_the_store_is_named_and_left_out():
    settings = resolve_settings(
        None, base_decay={"recencyHalfLifeDays": 0}, base_tier={"peripheralAgeDays": 90}
    )
    assert settings.values["decay.recencyHalfLifeDays"] == 30
    assert settings.values["tier.peripheralAgeDays"] == 90
    assert "recencyHalfLifeDays is 0" in settings.notes[0]
    assert settings.origin == "tier of the configuration"


def test_settings_outside_the_plugins_schema_are_noted():
    notes = resolve_settings({"decay": {"betaCore": 6, "recencyWeight": 0.9}}).notes
    assert any("betaCore = 6" in note for note in notes)
    assert any("add up to 1.5" in note for note in notes)


@pytest.mark.parametrize("beta", [0.1, 5, 400])
def test_a_beta_that_overflows_still_gives_numbers(peer: Engine, beta: float):
    changed = with_changes(
        lifecycle.own_settings(peer),
        {f"decay.beta{tier}": beta for tier in ("Core", "Working", "Peripheral")},
    )
    for each in lifecycle.iterate_numbers(peer, changed):
        assert 0 <= each["recency"] <= 1
    assert lifecycle.make_board(peer, BoardAsk(horizon_days=36_525), changed).rows == 267


def test_an_unknown_knob_is_refused():
    with pytest.raises(ConfigError, match="not a known setting"):
        with_changes(resolve_settings(None), {"decay.halfLife": 3})


def test_an_unknown_scenario_is_refused(peer: Engine):
    with pytest.raises(UsageError, match="no scenario"):
        lifecycle.make_board(peer, BoardAsk(scenario="as ever"))


def test_dreaming_decides_what_is_said_of_tiers(peer: Engine):
    from memtui.engine.lifecycle.population import score, traits_of
    from memtui.engine.lifecycle.tier_plan import make_plan

    settings = lifecycle.own_settings(peer)
    traits = traits_of(peer.catalog, NOW_MS)
    scored = score(traits, now_ms=NOW_MS, decay=settings.decay, tier=settings.tier)
    plan = make_plan(traits, scored, NOW_MS)

    def titles(plugin: dict[str, Any] | None) -> set[str]:
        found = find_reality(peer.catalog, traits, scored, plan, settings, now_ms=NOW_MS, plugin=plugin)
        return {finding.title for finding in found}

    assert "memories that nothing will move" in titles({"dreaming": {"enabled": False}})
    assert "memories that dreaming will not move" in titles({"dreaming": {"enabled": True}})
    assert not titles(None) & {"memories that nothing will move", "memories that dreaming will not move"}


def test_the_cloud_is_made_of_memories_of_every_tier(peer: Engine):
    board = lifecycle.make_board(peer, BoardAsk(), texts=False)
    cloud, numbers = board.cloud, ("tier", "composite", "recency", "boost")
    there = {tuple(each[name] for name in numbers) for each in lifecycle.iterate_numbers(peer)}
    drawn = list(zip(cloud.tiers, cloud.composite, cloud.recency, cloud.boost, strict=True))
    assert set(drawn) <= there
    assert set(cloud.tiers) == {facts.tier for facts in board.tiers if facts.rows}
    for facts in board.tiers:
        assert min(OF_EACH_TIER, facts.rows) * 0.9 <= cloud.tiers.count(facts.tier) <= OF_EACH_TIER
    assert min(cloud.days) >= 0, "rows of the future and without a time are left out"
