"""`memtui hook` with the events of real hosts as they send them, and transcripts as they write them."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.capture import read_event
from tests.cli.test_hook import FACT, Host

ANSWER = "Noted, on yellow card."
SECRET = "sk-" + "a1B2" * 8

COMMON = {"session_id": "0199a213-81c0-7800-8aa1-bbab2a035a53", "cwd": "/work/app"}

GENERAL = {
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "decision",
    "reason",
    "hookSpecificOutput",
}
"""Keys that the answers of these hosts may have; Codex refuses all others."""


@pytest.fixture
def host(tmp_path: Path, empty_store: Path) -> Host:
    return Host(tmp_path, empty_store)


def codex(name: str, transcript: str | None, **more: Any) -> dict[str, Any]:
    """An event of Codex, with every key that its schema asks for."""
    always = {"turn_id": "t1", "model": "gpt-5-codex", "permission_mode": "default"}
    return {**COMMON, **always, "hook_event_name": name, "transcript_path": transcript, **more}


def qwen(name: str, transcript: str, **more: Any) -> dict[str, Any]:
    """An event of Qwen Code."""
    stamp = "2026-02-10T10:00:00.000Z"
    return {**COMMON, "hook_event_name": name, "transcript_path": transcript, "timestamp": stamp, **more}


def texts(host: Host) -> list[str]:
    rows = json.loads(host.call("ls", "--store", str(host.store), "--json").stdout)["rows"]
    return [each["text"] for each in rows]


def prompts(host: Host) -> list[Path]:
    return sorted(host.folder.glob("state/**/prompts/*.json"))


@pytest.mark.slow
@pytest.mark.parametrize("make", [codex, qwen])
def test_a_turn_without_a_transcript_is_captured_from_its_two_events(host: Host, make: Any) -> None:
    gone = str(host.folder / "not-yet.jsonl")
    prompt = f"{FACT}\nThe key is {SECRET}."
    assert host.hook("prompt_build", make("UserPromptSubmit", gone, prompt=prompt), "--rw") == {}
    (kept,) = prompts(host)
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    assert SECRET not in kept.read_text(encoding="utf-8")
    ended = make("Stop", gone, last_assistant_message=ANSWER, stop_hook_active=False)
    assert host.hook("agent_end", ended, "--rw") == {}
    assert prompts(host) == []
    assert [text.split("\n")[0] for text in texts(host)] == [FACT]


@pytest.mark.slow
def test_gemini_tells_both_at_the_end_of_a_turn_and_no_prompt_is_kept(host: Host) -> None:
    gone = str(host.folder / "session.jsonl")
    before = qwen("BeforeAgent", gone, prompt=FACT)
    assert host.hook("prompt_build", before, "--rw") == {}
    assert prompts(host) == []
    after = qwen("AfterAgent", gone, prompt=FACT, prompt_response=ANSWER, stop_hook_active=False)
    assert host.hook("agent_end", after, "--rw") == {}
    assert texts(host) == [FACT]
    asked = qwen("BeforeAgent", gone, prompt="How should the greenhouse report be printed?", session_id="s2")
    told = host.hook("prompt_build", asked, "--rw")
    assert FACT in told["hookSpecificOutput"]["additionalContext"]
    assert told["hookSpecificOutput"]["hookEventName"] == "BeforeAgent"
    assert set(told) <= GENERAL


@pytest.mark.slow
def test_a_prompt_is_kept_no_longer_than_an_hour_and_one_a_session(host: Host) -> None:
    gone = str(host.folder / "not-yet.jsonl")
    for words in ("I like tea", FACT):
        host.hook("prompt_build", codex("UserPromptSubmit", gone, prompt=words), "--rw")
    (kept,) = prompts(host)
    os.utime(kept, (time.time() - 3700,) * 2)
    other = {**codex("UserPromptSubmit", gone, prompt="What is next?"), "session_id": "another"}
    host.hook("prompt_build", other)  # reading alone removes, and keeps nothing
    assert prompts(host) == []
    host.hook("agent_end", codex("Stop", gone, last_assistant_message=ANSWER, stop_hook_active=False), "--rw")
    assert texts(host) == []


def lines(path: Path, *entries: Any) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in entries), encoding="utf-8")
    return path


def rollout(path: Path, *, events: bool) -> Path:
    """A rollout of Codex; older ones have no events of what was said."""
    environment = "<environment_context>I prefer the cwd to be kept as a printed list</environment_context>"

    def item(role: str, kind: str, text: str) -> dict[str, Any]:
        payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        return {"timestamp": "2026-02-10T10:00:00.000Z", "type": "response_item", "payload": payload}

    def event(kind: str, text: str) -> dict[str, Any]:
        payload = {"type": kind, "message": text}
        return {"timestamp": "2026-02-10T10:00:00.000Z", "type": "event_msg", "payload": payload}

    told = [event("user_message", FACT), event("agent_message", ANSWER)] if events else []
    return lines(
        path,
        {
            "timestamp": "2026-02-10T10:00:00.000Z",
            "type": "session_meta",
            "payload": {"id": "x", "cwd": "/w"},
        },
        item("user", "input_text", environment),
        item("user", "input_text", FACT),
        *told,
        item("assistant", "output_text", ANSWER),
    )


def chat_of_gemini(path: Path) -> Path:
    return lines(
        path,
        {"sessionId": "x", "projectHash": "p", "kind": "main"},
        {"id": "m0", "type": "user", "content": [{"text": "I prefer the old plan as a blue list"}]},
        {"$rewindTo": "m0"},
        {"id": "m1", "type": "user", "content": [{"text": FACT}]},
        {"id": "m2", "type": "gemini", "content": ANSWER},
    )


def chat_of_qwen(path: Path) -> Path:
    def line(uuid: str, parent: str | None, kind: str, text: str) -> dict[str, Any]:
        message = {"role": "user" if kind == "user" else "model", "parts": [{"text": text}]}
        return {"uuid": uuid, "parentUuid": parent, "sessionId": "x", "type": kind, "message": message}

    return lines(
        path,
        line("a", None, "user", "I prefer the old plan as a blue list"),
        line("b", None, "user", FACT),
        line("c", "b", "assistant", ANSWER),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "write",
    [
        lambda path: rollout(path, events=True),
        lambda path: rollout(path, events=False),
        chat_of_gemini,
        chat_of_qwen,
    ],
    ids=["codex", "codex-older", "gemini", "qwen"],
)
def test_transcripts_of_each_host_are_read(host: Host, write: Any) -> None:
    transcript = write(host.folder / "session.jsonl")
    ended = codex("Stop", str(transcript), last_assistant_message=ANSWER, stop_hook_active=False)
    assert host.hook("agent_end", ended, "--rw") == {}
    assert texts(host) == [FACT]


def written(folder: Path, data: bytes) -> Path:
    path = folder / "transcript.jsonl"
    path.write_bytes(data)
    return path


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


UNREAD = {
    "a folder": lambda folder: folder,
    "a pipe that nobody writes": pipe,
    "a device without an end": lambda folder: Path("/dev/zero"),
    "no JSON": lambda folder: written(folder, b"I prefer every report in green\n{{{\n"),
    "bytes": lambda folder: written(folder, bytes(range(256)) * 8),
    "text of an old page": lambda folder: written(folder, b"User: I prefer caf\xe9 in green\n"),
}
"""Transcripts that cannot be read: that is said, and nothing in them is taken for a person's words."""

NOT_YET = {
    "no file": lambda folder: folder / "gone.jsonl",
    "no folder": lambda folder: folder / "gone" / "gone.jsonl",
    "below a file": lambda folder: written(folder, b"") / "gone.jsonl",
    "empty": lambda folder: written(folder, b""),
    "lines alone": lambda folder: written(folder, b"\n\n"),
    "its first line half written": lambda folder: written(folder, b'{"type": "user", "mess'),
    "a session without a message": lambda folder: written(folder, b'{"type": "session", "id": "x"}\n'),
    "a document without a message": lambda folder: written(folder, b'{\n  "messages": []\n}\n'),
    "no path at all": lambda folder: Path("a\0b"),
}
"""Transcripts of sessions that have just begun: a healthy thing."""


@pytest.mark.parametrize("name", [*UNREAD, *NOT_YET])
def test_a_transcript_that_cannot_be_read_is_told_from_one_that_is_not_there_yet(
    name: str, tmp_path: Path
) -> None:
    place = {**UNREAD, **NOT_YET}[name](tmp_path)
    event = read_event("agent_end", json.dumps(codex("Stop", str(place), last_assistant_message=ANSWER)))
    assert list(event.messages) == []
    assert bool(event.unread) == (name in UNREAD), event.unread


@pytest.mark.slow
def test_messages_that_are_null_are_none_given(host: Host) -> None:
    gone = str(host.folder / "not-yet.jsonl")
    host.hook("prompt_build", codex("UserPromptSubmit", gone, prompt=FACT, messages=None), "--rw")
    host.hook("agent_end", codex("Stop", gone, last_assistant_message=ANSWER, messages=None), "--rw")
    assert texts(host) == [FACT]


@pytest.mark.slow
def test_an_answer_without_its_prompt_hides_no_failure(host: Host) -> None:
    garbage = written(host.folder, b"no JSON\n")
    told = host.hook("agent_end", codex("Stop", str(garbage), last_assistant_message=ANSWER), "--rw")
    assert "transcript.jsonl" in told["systemMessage"]


@pytest.mark.slow
def test_a_failure_is_said_where_the_host_shows_it_and_stands_in_the_calls(host: Host) -> None:
    folder = host.folder / "locked.jsonl"
    folder.mkdir()  # what stands there cannot be read as a transcript
    done = host.hook("agent_end", codex("Stop", str(folder)), "--rw")
    assert set(done) == {"systemMessage"}
    calls = json.loads(host.call("calls", "--store", str(host.store), "--json").stdout)["calls"]
    assert [each["outcome"] for each in calls] == ["failed"]


@pytest.mark.slow
def test_what_a_schema_has_no_place_for_is_said_on_standard_error(host: Host) -> None:
    store = ("--store", str(host.store))
    event = codex("Stop", None, last_assistant_message=ANSWER)
    done = host.call("hook", "agent_end", *store, event=event)
    assert done.stdout.strip() == "{}"
    assert "--rw" in done.stderr
    done = host.call(
        "hook",
        "prompt_build",
        "--store",
        str(host.folder / "gone"),
        event={"hook_event_name": "beforeSubmitPrompt"},
    )
    assert done.stdout.strip() == "{}"
    assert done.stderr
