"""Merging duplicates, and bringing discarded memories back."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from memtui.engine import changes
from memtui.engine.catalog.build import build_catalog
from memtui.engine.catalog.metadata_columns import read_metadata
from memtui.engine.core.errors import Cancelled, RefusedError, UsageError
from memtui.engine.core.progress import CancelToken, Progress
from memtui.engine.health.near_duplicates import find_near
from memtui.engine.store.open import open_store
from tests.conftest import NOW_MS
from tests.engine.curate_world import WordEmbedder, engine_at, row_of, rows_of, same_rows, version_of
from tests.engine.pro_store import row, write_store
from tests.engine.tables import pro_row, uuid, write_table

META = '{"tier":"%s","access_count":%d,"confidence":%s,"keep":"me"}'


@pytest.fixture
def three(tmp_path: Path) -> Path:
    rows = [
        pro_row(1, text="Tea: green", importance=0.4, metadata=META % ("working", 3, "0.5")),
        pro_row(2, text="Tea is green", importance=0.9, metadata=META % ("working", 5, "0.6")),
        pro_row(3, text="Green tea", importance=0.2, metadata=META % ("core", 1, "0.9"), scope="agent:main"),
    ]
    write_table(tmp_path / "db", rows)
    return tmp_path / "db"


def test_the_survivor_takes_over_and_the_others_are_superseded(three: Path) -> None:
    before = rows_of(three)
    engine = engine_at(three)
    planned = changes.plan_merge(engine, [uuid(1), uuid(2), uuid(3)])
    assert [(each.id, each.why) for each in planned.changes] == [
        (uuid(3), "kept"),
        (uuid(1), f"merged into {uuid(3)}"),
        (uuid(2), f"merged into {uuid(3)}"),
    ]
    assert any("different scopes" in note for note in planned.warnings)
    outcome = changes.apply(engine, planned)
    assert outcome.version_after == outcome.version_before + 1
    winner, loser = row_of(three, uuid(3)), json.loads(row_of(three, uuid(1))["metadata"])
    meta = json.loads(winner["metadata"])
    assert (winner["importance"], meta["tier"], meta["confidence"], meta["access_count"]) == (
        0.9,
        "core",
        0.9,
        9,
    )
    assert [each["targetId"] for each in meta["relations"]] == [uuid(1), uuid(2)]
    assert (loser["superseded_by"], loser["canonical_id"], loser["invalidated_at"]) == (
        uuid(3),
        uuid(3),
        NOW_MS,
    )
    assert (meta["keep"], loser["keep"]) == ("me", "me")
    changes.apply(engine, changes.plan_undo(engine))
    assert same_rows(rows_of(three), before)


def test_losers_can_be_deleted_in_the_same_commit(three: Path) -> None:
    before, version = rows_of(three), version_of(three)
    engine = engine_at(three, embedder=WordEmbedder(2))
    planned = changes.plan_merge(
        engine, [uuid(1), uuid(2)], survivor=uuid(1), text="Tea: green, no sugar", losers="delete"
    )
    with pytest.raises(RefusedError, match="deletes 1 memory"):
        changes.apply(engine, planned)
    changes.apply(engine, planned, confirmed=True)
    assert version_of(three) == version + 1
    assert rows_of(three).column("id").to_pylist() == sorted([uuid(1), uuid(3)])
    assert row_of(three, uuid(1))["text"] == "Tea: green, no sugar"
    changes.apply(engine, changes.plan_undo(engine))
    assert same_rows(rows_of(three), before)


def test_a_merge_that_makes_no_sense_is_refused(three: Path) -> None:
    engine = engine_at(three)
    for ids in ([], [uuid(1)], [uuid(1), uuid(1)]):
        with pytest.raises(UsageError, match="two memories"):
            changes.plan_merge(engine, ids)
    with pytest.raises(UsageError, match="none of the memories"):
        changes.plan_merge(engine, [uuid(1), uuid(2)], survivor=uuid(3))
    assert [each.reason for each in changes.plan_merge(engine, [uuid(1), uuid(9)]).conflicts] == ["gone"]


def test_what_was_merged_goes_with_the_survivor(three: Path) -> None:
    engine = engine_at(three)
    changes.apply(engine, changes.plan_merge(engine, [uuid(1), uuid(2)], survivor=uuid(1)))
    planned = changes.plan_forget(engine, [uuid(1)], hard=True)
    assert {each.id: each.why for each in planned.changes} == {uuid(1): "", uuid(2): "merged into it"}


# ---------------------------------------------------------------------- the trash


def test_the_trash_holds_what_was_deleted_and_gives_it_back(three: Path) -> None:
    before = rows_of(three)
    engine = engine_at(three)
    changes.apply(engine, changes.plan_forget(engine, [uuid(1), uuid(2)], hard=True), confirmed=True)
    assert [(each.id, each.title, each.entry) for each in changes.deleted_memories(engine)] == [
        (uuid(1), "Tea: green", 1),
        (uuid(2), "Tea is green", 1),
    ]
    changes.apply(engine, changes.plan_restore(engine, [uuid(1)]))
    assert [each.id for each in changes.deleted_memories(engine)] == [uuid(2)]
    changes.apply(engine, changes.plan_restore(engine, [uuid(2)]))
    assert same_rows(rows_of(three), before)
    assert changes.deleted_memories(engine) == []


def test_an_id_that_was_given_anew_is_not_overwritten(three: Path) -> None:
    import lancedb

    engine = engine_at(three)
    changes.apply(engine, changes.plan_forget(engine, [uuid(1)], hard=True), confirmed=True)
    stranger = rows_of(three).slice(0, 1).to_pylist()[0]
    table = lancedb.connect(three).open_table("memories")
    table.add([{**stranger, "id": uuid(1), "text": "A stranger."}])
    fresh = engine_at(three)
    assert [each.reason for each in changes.plan_restore(fresh, [uuid(1)]).conflicts] == ["there again"]
    assert [each.reason for each in changes.plan_undo(fresh).conflicts] == ["there again"]
    assert row_of(three, uuid(1))["text"] == "A stranger."


def test_what_the_agent_archived_becomes_confirmed(tmp_path: Path) -> None:
    write_table(
        tmp_path / "db", [pro_row(1, metadata='{"state":"archived","memory_layer":"archive"}'), pro_row(2)]
    )
    engine = engine_at(tmp_path / "db")
    planned = changes.plan_restore(engine, [uuid(1), uuid(2), uuid(7)])
    assert [(each.id, each.reason) for each in planned.conflicts] == [
        (uuid(2), "there again"),
        (uuid(7), "gone"),
    ]
    changes.apply(engine, changes.plan_restore(engine, [uuid(1)]))
    assert json.loads(row_of(tmp_path / "db", uuid(1))["metadata"])["state"] == "confirmed"


# ---------------------------------------------------------------------- duplicates


def near(folder: Path, **more: object):
    store = open_store(folder)
    catalog = read_metadata(store, build_catalog(store))
    return find_near(store, catalog, now_ms=NOW_MS, **more)  # type: ignore[arg-type]


def test_clusters_are_exactly_those_of_all_pairs(tmp_path: Path) -> None:
    """Against every cosine, computed one by one: vectors with many near and many not quite near neighbours."""
    rng = np.random.default_rng(7)
    centres = rng.standard_normal((40, 48))
    vectors = np.repeat(centres, 8, axis=0) + rng.standard_normal((320, 48)) * rng.uniform(
        0.05, 0.5, (320, 1)
    )
    write_store(
        tmp_path / "db",
        [row(f"m{n:03d}", f"text {n}", v.astype(np.float32)) for n, v in enumerate(vectors)],
        dims=48,
    )
    unit = vectors.astype(np.float32)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    for floor in (0.8, 0.93):
        found = near(tmp_path / "db", floor=floor)
        ids = found.catalog.ids.texts(np.arange(320))
        pairs = {frozenset((ids[i], ids[j])) for i, j in zip(found.left, found.right, strict=True)}
        cosine = unit @ unit.T
        expected = {
            frozenset((f"m{i:03d}", f"m{j:03d}"))
            for i, j in zip(*np.nonzero(np.triu(cosine >= floor, 1)), strict=True)
        }
        assert len(expected) > 50
        assert pairs == expected
        for cluster in found.clusters(floor):
            first = int(cluster.ids[0][1:])
            for each, similarity in zip(cluster.ids[1:], cluster.similarities[1:], strict=True):
                assert similarity == pytest.approx(cosine[first, int(each[1:])], abs=1e-5)
                assert similarity >= floor


def test_the_same_text_is_a_duplicate_whatever_the_vector(tmp_path: Path) -> None:
    rows = [pro_row(n, text=" The same. " if n % 2 else "The same.", vector=[n, 1.0]) for n in range(50)]
    rows += [pro_row(60, text="Another.", vector=[0.0, 0.0]), pro_row(61, text="  ", vector=[1.0, 0.0])]
    rows += [pro_row(62, text="The same.", scope="agent:main", vector=[-1.0, 0.0])]
    write_table(tmp_path / "db", rows)
    (cluster,) = near(tmp_path / "db").clusters(1.0)
    assert len(cluster.ids) == 50
    assert cluster.exact
    across = near(tmp_path / "db", across_scopes=True)
    assert len(across.clusters(1.0)[0].ids) == 51
    assert across.without == 1


def test_history_is_no_duplicate(tmp_path: Path) -> None:
    old = f'{{"invalidated_at":{NOW_MS - 5},"valid_from":5,"superseded_by":"{uuid(2)}"}}'
    archived = '{"state":"archived"}'
    rows = [pro_row(1, metadata=old), pro_row(2), pro_row(3, metadata=archived)]
    write_table(tmp_path / "db", rows)
    assert near(tmp_path / "db").clusters() == ()


def test_the_threshold_moves_freely_above_the_floor(tmp_path: Path) -> None:
    write_table(tmp_path / "db", [pro_row(n, text=f"t{n}", vector=[1.0, n / 10]) for n in range(5)])
    found = near(tmp_path / "db")
    counts = [sum(len(each.ids) for each in found.clusters(at)) for at in (0.9, 0.99, 0.999, 1.0)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 5
    assert counts[-1] == 0
    with pytest.raises(UsageError, match=r"from 0\.9 on"):
        found.clusters(0.5)
    with pytest.raises(UsageError):
        near(tmp_path / "db", floor=0.1)


def test_looking_for_duplicates_can_be_stopped_and_tells_how_far_it_is(three: Path) -> None:
    heard: list[Progress] = []
    near(three, across_scopes=True, on_progress=heard.append)
    assert heard
    assert 0 <= heard[0].fraction <= heard[-1].fraction <= 1
    stopped = CancelToken()
    stopped.cancel()
    with pytest.raises(Cancelled):
        near(three, cancel=stopped)
