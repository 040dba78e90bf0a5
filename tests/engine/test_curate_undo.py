"""Undo and redo of any entry: exactly its rows and fields, and a conflict where somebody was there since."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine import changes
from memtui.engine.changes.applier import ConflictError
from memtui.engine.core.errors import RefusedError, UsageError
from tests.engine.curate_world import WordEmbedder, engine_at, row_of, rows_of, same_rows
from tests.engine.tables import pro_row, uuid, write_table

ODD = '{ "tier" : "working", "n": 1.0,  "list":[1,  2], "access_count":3 }'


def world(folder: Path, n: int = 4, **fields: object):
    """A table of `n` rows, the other program's handle on it, and an engine on it."""
    rows = [pro_row(k, text=f"Fact number {k} about the kiln.", metadata=ODD, **fields) for k in range(n)]
    table = write_table(folder, rows)
    return table, engine_at(folder, embedder=WordEmbedder(2))


def states(engine) -> list[tuple[int, str, str]]:
    return [(each.entry, each.action, each.state) for each in engine.write_state.journal.entries()]


@pytest.mark.parametrize(
    "given",
    [
        {"scope": "agent:main"},
        {"importance": 0.1},
        {"category": "decision"},
        {"state": "archived"},
        {"pinned": "yes"},
        {"suppressed": "2d"},
        {"valid_until": "2030-01-01"},
        {"tier": "core", "layer": "durable", "confidence": 0.2, "l0_abstract": "short"},
    ],
)
def test_every_edit_is_undone_to_the_byte_and_redone(tmp_path: Path, given: dict[str, object]) -> None:
    _, engine = world(tmp_path / "db")
    before = rows_of(tmp_path / "db")
    changes.apply(engine, changes.plan_edit(engine, [uuid(k) for k in range(3)], given))
    changed = rows_of(tmp_path / "db")
    assert not same_rows(before, changed)
    changes.apply(engine, changes.plan_undo(engine))
    assert same_rows(rows_of(tmp_path / "db"), before)
    changes.apply(engine, changes.plan_redo(engine))
    assert same_rows(rows_of(tmp_path / "db"), changed)
    changes.apply(engine, changes.plan_undo(engine, 1))
    assert same_rows(rows_of(tmp_path / "db"), before)
    assert [state for _, _, state in states(engine)] == ["applied", "undone", "undone", "undone"]


def test_a_new_text_is_undone_with_its_vector(tmp_path: Path) -> None:
    _, engine = world(tmp_path / "db", vector=[0.0, 0.0])
    before = rows_of(tmp_path / "db")
    changes.apply(engine, changes.plan_edit(engine, [uuid(1)], {"text": "Another fact about the kiln."}))
    row = row_of(tmp_path / "db", uuid(1))
    assert row["text"] == "Another fact about the kiln."
    assert any(row["vector"])
    changes.apply(engine, changes.plan_undo(engine))
    assert same_rows(rows_of(tmp_path / "db"), before)


def test_entries_are_undone_in_any_order(tmp_path: Path) -> None:
    _, engine = world(tmp_path / "db")
    before = rows_of(tmp_path / "db")
    changes.apply(engine, changes.plan_edit(engine, [uuid(0)], {"scope": "agent:a"}))
    changes.apply(engine, changes.plan_edit(engine, [uuid(0), uuid(1)], {"importance": 0.2}))
    changes.apply(engine, changes.plan_undo(engine, 1))
    row = row_of(tmp_path / "db", uuid(0))
    assert (row["scope"], row["importance"]) == ("global", 0.2)
    changes.apply(engine, changes.plan_undo(engine, 2))
    assert same_rows(rows_of(tmp_path / "db"), before)


def test_what_the_agent_counted_since_stays(tmp_path: Path) -> None:
    table, engine = world(tmp_path / "db")
    changes.apply(engine, changes.plan_edit(engine, [uuid(0)], {"tier": "core"}))
    counted = ODD.replace('"working"', '"core"').replace('"access_count":3', '"access_count":9, "new": true')
    table.checkout_latest()
    table.update(where=f"id = '{uuid(0)}'", values={"metadata": counted})
    changes.apply(engine, changes.plan_undo(engine))
    assert row_of(tmp_path / "db", uuid(0))["metadata"] == counted.replace('"core"', '"working"')


def test_a_row_changed_since_is_a_conflict_with_three_sides(tmp_path: Path) -> None:
    table, engine = world(tmp_path / "db")
    changes.apply(engine, changes.plan_edit(engine, [uuid(0), uuid(1)], {"scope": "agent:a", "tier": "core"}))
    table.checkout_latest()
    table.update(where=f"id = '{uuid(0)}'", values={"scope": "agent:b"})
    planned = changes.plan_undo(engine)
    (conflict,) = planned.conflicts
    (field,) = conflict.fields
    assert (conflict.id, field.field) == (uuid(0), "scope")
    assert (field.before, field.mine, field.theirs) == ("agent:a", "global", "agent:b")
    with pytest.raises(ConflictError):
        changes.apply(engine, planned)
    changes.apply(engine, changes.plan_undo(engine, forced=[uuid(0)]))
    assert [row_of(tmp_path / "db", uuid(k))["scope"] for k in (0, 1)] == ["global", "global"]


def test_a_key_changed_since_is_a_conflict_of_that_key(tmp_path: Path) -> None:
    table, engine = world(tmp_path / "db")
    changes.apply(engine, changes.plan_edit(engine, [uuid(0)], {"tier": "core"}))
    table.checkout_latest()
    table.update(where=f"id = '{uuid(0)}'", values={"metadata": '{"tier":"peripheral"}'})
    (conflict,) = changes.plan_undo(engine).conflicts
    assert [(each.field, each.theirs) for each in conflict.fields] == [("tier", '"peripheral"')]


def test_a_row_gone_since_is_a_conflict_and_can_be_forced_back(tmp_path: Path) -> None:
    table, engine = world(tmp_path / "db")
    before = rows_of(tmp_path / "db")
    changes.apply(engine, changes.plan_edit(engine, [uuid(0)], {"scope": "agent:a"}))
    table.checkout_latest()
    table.delete(f"id = '{uuid(0)}'")
    assert [each.reason for each in changes.plan_undo(engine).conflicts] == ["gone"]
    changes.apply(engine, changes.plan_undo(engine, forced=[uuid(0)]))
    assert same_rows(rows_of(tmp_path / "db"), before)


def test_a_superseding_edit_is_undone_as_one(tmp_path: Path) -> None:
    _, engine = world(tmp_path / "db", category="preference")
    before = rows_of(tmp_path / "db")
    outcome = changes.apply(
        engine, changes.plan_edit(engine, [uuid(0)], {"text": "Fact number 0 is about the oven."})
    )
    assert outcome.changed == 2
    assert outcome.version_after == outcome.version_before + 1
    after = rows_of(tmp_path / "db")
    assert after.num_rows == before.num_rows + 1
    changes.apply(engine, changes.plan_undo(engine))
    assert same_rows(rows_of(tmp_path / "db"), before)
    changes.apply(engine, changes.plan_redo(engine))
    assert same_rows(rows_of(tmp_path / "db"), after)


def test_a_new_version_that_was_edited_since_is_not_thrown_away(tmp_path: Path) -> None:
    _, engine = world(tmp_path / "db", category="preference")
    outcome = changes.apply(
        engine, changes.plan_edit(engine, [uuid(0)], {"text": "Fact number 0 is about the oven."})
    )
    fresh = next(each.id for each in outcome.changes if each.op == "add")
    fresh_store = engine_at(tmp_path / "db")
    changes.apply(fresh_store, changes.plan_edit(fresh_store, [fresh], {"importance": 0.99}))
    conflicts = changes.plan_undo(engine, outcome.entry).conflicts
    assert [(each.id, each.reason) for each in conflicts] == [(fresh, "changed")]
    assert {field.field for field in conflicts[0].fields} == {"importance", "metadata"}


def test_undo_of_what_is_undone_or_unknown_is_refused(tmp_path: Path) -> None:
    _, engine = world(tmp_path / "db")
    with pytest.raises(RefusedError, match="nothing to undo"):
        changes.plan_undo(engine)
    with pytest.raises(RefusedError, match="nothing to redo"):
        changes.plan_redo(engine)
    changes.apply(engine, changes.plan_edit(engine, [uuid(0)], {"scope": "agent:a"}))
    changes.apply(engine, changes.plan_undo(engine))
    with pytest.raises(RefusedError, match="undone already"):
        changes.plan_undo(engine, 1)
    with pytest.raises(UsageError, match="no entry 77"):
        changes.plan_undo(engine, 77)
    changes.apply(engine, changes.plan_undo(engine, 2))
    assert row_of(tmp_path / "db", uuid(0))["scope"] == "agent:a"


def test_undo_works_days_later_from_another_process(tmp_path: Path) -> None:
    _, engine = world(tmp_path / "db")
    before = rows_of(tmp_path / "db")
    changes.apply(engine, changes.plan_edit(engine, [uuid(0)], {"scope": "agent:a"}))
    later = engine_at(tmp_path / "db", now=lambda: 1_888_264_000_000)
    changes.apply(later, changes.plan_undo(later))
    assert same_rows(rows_of(tmp_path / "db"), before)
