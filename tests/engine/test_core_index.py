"""memory-core's index of an agent as a store: its rows, its recall, and that looking writes nothing."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import sqlite3
import struct
from pathlib import Path

import pytest

from memtui.engine import MemtuiError, RecallRequest, RefusedError, changes, explain, open_engine
from memtui.engine.core.errors import UnknownDialectError
from memtui.engine.discovery import discover
from memtui.engine.engine import Engine
from memtui.engine.health import examine, patient_of
from tests.engine.core_home import AT_MS, CoreHome, make_core_home
from tests.engine.openclaw_homes import unpack_home

MEMORY = (
    "# Memory\n\n"
    "- The relay port is 9443. <!-- importance: 9 -->\n"
    "- The relay port was 9442 once.\n"
    "- The relay port is written on the wall.\n"
    "- Bananas ripen faster in a bag.\n"
)


STOP = (
    "the a an of to in on at for and or is are was were be it its this that with we i you my our your what which who "
    "when where how do does did can will shall please about"
)


def embed(text: str) -> list[float]:
    """The recorded homes' vectors: tools/fake_model.py of the fixtures, 64 numbers."""
    stop = frozenset(STOP.split())
    made = [0.0] * 64
    for word in re.findall(r"\w+", text.lower()):
        if word in stop:
            continue
        parts = [(word, 1.0)] + [("#" + word[at : at + 3], 0.35) for at in range(max(0, len(word) - 2))]
        for part, weight in parts:
            digest = hashlib.sha256(part.encode()).digest()
            made[int.from_bytes(digest[:4], "big") % 64] += weight * (1 if digest[4] & 1 else -1)
    length = math.sqrt(sum(number * number for number in made))
    return [struct.unpack("<f", struct.pack("<f", number / length))[0] for number in made]


def opened(home: CoreHome, now_ms: int = AT_MS) -> Engine:
    return open_engine(home.database, now=lambda: now_ms, environ=home.environ, cwd=home.path)


def state_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
    }


def test_the_recorded_index_is_a_store(shared: Path, tmp_path: Path) -> None:
    home = unpack_home(shared, "core", tmp_path)
    before = state_of(home.path)
    found = {store.name: store for store in discover(home.environ, cwd=tmp_path).indexes}
    assert {(store.agent, store.active) for store in found.values()} == {("main", True), ("scout", False)}
    truth = home.expected["agents"]["main"]["memory_index"]["chunks"]
    for target in ("memory-core-main", found["memory-core-main"].path):
        engine = open_engine(target, now=lambda: AT_MS, environ=home.environ, cwd=tmp_path)
        assert "core" in engine.info.dialect
        rows = [
            row for batch in engine.store.scan(list(engine.store.row_columns)) for row in batch.to_pylist()
        ]
        assert len(rows) == len(truth)
        by_id = {row["id"]: row for row in rows}
        for chunk in truth:
            row = by_id[chunk["id"]]
            for ours, theirs in (("project", "project_key"), *((name, name) for name in SAME)):
                assert row[ours] == chunk[theirs], ours
            assert row["index_state"] == "indexed"
            outside = chunk["source"] == "sessions" or chunk["path"].startswith("..")
            assert bool(row["locked_because"]) == outside
        engine.close()
    empty = open_engine("memory-core-scout", now=lambda: AT_MS, environ=home.environ, cwd=tmp_path)
    assert empty.info.rows == 0
    assert state_of(home.path) == before


SAME = (
    "path",
    "source",
    "start_line",
    "end_line",
    "text",
    "importance",
    "triggers",
    "origin_class",
    "session_kind",
)


def test_the_recorded_search_comes_out_again(shared: Path, tmp_path: Path) -> None:
    """The last search of the recording, which saw the index that was copied: its order, and its scores."""
    home = unpack_home(shared, "core", tmp_path)
    search = [
        action
        for action in home.expected["actions"]
        if (action.get("args") or [])[:2] == ["memory", "search"]
    ][-1]
    truth = json.loads(search["stdout"])["results"]
    engine = open_engine("memory-core-main", now=lambda: AT_MS, environ=home.environ, cwd=tmp_path)
    question = search["args"][2]
    request = RecallRequest(question, recipe="memory-core", query_vector=embed(question), now_ms=search["t0"])
    trace = engine.recall(request)
    answered = [(engine.get(result.id).extra, result.score) for result in trace.results]
    assert [(extra["path"], extra["start_line"]) for extra, _ in answered] == [
        (result["path"], result["startLine"]) for result in truth
    ]
    for (_, score), result in zip(answered, truth, strict=True):
        assert score == pytest.approx(result["score"], abs=0.001)
    assert trace.proof.failures == ()


def test_why_not_names_what_stood_in_the_way(tmp_path: Path) -> None:
    near = {
        "- The relay port is 9443.": (1.0, 0.0, 0.0),
        "- The relay port was 9442 once.": (0.9, 0.1, 0.0),
        "- The relay port is written on the wall.": (0.8, 0.2, 0.0),
        "- Bananas ripen faster in a bag.": (0.0, 0.0, 1.0),
    }
    engine = opened(make_core_home(tmp_path, {"MEMORY.md": MEMORY}, vectors=near))
    ids = {
        row["text"].strip(): row["id"]
        for batch in engine.store.scan(["id", "text"])
        for row in batch.to_pylist()
    }

    def gate(text: str, **config: object) -> str:
        request = RecallRequest(
            "relay port 9443",
            recipe="memory-core",
            query_vector=[1.0, 0.0, 0.0],
            limit=1,
            config={"memoryCore": config} if config else None,
        )
        return explain.why_not(engine, ids[text], request).gate

    assert gate("- Bananas ripen faster in a bag.") == "min_score"
    assert gate("- The relay port was 9442 once.") == "limit"


def test_diversity_is_named_where_it_moved_an_entry_out(tmp_path: Path) -> None:
    text = "# Memory\n\n- relay port alpha beta\n- relay port alpha beta gamma\n- relay heron\n- bananas\n"
    near = {
        "- relay port alpha beta": (1.0, 0.0, 0.0),
        "- relay port alpha beta gamma": (0.95, 0.3, 0.0),
        "- relay heron": (0.94, 0.33, 0.0),
        "- bananas": (0.0, 1.0, 0.0),
    }
    engine = opened(make_core_home(tmp_path, {"MEMORY.md": text}, vectors=near))
    rows = {
        row["text"].strip(): row["id"]
        for batch in engine.store.scan(["id", "text"])
        for row in batch.to_pylist()
    }
    request = RecallRequest("relay", recipe="memory-core", query_vector=[1.0, 0.0, 0.0], limit=2)
    trace = engine.recall(request)
    moved = rows["- relay port alpha beta gamma"]
    assert moved not in [result.id for result in trace.results]
    assert explain.why_not(engine, moved, request).gate == "mmr"


def test_recall_quotes_the_index_and_says_so(tmp_path: Path) -> None:
    home = make_core_home(tmp_path, {"MEMORY.md": MEMORY})
    (home.workspace / "MEMORY.md").write_text(MEMORY.replace("is 9443", "is 1111"))
    engine = opened(home)
    trace = engine.recall(RecallRequest("relay port", recipe="memory-core"))
    texts = [trace.memories[result.id].text for result in trace.results]
    assert any("9443" in text for text in texts)
    assert not any("1111" in text for text in texts)
    assert any("index not updated" in warning for warning in trace.warnings)


def test_a_log_beside_the_database_is_read_and_left(tmp_path: Path) -> None:
    """The host writes: its last commit is in the log alone, and reading leaves every file as it was."""
    home = make_core_home(tmp_path, {"MEMORY.md": MEMORY})
    host = sqlite3.connect(home.database)
    host.execute("PRAGMA journal_mode=WAL")
    host.execute("PRAGMA wal_autocheckpoint=0")
    host.execute("UPDATE memory_index_chunks SET text = 'from the log' WHERE text LIKE '%Bananas%'")
    host.commit()
    names = sorted(path.name for path in home.database.parent.iterdir())
    log = home.database.with_name(home.database.name + "-wal").read_bytes()
    main = home.database.read_bytes()
    engine = opened(home)
    found = [text for batch in engine.store.scan(["text"]) for text in batch.column(0).to_pylist()]
    assert "from the log" in found
    host.execute("UPDATE memory_index_chunks SET text = 'and again' WHERE text = 'from the log'")
    host.commit()  # no lock is held
    engine.refresh()
    found = [text for batch in engine.store.scan(["text"]) for text in batch.column(0).to_pylist()]
    assert "and again" in found
    assert sorted(path.name for path in home.database.parent.iterdir()) == names
    assert home.database.read_bytes() == main
    assert home.database.with_name(home.database.name + "-wal").read_bytes().startswith(log[:32])
    host.close()


def test_what_is_no_index_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "openclaw-agent.sqlite"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE things (id TEXT)")
    db.close()
    with pytest.raises(UnknownDialectError):
        open_engine(other, now=lambda: AT_MS, environ={}, cwd=tmp_path)
    other.write_bytes(b"no database at all" * 100)
    with pytest.raises(MemtuiError, match="cannot be read"):
        open_engine(other, now=lambda: AT_MS, environ={}, cwd=tmp_path)
    assert os.listdir(tmp_path) == [other.name]


def test_writing_beside_the_markdown_is_refused(tmp_path: Path) -> None:
    home = make_core_home(tmp_path, {"MEMORY.md": MEMORY})
    engine = open_engine(
        home.database,
        now=lambda: AT_MS,
        environ=home.environ,
        cwd=tmp_path,
        writable=True,
        state=tmp_path / "s",
    )
    ids = [row["id"] for batch in engine.store.scan(["id"]) for row in batch.to_pylist()]
    planned = changes.plan_merge(engine, ids[1:3], losers="delete")
    with pytest.raises(RefusedError, match="index belongs to the host"):
        changes.apply(engine, planned, confirmed=True)
    with pytest.raises(RefusedError, match="index belongs to the host"):
        engine.store.writer()


def test_the_doctor_names_files_that_went_on(tmp_path: Path) -> None:
    files = {"MEMORY.md": MEMORY, "memory/2026-11-01.md": "# Day\n\n- A note.\n"}
    home = make_core_home(tmp_path, files)

    def found() -> dict[str, tuple[str, ...]]:
        engine = opened(home)
        examined = examine(patient_of(engine, now_ms=AT_MS))
        return {finding.kind: tuple(finding.seen.evidence) for finding in examined.findings}

    assert found() == {}
    (home.workspace / "MEMORY.md").write_text(MEMORY.replace("9443", "1111"))
    (home.workspace / "memory" / "2026-11-01.md").unlink()
    (home.workspace / "memory" / "2026-11-02.md").write_text("# Another day\n")
    stale = found()
    assert "D10" in stale.pop("D45")[0], "what alive says of the index"
    assert stale == {"D48": ("MEMORY.md", "memory/2026-11-02.md"), "D49": ("memory/2026-11-01.md",)}
