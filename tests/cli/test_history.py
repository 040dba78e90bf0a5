"""`memtui history`, `recall --injected`, and cases from the command line: documents, exit codes, bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.__main__ import main
from memtui.engine import Engine, RecallRequest, explain
from memtui.engine.explain import History
from memtui.engine.store.open import open_store
from memtui.paths import questions_file
from tests.engine.pro_store import NOW_MS, row, write_store

Run = Callable[..., tuple[int, str, str]]
QUESTION = "which port does the gateway use"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    rows = [row(f"m{i}", f"The gateway number {i} listens on port {8440 + i}", (1, i / 10)) for i in range(5)]
    return write_store(tmp_path / "store", rows, dims=2)


@pytest.fixture
def asked(store: Path) -> int:
    """The question in the history, with its vector."""
    engine = Engine(open_store(store), now=lambda: NOW_MS)
    trace = engine.recall(RecallRequest(QUESTION, recipe="pro/tool", query_vector=[1, 0]))
    return explain.remember(engine, trace, History(questions_file()))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def _run(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        out = capsys.readouterr()
        return code, out.out, out.err

    return _run


def document(run: Run, *arguments: object) -> Any:
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


@pytest.mark.slow
def test_questions_are_listed_searched_asked_again_and_forgotten(run: Run, store: Path, asked: int) -> None:
    (found,) = document(run, "history", "--store", store)["questions"]
    assert (found["number"], found["query"], found["recipe"]) == (asked, QUESTION, "pro/tool")
    assert document(run, "history", "lunch", "--store", store)["questions"] == []
    assert QUESTION in run("history", "gateway", "--store", store)[1]
    again = document(run, "history", "--again", asked, "--store", store)
    assert [each["id"] for each in again["results"]] == found["returned"]
    assert again["mode"] == "hybrid"  # with the vector that it had: nothing here makes one
    code, _, err = run("history", "--forget", 99, "--store", store)
    assert code == 2
    assert "There is no question 99" in err
    assert document(run, "history", "--forget", asked, "--store", store) == {"forgotten": 1}
    assert "Nothing was asked yet." in run("history", "--store", store)[1]


def test_the_injected_block_is_printed_with_what_was_cut(run: Run, store: Path, tmp_path: Path) -> None:
    vector = tmp_path / "vector.json"
    vector.write_text("[1, 0]")
    question = ("recall", QUESTION, "--store", store, "--query-vector", vector)
    found = document(run, *question, "--recipe", "pro/agent", "--injected")
    assert found["injection"]["block"].startswith("<relevant-memories>")
    assert len([part for part in found["injection"]["parts"] if part["line"]]) == 3
    code, out, _ = run(*question, "--recipe", "pro/agent", "--injected")
    assert code == 0
    assert "left out, enough items: " in out
    assert f"about {found['injection']['tokens']} tokens" in out
    assert run(*question, "--recipe", "memtui", "--injected")[1].startswith("memtui itself injects nothing")
    code, _, err = run(*question, "--recipe", "mem-engine", "--injected")
    assert code == 2
    assert "Only mem-engine's hook" in err


def test_a_broken_line_of_a_batch_and_of_cases_is_named_and_the_others_run(
    run: Run, store: Path, tmp_path: Path
) -> None:
    batch = tmp_path / "batch.jsonl"
    good = json.dumps({"query": QUESTION, "recipe": "pro/tool", "query_vector": [1, 0]})
    batch.write_text(f"{good}\n{{broken\n{good}\n")
    code, out, _ = run("recall", "--batch", batch, "--store", store)
    documents = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert [("results" in each) for each in documents] == [True, False, True]
    assert documents[1]["error"]["line"] == 2
    cases = tmp_path / "cases.jsonl"
    cases.write_text('{"query": "which port", "expected": ["m0"]}\n[]\n')
    code, out, _ = run("cases", "import", cases, "--store", store, "--json")
    assert code == 1
    assert json.loads(out)["taken"] == 1
    assert json.loads(out)["rejected"][0]["where"] == "line 2"
    code, out, _ = run("cases", "run", "--store", store, "--recipe", "pro/tool", "--bar", "hit=2", "--json")
    assert code == 1
    assert json.loads(out)["missed"] == ["hit is 1.000, the bar is 2"]
