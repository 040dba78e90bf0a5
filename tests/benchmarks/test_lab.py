"""What explaining costs: what-ifs over 200 candidates, the exact rank among 100,000 rows."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from memtui.engine.engine import Engine
from memtui.engine.explain.ranks import ranking_at
from memtui.engine.recall.candidates import Hit
from memtui.engine.recall.context import StageContext
from memtui.engine.recall.io_cache import RerankAnswer
from memtui.engine.recall.lanes import Lane
from memtui.engine.recall.pipeline import pool_of, run_stages
from memtui.engine.recall.recipes.pro.settings import resolve
from memtui.engine.recall.recipes.pro.stages import PRO_STAGES
from memtui.engine.recall.rows import CandidateRow
from memtui.engine.store.open import open_store
from tests.benchmarks.limits import spread_of, within
from tests.engine.pro_store import NOW_MS, schema, write_store

CANDIDATES, DIMS, ROWS = 200, 384, 100_000
PLAIN_LOOP, MOST_LOOPS = 50_000, 2.0
"""What is near 5 ms on a quiet machine, told by a loop in plain Python in the same run."""
MOST_PRODUCTS = 1.5


def cpu_ms(work: Callable[[], Any], times: int) -> float:
    """CPU milliseconds of one call: the least of several, since what else the machine does only adds."""
    work()
    took = []
    for _ in range(times):
        start = time.process_time()
        work()
        took.append((time.process_time() - start) * 1000)
    return min(took)


def test_a_what_if_over_200_candidates_costs_a_few_milliseconds_of_plain_python() -> None:
    rng = np.random.default_rng(1)
    rows = [
        CandidateRow(
            f"{n:08x}",
            "word " * int(rng.integers(5, 150)),
            "global",
            "fact",
            float(rng.random()),
            NOW_MS - int(rng.random() * 1e10),
            json.dumps({"tier": ["core", "working", "peripheral"][n % 3], "access_count": n % 9}),
            rng.standard_normal(DIMS).astype(np.float32),
        )
        for n in range(CANDIDATES)
    ]
    hits = [
        (Hit(r, k, 1 / (1 + k / 200), k / 200, "inverse_distance", {"distance": k / 200}), r)
        for k, r in enumerate(rows, 1)
    ]
    vector = Lane(tuple(hit for hit, _ in hits[:150]), (), "native")
    words = Lane(
        tuple(
            Hit(r, k, 0.99 - k / 500, 5.0, "bm25_logistic", {"raw_bm25": 5.0})
            for k, (_, r) in enumerate(hits[50:], 1)
        ),
        (),
        "fts",
    )
    kin: dict[int, Any] = {}
    question = rng.standard_normal(DIMS)

    def once(hard_min_score: float) -> int:
        block = {"minScore": 0, "hardMinScore": hard_min_score, "rerank": "lightweight"}
        retrieval, decay = resolve({"retrieval": block})
        pool = pool_of(vector, words, NOW_MS, kin)
        setting = StageContext(
            query="a question",
            retrieval=retrieval,
            decay=decay,
            route="hybrid",
            limit=CANDIDATES // 2,
            query_vector=question,
            tags=(),
            vector_lane=vector,
            bm25_lane=words,
            gate_rule=None,
            gate_min_length=15,
            guarded=True,
            ask_reranker=lambda documents, n: RerankAnswer(None),
        )
        records = run_stages(PRO_STAGES, setting, pool, clock=time.perf_counter, table_rows=CANDIDATES)
        assert pool.n == CANDIDATES
        return len(records)

    thresholds = iter(np.linspace(0.1, 0.4, 1000))
    spent = cpu_ms(lambda: once(float(next(thresholds))), 60)
    plain = cpu_ms(lambda: sum(i * i for i in range(PLAIN_LOOP)), 20)
    print(
        f"what-if over {CANDIDATES} candidates: {spent:.2f} ms, {spent / plain:.2f} x a loop of {PLAIN_LOOP:,}"
    )
    within(spent / plain, MOST_LOOPS)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = write_store(tmp_path_factory.mktemp("large") / "store", [], dims=DIMS, fts=False)
    import lancedb

    table = lancedb.connect(folder).open_table("memories")
    rng = np.random.default_rng(2)
    vectors = rng.standard_normal((ROWS, DIMS)).astype(np.float32)
    table.add(
        pa.table(
            {
                "id": [f"{n:08x}-0000-4000-8000-{n:012x}" for n in range(ROWS)],
                "text": ["a memory"] * ROWS,
                "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), DIMS),
                "category": ["fact"] * ROWS,
                "scope": [f"agent:a{n % 20}" for n in range(ROWS)],
                "importance": [0.5] * ROWS,
                "timestamp": [float(NOW_MS)] * ROWS,
                "metadata": ["{}"] * ROWS,
            },
            schema=schema(DIMS),
        )
    )
    return Engine(open_store(Path(folder)), now=lambda: NOW_MS)


def test_the_exact_rank_among_100_000_rows_costs_at_most_one_and_a_half_products(large: Engine) -> None:
    large.load_metadata()
    ranking = ranking_at(large.store, large.store.version, large.catalog)
    considered = ranking.considered(None, NOW_MS)
    question = np.random.default_rng(3).standard_normal(DIMS)
    (block,) = ranking.vectors.blocks()
    at = 12_345
    row_id, vector = int(block.row_ids[at]), block.vectors[at]
    single, wide = question.astype(np.float32), block.vectors.astype(np.float64)
    cosines = wide @ question / np.linalg.norm(wide, axis=1)
    expected = int((cosines > cosines[at]).sum()) + 1
    assert ranking.by_vector(row_id, vector, question, considered).rank == expected
    rank, product = [], []
    for _ in range(25):  # in turns, so that what else the machine does falls on both
        start = time.perf_counter()
        ranking.by_vector(row_id, vector, question, considered)
        middle = time.perf_counter()
        block.vectors @ single
        rank.append(middle - start)
        product.append(time.perf_counter() - middle)
    within(min(rank) / min(product), MOST_PRODUCTS, spread=spread_of(rank))
