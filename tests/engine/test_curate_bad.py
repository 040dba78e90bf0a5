"""Full disks, read-only folders, changes that were cut off: nothing is lost, and what happened is said."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine import ListQuery, changes
from memtui.engine.changes.applied_state import AppliedState
from memtui.engine.changes.applier import Applier
from memtui.engine.changes.materialize import materialise
from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.engine import Engine
from memtui.engine.store.open import open_store
from tests.conftest import NOW_MS
from tests.engine.curate_world import NO_EMBEDDER, engine_at, rows_of, same_rows, version_of
from tests.engine.pro_store import row, write_store
from tests.engine.tables import pro_row, uuid, write_table

DIMS = 384


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of three megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("left out: no file system can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


def store_of(folder: Path, state: Path) -> Engine:
    return Engine(open_store(folder), embedder=NO_EMBEDDER, now=lambda: 5, state=state, writable=True)


def filled(folder: Path, rows: int) -> list[str]:
    ids = [f"00000000-0000-4000-8000-{n:012x}" for n in range(rows)]
    write_store(folder, [row(each, f"text {each}", [0.5] * DIMS) for each in ids], dims=DIMS, fts=False)
    return ids


def test_a_full_disk_under_the_table_changes_nothing(small_disk: Path, tmp_path: Path) -> None:
    ids = filled(small_disk / "db", 900)
    before, version = rows_of(small_disk / "db"), version_of(small_disk / "db")
    (small_disk / "ballast").write_bytes(b"x" * 1_000_000)
    engine = store_of(small_disk / "db", tmp_path / "state")
    with pytest.raises(MemtuiError, match="no room left") as error:
        changes.apply(engine, changes.plan_edit(engine, ids, {"scope": "agent:main"}))
    assert error.value.fix
    (small_disk / "ballast").unlink()
    assert version_of(small_disk / "db") == version
    assert same_rows(rows_of(small_disk / "db"), before)
    assert changes.find_interrupted(engine) == []
    assert engine.write_state.journal.entries() == []
    assert changes.apply(engine, changes.plan_edit(engine, ids[:10], {"scope": "agent:main"})).changed == 10


def test_a_full_disk_under_the_journal_changes_nothing(small_disk: Path, tmp_path: Path) -> None:
    ids = filled(tmp_path / "db", 1_500)
    version = version_of(tmp_path / "db")
    (small_disk / "ballast").write_bytes(b"x" * 1_500_000)
    engine = store_of(tmp_path / "db", small_disk / "state")
    with pytest.raises(MemtuiError, match="journal"):
        changes.apply(engine, changes.plan_edit(engine, ids, {"scope": "agent:main"}))
    assert version_of(tmp_path / "db") == version
    (small_disk / "ballast").unlink()
    assert changes.apply(engine, changes.plan_edit(engine, ids[:50], {"scope": "agent:main"})).changed == 50


@pytest.mark.slow
def test_whenever_the_disk_of_the_journal_is_full_what_is_said_is_true(
    small_disk: Path, tmp_path: Path
) -> None:
    ids = filled(tmp_path / "db", 60)
    engine = store_of(tmp_path / "db", small_disk / "state")
    changes.apply(engine, changes.plan_edit(engine, ids[:1], {"importance": 0.123}))
    seen = set()
    for n, left in enumerate(range(0, 260_000, 4096)):
        ballast = small_disk / "ballast"
        free = os.statvfs(small_disk).f_bavail * 4096
        ballast.write_bytes(bytes(max(0, free - left)))
        version = version_of(tmp_path / "db")
        try:
            changes.apply(engine, changes.plan_edit(engine, ids, {"importance": 0.2 + n / 1000}))
            told = "done"
        except MemtuiError as error:
            told = str(error)
        ballast.unlink()
        changed = version_of(tmp_path / "db") != version
        if changed:
            assert told == "done" or "is made" in told or "not known" in told, told
        else:
            assert "othing was changed" in told or "not known" in told, told
        seen.add((changed, told == "done"))
        for cut in changes.find_interrupted(engine):
            changes.finish_entry(engine, cut.entry.entry)
        engine.refresh()
    assert {(False, False), (True, True)} <= seen


def test_a_read_only_folder_is_refused(small_disk: Path, tmp_path: Path) -> None:
    ids = filled(small_disk / "db", 3)
    engine = store_of(small_disk / "db", tmp_path / "state")
    planned = changes.plan_edit(engine, ids, {"scope": "agent:main"})
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(MemtuiError, match=r"may not be written|cannot be taken"):
        changes.apply(engine, planned)
    assert engine.write_state.journal.entries() == []


# ---------------------------------------------------------------------- cut off


def cut_off(folder: Path, *, committed: bool) -> tuple[Engine, int]:
    """A change that was written down, perhaps committed, and whose program then died."""
    write_table(folder, [pro_row(1), pro_row(2)])
    engine = engine_at(folder)
    planned = changes.plan_edit(engine, [uuid(1), uuid(2)], {"scope": "agent:main", "tier": "core"})
    applier: Applier = engine.write_state.applier
    version = applier.writer.newest()
    material = materialise(planned, applier.writer.rows(planned.ids), applier.writer.dialect, trusted=False)
    entry = applier.journal.intend(
        time_ms=1, action="edit", title=planned.title, changes=planned.changes, images=material.images,
        version_before=version,
    )  # fmt: skip
    if committed:
        applier.writer.commit(material.updates, material.adds, material.deletes)
    return engine_at(folder), entry


@pytest.mark.parametrize(("committed", "found"), [(True, AppliedState.WHOLE), (False, AppliedState.NOTHING)])
def test_the_next_start_says_what_happened(tmp_path: Path, committed: bool, found: AppliedState) -> None:
    engine, entry = cut_off(tmp_path / "db", committed=committed)
    (left,) = changes.find_interrupted(engine)
    assert (left.entry.entry, left.found) == (entry, found)
    assert found.value in left.sentence
    assert f"--finish {entry}" in left.sentence
    assert [each.state for each in engine.write_state.journal.entries()] == ["interrupted"]


@pytest.mark.parametrize("committed", [True, False])
def test_it_can_be_finished(tmp_path: Path, committed: bool) -> None:
    engine, entry = cut_off(tmp_path / "db", committed=committed)
    changes.find_interrupted(engine)
    changes.finish_entry(engine, entry)
    assert {row["scope"] for row in rows_of(tmp_path / "db").to_pylist()} == {"agent:main"}
    assert {row["metadata"] for row in rows_of(tmp_path / "db").to_pylist()} == {'{"tier":"core"}'}
    assert [each.state for each in engine.write_state.journal.entries()] == ["applied"]
    changes.apply(engine, changes.plan_undo(engine))
    assert {row["metadata"] for row in rows_of(tmp_path / "db").to_pylist()} == {"{}"}


@pytest.mark.parametrize("committed", [True, False])
def test_it_can_be_taken_back(tmp_path: Path, committed: bool) -> None:
    engine, entry = cut_off(tmp_path / "db", committed=committed)
    changes.find_interrupted(engine)
    changes.apply(engine, changes.plan_undo(engine, entry))
    assert {row["scope"] for row in rows_of(tmp_path / "db").to_pylist()} == {"global"}
    assert changes.find_interrupted(engine) == []
    assert "interrupted" not in {each.state for each in engine.write_state.journal.entries()}


def test_counters_that_went_on_do_not_blur_the_answer(tmp_path: Path) -> None:
    import lancedb

    engine, _ = cut_off(tmp_path / "db", committed=True)
    table = lancedb.connect(tmp_path / "db").open_table("memories")
    table.update(where="true", values={"metadata": '{"tier":"core","access_count":5}'})
    assert [left.found for left in changes.find_interrupted(engine)] == [AppliedState.WHOLE]


def test_what_was_changed_again_since_is_said_so(tmp_path: Path) -> None:
    import lancedb

    engine, entry = cut_off(tmp_path / "db", committed=True)
    table = lancedb.connect(tmp_path / "db").open_table("memories")
    table.update(where="true", values={"scope": "agent:other"})
    (left,) = changes.find_interrupted(engine)
    assert left.found is AppliedState.CHANGED
    assert f"memtui journal {entry}" in left.sentence


def test_an_entry_that_is_being_written_is_not_interrupted(tmp_path: Path) -> None:
    engine, _ = cut_off(tmp_path / "db", committed=False)
    with engine.write_state.applier.gatekeeper.hold():
        assert changes.find_interrupted(engine_at(tmp_path / "db")) == []
    assert len(changes.find_interrupted(engine)) == 1


def test_only_what_was_interrupted_can_be_finished(tmp_path: Path) -> None:
    write_table(tmp_path / "db", [pro_row(1)])
    engine = engine_at(tmp_path / "db")
    changes.apply(engine, changes.plan_edit(engine, [uuid(1)], {"importance": 1}))
    with pytest.raises(RefusedError, match="was not interrupted"):
        changes.finish_entry(engine, 1)


def test_a_foreign_table_is_read_and_never_written(shared: Path, tmp_path: Path) -> None:
    import tarfile

    with tarfile.open(shared / "fixtures" / "stores" / "engine.tar.gz") as tar:
        tar.extractall(tmp_path, filter="data")
    columns = {"id": "id", "text": "text", "vector": "vector"}
    engine = Engine(
        open_store(tmp_path / "engine", columns=columns),
        now=lambda: NOW_MS,
        state=tmp_path / "state",
        writable=True,
    )
    assert not engine.write_state.writable
    engine.load_catalog()
    first = engine.ids(engine.view(ListQuery()))[0]
    with pytest.raises(RefusedError, match="does not write"):
        changes.apply(engine, changes.plan_forget(engine, [first], hard=True), confirmed=True)


def changed_again(folder: Path) -> tuple[Engine, int]:
    """A change that was cut off after its commit, and whose rows another program changed since."""
    import lancedb

    store, entry = cut_off(folder, committed=True)
    lancedb.connect(folder).open_table("memories").update(where="true", values={"scope": "agent:other"})
    return store, entry


def test_what_was_changed_again_since_can_be_left_as_it_is(tmp_path: Path) -> None:
    engine, entry = changed_again(tmp_path / "db")
    (found,) = changes.find_interrupted(engine)
    assert f"--leave {entry}" in found.sentence
    before = rows_of(tmp_path / "db")
    version = version_of(tmp_path / "db")
    changes.leave_entry(engine, entry)
    assert same_rows(rows_of(tmp_path / "db"), before)
    assert version_of(tmp_path / "db") == version
    assert changes.find_interrupted(engine) == []
    assert changes.find_interrupted(engine_at(tmp_path / "db")) == [], "no later start warns of it"
    assert [each.state for each in engine.write_state.journal.entries()] == ["left"]
    with pytest.raises(RefusedError, match="cut off and closed"):
        changes.plan_undo(engine, entry)
    with pytest.raises(RefusedError, match="nothing to undo"):
        changes.plan_undo(engine)
    with pytest.raises(RefusedError, match="was not interrupted"):
        changes.finish_entry(engine, entry)


def test_only_what_was_interrupted_can_be_left(tmp_path: Path) -> None:
    write_table(tmp_path / "db", [pro_row(1)])
    engine = engine_at(tmp_path / "db")
    changes.apply(engine, changes.plan_edit(engine, [uuid(1)], {"importance": 1}))
    with pytest.raises(RefusedError, match="was not interrupted"):
        changes.leave_entry(engine, 1)


def test_a_row_without_a_vector_can_be_changed_and_stays_without(tmp_path: Path) -> None:
    ids = [f"00000000-0000-4000-8000-{n:012x}" for n in range(2)]
    rows = [row(ids[0], "no vector", None), row(ids[1], "has one", [0.5, 0.5, 0.5, 0.5])]
    write_store(tmp_path / "db", rows, dims=4, fts=False)
    engine = engine_at(tmp_path / "db")
    changes.apply(engine, changes.plan_edit(engine, ids, {"importance": 0.2}), confirmed=True)
    changes.apply(engine, changes.plan_forget(engine, [ids[0]]), confirmed=True)
    after = {each["id"]: each for each in rows_of(tmp_path / "db").to_pylist()}
    assert [after[each]["importance"] for each in ids] == [0.2, 0.2]
    assert after[ids[0]]["vector"] is None
    assert after[ids[1]]["vector"] == [0.5, 0.5, 0.5, 0.5]
