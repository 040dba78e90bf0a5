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
from tests.engine import pro_store

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
    assert json.loads(out)["recorded"] is True
    assert "minimum" in run("injections", "--store", after)[1]


@pytest.mark.slow
def test_a_question_is_asked_again_today_and_as_of_its_moment(run: Run, home: Path, after: Path) -> None:
    code, out, err = run("replay", IDS[2], "--store", after, "--turn", 1, "--as-of", "--json")
    assert code == 0, err
    [turn] = json.loads(out)["turns"]
    told = [
        (each["id"][:8], each.get("rank_as_of"), each["gate"], each["rank_now"]) for each in turn["memories"]
    ]
    assert told == [
        ("1d538c87", None, "scope", None),  # nothing is configured here: the usual scopes of main
        ("fecedc6c", 1, None, None),
        ("86370023", 2, None, None),
    ]
    assert turn["warnings"] == ["this injection is known from the store only: minimum"]
    [turn] = json.loads(run("replay", IDS[2], "--store", after, "--turn", 1, "--now", "--json")[1])["turns"]
    assert [(each["rank_now"] is None, each["gate"]) for each in turn["memories"]] == [
        (True, "scope"),
        (False, None),
        (False, None),
    ]
    assert run("replay", IDS[2], "--store", after, "--now", "--as-of")[0] == 2


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
    code, out, _ = run("access", "--store", after, "--leaks", "--json")
    hunted = json.loads(out)["leaks"]
    assert code == 0
    assert hunted["looked"]["wrong-scope"] == 19
    assert all(each["channel"] in hunted["looked"] for each in hunted["found"])
    assert {each["rules"]["basis"] for each in hunted["found"] if each["certainty"] == "did"} <= {"today"}
    assert hunted["allowed_then"] > 0  # the session's own tool searched project:atlas on that day
    assert f"{len(hunted['found'])} found" in run("access", "--store", after, "--leaks")[1]


def test_a_policy_cannot_be_kept_by_rules_that_the_plugin_refuses(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check for continuous use must not pass because nothing could be checked."""
    monkeypatch.setenv("HOME", str(tmp_path))
    store = tmp_path / ".openclaw" / "memory" / "lancedb-pro"
    pro_store.write_store(store, [pro_store.row("1", "The port is 8001.", [1, 0])], dims=2)
    config = {"embedding": {"apiKey": "x"}, "scopes": {"default": "nowhere"}}
    plugins = {
        "slots": {"memory": "memory-lancedb-pro"},
        "entries": {"memory-lancedb-pro": {"enabled": True, "config": config}},
    }
    (tmp_path / ".openclaw" / "openclaw.json").write_text(json.dumps({"plugins": plugins}), "utf-8")
    policy = tmp_path / "policy.txt"
    policy.write_text("deny: main global\n", "utf-8")
    code, out, _ = run("access", "--json")
    assert code == 0
    assert [(each["kind"], each["subject"]) for each in json.loads(out)["findings"]] == [
        ("config-throws", "scopes.default")
    ]
    code, _, err = run("access", "--policy", policy)
    assert code == 1
    assert "No rule can be checked" in err


def test_what_a_memory_reached_is_mended_row_by_row_and_taken_back_at_once(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two rows, two choices, the demo's own model for the new words; one entry, one undo."""
    for name in ("HOME", "MEMTUI_STATE_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    code, out, err = run("demo", "--make-only")
    assert code == 0, err
    store = Path(out.strip().splitlines()[-1])
    listed = json.loads(run("ls", '"port 2222"', "--store", store, "--json")[1])["rows"]
    texts = {each["id"]: each["text"] for each in listed}
    poisoned = next(key for key, text in texts.items() if text.startswith("SSH to the bastion"))
    reach = json.loads(run("blast", poisoned, "--store", store, "--json")[1])
    assert (reach["id"], reach["removable"]) == (poisoned, [poisoned])
    wanted = f"{poisoned[:8]}=replace:2222=>48022"
    code, out, err = run(
        "blast", poisoned, "--store", store, "--do", "same=archive", "--do", wanted, "--dry-run"
    )
    assert code == 0, err
    assert "48022" in out
    assert json.loads(run("show", poisoned, "--store", store, "--json")[1])["text"] == texts[poisoned]
    assert run("blast", poisoned, "--store", store, "--do", wanted, "--json")[0] == 0
    shown = json.loads(run("show", poisoned, "--store", store, "--json")[1])
    assert shown["text"] == texts[poisoned].replace("2222", "48022")
    assert run("undo", "--store", store)[0] == 0
    assert json.loads(run("show", poisoned, "--store", store, "--json")[1])["text"] == texts[poisoned]
    for wrong in ("same", "same=burn", "nobody=leave", "same=replace:nowhere=>x"):
        assert run("blast", poisoned, "--store", store, "--do", wrong)[0] in (1, 2)
    assert run("blast", poisoned, "--store", store, "--yes")[0] == 2
