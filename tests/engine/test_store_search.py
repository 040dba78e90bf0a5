"""Takes and searches: the order asked for, and the answers that the real programs got."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.store.open import open_store
from memtui.engine.store.sql import is_in
from memtui.engine.store.table import Store
from tests.engine.tables import pro_row, uuid, write_table

Unpack = Callable[[Path], Path]


@pytest.fixture(scope="module")
def clean(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    import tarfile

    target = tmp_path_factory.mktemp("peer")
    with tarfile.open(shared / "fixtures/peer/store-clean.tar.gz") as tar:
        tar.extractall(target, filter="data")
    return open_store(target / "store-clean")


@pytest.fixture
def twelve(tmp_path: Path) -> Store:
    write_table(tmp_path, [pro_row(n, text=f"memory {n}") for n in range(12)])
    return open_store(tmp_path)


def row_ids(store: Store) -> list[int]:
    return [
        row for batch in store.scan(["id"], with_row_id=True) for row in batch.column("_rowid").to_pylist()
    ]


def test_take_keeps_the_order_and_the_repeats_asked_for(twelve: Store) -> None:
    ids = row_ids(twelve)
    wanted = [ids[7], ids[3], ids[3], ids[11], ids[0]]
    taken = twelve.take(wanted, ["text"])
    assert taken.column("_rowid").to_pylist() == wanted
    assert taken.column("text").to_pylist() == [f"memory {n}" for n in (7, 3, 3, 11, 0)]


def test_take_leaves_out_rows_that_are_not_there(twelve: Store) -> None:
    ids = row_ids(twelve)
    taken = twelve.take([ids[5], max(ids) + 1000, ids[1]], ["text"])
    assert taken.column("text").to_pylist() == ["memory 5", "memory 1"]
    assert twelve.take([], ["text"]).num_rows == 0


def test_rows_by_id_in_the_order_asked_for(twelve: Store) -> None:
    wanted = [uuid(9), uuid(2), "not there", uuid(4)]
    found = twelve.rows_by_id(wanted, ["text"])
    assert found.column("id").to_pylist() == [uuid(9), uuid(2), uuid(4)]
    assert found.column("text").to_pylist() == ["memory 9", "memory 2", "memory 4"]
    assert "_rowid" in found.column_names
    assert twelve.rows_by_id([], ["text"]).num_rows == 0


def test_a_duplicated_id_gives_all_its_rows(shared: Path, unpack: Unpack) -> None:
    ids = json.loads((shared / "fixtures/stores/damaged/damaged.json").read_text())["pro-duplicate-ids"][
        "ids"
    ]
    store = open_store(unpack(shared / "fixtures/stores/damaged/pro-duplicate-ids.tar.gz"))
    found = store.rows_by_id([ids["three_times"], ids["exact"]], [])
    assert found.column("id").to_pylist() == [ids["three_times"]] * 3 + [ids["exact"]] * 2


@pytest.mark.slow
def test_vector_hits_of_the_peer(clean: Store, shared: Path) -> None:
    with gzip.open(shared / "fixtures/peer/traces.json.gz") as file:
        traces = json.load(file)
    vectors = np.load(shared / "fixtures/peer/query_vectors.npy")
    index_of = {query["qid"]: query["vector_index"] for query in traces["queries"]}
    checked = 0
    for trace in traces["traces"]:
        search = traces["searches"]["vector"].get(trace.get("vector_search"))
        if trace["config"] != "hybrid_default" or not search or search["via"] != "native":
            continue
        scopes = search["scope_filter"]
        found = clean.vector_search(
            vectors[index_of[trace["qid"]]].tolist(),
            k=200,
            where=None if scopes is None else is_in("scope", scopes),
            columns=["id"],
        )
        distance = dict(zip(*(found.column(name).to_pylist() for name in ("id", "_distance")), strict=True))
        for each, _score, expected in search["hits"]:
            assert distance[each] == pytest.approx(expected, abs=1e-6)
        assert found.column("_distance").to_pylist() == sorted(found.column("_distance").to_pylist())
        checked += 1
    assert checked > 50


def test_hits_of_the_builtin_program_are_squared_euclidean(shared: Path, unpack: Unpack) -> None:
    store = open_store(unpack(shared / "fixtures/stores/builtin-new.tar.gz"))
    recalls = json.loads((shared / "fixtures/stores/recalls/builtin-new.json").read_text())["recall"]
    vectors = np.load(shared / "fixtures/stores/recalls/query_vectors_384.npy")
    for recall in recalls:
        found = store.vector_search(
            vectors[recall["vector_index"]].tolist(),
            k=64,
            metric="l2",
            where=is_in("agentId", [recall["agent"]]),
            columns=["id"],
        )
        distance = dict(zip(*(found.column(name).to_pylist() for name in ("id", "_distance")), strict=True))
        for hit in recall["results"]:
            assert distance[hit["id"]] == pytest.approx(hit["distance"], abs=1e-5)


@pytest.mark.slow
def test_bm25_hits_of_the_peer_where_both_libraries_agree(clean: Store, shared: Path) -> None:
    with gzip.open(shared / "fixtures/peer/traces.json.gz") as file:
        searches = json.load(file)["searches"]["bm25"].values()
    checked = 0
    for search in searches:
        if search["via"] != "fts" or search["flags"] or search["stores"] != ["clean"]:
            continue
        scopes = search["scope_filter"]
        found = clean.fts_search(
            search["query"],
            k=200,
            where=None if scopes is None else is_in("scope", scopes),
            columns=["id"],
        )
        score = dict(zip(*(found.column(name).to_pylist() for name in ("id", "_score")), strict=True))
        for each, _score, raw in search["hits"]:
            assert score[each] == pytest.approx(raw, abs=1e-4)
        checked += 1
    assert checked > 100


def test_words_and_phrases(clean: Store) -> None:
    words = clean.fts_search("port 6543", k=50, columns=["text"], with_row_id=True)
    phrase = clean.fts_search('"listens on port 6543"', k=50, columns=["text"])
    assert words.num_rows > phrase.num_rows == 1
    assert words.column("_score").to_pylist() == sorted(words.column("_score").to_pylist(), reverse=True)
    assert "_rowid" in words.column_names
    assert clean.fts_search('"port on listens"', k=50, columns=[]).num_rows == 0
    for odd in ("", '"', '""', 'foo:bar AND (baz* ~2 "', "'; DROP TABLE memories", "\x00"):
        assert clean.fts_search(odd, k=5, columns=["id"]).num_rows <= 5


def test_a_filter_goes_before_the_search(clean: Store) -> None:
    query = [0.05] * 384
    found = clean.vector_search(query, k=5, where=is_in("scope", ["user:haruka"]), columns=["scope"])
    assert found.column("scope").to_pylist() == ["user:haruka"] * 3
    assert clean.vector_search(query, k=5, where=is_in("scope", []), columns=["id"]).num_rows == 0


def test_a_search_without_an_index_is_an_error_with_a_remedy(twelve: Store) -> None:
    assert twelve.fts_status().phrase == "none"
    with pytest.raises(MemtuiError, match="no full-text index") as caught:
        twelve.fts_search("memory", k=3)
    assert caught.value.fix


def test_a_phrase_without_positions_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    table = write_table(tmp_path, [pro_row(n, text=f"memory {n}") for n in range(12)])
    from lancedb.index import FTS

    table.create_index("text", config=FTS(with_position=False))
    store = open_store(tmp_path)
    assert "no phrase search" in store.fts_status().phrase
    assert store.fts_search("memory", k=3, columns=[]).num_rows == 3
    with pytest.raises(MemtuiError, match="cannot find a phrase"):
        store.fts_search('"memory 3"', k=3)


@pytest.mark.parametrize(
    ("vector", "words"),
    [([1.0], "has 1 numbers"), ([1.0] * 3, "has 3 numbers"), ([float("nan"), 1.0], "not finite")],
)
def test_a_query_vector_that_does_not_fit_is_refused(twelve: Store, vector: list[float], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        twelve.vector_search(vector, k=3)


def test_no_rows_asked_for_is_refused(twelve: Store) -> None:
    for search in (lambda: twelve.vector_search([1.0, 0.0], k=0), lambda: twelve.fts_search("memory", k=0)):
        with pytest.raises(UsageError, match="0 rows"):
            search()


def test_the_default_columns_are_all_but_the_vector(twelve: Store) -> None:
    found: Any = twelve.vector_search([1.0, 0.0], k=1)
    assert set(found.column_names) == {*twelve.columns, "_distance"} - {"vector"}


@pytest.mark.parametrize("value", ["O'Brien", "'", "''; --", "x' OR 1=1 --", "`", '"', "\\", "%_"])
def test_no_value_can_escape_its_quotes(tmp_path: Path, value: str) -> None:
    write_table(tmp_path, [pro_row(1, scope=value), pro_row(2), pro_row(3, scope=None)])
    store = open_store(tmp_path)
    assert store.count(is_in("scope", [value])) == 1
    assert store.count(is_in("scope", [value, None])) == 2
    assert store.count(is_in("scope", [])) == 0
    assert store.rows_by_id([value], []).num_rows == 0
