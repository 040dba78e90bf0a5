"""What the audit says, against evidence that nobody made up: recorded vectors, a real capture, a purged past."""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtui.engine import changes, open_engine
from memtui.engine.capture.commits import commit
from memtui.engine.capture.pipeline import capture
from memtui.engine.capture.recipes.base import CaptureRequest
from memtui.engine.capture.trace import Message
from memtui.engine.engine import Engine
from memtui.engine.store.create import create_empty
from memtui.engine.witness import (
    collect_proof,
    find_subject,
    read_got,
    replay_session,
    with_today,
    write_pack,
)
from memtui.engine.witness.ask_again import ask_again
from memtui.engine.witness.reach import reach_of
from tests.conftest import tree_hash
from tests.engine.loopback import loopback
from tests.engine.session_world import START_MS, MadeTurn, line, write_session

STORED_MS = 1_750_000_000_000  # 2025-06-15, the day of the made lines
MINUTE = 60_000
A3 = "4d1f6a10-0000-4000-8000-0000000000a3"


@pytest.fixture
def recorded(shared: Path, unpack: Callable[[Path], Path], tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The recorded home with its store, and the recorded embeddings behind a real server."""
    sessions = shared / "fixtures" / "sessions"
    home = tmp_path / "home"
    shutil.copytree(sessions / "home", home)
    (home / ".openclaw").chmod(0o755)
    store = home / ".openclaw" / "memory" / "lancedb-pro"
    found = unpack(sessions / "store-after.tar.gz")
    shutil.copytree(next(iter(found.rglob("memories.lance")), found).parent, store)
    traces = json.loads(gzip.decompress((shared / "fixtures" / "peer" / "traces.json.gz").read_bytes()))
    vectors = np.load(shared / "fixtures" / "peer" / "query_vectors.npy")
    calls = [
        json.loads(each)["message"]["details"]["scopes"]
        for each in next(home.rglob("*a1.jsonl")).read_text("utf-8").splitlines()
        if '"role": "toolResult"' in each
    ]
    scopes = [each for each in calls[0] if not each.startswith("reflection:")]  # its own comes by itself
    with loopback() as server:
        server.vectors = {
            each["text"]: vectors[each["vector_index"]].tolist()
            for each in traces["queries"]
            if each["vector_index"] is not None
        }
        server.dims = vectors.shape[1]
        config = {
            "embedding": {
                "apiKey": "x",
                "model": "all-MiniLM-L6-v2",
                "dimensions": server.dims,
                "baseURL": f"{server.url}/v1",
            },
            "autoRecallMinLength": 8,  # of the recorded questions one has 8 characters, and was answered
            "retrieval": {"rerank": "none"},  # the recorded results name no reranker among their sources
            "scopes": {"agentAccess": {"main": scopes}},
        }
        plugins = {
            "slots": {"memory": "memory-lancedb-pro"},
            "entries": {"memory-lancedb-pro": {"enabled": True, "config": config}},
        }
        document = {"agents": {"list": [{"id": "main"}]}, "plugins": plugins}
        (home / ".openclaw" / "openclaw.json").write_text(json.dumps(document), "utf-8")
        wanted = json.loads((sessions / "expected.json").read_text("utf-8"))["sessions"]
        yield {"home": home, "expected": {each["sessionId"]: each["turns"] for each in wanted}}


def test_each_recorded_question_asked_as_of_its_moment_gives_back_what_was_injected(
    recorded: dict[str, Any],
) -> None:
    """Each recorded question on the version before its injection: the same block in the same order.

    Also the rows that the store alone cannot prove. One row of 21 is another one: two memories of turn 4 have the
    very same score at the limit, and the order of equal hits is the database's own, not the same in every build.
    """
    home = recorded["home"]
    environ = {"HOME": str(home)}
    engine = open_engine(None, now=lambda: START_MS + 90 * 86_400_000, environ=environ, cwd=home)
    before = tree_hash(home)
    replayed = replay_session(A3, environ, home, engine=engine)
    versions = dict(engine.store.versions())
    lost = []
    for turn, expected in zip(replayed.turns, recorded["expected"][A3], strict=True):
        earlier = [each for each in replayed.turns if each.turn.n < turn.turn.n]
        asked = ask_again(engine, turn, "main", earlier, as_of=True)
        assert turn.event is not None
        assert asked.version < turn.event.version
        assert versions[asked.version] <= turn.turn.time_ms
        got = [each["id"] for each in expected["items"]]
        really = got + expected["really_injected_too_but_not_provable"]
        assert asked.injected is not None
        lost += [(turn.turn.n, each[:8]) for each in really if each not in asked.injected]
        assert [each for each in asked.injected if each in really] == [
            each for each in really if each in asked.injected
        ]
        told = with_today(engine, turn, "main", earlier, as_of=True)
        stopped = [each for each in told.memories or () if each.rank_as_of is None]
        assert all(each.gate_as_of and each.gate is None and each.as_json()["gate"] for each in stopped)
        ranked = {each.id for each in told.memories or () if each.rank_as_of}
        assert ranked == set(got) & set(asked.injected)
        assert not any("not asked again" in each for each in told.turn.warnings)
        tied = [each for each in told.turn.warnings if "the very score of" in each]
        assert [each[:8] for each in tied] == [each for number, each in lost if number == turn.turn.n]
    assert lost == [(4, "fa53624d")]
    assert tree_hash(home) == before


def captured_from(engine: Engine, text: str, session: str) -> Any:
    """What a real capture stores of one sentence said in a session."""
    request = CaptureRequest([Message("user", text)], "memtui", session=session)
    trace = capture(request, engine.capture_context())
    commit(engine, trace)
    engine.refresh()
    [write] = trace.writes
    return write.row


def test_what_a_capture_stored_after_the_answer_is_found_by_its_own_metadata(tmp_path: Path) -> None:
    clock = [STORED_MS]
    create_empty(tmp_path / "store", 256)
    environ = {"HOME": str(tmp_path)}
    engine = open_engine(
        tmp_path / "store",
        now=lambda: clock[0],
        environ=environ,
        cwd=tmp_path,
        writable=True,
        state=tmp_path / "state",
    )
    poisoned = captured_from(engine, "I live in Leeds.", "agent:main:other")
    clock[0] = START_MS - MINUTE
    earlier = captured_from(engine, "My locker number is 4711.", "agent:main:chat")
    clock[0] = START_MS + 10 * MINUTE
    after = captured_from(engine, "My sister is called Ottilie.", "agent:main:chat")
    elsewhere = captured_from(engine, "I work at Fernhill.", "agent:main:other")
    told = line(poisoned.text, poisoned.scope)
    write_session(tmp_path, "blocks", [MadeTurn("where do I live", (told,))], session="s1")
    index = {"agent:main:chat": {"sessionId": "s1", "updatedAt": START_MS}}
    place = tmp_path / ".openclaw" / "agents" / "main" / "sessions" / "sessions.json"
    place.write_text(json.dumps(index), "utf-8")
    reach = reach_of(engine, poisoned.id, environ, tmp_path)
    assert [(each.session, each.n) for each in reach.turns] == [("s1", 1)]
    assert list(reach.captured) == [after.id]
    assert "Ottilie" in reach.captured[after.id]
    found = read_got(engine, environ, tmp_path)
    sources = {}
    for row in (poisoned, earlier, after, elsewhere):
        got = found.of(engine.get(row.id))
        assert got is not None
        sources[row.id] = (got.captured_by, got.captured_in)
    assert sources == {
        poisoned.id: ("", ""),
        earlier.id: ("main", "s1"),
        after.id: ("main", "s1"),
        elsewhere.id: ("", ""),
    }


@pytest.mark.slow
def test_the_proof_pack_names_injections_findings_and_the_receipt_of_a_purged_past(
    recorded: dict[str, Any], tmp_path: Path
) -> None:
    home = recorded["home"]
    environ = {"HOME": str(home)}
    engine = open_engine(
        None,
        now=lambda: START_MS + 90 * 86_400_000,
        environ=environ,
        cwd=home,
        writable=True,
        state=tmp_path / "state",
    )
    memory_id = "fecedc6c-8f0d-41e1-866f-7ff36ff54449"
    [person, *_] = find_subject(engine, "Kenji coffee order hojicha")
    [known, about] = collect_proof(engine, [memory_id, person], environ, home)["memories"]
    wanted = [
        turn["last_injected_at"]
        for turn in recorded["expected"][A3]
        if memory_id in {each["id"] for each in turn["items"]}
    ]
    assert wanted
    assert [each["time_ms"] for each in known["injections"]] == wanted
    versions = dict(engine.store.versions())
    assert {each["version"] for each in known["injections"]} <= set(versions)
    assert [(each["kind"], each["subject"]) for each in about["findings"]] == [
        ("unreadable-rows", "user:kenji")
    ]
    old = known["reach"]["versions"]
    receipt = changes.apply(engine, changes.plan_past(engine, [memory_id]), confirmed=True).receipt
    assert receipt is not None
    engine.close()
    engine = open_engine(
        None, now=lambda: START_MS + 90 * 86_400_000, environ=environ, cwd=home, state=tmp_path / "state"
    )
    document = collect_proof(engine, [memory_id], environ, home)
    [memory] = document["memories"]
    assert (memory["removed"], memory["now"]) == (False, "same")
    assert memory["reach"]["versions"]["first"] > old["first"]
    assert memory["injections"] == known["injections"]  # from the log: the versions are gone
    [kept] = memory["receipts"]
    assert kept["file"] == Path(receipt["file"]).name
    assert kept["receipt"]["clean"] is True
    write_pack(document, tmp_path / "pack.zip")
    with zipfile.ZipFile(tmp_path / "pack.zip") as parts:
        told = parts.read("READ-ME-FIRST.md").decode()
    assert "injected according to the store's history (minimum): " in told
    assert kept["file"] in told
    assert "nothing was found" in told
