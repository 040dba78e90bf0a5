"""Whatever looks at all vectors of a store far away: says before what it fetches, fetches once, stops, is right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtui.engine import Cancelled, CancelToken, Engine, Progress, RecallRequest, transfer
from memtui.engine.catalog.similar import cosines
from memtui.engine.explain.questions import why_not_in
from memtui.engine.explain.radar import find_disagreements
from memtui.engine.health.near_duplicates import find_near
from memtui.engine.recall import store_search
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.store import far_vectors, snapshot, vector_matrix
from memtui.engine.store.create import create_own
from memtui.engine.store.open import open_store
from memtui.engine.transfer.importing.request import ImportRequest
from tests.conftest import NOW_MS
from tests.engine.counting_proxy import CountingProxy, Passed, counting_proxy
from tests.engine.object_storage import BUCKET, DIMS, object_service, options
from tests.engine.test_far_recall import MANY, memories
from tests.engine.transfer_stores import STATIC
from tests.tui.test_far_store import embedded

QUESTION = [1.0, -0.5] + [0.25] * (DIMS - 2)


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with object_service() as endpoint:
        create_own(f"s3://{BUCKET}/team", memories(), options(endpoint))
        yield endpoint


@pytest.fixture
def proxy(service: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[CountingProxy]:
    monkeypatch.setattr(far_vectors, "FAR_VECTORS", 100)
    with counting_proxy(service) as found:
        yield found


@pytest.fixture
def far(proxy: CountingProxy) -> Engine:
    store = open_store(f"s3://{BUCKET}/team", storage_options=options(proxy.endpoint))
    return Engine(store, now=lambda: NOW_MS)


@pytest.fixture
def local(tmp_path: Path) -> Engine:
    create_own(tmp_path / "store", memories())
    return Engine(open_store(tmp_path / "store"), now=lambda: NOW_MS)


def vectors_asked(passed: list[Passed]) -> int:
    """Bytes of the rows' files: of this table hardly anything but vectors is read there in large pieces."""
    return sum(each.bytes for each in passed if ".lance/data/" in each.path)


def likeness(
    engine: Engine, heard: list[Progress] | None = None, cancel: CancelToken | None = None
) -> list[float]:
    vector = np.asarray(QUESTION, np.float32)
    told = None if heard is None else heard.append
    return [float(each) for each in cosines(engine.store.pin(), engine.catalog, vector, told, cancel)]


def test_likeness_is_told_before_it_is_fetched_and_fetched_once(
    proxy: CountingProxy, far: Engine, local: Engine
) -> None:
    heard: list[Progress] = []
    assert likeness(far, heard) == pytest.approx(likeness(local), abs=1e-5)
    assert {each.what for each in heard} == {f"fetching {MANY:,} vectors (0 MB)"}
    assert all(each.fetches for each in heard)
    assert heard[0].done == 0
    mark = len(proxy.passed)
    heard.clear()
    likeness(far, heard)
    assert vectors_asked(proxy.since(mark)) == 0
    assert not heard


def test_what_is_too_much_to_hold_says_so_each_time(
    proxy: CountingProxy, far: Engine, local: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = likeness(local)
    monkeypatch.setattr(vector_matrix, "MOST_BYTES", 1)
    for _ in range(2):
        heard: list[Progress] = []
        assert likeness(far, heard) == pytest.approx(expected, abs=1e-5)
        assert heard
        assert heard[0].what.startswith(f"fetching {MANY:,} vectors")


def test_likeness_can_be_stopped(far: Engine) -> None:
    assert far.catalog.n == MANY
    stop = CancelToken()
    stop.cancel()
    with pytest.raises(Cancelled):
        likeness(far, [], stop)
    assert not far.store.pin().holds_vectors


def test_near_pairs_are_those_of_a_store_on_this_machine(far: Engine, local: Engine) -> None:
    heard: list[Progress] = []
    ours, theirs = (
        find_near(each.store, each.catalog, now_ms=NOW_MS, floor=0.9, on_progress=heard.append)
        for each in (far, local)
    )
    assert any(each.fetches for each in heard)
    pairs = [sorted(zip(each.left.tolist(), each.right.tolist(), strict=True)) for each in (ours, theirs)]
    assert pairs[0] == pairs[1]
    assert pairs[0]


def test_an_import_says_what_it_fetches_to_look_for_near_copies(
    service: str, proxy: CountingProxy, tmp_path: Path
) -> None:
    create_own(f"s3://{BUCKET}/notes", embedded(150), options(service))
    store = open_store(f"s3://{BUCKET}/notes", storage_options=options(proxy.endpoint))
    engine = Engine(store, now=lambda: NOW_MS, state=tmp_path / "state", embedding=STATIC)
    (tmp_path / "MEMORY.md").write_text("# Memory\n\n- The kiln is fired on Mondays.\n", "utf-8")
    heard: list[Progress] = []
    transfer.plan_import(engine, ImportRequest((tmp_path / "MEMORY.md",)), heard.append).close()
    said = [each for each in heard if "near copies" in each.what]
    assert said[0].what == "fetching 150 vectors (0 MB), looking for near copies"
    assert [said[0].done, said[-1].done] == [0, 150]


def test_a_rank_says_what_it_fetches_and_is_right(far: Engine, local: Engine) -> None:
    verdicts, heard = [], list[Progress]()
    for engine in (far, local):
        request = RecallRequest("weirage gauging spans", recipe="memtui", query_vector=QUESTION, limit=3)
        trace = engine.recall(request)
        lost = engine.catalog.ids.texts([MANY // 2])[0]
        assert lost is not None
        told = heard.append if engine is far else None
        verdicts.append(why_not_in(engine, trace, lost, changes=False, on_progress=told))
    assert verdicts[0].sentence == verdicts[1].sentence
    assert not heard, "the question has fetched them"


def test_a_rank_after_words_alone_says_that_it_fetches(far: Engine) -> None:
    trace = far.recall(RecallRequest("weirage", recipe="memtui", query_vector=QUESTION, limit=3))
    other = open_store(far.store.uri, storage_options=far.store.reached_with)
    fresh = Engine(other, now=lambda: NOW_MS)
    lost = fresh.catalog.ids.texts([MANY // 2])[0]
    assert lost is not None
    heard: list[Progress] = []
    why_not_in(fresh, trace, lost, changes=False, on_progress=heard.append)
    assert heard
    assert heard[0].what == f"fetching {MANY:,} vectors (0 MB)"


def test_a_search_of_what_no_memory_holds_is_right_and_can_be_stopped(
    proxy: CountingProxy, far: Engine, local: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = RecallRequest("weirage gauging spans", recipe="memtui", query_vector=QUESTION, limit=10)
    expected = recall(request, RecallContext(local.store, NOW_MS, None))
    monkeypatch.setattr(vector_matrix, "MOST_BYTES", 1)
    monkeypatch.setattr(snapshot, "PASS", 100)
    found = recall(request, RecallContext(far.store, NOW_MS, None))
    assert found.returned == expected.returned
    assert [each.score for each in found.results] == pytest.approx(
        [each.score for each in expected.results], abs=1e-5
    )
    assert find_disagreements(found) == (), "each look would fetch all of them"

    class Later(CancelToken):
        """Says stop at its third question after the search has begun."""

        left: int | None = None

        def check(self) -> None:
            if self.left is not None:
                self.left -= 1
                if not self.left:
                    self.cancel()
            super().check()

    stop = Later()
    passes = store_search.nearest

    def begun(*args: Any, **named: Any) -> Any:
        stop.left = 3
        return passes(*args, **named)

    monkeypatch.setattr(store_search, "nearest", begun)
    with pytest.raises(Cancelled):
        recall(request, RecallContext(far.store, NOW_MS, None), cancel=stop)
    assert stop.left == 0, "in the middle of the pass"
    monkeypatch.setattr(store_search, "nearest", passes)
    again = recall(request, RecallContext(far.store, NOW_MS, None))
    assert again.returned == expected.returned
