"""`memtui alive` and what doctor says of the same: exit codes, the document, one edit with its undo."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.cli.main import run
from tests.conftest import ROOT

EXITS = {
    "lancedb": 0, "core": 0, "pro": 0, "sessions": 4, "broken-no-conversation": 1, "broken-no-injection": 1,
    "broken-slot-core": 1, "broken-plugin-missing": 1, "broken-dims": 1, "broken-pro-no-conversation": 1,
}  # fmt: skip


@pytest.fixture
def at(
    shared: Path, unpack: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Path]:
    def go(name: str) -> Path:
        home = unpack(shared / "fixtures" / "openclaw" / f"{name}.tar.gz")
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("XDG_STATE_HOME", str(home.parent / "state"))
        monkeypatch.chdir(home)
        return home

    return go


@pytest.mark.parametrize("name", EXITS)
def test_the_verdict_is_the_exit_code(
    name: str, at: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    at(name)
    assert run(["alive", "--json"]) == EXITS[name]
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == {0: "alive", 1: "dead", 4: "unknown"}[EXITS[name]]
    assert told["host"] == {"name": "OpenClaw", "version": "2026.9.6", "known": True}
    assert run(["alive", "--all"]) == EXITS[name]
    words = capsys.readouterr().out
    assert words.startswith(told["verdict"])
    for agent in told["agents"]:
        for part in agent["parts"]:
            assert all(code in words for code in part["causes"])


def test_an_edit_is_shown_then_written_then_taken_back(
    at: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    file = at("broken-no-conversation") / ".openclaw" / "openclaw.json"
    before = file.read_bytes()
    assert run(["alive", "--fix", "A1"]) == 0
    assert "allowConversationAccess" in capsys.readouterr().out
    assert file.read_bytes() == before
    assert run(["alive", "--fix", "A1", "--yes"]) == 0
    assert run(["alive"]) == 0
    assert run(["config", "undo", "--yes"]) == 0
    assert file.read_bytes() == before
    assert run(["alive", "--fix", "B9"]) == 2


def test_the_doctor_says_the_same_of_the_store(
    at: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for name, kinds in (
        ("broken-no-conversation", {"D41", "D42"}),
        ("broken-dims", {"D41", "D42", "D44"}),
        ("pro", {"D41", "D43"}),
        ("external-edit", {"D41"}),
        ("core", {"D41", "D45", "D47"}),
    ):
        at(name)
        run(["doctor", "--json"])
        told = json.loads(capsys.readouterr().out)
        assert {each["kind"] for each in told["findings"] if int(each["kind"][1:]) > 40} == kinds
        assert told["host"] == {"name": "OpenClaw", "version": "2026.9.6", "known": True}


RULES: dict[str, set[str]] = {
    "lancedb": set(), "core": set(), "pro": set(), "sessions": set(), "broken-no-conversation": {"permission"},
    "broken-pro-no-conversation": {"permission"}, "broken-slot-core": {"slot"}, "broken-no-injection": {"A2"},
    "broken-plugin-missing": {"A4"}, "broken-dims": {"B3"}, "config-old-list": {"permission", "A9"},
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_the_configuration_is_judged_by_the_plugin_that_owns_the_slot(
    name: str, at: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    at(name)
    assert run(["config", "check", "--json"]) == (1 if RULES[name] else 0)
    told = json.loads(capsys.readouterr().out)
    assert {problem["rule"] for problem in told["problems"]} == RULES[name]


def test_a_plan_for_another_plugin_than_the_slots_owner_is_refused(
    at: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for name, owner in (("lancedb", "memory-lancedb"), ("core", "memory-core")):
        home = at(name)
        before = (home / ".openclaw" / "openclaw.json").read_bytes()
        for words in (["plan", "A"], ["diff", "A"], ["apply", "A", "--yes", "--no-key-checks"]):
            assert run(["config", *words]) == 3
            assert f"{owner} has the memory slot" in capsys.readouterr().err
        assert run(["config", "check", "--keys", "--yes"]) == 2
        assert "memtui alive --try" in capsys.readouterr().err
        assert (home / ".openclaw" / "openclaw.json").read_bytes() == before


def test_a_plan_for_todays_host_brings_the_permission(
    at: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    at("broken-pro-no-conversation")
    assert run(["config", "plan", "D", "--json"]) in (0, 1)
    changes = json.loads(capsys.readouterr().out)["changes"]
    assert any(change["path"][-1] == "allowConversationAccess" and change["to"] is True for change in changes)


@pytest.mark.parametrize("name", ["core", "sessions", "config-old-list"])
def test_no_library_of_tables_is_loaded_where_no_table_is_opened(
    name: str, at: Callable[[str], Path]
) -> None:
    at(name)
    command = [sys.executable, "-X", "importtime", "-m", "memtui", "alive"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}
    assert done.returncode in (0, 1, 4)
    assert "memtui.engine.alive.store_rules" in loaded
    assert not loaded & {"lancedb", "httpx", "textual", "pydantic"}


PARTS = ("recall", "capture", "tools", "embedding", "index", "workspace", "dreaming")


@pytest.mark.parametrize("name", ["lancedb", "pro", "broken-dims", "external-edit"])
def test_the_doctor_passes_no_part_that_nothing_decides(
    name: str, at: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    at(name)
    run(["alive", "--json"])
    agents = json.loads(capsys.readouterr().out)["agents"]
    run(["doctor", "--json"])
    told = json.loads(capsys.readouterr().out)
    unlooked = {check["kind"]: check["why"] for check in told["not_checked"]}
    assert agents
    for number, part in enumerate(PARTS, 41):
        states = {each["state"] for agent in agents for each in agent["parts"] if each["part"] == part}
        assert not states & {"unknown", "dead", "weak"} or f"D{number}" not in told["fine"], part
        if states == {"unknown"}:
            assert unlooked[f"D{number}"], part


def test_a_store_that_no_agent_is_configured_for_has_no_checks_of_an_agents_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    store = str(tmp_path / "own")
    assert run(["new", store]) == 0
    capsys.readouterr()
    assert run(["doctor", "--json", "--store", store]) == 0
    told = json.loads(capsys.readouterr().out)
    named = {*told["fine"], *(check["kind"] for check in told["not_checked"])}
    assert "D1" in named
    assert not named & {f"D{number}" for number in range(41, 48)}
