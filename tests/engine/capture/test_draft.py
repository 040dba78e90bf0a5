"""A draft over a real store: what a search sees, what a flush writes, and what becomes of a decision's change set."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from memtui.engine import changes, open_engine
from memtui.engine.capture.chat import NoReplyError, RecordingChat, Replies
from memtui.engine.capture.draft import Draft, StoredRow, table_of
from memtui.engine.capture.pipeline import change_sets
from memtui.engine.capture.trace import CaptureCandidate, CaptureTrace
from memtui.engine.store.create import create_pro, pro_schema
from memtui.engine.store.open import open_store

NOW = 1_791_192_600_000


def row(name: str, angle: float, scope: str = "agent:main", metadata: str = "{}") -> StoredRow:
    vector = np.array([np.cos(angle), np.sin(angle), 0, 0], dtype=np.float32)
    return StoredRow(name, f"text of {name}", "fact", scope, 0.7, NOW - 1000, metadata, vector)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create_pro(tmp_path / "db", table_of([row("near", 0.1), row("far", 1.2)], pro_schema(4)))
    return tmp_path / "db"


def test_a_search_sees_what_is_on_top(folder: Path) -> None:
    draft = Draft(open_store(folder))
    draft.add(row("new", 0.0))
    draft.change("near", vector=row("x", 1.4).vector)
    draft.delete("far")
    hits = draft.search([1, 0, 0, 0], limit=5)
    assert [hit.row.id for hit in hits] == ["new", "near"]
    assert hits[0].cosine == pytest.approx(1.0)
    assert draft.count() == 2
    draft.flush()
    assert [hit.row.id for hit in Draft(open_store(folder)).search([1, 0, 0, 0], limit=5)] == ["new", "near"]


def test_rows_that_are_not_valid_are_left_out_when_asked(folder: Path) -> None:
    draft = Draft(open_store(folder))
    draft.change("near", metadata=json.dumps({"valid_from": 5, "invalidated_at": NOW - 1}))
    assert [hit.row.id for hit in draft.search([1, 0, 0, 0], limit=5, active_at=NOW)] == ["far"]
    assert len(draft.search([1, 0, 0, 0], limit=5)) == 2


def test_scopes_filter_and_an_empty_list_denies(folder: Path) -> None:
    draft = Draft(open_store(folder))
    draft.add(row("public", 0.0, scope="global"))
    assert [hit.row.id for hit in draft.search([1, 0, 0, 0], limit=5, scopes=["global"])] == ["public"]
    assert draft.search([1, 0, 0, 0], limit=5, scopes=[]) == []


def test_each_decision_is_one_journalled_change_that_can_be_taken_back(folder: Path, tmp_path: Path) -> None:
    engine = open_engine(
        folder, now=lambda: NOW, environ={}, cwd=tmp_path, writable=True, state=tmp_path / "state"
    )
    draft = Draft(engine.store)
    added = draft.add(row("new", 0.0))
    changed = draft.change("near", text="another text")
    assert changed is not None
    trace = CaptureTrace(
        "pro",
        {},
        NOW,
        (),
        (
            CaptureCandidate("cases", "a new one", writes=(added,)),
            CaptureCandidate("cases", "a merge", decision="merge", match="near", writes=(changed,)),
        ),
    )
    entries = [changes.apply(engine, each, confirmed=True).entry for each in change_sets(trace, engine.store)]
    assert len(set(entries)) == 2
    assert None not in entries
    engine.refresh()
    assert engine.get("new").text == "text of new"
    assert engine.get("near").text == "another text"
    for entry in reversed(entries):
        changes.apply(engine, changes.plan_undo(engine, entry), confirmed=True)
    engine.refresh()
    assert sorted(memory.id for memory in engine.memories(["new", "near", "far"]).values()) == ["far", "near"]
    assert engine.get("near").text == "text of near"


def test_replies_are_played_in_order_and_a_missing_one_is_a_failed_call() -> None:
    recorded = {"extract": [{"memories": []}, "as it was", {"reasoning": "thought"}, {"error": "down"}]}
    replies = Replies(recorded, json.dumps)
    chat = RecordingChat(replies)
    assert chat("extract", {"transcript": "t"}).text == '{"memories": []}'
    assert chat("extract", {}).text == "as it was"
    assert chat("extract", {}).reasoning == "thought"
    for _ in range(2):
        with pytest.raises(NoReplyError):
            chat("extract", {})
    assert [call.error for call in chat.calls] == ["", "", "", "down", "no reply was recorded"]
    assert Replies({"dedup": [1]}, json.dumps).unused == {"dedup": 1}
