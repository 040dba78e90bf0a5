"""Tables of memtui's own: stable row ids, a full-text index that knows CJK words and long identifiers."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from memtui.engine.core.errors import RefusedError
from memtui.engine.dialects.memtui import own_schema
from memtui.engine.store.create import create_own
from memtui.engine.store.lancedb_import import import_lancedb
from memtui.engine.store.open import open_store

HASH = "0f343b0931126a20f133d67c2b018a3b1c9f5d20"
TEXTS = ("夜間バッチが失敗した", f"Release {HASH} went out", "天气不好就不部署")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    blank = dict.fromkeys(own_schema(4).names)
    rows = [
        blank | {"id": f"id-{n}", "text": text, "vector": [1.0, 0, 0, float(n)]}
        for n, text in enumerate(TEXTS)
    ]
    create_own(tmp_path, pa.Table.from_pylist(rows, schema=own_schema(4)))
    return tmp_path


def test_it_opens_as_memtuis_own(folder: Path) -> None:
    store = open_store(folder)
    assert (store.dialect.name, store.count(), store.dims) == ("memtui", len(TEXTS), 4)
    assert store.fts_status().code == "version 1, positions, 3 of 3 rows"


@pytest.mark.parametrize(("word", "found"), [("夜間", "id-0"), (HASH, "id-1"), ("天气", "id-2")])
def test_words_are_found_in_any_script_and_of_any_length(folder: Path, word: str, found: str) -> None:
    assert open_store(folder).fts_search(word, k=5).column("id").to_pylist() == [found]


def test_row_ids_survive_an_update(folder: Path) -> None:
    table = import_lancedb().connect(str(folder)).open_table("memories")

    def row_id() -> int:
        return table.search().where("id = 'id-1'").with_row_id(True).to_list()[0]["_rowid"]

    before = row_id()
    table.update(where="id = 'id-1'", values={"importance": 0.9})
    assert row_id() == before


def test_a_table_that_is_there_is_never_replaced(folder: Path) -> None:
    with pytest.raises(RefusedError, match="already holds"):
        create_own(folder, own_schema(4).empty_table())
    assert open_store(folder).count() == len(TEXTS)
