"""The recorded recalls of the real plugin for Hermes, compared in ids, order, numbers and blocks."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import Engine, explain, open_engine
from memtui.engine.core.errors import ConfigError, UsageError
from memtui.engine.recall.request import RecallRequest
from tests.engine.hermes_store import NOW_MS, recorded, unpack
from tests.engine.tables import pro_row, write_table

EXACT = 1e-6


@pytest.fixture(scope="module")
def engine(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return opened(unpack(shared, tmp_path_factory.mktemp("hermes")))


def opened(folder: Path) -> Engine:
    """The store in `folder`, for reading."""
    return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)


def request_of(recall: dict[str, Any], everything: dict[str, Any]) -> RecallRequest:
    """The request that stands for a recorded recall, by the contract of the commands."""
    query = everything["queries"][recall["query"]]
    asked = {"via": "tool" if recall["via"] == "recall" else "prefetch", "user_id": recall["user_id"]}
    asked |= {name: recall[name] for name in ("mode", "kind")}
    workspace = recall["workspace"]
    return RecallRequest(
        query=query["text"],
        recipe="hermes",
        config={"retrieval": everything["settings"][recall["setting"]], "recall": asked},
        scopes=[workspace] if workspace else None,
        category=recall["category"],
        limit=recall["limit"],
        query_vector=query["vector"],
    )


@pytest.mark.parametrize("via", ["recall", "prefetch"])
def test_every_recorded_recall_comes_out_the_same(engine: Engine, shared: Path, via: str) -> None:
    everything = recorded(shared)
    recalls = [each for each in everything["recalls"] if each["via"] == via]
    assert len(recalls) >= 25
    for recall in recalls:
        trace = engine.recall(request_of(recall, everything))
        theirs = recall["results"]
        assert list(trace.returned) == [each["id"] for each in theirs], recall["n"]
        assert trace.proof.recomputed, (recall["n"], trace.proof.failures)
        for ours, row in zip(trace.results, theirs, strict=True):
            assert ours.score == pytest.approx(row["score"], abs=EXACT)
        if "legs" in recall:
            for lane, leg in (("vector", "vector"), ("bm25", "fts")):
                hits = sorted(getattr(trace.pool, lane).values(), key=lambda hit: hit.rank)
                assert [hit.row.id for hit in hits] == [each[0] for each in recall["legs"][leg]]
                for hit, (_, number) in zip(hits, recall["legs"][leg], strict=True):
                    assert hit.score == pytest.approx(number, abs=EXACT)
        if via == "prefetch":
            block = explain.injected(trace).block
            assert sha256(block.encode()).hexdigest() == recall["block"]["sha256"]
