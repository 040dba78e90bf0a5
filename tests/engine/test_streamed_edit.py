"""Edits of very many memories, a few thousand rows at a time: exact there and back, whole or not at all."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lancedb
import pytest

from memtui.engine import changes
from memtui.engine.changes import plan, stored_changes, streamed_rows
from memtui.engine.changes.applier import ConflictError
from memtui.engine.changes.stored_changes import StoredChanges
from memtui.engine.engine import Engine
from memtui.engine.store.writer import Writer
from tests.engine.curate_world import engine_at, rows_of, same_rows
from tests.engine.tables import pro_row, uuid, write_table
from tests.engine.test_curate_beside import KILLS, kill_often

ROWS = 23


@pytest.fixture(autouse=True)
def low(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few count as very many here, and so few stand in memory at once."""
    monkeypatch.setattr(stored_changes, "MANY", 10)
    for place in (stored_changes, streamed_rows, plan):
        monkeypatch.setattr(place, "BLOCK", 4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    metadata = json.dumps({"odd": 1.5, "l0_abstract": "Zoë\u2028", "confidence": 0.7})
    rows = [pro_row(n, text=f"Fact {n} \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
                    importance=n / ROWS, metadata=metadata) for n in range(ROWS)]  # fmt: skip
    write_table(tmp_path / "db", rows)
    return tmp_path / "db"


IDS = [uuid(n) for n in range(ROWS) if n % 5]


def _edited(folder: Path) -> tuple[Engine, int]:
    engine = engine_at(folder)
    planned = changes.plan_edit(engine, IDS, {"importance": 0.75, "tier": "core"})
    assert isinstance(planned.changes, StoredChanges)
    outcome = changes.apply(engine, planned)
    assert outcome.entry is not None
    assert outcome.changed == len(IDS)
    return engine, outcome.entry


def test_there_and_back_and_there_again(folder: Path) -> None:
    before = rows_of(folder)
    engine, entry = _edited(folder)
    after = rows_of(folder)
    told = {row["id"]: row for row in after.to_pylist()}
    assert {each for each, row in told.items() if row["importance"] == 0.75} == set(IDS)
    assert all(json.loads(told[each]["metadata"])["tier"] == "core" for each in IDS)
    assert all(json.loads(told[each]["metadata"])["odd"] == 1.5 for each in IDS)
    changes.apply(engine, changes.plan_undo(engine, entry))
    assert same_rows(rows_of(folder), before)
    changes.apply(engine, changes.plan_redo(engine))
    assert same_rows(rows_of(folder), after)
    changes.apply(engine, changes.plan_undo(engine))
    assert same_rows(rows_of(folder), before)


def test_the_journal_tells_each_memory_of_it(folder: Path) -> None:
    engine, entry = _edited(folder)
    journal = engine.write_state.journal
    rows = journal.rows(entry)
    assert [row.id for row in rows] == IDS
    assert {(row.op, row.after["importance"], row.after["tier"]) for row in rows} == {("edit", 0.75, "core")}
    assert [row.before["importance"] for row in rows] == [n / ROWS for n in range(ROWS) if n % 5]
    ((found, row),) = journal.of_memory(IDS[7])
    assert (found.entry, row.id, row.after["importance"]) == (entry, IDS[7], 0.75)
    assert journal.of_memory(uuid(0)) == []
    journal.redact([IDS[7]])
    assert [each.after for each in journal.rows(entry) if each.id == IDS[7]] == [{}]
    assert journal.images(entry).before.num_rows == len(IDS) - 1


def test_a_plan_is_read_as_a_list_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_at(folder)
    many = changes.plan_edit(engine, IDS, {"scope": "agent:main", "importance": 0.5})
    monkeypatch.setattr(stored_changes, "MANY", 20_000)
    few = changes.plan_edit(engine, IDS, {"scope": "agent:main", "importance": 0.5})
    assert isinstance(few.changes, tuple)
    assert tuple(many.changes) == few.changes
    assert many.changes[-3:] == few.changes[-3:]
    assert (many.changes[5], many.changes[-1]) == (few.changes[5], few.changes[-1])
    assert many.as_json() == few.as_json()
    assert (many.ids, many.by_scope, many.count, many.destroys, many.title) == (
        few.ids,
        few.by_scope,
        few.count,
        few.destroys,
        few.title,
    )
    left, less = many.without(IDS[:2]), few.without(IDS[:2])
    assert (tuple(left.changes), left.title) == (less.changes, less.title)
    assert [each.edit for each in many.changes] == [each.edit for each in few.changes]


def test_what_was_changed_since_is_a_conflict_and_nothing_is_written(folder: Path) -> None:
    engine = engine_at(folder)
    planned = changes.plan_edit(engine, IDS, {"importance": 0.75})
    _foreign(folder, IDS[3], "importance", 0.11)
    before = rows_of(folder)
    with pytest.raises(ConflictError) as raised:
        changes.apply(engine, planned)
    assert [each.id for each in raised.value.conflicts] == [IDS[3]]
    assert same_rows(rows_of(folder), before)
    assert engine.write_state.journal.entries() == []
    changes.apply(engine, planned.without([IDS[3]]))
    engine.refresh()
    _foreign(folder, IDS[5], "importance", 0.12)
    back = changes.plan_undo(engine)
    assert [each.id for each in back.conflicts] == [IDS[5]]
    changes.apply(engine, changes.plan_undo(engine, forced=[IDS[5]]))
    told = {row["id"]: row["importance"] for row in rows_of(folder).to_pylist()}
    was = dict(zip(before.column("id").to_pylist(), before.column("importance").to_pylist(), strict=True))
    assert told[IDS[5]] == was[IDS[5]]


def test_a_writer_at_the_last_moment_loses_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_at(folder)
    merge = Writer.merge_stream

    def late(self: Writer, rows: Any, *, bare: bool) -> int:
        _foreign(folder, IDS[2], "timestamp", 77.0)
        _foreign(folder, IDS[4], "importance", 0.33)
        return merge(self, rows, bare=bare)

    planned = changes.plan_edit(engine, IDS, {"importance": 0.75})
    with monkeypatch.context() as patched:
        patched.setattr(Writer, "merge_stream", late)
        outcome = changes.apply(engine, planned)
    told = {row["id"]: row for row in rows_of(folder).to_pylist()}
    assert (told[IDS[2]]["timestamp"], told[IDS[2]]["importance"]) == (77.0, 0.75)
    assert told[IDS[4]]["importance"] == 0.33
    assert [each.id for each in outcome.conflicts] == [IDS[4]]
    changes.apply(engine, changes.plan_undo(engine, outcome.entry))
    told = {row["id"]: row for row in rows_of(folder).to_pylist()}
    assert (told[IDS[2]]["timestamp"], told[IDS[4]]["importance"]) == (77.0, 0.33)
    assert told[IDS[6]]["importance"] not in (0.75, None)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_cut_off_beside_its_commit_it_is_finished_or_taken_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    before = rows_of(folder)
    merge = Writer.merge_stream

    class KilledError(BaseException):
        pass

    def dies(self: Writer, rows: Any, *, bare: bool) -> int:
        if moment == "after":
            merge(self, rows, bare=bare)
        raise KilledError

    for settle in ("finish", "undo"):
        engine = engine_at(folder)
        planned = changes.plan_edit(engine, IDS, {"importance": 0.75})
        with monkeypatch.context() as patched:
            patched.setattr(Writer, "merge_stream", dies)
            with pytest.raises(KilledError):
                changes.apply(engine, planned)
        (cut,) = changes.find_interrupted(engine)
        assert cut.found.value == ("wholly there" if moment == "after" else "not there")
        if settle == "finish":
            changes.finish_entry(engine, cut.entry.entry)
            told = {row["id"]: row["importance"] for row in rows_of(folder).to_pylist()}
            assert {each for each, value in told.items() if value == 0.75} == set(IDS)
        number = None if settle == "finish" else cut.entry.entry
        changes.apply(engine, changes.plan_undo(engine, number))
        assert same_rows(rows_of(folder), before)
        assert changes.find_interrupted(engine) == []


def test_no_file_of_a_plan_is_left(folder: Path, tmp_path: Path) -> None:
    _edited(folder)
    left = [each.name for each in (tmp_path / "state").rglob("*") if each.is_file()]
    assert sorted(name for name in left if name.endswith(".arrow")) == [
        "1-after.arrow",
        "1-before.arrow",
        "1-shown.arrow",
    ]
    assert not [name for name in left if name.startswith(tempfile.gettempprefix())]


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path: Path, many: Iterator[None]) -> None:
    seen = kill_often(tmp_path / "db", KILLS, many=0)
    assert seen["killed"] == KILLS


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every edit is one of very many, also what is left of a kill."""
    monkeypatch.setattr(stored_changes, "MANY", 0)


def _foreign(folder: Path, memory: str, column: str, value: Any) -> None:
    table = lancedb.connect(str(folder)).open_table("memories")
    table.update(where=f"id = '{memory}'", values={column: value})
