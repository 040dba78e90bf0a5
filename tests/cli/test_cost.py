"""`memtui cost`: its document, its labels, its words for what nobody recorded, and that nothing is written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from memtui.engine.cost import stable_order
from memtui.engine.demo.build import build_demo
from tests.cli.conftest import Run
from tests.conftest import NOW_MS, tree_hash
from tests.engine.openclaw_homes import unpack_home


@pytest.fixture(scope="module")
def made(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_home(shared, "lancedb", tmp_path_factory.mktemp("cost")).path


@pytest.fixture
def place(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path / "home")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def store(place: Path) -> Path:
    return place / ".openclaw" / "memory" / "lancedb"


def test_every_figure_has_its_label_and_nothing_is_written(run: Run, place: Path) -> None:
    before = tree_hash(place / ".openclaw")
    code, out, err = run("cost", "--store", store(place), "--days", 3650, "--json")
    assert code == 0, err
    document = json.loads(out)
    assert document["schema"] == "memtui.cost.v1"
    total = document["total"]
    assert total["turns"] == sum(day["turns"] for day in document["days"])
    assert total["cache"] == {
        "measured": {
            "read": 0,
            "written": 0,
            "neither": total["cache"]["measured"]["neither"],
            "label": "measured",
        }
    }
    for name in ("injected_tokens", "used_share", "prefix_lost"):
        assert total[name]["label"] == "estimated", name
    assert {memory["tokens"]["label"] for memory in document["memories"]} == {"estimated"}
    assert "No figure was ever compared with a real bill." in document["notes"]
    assert tree_hash(place / ".openclaw") == before


def test_a_session_is_told_turn_by_turn_and_what_is_not_recorded_is_null(run: Run, place: Path) -> None:
    code, out, _ = run("cost", "--store", store(place), "--days", 3650, "--json", "--session", "04a9833d")
    assert code == 0
    turns = json.loads(out)["turns"]
    assert [turn["n"] for turn in turns if not turn["machine"]] == sorted(
        turn["n"] for turn in turns if not turn["machine"]
    )
    for turn in turns:
        known = turn["place"] != "not recorded"
        assert (turn["memories"] is not None) == known
        assert (turn["tokens"] is not None) == known
    code, _, err = run("cost", "--store", store(place), "--session", "nowhere")
    assert code == 2
    assert "No session has an id" in err


def test_one_agent_and_no_days_are_said(run: Run, place: Path) -> None:
    code, out, _ = run("cost", "--store", store(place), "--days", 3650, "--json", "--agent", "scout")
    assert code == 0
    assert {day["agent"] for day in json.loads(out)["days"]} == {"scout"}
    code, out, _ = run("cost", "--store", store(place), "--agent", "nobody")
    assert (code, "No turns here" in out) == (0, True)


def test_the_table_says_measured_estimated_and_not_recorded(run: Run, place: Path) -> None:
    code, out, _ = run("cost", "--store", store(place), "--days", 3650)
    assert code == 0
    for words in (
        "before the question",
        "estimated",
        "measured",
        "not recorded",
        "most expensive memories",
        "No figure was ever compared with a real bill.",
    ):
        assert words in out, words
    code, out, _ = run("cost", "--store", store(place), "--days", 3650, "--rule", "anthropic")
    assert "https://platform.claude.com/" in out


def test_other_forms_are_hypothetical_and_stand_beside_the_recall_of_the_cases(run: Run, place: Path) -> None:
    where = ("--store", store(place), "--days", 3650)
    code, out, err = run("cost", *where, "--what-if", "--rule", "anthropic", "--items", 2, "--json")
    assert code == 0, err
    document = json.loads(out)
    assert document["cases"] == 0
    names = [variant["name"] for variant in document["variants"]]
    assert names == [
        "as recorded",
        "stable order",
        "after the question",
        "before the history",
        "at most 2 items",
        "no repeat within 12 turns",
    ]
    assert {variant["label"] for variant in document["variants"]} == {"hypothetical"}
    assert {variant["recall"] for variant in document["variants"]} == {None}
    code, out, _ = run("cost", *where, "--what-if")
    assert code == 0
    assert "Assume one with --rule anthropic" in out
    assert "not known" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--rule", "acme"), "No rule is named 'acme'"),
        (("--days", "0"), "--days 0 is out of range"),
        (("--what-if", "--items", "0"), "--items 0 is out of range"),
        (("--what-if", "--repeat", "101"), "--repeat 101 is out of range"),
    ],
)
def test_what_cannot_be_is_wrong_usage(run: Run, place: Path, words: tuple[str, ...], said: str) -> None:
    code, _, err = run("cost", "--store", store(place), *words)
    assert code == 2
    assert said in err


def test_inject_keeps_the_order_of_a_session_with_the_same_memories(run: Run, tmp_path: Path) -> None:
    demo = build_demo(tmp_path / "demo", now_ms=NOW_MS)

    def asked(question: str, *more: str) -> list[str]:
        code, out, err = run("inject", question, "--store", demo, "--recipe", "pro/agent", "--json", *more)
        assert code == 0, err
        document = json.loads(out)
        lines = [line for line in document["block"].split("\n") if line.startswith("- [")]
        assert len(lines) == len(document["ids"])
        return list(document["ids"])

    questions = ("which port do I use for SSH to the bastion?", "when may we deploy, and which port for SSH?")
    before: list[str] = []
    for question in questions:
        plain = asked(question, "--session", "plain")
        stable = asked(question, "--session", "stable", "--stable")
        assert stable == stable_order(before, plain)
        before = stable
    assert before
    code, _, err = run("inject", questions[0], "--store", demo, "--stable")
    assert code == 2
    assert "--session KEY" in err
