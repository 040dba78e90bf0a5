"""The story of a memory: its versions in order, loops and gaps, and what the journal says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine import Engine, changes, open_engine
from tests.conftest import NOW_MS
from tests.engine.pro_store import row, write_store

CHAINS = {
    "old": {"superseded_by": "middle"},
    "middle": {"supersedes": "old", "superseded_by": "new"},
    "new": {"supersedes": "middle"},
    "alone": {},
    "gap": {"supersedes": "gone", "superseded_by": "x' OR '1'='1"},
    "left": {"supersedes": "right", "superseded_by": "right"},
    "right": {"supersedes": "left", "superseded_by": "left"},
    "self": {"supersedes": "self"},
}


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    rows = [
        row(key, f"the {key} one", (1.0, i / 9), timestamp=NOW_MS - i, metadata=links)
        for i, (key, links) in enumerate(CHAINS.items())
    ]
    folder = write_store(tmp_path / "store", rows, dims=2)
    engine = open_engine(
        folder, now=lambda: NOW_MS, environ={}, cwd=folder, writable=True, state=tmp_path / "state"
    )
    engine.load_catalog()
    return engine


@pytest.mark.parametrize(
    ("key", "versions"),
    [
        ("old", ["old", "middle", "new"]),
        ("middle", ["old", "middle", "new"]),
        ("new", ["old", "middle", "new"]),
        ("alone", []),
        ("gap", []),
        ("left", ["right", "left"]),
        ("self", []),
    ],
)
def test_versions_from_the_oldest_to_the_newest(engine: Engine, key: str, versions: list[str]) -> None:
    found = changes.memory_story(engine, engine.memories([key])[key])
    assert [each.id for each in found.versions] == versions
    assert found.changes == ()


def test_what_was_changed_the_last_first(engine: Engine) -> None:
    for value in ("0.2", "0.3"):
        changes.apply(engine, changes.plan_edit(engine, ["alone"], {"importance": value}))
    changes.apply(engine, changes.plan_undo(engine))
    found = changes.memory_story(engine, engine.memories(["alone"])["alone"])
    told = [(entry.action, entry.state, row.before.get("importance")) for entry, row in found.changes]
    assert told[0][0] == "undo"
    assert told[1:] == [("edit", "undone", pytest.approx(0.2)), ("edit", "applied", pytest.approx(0.7))]
    assert changes.memory_story(engine, engine.memories(["old"])["old"]).changes == ()


def test_another_writer_is_told_in_rows(engine: Engine, tmp_path: Path) -> None:
    import lancedb

    assert engine.newer() is None
    table = lancedb.connect(tmp_path / "store").open_table("memories")
    table.add([{**row("more", "one more", (0.0, 1.0)), "timestamp": float(NOW_MS)}])
    assert engine.newer() == 1
    table.delete("id IN ('alone', 'gap')")
    assert engine.newer() == -1
    engine.refresh()
    assert engine.newer() is None
