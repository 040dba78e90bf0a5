"""`memtui why-not`, and recall's --save and --replay: documents, exit codes, bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.cli.why_not import render
from memtui.engine.explain.verdict import GATES, SmallestChange, Verdict
from tests.conftest import tree_hash
from tests.engine.pro_store import row, write_store

Run = Callable[..., tuple[int, str, str]]
NEAR = "0b7f3a52-6c1e-4f0a-9d55-000000000001"
OLD = "0b7f3a52-6c1e-4f0a-9d55-000000000002"
OTHER = "5c7f3a52-6c1e-4f0a-9d55-000000000003"
QUESTION = "which port does the gateway use"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [
        row(NEAR, "The gateway listens on port 8443", (1, 0)),
        row(OLD, "The gateway listened on port 8080", (0.9, 0.436), age=9),
        row(OTHER, "The gateway of ops has a port of its own", (0.8, 0.6), scope="agent:ops"),
    ]
    return write_store(tmp_path_factory.mktemp("whynot") / "store", rows, dims=2)


@pytest.fixture
def vector(tmp_path: Path) -> Path:
    path = tmp_path / "vector.json"
    path.write_text("[1, 0]")
    return path


def document(run: Run, *arguments: object) -> Any:
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_the_verdict_has_the_agreed_keys(run: Run, store: Path, vector: Path) -> None:
    asked = ("--store", store, "--recipe", "pro/tool", "--scope", "global", "--query-vector", vector)
    found = document(run, "why-not", OTHER, QUESTION, *asked)
    agreed = {"id", "returned", "gate", "value", "limit", "sentence", "ladder", "changes", "powerless"}
    assert agreed <= set(found)
    assert (found["id"], found["returned"], found["gate"]) == (OTHER, False, "scope")
    assert (found["value"], found["limit"]) == ("agent:ops", ["global"])
    assert "agent:ops" in found["sentence"]
    assert [rung["gate"] for rung in found["ladder"]] == list(GATES)
    assert {"gate", "passed", "value", "limit"} <= set(found["ladder"][0])
    change = found["changes"][0]
    assert (change["knob"], change["from"], change["to"]) == ("scopes", ["global"], ["global", "agent:ops"])
    assert change["confirmed"] is True
    assert {"knob", "why"} == set(found["powerless"][0])


def test_an_id_may_be_a_prefix_and_limits_come_from_the_options(run: Run, store: Path, vector: Path) -> None:
    who = ("--recipe", "pro/tool", "--all-scopes")
    asked = ("--store", store, *who, "--query-vector", vector, "--limit", 1)
    found = document(run, "why-not", OTHER[:8], QUESTION, *asked)
    assert (found["id"], found["gate"], found["limit"]) == (OTHER, "rerank_window", 2)
    assert ("limit", 2) in [(each["knob"], each["to"]) for each in found["changes"]]
    code, _, err = run("why-not", NEAR[:8], QUESTION, *asked)
    assert code == 2
    assert NEAR in err or "several" in err or "2 memories" in err


def test_a_returned_and_an_unknown_memory(run: Run, store: Path, vector: Path) -> None:
    asked = ("--store", store, "--recipe", "pro/tool", "--query-vector", vector)
    found = document(run, "why-not", NEAR, QUESTION, *asked, "--explain")
    assert (found["returned"], found["rank"], found["gate"], found["changes"]) == (True, 1, None, [])
    assert found["trace"]["schema"] == "memtui.recall.v1"
    found = document(run, "why-not", "no-such-id", QUESTION, *asked)
    assert (found["returned"], found["gate"]) == (False, "unknown_id")


def test_a_person_reads_the_ladder_and_the_remedy(run: Run, store: Path, vector: Path) -> None:
    before = tree_hash(store)
    code, out, _ = run(
        "why-not", OTHER, QUESTION, "--store", store, "--recipe", "pro/tool", "--scope", "global",
        "--query-vector", vector,
    )  # fmt: skip
    assert code == 0
    assert out.startswith("Its scope is agent:ops; searched were global.")
    assert "x scope" in out
    assert "global -> global, agent:ops  to number" in out
    assert "the store clamps the pool at 20" in out
    assert tree_hash(store) == before


def test_a_receipt_is_saved_and_replayed(run: Run, store: Path, vector: Path, tmp_path: Path) -> None:
    asked = ("--store", store, "--recipe", "pro/tool", "--query-vector", vector)
    saved, bare = tmp_path / "receipt.json", tmp_path / "bare.json"
    assert document(run, "recall", QUESTION, *asked, "--save", saved)["results"]
    assert run("recall", QUESTION, *asked, "--save", bare, "--no-text")[0] == 0
    found = document(run, "recall", "--replay", saved, "--store", store)
    assert (found["same"], found["differences"]) == (True, [])
    assert "gateway" not in bare.read_text()
    code, out, err = run("recall", "--replay", bare, "--store", store)
    assert code == 0
    assert out.startswith("the same answer (")
    assert "no texts" in err
    changed = json.loads(saved.read_text())
    changed["trace"]["results"].reverse()
    for rank, each in enumerate(changed["trace"]["results"], 1):
        each["rank"] = rank
    saved.write_text(json.dumps(changed))
    code, out, _ = run("recall", "--replay", saved, "--store", store)
    assert code == 1
    assert "another answer" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("recall",), "--replay"),
        (("recall", "question", "--replay", "x.json"), "one of these"),
        (("recall", "--replay", "/nowhere/x.json"), "cannot be read"),
        (("recall", QUESTION, "--recipe", "pro/tool", "--save", "/nowhere/x.json"), "cannot be written"),
        (("recall", QUESTION, "--recipe", "pro/tool", "--table-version", "999"), "is gone"),
    ],
)
def test_bad_input_is_answered_in_words(
    run: Run, store: Path, arguments: tuple[str, ...], words: str
) -> None:
    code, out, err = run(*arguments, "--store", store)
    assert code in (1, 2)
    assert out == ""
    assert words in err
    assert "Traceback" not in err


def test_times_are_times_and_numbers_are_short() -> None:
    day = 1_750_000_000_000
    changes = (
        SmallestChange("memory.touch", day, day + 60_000, True, 1.0, 3),
        SmallestChange("memory.valid_until", day, None, True, 1.0, 1),
        SmallestChange("memory.suppressed_until", day, 0, True, 1.0, 1),
        SmallestChange("retrieval.hardMinScore", 0.35, 0.30000000000000004, True, 0.05, 2, 0.31),
        SmallestChange("scopes", None, ["global"], True, 1.0, 1),
        SmallestChange("memory.twin", OLD, None, True, 1.0, 1),
    )
    text = render(Verdict("a", "b", "pro/agent", False, None, "limit", 7, 6, "It stands at 7.", (), changes))
    assert "2025-06-15 15:06:40Z -> 2025-06-15 15:07:40Z" in text
    assert text.count("2025-06-15 15:06:40Z -> none") == 2
    assert "0.35 -> 0.3 " in text
    assert "any -> global" in text
    assert f"{OLD} forgotten" in text
    assert str(day) not in text
