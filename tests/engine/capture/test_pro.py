"""The recipe `pro` over a conversation, without a model and with played replies; and a recording made here."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from memtui.engine.capture.chat import Replies
from memtui.engine.capture.draft import Draft, table_of
from memtui.engine.capture.recipes.base import CaptureContext, CaptureRequest
from memtui.engine.capture.recipes.pro.plugin import call_tool
from memtui.engine.capture.recipes.pro.run import RECIPE
from memtui.engine.capture.replays import read_recordings, replay
from memtui.engine.capture.trace import Message
from memtui.engine.core.errors import UsageError
from memtui.engine.store.create import create_pro, pro_schema
from memtui.engine.store.open import open_store

NOW = 1_791_192_600_000
SAID = "For the rota I prefer a printed list on blue paper."
TALK = (Message("user", SAID), Message("assistant", "Noted."), Message("user", "The gulls are loud today."))


def embed(texts: object) -> np.ndarray:
    made = [np.random.default_rng(abs(hash(text)) % 2**32).standard_normal(16) for text in list(texts)]  # type: ignore[call-overload]
    return np.asarray(made, dtype=np.float32)


@pytest.fixture
def context(tmp_path: Path) -> CaptureContext:
    create_pro(tmp_path / "db", table_of([], pro_schema(16)))
    ids = iter(f"id-{n}" for n in range(100))
    return CaptureContext(Draft(open_store(tmp_path / "db")), embed, NOW, lambda: next(ids))


def test_without_a_model_only_trigger_words_are_kept(context: CaptureContext) -> None:
    trace = RECIPE.run(CaptureRequest(TALK), context)
    assert [(text.role, text.fate, text.gate) for text in trace.texts] == [
        ("user", "kept", ""),
        ("assistant", "dropped", "role"),
        ("user", "dropped", "no trigger word"),
    ]
    assert [candidate.abstract for candidate in trace.candidates] == [SAID]
    assert trace.writes[0].row.scope == "agent:main"
    assert trace.warnings == ("no language model was named: only the plugin's trigger words are looked for",)


def test_with_a_model_the_candidate_is_told_with_its_decision(context: CaptureContext) -> None:
    memory = {
        "category": "preferences",
        "abstract": "Rota: printed list on blue paper",
        "overview": "",
        "content": "The user prefers the rota as a printed list on blue paper.",
        "grounding": "real",
    }
    replies = Replies({"extract": [{"conversation_register": "real", "memories": [memory]}]}, json.dumps)
    chatting = CaptureContext(context.draft, embed, NOW, context.new_id, replies)
    trace = RECIPE.run(CaptureRequest(TALK, config={"extractMinMessages": 1}), chatting)
    candidate = trace.candidates[0]
    assert (candidate.decision, candidate.reason) == ("create", "No similar memories found")
    assert candidate.writes[0].row.text == memory["abstract"]
    assert [call.purpose for call in trace.calls] == ["extract"]


def recording() -> dict[str, object]:
    return {
        "id": "one",
        "now": NOW,
        "config": {"autoCapture": False},
        "steps": [
            {
                "do": "tool",
                "name": "memory_store",
                "params": {"text": "The north gate key hangs on the hook."},
            },
            {"do": "advance", "ms": 5000},
            {"do": "tool", "name": "memory_forget", "params": {"memoryId": "0000c0de"}},
        ],
    }


def test_a_recording_of_inputs_alone_is_played() -> None:
    found = replay(recording())
    assert found["rows_total"] == 0
    assert [step.get("answer", {}).get("details", {}).get("action") for step in found["steps"]] == [
        "created",
        None,
        "deleted",
    ]
    assert found["steps"][2]["at"] == NOW + 6000


@pytest.mark.parametrize("line", ["", "[1]", '{"steps": []}', '{"now": 1, "steps": [1]}', "no json"])
def test_what_is_no_recording_is_said_with_its_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "r.jsonl"
    file.write_text(json.dumps(recording()) + f"\n{line}\n", encoding="utf-8")
    if not line:
        assert len(list(read_recordings(file))) == 1
        return
    with pytest.raises(UsageError, match="Line 2"):
        list(read_recordings(file))


def test_an_unknown_tool_is_refused() -> None:
    with pytest.raises(UsageError, match="no tool"):
        replay({**recording(), "steps": [{"do": "tool", "name": "memory_burn", "params": {}}]})
    assert call_tool.__doc__
