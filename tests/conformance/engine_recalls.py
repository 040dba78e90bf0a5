"""openclaw-mem-engine's recorded recalls on its own table against the recipe `mem-engine`."""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from memtui.engine import RecallRequest, Trace
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.recipes.mem_engine.searches import tier_lanes
from memtui.engine.store.open import open_store
from tests.conformance.compare import differences
from tests.conformance.engine_cases import engine_cases
from tests.conformance.functions import same
from tests.conformance.recording import clock_of
from tests.conformance.replay import Outcome

LANE, FUSED = 1e-5, 1e-12
RECEIPTS = {"receipts": {"verbosity": "high", "maxItems": 10}}
PROFILES: Mapping[str, Any] = {
    "P1": RECEIPTS,
    "P2": {
        **RECEIPTS,
        "scopePolicy": {"fallbackScopes": ["personal", "global"]},
        "autoRecall": {"maxItems": 5},
    },
    "P3": {
        **RECEIPTS,
        "autoRecall": {"selectionMode": "tier_quota_v1", "maxItems": 5},
        "budget": {"maxChars": 600},
    },
}
OTHER_WORDS = "another full-text search in the newer engine"
Row = tuple[str, int, int, dict[str, list[str]]]


class Engine:
    """The recorded table, recalls and question vectors."""

    def __init__(self, shared: Path, folder: Path) -> None:
        stores = shared / "fixtures" / "stores"
        with tarfile.open(stores / "engine.tar.gz") as tar:
            tar.extractall(folder, filter="data")
        self.store = open_store(folder / "engine")
        with gzip.open(stores / "recalls" / "engine.json.gz", "rt", encoding="utf-8") as file:
            self.recorded: dict[str, Any] = json.load(file)
        self.now_ms = clock_of(self.recorded, shared / "fixtures")
        self.vectors = np.load(stores / "recalls" / "query_vectors_1536.npy")
        self.cases: list[dict[str, Any]] = [*self.recorded["recall"], *self.recorded["auto_recall"]]

    def vector(self, case: Mapping[str, Any]) -> list[float] | None:
        index = case["vector_index"]
        return None if index is None else [float(x) for x in self.vectors[index]]

    def recall(self, case: Mapping[str, Any], *, recorded: bool) -> Trace:
        """The recall again; with `recorded` the hits of its searches are the recorded ones."""
        hook = "prompt" in case
        args = {} if hook else case["args"]
        lanes: dict[str, list[list[Any]]] = {"bm25": []}
        if case["vector_index"] is not None:
            lanes["vector"] = []
        for lane in case["lanes"] or []:
            lanes["bm25" if lane["lane"] == "fts" else "vector"] += [hit[:2] for hit in lane["hits"]]
        request = RecallRequest(
            query=case["prompt"] if hook else args["query"],
            recipe="mem-engine",
            source="auto-recall" if hook else None,
            config={"memEngine": PROFILES[case["profile"]]},
            scopes=[args["scope"]] if args.get("scope") else None,
            limit=args.get("limit"),
            query_vector=self.vector(case),
            lanes=lanes if recorded else None,
        )
        return recall(request, RecallContext(self.store, self.now_ms, None))

    def lane(self, case: Mapping[str, Any], lane: Mapping[str, Any]) -> list[tuple[str, float]]:
        """One recorded search again: (id, score)."""
        question = case.get("prompt") or case["args"]["query"]
        outside = RecallContext(self.store, self.now_ms, None).outside()
        vector = self.vector(case)
        found = tier_lanes(
            outside,
            question,
            None if vector is None else np.array(vector),
            scope=lane["scope"],
            wanted=lane["labels"],
            limit=lane["limit"],
        )
        hits = found.words if lane["lane"] == "fts" else found.vector
        return [(hit.row.id, hit.score) for hit in hits]


def compare_engine(shared: Path, folder: Path) -> list[Row]:
    """Golden rules, both kinds of searches, and every recall with the recorded word hits."""
    engine = Engine(shared, folder)
    out = [_golden(shared)]
    for name, title in (("vector", "vector searches"), ("fts", "word searches, members")):
        outcome = Outcome()
        for case in engine.cases:
            for at, lane in enumerate(case["lanes"] or []):
                if lane["lane"] == name:
                    outcome.add(f"{case['qid']} {at}", _lane(engine, case, lane))
        out.append(_row(f"mem-engine {title}", outcome))
    for title, kind in (("memory_recall", "recall"), ("hook", "auto_recall")):
        outcome = Outcome()
        for case in engine.recorded[kind]:
            trace = engine.recall(case, recorded=True)
            outcome.add(case["qid"], _tool(trace, case) if kind == "recall" else _hook(trace, case))
        out.append(_row(f"mem-engine {title}", outcome))
    return out


def _row(name: str, outcome: Outcome) -> Row:
    return name, outcome.cases, outcome.equal, outcome.different


def _golden(shared: Path) -> Row:
    file = shared / "fixtures" / "mem-engine" / "golden.json"
    outcome = Outcome()
    for _, case, ours, theirs in engine_cases(json.loads(file.read_text(encoding="utf-8"))["cases"]):
        outcome.add(case, "" if same(ours, theirs) else f"{ours!r} against {theirs!r}")
    return _row("mem-engine golden cases", outcome)


def _lane(engine: Engine, case: Mapping[str, Any], lane: Mapping[str, Any]) -> str:
    ours = engine.lane(case, lane)
    theirs = [(hit[0], hit[1]) for hit in lane["hits"]]
    if lane["lane"] == "fts":
        return "" if {i for i, _ in ours} == {i for i, _ in theirs} else OTHER_WORDS
    return differences(ours, theirs, LANE, ties=1e-6)


def _tool(trace: Trace, case: Mapping[str, Any]) -> str:
    details = case["details"]
    ours = [(result.id, result.score or 0.0) for result in trace.results]
    theirs = [(memory["id"], memory["score"]) for memory in details["memories"]]
    return (
        _proof(trace)
        or differences(ours, theirs, FUSED, ties=FUSED)
        or _receipt(trace.extra["receipt"], details["receipt"])
    )


def _hook(trace: Trace, case: Mapping[str, Any]) -> str:
    theirs = case["receipt"]
    return _proof(trace) or _receipt(trace.extra["receipt"], theirs) or _block(trace, case)


def _proof(trace: Trace) -> str:
    return "" if trace.proof.recomputed else f"proof: {trace.proof.failures[0]}"


def _receipt(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """Every field of the recorded receipt that a recall decides (no times, paths, document searches)."""
    left_out = {"dbPath", "tableName", "model", "latencyMs", "coldLane"}
    for key, value in theirs.items():
        if key in left_out:
            continue
        mine = ours.get(key)
        if key == "lifecycle":
            if why := _receipt(mine or {}, value):
                return why
        elif not same(mine, value):
            return f"receipt {key}: {str(mine)[:120]} against {str(value)[:120]}"
    return ""


def _block(trace: Trace, case: Mapping[str, Any]) -> str:
    ours = trace.extra.get("injected", {}).get("text")
    return "" if ours == case["prependContext"] else "another block"
