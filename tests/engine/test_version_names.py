"""Names of versions and pinned copies: in the table where its program allows it, and each with a way back."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import lancedb
import pytest

from memtui.engine import Engine, RefusedError, UsageError, changes, open_engine
from memtui.engine.health import VersionNames, maintain, patient_of, pin_version, time_line
from memtui.engine.health.maintenance import TableStep
from memtui.engine.health.remedies import carry_out_remedies, plan_remedy
from memtui.engine.store import maintenance
from tests.conftest import NOW_MS, tree_hash
from tests.engine import planted_faults as planted
from tests.engine.transfer_stores import memory, own_store


def opened(folder: Path, *, writable: bool = True) -> Engine:
    engine = open_engine(
        folder, now=lambda: NOW_MS, environ={}, cwd=folder, writable=writable, state=folder.parent / "state"
    )
    engine.load_catalog()
    return engine


def names_of(engine: Engine, tmp_path: Path) -> VersionNames:
    return VersionNames(engine.store, tmp_path / "state" / "versions.json")


def table_of(folder: Path) -> Any:
    return lancedb.connect(folder).open_table("memories")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = own_store(
        tmp_path / "store", [memory(n, f"The bastion listens on port {n}.") for n in range(1, 6)]
    )
    table = table_of(folder)
    table.update(where="id IS NOT NULL", values={"category": "fact"})
    return folder


def test_a_name_in_an_own_table_is_a_tag_that_holds_its_version(own: Path, tmp_path: Path) -> None:
    engine = opened(own)
    names = names_of(engine, tmp_path)
    outcome = changes.apply(engine, names.plan(1, "before the trial"))
    assert outcome.entry is not None
    assert {name: each["version"] for name, each in table_of(own).tags.list().items()} == {
        "before-the-trial": 1
    }
    lines = time_line(engine.store, None, journal=engine.write_state.journal.entries())
    assert outcome.entry not in [each.entry for each in lines], "naming writes no version"
    (kept,) = names.kept()
    assert (kept.name, kept.tag, kept.lives_until_ms) == ("before-the-trial", True, None)
    assert names.number("before the trial") == names.number("before-the-trial") == 1
    with pytest.raises(RuntimeError, match="before-the-trial"):
        table_of(own).optimize(cleanup_older_than=timedelta(0))
    with pytest.raises(UsageError, match="named"):
        names.plan(2, "before the trial")
    changes.apply(engine, names.plan(1, "first"))
    assert [each.name for each in names.kept()] == ["first"]
    changes.apply(engine, changes.plan_undo(engine))
    assert [each.name for each in names.kept()] == ["before-the-trial"]
    changes.apply(engine, changes.plan_undo(engine, outcome.entry))
    assert names.kept() == ()
    changes.apply(engine, changes.plan_redo(engine, outcome.entry))
    assert list(table_of(own).tags.list()) == ["before-the-trial"]
    changes.apply(engine, names.plan(1, ""))
    assert table_of(own).tags.list() == {}


@pytest.mark.parametrize("words", ["Vor der Änderung!", "a..b", "../x", "x.lock", "日本 1", "-", "a/b\\c"])
def test_any_words_make_a_name_or_are_refused(own: Path, tmp_path: Path, words: str) -> None:
    engine = opened(own)
    names = names_of(engine, tmp_path)
    try:
        planned = names.plan(1, words)
    except UsageError:
        return
    changes.apply(engine, planned)
    assert names.number(words) == 1
    assert len(table_of(own).tags.list()) == 1


def test_a_name_that_somebody_moved_meanwhile_stays_theirs(own: Path, tmp_path: Path) -> None:
    engine = opened(own)
    names = names_of(engine, tmp_path)
    planned = names.plan(1, "mine")
    table_of(own).tags.create("mine", 2)
    before = len(engine.write_state.journal.entries())
    with pytest.raises(RefusedError, match="changed in the table"):
        changes.apply(engine, planned)
    assert table_of(own).tags.get_version("mine") == 2
    assert len(engine.write_state.journal.entries()) == before


def test_the_plugins_table_gets_no_tag_and_the_name_has_a_way_back(tmp_path: Path) -> None:
    store = planted.sound(tmp_path / "store")
    engine = opened(store, writable=False)
    names = names_of(engine, tmp_path)
    number, before = engine.store.version, tree_hash(store)
    changes.apply(engine, names.plan(number, "before the trial"))
    assert tree_hash(store) == before
    (kept,) = names.kept()
    assert (kept.name, kept.tag) == ("before the trial", False)
    assert kept.lives_until_ms is not None
    changes.apply(engine, changes.plan_undo(engine))
    assert names.kept() == ()
    changes.apply(engine, changes.plan_redo(engine))
    assert [each.name for each in names.kept()] == ["before the trial"]
    assert [each.action for each in reversed(engine.write_state.journal.entries())] == [
        "name",
        "undo",
        "redo",
    ]


def test_a_pinned_copy_goes_by_its_number_and_never_with_what_was_written_to_it(
    own: Path, tmp_path: Path
) -> None:
    engine = opened(own)
    changes.apply(engine, names_of(engine, tmp_path).plan(1, "first"))
    rows, entry = pin_version(engine, 1, tmp_path / "pinned")
    assert rows == 5
    assert entry is not None
    assert changes.plan_undo(engine).undoes != entry, "a copy is taken away only where its number is given"
    changes.apply(engine, changes.plan_undo(engine, entry))
    assert not (tmp_path / "pinned").exists()
    _, entry = pin_version(engine, 1, tmp_path / "pinned")
    table_of(tmp_path / "pinned").delete("category = 'none'")
    with pytest.raises(RefusedError, match="written to since"):
        changes.apply(engine, changes.plan_undo(engine, entry))
    assert table_of(tmp_path / "pinned").count_rows() == 5


def past_of(engine: Engine, key: str, way: str, *, drop_names: bool) -> Any:
    if way == "past":
        return changes.plan_past(engine, [key], drop_names=drop_names)
    return changes.plan_forget(engine, [key], hard=True, shrink=True, drop_names=drop_names)


@pytest.mark.parametrize("way", ["past", "shrink"])
@pytest.mark.parametrize("whose", ["own", "plugin"])
def test_a_name_in_the_way_of_removed_history_is_told_and_removed_when_that_is_wanted(
    way: str, whose: str, own: Path, tmp_path: Path
) -> None:
    folder = own if whose == "own" else planted.sound(tmp_path / "plugin")
    table = table_of(folder)
    key = table.to_arrow().column("id").to_pylist()[0]
    table.update(where=f"id = '{key}'", values={"text": "password: [REDACTED]"})
    table.tags.create("keep", 1)
    engine = opened(folder)
    planned = past_of(engine, key, way, drop_names=False)
    assert any("keep (v1)" in each for each in planned.warnings)
    before = tree_hash(folder)
    with pytest.raises(RefusedError, match=r"keep \(v1\)") as refused:
        changes.apply(engine, planned, confirmed=True)
    assert "--drop-names" in (refused.value.fix or "")
    assert tree_hash(folder) == before
    planned = past_of(engine, key, way, drop_names=True)
    assert "the name keep of v1 is removed from the table" in planned.as_json()["notes"]
    outcome = changes.apply(engine, planned, confirmed=True)
    assert outcome.receipt is not None
    assert outcome.receipt["clean"]
    assert table_of(folder).tags.list() == {}


def test_a_prune_says_which_name_is_in_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "KEPT", timedelta(0))
    folder = tmp_path / "lancedb-pro"
    planted.PLANTED["D2"][1](folder)
    table_of(folder).tags.create("keep", 3)
    engine = opened(folder)
    with pytest.raises(RefusedError, match=r"keep \(v3\)"):
        maintain(engine.store, engine.write_state.applier, (TableStep("prune"),), confirmed=True)
    patient = patient_of(engine, now_ms=planted.NOW_MS)
    from memtui.engine.health import examine

    found = {each.kind: each for each in examine(patient, passes=("facts",)).findings}
    plan = plan_remedy(patient, found["D2"])
    assert plan.as_json()["held_by"] == ["keep"]
    with pytest.raises(RefusedError, match="keep"):
        carry_out_remedies(engine, [plan], confirmed=True)
    (done,) = carry_out_remedies(engine, [plan.without_names()], confirmed=True)
    assert done["receipt"]["steps"][0] == "remove the name from the table keep"
    assert table_of(folder).tags.list() == {}
    assert len(table_of(folder).list_versions()) < 5


def test_a_named_version_keeps_a_line_of_its_own_among_folded_injections(tmp_path: Path) -> None:
    """Injections are folded into one line each side of it, whichever of them has the name."""
    import json

    folder = planted.sound(tmp_path / "lancedb-pro", 4)
    table = table_of(folder)
    numbers = []
    for count in range(1, 7):
        table.update(
            where=f"id = '{planted.key_of(1)}'", values={"metadata": json.dumps({"access_count": count})}
        )
        numbers.append(table.version)
    store = opened(folder).store
    for named in numbers:
        lines = time_line(store, None, names={named: "before the trial"})
        assert [(each.version, each.first) for each in lines if each.name] == [(named, None)]
        folded = [each for each in lines if each.writer == "injection" and not each.name]
        assert sum(each.versions for each in folded) == len(numbers) - 1
        assert len(folded) == (1 if named in (numbers[0], numbers[-1]) else 2)
    assert len([each for each in time_line(store, None) if each.writer == "injection"]) == 1


@pytest.mark.slow
def test_what_a_prune_cannot_remove_yet_is_said_with_its_day(tmp_path: Path) -> None:
    folder = tmp_path / "lancedb-pro"
    planted.PLANTED["D2"][1](folder)
    table_of(folder).optimize()
    engine = opened(folder)
    from memtui.engine.health import examine

    found = {each.kind: each for each in examine(patient_of(engine, now_ms=planted.NOW_MS)).findings}
    plan = plan_remedy(patient_of(engine, now_ms=planted.NOW_MS), found["D2"])
    assert not plan.writes
    assert "Wait until" in plan.refusal
    planted.PLANTED["D30"][1](tmp_path / "other")
    patient = patient_of(opened(tmp_path / "other"), now_ms=planted.NOW_MS)
    (leftover,) = examine(patient, passes=("facts",)).findings
    assert leftover.remedy.startswith("wait until ")
    assert "Wait until" in plan_remedy(patient, leftover).refusal


def test_one_session_and_one_maintenance_are_one_line_each(tmp_path: Path) -> None:
    folder = tmp_path / "lancedb-pro"
    planted.PLANTED["D3"][1](folder)
    for number in (90, 91, 92):
        planted.add(folder, [planted.memory(number)])
    engine = opened(folder)
    newest = engine.store.version
    (done,) = carry_out_remedies(
        engine,
        [plan_remedy(patient_of(engine, now_ms=planted.NOW_MS), each) for each in _found(engine, "D3", "D4")],
        confirmed=True,
    )
    journal = engine.write_state.journal.entries()
    ours, stored, *older = time_line(engine.store, None, journal=journal)
    assert ours.writer == "memtui"
    assert (ours.version, ours.first) == (done["receipt"]["version_after"], newest + 1)
    assert (stored.writer, stored.title, stored.version, stored.first) == (
        "capture",
        "3 stored",
        newest,
        newest - 2,
    )
    apart = time_line(engine.store, None, journal=journal, fold=False)
    assert len(apart) == ours.versions + stored.versions + sum(each.versions for each in older)
    assert [each.version for each in apart] == [number for number, _ in reversed(engine.store.versions())]
    for last in range(1, len(apart)):  # what is read of a part is what is read of the whole
        assert time_line(engine.store, None, journal=journal, fold=False, last=last) == apart[:last]


def _found(engine: Engine, *kinds: str) -> list[Any]:
    from memtui.engine.health import examine

    found = examine(patient_of(engine, now_ms=planted.NOW_MS), passes=("facts",))
    return [each for each in found.findings if each.kind in kinds]
