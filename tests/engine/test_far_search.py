"""A search by meaning that fetches many vectors over the network says so, and says nothing where an index leads it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lancedb.index import IvfFlat

from memtui.engine import Cancelled, CancelToken, RecallRequest
from memtui.engine.recall import StageSummary
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.store import far_vectors
from memtui.engine.store.create import create_own
from memtui.engine.store.far_vectors import FAR_VECTORS
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store
from tests.conftest import NOW_MS
from tests.engine.counting_proxy import counting_proxy
from tests.engine.object_storage import BUCKET, DIMS, object_service, options, rows


def told(store: Store) -> list[str]:
    asked = RecallRequest(query="gauge of the weir", recipe="memtui", query_vector=np.ones(DIMS))
    return [
        each
        for each in recall(asked, RecallContext(store, NOW_MS, None)).warnings
        if "object storage" in each
    ]


@pytest.mark.slow
def test_many_vectors_over_the_network_are_told_until_an_index_leads() -> None:
    with object_service() as endpoint:

        def opened() -> Store:
            return open_store(f"s3://{BUCKET}/team", storage_options=options(endpoint))

        create_own(f"s3://{BUCKET}/team", rows(FAR_VECTORS), options(endpoint))
        store = opened()
        assert told(store) == []
        store.writer().commit(None, rows(1), [])
        (said,) = told(opened())
        assert f"{FAR_VECTORS + 1:,} vectors (2 MB)" in said
        table = opened().pin().table
        table.checkout_latest()
        table.create_index("vector", config=IvfFlat(distance_type="cosine"))
        assert told(opened()) == []


def test_what_a_question_waits_for_is_said_before_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(far_vectors, "FAR_VECTORS", 100)
    asked = RecallRequest(query="gauge of the weir", recipe="memtui", query_vector=np.ones(DIMS))
    with object_service() as endpoint, counting_proxy(endpoint) as proxy:
        create_own(f"s3://{BUCKET}/team", rows(1_000), options(endpoint))
        store = open_store(f"s3://{BUCKET}/team", storage_options=options(proxy.endpoint))
        heard: list[StageSummary] = []
        stop = CancelToken()

        def stopped_as_it_begins(stage: StageSummary) -> None:
            heard.append(stage)
            stop.cancel()

        with pytest.raises(Cancelled):
            recall(asked, RecallContext(store, NOW_MS, None), on_stage=stopped_as_it_begins, cancel=stop)
        (said,) = heard
        assert said.begins
        assert said.note.startswith("fetching 1,000 vectors (0 MB) from object storage, once")
        assert not store.pin().holds_vectors
        heard.clear()
        recall(asked, RecallContext(store, NOW_MS, None), on_stage=heard.append)
        told_of = [each for each in heard if each.begins]
        assert told_of == heard[: len(told_of)]
        assert [each.n_out for each in told_of] == sorted(each.n_out for each in told_of)
        assert {each.n_in for each in told_of} == {1_000}
        assert store.pin().holds_vectors
        heard.clear()
        recall(asked, RecallContext(store, NOW_MS, None), on_stage=heard.append)
        assert not [each for each in heard if each.begins], "they are held"


def test_a_question_that_has_no_vector_waits_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(far_vectors, "FAR_VECTORS", 100)
    with object_service() as endpoint:
        create_own(f"s3://{BUCKET}/team", rows(1_000), options(endpoint))
        store = open_store(f"s3://{BUCKET}/team", storage_options=options(endpoint))
        heard: list[StageSummary] = []
        asked = RecallRequest(query="gauge of the weir", recipe="memtui")
        recall(asked, RecallContext(store, NOW_MS, None), on_stage=heard.append)
        assert heard
        assert not [each for each in heard if each.begins]


def test_a_local_store_says_nothing_of_it(tmp_path: Path) -> None:
    create_own(tmp_path / "store", rows(FAR_VECTORS + 1))
    assert told(open_store(tmp_path / "store")) == []
