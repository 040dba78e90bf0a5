"""The command line's contract: JSON shapes, exit codes, and what bad input gets."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import tree_hash
from tests.engine.pro_store import row, write_store

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [
        row(
            "0b7f3a52-6c1e-4f0a-9d55-000000000001",
            "The gateway listens on port 8443",
            (1, 0),
            scope="project:atlas",
        ),
        row(
            "0b7f3a52-6c1e-4f0a-9d55-000000000002", "The gateway listened on port 8080", (0.9, 0.436), age=90
        ),
        row(
            "1b7f3a52-6c1e-4f0a-9d55-000000000003",
            "Evil \x1b]0;title\x07 [/oops] \u202etext",
            (0, 1),
            metadata="{broken",
        ),
    ]
    return write_store(tmp_path_factory.mktemp("cli") / "store", rows, dims=2)


def document(run: Run, *arguments: object) -> Any:
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_ls_lists_every_row_with_the_agreed_keys(run: Run, store: Path) -> None:
    listed = document(run, "ls", "--store", store)
    assert listed["total"] == len(listed["rows"]) == 3
    keys = (
        "id text scope category memory_category tier importance confidence access_count timestamp_ms "
        "last_accessed_ms state active expired metadata dialect"
    )
    assert set(keys.split()) <= set(listed["rows"][0])
    assert listed["rows"][-1]["timestamp_ms"] <= listed["rows"][0]["timestamp_ms"]
    page = document(run, "ls", "--store", store, "--sort", "timestamp", "--limit", 1, "--offset", 1)
    assert (page["total"], len(page["rows"])) == (3, 1)
    assert [r["scope"] for r in document(run, "ls", "scope:project:atlas", "--store", store)["rows"]] == [
        "project:atlas"
    ]


@pytest.mark.parametrize(
    "named", [["--store", "STORE"], ["--store=STORE"], ["--table", "memories", "--store", "STORE"]]
)
def test_the_store_may_be_named_before_the_command(run: Run, store: Path, named: list[str]) -> None:
    before = [each.replace("STORE", str(store)) for each in named]
    assert document(run, *before, "ls")["rows"] == document(run, "ls", "--store", store)["rows"]


def test_a_term_may_begin_with_a_minus(run: Run, store: Path) -> None:
    listed = document(run, "ls", "-scope:project:atlas", "--store", store)
    assert [memory["scope"] for memory in listed["rows"]] == ["global", "global"]


def test_an_order_may_begin_with_a_minus(run: Run, store: Path) -> None:
    for words in (("--sort", "-id"), ("--sort=-id",)):
        ids = [memory["id"] for memory in document(run, "ls", "--store", store, *words)["rows"]]
        assert ids == sorted(ids, reverse=True)


def test_text_and_metadata_come_out_exactly_as_stored_and_harmless(run: Run, store: Path) -> None:
    code, out, _ = run("show", "1b7f3a52", "--store", store, "--json")
    assert code == 0
    shown = json.loads(out)
    assert shown["text"] == "Evil \x1b]0;title\x07 [/oops] \u202etext"
    assert shown["metadata"] == "{broken"
    assert "\x1b" not in out
    assert "\u202e" not in out
    _, text, _ = run("show", "1b7f3a52", "--store", store)
    assert "\x1b" not in text
    assert "[/oops]" in text


def test_recall_has_the_agreed_document(run: Run, store: Path, tmp_path: Path) -> None:
    vector = tmp_path / "q.json"
    vector.write_text("[1, 0]")
    asked = (
        "recall",
        "gateway port",
        "--store",
        store,
        "--recipe",
        "pro/tool",
        "--query-vector",
        vector,
        "--limit",
        5,
        "--all-scopes",
    )
    trace = document(run, *asked, "--explain", "--now", 1_750_000_000_000)
    assert trace["schema"] == "memtui.recall.v1"
    assert trace["proof"]["recomputed"] is True
    assert trace["stages"][0]["name"] == "vector_ranked"
    first = trace["results"][0]
    assert (first["id"][-1], first["rank"], set(first["sources"])) == (
        "1",
        1,
        {"vector", "bm25", "fused", "reranked"},
    )
    assert {"stage", "before", "after", "rank_before", "rank_after", "inputs"} <= set(first["steps"][0])
    assert {"id", "disposition", "reason", "score", "limit", "steps"} <= set(trace["candidates"][0])
    assert trace["config"]["retrieval"]["minScore"] == 0.3


def test_options_beside_a_batch_hold_for_its_lines_or_are_refused(
    run: Run, store: Path, tmp_path: Path
) -> None:
    batch, config = tmp_path / "batch.jsonl", tmp_path / "config.json"
    config.write_text(json.dumps({"retrieval": {"minScore": 0.99}}))
    own = {"query": "label printer", "recipe": "pro/cli", "limit": 1, "config": {}}
    batch.write_text("\n".join(json.dumps(line) for line in ({"query": "label printer"}, own)))
    options = ("--recipe", "pro/tool", "--limit", "2", "--config", config, "--now", "1750000000000")
    _, out, _ = run("recall", "--batch", batch, "--store", store, *options)
    first, second = map(json.loads, out.splitlines())
    _, alone, _ = run("recall", "label printer", "--json", "--store", store, *options)
    one = json.loads(alone)
    for key in ("recipe", "limit", "config", "now_ms"):
        assert first[key] == one[key], key
    assert first["config"]["retrieval"]["minScore"] == 0.99
    assert (second["recipe"], second["limit"]) == ("pro/cli", 1)
    assert second["config"]["retrieval"]["minScore"] != 0.99
    for option in (("--injected",), ("--save", tmp_path / "receipt.json"), ("--no-text",)):
        code, _, err = run("recall", "--batch", batch, "--store", store, *option)
        assert code == 2
        assert f"{option[0]} has no meaning beside --batch" in err


def test_a_batch_answers_in_order_and_reports_the_broken_line(run: Run, store: Path, tmp_path: Path) -> None:
    batch = tmp_path / "batch.jsonl"
    lines = [
        {"query": "gateway port", "query_vector": [1, 0], "recipe": "pro/cli", "limit": 2},
        "not json",
        {"query": "gateway port", "scopes": [], "query_vector": [1, 0], "recipe": "pro/tool"},
        {"query": "", "recipe": "pro/tool"},
        {"query": "x", "config": {"retrieval": {"minScoer": 0.1}}},
    ]
    batch.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    code, out, _ = run("recall", "--batch", batch, "--store", store)
    answers = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert [("error" in answer) for answer in answers] == [False, True, False, True, True]
    assert answers[0]["disagreements"] == []
    assert answers[0]["recipe"] == "pro/cli"
    assert answers[1]["error"]["line"] == 2
    assert answers[2]["results"] == answers[2]["candidates"] == []
    assert "minScore" in answers[4]["error"]["fix"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("ls", "--store", "/nowhere/at/all"), 1, "no store"),
        (("ls", "--sort", "colour"), 2, "colour"),
        (("ls", "tier:gold"), 2, "gold"),
        (("ls", "teir:core"), 2, "tier"),
        (("ls", "--offset", "-1"), 2, "negative"),
        (("show", "ffffffff"), 2, "ffffffff"),
        (("show", "0b7f3a52"), 2, "0b7f3a52-6c1e-4f0a-9d55-000000000001"),
        (("recall",), 2, "question"),
        (("recall", "x", "--recipe", "pro/magic"), 2, "pro/magic"),
        (("recall", "   "), 2, "empty"),
        (("recall", "x", "--config", "/nowhere.json"), 2, "/nowhere.json"),
        (("recall", "x", "--query-vector", "/nowhere.npy"), 2, "/nowhere.npy"),
        (("recall", "port", "--columns", "id"), 2, "ROLE=COLUMN"),
        (("frobnicate",), 1, "frobnicate"),
    ],
)
def test_bad_input_gets_a_sentence_and_its_exit_code(
    run: Run, store: Path, arguments: Sequence[str], code: int, says: str
) -> None:
    given = (
        arguments
        if "--store" in arguments or arguments[0] == "frobnicate"
        else (*arguments, "--store", str(store))
    )
    if arguments[0] == "frobnicate":  # an unknown word is a store to open in the app, asked for by ls here
        given = ("ls", "--store", "frobnicate")
    got, out, err = run(*given)
    assert (got, out) == (code, "")
    assert says in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "query", ["?!... ,,", "x" * 100_000, "[/markup] \x1b[2J", "'; DROP TABLE memories; --", "\ud800"]
)
def test_any_question_is_answered_or_refused_in_words(run: Run, store: Path, query: str) -> None:
    code, out, err = run("recall", query, "--store", store, "--recipe", "pro/tool", "--json")
    assert code == 0, err
    assert json.loads(out)["query"] == query


def test_a_vector_of_another_dimension_is_refused_with_a_remedy(
    run: Run, store: Path, tmp_path: Path
) -> None:
    vector = tmp_path / "q.json"
    vector.write_text("[1, 0, 0]")
    code, _, err = run("recall", "gateway", "--store", store, "--query-vector", vector)
    assert code == 2
    assert "3 dimensions" in err
    assert "embedding model" in err


def test_nothing_that_reads_touches_the_store(run: Run, store: Path) -> None:
    before = tree_hash(store)
    for arguments in (
        ("ls",),
        ("show", "0b7f3a52-6c1e-4f0a-9d55-000000000001"),
        ("stats",),
        ("recall", "gateway"),
    ):
        assert run(*arguments, "--store", store)[0] == 0
    assert tree_hash(store) == before


def test_without_a_store_a_command_says_where_it_looked(run: Run) -> None:
    code, out, err = run("ls")
    assert (code, out) == (1, "")
    assert "memtui demo" in err
    assert ".openclaw" in err
