"""A snapshot of a table's folder: what it holds, what it refuses, and that a store comes out of it again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memtui.engine import Engine, ListQuery, RefusedError, UsageError, changes, open_engine
from memtui.engine.core.errors import DamagedStoreError
from memtui.engine.documents import consult_for, take_in
from memtui.engine.health import FolderSnapshots
from tests.conftest import NOW_MS, tree_hash
from tests.engine.pro_store import row, write_store

Opened = Callable[..., Engine]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Opens stores whose state is kept in one folder."""
    made: list[Engine] = []

    def open_one(store: Path, now: int = NOW_MS) -> Engine:
        engine = open_engine(
            store, now=lambda: now, environ={}, cwd=tmp_path, state=tmp_path / "state", writable=True
        )
        engine.load_catalog()
        made.append(engine)
        return engine

    yield open_one
    for each in made:
        each.close()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    rows = [row(f"m{at}", f"canary number {at}", [1.0, float(at), 0.5]) for at in range(40)]
    return write_store(tmp_path / "store", rows, dims=3)


def texts(engine: Engine) -> list[str]:
    view = engine.view(ListQuery(sort="timestamp"))
    return sorted(each.raw_text for each in engine.page(view, 0, view.total))


def test_a_store_comes_out_of_a_snapshot_after_its_folder_is_lost(
    store: Path, opened: Opened, tmp_path: Path
) -> None:
    engine = opened(store)
    before, was = tree_hash(store), texts(engine)
    kept = FolderSnapshots(engine)
    made = kept.create("pre-change_1")
    assert tree_hash(store) == before
    assert made.rows == 40
    changes.apply(engine, changes.plan_forget(engine, ["m3"], hard=True), confirmed=True)
    engine.refresh()
    assert len(texts(engine)) == 39
    engine.close()
    shutil.rmtree(store)
    write_store(store, [row("other", "another store in its place", [1.0, 0.0, 0.0])], dims=3)
    found = FolderSnapshots(opened(store)).check_out("pre-change_1", tmp_path / "back")
    assert found.version == made.version
    assert texts(opened(tmp_path / "back")) == was


def test_the_documents_of_a_store_go_with_its_snapshot(store: Path, opened: Opened, tmp_path: Path) -> None:
    page = tmp_path / "docs" / "relay.md"
    page.parent.mkdir()
    page.write_text("# Relay\n\nThe relay listens on 7011.\n", encoding="utf-8")
    block = {"enabled": True, "sourceRoots": [str(page.parent)]}
    engine = opened(store)
    kept = FolderSnapshots(engine)
    assert kept.create("bare").documents is None
    take_in(engine, block)
    made = kept.create("read")
    assert made.documents is not None
    assert kept.named("read") == made
    told = json.loads((made.place / "manifest.json").read_text(encoding="utf-8"))
    assert told["stats"]["fileCount"] == len(made.files)  # the store's own, as its program counts them
    assert told["stats"]["bytes"] + made.documents.bytes == made.bytes
    page.write_text("# Relay\n\nThe relay was scrapped.\n", encoding="utf-8")
    take_in(engine, block)
    kept.check_out("read", tmp_path / "back")
    back = opened(tmp_path / "back")
    for where, said in ((back, "7011"), (engine, "scrapped")):
        asked = consult_for(where, "relay", hot=0)
        assert asked is not None
        assert said in asked.block
    shutil.rmtree(tmp_path / "back")
    with pytest.raises(RefusedError, match="Documents are kept"):
        kept.check_out("read", tmp_path / "back")
    assert not (tmp_path / "back").exists()
    copy = made.place / made.documents.path
    copy.write_bytes(copy.read_bytes()[:-1] + b"x")
    with pytest.raises(DamagedStoreError, match="documents"):
        kept.check_out("read", tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_the_manifest_tells_each_file_and_no_memory(store: Path, opened: Opened) -> None:
    made = FolderSnapshots(opened(store)).create("v1.2")
    text = (made.place / "manifest.json").read_text(encoding="utf-8")
    told = json.loads(text)
    assert "canary" not in text
    assert told["kind"] == "openclaw-mem-engine.dataset-snapshot.v0"
    assert told["source"] == {"dbPath": str(store), "table": "memories"}
    assert told["artifact"]["format"] == "dir"
    held = [each for each in Path(told["artifact"]["dataPath"]).rglob("*") if each.is_file()]
    assert told["stats"]["fileCount"] == len(held) == len(told["stats"]["files"])
    assert told["stats"]["bytes"] == sum(each.stat().st_size for each in held)
    assert told["stats"]["rowCount"] == 40


def test_the_newest_snapshot_stands_first_and_equal_ones_by_tag(store: Path, opened: Opened) -> None:
    FolderSnapshots(opened(store, NOW_MS)).create("a")
    FolderSnapshots(opened(store, NOW_MS)).create("b")
    kept = FolderSnapshots(opened(store, NOW_MS + 60_000))
    kept.create("c")
    assert [each.tag for each in kept.all()] == ["c", "b", "a"]
    kept.drop("b")
    assert [each.tag for each in kept.all()] == ["c", "a"]


def test_a_tag_that_is_there_a_changed_file_and_a_full_folder_are_refused(
    store: Path, opened: Opened, tmp_path: Path
) -> None:
    kept = FolderSnapshots(opened(store))
    made = kept.create("once")
    with pytest.raises(RefusedError):
        kept.create("once")
    with pytest.raises(RefusedError):
        kept.check_out("once", store)
    for tag in ("none", "../store", ""):
        with pytest.raises(UsageError):
            kept.check_out(tag, tmp_path / "back")
    largest = max(
        (each for each in (made.place / "data").rglob("*.lance") if each.is_file()),
        key=lambda e: e.stat().st_size,
    )
    changed = bytearray(largest.read_bytes())
    changed[len(changed) // 2] ^= 1
    largest.write_bytes(bytes(changed))
    with pytest.raises(DamagedStoreError):
        kept.check_out("once", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_links_are_not_followed_and_a_copy_that_fails_leaves_nothing(
    store: Path, opened: Opened, tmp_path: Path
) -> None:
    secret = tmp_path / "outside"
    secret.write_text("not of this store", encoding="utf-8")
    (store / "memories.lance" / "link").symlink_to(secret)
    kept = FolderSnapshots(opened(store))
    made = kept.create("linked")
    assert not [each for each in made.files if "link" in each.path]

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kept.create("cut", on_progress=stop)
    assert [each.name for each in kept.place.iterdir()] == ["linked"]
