"""The command line of the witness: sessions, replay, injections."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
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


def test_blast_and_proof_pack_tell_the_reach_of_one_memory(
    run: Run, home: Path, after: Path, tmp_path: Path
) -> None:
    before = tree_hash(after), tree_hash(home)
    code, out, err = run("blast", "1d538c87", "--store", after, "--json")
    assert code == 0, err
    reach = json.loads(out)
    assert [(each["session"][-2:], each["n"], each["evidence"]) for each in reach["turns"]] == [
        ("a1", 1, "transcript"),
        ("a1", 7, "transcript"),
        ("a3", 1, "store"),
    ]
    assert reach["agents"] == [{"agent": "main", "turns": 3}]
    assert [each["kind"] for each in reach["files"]] == ["session"]
    gone = json.loads(run("blast", "d5ec0dac", "--store", after, "--json")[1])
    assert (gone["there"], gone["versions"]["last"], gone["removable"]) == (False, 431, [])
    pack = tmp_path / "pack.zip"
    assert run("proof-pack", "d5ec0dac", pack, "--store", after)[0] == 0
    with zipfile.ZipFile(pack) as parts:
        proof = json.loads(parts.read("proof.json"))
        sums = parts.read("SHA256SUMS").decode()
        for name in ("proof.json", "READ-ME-FIRST.md"):
            assert f"{hashlib.sha256(parts.read(name)).hexdigest()}  {name}" in sums
    [memory] = proof["memories"]
    assert memory["removed"] is True
    assert memory["removal"]["version"] == 432
    assert memory["stored"][0]["text"] == "temporary scratch memory about zebra crossings"
    assert {"agent": "main", "scope": "agent:main", "reason": "default-own"} in memory["could_read"]
    assert len(proof["hashes"]) == 53
    assert run("proof-pack", "d5ec0dac", pack, "--store", after)[0] == 2
    assert run("proof-pack", "d5ec0dac", "--store", after)[0] == 2
    other = tmp_path / "subject.zip"
    assert run("proof-pack", "--subject", "Kenji coffee", other, "--store", after)[0] == 0
    assert run("blast", "nothing-such", "--store", after)[0] == 2
    assert (tree_hash(after), tree_hash(home)) == before


def test_real_questions_become_cases(run: Run, home: Path, after: Path) -> None:
    code, out, err = run("cases", "from-sessions", "--since", "2026-01-01", "--store", after, "--json")
    assert code == 0, err
    made = json.loads(out)
    assert made["turns"] == 19
    assert made["left_out"]["not recorded what was injected"] == 2
    listed = json.loads(run("cases", "list", "--store", after, "--json")[1])["cases"]
    assert len(listed) == made["taken"] > 5
    assert all(case["expected"] and case["agent"] == "main" for case in listed)
    assert (
        json.loads(run("cases", "from-sessions", "--since", "2030-01-01", "--store", after, "--json")[1])[
            "taken"
        ]
        == 0
    )


def test_access_is_a_check_for_continuous_use(run: Run, home: Path, after: Path, tmp_path: Path) -> None:
    code, out, err = run("access", "--store", after, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert [each["id"] for each in found["agents"] if each["pseudo"]] == ["no id", "shell"]
    assert all(
        {"agent", "scope", "read", "write", "reason", "rows", "injectable"} <= set(cell)
        for cell in found["cells"]
    )
    main = {cell["scope"]: cell for cell in found["cells"] if cell["agent"] == "main"}
    assert (main["global"]["reason"], main["user:mira"]["reason"]) == ("default-global", "not-granted")
    policy = tmp_path / "policy.txt"
    policy.write_text("# nobody but mira\ndeny: * user:*\n", "utf-8")
    assert run("access", "--store", after, "--policy", policy)[0] == 0
    policy.write_text("deny: main glob*\n", "utf-8")
    code, out, _ = run("access", "--store", after, "--policy", policy, "--json")
    assert (code, json.loads(out)["broken"][0]["scope"]) == (1, "global")
    assert run("access", "--store", after, "--policy", policy, "--agent", "ops")[0] == 0
    policy.write_text("deny main\n", "utf-8")
    assert run("access", "--store", after, "--policy", policy)[0] == 2
    assert run("access", "--store", after, "--agent", "nobody")[0] == 2
    assert (
        "No leak" in run("access", "--store", after, "--leaks")[1]
        or "found" in run("access", "--store", after, "--leaks")[1]
    )
