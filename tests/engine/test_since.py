"""What appeared since a baseline: by writer, source, kind and burst; and what is not recorded any more."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memtui.engine import UsageError, changes
from memtui.engine.engine import Engine
from memtui.engine.health import SinceReport, VersionNames, find_baseline, find_since, pin_version
from tests.engine import planted_faults as planted
from tests.engine.curate_world import WordEmbedder, engine_at
from tests.engine.planted_faults import DAY_MS, NOW_MS, key_of, memory


def report(engine: Engine, word: str, folder: Path) -> SinceReport:
    engine.store.refresh()
    return find_since(engine, find_baseline(engine, word, VersionNames(engine.store, folder / "names.toml")))


def engine_of(folder: Path) -> Engine:
    return engine_at(folder, embedder=WordEmbedder(planted.DIMS), now=lambda: NOW_MS)


@pytest.fixture
def world(tmp_path: Path) -> tuple[Path, str]:
    """A store with a past: a capture, an import, a dream, a burst of a stranger, an edit and a deletion of ours."""
    folder = planted.sound(tmp_path / "lancedb-pro", 20)
    first = str(engine_of(folder).store.version)
    planted.add(folder, [memory(100, metadata={"source": "auto-capture", "source_session": "s1"})])
    planted.add(folder, [memory(101, metadata={"source": "dreaming-engine"})])
    planted.add(folder, [memory(102, metadata={"source": "manual", "importedFrom": "notes"})])
    planted.add(folder, [memory(200 + n, metadata={"source": "other"}) for n in range(12)])
    engine = engine_of(folder)
    changes.apply(engine, changes.plan_edit(engine, [key_of(3)], {"importance": "0.5"}), confirmed=True)
    changes.apply(engine, changes.plan_forget(engine, [key_of(4)], hard=True), confirmed=True)
    planted.open_table(folder).delete(f"id = '{key_of(5)}'")
    return folder, first


def test_every_row_has_its_writer_source_and_kind(world: tuple[Path, str], tmp_path: Path) -> None:
    folder, first = world
    found = report(engine_of(folder), first, tmp_path)
    wrote = {(row.id, row.op): row.writer for row in found.rows}
    assert wrote.pop((key_of(100), "new")) == "capture"
    assert wrote.pop((key_of(101), "new")) == "dream"
    assert wrote.pop((key_of(102), "new")) == "import"
    assert wrote.pop((key_of(3), "changed")) == "memtui"
    assert wrote.pop((key_of(4), "gone")) == "memtui"
    assert wrote.pop((key_of(5), "gone")) == "unknown"
    assert {each: writer for (each, _), writer in wrote.items()} == {
        key_of(200 + n): "unknown" for n in range(12)
    }
    assert (found.count("new"), found.count("changed"), found.count("gone")) == (15, 1, 2)
    assert found.not_recorded == ""
    assert "dreaming-engine" in found.groups("source")
    assert sum(len(rows) for rows in found.groups("kind").values()) == 18


def test_many_in_a_short_time_are_a_burst_and_few_are_none(world: tuple[Path, str], tmp_path: Path) -> None:
    folder, first = world
    found = report(engine_of(folder), first, tmp_path)
    assert [(each.writer, len(each.ids)) for each in found.bursts] == [("unknown", 12)]
    later = report(engine_of(folder), str(engine_of(folder).store.version), tmp_path)
    assert (later.rows, later.bursts) == ((), ())


def test_a_recall_that_counts_is_no_change(world: tuple[Path, str], tmp_path: Path) -> None:
    folder, _ = world
    engine = engine_of(folder)
    before = str(engine.store.version)
    import json

    table = planted.open_table(folder)
    row = table.search().where(f"id = '{key_of(7)}'").limit(1).to_list()[0]
    held = {**json.loads(row["metadata"] or "{}"), "access_count": 9, "last_accessed_at": NOW_MS}
    table.update(where=f"id = '{key_of(7)}'", values={"metadata": json.dumps(held)})
    assert report(engine, before, tmp_path).rows == ()


def test_a_kept_copy_is_a_baseline_when_its_version_is_gone(world: tuple[Path, str], tmp_path: Path) -> None:
    folder, first = world
    engine = engine_of(folder)
    pin_version(engine, int(first), tmp_path / "kept")
    planted.open_table(folder).optimize(cleanup_older_than=timedelta(0), delete_unverified=True)
    engine = engine_of(folder)
    found = report(engine, str(tmp_path / "kept"), tmp_path)
    assert (found.count("new"), found.count("changed"), found.count("gone")) == (15, 1, 2)
    gone = report(engine, first, tmp_path)
    assert gone.rows == ()
    assert "not recorded" in gone.not_recorded


def test_a_day_before_the_oldest_version_goes_by_the_rows_own_times(
    world: tuple[Path, str], tmp_path: Path
) -> None:
    folder, _ = world
    planted.open_table(folder).optimize(cleanup_older_than=timedelta(0), delete_unverified=True)
    engine = engine_of(folder)
    found = report(engine, str(NOW_MS - 3 * DAY_MS), tmp_path)
    assert {row.id for row in found.rows} == {key_of(0), key_of(1), key_of(2)}
    assert "not recorded" in found.not_recorded


def test_a_word_that_means_nothing_is_refused(world: tuple[Path, str], tmp_path: Path) -> None:
    engine = engine_of(world[0])
    for word in ("nonsense", "999", "2026-99-01"):
        with pytest.raises(UsageError):
            report(engine, word, tmp_path)
