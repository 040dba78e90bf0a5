"""The inbox of Capture: what waits for a person, and what becomes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memtui.engine import Engine, changes
from memtui.engine.capture.inbox import Inbox
from memtui.engine.store.create import create_empty
from tests.conftest import NOW_MS
from tests.engine.test_capture_own import again, ran, said, texts


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    create_empty(tmp_path / "store", 256)
    return again(tmp_path)


def test_what_is_unsure_waits_and_is_worked_off(engine: Engine, tmp_path: Path) -> None:
    trace = ran(engine, said("maybe we rename otter to seal", "perhaps we could paint our fence green"))
    inbox = Inbox(engine)
    assert inbox.take(trace) == 2
    assert inbox.take(trace) == 0
    first, second = inbox.items()
    changes.apply(engine, inbox.plan_accept(first, "otter is renamed to seal"))
    inbox.settled(first, "accepted")
    assert inbox.plan_refuse(second) is None
    inbox.settled(second, "refused")
    assert list(texts(engine)) == ["otter is renamed to seal"]
    other = Inbox(again(tmp_path))
    assert other.items() == ()
    assert other.take(trace) == 0, "a refused sentence is not proposed again"
    assert [each["verdict"] for each in other.done()] == ["refused", "accepted"]


def test_what_was_accepted_and_taken_back_waits_again(engine: Engine, tmp_path: Path) -> None:
    inbox = Inbox(engine)
    inbox.take(ran(engine, said("maybe we rename otter to seal")))
    (item,) = inbox.items()
    inbox.settled(item, "accepted", changes.apply(engine, inbox.plan_accept(item)).entry)
    assert inbox.items() == ()
    changes.apply(engine, changes.plan_undo(engine))
    other = Inbox(again(tmp_path))
    assert other.items() == (item,)
    assert other.done() == []
    assert other.take(ran(engine, said("maybe we rename otter to seal"))) == 0, "it waits already"
    changes.apply(engine, changes.plan_redo(engine))
    assert Inbox(again(tmp_path)).items() == ()
    changes.apply(engine, changes.plan_undo(engine))
    other.settled(item, "refused")
    assert other.items() == ()
    assert [each["verdict"] for each in other.done()] == ["refused"]


def test_a_rejection_that_was_accepted_waits_no_longer(engine: Engine, tmp_path: Path) -> None:
    audit = tmp_path / "admission-audit" / "rejections.jsonl"
    audit.parent.mkdir()
    audit.write_text(
        json.dumps(
            {"rejected_at": NOW_MS - 1000, "candidate": {"abstract": "likes oat milk", "category": "events"}}
        )
        + "\n"
    )
    inbox = Inbox(engine)
    (item,) = inbox.items()
    inbox.settled(item, "accepted", changes.apply(engine, inbox.plan_accept(item)).entry)
    assert inbox.items() == ()
    changes.apply(engine, changes.plan_undo(engine))
    assert inbox.items() == (item,)


def test_rejections_of_the_plugin_are_in_the_inbox(engine: Engine, tmp_path: Path) -> None:
    audit = tmp_path / "admission-audit" / "rejections.jsonl"
    audit.parent.mkdir()
    line = {
        "version": "amac-v1",
        "rejected_at": NOW_MS - 1000,
        "target_scope": "agent:main",
        "candidate": {"category": "preferences", "abstract": "likes oat milk"},
        "audit": {"score": 0.31, "thresholds": {"reject": 0.52}},
        "conversation_excerpt": "I like oat milk; the password is hunter22",
    }
    audit.write_text(json.dumps(line) + "\n{half a line\n")
    (item,) = Inbox(engine).items()
    assert (item.kind, item.text, item.why) == ("rejected", "likes oat milk", "admission 0.31 < 0.52")
    assert "hunter22" not in item.said
