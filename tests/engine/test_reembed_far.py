"""Another model for a store on object storage: a second table at another address; killed, it goes on."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine import Engine, transfer
from memtui.engine.core.errors import RefusedError
from memtui.engine.providers.static_embedder import BUNDLED, bundled
from memtui.engine.store.create import create_own
from memtui.engine.store.open import open_store
from tests.conftest import NOW_MS, ROOT
from tests.engine.counting_proxy import CountingProxy, counting_proxy
from tests.engine.object_storage import BUCKET, object_service, options, rows
from tests.engine.transfer_stores import rows_of

MANY = 2_000
STORE = f"s3://{BUCKET}/team"
PLACE = f"{STORE}.reembed-{BUNDLED}"

CHILD = """
import sys
from pathlib import Path
from tests.engine.test_reembed_far import PLACE, opened, job
from memtui.engine.providers.static_embedder import bundled
job(opened(sys.argv[1], Path(sys.argv[2]))).make(bundled(), PLACE)
"""


@pytest.fixture
def proxy() -> Iterator[CountingProxy]:
    with object_service() as service, counting_proxy(service) as found:
        create_own(STORE, rows(MANY), options(service))
        yield found


def opened(endpoint: str, state: Path, place: str = STORE) -> Engine:
    store = open_store(place, storage_options=options(endpoint))
    return Engine(store, now=lambda: NOW_MS, environ={}, state=state, writable=True)


def job(engine: Engine) -> transfer.ReembedJob:
    return transfer.reembed_job(engine)


def without_vectors(engine: Engine) -> dict[str, dict[str, object]]:
    return {key: {**row, "vector": None} for key, row in rows_of(engine).items()}


def written(proxy: CountingProxy, mark: int, part: str) -> list[str]:
    return [each.path for each in proxy.since(mark) if each.method in ("PUT", "POST") and part in each.path]


@pytest.mark.slow
def test_killed_while_it_is_sent_it_goes_on_and_sends_nothing_twice(
    proxy: CountingProxy, tmp_path: Path
) -> None:
    proxy.held, proxy.holds = threading.Event(), "/_versions/"
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, proxy.endpoint, str(tmp_path)], cwd=ROOT, stderr=subprocess.DEVNULL
    )
    while not proxy.waiting:
        assert child.poll() is None
        time.sleep(0.02)
    child.kill()
    child.wait()
    proxy.failing = 1.0  # what waits is of the dead one, and must not arrive
    proxy.held.set()
    while not any(each.bytes == 0 and "/_versions/" in each.path for each in proxy.passed):
        time.sleep(0.02)
    proxy.failing, proxy.held = 0.0, None
    assert written(proxy, 0, "team.reembed-static-minilm-256/memories.lance/data/")
    engine = opened(proxy.endpoint, tmp_path)
    again = job(engine)
    assert again.destination(BUNDLED) == PLACE
    before = len(proxy.passed)
    done = again.make(bundled(), PLACE)
    assert written(proxy, before, "/data/") == []
    assert written(proxy, before, "/_versions/")
    assert (done.rows, done.dims, done.folder) == (MANY, 256, PLACE)
    assert without_vectors(opened(proxy.endpoint, tmp_path, PLACE)) == without_vectors(engine)
    before = len(proxy.passed)
    assert again.make(bundled(), PLACE) == done  # there already: verified again
    assert written(proxy, before, "memories.lance") == []
    assert not list(tmp_path.rglob("*.lance"))


def test_something_else_at_the_address_is_left_alone(proxy: CountingProxy, tmp_path: Path) -> None:
    create_own(f"{STORE}-other", rows(3), options(proxy.endpoint))
    engine = opened(proxy.endpoint, tmp_path)
    with pytest.raises(RefusedError, match="holds a table of memories"):
        job(engine).make(bundled(), f"{STORE}-other")
    job(engine).make(bundled(), PLACE)
    engine.store.writer().commit(None, rows(1), [])
    later = opened(proxy.endpoint, tmp_path)
    with pytest.raises(RefusedError, match="the store before the change"):
        job(later).make(bundled(), PLACE)
    with pytest.raises(RefusedError, match="not put in the place of another") as refused:
        job(later).switch(PLACE, confirmed=True)
    assert PLACE in str(refused.value)
