"""What is decided after the plan was made is written as decided: every row that is taken gets a real vector."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from memtui.engine import transfer
from memtui.engine.providers.static_embedder import bundled
from tests.engine.transfer_stores import jsonl, memory, opened, own_store, planned, rows_of


def _source(path: Path) -> Path:
    rows = [
        memory(1, "The bastion listens on port 4444 now."),
        memory(5, "A quite new thing about kilns."),
    ]
    names = ("id", "text", "category", "scope", "importance", "timestamp", "metadata")
    return jsonl(path, [{name: row[name] for name in names} for row in rows])


def test_a_conflict_that_is_decided_later_gets_a_vector(tmp_path: Path) -> None:
    engine = opened(
        own_store(tmp_path / "store", [memory(1, "The bastion listens on port 2222 today.")]),
        tmp_path / "state",
    )
    plan = planned(engine, _source(tmp_path / "rows.jsonl"))
    assert plan.near_looked_for
    assert plan.counts["conflict"] == 1
    plan = plan.decided(replace(plan.request, choices={0: "both"}))
    transfer.run_import(engine, plan)
    plan.close()
    found = {row["text"]: np.frombuffer(row["vector"], dtype="<f4") for row in rows_of(engine).values()}
    assert len(found) == 3
    for text, vector in found.items():
        np.testing.assert_allclose(vector, bundled().embed_passages([text])[0], atol=1e-6)
