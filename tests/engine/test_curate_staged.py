"""Several actions in one change set: as if they had been made one after the other, but in one version."""

from __future__ import annotations

import json
import shutil
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtui.engine import changes
from memtui.engine.changes.applier import ConflictError
from memtui.engine.core.errors import RefusedError
from tests.engine.curate_world import WordEmbedder, engine_at, row_of, rows_of, same_rows, version_of
from tests.engine.tables import pro_row, uuid, write_table
from tests.engine.test_curate_beside import SETTINGS

ROWS = 8
METADATA = (
    '{"l0_abstract":"x", "tier":"working", "access_count":%d, "odd": 1.50, "confidence": 0.75,'
    ' "state":"confirmed", "memory_layer":"working", "memory_category":"patterns"}'
)
"""Everything is said: a default that is said by one way and left out by the other would be the same memory."""
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("edit"), st.sets(st.integers(0, ROWS - 1), min_size=1, max_size=4), SETTINGS),
        st.tuples(
            st.just("text"), st.integers(0, ROWS - 1), st.sampled_from(["Clay is wet.", "Clay dries."])
        ),
        st.tuples(st.just("merge"), st.sets(st.integers(0, ROWS - 1), min_size=2, max_size=3), st.none()),
        st.tuples(st.just("forget"), st.integers(0, ROWS - 1), st.booleans()),
    ),
    min_size=2,
    max_size=5,
)


def make(folder: Path) -> Path:
    write_table(
        folder,
        [
            pro_row(n, text=f"Fact {n} here.", metadata=METADATA % n, vector=[n / 7, 1 - n / 3])
            for n in range(ROWS)
        ],
    )
    return folder


def worker(folder: Path):
    numbers = count()
    return engine_at(folder, embedder=WordEmbedder(2), new_id=lambda: f"new-{next(numbers)}")


def planned(engine, action):
    kind, what, how = action
    if kind == "edit":
        return changes.plan_edit(engine, [uuid(n) for n in sorted(what)], how)
    if kind == "text":
        return changes.plan_edit(engine, [uuid(what)], {"text": how}, in_place=True)
    if kind == "merge":
        return changes.plan_merge(engine, [uuid(n) for n in sorted(what)])
    return changes.plan_forget(engine, [uuid(what)], hard=how)


@pytest.mark.slow
@given(ACTIONS)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_staged_together_is_as_one_after_the_other(tmp_path_factory, actions) -> None:
    folder = tmp_path_factory.mktemp("staged")
    staged_at, after_another = make(folder / "a" / "db"), folder / "b" / "db"
    shutil.copytree(staged_at, after_another)
    before = rows_of(staged_at)
    engine, other = worker(staged_at), worker(after_another)
    for action in actions:
        plan = planned(engine, action)
        if plan.conflicts:  # it contradicts what is staged: it says so, and nothing is lost
            assert all(each.sentence for each in plan.conflicts)
            continue
        engine.write_state.staged.add(plan)
        one = planned(other, action)
        assert not one.conflicts
        changes.apply(other, one, confirmed=True)
    assert same_rows(rows_of(staged_at), before), "staging writes nothing"
    whole = engine.write_state.staged.planned
    if whole is None:
        assert same_rows(rows_of(after_another), before)
        return
    version = version_of(staged_at)
    outcome = changes.apply_staged(engine, whole, confirmed=True)
    assert version_of(staged_at) == version + 1
    assert len(engine.write_state.journal.entries()) == 1
    assert outcome.changed == len(whole.changes)
    assert same_rows(rows_of(staged_at), rows_of(after_another))
    assert not len(engine.write_state.staged)
    changes.apply(engine, changes.plan_undo(engine), confirmed=True)
    assert same_rows(rows_of(staged_at), before)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / "db")


def test_a_later_value_wins_and_what_is_as_before_is_no_change(folder: Path) -> None:
    engine = worker(folder)
    engine.write_state.staged.add(changes.plan_edit(engine, [uuid(0)], {"tier": "core", "importance": 0.9}))
    engine.write_state.staged.add(changes.plan_edit(engine, [uuid(0), uuid(1)], {"tier": "peripheral"}))
    whole = engine.write_state.staged.planned
    assert whole is not None
    first = whole.changes[0]
    assert (first.before["tier"], first.after["tier"]) == ("working", "peripheral")
    assert first.after["importance"] == 0.9
    assert whole.title == "2 memories: tier, importance, confidence"
    engine.write_state.staged.add(changes.plan_edit(engine, [uuid(0)], {"tier": "working"}))
    assert "tier" not in engine.write_state.staged.planned.changes[0].after
    assert changes.staged_memory(engine, uuid(1)).tier == "peripheral"
    engine.write_state.staged.drop([uuid(0)])
    assert engine.write_state.staged.ops == {uuid(1): "edit"}
    engine.write_state.staged.add(changes.plan_edit(engine, [uuid(1)], {"tier": "working"}))
    assert engine.write_state.staged.planned is None


def test_what_is_staged_to_go_cannot_be_edited_and_says_why(folder: Path) -> None:
    engine = worker(folder)
    engine.write_state.staged.add(changes.plan_edit(engine, [uuid(0)], {"importance": 0.9}))
    engine.write_state.staged.add(changes.plan_forget(engine, [uuid(0)], hard=True))
    gone = engine.write_state.staged.planned.changes[0]
    assert (gone.op, gone.before["importance"]) == (
        "delete",
        pytest.approx(row_of(folder, uuid(0))["importance"]),
    )
    refused = changes.plan_edit(engine, [uuid(0), uuid(1)], {"tier": "core"})
    assert [each.id for each in refused.changes] == [uuid(1)]
    assert "staged to be deleted: drop that" in refused.conflicts[0].sentence
    engine.write_state.staged.add(changes.plan_merge(engine, [uuid(2), uuid(3)]))
    assert (
        "staged together with others"
        in changes.plan_edit(engine, [uuid(3)], {"tier": "core"}).conflicts[0].sentence
    )
    assert engine.write_state.staged.planned.action == "changes"
    assert engine.write_state.staged.planned.title.endswith("; 1 deleted")
    engine.write_state.staged.drop([uuid(3)])  # a merge is dropped as a whole
    assert engine.write_state.staged.ops == {uuid(0): "delete"}
    with pytest.raises(RefusedError, match="1 memory; nothing"):
        changes.apply_staged(engine, engine.write_state.staged.planned)
    assert len(engine.write_state.staged) == 1


def test_a_staged_new_version_is_edited_further_and_stays_one(folder: Path) -> None:
    engine = worker(folder)
    changes.apply(engine, changes.plan_edit(engine, [uuid(4)], {"category": "preferences"}))
    engine.write_state.staged.add(changes.plan_edit(engine, [uuid(4)], {"text": "Likes slip casting."}))
    (fresh,) = (each for each, op in engine.write_state.staged.ops.items() if op == "add")
    assert "staged together" in changes.plan_edit(engine, [uuid(4)], {"tier": "core"}).conflicts[0].sentence
    engine.write_state.staged.add(
        changes.plan_edit(engine, [fresh], {"text": "Likes slip casting best.", "importance": 0.8})
    )
    assert sorted(engine.write_state.staged.ops.values()) == ["add", "edit"]
    changes.apply_staged(engine, engine.write_state.staged.planned)
    new, old = row_of(folder, fresh), row_of(folder, uuid(4))
    assert (new["text"], new["importance"]) == ("Likes slip casting best.", pytest.approx(0.8))
    assert json.loads(new["metadata"])["l0_abstract"] == "Likes slip casting best."
    assert new["vector"] == pytest.approx(WordEmbedder(2).embed_query("Likes slip casting best.").tolist())
    assert json.loads(old["metadata"])["superseded_by"] == fresh


def test_rows_that_change_underneath_are_noticed_and_may_be_overwritten(folder: Path) -> None:
    engine, other = worker(folder), worker(folder)
    engine.write_state.staged.add(changes.plan_edit(engine, [uuid(0)], {"importance": 0.9}))
    engine.write_state.staged.add(changes.plan_edit(engine, [uuid(1)], {"tier": "core"}))
    changes.apply(other, changes.plan_edit(other, [uuid(0)], {"importance": 0.4}))
    with pytest.raises(ConflictError, match="changed its importance"):
        changes.apply_staged(engine, engine.write_state.staged.planned)
    assert len(engine.write_state.staged) == 2
    changes.apply_staged(engine, engine.write_state.staged.regardless([uuid(0)]))
    assert row_of(folder, uuid(0))["importance"] == pytest.approx(0.9)
    assert json.loads(row_of(folder, uuid(1))["metadata"])["tier"] == "core"


def test_what_cannot_wait_is_not_staged(folder: Path) -> None:
    engine = worker(folder)
    with pytest.raises(RefusedError, match="rewrites the whole table"):
        engine.write_state.staged.add(changes.plan_forget(engine, [uuid(0)], hard=True, shrink=True))
    changes.apply(engine, changes.plan_edit(engine, [uuid(0)], {"importance": 0.9}))
    with pytest.raises(RefusedError, match="cannot be staged with other changes"):
        engine.write_state.staged.add(changes.plan_undo(engine))
    assert not len(engine.write_state.staged)
