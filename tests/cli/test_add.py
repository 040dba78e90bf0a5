"""A store from nothing by the command line alone: made, filled, asked, taken back."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.__main__ import main
from tests.conftest import tree_hash

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_a_new_store_is_filled_asked_and_undone(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = str(tmp_path / "own")
    assert run("new", store)[0] == 0
    assert run("stats", "--store", store, "--json")[0] == 0
    port = "The gateway listens on port 8443 since March"
    code, out, _ = run("add", port, "--store", store, "--category", "fact", "--importance", "0.8")
    assert code == 0
    assert "1 added" in out
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{port}\nThe staging host is called willow\n"))
    code, out, _ = run("add", "-", "--store", store)
    assert code == 0
    assert "1 added" in out  # the port is there already
    code, out, _ = run("recall", "which port does the gateway use?", "--store", store, "--json")
    trace = json.loads(out)
    assert trace["recipe"] == "memtui"
    top = trace["results"][0]["id"]
    shown = json.loads(run("show", top, "--store", store, "--json")[1])
    assert shown["text"] == port
    assert shown["importance"] == 0.8
    assert run("undo", "--store", store, "--yes")[0] == 0
    listed = json.loads(run("ls", "--store", store, "--json")[1])
    assert [each["text"] for each in listed["rows"]] == [port]


def test_a_stored_memory_has_a_receipt_without_its_text(run: Run, tmp_path: Path):
    store = str(tmp_path / "own")
    run("new", store)
    text = "The gateway listens on port 8443"
    code, out, _ = run("add", text, "--store", store, "--scope", "project:kelp", "--json", "--yes")
    assert code == 0
    told = json.loads(out)
    (receipt,) = told["receipts"]
    assert "8443" not in json.dumps(receipt)
    assert receipt["scope"] == "project:kelp"
    assert (receipt["scopeMode"], receipt["scopeFilterApplied"]) == ("explicit", True)
    assert receipt["scopeValidation"] == {"validationMode": "strict", "invalid": False, "normalized": False}
    assert (receipt["embeddingSkipped"], receipt["embeddingSkipReason"]) == (False, None)
    assert receipt["tableName"] == "memories"
    assert receipt["dbPath"] == store
    again = json.loads(run("add", text, "--store", store, "--scope", "project:kelp", "--json", "--yes")[1])
    assert again["receipts"] == []  # it was there already


def test_a_snapshot_is_listed_checked_out_and_dropped(run: Run, tmp_path: Path):
    store = str(tmp_path / "own")
    run("new", store)
    run("add", "The gateway listens on port 8443", "--store", store)
    before = tree_hash(Path(store))
    assert run("versions", "snapshot", "../x", "--store", store)[0] == 2
    assert run("versions", "snapshot", "first", "--store", store)[0] == 0
    assert tree_hash(Path(store)) == before
    listed = json.loads(run("versions", "snapshots", "--store", store, "--json")[1])["snapshots"]
    assert [each["tag"] for each in listed] == ["first"]
    back = str(tmp_path / "back")
    told = json.loads(run("versions", "checkout", "first", back, "--store", store, "--json")[1])
    assert (told["sourceSnapshot"], told["newDbPath"], told["previousDbPath"]) == ("first", back, store)
    assert "8443" in run("ls", "--store", back)[1]
    assert run("versions", "drop", "first", "--store", store)[0] == 3
    assert run("versions", "drop", "first", "--store", store, "--yes")[0] == 0
    assert json.loads(run("versions", "snapshots", "--store", store, "--json")[1])["snapshots"] == []


def test_what_cannot_be_stored_changes_nothing(run: Run, tmp_path: Path):
    store = tmp_path / "own"
    run("new", str(store))
    before = tree_hash(store)
    assert run("new", str(store))[0] == 3
    assert run("new", str(store), "--dims", "0")[0] == 2
    assert run("add", " ", "--store", str(store))[0] == 2
    assert run("add", "a port", "--importance", "7", "--store", str(store))[0] == 2
    code, out, _ = run("add", "hi", "--store", str(store))
    assert (code, "too short" in out) == (0, True)
    assert run("add", "hello there, a port", "--dry-run", "--store", str(store))[0] == 0
    assert tree_hash(store) == before


def test_every_recipe_whose_block_is_known_writes_one(run: Run, tmp_path: Path):
    from memtui.engine.recall.recipes.registry import all_recipes

    store = str(tmp_path / "own")
    run("new", store)
    port = "The gateway listens on port 8443 since March"
    run("add", port, "--store", store, "--category", "fact", "--importance", "0.8")
    question = "Which port does the gateway listen on since March?"
    known = [recipe.name for recipe in all_recipes() if recipe.prompt]
    assert len(known) > 5
    for name in known:
        code, out, err = run("inject", question, "--recipe", name, "--store", store)
        assert (code, err) == (0, ""), name
        assert port in out, name
