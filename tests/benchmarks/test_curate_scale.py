"""Curating a large table: what an edit costs beside the engine's own merge, and what comparing all pairs does.

Processor time within one process, so that a busy machine does not decide.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtui.engine.catalog.build import build_catalog
from memtui.engine.health.near_duplicates import find_near
from memtui.engine.store.open import open_store
from tests.benchmarks.limits import within
from tests.benchmarks.million import NOW_MS, write
from tests.benchmarks.sizes import FULL, sized
from tests.benchmarks.test_catalog_scale import run

ROWS, DIMS = sized(100_000, 1_000_000), sized(64, 384)
ONE_LIMIT, MANY_LIMIT = 2.0, 1.5 if FULL else 4.0
"""Beside the bare merge; of a small table the merge is quick, and the journal is not."""
PAIRS_LIMIT = 4.0
"""Vectors that share nothing but their sign: the worst case, nothing is ruled out early."""
COMPARED = sized(30_000, 100_000)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("curate") / "store"
    run("million.py", str(folder), str(ROWS), str(DIMS))
    found: dict[str, Any] = json.loads(run("curate_million.py", str(folder)))
    print(json.dumps(found, indent=1))
    return found


def test_one_edit_costs_at_most_twice_the_bare_merge(measured: dict[str, Any]) -> None:
    one = measured["one"]
    within(one["apply"] / one["raw_merge"], ONE_LIMIT)


def test_ten_thousand_edits_are_one_version_and_little_more_than_the_bare_merge(
    measured: dict[str, Any],
) -> None:
    many = measured["many"]
    assert set(many["versions"]) == {1}
    within(many["apply"] / many["raw_merge"], MANY_LIMIT)


def test_all_pairs_cost_little_more_than_their_product(tmp_path: Path) -> None:
    write(str(tmp_path / "db"), COMPARED, 128)
    store = open_store(tmp_path / "db")
    catalog = build_catalog(store)
    started = time.process_time()
    near = find_near(store, catalog, now_ms=NOW_MS, floor=0.95, across_scopes=True)
    spent = time.process_time() - started
    vectors = np.random.default_rng(1).random((COMPARED, 128), dtype=np.float32)
    started = time.process_time()
    for row in range(0, COMPARED // 20, 256):
        np.count_nonzero(vectors[row : row + 256] @ vectors.T >= 1e9)
    product = (time.process_time() - started) * 20 / 2
    print({"near": spent, "product": product, "pairs": len(near.left)})
    within(spent / product, PAIRS_LIMIT)
