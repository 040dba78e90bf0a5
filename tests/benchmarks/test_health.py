"""What the doctor costs beside what has to be paid anyway: opening a store, and reading its vectors once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from memtui.engine import Engine, open_engine
from memtui.engine.health.check import Cost
from memtui.engine.health.doctor import examine, patient_of
from memtui.engine.health.vector_pass import BATCH_BYTES, read_vectors
from tests.benchmarks.limits import within
from tests.benchmarks.million import write
from tests.benchmarks.sizes import sized

ROWS = sized(200_000, 1_000_000)
VECTORS, DIMS = sized(60_000, 400_000), 256


def spent(work: Callable[[], object]) -> float:
    """Processor time of all threads of this process, in seconds: what else runs on the machine does not count."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = tmp_path_factory.mktemp("wide")
    write(str(folder), VECTORS, DIMS)
    return opened(folder)


def opened(folder: Path) -> Engine:
    return open_engine(folder, now=lambda: time.time_ns() // 1_000_000, environ={}, cwd=folder)


FACTS: tuple[Cost, ...] = ("facts",)


def open_whole(engine: Engine) -> None:
    engine.load_catalog()
    engine.load_metadata()


def test_facts_cost_little_of_opening(tmp_path: Path) -> None:
    write(str(tmp_path), ROWS)
    examine(patient_of(opened(tmp_path), now_ms=1), passes=FACTS)  # what is imported once is not counted
    engine = opened(tmp_path)
    opening = spent(lambda: open_whole(engine))
    facts = min(
        spent(lambda: examine(patient_of(engine, now_ms=time.time_ns() // 1_000_000), passes=FACTS))
        for _ in range(3)
    )
    print(
        f"\n{ROWS:,} rows: facts {facts * 1000:.0f} ms, opening {opening * 1000:.0f} ms, {facts / opening:.1%}"
    )
    within(facts / opening, 0.05)


def test_the_vectors_pass_is_little_more_than_one_pass_of_numpy(wide: Engine) -> None:
    store = wide.store
    column = str(store.dialect.columns.vector)
    size = int(min(65_536, max(512, BATCH_BYTES // (4 * DIMS))))

    def once() -> None:
        """Reading the column and asking each vector whether it is finite, and how long it is."""
        total = 0.0
        for batch in store.pin().scan([column], with_row_id=True, batch_size=size):
            vectors = batch.column(column).flatten().to_numpy(zero_copy_only=False).reshape(-1, DIMS)
            total += float(np.linalg.norm(vectors, axis=1).sum()) + np.isfinite(vectors).all(axis=1).sum()
        assert np.isfinite(total)

    read_vectors(store)
    once()
    numpy = min(spent(once) for _ in range(3))
    ours = min(spent(lambda: read_vectors(store)) for _ in range(3))
    print(
        f"\n{VECTORS:,} x {DIMS}: pass {ours * 1000:.0f} ms, numpy {numpy * 1000:.0f} ms, {ours / numpy:.2f}"
    )
    within(ours / numpy, 1.5)
