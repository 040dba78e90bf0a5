"""Damaged and foreign databases of agents: a sentence, never a traceback, and not a byte changed."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import subprocess
import sys
import time
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

from memtui.engine import MemtuiError
from memtui.engine.capture import read_session
from memtui.engine.witness import find_sessions, list_sessions, replay_session
from memtui.engine.witness.replay import read_turns
from tests.conftest import tree_hash
from tests.engine.openclaw_homes import unpack_home

VARIANTS = 60
"""Of each kind of damage."""

EVENTS, RECORDED = "transcript_events", "trajectory_runtime_events"

TABLES = (
    EVENTS, RECORDED, "session_windows", "session_nodes", "session_transcript_active_events",
    "session_transcript_index_state", "session_transcript_archives", "session_transcript_cold_archives",
    "transcript_event_identities",
)  # fmt: skip

GARBAGE = ("NULL", "''", "'{'", "'[]'", "'7'", "'null'", "x'00ff80'", "'{\"type\": 3}'", "'[[[[[[['", "1e300", "-1",
           "'{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":7}]}}'",
           "9223372036854775807", "zeroblob(70000)", "'\ud7ff'", "'{\"type\":\"message\",\"message\":[]}'")  # fmt: skip


@pytest.fixture(scope="module")
def whole(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with compressed events, an archive and a cold archive in one database whose checks do not hold it back."""
    folder = tmp_path_factory.mktemp("whole")
    home = unpack_home(shared, "lancedb", folder).path
    cold = unpack_home(shared, "sessions", folder).path
    agent = home / ".openclaw" / "agents" / "main"
    shutil.copytree(cold / ".openclaw" / "agents" / "main" / "sessions" / "cold", agent / "sessions" / "cold")
    shutil.rmtree(home / ".openclaw" / "memory")
    shutil.rmtree(home / ".openclaw" / "agents" / "scout")
    database = agent / "agent" / "openclaw-agent.sqlite"
    with closing(sqlite3.connect(database)) as db:
        db.execute("PRAGMA writable_schema = 1")
        db.execute(
            "UPDATE sqlite_master SET sql = replace(replace(sql, 'octet_length', 'length'), ') STRICT', ')')"
        )
        db.commit()
    with closing(sqlite3.connect(database)) as db:
        db.execute("PRAGMA ignore_check_constraints = 1")
        db.execute("ATTACH ? AS other", (str(cold / ".openclaw/agents/main/agent/openclaw-agent.sqlite"),))
        for table in ("session_windows", "session_transcript_cold_archives"):
            db.execute(f"INSERT OR IGNORE INTO main.{table} SELECT * FROM other.{table}")
        db.execute(f"DELETE FROM {RECORDED} WHERE seq > 30")
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        db.commit()
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("VACUUM")
    listed = list_sessions({"HOME": str(home)}, home)
    assert [each.warnings for each in listed] == [()] * len(listed)
    assert {each.file.archived for each in listed} == {"", "deleted"}
    assert sum(each.turns for each in listed) > 20
    return home


def value(dice: random.Random) -> str:
    """Some cells of a column get a value that the host never wrote."""
    table = dice.choice(TABLES)
    column = dice.choice(
        {
            EVENTS: ("event_json", "event_zstd", "event_utf8_bytes", "navigation_json", "seq", "created_at"),
            RECORDED: ("event_json", "run_id", "seq"),
            "session_transcript_archives": (
                "archive_blob",
                "encoding",
                "archive_sha256",
                "created_at",
                "reason",
            ),
            "session_transcript_cold_archives": ("archive_name", "storage", "event_count", "archive_blob"),
            "session_transcript_active_events": ("event_seq", "message_position", "active_position"),
            "session_transcript_index_state": ("needs_rebuild", "indexed_seq"),
        }.get(table, ("session_key", "updated_at"))
    )
    return f"UPDATE OR IGNORE {table} SET {column} = {dice.choice(GARBAGE)} WHERE random() % 3 = 0"


def cut(dice: random.Random) -> str:
    """Compressed bytes that end early, or are others."""
    table, column = dice.choice([(EVENTS, "event_zstd"), ("session_transcript_archives", "archive_blob")])
    length = dice.choice(["0", "4", "17", f"length({column}) / 2", f"length({column}) - 1"])
    tail = dice.choice(["x''", "x'00'", "x'28b52ffd'", "randomblob(50)"])
    damaged = f"CAST(substr({column}, 1, {length}) || {tail} AS BLOB)"
    return f"UPDATE {table} SET {column} = {damaged} WHERE {column} IS NOT NULL"


def lie(dice: random.Random) -> str:
    """A size that is not that of the event."""
    size = dice.choice(
        [
            "0",
            "-5",
            "1",
            "event_utf8_bytes - 1",
            "event_utf8_bytes + 1",
            "4194304",
            "1 << 40",
            "'many'",
            "NULL",
            "2.5",
        ]
    )
    return f"UPDATE {EVENTS} SET event_utf8_bytes = {size} WHERE event_zstd IS NOT NULL"


def shape(dice: random.Random) -> str:
    """A table that is not there, has another name, or lacks a column."""
    table = dice.choice(TABLES)
    kind = dice.randrange(3)
    if kind == 0:
        return f"DROP TABLE {table}"
    if kind == 1:
        return f"ALTER TABLE {table} RENAME TO another"
    columns = (
        "session_id",
        "session_key",
        "event_json",
        "seq",
        "event_seq",
        "run_id",
        "archive_name",
        "updated_at",
    )
    return f"ALTER TABLE {table} RENAME COLUMN {dice.choice(columns)} TO another"


def version(dice: random.Random) -> str:
    """A schema of another age."""
    return f"PRAGMA user_version = {dice.choice([0, 1, 4, 9, 14, 20, 22, 24, 99, 2147483647, -3])}"


KINDS = {"value": value, "cut": cut, "lie": lie, "shape": shape, "version": version}


def look(home: Path) -> list[str]:
    """List, replay and capture everything; the sentences. Anything but MemtuiError is a fault."""
    environ = {"HOME": str(home)}
    said: list[str] = []
    for listed in list_sessions(environ, home):
        said += listed.warnings
        try:
            replayed = replay_session(listed.file.id, environ, home)
            said += replayed.warnings
            assert all(turn.as_json() for turn in replayed.turns)
        except MemtuiError as error:
            said.append(error.message)
    for file in find_sessions(environ, home):
        try:
            said += read_session(file).warnings
        except MemtuiError as error:
            said.append(error.message)
    return said


def damaged(whole: Path, folder: Path) -> tuple[Path, Path]:
    home = folder / "home"
    shutil.copytree(whole, home)
    return home, home / ".openclaw" / "agents" / "main" / "agent" / "openclaw-agent.sqlite"


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_no_host_wrote_give_a_sentence(whole: Path, tmp_path: Path, kind: str) -> None:
    home, database = damaged(whole, tmp_path)
    good = database.read_bytes()
    dice = random.Random(kind)
    for _ in range(VARIANTS):
        database.write_bytes(good)
        statement = KINDS[kind](dice)
        with closing(sqlite3.connect(database)) as db:
            db.execute("PRAGMA foreign_keys = 0")
            db.execute("PRAGMA ignore_check_constraints = 1")
            try:
                db.execute(statement)
            except sqlite3.Error:
                continue  # a table without this column
            db.commit()
        before = tree_hash(home)
        said = look(home)
        assert all(sentence and "Traceback" not in sentence for sentence in said), statement
        if kind == "lie":
            assert any("cannot be read" in sentence for sentence in said), statement
        if kind == "version" and " 99" in statement:
            assert any("newer than 23" in sentence for sentence in said)
        assert tree_hash(home) == before, statement


def test_bytes_that_are_damaged_give_a_sentence(whole: Path, tmp_path: Path) -> None:
    """Pages that are cut off, overwritten, or of something else altogether; files of archives, too."""
    home, database = damaged(whole, tmp_path)
    dice = random.Random(29)
    archives = [path for path in (home / ".openclaw/agents/main/sessions").rglob("*.zst") if path.is_file()]
    good = {path: path.read_bytes() for path in (database, *archives)}
    for number in range(VARIANTS):
        for path, data in good.items():
            path.write_bytes(data)
        path = dice.choice([database, database, *archives])
        data = bytearray(good[path])
        if number % 3 == 0:
            data = data[: dice.randrange(len(data))]
        else:
            for _ in range(dice.choice([1, 40, 4000])):
                data[dice.randrange(len(data))] = dice.randrange(256)
        path.write_bytes(bytes(data))
        before = tree_hash(home)
        assert all(look(home))
        assert tree_hash(home) == before


HOST = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA journal_mode = WAL")
db.execute("PRAGMA wal_autocheckpoint = 0")
db.execute("UPDATE session_windows SET session_key = 'agent:main:moved' WHERE session_key = 'agent:main:lamps'")
db.commit()
db.execute("BEGIN IMMEDIATE")  # it is about to write again
print("ready", flush=True)
sys.stdin.readline()
db.execute("UPDATE session_windows SET session_key = 'agent:main:again' WHERE session_key = 'agent:main:moved'")
db.commit()
print("written", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("left", ["running", "killed", "copied without its shared memory"])
def test_beside_a_running_host_its_log_counts_and_not_a_byte_changes(
    whole: Path, tmp_path: Path, left: str
) -> None:
    home, database = damaged(whole, tmp_path)
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert host.stdin is not None
    assert host.stdout is not None
    try:
        assert host.stdout.readline() == "ready\n"
        if left != "running":
            host.kill()
            host.wait()
        shared = database.with_name(database.name + "-shm")
        if left.startswith("copied"):
            shared.unlink()
        before = tree_hash(home)
        keys = {file.key for file in find_sessions({"HOME": str(home)}, home)}
        assert "agent:main:moved" in keys
        assert "agent:main:lamps" not in keys
        assert all("holds no message" in sentence for sentence in look(home))
        assert tree_hash(home) == before
        if left == "running":  # nothing that was read stands in its way
            host.stdin.write("\n")
            host.stdin.flush()
            assert host.stdout.readline() == "written\n"
    finally:
        host.kill()
        host.wait()


def test_a_list_reads_no_texts_and_holds_no_database_in_memory(whole: Path, tmp_path: Path) -> None:
    """Thousands of sessions: a part of the time that reading each takes, whatever the recorder has kept of them."""
    home, database = damaged(whole, tmp_path)
    with closing(sqlite3.connect(database)) as db:
        many_sessions(db, 1_000, recorded=60_000)
    environ = {"HOME": str(home)}
    files = find_sessions(environ, home)
    assert len(files) > 1_000
    tracemalloc.start()
    began = time.process_time()
    listed = list_sessions(environ, home)
    took = time.process_time() - began
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(each.turns == 2 == each.evident for each in listed) >= 1_000
    assert peak < database.stat().st_size / 6
    began = time.process_time()
    for file in files[:100]:
        read_turns(file, environ)
    assert took < (time.process_time() - began) * len(files) / 100 / 2


def many_sessions(db: sqlite3.Connection, count: int, recorded: int) -> None:
    """Add sessions of two turns, with `recorded` bytes of the recorder for each turn."""
    db.execute("PRAGMA synchronous = 0")
    for number in range(count):
        session, now = f"s{number:06d}", 1_795_000_000_000 + number * 60_000
        db.execute(
            "INSERT INTO session_windows (session_id, session_key, created_at, updated_at) VALUES (?, ?, ?, ?)",
            (session, f"agent:main:dashboard:{session}", now, now),
        )
        above = None
        for turn in range(2):
            run = f"run-{number}-{turn}"
            asked = {"role": "user", "content": f"Question {turn}", "timestamp": now + turn}
            asked["idempotencyKey"] = f"{run}:user"
            said = {"role": "assistant", "content": "Noted.", "__openclaw": {"runId": run}}
            for place, message in enumerate((asked, said)):
                at = turn * 2 + place
                event = {"type": "message", "id": f"{session}-{at}", "parentId": above, "message": message}
                above = event["id"]
                text = json.dumps(event, separators=(",", ":"))
                db.execute(
                    f"INSERT INTO {EVENTS} (session_id, seq, event_json, created_at) VALUES (?, ?, ?, ?)",
                    (session, at, text, now),
                )
                db.execute(
                    "INSERT INTO session_transcript_active_events (session_id, active_position, event_seq,"
                    " message_position, context_eligible) VALUES (?, ?, ?, ?, 1)",
                    (session, at, at, at),
                )
            data = {"prompt": f"Question {turn}", "systemPrompt": "x" * recorded}
            prompt = {"type": "prompt.submitted", "runId": run, "data": data}
            db.execute(
                f"INSERT INTO {RECORDED} (session_id, seq, run_id, event_json, created_at) VALUES (?, ?, ?, ?, ?)",
                (session, turn, run, json.dumps(prompt), now),
            )
        db.execute(
            "INSERT INTO session_transcript_index_state (session_id, indexed_seq, needs_rebuild, active_event_count,"
            " active_message_count, updated_at) VALUES (?, 3, 0, 4, 4, ?)",
            (session, now),
        )
    db.commit()
