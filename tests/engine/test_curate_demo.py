"""Curating memtui's own store, with real vectors: the demo."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from memtui.engine import changes
from memtui.engine.catalog import select_ids
from memtui.engine.demo import build_demo
from memtui.engine.demo.rows import memory_id
from memtui.engine.engine import Engine, open_engine
from memtui.engine.health import find_suspects
from tests.conftest import NOW_MS
from tests.engine.curate_world import row_of, rows_of, same_rows


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_demo(tmp_path_factory.mktemp("demo") / "demo", now_ms=NOW_MS)


@pytest.fixture
def demo(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original, tmp_path / "demo")
    return tmp_path / "demo"


def engine(folder: Path) -> Engine:
    opened = open_engine(
        folder, now=lambda: NOW_MS, environ={}, cwd=folder, writable=True, state=folder.parent / "state"
    )
    opened.load_catalog()
    opened.load_metadata()
    return opened


@pytest.mark.slow
def test_its_columns_and_its_metadata_never_disagree(demo: Path) -> None:
    before = rows_of(demo)
    opened = engine(demo)
    ids = select_ids(opened.view, "tier:working scope:global -is:invalid-metadata")[:20]
    changes.apply(opened, changes.plan_edit(opened, ids, {"tier": "peripheral", "state": "archived"}))
    for each in ids:
        row = row_of(demo, each)
        meta = json.loads(row["metadata"])
        assert (row["tier"], row["state"]) == ("peripheral", "archived") == (meta["tier"], meta["state"])
    opened.refresh()
    assert set(ids) <= set(select_ids(opened.view, "is:archived"))
    changes.apply(opened, changes.plan_undo(opened))
    assert same_rows(rows_of(demo), before)


def test_a_mended_text_is_found_by_its_new_meaning(demo: Path) -> None:
    from memtui.engine.recall.request import RecallRequest

    opened = engine(demo)
    key = memory_id("port-new")
    planned = changes.plan_edit(
        opened, [key], {"text": "The brass lantern in the attic belongs to Ottilie."}, in_place=True
    )
    assert not any("model" in note for note in planned.warnings), "the bundled model made these vectors"
    changes.apply(opened, planned)
    opened.refresh()
    trace = opened.recall(RecallRequest(query="Who owns the lantern in the attic?", recipe="memtui"))
    assert [each.id for each in trace.results][:1] == [key]


def test_the_bad_expiry_is_mended(demo: Path) -> None:
    opened = engine(demo)
    key = memory_id("hidden-by-time")
    assert opened.get(key).expired
    changes.apply(opened, changes.plan_edit(opened, [key], {"valid_until": "never"}))
    opened.refresh()
    assert not opened.get(key).expired


def test_a_pin_is_found_and_spared(demo: Path) -> None:
    opened = engine(demo)
    ids = select_ids(opened.view, "scope:global tier:peripheral -is:invalid-metadata")[:3]
    changes.apply(opened, changes.plan_edit(opened, ids[:1], {"pinned": True}))
    opened.refresh()
    assert select_ids(opened.view, "is:pinned") == ids[:1]
    assert ids[0] not in changes.plan_forget(opened, ids, hard=True, spare_pinned=True).ids


def test_the_sweep_finds_what_was_planted(demo: Path) -> None:
    opened = engine(demo)
    found = {(each.id, each.kind): each for each in find_suspects(opened)}
    secret = found[memory_id("secret"), "secret"]
    assert "••••" in secret.excerpt
    assert "sk-" not in secret.excerpt
    assert not found[memory_id("injection"), "injection"].doubt
    assert found[memory_id("injection-lookalike"), "injection"].doubt
    mistaken = found[memory_id("false-noise-1"), "noise"]
    assert mistaken.doubt
    assert {each.kind for each in find_suspects(opened, ["secret"])} == {"secret"}
    by_filter = select_ids(opened.view, "is:secret")
    assert memory_id("secret") in by_filter
    assert memory_id("injection") in select_ids(opened.view, "is:injection")


def test_forgetting_for_good_in_our_own_format(demo: Path) -> None:
    opened = engine(demo)
    key = memory_id("secret")
    outcome = changes.apply(
        opened, changes.plan_forget(opened, [key], hard=True, shrink=True), confirmed=True
    )
    assert outcome.receipt is not None
    assert outcome.receipt["clean"] is True
    opened.refresh()
    assert key not in select_ids(opened.view, "")
    assert opened.store.fts_status().unindexed_rows == 0


def test_the_engine_says_whether_it_may_write(demo: Path) -> None:
    assert engine(demo).info.read_only is False
    reading = open_engine(demo, now=lambda: NOW_MS, environ={}, cwd=demo)
    assert reading.info.read_only is True
    assert not reading.write_state.writable
