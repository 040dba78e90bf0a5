"""Opening: every store of the recorded material, every damaged one, every wrong place; and never a write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine.core.errors import (
    DamagedStoreError,
    MemtuiError,
    StoreNotFoundError,
    UnknownDialectError,
    UsageError,
)
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store
from tests.conftest import thinned, tree_hash
from tests.engine.tables import pro_row, write_table

Unpack = Callable[[Path], Path]

STORES = {
    "peer/store-clean": ("pro", 267, 384, "version 1, positions, 267 of 267 rows"),
    "peer/store-lived": ("pro", 267, 384, "version 1, positions, 253 of 267 rows"),
    "stores/builtin-old": ("builtin-g1", 64, 1536, "none"),
    "stores/builtin-legacy": ("builtin-g1", 27, 384, "none"),
    "stores/builtin-mixed": ("builtin-g2", 50, 384, "none"),
    "stores/builtin-new": ("builtin-g3", 64, 384, "none"),
    "stores/engine": ("engine", 98, 1536, "none"),
    "stores/damaged/builtin-new-null-agent": ("builtin-g3", 16, 384, "none"),
    "stores/damaged/builtin-new-sentinel": ("builtin-g3", 16, 384, "none"),
    "stores/damaged/builtin-new-zero-rows": ("builtin-g3", 0, 384, "none"),
    "stores/damaged/builtin-old-duplicate-ids": ("builtin-g1", 32, 384, "none"),
    "stores/damaged/builtin-old-seconds": ("builtin-g1", 27, 384, "none"),
    "stores/damaged/builtin-old-sentinel": ("builtin-g1", 27, 384, "none"),
    "stores/damaged/builtin-old-zero-rows": ("builtin-g1", 0, 384, "none"),
    "stores/damaged/engine-null-fields": ("engine", 6, 1536, "none"),
    "stores/damaged/engine-sentinel": ("engine", 6, 1536, "none"),
    "stores/damaged/pro-bad-metadata": ("pro", 14, 384, "version 1, positions, 0 of 14 rows"),
    "stores/damaged/pro-duplicate-ids": ("pro", 19, 384, "version 1, positions, 0 of 19 rows"),
    "stores/damaged/pro-index-missing": ("pro", 14, 384, "version 1, files missing"),
    "stores/damaged/pro-null-scope-vector": ("pro", 14, 384, "version 1, positions, 0 of 14 rows"),
    "stores/damaged/pro-on-builtin": ("pro", 30, 384, "version 1, positions, 27 of 30 rows"),
    "stores/damaged/pro-seconds": ("pro", 14, 384, "version 1, positions, 0 of 14 rows"),
    "stores/damaged/pro-sentinel": ("pro", 14, 384, "version 1, positions, 0 of 15 rows"),
    "stores/damaged/pro-zero-rows": ("pro", 0, 384, "version 1, positions, 0 of 0 rows"),
}
REFUSED = {
    "pro-manifest-cut": (DamagedStoreError, "18446744073709551598.manifest is cut short"),
    "builtin-old-manifest-cut": (DamagedStoreError, "18446744073709551586.manifest is cut short"),
    "builtin-new-manifest-cut": (DamagedStoreError, "18446744073709551597.manifest is cut short"),
    "pro-manifest-empty": (DamagedStoreError, "18446744073709551598.manifest is empty"),
    "empty-table-dir": (DamagedStoreError, "without any version"),
    "foreign-schema": (UnknownDialectError, "doc_id (int64), content (string), embedding"),
    "foreign-table-name": (UnknownDialectError, "its tables are documents"),
}
UNREADABLE = {
    "pro-data-missing": "data/111011101111011001000100edeb0d406a91497c7ae0aad72e.lance",
    "builtin-old-data-missing": "data/1101111111111111001111003e2b5f4d5b85c1b98ab84a76d5.lance",
}


def archive(shared: Path, name: str) -> Path:
    return shared / "fixtures" / f"{name}.tar.gz"


def browse(store: Store) -> int:
    """Everything a reader does; returns the number of rows seen."""
    seen = 0
    row_ids: list[int] = []
    for batch in store.scan(store.row_columns, with_row_id=True):
        seen += batch.num_rows
        row_ids += batch.column("_rowid").to_pylist()
    if row_ids:
        store.dialect.to_memories(store.take(row_ids, store.columns), 0)
        store.rows_by_id(["nobody"], [])
        store.vector_search([1.0] * (store.dims or 0), k=3)
    if store.fts_status().readable and store.fts_status().exists:
        store.fts_search("postgres", k=3)
    store.newest_version()
    store.refresh()
    store.size_bytes()
    return seen


def test_every_archive_has_an_expected_outcome(shared: Path) -> None:
    there = {path.name.removesuffix(".tar.gz") for path in (shared / "fixtures/stores/damaged").glob("*.gz")}
    expected = {name.rpartition("/")[2] for name in STORES if "damaged" in name}
    assert there == expected | set(REFUSED) | set(UNREADABLE)


@pytest.mark.parametrize("name", thinned(STORES, 3))
def test_a_readable_store_opens_and_reading_it_changes_nothing(
    shared: Path, unpack: Unpack, name: str
) -> None:
    dialect, rows, dims, fts = STORES[name]
    folder = unpack(archive(shared, name))
    before = tree_hash(folder)
    store = open_store(folder)
    assert (store.dialect.name, store.count(), store.dims) == (dialect, rows, dims)
    assert store.fts_status().code == fts
    assert browse(store) == rows
    assert store.size_bytes() > 0
    assert tree_hash(folder) == before


@pytest.mark.parametrize("name", REFUSED)
def test_a_store_that_cannot_be_opened_says_why(shared: Path, unpack: Unpack, name: str) -> None:
    error, words = REFUSED[name]
    folder = unpack(archive(shared, f"stores/damaged/{name}"))
    before = tree_hash(folder)
    with pytest.raises(error) as caught:
        open_store(folder)
    assert words in caught.value.message
    assert caught.value.fix
    assert "cargo" not in str(caught.value)
    assert tree_hash(folder) == before


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_missing_data_file_is_named_when_rows_are_read(
    shared: Path, unpack: Unpack, name: str, tmp_path: Path
) -> None:
    """Wherever the store is."""
    folder = tmp_path / "Application Support, Ana" / name
    folder.parent.mkdir()
    unpack(archive(shared, f"stores/damaged/{name}")).rename(folder)
    store = open_store(folder)
    assert store.count() == {"pro-data-missing": 14, "builtin-old-data-missing": 27}[name]
    with pytest.raises(DamagedStoreError) as caught:
        list(store.scan(store.row_columns))
    assert UNREADABLE[name] in caught.value.message


def test_an_index_without_files_is_a_warning_until_it_is_needed(shared: Path, unpack: Unpack) -> None:
    store = open_store(unpack(archive(shared, "stores/damaged/pro-index-missing")))
    assert any("full-text index are missing" in warning for warning in store.warnings)
    with pytest.raises(DamagedStoreError, match="full-text index") as caught:
        store.fts_search("postgres", k=3)
    assert "tokens.lance" in caught.value.details


def test_the_cut_manifest_can_be_moved_away_as_the_remedy_says(shared: Path, unpack: Unpack) -> None:
    folder = unpack(archive(shared, "stores/damaged/pro-manifest-cut"))
    with pytest.raises(DamagedStoreError) as caught:
        open_store(folder)
    bad = folder / "memories.lance/_versions/18446744073709551598.manifest"
    assert bad.name in caught.value.message
    bad.rename(folder / "bad.manifest")
    assert open_store(folder).count() == 13


def test_a_missing_folder_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFoundError, match="does not exist"):
        open_store(tmp_path / "nowhere" / "lancedb")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_store(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("x")
    with pytest.raises(StoreNotFoundError, match="is a file"):
        open_store(file)


def test_a_folder_without_tables_names_the_folders_below_that_have_some(tmp_path: Path) -> None:
    write_table(tmp_path / "lancedb-pro", [pro_row(1)])
    with pytest.raises(StoreNotFoundError) as caught:
        open_store(tmp_path)
    assert str(tmp_path / "lancedb-pro") in caught.value.fix


def test_all_ways_to_name_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "my store"
    write_table(folder, [pro_row(1)])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for target in (
        folder,
        str(folder),
        str(folder) + "/",
        folder / "memories.lance",
        folder.as_uri(),
        "my store",
        "~/my store",
    ):
        store = open_store(target)
        assert (store.count(), store.table_name, store.name) == (1, "memories", "my store")


def test_another_table_is_opened_by_name(tmp_path: Path) -> None:
    write_table(tmp_path, [pro_row(1), pro_row(2)], name="old")
    assert open_store(tmp_path, table="old").count() == 2
    assert open_store(tmp_path / "old.lance").table_name == "old"
    with pytest.raises(UnknownDialectError, match="no table memories; its tables are old"):
        open_store(tmp_path)


def test_an_unreachable_object_store_is_an_error_with_details() -> None:
    with pytest.raises(MemtuiError) as caught:
        open_store("nosuch://bucket/path")
    assert caught.value.details
    assert not isinstance(caught.value, UsageError)


def test_no_rights_to_read_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    write_table(folder, [pro_row(1)])
    folder.chmod(0)
    try:
        if list_is_allowed(folder):
            pytest.skip("this user may read everything")
        with pytest.raises(MemtuiError, match="no right to read"):
            open_store(folder)
    finally:
        folder.chmod(0o755)


def list_is_allowed(folder: Path) -> bool:
    try:
        list(folder.iterdir())
    except PermissionError:
        return False
    return True
