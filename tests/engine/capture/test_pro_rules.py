"""Rules of the plugin that no recording holds alone: each is played from inputs made for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.capture.recipes.pro.settings import dreaming_config
from memtui.engine.capture.replays import replay
from memtui.engine.core.errors import ConfigError, UsageError
from memtui.engine.providers.codex import streamed_text

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


def waiting(done: dict[str, Any], step: int) -> list[str]:
    return [each["text"] for each in done["steps"][step]["queues"]["deferred"].get(KEY, [])]


def test_what_a_fruitless_run_was_handed_waits_once() -> None:
    """A run that finds nothing takes what it was handed out of what waits, and puts its own turns back."""
    few = {"extractMinMessages": 2}
    done = played(turn(FIRST), turn(FIRST, SECOND), extract=[NOTHING], config=few)
    assert waiting(done, 0) == [FIRST]
    assert waiting(done, 1) == [FIRST, SECOND]


def test_what_compression_took_out_of_a_run_still_waits() -> None:
    """A text that the model never saw is not settled by what the model said of the others."""
    talk = "The light over the beds is lovely, and the gulls were loud again all through the morning."
    chat = "ok"
    config = {
        "extractMinMessages": 3,
        "extractMaxChars": 60,
        "sessionCompression": {"enabled": True},
    }
    done = played(turn(chat, talk), turn(chat, talk, SECOND), extract=[REAL], config=config)
    left = waiting(done, 1)
    assert left == [text for text in (chat, talk) if text in left]
    assert left, "one of them was cut, and waits for the end of the session"


def test_a_command_that_waits_for_the_end_takes_what_was_said_before_it_along() -> None:
    command = {
        "do": "message_received",
        "channelId": "harbour",
        "conversationId": "deck-7",
        "content": "remember",
    }
    done = played(turn(FIRST), command, END, extract=[REAL, REAL])
    call = next(each for each in done["steps"][2]["trace"] if each["kind"] == "extract_call")
    assert [each["text"] for each in call["turns"]] == [FIRST, "remember"]
    assert call["protected_prefix_turns"] == 1


def stored_lines(*lines: tuple[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "id": f"aaaa000{at}-1111-4222-8333-000000000001",
            "text": text,
            "category": "reflection",
            "scope": "agent:main",
            "importance": 0.8,
            "timestamp": NOW - at,
            "metadata": f'{{"type":"memory-reflection-item","itemKind":"{kind}","agentId":"main"}}',
            "vector_of": text,
        }
        for at, (kind, text) in enumerate(lines)
    ]


def resolved(params: dict[str, Any], rows: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    rows = stored_lines(("invariant", FIRST)) if rows is None else rows
    step = {"do": "tool", "name": "memory_reflection_resolve", "params": params, "ctx": CTX}
    vectors = {text: [1.0 if at == n else 0.0 for at in range(8)] for n, text in enumerate((FIRST, SECOND))}
    done = played(step, rows_before=rows, embeddings=vectors)
    answer: dict[str, Any] = done["steps"][0]["answer"]
    return answer


def test_a_question_that_matches_no_line_is_answered_with_the_scopes_that_were_read() -> None:
    answer = resolved({"query": FIRST}, rows=[])
    assert answer["text"] == "No unresolved reflection items matched."
    details = answer["details"]
    assert (details["action"], details["query"]) == ("empty", FIRST)
    assert "agent:main" in details["scopeFilter"]
    assert resolved({"query": FIRST, "scope": "global"}, rows=[])["details"]["scopeFilter"] == ["global"]


@pytest.mark.parametrize(
    ("params", "details"),
    [
        ({"memoryId": "x", "query": "y"}, {"error": "ambiguous_selector"}),
        ({"memoryId": " ", "query": ""}, {"error": "missing_selector"}),
        (
            {"query": FIRST, "scope": "agent:other"},
            {"error": "scope_access_denied", "requestedScope": "agent:other"},
        ),
        ({"memoryId": "bbbb"}, {"error": "not_found", "memoryId": "bbbb"}),
    ],
)
def test_a_line_that_is_not_named_right_is_not_resolved(
    params: dict[str, Any], details: dict[str, Any]
) -> None:
    assert resolved(params)["details"] == details


def test_a_beginning_that_names_two_lines_is_no_name() -> None:
    rows = stored_lines(("invariant", FIRST), ("derived", SECOND))
    assert resolved({"memoryId": "aaaa"}, rows)["details"]["error"] == "ambiguous_memory_id"
    found = resolved({"memoryId": "aaaa0001", "dryRun": True}, rows)["details"]
    assert found == {
        "action": "preview",
        "memoryId": "aaaa0001",
        "candidates": [{"id": rows[1]["id"], "text": SECOND, "itemKind": "derived", "agentId": "main"}],
    }
    assert resolved({"memoryId": "aaaa0001"}, rows)["details"]["action"] == "resolved"


def test_a_rank_that_is_asked_for_and_not_there_says_what_was_read() -> None:
    step = {
        "do": "tool",
        "name": "memory_explain_rank",
        "params": {"query": FIRST, "scope": "agent:other"},
        "ctx": CTX,
    }
    answer = played(step, embeddings={FIRST: [1.0] + [0.0] * 7})["steps"][0]["answer"]
    assert answer["text"].startswith('Ignored inaccessible scope "agent:other"')
    assert answer["details"]["ignoredScope"] == "agent:other"
    assert "agent:main" in answer["details"]["scopeFilter"]


@pytest.mark.parametrize(
    ("phase", "name", "given", "read"),
    [
        ("light", "limit", "25", 25),
        ("light", "lookbackDays", " 3.9 ", 3),
        ("light", "dedupeSimilarity", "0.5", 0.5),
        ("light", "dedupeSimilarity", "7", 1),
        ("deep", "minRecallCount", "0", 0),
        ("deep", "recencyHalfLifeDays", 0, 14),
        ("deep", "maxAgeDays", "-1", 90),
        ("deep", "minScore", "high", 0.6),
        ("rem", "limit", "", 10),
        ("rem", "limit", True, 10),
        ("rem", "limit", [4], 10),
        ("rem", "minPatternStrength", "1e-1", 0.1),
    ],
)
def test_numbers_of_dreaming_may_be_texts(phase: str, name: str, given: Any, read: Any) -> None:
    found = dreaming_config({"phases": {phase: {name: given}}}).as_json()
    assert found["phases"][phase][name] == read


def test_a_schedule_that_is_none_counts_only_while_dreaming_is_on() -> None:
    assert dreaming_config({"frequency": "bad"}).frequency == "bad"
    with pytest.raises(ConfigError):
        dreaming_config({"frequency": "bad", "enabled": True})


def dreamt(config: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    texts = [row["text"] for row in rows]
    vectors = {text: [1.0 if at == n else 0.0 for at in range(8)] for n, text in enumerate(texts)}
    dreaming = {"enabled": True, **config}
    return played({"do": "dream"}, rows_before=rows, embeddings=vectors, config={"dreaming": dreaming})


def memory(number: int, text: str, importance: float, uses: float, **metadata: Any) -> dict[str, Any]:
    return {
        "id": f"aaaa000{number}-1111-4222-8333-000000000001",
        "text": text,
        "category": "fact",
        "scope": "agent:main",
        "importance": importance,
        "timestamp": NOW - number * 3_600_000,
        "metadata": json.dumps(
            {"memory_layer": "working", "access_count": uses, "confidence": 1, **metadata}
        ),
        "vector_of": text,
    }


ONLY_DEEP = {"light": {"enabled": False}, "rem": {"enabled": False}}


def test_the_deep_phase_takes_the_newest_that_reach_the_score_not_the_best() -> None:
    rows = [memory(1, "the gate is green", 0.6, 9), memory(2, "the key hangs left", 0.9, 9)]
    done = dreamt({"phases": {**ONLY_DEEP, "deep": {"limit": "1"}}}, rows)
    assert [row["id"] for row in done["rows_changed"]] == [rows[0]["id"]]


def test_the_deep_phase_counts_questions_and_twice_the_wanted_recalls() -> None:
    rows = [
        memory(1, "the gate is green", 0.8, 2),
        memory(2, "the key hangs left", 0.8, 2, query_ids=["a", "b", "b"]),
    ]
    deep = {"minRecallCount": 1, "minUniqueQueries": "2", "minScore": 0.9}
    done = dreamt({"phases": {**ONLY_DEEP, "deep": deep}}, rows)
    assert [row["id"] for row in done["rows_changed"]] == [rows[1]["id"]]


def test_dreaming_that_is_off_reads_nothing_and_one_without_rows_reads_the_global_scope() -> None:
    off = dreamt({"enabled": False}, [memory(1, "the gate is green", 0.6, 9)])["steps"][0]["answer"]
    assert (off["scopes"], off["phases"]["deep"]) == ([], {"scanned": 0, "changed": 0})
    assert dreamt({}, [])["steps"][0]["answer"]["scopes"] == ["global"]


@pytest.mark.parametrize(
    ("word", "scanned"), [("sessions", 1), ("logs", 1), ("manual", 0), ("fact", 2), ("cases", 1)]
)
def test_a_filter_of_sources_reads_where_a_memory_came_from(word: str, scanned: int) -> None:
    rows = [
        memory(
            1,
            "the gate is green",
            0.6,
            0,
            source="session-summary",
            state="confirmed",
            memory_category="events",
        ),
        memory(2, "the key hangs left", 0.6, 0, source="auto-capture", memory_category="cases"),
    ]
    done = dreamt({"phases": {**ONLY_DEEP, "deep": {"sources": [word]}}}, rows)
    assert done["steps"][0]["answer"]["phases"]["deep"]["scanned"] == scanned


@pytest.mark.parametrize(
    ("events", "text"),
    [
        (
            [
                {
                    "output": [
                        {
                            "content": [
                                {"type": "output_text", "text": "p"},
                                {"type": "output_text", "text": "q"},
                            ]
                        }
                    ]
                }
            ],
            "p\nq",
        ),
        ([{"type": "x", "output": [{"content": [{"type": "output_text", "text": "p"}]}]}], "p"),
        (
            [{"response": {"output": []}, "output": [{"content": [{"type": "output_text", "text": "p"}]}]}],
            "p",
        ),
        (
            [
                {"type": "response.output_text.done", "text": "a"},
                {"type": "response.output_text.done", "text": "b"},
            ],
            "a",
        ),
        ([{"type": "response.output_text.delta", "delta": "a"}, {"output": [{"content": []}]}], "a"),
    ],
)
def test_a_streamed_answer_is_read_from_the_first_event_that_has_it_whole(
    events: list[dict[str, Any]], text: str
) -> None:
    assert streamed_text("".join(f"data: {json.dumps(each)}\n\n" for each in events)) == text
