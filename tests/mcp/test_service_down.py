"""An agent's store whose embedding service does not answer: nothing is written that its plugin fails on, and a search
that failed is told as one, in text and in data, at every door."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa
import pytest

from memtui.engine import Engine, changes, open_engine
from memtui.engine.capture import CaptureRequest, capture, commit, play, read_event
from memtui.engine.capture.trace import Message
from memtui.engine.clients import CallJournal
from memtui.engine.core.errors import EmbeddingError, RefusedError
from memtui.engine.health import examine, patient_of
from memtui.mcp.door import Door, ToolError
from memtui.mcp.prompts import prompt
from memtui.mcp.tools import search, store
from tests.conftest import ROOT
from tests.engine.pro_store import NOW_MS, row, write_store
from tests.mcp.stdio_host import stdio_host
from tests.mcp.test_raw_hosts import message

QUESTION = "Which port does the gateway in hall three listen on?"
FACT = "I prefer the greenhouse report as a printed weekly grid"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose memory-lancedb-pro embeds by a service that nobody runs."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    rows = [
        row(f"m{n}", f"The gateway in hall {n} listens on port {8000 + n}", (1, n / 100)) for n in range(6)
    ]
    write_store(tmp_path / ".openclaw" / "memory" / "lancedb-pro", rows, dims=2)
    embedding = {
        "apiKey": "k",
        "baseURL": f"http://127.0.0.1:{port}/v1",
        "model": "text-embedding-3-small",
        "dimensions": 2,
    }
    plugins = {
        "slots": {"memory": "memory-lancedb-pro"},
        "entries": {"memory-lancedb-pro": {"enabled": True, "config": {"embedding": embedding}}},
    }
    (tmp_path / ".openclaw" / "openclaw.json").write_text(json.dumps({"plugins": plugins}), "utf-8")
    return tmp_path


def opened(home: Path) -> Engine:
    environ = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    engine = open_engine(
        None, now=lambda: NOW_MS, environ=environ, cwd=home, writable=True, state=home / "state"
    )
    assert engine.store.dialect.name == "pro"
    return engine


def door_to(home: Path) -> Door:
    return Door(lambda: opened(home), agent="main", writable=True, client="test")


def stored(home: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (
        lancedb.connect(home / ".openclaw" / "memory" / "lancedb-pro")
        .open_table("memories")
        .to_arrow()
        .to_pylist()
    )
    return found


def test_the_tool_that_stores_says_that_it_did_not(home: Path) -> None:
    with pytest.raises(ToolError) as failed:
        store.run(door_to(home), store.Store(text=FACT))
    assert "connection refused" in str(failed.value)
    assert "memory-lancedb-pro fails" in str(failed.value)
    assert len(stored(home)) == 6


@pytest.mark.parametrize("recipe", ["memtui", "pro", "memory-lancedb", "mem-engine"])
def test_no_capture_writes_a_row_without_a_vector(home: Path, recipe: str) -> None:
    engine = opened(home)
    request = CaptureRequest([Message("user", FACT), Message("user", f"Remember: {FACT}")], recipe)
    try:
        trace = capture(request, engine.capture_context())
        if trace.writes:
            with pytest.raises(RefusedError) as refused:
                commit(engine, trace)
            assert "connection refused" in refused.value.message
        told = [*trace.warnings, *(text.reason for text in trace.texts)]
    except EmbeddingError as error:
        told = [error.message]
    assert any("connection refused" in each for each in told), told
    assert len(stored(home)) == 6


def test_no_change_set_adds_one_whatever_made_it(home: Path) -> None:
    """What a plan, a job or a session played again would add goes through the same door."""
    engine = opened(home)
    schema = engine.store.schema
    bare = pa.Table.from_pylist([row("bare", FACT, None)], schema=schema)
    added = changes.Change("bare", "add", {}, {"text": FACT}, row=bare)
    planned = changes.ChangeSet("agent", "one more", (added,), engine.store.version)
    with pytest.raises(RefusedError, match="1 memory has no vector"):
        changes.apply(engine, planned, confirmed=True)
    assert len(stored(home)) == 6


def test_what_had_none_before_comes_back_as_it_was_and_the_doctor_names_it(home: Path) -> None:
    table = lancedb.connect(home / ".openclaw" / "memory" / "lancedb-pro").open_table("memories")
    table.add([row("bare", FACT, None)])
    engine = opened(home)
    seen = examine(patient_of(engine, now_ms=NOW_MS), passes=("facts", "light"))
    finding = next(each for each in seen.findings if each.kind == "D12")
    assert list(finding.seen.ids) == ["bare"]
    assert "stops a whole batch" in finding.check.effect
    assert any("memory-lancedb-pro fails" in each for each in finding.seen.evidence)
    done = changes.apply(engine, changes.plan_forget(engine, ["bare"], hard=True), confirmed=True)
    assert len(stored(home)) == 6
    changes.apply(engine, changes.plan_undo(engine, done.entry), confirmed=True)
    assert next(each for each in stored(home) if each["id"] == "bare")["vector"] is None


def test_a_failed_search_is_told_in_text_and_data(home: Path) -> None:
    reply = search.run(door_to(home), search.Search(query=QUESTION))
    assert isinstance(reply.data, search.Hits)
    assert reply.data.results == []
    assert "connection refused" in (reply.data.failure or "")
    assert "the search failed" in reply.text
    assert "connection refused" in reply.text
    assert "No memory came back" not in reply.text


def test_a_search_that_found_nothing_is_no_failure(tmp_path: Path) -> None:
    write_store(tmp_path / "store", [], dims=2)
    door = Door(
        lambda: open_engine(tmp_path / "store", now=lambda: NOW_MS, environ={}, cwd=tmp_path), client="test"
    )
    reply = search.run(door, search.Search(query=QUESTION))
    assert isinstance(reply.data, search.Hits)
    assert reply.data.failure is None
    assert "No memory came back" in reply.text


def test_the_prompt_of_a_host_says_that_it_could_not_search(home: Path) -> None:
    found = prompt(door_to(home), "memories_for", {"question": QUESTION})
    text = found.messages[0].content.text  # type: ignore[union-attr]
    assert text.startswith("The memories could not be searched: ")
    assert "connection refused" in text


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("prompt_build", {"prompt": QUESTION}),
        ("agent_end", {"messages": [{"role": "user", "content": f"Remember: {FACT}"}]}),
    ],
)
def test_a_hook_is_not_silent_about_it(home: Path, name: str, given: dict[str, Any]) -> None:
    engine = opened(home)
    answer = play(engine, read_event(name, json.dumps(given), "main"), {}, home)
    assert "connection refused" in answer["failed"]
    assert engine.state_place is not None
    calls = CallJournal(engine.state_place).read()
    assert [call.outcome for call in calls] == ["failed"]
    assert len(stored(home)) == 6


def unchanged(home: Path) -> bool:
    """Whether the table holds what it held, each row with its vector."""
    rows = stored(home)
    return len(rows) == 6 and all(row["vector"] is not None for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["memtui", "openclaw"])
def test_a_raw_host_is_told_by_every_tool_that_nothing_was_stored(
    home: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(home))
    store_folder = home / ".openclaw" / "memory" / "lancedb-pro"
    words = (
        ("--rw",) if kind == "memtui" else ("--rw", "--as", "main")
    )  # an agent does not change what is global
    calls: dict[str, list[dict[str, Any]]] = {
        "memory_store": [{"text": FACT}, {"text": FACT, "category": "preference", "importance": 1}],
        "memory_update": [{"text": FACT}],
        "self_improvement_log": [{"type": "error", "summary": FACT}],
        "memory_compact": [{"dryRun": False}],
    }
    with stdio_host(store_folder, *words, "--tools", kind, "--workspace", str(home)) as host:
        host.begin()
        listed = host.ask({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})["result"]["tools"]
        tools = {tool["name"]: tool for tool in listed}
        for name, all_given in calls.items():
            if name not in tools:
                continue
            for given in all_given:
                if name == "memory_update":
                    given = {"id" if kind == "memtui" else "memoryId": "m1", **given}
                result = host.ask(message(name, given))["result"]
                said = json.dumps(result)
                if name == "memory_update" and not result.get("isError") and kind == "memtui":
                    token = result["structuredContent"]["confirm"]
                    said = json.dumps(host.ask(message(name, {**given, "confirm": token})))
                assert unchanged(home), (name, said)
                if name in ("memory_store", "memory_update"):
                    assert "connection refused" in said, (name, said)
                    assert '"created"' not in said
                    assert "Stored" not in said


EVENTS: dict[str, dict[str, Any]] = {
    "agent_end": {"messages": [{"role": "user", "content": f"Remember: {FACT}"}]},
    "session_end": {"messages": [{"role": "user", "content": f"Remember: {FACT}"}]},
    "pre_compaction": {"messages": [{"role": "user", "content": f"Remember: {FACT}"}]},
    "session_reset": {"messages": [{"role": "user", "content": f"Remember: {FACT}"}]},
    "message_received": {"content": f"Remember: {FACT}", "from": "anna"},
    "dream": {},
}


@pytest.mark.slow
@pytest.mark.parametrize("event", EVENTS)
def test_no_raw_event_leaves_a_row_without_a_vector_or_says_that_it_stored(home: Path, event: str) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-m", "memtui", "hook", event, "--rw", "--as", "main", "--workspace", str(home)],
        input=json.dumps(EVENTS[event]),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environ,
        check=False,
    )
    assert done.returncode == 0, done.stderr  # the turn goes on
    assert unchanged(home)
    if event == "agent_end":
        assert "connection refused" in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [("add", FACT, "--scope", "agent:main"), ("edit", "m1", "--set", f"text={FACT}"), ("import", "notes.md")],
)
def test_no_command_stores_one_either(home: Path, words: tuple[str, ...]) -> None:
    (home / "notes.md").write_text(f"# Notes\n\n- {FACT}\n", "utf-8")
    place = home / ".openclaw" / "memory" / "lancedb-pro"
    done = subprocess.run(
        [sys.executable, "-m", "memtui", *words, "--yes", "--store", str(place)],
        capture_output=True,
        text=True,
        cwd=home,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert unchanged(home), done.stdout
    assert done.returncode != 0
    assert "connection refused" in done.stderr + done.stdout
