"""Rows that nobody expects: hostile text, odd ids, NULL everywhere, one row, none."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from memtui.engine.catalog.build import build_catalog
from memtui.engine.catalog.catalog import Catalog
from memtui.engine.catalog.metadata_columns import read_metadata
from memtui.engine.catalog.text_search import TextLookup
from memtui.engine.catalog.types import ListQuery
from memtui.engine.catalog.views import find_one, make_view, page_of
from memtui.engine.health.store_findings import make_stats
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store
from tests.conftest import NOW_MS
from tests.engine.tables import PRO, pro_row, uuid, write_table

HOSTILE = [
    "\x1b[2J\x1b]0;owned\x07",
    "nul\x00inside",
    "\u202eevil\u2066 bidi\u2069",
    "a\r\nb\rc\td",
    "👩‍👩‍👧‍👦 family",
    "[bold red]markup[/] [link=x]y[/link]",
    "zero\u200bwidth\ufeff",
    "c1 \x9b31m",
    "x" * 200_000,
    "",
    "   ",
    "\u2028line\u2029",
]


def loaded(folder: Path) -> tuple[Store, Catalog]:
    store = open_store(folder)
    return store, read_metadata(store, build_catalog(store))


def harmless(text: str) -> bool:
    return all(
        character == "\n" or unicodedata.category(character) not in ("Cc", "Cs") for character in text
    ) and not any(character in "\u202e\u2066\u2069\u200b\ufeff\u2028" for character in text)


def test_hostile_text_is_kept_as_stored_and_shown_clean(tmp_path: Path) -> None:
    import json

    rows = [
        pro_row(
            n,
            text=text,
            timestamp=1.78e12 - n,
            metadata=json.dumps({"l0_abstract": text, text[:9]: [text], "memory_category": text}),
        )
        for n, text in enumerate(HOSTILE)
    ]
    write_table(tmp_path, rows)
    store, catalog = loaded(tmp_path)
    page = page_of(store, make_view(store, catalog, ListQuery(), now_ms=NOW_MS), 0, 50, now_ms=NOW_MS)
    assert [memory.raw_text for memory in page] == HOSTILE
    for memory, row in zip(page, rows, strict=True):
        assert memory.metadata == row["metadata"]
        shown = [memory.text, memory.l0_abstract, memory.memory_category or "", str(memory.fact_key)]
        shown += [str(key) for key in memory.metadata_values]
        shown += [str(value) for value in memory.metadata_values["l0_abstract"]]
        assert all(harmless(text) for text in shown)
        assert memory.as_json()["text"] == row["text"]


def test_ids_that_are_no_uuids(tmp_path: Path) -> None:
    odd = ["mem-md-1", "corpus:00ff", "O'Brien", uuid(3).upper(), "__schema", "ключ", "x" * 36, "a b", ""]
    write_table(tmp_path, [pro_row(n, id=each, text=f"row {each}") for n, each in enumerate(odd)])
    store, catalog = loaded(tmp_path)
    assert sorted(catalog.ids.texts(range(catalog.n))) == sorted(odd)
    for each in odd[:-1]:
        found = find_one(store, catalog, each, now_ms=NOW_MS)
        if each.strip() == each:
            assert (found.id, found.raw_text) == (each, f"row {each}")


def test_nulls_everywhere(tmp_path: Path) -> None:
    nothing = dict.fromkeys(PRO.names)
    write_table(tmp_path, [nothing, pro_row(1), {**nothing, "id": uuid(2)}])
    store, catalog = loaded(tmp_path)
    assert (store.count(), catalog.n) == (3, 3)
    page = page_of(store, make_view(store, catalog, ListQuery(), now_ms=NOW_MS), 0, 9, now_ms=NOW_MS)
    assert [memory.id for memory in page] == [uuid(1), "", uuid(2)]
    blank = page[1]
    assert (blank.text, blank.scope, blank.category, blank.timestamp_ms) == ("", None, None, 0)
    assert (blank.importance, blank.tier, blank.metadata) == (0.0, "working", None)
    titles = [finding.title for finding in make_stats(store, catalog, now_ms=NOW_MS).findings]
    assert any("without a scope" in title for title in titles)
    assert any("without a usable vector" in title for title in titles)


def test_the_sentinel_is_nowhere(tmp_path: Path) -> None:
    sentinel = pro_row(0, id="__schema__", text="memory", vector=[0.0, 0.0])
    table = write_table(tmp_path, [sentinel, pro_row(1, text="memory"), {**pro_row(2), "id": None}])
    from lancedb.index import FTS

    table.create_index("text", config=FTS(with_position=True))
    store, catalog = loaded(tmp_path)
    assert (store.count(), catalog.n, store.pin().sentinels) == (2, 2, 1)
    assert [each for batch in store.scan(["id"]) for each in batch.column("id").to_pylist()] == [
        uuid(1),
        None,
    ]
    assert store.fts_search("memory", k=9, columns=["id"]).column("id").to_pylist() == [uuid(1)]
    hits = store.vector_search([1.0, 0.0], k=9, metric="l2", columns=["id"]).column("id").to_pylist()
    assert set(hits) == {uuid(1), None}
    assert len(TextLookup(store, catalog).words("memory")) == 1
    assert catalog.find("__schema__").size == 0


@pytest.mark.parametrize("rows", [0, 1])
def test_small_tables_answer_everything(tmp_path: Path, rows: int) -> None:
    write_table(tmp_path, [pro_row(n) for n in range(rows)])
    store, catalog = loaded(tmp_path)
    assert catalog.meta is not None
    for query in (
        "",
        "kiln",
        '"door seal"',
        "/k.ln/",
        "tier:working",
        "is:duplicate",
        "has:vector",
        "age>1d",
    ):
        view = make_view(store, catalog, ListQuery(query), now_ms=NOW_MS)
        assert view.table_total == rows
        page = page_of(store, view, 0, 50, now_ms=NOW_MS)
        assert len(page) == view.total == (0 if query == "is:duplicate" else rows)
    for sort in ("timestamp", "-importance", "tier", "-used", "scope", "category", "confidence", "access"):
        assert make_view(store, catalog, ListQuery(sort=sort), now_ms=NOW_MS).total == rows
    stats = make_stats(store, catalog, now_ms=NOW_MS)
    assert (stats.rows, len(stats.daily), stats.findings) == (rows, 90, ())
    assert store.vector_search([1.0, 0.0], k=5).num_rows == rows
    assert catalog.find(uuid(0)).size == rows
