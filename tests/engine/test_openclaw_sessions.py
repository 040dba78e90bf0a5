"""Recorded homes of OpenClaw 2026.9: each turn as the model server really saw it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from memtui.engine import open_engine
from memtui.engine.witness import find_sessions, list_sessions, replay_session
from memtui.engine.witness.economy import read_economy
from tests.conftest import ROOT, tree_hash
from tests.engine.openclaw_homes import AFTER_MS, NAMES, RecordedHome, unpack_home


@pytest.fixture(scope="module", params=NAMES)
def home(
    request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> RecordedHome:
    return unpack_home(shared, request.param, tmp_path_factory.mktemp("home"))


def every_turn(home: RecordedHome) -> Iterator[tuple[str, dict[str, Any]]]:
    """(session, turn) of everything that the home holds."""
    engine = home.engine()
    for listed in list_sessions(home.environ, home.path, engine=engine):
        replayed = replay_session(listed.file.id, home.environ, home.path, engine=engine)
        assert len(replayed.turns) == listed.turns
        assert not replayed.warnings
        assert not listed.warnings
        for turn in replayed.turns:
            yield listed.file.id, turn.as_json()


def same_question(found: str, asked: str) -> bool:
    """A long question is cut in the record, with its length behind."""
    head = asked.split("… (", maxsplit=1)[0]
    return found == asked.strip() or (len(head) < len(asked) and found.startswith(head))


def named_ids(details: Any) -> list[str]:
    """The ids in what a tool gave back, in their order."""
    if isinstance(details, list):
        return [name for each in details for name in named_ids(each)]
    if not isinstance(details, dict):
        return []
    own = [details[key] for key in ("id", "existingId") if isinstance(details.get(key), str)]
    return own + [
        name for key in ("memories", "candidates", "intent") for name in named_ids(details.get(key))
    ]


def test_every_turn_is_what_the_model_server_saw(home: RecordedHome) -> None:
    before = tree_hash(home.path)
    found = list(every_turn(home))
    wanted = home.expected["turns"]
    assert len(found) == len(wanted)
    for turn in wanted:
        [(session, told)] = [
            (session, told)
            for session, told in found
            if same_question(told["question"], turn["question"]) and turn.get("sessionId") in (None, session)
        ]
        deleted = session in {
            archive["session_id"]
            for agent in home.expected["agents"].values()
            for archive in agent["transcript_archives"]
        }
        if deleted:  # what was put before it went with the conversation
            assert (told["memories"], told["active_memory"], told["evidence"]) == (None, None, "none")
        else:
            assert told["evidence"] == "sqlite"
            ids = [home.known_id(line) for line in turn["injected"]]
            assert [memory["id"] for memory in told["memories"]] == ids
            active = [line for block in turn.get("active_memory", []) for line in block]
            assert [line["line"] for line in told["active_memory"]] == active
            intents = turn.get("standing_intents", [])
            assert [line["line"] for line in told["standing_intents"]] == intents
            silent = not (told["memories"] or told["active_memory"] or told["standing_intents"])
            assert silent == turn["silent"]
            assert [told["active_memory_note"]] == turn.get("active_memory_outcome", [None])
        assert [(tool["name"], tool["ids"], tool["failed"]) for tool in told["tools"]] == [
            (call["tool"], named_ids(call["details"]), call["is_error"]) for call in turn["memory_calls"]
        ]
        for tool, call in zip(told["tools"], turn["memory_calls"], strict=True):
            if "args" in call:
                assert tool["args"] == call["args"]
        if "sender" in turn:
            assert told["sender"]["id"] == str(turn["sender"])
    assert tree_hash(home.path) == before


def test_only_turns_of_persons_are_counted(home: RecordedHome) -> None:
    listed = {each.file.id: each for each in list_sessions(home.environ, home.path)}
    assert sum(each.turns for each in listed.values()) == len(home.expected["turns"])
    windows = {
        window["session_id"]
        for agent in home.expected["agents"].values()
        for window in agent["session_windows"]
    }
    archives = {
        archive["session_id"]: archive["reason"]
        for agent in home.expected["agents"].values()
        for archive in agent["transcript_archives"]
    }
    assert set(listed) == windows | set(archives)  # a deleted conversation keeps its session id
    assert {id: each.file.archived for id, each in listed.items() if each.file.archived} == archives
    for prompt in home.expected["machine_prompts"]:
        assert prompt["session_id"] in listed


def test_what_a_sub_agent_got_is_known_though_no_person_asked(
    shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    from memtui.engine.witness import reach_of

    home = unpack_home(shared, "lancedb", tmp_path_factory.mktemp("home"))
    engine = home.engine()
    assert engine is not None
    for prompt in home.expected["machine_prompts"]:
        for line in prompt["injected"]:
            reach = reach_of(engine, line["ids"][0], home.environ, home.path)
            [turn] = [turn for turn in reach.turns if turn.session == prompt["session_id"]]
            assert (turn.machine, turn.n) == ("subagent", -1)
            assert json.dumps(reach.as_json())


def test_the_list_says_what_a_replay_says(home: RecordedHome) -> None:
    """The list reads no texts of a database; what it counts is what reading whole gives."""
    listed = {each.file.id: each for each in list_sessions(home.environ, home.path)}
    for session, found in listed.items():
        replayed = replay_session(session, home.environ, home.path)
        assert [turn.turn.time_ms for turn in replayed.turns][:1] in ([], [found.started_ms])
        assert (len(replayed.turns), replayed.evidence) == (found.turns, found.evidence)
        assert sum(turn.evidence != "none" for turn in replayed.turns) == found.evident


def test_a_name_in_a_compressed_message_or_an_archive_is_found(shared: Path, tmp_path: Path) -> None:
    """Who forgets a name is told of every file that holds it, also where its bytes do not show it."""
    from memtui.engine.witness import stays_elsewhere

    home = unpack_home(shared, "lancedb", tmp_path)
    (own := tmp_path / "own").mkdir()
    database = home.path / ".openclaw" / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    text = json.dumps({"type": "message", "message": {"role": "user", "content": "Call Ines Okafor. " * 90}})
    packed = pa.compress(text.encode(), codec="zstd", asbytes=True)
    with closing(sqlite3.connect(database)) as db:
        db.execute("PRAGMA writable_schema = 1")  # the table's own checks ask for functions of a newer SQLite
        db.execute("UPDATE sqlite_master SET sql = replace(sql, 'octet_length', 'length')")
        db.commit()
    with closing(sqlite3.connect(database)) as db:
        db.execute("PRAGMA ignore_check_constraints = 1")
        session = db.execute("SELECT session_id FROM session_windows").fetchone()[0]
        row = (session, 5000, 1, packed, len(text.encode()), "{}")
        db.execute(
            "INSERT INTO transcript_events (session_id, seq, created_at, event_zstd, event_utf8_bytes, navigation_json)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            row,
        )
        db.commit()
    assert b"Ines Okafor" not in database.read_bytes()
    assert database.name in stays_elsewhere("Ines Okafor", home.environ, home.path, own)[0]
    archived = stays_elsewhere("a throwaway talk", home.environ, home.path, own)[0]
    assert ".jsonl.deleted." in archived
    assert "No session file" in stays_elsewhere("Nobody Neverheard", home.environ, home.path, own)[0]


def test_a_session_is_captured_out_of_its_database(home: RecordedHome) -> None:
    """What persons said and the answers to it, also of a session that is archived or in cold storage."""
    from memtui.engine.capture import read_session

    for file in find_sessions(home.environ, home.path):
        replayed = replay_session(file.id, home.environ, home.path)
        if file.machine or file.listed_only:
            continue
        conversation = read_session(file)
        said = [message for message in conversation.messages if message.role == "user"]
        assert [message.said.strip() for message in said] == [turn.turn.question for turn in replayed.turns]
        assert {message.role for message in conversation.messages} <= {"user", "assistant", "toolResult"}
        assert (conversation.session, conversation.warnings) == (file.id, ())


REASONS = {
    "prompt shorter than 5": "shorter than 5 characters",
    "the table is empty": "held no memory yet",
    "the store is empty": "held no memory yet",
    "rows belong to agent main": "no memory of agent scout",
    "scout owns no rows": "no memory of agent scout",
    "hooks.allowConversationAccess is not set": "hooks.allowConversationAccess is unset",
    "hooks.allowPromptInjection is false": "hooks.allowPromptInjection is false",
    "plugins.slots.memory is not set": "memory slot is unset",
    "log: Config warnings: plugins.entries.memory-lancedb: plugin disabled": "memory slot is unset",
    "the plugin is not installed": "is not installed",
    "adaptive gate": "adaptive gate",
    "no memory plugin": 'plugins.slots.memory is "none"',
}
"""What the recording's author says of a silent turn, and what tells it here."""


def test_a_silent_turn_says_why(home: RecordedHome) -> None:
    from memtui.engine.alive import explain_silence

    before = tree_hash(home.path)
    engine = home.engine()
    said: list[tuple[str, str, str]] = []
    for file in find_sessions(home.environ, home.path):
        replayed = replay_session(file.id, home.environ, home.path, engine=engine)
        explain_silence(replayed, home.environ, home.path, engine)
        said += [(file.id, turn.turn.question, turn.turn.why) for turn in replayed.turns]
    for turn in home.expected["turns"]:
        why = turn["why_silent"]
        [told] = [
            here
            for session, question, here in said
            if same_question(question, turn["question"]) and turn.get("sessionId") in (None, session)
        ]
        if not turn["silent"]:
            assert not told.startswith("nothing was injected:")
        elif why is not None:
            logged = why.removeprefix("log: ")[:40]
            wanted = next((here for there, here in REASONS.items() if why.startswith(there)), logged)
            assert wanted in told, (turn["n"], why)
    assert tree_hash(home.path) == before


def test_documents_hold_the_sessions_of_a_database(shared: Path, tmp_path: Path) -> None:
    """The host's own search quotes a transcript by agent, session and event; so does the index made here."""
    from memtui.engine.documents import SearchRules, open_index
    from memtui.engine.documents.sessions import session_entry
    from memtui.engine.witness import read_transcripts

    home = unpack_home(shared, "core", tmp_path)
    chunks = home.expected["agents"]["main"]["memory_index"]["chunks"]
    quoted = [chunk for chunk in chunks if chunk["path"].startswith("sessions/main/8")]
    (notes := tmp_path / "notes").mkdir()
    agent = home.path / ".openclaw" / "agents" / "main"
    index = open_index(
        notes, tmp_path / "index.sqlite", words_only=True, transcripts=list(read_transcripts(agent, "main"))
    )
    assert index.sync().read
    found = index.search("alarm colour", SearchRules(limit=20, min_score=0.0), now_ms=AFTER_MS).hits
    assert ("sessions/main/88baa5a8-866e-4825-bb61-dee2163d1493.jsonl", 2) in {
        (hit.path, hit.start_line) for hit in found
    }
    entries = {
        f"sessions/{name}": session_entry(name, text) for name, text, _ in read_transcripts(agent, "main")
    }
    assert quoted
    for chunk in quoted:  # what the host itself has indexed of them, line by line
        ours = dict(
            zip(entries[chunk["path"]].lines, entries[chunk["path"]].content.split("\n"), strict=True)
        )
        own = [text for line, text in ours.items() if chunk["start_line"] <= line <= chunk["end_line"]]
        assert own == chunk["text"].split("\n")


def test_a_table_that_was_put_here_whole_is_not_said_to_be_young(tmp_path: Path) -> None:
    """The demo's turns are older than its table; another turn got a memory of it."""
    from memtui.engine.alive import explain_silence
    from memtui.engine.demo import build_demo, demo_folder, demo_home

    folder = build_demo(demo_folder(tmp_path), now_ms=AFTER_MS)
    environ = {"HOME": str(demo_home(folder))}
    engine = open_engine(folder, now=lambda: AFTER_MS, environ=environ, cwd=tmp_path)
    replayed = replay_session("4d1f6a10", environ, tmp_path, engine=engine)
    explain_silence(replayed, environ, tmp_path, engine)
    assert [bool(turn.memories) for turn in replayed.turns] == [True, False, True]
    assert "not there yet" not in replayed.turns[1].turn.why
    assert "nothing was injected" in replayed.turns[1].turn.why


@pytest.mark.parametrize("name", ["lancedb", "core", "pro"])
def test_turns_are_counted_by_every_way_by_which_memories_came(
    name: str, shared: Path, tmp_path: Path
) -> None:
    """A turn that active memory, a standing intent or a tool gave something is not without memory."""
    home = unpack_home(shared, name, tmp_path)
    engine = home.engine() or open_engine(
        None, now=lambda: AFTER_MS, environ=home.environ, cwd=home.path
    )  # memory-core keeps its index in the agent's database
    found = read_economy(engine, home.environ, home.path)
    turns = home.expected["turns"]

    def shown(call: dict[str, Any]) -> bool:
        reads = call["tool"] in ("memory_recall", "memory_search", "memory_get")
        return reads and bool(
            named_ids(call["details"]) or call["details"].get("results") or "text" in call["details"]
        )

    active = [bool(turn.get("active_memory")) for turn in turns]
    intents = [bool(turn.get("standing_intents")) for turn in turns]
    tools = [any(shown(call) for call in turn["memory_calls"]) for turn in turns]
    assert (found.turns, found.active, found.intents) == (len(turns), sum(active), sum(intents))
    assert found.tools == sum(tools)
    without = [
        not any((turn["injected"], *ways)) for turn, *ways in zip(turns, active, intents, tools, strict=True)
    ]
    deleted = len({each["session_id"] for agent in home.expected["agents"].values()
                   for each in agent["transcript_archives"]})  # fmt: skip
    assert found.silent <= sum(without) <= found.silent + found.unknown
    assert found.unknown <= deleted
    for words in found.other_ways():
        assert words.split()[0] in {str(found.active), str(found.intents), str(found.tools)}


@pytest.mark.slow
def test_homes_of_another_folder_are_held_against_their_own_truth(shared: Path, tmp_path: Path) -> None:
    """The next layout of the host comes as such a folder."""
    place = shared / "fixtures" / "openclaw"
    shutil.copy(place / "sessions.tar.gz", tmp_path / "sessions.tar.gz")
    truth = json.loads((place / "sessions.expected.json").read_text("utf-8"))

    def held() -> int:
        (tmp_path / "sessions.expected.json").write_text(json.dumps(truth), encoding="utf-8")
        command = [sys.executable, "-m", "tests.engine.openclaw_homes", str(tmp_path)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode

    assert held() == 0
    truth["turns"][0]["question"] = "Nobody asked this"
    assert held() == 1
