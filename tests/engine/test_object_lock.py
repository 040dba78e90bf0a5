"""The write lock on object storage: one holder at a time, a dead one is taken over, a lost one is noticed."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from memtui.engine.changes.object_lock import OBJECT, ObjectLock
from memtui.engine.changes.owner_lock import LockLostError
from memtui.engine.core.errors import RefusedError
from memtui.engine.store.object_store import FasterError, ObjectFolder
from tests.engine.object_storage import BUCKET, object_service, options


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with object_service() as found:
        yield found


@pytest.fixture
def objects(endpoint: str, request: pytest.FixtureRequest) -> ObjectFolder:
    return ObjectFolder(f"s3://{BUCKET}/{request.node.name.split('[')[0]}", options(endpoint))


def test_an_object_is_written_only_where_nobody_was_faster(objects):
    assert objects.get("note") is None
    first = objects.put("note", b"one", tag=None)
    with pytest.raises(FasterError):
        objects.put("note", b"two", tag=None)
    second = objects.put("note", b"three", tag=first)
    with pytest.raises(FasterError):
        objects.put("note", b"four", tag=first)
    assert objects.get("note") == (b"three", second)


def test_four_writers_hold_it_one_after_another(objects):
    inside, seen = [0], []

    def write() -> None:
        for _ in range(5):
            with ObjectLock(objects, patience_s=60) as lock:
                inside[0] += 1
                seen.append(inside[0])
                lock.check()
                inside[0] -= 1

    writers = [threading.Thread(target=write) for _ in range(4)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert seen == [1] * 20


def test_a_holder_that_stands_still_is_taken_over_and_learns_of_it(objects):
    dead = ObjectLock(objects, heartbeat_s=600)
    with dead, ObjectLock(objects, abandoned_s=0.5), pytest.raises(LockLostError, match="taken over"):
        dead.check()


def test_one_that_is_alive_is_waited_for_and_named(objects):
    with (
        ObjectLock(objects, heartbeat_s=0.1),
        pytest.raises(RefusedError, match=r"process \d+ has been writing"),
        ObjectLock(objects, patience_s=1.0, abandoned_s=0.8),
    ):
        pass


def test_given_back_it_is_free_at_once(objects):
    with ObjectLock(objects):
        pass
    with ObjectLock(objects, patience_s=0.0, abandoned_s=600):
        found = objects.get(OBJECT)
        assert found is not None
        assert b'"held": true' in found[0]
