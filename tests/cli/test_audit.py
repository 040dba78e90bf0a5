"""The command line of the witness: sessions, replay, injections."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.conftest import tree_hash

IDS = [f"4d1f6a10-0000-4000-8000-0000000000a{n}" for n in (1, 2, 3)]


@pytest.fixture
def home(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(shared / "fixtures" / "sessions" / "home", tmp_path / "home")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "home"


@pytest.fixture
def after(shared: Path, unpack: Callable[[Path], Path]) -> Path:
    found = unpack(shared / "fixtures" / "sessions" / "store-after.tar.gz")
    return found.parent if found.name == "memories.lance" else found


def test_sessions_need_neither_a_store_nor_a_configuration(run: Run, home: Path) -> None:
    code, out, err = run("sessions", "--json")
    assert code == 0, err
    listed = {each["id"]: each for each in json.loads(out)["sessions"]}
    assert {key: (each["agent"], each["turns"], each["evidence"]) for key, each in listed.items()} == {
        IDS[0]: ("main", 7, "transcript"),
        IDS[1]: ("main", 5, "trajectory"),
        IDS[2]: ("main", 7, "none"),
    }
    assert json.loads(run("sessions", "--json", "--agent", "other")[1])["sessions"] == []
    assert len(json.loads(run("sessions", "--json", "--since", "2026-10-01")[1])["sessions"]) == 1
    assert run("sessions", "--since", "soon")[0] == 2


def test_replay_says_not_recorded_and_nothing_in_different_words(run: Run, home: Path, after: Path) -> None:
    before = tree_hash(after)
    code, out, err = run("replay", IDS[1], "--store", after, "--json")
    assert code == 0, err
    turns = json.loads(out)["turns"]
    keys = {"n", "time_ms", "question", "evidence", "block", "memories", "warnings"}
    assert all(keys <= set(turn) for turn in turns)
    assert [turn["evidence"] for turn in turns] == ["trajectory"] * 3 + ["none"] * 2
    assert turns[1]["memories"] == []
    assert turns[3]["memories"] is None
    memory = turns[0]["memories"][0]
    assert {"line", "id", "state", "rank_then", "rank_now", "gate"} <= set(memory)
    assert memory["rank_then"] == 1
    assert [
        turn["n"]
        for turn in json.loads(run("replay", IDS[1], "--store", after, "--turn", 3, "--json")[1])["turns"]
    ] == [3]
    assert run("replay", IDS[1], "--store", after, "--turn", 9)[0] == 2
    assert run("replay", "nothing", "--store", after)[0] == 2
    assert "not recorded" in run("replay", IDS[1], "--store", after)[1]
    assert tree_hash(after) == before


def test_injections_come_from_the_store_alone(run: Run, home: Path, after: Path) -> None:
    code, out, err = run("injections", "--store", after, "--json")
    assert code == 0, err
    events = json.loads(out)["events"]
    assert [(each["time_ms"], len(each["ids"]), each["complete"]) for each in events] == [
        (1795354824838, 3, False),
        (1795354826737, 3, False),
        (1795354827510, 3, False),
        (1795354828654, 3, False),
        (1795354829918, 3, False),
        (1795354830769, 2, False),
        (1795354831942, 1, False),
    ]
    later = json.loads(run("injections", "--store", after, "--since", "2026-11-22T13:40:30", "--json")[1])
    assert len(later["events"]) == 2
    assert "at least" in run("injections", "--store", after)[1]


def test_a_question_is_asked_again_today_and_as_of_its_moment(run: Run, home: Path, after: Path) -> None:
    code, out, err = run("replay", IDS[2], "--store", after, "--turn", 1, "--as-of", "--json")
    assert code == 0, err
    [turn] = json.loads(out)["turns"]
    assert len(turn["memories"]) == 3
    asked = [each for each in turn["memories"] if "rank_as_of" in each]
    told = any("not asked again" in each for each in turn["warnings"])
    assert asked or told
