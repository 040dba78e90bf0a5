"""A recall on object storage: what one question fetched, the next one does not; the answer is that of a local store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from lancedb.index import IvfFlat

from memtui.engine import RecallRequest
from memtui.engine.explain.radar import find_disagreements
from memtui.engine.explain.word_tree import keyword_tree
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.record import Trace
from memtui.engine.store.create import create_own
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store
from tests.conftest import NOW_MS, thinned
from tests.engine.counting_proxy import CountingProxy, Passed, counting_proxy
from tests.engine.object_storage import BUCKET, DIMS, object_service, options, rows

MANY = 3_000


def memories() -> pa.Table:
    """So many rows of words of chance, of many lengths: hardly two have the same score for a question."""
    table, rng = rows(MANY), np.random.default_rng(7)
    words = [
        f"{first}{last}" for first in ("weir", "lock", "gauge", "span") for last in ("age", "er", "ing", "s")
    ]
    texts = [" ".join(rng.choice(words, rng.integers(3, 40))) + f" {n}" for n in range(MANY)]
    at = table.schema.get_field_index("text")
    return table.set_column(at, "text", pa.array(texts).cast(table.schema.field("text").type))


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with object_service() as endpoint:
        create_own(f"s3://{BUCKET}/plain", memories(), options(endpoint))
        create_own(f"s3://{BUCKET}/led", memories(), options(endpoint))
        led = open_store(f"s3://{BUCKET}/led", storage_options=options(endpoint)).pin().table
        led.checkout_latest()
        led.create_index("vector", config=IvfFlat(distance_type="cosine", num_partitions=1))
        yield endpoint


@pytest.fixture
def proxy(service: str) -> Iterator[CountingProxy]:
    with counting_proxy(service) as found:
        yield found


def opened(proxy: CountingProxy, name: str) -> Store:
    return open_store(f"s3://{BUCKET}/{name}", storage_options=options(proxy.endpoint))


def asked(store: Store, words: str, seed: int, recipe: str = "memtui", limit: int = 10) -> Trace:
    vector = np.random.default_rng(seed).standard_normal(DIMS)
    request = RecallRequest(query=words, recipe=recipe, query_vector=vector.tolist(), limit=limit)
    return recall(request, RecallContext(store, NOW_MS, None))


def of_rows(passed: list[Passed]) -> list[Passed]:
    """The requests that read rows, and no index and no manifest."""
    return [each for each in passed if ".lance/data/" in each.path]


def test_the_second_question_asks_for_no_row_and_no_vector(proxy: CountingProxy) -> None:
    store = opened(proxy, "plain")
    first = asked(store, "weirage gauging spans", 1)
    assert of_rows(proxy.passed), "the first question has to read them"
    assert len(first.pool.vector)
    assert len(first.pool.bm25)
    mark = len(proxy.passed)
    second = asked(store, "locker weiring", 2)
    assert {hit.row.id for hit in second.pool.bm25.values()} - {row.id for row in first.pool.rows}
    assert set(second.memories) == {row.id for row in second.pool.rows}
    assert of_rows(proxy.since(mark)) == []


@pytest.mark.parametrize("recipe", thinned(["memtui", "pro/tool", "mem-engine"], 3))
@pytest.mark.parametrize("name", ["plain", "led"])
def test_the_answer_is_that_of_a_store_on_this_machine(
    proxy: CountingProxy, tmp_path: Path, name: str, recipe: str
) -> None:
    create_own(tmp_path / "store", memories())
    local = open_store(tmp_path / "store")
    far = opened(proxy, name)
    for seed, words in enumerate(("weirage gauging spans", "locker weiring")):
        theirs, ours = asked(local, words, seed, recipe), asked(far, words, seed, recipe)
        assert ours.returned == theirs.returned
        assert [each.score for each in ours.results] == pytest.approx(
            [each.score for each in theirs.results], abs=1e-5
        )
        theirs_rows = {row.id: row for row in theirs.pool.rows}
        for row in ours.pool.rows:
            mine, other = row.wide, theirs_rows[row.id].wide
            assert mine is not None
            assert other is not None
            assert mine.tolist() == pytest.approx(other.tolist(), abs=1e-5)


def test_where_an_index_leads_only_the_vectors_of_the_candidates_are_read(proxy: CountingProxy) -> None:
    store = opened(proxy, "led")
    asked(store, "weirage gauging spans", 1)
    assert not store.pin().holds_vectors
    mark = len(proxy.passed)
    again = asked(store, "weirage gauging spans", 1)
    assert set(again.memories) == {row.id for row in again.pool.rows}
    assert of_rows(proxy.since(mark)) == [], "the same candidates are not read again"


def test_words_alone_do_not_fetch_every_vector(proxy: CountingProxy) -> None:
    store = opened(proxy, "plain")
    request = RecallRequest(query="weirage gauging spans", recipe="memtui", limit=5)
    found = recall(request, RecallContext(store, NOW_MS, None))
    assert found.returned
    assert not store.pin().holds_vectors


def test_what_is_looked_for_beside_an_answer_reads_no_vector_again(
    proxy: CountingProxy, tmp_path: Path
) -> None:
    """Disagreements, neighbours, searches for rows: each asked the library, which fetched every vector for each."""
    create_own(tmp_path / "store", memories())
    local, far = open_store(tmp_path / "store"), opened(proxy, "plain")
    asked(far, "weirage gauging spans", 1)
    vector = np.random.default_rng(3).standard_normal(DIMS).tolist()
    columns = ["id", "text", "vector", "scope"]
    theirs, ours = (each.vector_search(vector, k=12, columns=columns) for each in (local, far))
    assert ours.column_names == theirs.column_names
    assert ours.column("id").to_pylist() == theirs.column("id").to_pylist()
    assert ours.column("_distance").to_pylist() == pytest.approx(
        theirs.column("_distance").to_pylist(), abs=1e-5
    )
    assert ours.schema.field("vector").type == theirs.schema.field("vector").type
    for mine, other in zip(
        ours.column("vector").to_pylist(), theirs.column("vector").to_pylist(), strict=True
    ):
        assert mine == pytest.approx(other, abs=1e-5)
    nothing = far.vector_search([0.0] * DIMS, k=3, columns=columns)
    assert (nothing.num_rows, nothing.column_names) == (0, theirs.column_names)
    mark = len(proxy.passed)
    assert far.vector_search(vector, k=12, columns=["vector"]).num_rows == 12
    assert of_rows(proxy.since(mark)) == []


def test_what_is_told_of_every_candidate_reads_no_row_again(proxy: CountingProxy) -> None:
    """The keyword tree of each looked for its row id in the whole table: a hundred passes over the network."""
    trace = asked(opened(proxy, "plain"), "weirage gauging spans", 1)
    assert len(trace.pool.bm25) > 5
    keyword_tree(trace, next(iter(trace.pool.bm25.values())).row.id)  # words are counted once for a version
    mark = len(proxy.passed)
    trees = [keyword_tree(trace, hit.row.id) for hit in trace.pool.bm25.values()]
    assert all(tree is not None and tree.adds_up for tree in trees)
    assert of_rows(proxy.since(mark)) == []


def test_disagreements_are_found_without_reading_vectors(proxy: CountingProxy, tmp_path: Path) -> None:
    old, newer = (
        "The bastion of the north weir listens on port 8443 for the gauge.",
        "The bastion of the north weir listens on port 2222 for the gauge.",
    )
    table, days = memories(), 86_400_000.0
    words, times, vectors = (table.column(name).to_pylist() for name in ("text", "timestamp", "vector"))
    words[0], times[0], vectors[0] = old, NOW_MS - 40 * days, [1.0] * DIMS
    words[1], times[1], vectors[1] = newer, NOW_MS - 5 * days, [1.0] * (DIMS - 1) + [1.01]
    for name, values in (("text", words), ("timestamp", times), ("vector", vectors)):
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, pa.array(values, table.schema.field(name).type))
    create_own(f"s3://{BUCKET}/told", table, options(proxy.endpoint))
    create_own(tmp_path / "store", table)
    request = RecallRequest("which port has the bastion", recipe="memtui", query_vector=[1.0] * DIMS, limit=5)
    here, there = (
        recall(request, RecallContext(each, NOW_MS, None))
        for each in (open_store(tmp_path / "store"), opened(proxy, "told"))
    )
    mark = len(proxy.passed)
    found = find_disagreements(there)
    assert [(each.recalled, each.newer) for each in found] == [
        (each.recalled, each.newer) for each in find_disagreements(here)
    ]
    assert found, "one is planted"
    assert of_rows(proxy.since(mark)) == []
