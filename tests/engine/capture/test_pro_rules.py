"""Rules of the plugin that no recording holds alone: each is played from inputs made for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memtui.engine.capture.replays import replay
from memtui.engine.core.errors import UsageError

NOW = 1_791_192_600_000
KEY = "agent:main:harbour:deck-7"
CTX = {"agentId": "main", "sessionKey": KEY, "sessionId": "sess-1"}
FIRST, SECOND = "The rota goes on blue paper.", "I prefer the north gate for deliveries."
MEMORY = {
    "category": "preferences",
    "abstract": "Deliveries: the north gate",
    "overview": "",
    "content": "The user prefers the north gate for deliveries.",
    "grounding": "real",
}
REAL: dict[str, Any] = {"conversation_register": "real", "memories": [MEMORY]}
NOTHING: dict[str, Any] = {"conversation_register": "real", "memories": []}


def turn(*texts: str, **ctx: Any) -> dict[str, Any]:
    return {
        "do": "agent_end",
        "ctx": {**CTX, **ctx},
        "messages": [{"role": "user", "content": text} for text in texts],
    }


def played(*steps: dict[str, Any], extract: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    config = {"extractMinMessages": 1, **more.pop("config", {})}
    recording = {"id": "x", "now": NOW, "config": config, "replies": {"extract": extract or []}, **more}
    return replay({**recording, "steps": list(steps)})


END = {"do": "session_end", "ctx": CTX, "event": {"reason": "new"}}


def test_what_waited_before_the_limit_was_reached_is_read_after_the_hour() -> None:
    limited = {"extractMinMessages": 2, "extractionThrottle": {"maxExtractionsPerHour": 1}}
    done = played(
        turn(FIRST),
        turn("one thing is said", "another thing is said", sessionKey="agent:main:other"),
        END,
        {"do": "advance", "ms": 3_600_000},
        END,
        extract=[NOTHING, REAL],
        config=limited,
    )
    assert [each["text"] for each in done["steps"][2]["queues"]["deferred"][KEY]] == [FIRST]
    assert KEY not in done["steps"][4]["queues"]["deferred"]
    assert [row["text"] for row in done["rows_created"]] == [MEMORY["abstract"]]


def test_a_session_that_ends_with_nothing_found_leaves_nothing_waiting() -> None:
    done = played(turn(FIRST), END, extract=[NOTHING], config={"extractMinMessages": 2})
    assert done["steps"][1]["queues"]["deferred"] == {}
    assert done["rows_created"] == []


@pytest.mark.parametrize(
    "ctx",
    [
        {"agentId": "main", "sessionId": "sess-1"},
        {"agentId": "main", "sessionId": "sess-1", "sessionKey": ""},
    ],
)
def test_an_id_learned_from_any_hook_ends_the_session(ctx: dict[str, Any]) -> None:
    done = played(
        turn(FIRST, sessionId=""),
        {"do": "prompt_build", "ctx": CTX, "event": {"prompt": "hello"}},
        {"do": "session_end", "ctx": ctx, "event": {"reason": "new"}},
        extract=[REAL],
        config={"extractMinMessages": 2},
    )
    assert [row["text"] for row in done["rows_created"]] == [MEMORY["abstract"]]


def test_a_host_that_names_sessions_by_id_alone_has_queues_of_its_own() -> None:
    ctx = {"agentId": "main", "sessionId": "only-an-id"}
    step = {"do": "agent_end", "ctx": ctx, "messages": [{"role": "user", "content": FIRST}]}
    end = {"do": "session_end", "ctx": ctx, "event": {"reason": "new"}}
    done = played(step, end, extract=[REAL], config={"extractMinMessages": 2})
    assert list(done["steps"][0]["queues"]["deferred"]) == ["only-an-id"]
    assert len(done["rows_created"]) == 1


def test_the_fall_through_to_trigger_words_reads_what_compression_left() -> None:
    profile = {**MEMORY, "category": "profile", "abstract": "User is called Ada", "content": "Called Ada."}
    texts = [
        "I prefer tea to coffee at noon.",
        "I always like the long way home. " * 3,
        "Going forward we deploy on Friday.",
    ]
    boundary = {"userMdExclusive": {"enabled": True}}
    config = {
        "sessionCompression": {"enabled": True},
        "extractMaxChars": 70,
        "workspaceBoundary": boundary,
    }
    done = played(
        turn(*texts), extract=[{"conversation_register": "real", "memories": [profile]}], config=config
    )
    assert [row["text"] for row in done["rows_created"]] == [texts[0], texts[2]]


def test_an_embedding_that_fails_ends_a_regex_capture_without_rows() -> None:
    both = {**turn("I prefer tea to coffee.", "I prefer dark bread."), "embed_fail": ["I prefer dark bread."]}
    assert played(both, config={"smartExtraction": False})["rows_created"] == []


def test_a_candidate_without_a_vector_is_dropped_and_the_others_stay() -> None:
    other = {**MEMORY, "category": "events", "abstract": "The gate was painted", "content": "In May."}
    reply = {"conversation_register": "real", "memories": [MEMORY, other]}
    step = {**turn(SECOND), "embed_fail": [f"{MEMORY['abstract']} {MEMORY['content']}"]}
    for more in ({}, {"admissionControl": {"enabled": True, "utilityMode": "off"}}):
        done = played(step, extract=[reply], config=more)
        assert [row["text"] for row in done["rows_created"]] == [other["abstract"]]


@pytest.mark.parametrize(
    "step",
    [
        {"do": "tool", "name": "memory_store", "params": {"text": FIRST}},
        {"do": "tool", "name": "memory_recall", "params": {"query": FIRST}},
        {"do": "tool", "name": "memory_forget", "params": {"query": FIRST}},
    ],
)
def test_a_tool_whose_embedding_fails_answers_and_writes_nothing(step: dict[str, Any]) -> None:
    done = played({**step, "embed_fail": [FIRST]})
    assert "failed" in done["steps"][0]["answer"]["text"]
    assert done["rows_created"] == []


def test_a_decorated_tag_counts_before_a_letter_that_is_no_ascii_word() -> None:
    tagged = {**MEMORY, "grounding": "constructed的"}
    done = played(turn(SECOND), extract=[{"conversation_register": "mixed", "memories": [tagged]}])
    assert done["rows_created"] == []


@pytest.mark.parametrize("index", [True, 1e999, "9" * 5000, None])
def test_a_number_of_a_verdict_that_is_none_leaves_the_judgement_void(index: Any) -> None:
    rejudge = {"conversation_register": "mixed", "results": [{"index": index, "grounding": "real"}]}
    done = played(
        turn(SECOND),
        replies={
            "extract": [{"conversation_register": "mixed", "memories": [MEMORY]}],
            "rejudge": [rejudge],
        },
    )
    assert done["rows_created"] == []


# ---------------------------------------------------------------------- the file of a session


def said(text: str) -> str:
    return f'{{"type":"message","message":{{"role":"user","content":"{text}"}}}}\n'


def reflected(files: dict[str, str], **entry: str) -> str | None:
    """What a reflection at /new reads of these files, None where it reads nothing."""
    event = {
        "action": "new",
        "sessionKey": KEY,
        "timestamp": NOW,
        "context": {"cfg": {}, "workspaceDir": "<root>/ws", "sessionEntry": entry},
    }
    done = played(
        {"do": "hook", "name": "command:new", "event": event},
        config={"sessionStrategy": "memoryReflection", "autoCapture": False},
        files_before=files,
        reflection_replies=[{"text": "## Invariants\n- Always knock."}],
    )
    asked = [each for each in done["steps"][0]["trace"] if each["kind"] == "reflection"]
    return asked[0]["conversation"] if asked else None


RESET = "<root>/old/s1.jsonl.reset.1"


@pytest.mark.parametrize(
    ("files", "entry", "expected"),
    [
        (
            {"old/s1.jsonl": said("base"), "old/s1.jsonl.reset.1": said("reset")},
            {"sessionFile": RESET},
            "base",
        ),
        ({"old/s1.jsonl.reset.1": said("reset")}, {"sessionFile": RESET, "sessionId": "s1"}, "reset"),
        (
            {"old/s1.jsonl.reset.1": said("reset"), "old/s2.jsonl": said("id")},
            {"sessionFile": RESET, "sessionId": "s2"},
            "id",
        ),
        (
            {
                "old/s1.jsonl.reset.1": said("reset"),
                "old/s2-topic-4.jsonl": said("topic"),
                "old/a.jsonl": said("a"),
            },
            {"sessionFile": RESET, "sessionId": "s2"},
            "topic",
        ),
        (
            {"old/s1.jsonl.reset.1": said("reset"), "old/a.jsonl": said("plain")},
            {"sessionFile": RESET},
            "plain",
        ),
        ({"ws/sessions/s3.jsonl": said("found")}, {"sessionId": "s3"}, "found"),
        ({"ws/sessions/other.jsonl": said("other")}, {"sessionId": "s3"}, None),
        (
            {"old/s1.jsonl": "", "old/s1.jsonl.reset.1": said("one"), "old/s1.jsonl.reset.2": said("two")},
            {"sessionFile": "<root>/old/s1.jsonl", "sessionId": "s1"},
            "two",
        ),
        (
            {"old/s1.jsonl": "", "old/s2.jsonl": said("another")},
            {"sessionFile": "<root>/old/s1.jsonl", "sessionId": "s2"},
            None,
        ),
    ],
)
def test_the_file_of_a_session_is_found_where_the_plugin_looks(
    files: dict[str, str], entry: dict[str, str], expected: str | None
) -> None:
    found = reflected(files, **entry)
    assert found == (None if expected is None else f"user: {expected}")


def test_a_reflection_whose_rows_cannot_be_embedded_keeps_its_report() -> None:
    entry = {"sessionId": "s3", "sessionFile": "<root>/ws/sessions/s3.jsonl"}
    event = {
        "action": "new",
        "sessionKey": KEY,
        "timestamp": NOW,
        "context": {"cfg": {}, "workspaceDir": "<root>/ws", "sessionEntry": entry},
    }
    done = played(
        {"do": "hook", "name": "command:new", "event": event, "embed_fail": ["Always knock."]},
        config={"sessionStrategy": "memoryReflection", "autoCapture": False},
        files_before={"ws/sessions/s3.jsonl": said("found")},
        reflection_replies=[{"text": "## Invariants\n- Always knock."}],
    )
    assert len(done["files_after"]) == 1
    assert next(iter(done["files_after"])).startswith("ws/memory/reflections/")


def test_a_recording_writes_nothing_outside_of_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for place in (str(tmp_path / "far"), "near", "~/home", "<root>/../up"):
        done = played(
            {"do": "tool", "name": "memory_store", "params": {"text": FIRST}},
            config={"mdMirror": {"enabled": True, "dir": place}},
        )
        assert len(done["rows_created"]) == 1
        assert done["files_after"] == {}
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageError):
        played(files_before={"../x": "text"})


# ---------------------------------------------------------------------- answers to what was injected


def test_a_short_answer_leaves_the_judgement_to_the_next_long_one() -> None:
    row = {
        "id": "aaaa0001-0000-4000-8000-000000000001",
        "text": "Deliveries come through the north gate",
        "category": "preference",
        "scope": "agent:main",
        "importance": 0.8,
        "timestamp": NOW - 86_400_000,
        "metadata": '{"memory_category":"preferences","state":"confirmed","source":"manual"}',
    }
    ask = {
        "do": "prompt_build",
        "ctx": CTX,
        "event": {"prompt": "Which gate do deliveries come through today?"},
    }
    skip = {"do": "prompt_build", "ctx": CTX, "event": {"prompt": "ok"}}

    def answered(text: str) -> dict[str, Any]:
        return {"do": "agent_end", "ctx": CTX, "messages": [{"role": "assistant", "content": text}]}

    long = "As you mentioned, deliveries come through the north gate."
    same = {row["text"]: [1.0, 0.0], ask["event"]["prompt"]: [1.0, 0.0]}  # type: ignore[index]

    def importance(*steps: dict[str, Any]) -> float:
        done = played(
            *steps,
            config={"autoRecall": True, "autoCapture": False},
            rows_before=[row],
            embeddings=same,
        )
        assert done["rows_changed"], "it was injected"
        return float(done["rows_changed"][0]["importance"])

    assert importance(ask, answered("Yes."), skip) == 0.8
    assert importance(ask, answered("Yes."), skip, answered(long), skip) == 0.55
