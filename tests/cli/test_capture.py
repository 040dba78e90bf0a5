"""`memtui capture`, `capture why-not` and `inbox`: the documents, the exit codes, and what is written and what not."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import open_engine
from memtui.engine.store.create import create_empty
from tests.cli.conftest import Run
from tests.conftest import NOW_MS, tree_hash
from tests.engine.loopback import Answer, Request, chat_answer, loopback

TALK = """\
User: The staging database listens on port 5432.
Assistant: Noted, I like that.
User: maybe we rename otter to seal
User: I prefer dark roast coffee.
User: remember: heron's dashboard password is hunter22
"""
KEYS = {"schema", "recipe", "texts", "candidates", "rows", "entry", "calls", "warnings", "proof"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an empty store and a conversation, and a home of its own."""
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home" / name.lower()))
    create_empty(tmp_path / "store", 256)
    (tmp_path / "talk.txt").write_text(TALK)
    return tmp_path


def captured(run: Run, place: Path, *arguments: object, code: int = 0) -> Any:
    """The document of `memtui capture`."""
    returned, out, errors = run(
        "capture", place / "talk.txt", "--store", place / "store", "--json", *arguments
    )
    assert returned == code, errors
    return json.loads(out)


def texts(place: Path) -> list[str]:
    """The texts of the store."""
    store = open_engine(place / "store", now=lambda: NOW_MS, environ={}, cwd=place).store
    return sorted(text for batch in store.scan(["text"]) for text in batch.column("text").to_pylist())


def test_the_document_says_what_became_of_every_text(run: Run, place: Path) -> None:
    found = captured(run, place)
    assert set(found) == KEYS
    assert found["schema"] == "memtui.capture.v1"
    assert all(set(each) >= {"text", "role", "fate", "gate", "value", "limit"} for each in found["texts"])
    assert [each["fate"] for each in found["texts"]] == ["kept", "dropped", "deferred", "kept", "dropped"]
    wanted = {"category", "abstract", "decision", "match", "reason", "admission"}
    assert all(set(each) >= wanted for each in found["candidates"])
    rows = found["rows"]["created"]
    assert all(set(each) >= {"id", "text", "scope", "category", "active"} for each in rows)
    assert [each["text"] for each in rows] == [
        "The staging database listens on port 5432.",
        "I prefer dark roast coffee.",
    ]
    assert (found["rows"]["changed"], found["calls"], found["proof"]["proven"]) == ([], [], True)
    assert isinstance(found["entry"], int)
    assert "hunter22" not in json.dumps(found)
    assert texts(place) == sorted(each["text"] for each in rows)


def test_a_dry_run_changes_no_byte(run: Run, place: Path) -> None:
    before = tree_hash(place / "store")
    found = captured(run, place, "--dry-run")
    assert (len(found["rows"]["created"]), found["entry"]) == (2, None)
    assert tree_hash(place / "store") == before


def test_the_same_transcript_twice_leaves_nothing_twice(run: Run, place: Path) -> None:
    captured(run, place)
    before = texts(place)
    found = captured(run, place)
    assert (found["rows"], found["entry"]) == ({"created": [], "changed": []}, None)
    assert [each["fate"] for each in found["texts"]] == ["known", "dropped", "deferred", "known", "dropped"]
    assert texts(place) == before


def test_standard_input_is_a_conversation(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"User: I live in Leeds.\n")))
    code, out, errors = run("capture", "-", "--store", place / "store", "--json", "--scope", "agent:mira")
    assert code == 0, errors
    (row,) = json.loads(out)["rows"]["created"]
    assert (row["text"], row["scope"], row["active"]) == ("I live in Leeds.", "agent:mira", True)


def test_what_was_captured_is_taken_back_by_its_entry(run: Run, place: Path) -> None:
    entry = captured(run, place)["entry"]
    code, _, errors = run("undo", entry, "--store", place / "store")
    assert code == 0, errors
    assert texts(place) == []


def test_a_named_model_is_asked_and_shown_no_secret(run: Run, place: Path) -> None:
    def answer(request: Request) -> Answer:
        parts = json.loads(request.body["messages"][1]["content"])
        assert "messages" in parts
        return chat_answer({"memories": []})

    with loopback() as server:
        server.chat = answer
        found = captured(run, place, "--llm", f"{server.url}/v1", "--llm-model", "m")
        sent = json.dumps([each.body for each in server.requests])
    (call,) = found["calls"]
    assert (call["purpose"], call["tokens"]) == ("extract", 120)
    assert call["ms"] >= 0
    assert "dark roast" in sent
    assert "hunter22" not in sent


def test_a_model_that_fails_loses_nothing_and_is_told_of(run: Run, place: Path) -> None:
    with loopback() as server:
        server.chat = lambda _: Answer(400, {"error": "no such model"})
        found = captured(run, place, "--llm", f"{server.url}/v1", "--llm-model", "m")
    assert found["calls"]
    assert found["warnings"]
    assert found["rows"]["created"] == []
    assert all(each["fate"] in ("deferred", "dropped") for each in found["texts"])


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("missing.txt",),
        ("talk.txt", "--llm-model", "m"),
        ("talk.txt", "--llm", "http://127.0.0.1:9/v1"),
        ("talk.txt", "--recipe", "none"),
        ("why-not", "a text"),
        ("why-not", "nobody said this", "talk.txt"),
    ],
)
def test_bad_input_ends_with_an_error_and_says_what_to_do(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(place)
    before = tree_hash(place / "store")
    code, out, errors = run("capture", *arguments, "--store", place / "store")
    assert (code, out) == (1 if "missing.txt" in arguments else 2, "")
    assert errors.strip()
    assert "Traceback" not in errors
    assert tree_hash(place / "store") == before


def test_why_not_names_the_gate_and_a_change_that_a_replay_confirms(run: Run, place: Path) -> None:
    before = tree_hash(place / "store")
    where = ("--store", place / "store")
    code, out, errors = run("capture", "why-not", "rename otter", place / "talk.txt", *where, "--json")
    assert code == 0, errors
    found = json.loads(out)
    assert (found["kept"], found["gate"]) == (False, "unsure")
    assert any(each["confirmed"] for each in found["changes"])
    code, out, _ = run("capture", "why-not", "rename otter", place / "talk.txt", *where)
    assert code == 0
    assert "kept in a replay" in out
    assert tree_hash(place / "store") == before


def test_what_waits_is_accepted_or_refused_in_the_inbox(run: Run, place: Path) -> None:
    captured(run, place)
    where = ("--store", place / "store")

    def inbox() -> Any:
        code, out, errors = run("inbox", *where, "--json")
        assert code == 0, errors
        return json.loads(out)

    found = inbox()
    assert set(found) == {"schema", "counts", "items", "done"}
    (item,) = found["items"]
    assert "otter" in item["text"]
    before = tree_hash(place / "store")
    code, out, _ = run("inbox", "--accept", item["id"], "--dry-run", *where)
    assert (code, tree_hash(place / "store")) == (0, before)
    assert "nothing was written" in out
    code, out, errors = run(
        "inbox", "--accept", item["id"], "--text", "We rename otter to seal.", *where, "--json"
    )
    assert code == 0, errors
    assert isinstance(json.loads(out)["entry"], int)
    assert "We rename otter to seal." in texts(place)
    assert inbox()["items"] == []
    code, out, errors = run("inbox", "--refuse", "none", *where)
    assert code == 2
    assert "Traceback" not in errors
