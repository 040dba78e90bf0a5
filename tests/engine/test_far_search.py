"""A search by meaning that fetches many vectors over the network says so, and says nothing where an index leads it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lancedb.index import IvfFlat

from memtui.engine import RecallRequest
from memtui.engine.recall.answer import FAR_VECTORS, recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.store.create import create_own
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store
from tests.conftest import NOW_MS
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


def test_a_local_store_says_nothing_of_it(tmp_path: Path) -> None:
    create_own(tmp_path / "store", rows(FAR_VECTORS + 1))
    assert told(open_store(tmp_path / "store")) == []
