"""The walk of a person whose agent misses things: why not, the finding on Health, the remedy, and the answer again."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from lancedb import index

from memtui.engine import RecallRequest, open_engine
from memtui.engine.engine import Engine
from memtui.engine.explain import DROP
from memtui.engine.providers.static_embedder import BUNDLED_DIMS, bundled
from memtui.engine.recall.answer import recall
from memtui.tui.screens.health.screen import HealthScreen
from memtui.tui.screens.whynot.screen import ChangeRows, WhyNotScreen
from tests.engine import planted_faults as planted
from tests.tui.driving import press, screen_text, settle, until
from tests.tui.recalling import recalling

ROWS = 600


def lossy(home: Path) -> Engine:
    """A store with the bundled model's vectors and an index of two bytes a vector, asked without refining."""
    folder = home / "lancedb-pro"
    texts = [planted.text_of(number) for number in range(ROWS)]
    vectors = bundled().embed_passages(texts)
    rows = [planted.memory(n, vector=[float(x) for x in vectors[n]]) for n in range(ROWS)]
    planted.write_store(folder, rows, dims=BUNDLED_DIMS)
    planted.open_table(folder).create_index(
        "vector", config=index.IvfPq(distance_type="cosine", num_partitions=24, num_sub_vectors=2)
    )
    now_ms = time.time_ns() // 1_000_000
    environ = {"HOME": str(home), "MEMTUI_STATE_DIR": str(home / "state")}
    return open_engine(
        folder, now=lambda: now_ms, environ=environ, cwd=home, writable=True, state=home / "state"
    )


def missed(engine: Engine) -> tuple[str, str]:
    """A question, and a memory that it brings with an exact search and not with the index."""
    for number in range(0, ROWS, 7):
        query = f"{planted.SUBJECTS[number % 10]} {planted.THINGS[number // 3 % 7]} {number}"
        trace = engine.recall(RecallRequest(query, recipe="pro/agent"))
        assert trace.request is not None
        assert trace.outside is not None
        request = replace(trace.request, now_ms=trace.now_ms, table_version=trace.table_version)
        exact = recall(request, engine.recall_context(), outside=trace.outside.exactly())
        lost = [each for each in exact.returned if each not in trace.returned]
        if lost:
            return query, lost[0]
    raise AssertionError("an index that loses nothing would prove nothing")


@pytest.mark.slow
async def test_from_a_missed_memory_to_the_mended_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    engine = lossy(tmp_path)
    query, lost = missed(engine)
    async with recalling(engine, (120, 36), query=query) as (app, pilot, asked):
        assert asked.state.trace is not None
        assert lost not in asked.state.trace.returned
        asked.explore.why_not_of(lost)
        await settle(pilot)
        why = app.screen
        assert isinstance(why, WhyNotScreen)
        await until(pilot, lambda: why.state.phase == "done")
        await settle(pilot)
        assert "vector index" in screen_text(app)
        why.query_one(ChangeRows).choose(f"change:{DROP}")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, HealthScreen))
        health = app.screen
        assert isinstance(health, HealthScreen)
        await until(pilot, lambda: health.state.deep and not health.state.looking)
        await settle(pilot)
        assert health.state.cursor == "D11"
        assert "of 100 nearest" in screen_text(app)
        await press(pilot, "f")
        await settle(pilot)
        assert "drop the index vector_idx" in screen_text(app)
        await press(pilot, "enter")
        await until(pilot, lambda: "vector_idx" not in _indexes(tmp_path))
        await settle(pilot)
    again = engine.recall(RecallRequest(query, recipe="pro/agent"))
    assert lost in again.returned
    assert _indexes(tmp_path) == ["text_idx"]
    assert engine.write_state.journal.entries()[0].action == "maintain"


def _indexes(home: Path) -> list[str]:
    return [each.name for each in planted.open_table(home / "lancedb-pro").list_indices()]
