"""The fate of each text in the plugin's capture, with its gate and numbers; why one was lost, and what keeps it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtui.engine.capture.chat import Replies
from memtui.engine.capture.draft import Draft, table_of
from memtui.engine.capture.lost_text import CaptureVerdict, why_not
from memtui.engine.capture.pipeline import capture
from memtui.engine.capture.recipes.base import CaptureContext, CaptureRequest
from memtui.engine.capture.run_document import Again, document
from memtui.engine.capture.trace import CaptureTrace, Message
from memtui.engine.core.errors import MemtuiError
from memtui.engine.store.create import create_pro, pro_schema
from memtui.engine.store.open import open_store

NOW = 1_791_192_600_000
ROTA = "For the rota I prefer a printed list on blue paper."
BOAT = "The skipper of the Ternwing decided to paint her hull green this spring."
Fresh = Callable[..., CaptureContext]


def embed(texts: Sequence[str]) -> Any:
    made = [
        np.random.default_rng(int.from_bytes(text.encode()[:64], "little") % 2**63).standard_normal(64)
        for text in texts
    ]
    return np.asarray(made, dtype=np.float32)


@pytest.fixture
def fresh(tmp_path: Path) -> Fresh:
    create_pro(tmp_path / "db", table_of([], pro_schema(64)))

    def make(chat: Any = None) -> CaptureContext:
        ids = iter(f"id-{n}" for n in range(100))
        return CaptureContext(Draft(open_store(tmp_path / "db")), embed, NOW, lambda: next(ids), chat)

    return make


def said(*texts: str, role: str = "user") -> list[Message]:
    return [Message(role, text) for text in texts]


def memory(
    abstract: str, content: str, category: str = "preferences", grounding: str = "real"
) -> dict[str, str]:
    return {
        "category": category,
        "abstract": abstract,
        "overview": "",
        "content": content,
        "grounding": grounding,
    }


def replies(*memories: Mapping[str, Any], **more: Any) -> Replies:
    return Replies(
        {"extract": [{"conversation_register": "real", "memories": list(memories)}], **more}, json.dumps
    )


def asked(
    fresh: Fresh,
    messages: list[Message],
    config: Mapping[str, Any],
    chat: Replies | None,
    recipe: str = "pro",
) -> tuple[CaptureTrace, Callable[[str], CaptureVerdict]]:
    request = CaptureRequest(messages, recipe, config)
    trace = capture(request, fresh(chat))

    def why(wanted: str) -> CaptureVerdict:
        return why_not(wanted, trace, request, lambda: fresh(None if chat is None else Again(trace.calls)))

    return trace, why


RULED = memory(
    "Rota: a printed list on blue paper", "The user prefers the rota as a printed list on blue paper."
)
STRICT = {"admissionControl": {"enabled": True, "utilityMode": "off", "rejectThreshold": 0.99}}


@pytest.mark.parametrize(
    ("messages", "config", "chat", "fate", "gate", "limit"),
    [
        (said(ROTA), {"sessionEnd": False}, replies(RULED), "deferred", "too few texts", 4),
        (said(ROTA), {}, replies(RULED), "kept", "", None),
        (said("Nice gulls."), {"extractionThrottle": {"skipLowValue": True}}, replies(), "dropped", "low value", 0.2),
        (said("You never remember that."), {}, replies(), "dropped", "noise", None),
        (said(BOAT), {}, replies(RULED | {"grounding": "constructed"}), "dropped", "grounding", None),
        (said(ROTA), STRICT, replies(RULED), "dropped", "admission", 0.99),
        (said(ROTA, role="assistant"), {}, replies(), "dropped", "role", None),
        (said("/new"), {}, replies(), "dropped", "envelope", None),
        (said(ROTA), {"extractMinMessages": 1}, Replies({}, json.dumps), "deferred", "model failed", None),
        (said(ROTA), {"autoCapture": False}, replies(RULED), "dropped", "not captured", None),
        (said("Too many gulls here."), {}, None, "dropped", "no trigger word", None),
        (said("I like"), {}, None, "dropped", "too short", 10),
        (said(f"I prefer {'x' * 600}"), {}, None, "dropped", "too long", 500),
    ],
)  # fmt: skip
def test_a_text_has_the_gate_that_decided(
    fresh: Fresh,
    messages: list[Message],
    config: dict[str, Any],
    chat: Replies | None,
    fate: str,
    gate: str,
    limit: float | None,
) -> None:
    trace, _ = asked(fresh, messages, config, chat)
    text = trace.texts[0]
    assert (text.fate, text.gate, text.limit) == (fate, gate, limit)
    if limit is not None:
        assert text.value is not None


def test_what_compression_drops_is_told_beside_what_is_kept(fresh: Fresh) -> None:
    config = {
        "extractMinMessages": 1,
        "extractMaxChars": 120,
        "sessionCompression": {"enabled": True},
    }
    filler = "The gulls went round and round over the harbour wall while the tide came in, and so on."
    trace, why = asked(fresh, said(ROTA, filler, "ok", "Fine."), config, replies(RULED))
    assert [text.gate for text in trace.texts][1] == "compression"
    assert (trace.texts[1].value, trace.texts[1].limit) == (sum(len(t.text) for t in trace.texts), 120)
    note = next(each for each in why(filler).remedies if each.setting == "extractMaxChars")
    assert not note.confirmed
    assert "new question" in note.note


def test_a_second_text_of_a_conversation_is_known_and_the_third_is_one_too_many(fresh: Fresh) -> None:
    texts = said(ROTA, ROTA, BOAT, "I love long walks on the wall.")
    trace, why = asked(fresh, texts, {}, None)
    assert [text.gate for text in trace.texts][2:] == ["enough of this turn", "enough of this turn"]
    verdict = why("long walks")
    assert ("the turn", "alone", True) in [(r.setting, r.after, r.confirmed) for r in verdict.remedies]
    assert [rung.passed for rung in verdict.ladder].count(False) == 1


def test_the_smallest_threshold_is_found_and_confirmed_without_asking_again(fresh: Fresh) -> None:
    trace, why = asked(fresh, said(ROTA), STRICT, replies(RULED))
    verdict = why("printed list")
    assert verdict.gate == "admission"
    best = verdict.remedies[0]
    assert (best.setting, best.confirmed, best.after) == (
        "admissionControl.rejectThreshold", True, trace.texts[0].value,
    )  # fmt: skip


def test_what_nobody_has_asked_the_model_is_not_confirmed(fresh: Fresh) -> None:
    chat = replies(RULED)
    _, why = asked(fresh, said(ROTA), {**STRICT, "sessionEnd": False}, chat)
    verdict = why(ROTA)
    assert verdict.gate == "too few texts"
    assert all(not each.confirmed and "new question" in each.note for each in verdict.remedies)


@pytest.mark.parametrize(
    ("recipe", "messages", "config", "wanted", "gate", "change"),
    [
        ("pro", said("We meet at the slip on Tuesdays."), {}, "slip", "no trigger word", "the words"),
        ("memory-lancedb", said("We meet at the slip on Tuesdays."), {}, "slip", "no trigger", "the words"),
        ("memory-lancedb", said(f"I prefer tea{' and tea' * 80}."), {}, "tea", "too long", "captureMaxChars"),
        ("memory-lancedb", said("I like a.b", "I like c.d", "I like e.f", "I like the fog."), {}, "fog",
         "after the third", "the turn"),
        ("mem-engine", said("The slip is wet on Tuesdays."), {}, "slip", "no trigger", "the words"),
        ("mem-engine", said("I prefer tea in the wheelhouse."), {"capturePreference": False}, "tea",
         "category off", "capturePreference"),
    ],
)  # fmt: skip
def test_a_lost_sentence_is_kept_after_the_change(
    fresh: Fresh,
    recipe: str,
    messages: list[Message],
    config: dict[str, Any],
    wanted: str,
    gate: str,
    change: str,
) -> None:
    _, why = asked(fresh, messages, config, None, recipe)
    verdict = why(wanted)
    assert (verdict.kept, verdict.gate) == (False, gate)
    assert (verdict.remedies[0].setting, verdict.remedies[0].confirmed) == (change, True)
    stopped = [rung for rung in verdict.ladder if rung.passed is False]
    assert stopped[0].sentence.startswith(gate)


@pytest.mark.parametrize("recipe", ["pro", "memory-lancedb", "mem-engine"])
def test_every_text_of_a_real_session_has_a_fate_and_can_be_asked_about(
    shared: Path, fresh: Fresh, recipe: str
) -> None:
    from memtui.engine.capture.conversation import read_conversations

    files = [each for each in sorted((shared / "fixtures/sessions").rglob("*.jsonl")) if each.stat().st_size]
    seen = 0
    for file in files[:6]:
        try:
            conversation = read_conversations(file, "session")[0]
        except MemtuiError:  # not a session
            continue
        request = CaptureRequest(conversation.messages, recipe)
        trace = capture(request, fresh())
        found = document(trace)
        assert {text.message for text in trace.texts} == set(range(len(conversation.messages)))
        assert all(
            text["fate"] in ("kept", "used", "dropped", "deferred", "known") for text in found["texts"]
        )
        assert all(text["gate"] for text in found["texts"] if text["fate"] == "dropped")
        assert found["calls"] == []
        lost = [at for at, text in enumerate(trace.texts) if text.role == "user" and text.fate == "dropped"]
        for at in lost[:3]:
            verdict = why_not(at, trace, request, fresh)
            assert not verdict.kept
            assert any(rung.passed is False for rung in verdict.ladder)
            seen += 1
    assert seen


@pytest.mark.parametrize("recipe", ["pro", "memtui"])
def test_the_same_transcript_twice_leaves_nothing_twice(fresh: Fresh, recipe: str) -> None:
    request = CaptureRequest(said(ROTA, "I prefer tea in the wheelhouse."), recipe)
    first = fresh()
    made = capture(request, first)
    assert made.writes
    first.draft.flush()
    second = capture(request, fresh())
    assert not [write for write in second.writes if write.op == "add"]
    assert all(text.fate == "known" for text in second.texts)
