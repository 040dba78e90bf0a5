"""Compaction, dreaming and reflection on real stores: what they plan, that undo brings everything back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from memtui.engine import Engine, changes, open_engine
from memtui.engine.capture.chat import Replies
from memtui.engine.capture.draft import StoredRow, table_of
from memtui.engine.capture.jobs import plan_compaction, plan_dream, plan_reflection
from memtui.engine.capture.trace import Message
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.store.create import create_pro, pro_schema

DAY = 86_400_000
NOW = 1_791_192_600_000
REPORT = "## Invariants\n- Always latch the gate.\n\n## Derived\n- Next run verify the hose.\n"
TALK = (Message("user", "The gate was open again."), Message("assistant", "I latched it."))


def row(name: str, angle: float, days: float, scope: str = "agent:main", **metadata: object) -> StoredRow:
    vector = np.zeros(256, dtype=np.float32)
    vector[:2] = np.cos(angle), np.sin(angle)
    values = {"l0_abstract": f"text of {name}", "memory_category": "cases", **metadata}
    return StoredRow(
        name, f"text of {name}", "fact", scope, 0.7, int(NOW - days * DAY), json.dumps(values), vector
    )


def opened(tmp_path: Path, rows: list[StoredRow]) -> Engine:
    create_pro(tmp_path / "db", table_of(rows, pro_schema(256)))
    return open_engine(
        tmp_path / "db", now=lambda: NOW, environ={}, cwd=tmp_path, writable=True, state=tmp_path / "state"
    )


def context_of(engine: Engine, chat: Replies | None = None):  # type: ignore[no-untyped-def]
    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        made = [np.random.default_rng(len(text)).standard_normal(256) for text in texts]
        return np.asarray(made, dtype=np.float32)

    return replace(engine.capture_context(chat), embed=embed)


def texts_of(engine: Engine) -> dict[str, str]:
    engine.refresh()
    rows = engine.capture_context().draft.rows()
    return {each.id: each.text for each in rows}


OLD = [
    row("a", 0.0, 20),
    row("b", 0.1, 21),
    row("past", 0.05, 30, invalidated_at=NOW - 25 * DAY, valid_from=5),
    row("else", 0.02, 22, scope="global"),
]


def test_a_sound_compaction_leaves_history_and_other_scopes_alone(tmp_path: Path) -> None:
    engine = opened(tmp_path, OLD)
    planned = plan_compaction(context_of(engine))
    assert planned.counts == {"groups": 1, "merged": 2}
    assert planned.change_set.warnings == ()
    assert sorted(change.id for change in planned.change_set.changes if change.op == "delete") == ["a", "b"]


def test_a_compacted_memory_and_what_it_replaces_are_left_out_together(tmp_path: Path) -> None:
    engine = opened(tmp_path, OLD)
    planned = plan_compaction(context_of(engine)).change_set
    for row_id in planned.ids:
        rest = planned.without([row_id])
        assert rest.changes == (), "neither the new memory alone, nor a deletion without it"
        assert ":" not in rest.title


def test_the_plugins_compaction_says_what_it_gets_wrong_and_can_be_taken_back(tmp_path: Path) -> None:
    engine = opened(tmp_path, OLD)
    before = texts_of(engine)
    planned = plan_compaction(context_of(engine), sound=False)
    assert any("no longer valid" in note for note in planned.change_set.warnings)
    assert any("scopes are mixed" in note for note in planned.change_set.warnings)
    outcome = changes.apply(engine, planned.change_set, confirmed=True)
    assert len(texts_of(engine)) == 1
    changes.apply(engine, changes.plan_undo(engine, outcome.entry), confirmed=True)
    assert texts_of(engine) == before


def test_dreaming_puts_a_duplicate_away_and_undo_brings_it_back(tmp_path: Path) -> None:
    engine = opened(tmp_path, [row("a", 0.0, 1), row("b", 0.1, 0.5), row("c", 1.5, 1)])
    planned = plan_dream(context_of(engine))
    assert planned.counts["light"]["archived"] == 1
    outcome = changes.apply(engine, planned.change_set, confirmed=True)
    engine.refresh()
    assert engine.get("a").state == "archived" or engine.get("b").state == "archived"
    changes.apply(engine, changes.plan_undo(engine, outcome.entry), confirmed=True)
    engine.refresh()
    assert {engine.get(name).state for name in ("a", "b", "c")} == {"confirmed"}


def test_dreaming_says_what_it_gets_wrong(tmp_path: Path) -> None:
    near = [row("a", 0.0, 1), row("b", 0.1, 0.5, memory_category="events"), row("old", 1.5, 30)]
    notes = plan_dream(context_of(opened(tmp_path, near))).change_set.warnings
    assert any("would be archived as a copy" in note and "events" in note for note in notes)
    assert any(note.startswith("tiers are only revised") and "1 older memory keeps" in note for note in notes)


def test_dreaming_of_young_rows_of_one_category_says_nothing(tmp_path: Path) -> None:
    planned = plan_dream(context_of(opened(tmp_path, [row("a", 0.0, 1), row("b", 0.1, 0.5)])))
    assert planned.change_set.changes
    assert planned.change_set.warnings == ()


def test_a_second_reflection_says_which_lines_are_there_and_which_get_lost(tmp_path: Path) -> None:
    engine = opened(tmp_path, [])
    report = REPORT.replace("## Derived", "- The gate is green.\n\n## Derived")
    chat = Replies({"reflect": [REPORT, report]}, json.dumps)
    first = plan_reflection(context_of(engine, chat), TALK, tmp_path / "ws", session="s1")
    assert first.change_set.warnings == ()
    changes.apply(engine, first.change_set)
    engine.refresh()
    notes = plan_reflection(context_of(engine, chat), TALK, tmp_path / "ws", session="s2").change_set.warnings
    assert any(note.startswith("2 lines are stored already") for note in notes)
    assert any("The gate is green." in note for note in notes)


def test_a_reflection_becomes_rows_and_files(tmp_path: Path) -> None:
    engine = opened(tmp_path, [])
    chat = Replies({"reflect": [REPORT]}, json.dumps)
    planned = plan_reflection(context_of(engine, chat), TALK, tmp_path / "ws", session="s1")
    assert [change.after["text"] for change in planned.change_set.changes][1:] == [
        "Always latch the gate.",
        "Next run verify the hose.",
    ]
    assert not (tmp_path / "ws").exists()
    planned.files.flush()
    assert "Always latch the gate." in next((tmp_path / "ws").rglob("*-main-s1.md")).read_text("utf-8")


@pytest.mark.parametrize("recorded", [{}, {"reflect": [{"error": "invalid api key"}]}])
def test_without_a_report_nothing_is_planned(tmp_path: Path, recorded: dict[str, list[object]]) -> None:
    engine = opened(tmp_path, [])
    with pytest.raises(MemtuiError, match="no reflection"):
        plan_reflection(context_of(engine, Replies(recorded, json.dumps)), TALK, tmp_path)
    with pytest.raises(UsageError, match="language model"):
        plan_reflection(context_of(engine), TALK, tmp_path)
