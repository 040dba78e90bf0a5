"""Health: what is wrong, worst first, with its evidence and its remedy; indexes, versions and the configuration."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import open_engine
from memtui.engine.cases import CaseBook
from memtui.engine.cases.case import Case
from memtui.paths import cases_file
from memtui.tui.screens.health.screen import HealthScreen
from tests.conftest import NOW_MS, tree_hash
from tests.engine import planted_faults as planted
from tests.engine.openclaw_homes import unpack_home
from tests.tui.driving import EACH_SIZE, SIZES, check_golden, press, running, screen_text, settle
from tests.tui.previews import tells_consequences

DAY_MS = 86_400_000


def ill(home: Path) -> Any:
    """A store with a few faults, and the configuration that names it; the clock stands still."""
    folder = home / ".openclaw" / "memory" / "lancedb-pro"
    changes = [
        {"scope": None},
        {"scope": "nowhere"},
        {"metadata": "not json"},
        {"vector": [0.0] * planted.DIMS},
    ]
    rows = [
        planted.memory(
            n, timestamp=float(NOW_MS - (n + 1) * DAY_MS), **(changes[n] if n < len(changes) else {})
        )
        for n in range(80)
    ]
    planted.write_store(folder, rows, dims=planted.DIMS)
    (home / ".openclaw" / "openclaw.json").write_text(
        "{ plugins: { slots: { memory: 'memory-lancedb-pro' }, entries: "
        "{ 'memory-lancedb-pro': { enabled: true, config:"
        " { embedding: { apiKey: 'ollama', model: 'x', dimensions: 32, baseURL: 'http://127.0.0.1:1/v1' } } } } } }"
    )
    return open_engine(
        None, now=lambda: NOW_MS, environ={"HOME": str(home)}, cwd=home, writable=True, state=home / "state"
    )


def still(text: str, home: Path) -> str:
    """The screen without what differs from run to run: folders, and the times at which versions were written."""
    text = text.replace(str(home), "~".ljust(len(str(home)))[: len(str(home))])
    return re.sub(r"\d+ min ahead", "n min ahead", text)


@pytest.mark.parametrize("size", EACH_SIZE)
async def test_doctor_at_three_sizes(size: tuple[int, int], tmp_path: Path) -> None:
    async with running(ill(tmp_path), size) as (app, pilot):
        await press(pilot, "9")
        await settle(pilot)
        assert isinstance(app.screen, HealthScreen)
        text = screen_text(app)
        assert "WRONG ANSWERS" in text
        assert "LOSS AND LEAKS" in text
        assert "2 memories in a scope no agent can read" in text
        check_golden(f"health-doctor-{size[0]}x{size[1]}", _without_clock(still(text, tmp_path)))


def _without_clock(text: str) -> str:
    """The versions are written by the real clock, which is ahead of the one that stands still: D25 says so."""
    return "\n".join(
        "(two clocks)" if "two clocks" in line or "ahead of" in line else line for line in text.splitlines()
    )


@pytest.mark.slow
async def test_looking_writes_nothing_and_the_deep_pass_finds_more(tmp_path: Path) -> None:
    engine = ill(tmp_path)
    before = tree_hash(tmp_path / ".openclaw")
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "9")
        await settle(pilot)
        assert "vector of zeros" not in screen_text(app)
        await press(pilot, "r")
        await settle(pilot)
        assert "1 memory with a vector of zeros" in screen_text(app)
        assert "all passes" in screen_text(app)
        for wanted in ("text_idx", "made an index", "no change planned"):
            await press(pilot, "right_square_bracket")
            await settle(pilot)
            assert wanted in screen_text(app)
        await press(pilot, "p")
        await settle(pilot)
        assert "plan A" in screen_text(app), "a plan is shown when it is asked for"
    assert tree_hash(tmp_path / ".openclaw") == before


async def test_fix_shows_the_remedy_as_a_preview(tmp_path: Path) -> None:
    async with running(ill(tmp_path), (120, 36)) as (app, pilot):
        await press(pilot, "9")
        await settle(pilot)
        await press(pilot, "f")
        await settle(pilot)
        text = screen_text(app)
        assert "→ global" in text
        assert "cancel" in text
        await press(pilot, "escape")
        await settle(pilot)
        assert isinstance(app.screen, HealthScreen)


async def test_the_versions_tell_what_each_changed(tmp_path: Path) -> None:
    engine = ill(tmp_path)
    planted.add(tmp_path / ".openclaw" / "memory" / "lancedb-pro", [planted.memory(200)])
    engine.refresh()
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "9", "right_square_bracket", "right_square_bracket")
        await settle(pilot)
        await press(pilot, "enter")
        await settle(pilot)
        assert f"+ {planted.key_of(200)[:8]}" in screen_text(app)


async def test_who_wrote_since_a_version_and_a_group_goes_to_browse(tmp_path: Path) -> None:
    engine = ill(tmp_path)
    folder = tmp_path / ".openclaw" / "memory" / "lancedb-pro"
    planted.add(folder, [planted.memory(200 + n, metadata={"source": "auto-capture"}) for n in range(12)])
    engine.refresh()
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "9", *["right_square_bracket"] * 2)
        await settle(pilot)
        await press(pilot, "w")
        await settle(pilot)
        assert "Nothing is new, changed or gone" in screen_text(app)
        await press(pilot, "G", "w")
        await settle(pilot)
        shown = screen_text(app)
        assert "burst: 12 memories" in shown
        assert "writer: capture" in shown
        assert "12 new" in shown
        await press(pilot, "enter")
        await settle(pilot)
        assert "12 of" in screen_text(app)


async def test_all_that_is_safe_is_one_preview_and_then_mended(tmp_path: Path) -> None:
    engine = ill(tmp_path)
    store = tmp_path / ".openclaw" / "memory" / "lancedb-pro"
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "9")
        await settle(pilot)
        before = tree_hash(store)
        await press(pilot, "F")
        await settle(pilot)
        text = screen_text(app)
        assert "D23 2 memories in a scope no agent can read" in text
        assert "EFFECT ON RECALL" in text
        assert tree_hash(store) == before
        assert "Y the agent is stopped: fix 2 findings" in text  # its build cannot be told
        await press(pilot, "Y")
        await settle(pilot)
        await settle(pilot)
        assert "see the Journal" in screen_text(app)
        assert "2 memories in a scope no agent can read" not in screen_text(app)
    scopes = {row["scope"] for row in planted.open_table(store).search().limit(None).to_list()}
    assert None not in scopes


def writable(home: Path) -> Any:
    """The same, with a state folder of its own for records of configuration changes."""
    ill(home).close()
    environ = {"HOME": str(home), "MEMTUI_STATE_DIR": str(home / "state")}
    return open_engine(
        None, now=lambda: NOW_MS, environ=environ, cwd=home, writable=True, state=home / "state"
    )


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_a_plan_is_turned_looked_at_written_and_taken_back(
    size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written before the preview was agreed to; the way back gives every byte again."""
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    engine = writable(tmp_path)
    file = tmp_path / ".openclaw" / "openclaw.json"
    before = file.read_bytes()
    async with running(engine, size) as (app, pilot):
        await press(pilot, "9", *["right_square_bracket"] * 3)
        await settle(pilot)
        text = screen_text(app)
        assert "problems" in text
        assert "no change planned" in text
        assert "plan A" not in text, "a plan that nobody asked for"
        await press(pilot, "p")
        await settle(pilot)
        assert "plan A, full" in screen_text(app)
        await press(pilot, *"pppp")  # what the person turns alone
        await settle(pilot)
        assert "no change planned" in screen_text(app)
        await press(pilot, "v")
        await settle(pilot)
        assert "provider" in screen_text(app)
        assert isinstance(app.screen, HealthScreen)
        app.screen.have(cursor="retrieval.minScore")
        await settle(pilot)
        text = screen_text(app)
        assert "0 to 1" in text
        assert "lowest score before the other stages" in text
        await press(pilot, "e", *"7", "enter")
        await settle(pilot)
        assert "retrieval.minScore, allowed: 0 to 1" in screen_text(app)
        await press(pilot, "e", *"0.2", "enter")
        await settle(pilot)
        assert "unset → 0.2" in screen_text(app)
        assert file.read_bytes() == before
        await press(pilot, "A")
        await settle(pilot)
        assert "retrieval.minScore: unset → 0.2" in screen_text(app)
        await press(pilot, "escape")
        assert file.read_bytes() == before
        await press(pilot, "A")
        await settle(pilot)
        await press(pilot, "A")
        await settle(pilot)
        await settle(pilot)
        assert "you restart the gateway" in screen_text(app)
        assert b"minScore: 0.2" in file.read_bytes() or b'"minScore": 0.2' in file.read_bytes()
        rules = app.session.engine.recall_context().base_retrieval
        assert rules == {"minScore": 0.2}, "the open store goes by what was written"
        await press(pilot, "u")
        await settle(pilot)
        await press(pilot, "A")
        await settle(pilot)
        assert file.read_bytes() == before


async def test_a_file_that_somebody_else_changes_is_said_and_read(tmp_path: Path) -> None:
    ill(tmp_path).close()
    engine = open_engine(
        None, now=lambda: NOW_MS, environ={"HOME": str(tmp_path)}, cwd=tmp_path, writable=True
    )
    file = tmp_path / ".openclaw" / "openclaw.json"
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "9", *["right_square_bracket"] * 3)
        await settle(pilot)
        file.write_text(file.read_text().replace("config: {", "config: { retrieval: { minScore: 0.45 },"))
        app._store.watch()
        await settle(pilot)
        assert "configuration changed" in app.session.newer
        assert "configuration changed" in screen_text(app)
        await press(pilot, "r")
        await settle(pilot)
        await settle(pilot)
        assert app.session.newer == ""
        assert app.session.engine.recall_context().base_retrieval == {"minScore": 0.45}
        app.screen.have(cursor="retrieval.minScore", listing=True)
        await settle(pilot)
        assert "0.45" in screen_text(app)


async def test_a_plan_is_flown_on_the_screen_before_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    engine = writable(tmp_path)
    case = Case("c1", planted.memory(3)["text"], (planted.key_of(3),))
    CaseBook(cases_file(engine.info.uri)).put(case)
    before = tree_hash(tmp_path / ".openclaw")
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "9", *["right_square_bracket"] * 3, "p")
        await settle(pilot)
        await press(pilot, "T")
        await settle(pilot)
        assert "without asking anybody" in screen_text(app)
        await press(pilot, "enter")
        await settle(pilot)
        await settle(pilot)
        text = screen_text(app)
        assert "the expected memory is" in text or "no result" in text
        assert "the reranker was not asked" in text
    assert tree_hash(tmp_path / ".openclaw") == before


async def test_the_preview_of_a_plan_shows_the_answers_before_and_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked for where the plan was not flown before: text, place and score, not a count alone."""
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    engine = writable(tmp_path)
    vector = tuple(planted.word_vector(planted.text_of(3)))
    case = Case("c1", planted.text_of(3), (planted.key_of(3),), query_vector=vector, everyone=True)
    CaseBook(cases_file(engine.info.uri)).put(case)
    before = tree_hash(tmp_path / ".openclaw")
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "9", *["right_square_bracket"] * 3)
        await settle(pilot)
        app.screen.have(cursor="retrieval.minScore", listing=True)
        await settle(pilot)
        await press(pilot, "e", "ctrl+u", *"0.99", "enter")
        await settle(pilot)
        await press(pilot, "A")
        await settle(pilot)
        await settle(pilot)
        text = screen_text(app)
        assert "WHAT WOULD BE ANSWERED" in text
        tells_consequences(app, "a plan of the configuration")
        assert "1 of 1 answer changes" in text
        shown = [line for line in text.splitlines() if planted.text_of(3)[:20] in line]
        assert len(shown) >= 2, "the question, and the memory that is lost by it"
    assert tree_hash(tmp_path / ".openclaw") == before


@pytest.mark.slow
async def test_a_version_is_named_asked_copied_and_brought_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    engine = writable(tmp_path)
    store = tmp_path / ".openclaw" / "memory" / "lancedb-pro"
    gone = planted.key_of(5)
    planted.open_table(store).delete(f"id = '{gone}'")
    engine.refresh()
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "9", *["right_square_bracket"] * 2)
        await settle(pilot)
        await press(pilot, "j", "e", *"before", "enter")
        await settle(pilot)
        await settle(pilot)
        assert "before:" in screen_text(app)
        await press(pilot, "d")
        await settle(pilot)
        assert f"- {gone[:8]}" in screen_text(app)
        await press(pilot, "u")
        await settle(pilot)
        await press(pilot, "Y")
        await settle(pilot)
        await settle(pilot)
        rows = planted.open_table(store).search().where(f"id = '{gone}'").to_list()
        assert [row["id"] for row in rows] == [gone]
        copy = tmp_path / "kept"
        await press(pilot, "P", "ctrl+u", *str(copy), "enter")
        await settle(pilot)
        await settle(pilot)
        kept = open_engine(copy, now=lambda: NOW_MS, environ={"HOME": str(tmp_path)}, cwd=tmp_path)
        assert kept.store.count() == 80
        await press(pilot, "t", *planted.memory(7)["text"][:20].replace(" ", ""), "enter")
        await settle(pilot)
        await settle(pilot)
        assert "asked" in screen_text(app)


@pytest.mark.slow
async def test_a_whole_restore_asks_the_cases_before_and_after_and_leaves_a_receipt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    engine = writable(tmp_path)
    store = tmp_path / ".openclaw" / "memory" / "lancedb-pro"
    planted.add(store, [planted.memory(200)])
    engine.refresh()
    vector = tuple(planted.word_vector(planted.text_of(200)))
    case = Case("c1", planted.text_of(200), (planted.key_of(200),), query_vector=vector, everyone=True)
    CaseBook(cases_file(engine.info.uri)).put(case)
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "9", *["right_square_bracket"] * 2)
        await settle(pilot)
        await press(pilot, "j", "X")
        await settle(pilot)
        text = screen_text(app)
        assert "1 memory that came since would go" in text
        assert "EFFECT ON RECALL" in text
        assert f"worse  {planted.text_of(200)[:20]}" in text
        assert "came since" in text
        tells_consequences(app, "going back to a version")
        assert planted.open_table(store).count_rows() == 81
        await press(pilot, "enter" if "enter do it" in text else "Y")
        await settle(pilot)
        await settle(pilot)
        assert planted.open_table(store).count_rows() == 80
        entry = app.session.engine.write_state.journal.entries()[0]
        assert entry.action == "maintain"
        answers = entry.detail["receipt"]["answers"]
        assert (answers["cases"]["right_before"], answers["cases"]["right_after"]) == (1, 0)
    restored = planted.open_table(store)
    assert [each.name for each in restored.list_indices()] == ["text_idx"], "the words are indexed anew"


async def test_the_last_question_is_asked_again_in_recall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    engine = writable(tmp_path)
    case = Case("c1", planted.text_of(3), (planted.key_of(3),))
    CaseBook(cases_file(engine.info.uri)).put(case)
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "9", *["right_square_bracket"] * 3)
        await settle(pilot)
        await press(pilot, "R")
        await settle(pilot)
        await settle(pilot)
        assert app.current_mode == "recall"
        assert planted.text_of(3)[:20] in screen_text(app)


async def test_an_index_that_does_harm_is_dropped_from_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "lancedb-pro"
    planted.PLANTED["D11"][1](folder)
    environ = {"HOME": str(tmp_path), "MEMTUI_STATE_DIR": str(tmp_path / "state")}
    engine = open_engine(
        folder, now=lambda: NOW_MS, environ=environ, cwd=tmp_path, writable=True, state=tmp_path / "state"
    )
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "9", "right_square_bracket")
        await settle(pilot)
        await settle(pilot)
        assert "harmful" in screen_text(app)
        app.screen.have(cursor="text_idx")
        await press(pilot, "f")
        await settle(pilot)
        assert "keep it" in screen_text(app)
        app.screen.have(cursor="vector_idx")
        await press(pilot, "f")
        await settle(pilot)
        assert "drop the index vector_idx" in screen_text(app)
        await press(pilot, "enter")
        await settle(pilot)
        await settle(pilot)
        assert "the Journal has the receipt" in screen_text(app)
    assert [each.name for each in planted.open_table(folder).list_indices()] == ["text_idx"]


@pytest.mark.parametrize("size", EACH_SIZE)
@pytest.mark.parametrize("name", ["broken-dims", pytest.param("broken-slot-core", marks=pytest.mark.slow)])
async def test_a_configuration_of_another_plugin_is_judged_and_gets_no_plan(
    name: str, size: tuple[int, int], tmp_path: Path, shared: Path
) -> None:
    home = unpack_home(shared, name, tmp_path)
    engine = home.engine()
    assert engine is not None
    file = home.path / ".openclaw" / "openclaw.json"
    before = file.read_bytes()
    async with running(engine, size) as (app, pilot):
        await press(pilot, "9", *["right_square_bracket"] * 3)
        await settle(pilot)
        for keys in ((), ("p",), ("p", "p"), ("down", "enter")):
            await press(pilot, *keys)
            await settle(pilot)
            text = " ".join(re.sub("[│╭╮╰╯─]", " ", screen_text(app)).split())
            assert "has the slot" in text
            assert "problems 1" in text
            assert "memory-lancedb-pro.config" not in text, "a plan that would take the slot"
            assert "plan A" not in text
        await press(pilot, "home", "down")
        await settle(pilot)
        text = " ".join(re.sub("[│╭╮╰╯─]", " ", screen_text(app)).split())
        assert ("memtui reembed" if name == "broken-dims" else "Set plugins.slots.memory") in text
    assert file.read_bytes() == before


@pytest.mark.parametrize("size", EACH_SIZE)
async def test_a_store_without_a_configuration_says_what_is_missing(
    size: tuple[int, int], tmp_path: Path
) -> None:
    folder = planted.sound(tmp_path / "store")
    now_ms = time.time_ns() // 1_000_000  # of the clock by which the versions are written
    engine = open_engine(folder, now=lambda: now_ms, environ={"HOME": str(tmp_path)}, cwd=tmp_path)
    async with running(engine, size) as (app, pilot):
        await press(pilot, "9")
        await settle(pilot)
        assert "were not read yet: refresh reads them" in screen_text(app), (
            "nothing found, by half of the checks"
        )
        await press(pilot, *["right_square_bracket"] * 3)
        await settle(pilot)
        text = " ".join(re.sub("[│╭╮╰╯─]", " ", screen_text(app)).split())
        assert "no plan can be made" in text
        assert "OPENCLAW_CONFIG_PATH" in text
        assert "plans A to D" in text
