"""The built-in memory-lancedb's recorded recalls against the recipe `memory-lancedb`."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

from memtui.engine import RecallRequest
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.store.open import open_store
from tests.conformance.compare import differences
from tests.conformance.recording import clock_of
from tests.conformance.replay import Outcome

TOLERANCE = 1e-5
TABLES = ("builtin-old", "builtin-mixed", "builtin-new")


def compare_builtin(shared: Path, folder: Path) -> list[tuple[str, int, int, dict[str, list[str]]]]:
    """Compare every recorded memory_recall of the three generations of the table."""
    stores = shared / "fixtures" / "stores"
    out = []
    for name in TABLES:
        with tarfile.open(stores / f"{name}.tar.gz") as tar:
            tar.extractall(folder, filter="data")
        store = open_store(folder / name)
        outcome = Outcome()
        recorded = json.loads((stores / "recalls" / f"{name}.json").read_text(encoding="utf-8"))
        now_ms = clock_of(recorded, shared / "fixtures")
        for case in recorded["recall"]:
            outcome.add(
                case["qid"],
                _difference(case, RecallContext(store, now_ms, None), stores / "recalls"),
            )
        out.append((f"recalls, {name}", outcome.cases, outcome.equal, outcome.different))
    return out


def _difference(case: dict[str, Any], bench: RecallContext, vectors: Path) -> str:
    question = np.load(vectors / f"query_vectors_{case['dims']}.npy")[case["vector_index"]]
    request = RecallRequest(
        query=case["query"],
        recipe="memory-lancedb",
        scopes=[case["scope"]] if case.get("scope") else None,
        agent=case.get("agent", ""),
        limit=case["limit"],
        query_vector=question.tolist(),
    )
    trace = recall(request, bench)
    if not trace.proof.recomputed:
        return f"proof: {trace.proof.failures[0]}"
    ours = [(result.id, result.score or 0.0) for result in trace.results]
    theirs = [(result["id"], result["score"]) for result in case["results"]]
    return differences(ours, theirs, TOLERANCE, ties=1e-9)
