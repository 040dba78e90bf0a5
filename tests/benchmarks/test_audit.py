"""Audit's figures: the matrix of a million rows, and the history of a thousand versions, against plain reading."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine import Cancelled, CancelToken, open_engine
from memtui.engine.access import ScopePolicy
from memtui.engine.access.matrix import AgentRow, ScopeCount, build_matrix
from memtui.engine.witness.injections import read_injections
from memtui.engine.witness.rights import count_scopes
from tests.benchmarks import million
from tests.benchmarks.limits import within
from tests.benchmarks.sizes import sized
from tests.engine import pro_store

MATRIX_RATIO = 3.0
HISTORY_RATIO = 2.0
AGENTS, SCOPES = 40, 200


def cpu(work: Callable[[], object], runs: int = 3) -> float:
    """The least processor time of some runs, in seconds."""
    times = []
    for _ in range(runs):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def test_a_matrix_of_forty_agents_by_two_hundred_scopes(tmp_path: Path) -> None:
    million.write(str(tmp_path / "store"), sized(100_000, 1_000_000))
    engine = open_engine(tmp_path / "store", now=lambda: million.NOW_MS, environ={}, cwd=tmp_path)
    lists = {f"a{n}": ["global", *(f"project:p{m}" for m in range(n, 180, 7))] for n in range(AGENTS)}
    access = ScopePolicy.from_config({"agentAccess": lists}, {})
    agents = [AgentRow(name) for name in lists]

    def matrix() -> None:
        engine._catalog = None
        counts = dict(count_scopes(engine))
        for number in range(SCOPES - len(counts)):
            counts[f"project:p{number}"] = ScopeCount()
        assert len(counts) == SCOPES
        assert len(build_matrix(access, agents, counts).cells) == AGENTS * SCOPES

    def columns() -> None:
        """The same columns read once and parsed, without a count."""
        engine._catalog = None
        engine.load_catalog()
        engine.load_metadata()

    matrix()
    made, read = cpu(matrix), cpu(columns)
    print(f"matrix {made:.3f} s, one pass over the columns {read:.3f} s, ratio {made / read:.2f}")
    within(made / read, MATRIX_RATIO)


def test_the_history_of_a_thousand_versions(tmp_path: Path) -> None:
    versions = sized(200, 1_000)
    rows = [pro_store.row(f"id-{n:05d}", f"memory {n}", [1.0, 0.0]) for n in range(5_000)]
    folder = pro_store.write_store(tmp_path / "store", rows, dims=2, fts=False)
    import lancedb

    table = lancedb.connect(folder).open_table("memories")
    for n in range(versions):
        metadata = json.dumps({"last_injected_at": 1_760_000_000_000 + n // 3, "injected_count": 1})
        table.update(where=f"id = 'id-{n:05d}'", values={"metadata": metadata})
    engine = open_engine(folder, now=lambda: million.NOW_MS, environ={}, cwd=tmp_path)
    store = engine.store

    def history() -> int:
        return len(read_injections(store).marks)

    def plain() -> None:
        """The changed rows alone, all of them in one go."""
        changed = [f"id-{n:05d}" for n in range(versions)]
        assert store.pin(store.version).rows_by_id(changed, ["metadata"]).num_rows == versions

    assert history() == versions
    told, read = cpu(history, 2), cpu(plain, 2)
    tracemalloc.start()
    history()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(
        f"history {told:.3f} s, the changed rows alone {read:.3f} s, ratio {told / read:.2f}, peak {peak >> 20} MB"
    )
    within(told / read, HISTORY_RATIO)
    within(peak / 1e6, 67, "MB")
    stopped = CancelToken()
    stopped.cancel()
    with pytest.raises(Cancelled):
        read_injections(store, cancel=stopped)
