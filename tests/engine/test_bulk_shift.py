"""Undo and redo of an entry of very many memories: exact, in bounded memory, safe beside another writer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lancedb
import pytest

from memtui.engine import changes
from memtui.engine.changes import bulk_shift, interrupted, reverse
from memtui.engine.changes.applier import ConflictError
from memtui.engine.changes.write_access import LockHold
from memtui.engine.core.errors import RefusedError
from memtui.engine.engine import Engine
from tests.conftest import thinned, tree_hash
from tests.engine.test_transfer_run import _source
from tests.engine.transfer_stores import imported, memory, opened, own_store, pro_store, rows_of

MANY = 2_500
"""More than an ordinary change set takes: its entry does not list them."""


@pytest.fixture(autouse=True)
def low(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries of so many memories count as very many here."""
    for place in (bulk_shift, interrupted, reverse):
        monkeypatch.setattr(place, "LARGE", 2_000)


@pytest.fixture(params=thinned(["pro", "own"], 2))
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    make = own_store if request.param == "own" else pro_store
    rows = [memory(9_990 + n, f"Here before, number {n}.") for n in range(5)]
    return opened(make(tmp_path / "store", rows), tmp_path / "state")


def _in(engine: Engine, tmp_path: Path) -> int:
    done = imported(engine, _source(tmp_path / "rows.jsonl", MANY), find_near=False)
    assert done.entry is not None
    engine.refresh()
    return done.entry


def _whole(engine: Engine) -> dict[str, Any]:
    engine.refresh()
    return rows_of(engine)


def test_there_and_back_and_there_again(engine: Engine, tmp_path: Path) -> None:
    before = _whole(engine)
    entry = _in(engine, tmp_path)
    after = _whole(engine)
    planned = changes.plan_undo(engine, entry)
    assert planned.bulk is not None
    assert (planned.count, len(planned.changes)) == (MANY, bulk_shift.LISTED)
    assert planned.by_scope == (("global", MANY),)
    assert planned.as_json()["changed"] == MANY
    undone = changes.apply(engine, planned, confirmed=True)
    assert undone.changed == MANY
    assert _whole(engine) == before
    again = changes.plan_redo(engine)
    assert (again.count, again.changes[0].op) == (MANY, "add")
    assert changes.apply(engine, again, confirmed=True).changed == MANY
    assert _whole(engine) == after
    changes.apply(engine, changes.plan_undo(engine), confirmed=True)
    assert _whole(engine) == before
    assert [each.state for each in engine.write_state.journal.entries()][-1] == "undone"


def test_what_was_changed_since_is_a_conflict(engine: Engine, tmp_path: Path) -> None:
    before = _whole(engine)
    entry = _in(engine, tmp_path)
    edited, other = memory(7, "")["id"], memory(1_200, "")["id"]
    for each in (edited, other):
        changes.apply(
            engine, changes.plan_edit(engine, [each], {"text": f"Another text of {each}."}), confirmed=True
        )
        engine.refresh()
    changes.apply(engine, changes.plan_forget(engine, [memory(30, "")["id"]]), confirmed=True)
    engine.refresh()
    planned = changes.plan_undo(engine, entry)
    assert {each.id: each.reason for each in planned.conflicts} == {edited: "changed", other: "changed"}
    with pytest.raises(ConflictError):
        changes.apply(engine, planned, confirmed=True)
    left = planned.without([edited, planned.changes[0].id])
    forced = changes.plan_undo(engine, entry, forced=[other])
    assert [each.id for each in forced.conflicts] == [edited]
    changes.apply(engine, left.without([other]), confirmed=True)
    assert _whole(engine).keys() == {*before, edited, other, planned.changes[0].id}


def test_forced_memories_go_with_the_others(engine: Engine, tmp_path: Path) -> None:
    before = _whole(engine)
    entry = _in(engine, tmp_path)
    edited = memory(7, "")["id"]
    changes.apply(engine, changes.plan_edit(engine, [edited], {"text": "Another text."}), confirmed=True)
    engine.refresh()
    changes.apply(engine, changes.plan_undo(engine, entry, forced=[edited]), confirmed=True)
    assert _whole(engine) == before


def test_what_came_back_meanwhile_is_not_doubled(engine: Engine, tmp_path: Path) -> None:
    entry = _in(engine, tmp_path)
    came = engine.write_state.journal.entry(entry).version_after
    changes.apply(engine, changes.plan_undo(engine, entry), confirmed=True)
    table = engine.store.writer().handle
    table.checkout_latest()
    names = table.schema.names
    old = lancedb.connect(str(tmp_path / "store")).open_table("memories", version=came).to_arrow()
    same, changed = memory(3, "")["id"], memory(4, "")["id"]
    ids = old.column("id").to_pylist()
    table.add(old.slice(ids.index(same), 1).select(names))
    table.add(old.slice(ids.index(changed), 1).select(names))
    table.update(where=f"id = '{changed}'", values={"text": "Says something else by now."})
    engine.refresh()
    planned = changes.plan_redo(engine)
    assert [(each.id, each.reason) for each in planned.conflicts] == [(changed, "there again")]
    changes.apply(engine, planned.without([changed]), confirmed=True)
    found = _whole(engine)
    assert len(found) == MANY + 5
    assert found[changed]["text"] == "Says something else by now."


def test_a_table_rewritten_at_the_last_moment_loses_nothing_of_others(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row ids of a peer's table are places: a compaction by a program without our lock gives others."""
    entry = _in(engine, tmp_path)
    keep = [memory(n, "")["id"] for n in range(100, 140)]
    changes.apply(engine, changes.plan_forget(engine, [memory(1, "")["id"]]), confirmed=True)
    engine.refresh()
    for each in keep[:3]:
        changes.apply(engine, changes.plan_edit(engine, [each], {"text": f"Kept {each}"}), confirmed=True)
        engine.refresh()
    expected = {
        each: row
        for each, row in _whole(engine).items()
        if each in keep[:3] or row["text"].startswith("Here")
    }
    planned = changes.plan_undo(engine, entry)
    planned = planned.without([each.id for each in planned.conflicts])
    real = LockHold.check

    def rewritten(hold: LockHold) -> None:
        monkeypatch.setattr(LockHold, "check", real)
        other = lancedb.connect(str(tmp_path / "store")).open_table("memories")
        other.add(
            other.to_arrow().slice(0, 1).set_column(0, "id", [["00000000-0000-4000-8000-00000000ffff"]])
        )
        other.optimize()
        real(hold)

    monkeypatch.setattr(LockHold, "check", rewritten)
    changes.apply(engine, planned, confirmed=True)
    found = _whole(engine)
    foreign = found.pop("00000000-0000-4000-8000-00000000ffff")
    assert foreign["text"]
    assert found == expected


def test_killed_before_its_commit_it_can_be_finished_or_dropped(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _whole(engine)
    entry = _in(engine, tmp_path)
    after = _whole(engine)

    class Killed(BaseException):
        pass

    def dies(*_: Any) -> int:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(bulk_shift, "write_bulk", dies)
        with pytest.raises(Killed):
            changes.apply(engine, changes.plan_undo(engine, entry), confirmed=True)
    (cut,) = changes.find_interrupted(engine)
    assert cut.found.value == "not there"
    changes.finish_entry(engine, cut.entry.entry, confirmed=True)
    assert _whole(engine) == before
    with monkeypatch.context() as patched:
        patched.setattr(bulk_shift, "write_bulk", dies)
        with pytest.raises(Killed):
            changes.apply(engine, changes.plan_redo(engine), confirmed=True)
    (cut,) = changes.find_interrupted(engine)
    changes.apply(engine, changes.plan_undo(engine, cut.entry.entry), confirmed=True)
    assert _whole(engine) == before
    changes.apply(engine, changes.plan_redo(engine), confirmed=True)
    assert _whole(engine) == after


def test_what_the_journal_keeps_in_part_cannot_be_made_again(engine: Engine, tmp_path: Path) -> None:
    entry = _in(engine, tmp_path)
    number = engine.write_state.journal.entry(entry)
    before = tree_hash(tmp_path / "store")
    with pytest.raises(RefusedError, match="keeps only id, text and scope"):
        bulk_shift.find_bulk(number, engine.write_state.applier.journal, engine.store.writer(), "after")
    assert tree_hash(tmp_path / "store") == before
