"""The vectors of a store far away: a program that starts again does not fetch them, and nobody else can read them."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from memtui.engine import Cancelled, CancelToken, Engine, RecallRequest, changes
from memtui.engine.store import kept_vectors
from memtui.engine.store.create import create_own
from memtui.engine.store.far_vectors import all_vectors
from memtui.engine.store.kept_vectors import kept_file, kept_folder, kept_vector_bytes
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store
from tests.conftest import NOW_MS, thinned
from tests.engine.counting_proxy import CountingProxy, counting_proxy
from tests.engine.object_storage import BUCKET, DIMS, object_service, options, rows

MANY = 3_000
WHOLE = 4 * MANY * DIMS


@pytest.fixture
def proxy() -> Iterator[CountingProxy]:
    with object_service() as endpoint, counting_proxy(endpoint) as found:
        create_own(f"s3://{BUCKET}/team", rows(MANY), options(endpoint))
        yield found


def opened(proxy: CountingProxy, state: Path, name: str = "team", **more: str) -> Engine:
    store = open_store(f"s3://{BUCKET}/{name}", storage_options={**options(proxy.endpoint), **more})
    return Engine(store, now=lambda: NOW_MS, state=state, writable=True)


def changed(engine: Engine) -> Any:
    """The table, as another program changes it."""
    table = engine.store.pin().table
    table.checkout_latest()
    return table


def nearest(engine: Engine, seed: int = 1) -> tuple[list[int], list[float]]:
    found = engine.store.pin().nearest(np.random.default_rng(seed).standard_normal(DIMS).tolist(), k=20)
    return found.row_ids.tolist(), found.distances.tolist()


def spent(proxy: CountingProxy, mark: int) -> int:
    return sum(each.bytes for each in proxy.since(mark))


def test_the_next_program_fetches_no_vector(proxy: CountingProxy, tmp_path: Path) -> None:
    mark = len(proxy.passed)
    first = nearest(opened(proxy, tmp_path))
    assert spent(proxy, mark) > WHOLE
    again = opened(proxy, tmp_path)
    assert again.store.pin().holds_vectors
    assert again.store.pin().unread_vectors == 0
    mark = len(proxy.passed)
    assert nearest(again) == first
    assert proxy.since(mark) == []


@pytest.mark.parametrize("what", thinned(["edited", "added", "removed", "folded"], 3))
def test_the_next_version_fetches_what_it_wrote(proxy: CountingProxy, tmp_path: Path, what: str) -> None:
    nearest(opened(proxy, tmp_path))
    table = changed(opened(proxy, tmp_path))
    if what == "edited":
        vector = [1.0] + [0.0] * (DIMS - 1)
        table.update(where="id LIKE '00000007-%'", values={"vector": vector})
    elif what == "added":
        table.add(rows(3))
    elif what == "removed":
        table.delete("id LIKE '0000001%'")
    else:
        table.delete("id LIKE '0000001%'")
        table.optimize()
    later = opened(proxy, tmp_path)
    assert not later.store.pin().holds_vectors
    mark = len(proxy.passed)
    found = nearest(later)
    if what != "folded":  # there all rows lie in other files
        assert spent(proxy, mark) < WHOLE / 4
    assert found == nearest(opened(proxy, tmp_path / "nothing kept"))
    assert opened(proxy, tmp_path).store.pin().holds_vectors


def test_the_file_is_the_persons_alone_and_stays_small(
    proxy: CountingProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nearest(opened(proxy, tmp_path))
    file = kept_file(tmp_path, f"s3://{BUCKET}/team", "memories")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept_folder(tmp_path).stat().st_mode) == 0o700
    assert WHOLE < kept_vector_bytes(tmp_path) < 2 * WHOLE
    create_own(f"s3://{BUCKET}/other", rows(MANY), options(proxy.endpoint))
    monkeypatch.setattr(kept_vectors, "MOST_BYTES", int(1.5 * kept_vector_bytes(tmp_path)))
    nearest(opened(proxy, tmp_path, "other"))
    assert list(kept_folder(tmp_path).iterdir()) == [
        kept_file(tmp_path, f"s3://{BUCKET}/other", "memories")
    ], "the one that was not asked for the longest goes"


def test_a_profile_may_say_that_nothing_is_kept(proxy: CountingProxy, tmp_path: Path) -> None:
    nearest(opened(proxy, tmp_path, keep_vectors="false"))
    assert kept_vector_bytes(tmp_path) == 0


def test_a_file_that_cannot_be_read_or_written_is_as_good_as_none(
    proxy: CountingProxy, tmp_path: Path
) -> None:
    first = nearest(opened(proxy, tmp_path))
    file = kept_file(tmp_path, f"s3://{BUCKET}/team", "memories")
    for spoilt in (b"", b"ARROW1 and no more", file.read_bytes()[:-100]):
        file.write_bytes(spoilt)
        assert nearest(opened(proxy, tmp_path)) == first
        assert opened(proxy, tmp_path).store.pin().holds_vectors, "it is written anew"
    (tmp_path / "in the way").mkdir()
    (tmp_path / "in the way" / "vectors").write_text("a file, no folder")
    assert nearest(opened(proxy, tmp_path / "in the way")) == first


def test_a_table_made_anew_under_the_same_number_is_read_anew(proxy: CountingProxy, tmp_path: Path) -> None:
    nearest(opened(proxy, tmp_path))
    other = rows(MANY)
    turned = pa.array(-other.column("vector").combine_chunks().flatten().to_numpy())
    other = other.set_column(
        other.schema.get_field_index("vector"), "vector", pa.FixedSizeListArray.from_arrays(turned, DIMS)
    )
    proxy_store: Store = opened(proxy, tmp_path).store
    proxy_store._connection.drop_table("memories")
    create_own(f"s3://{BUCKET}/team", other.cast(rows(1).schema), options(proxy.endpoint))
    anew = opened(proxy, tmp_path)
    assert not anew.store.pin().holds_vectors
    assert nearest(anew) == nearest(opened(proxy, tmp_path / "nothing kept"))


def test_what_is_forgotten_with_every_trace_is_kept_nowhere(proxy: CountingProxy, tmp_path: Path) -> None:
    engine = opened(proxy, tmp_path)
    nearest(engine)
    assert kept_vector_bytes(tmp_path)
    gone = engine.catalog.ids.texts([5])[0]
    assert gone is not None
    planned = changes.plan_forget(engine, [gone], hard=True, shrink=True)
    changes.apply(engine, planned, confirmed=True)
    assert kept_vector_bytes(tmp_path) == 0


def test_reading_that_is_stopped_keeps_nothing(proxy: CountingProxy, tmp_path: Path) -> None:
    engine, stop = opened(proxy, tmp_path), CancelToken()
    stop.cancel()
    with pytest.raises(Cancelled):
        all_vectors(engine.store.pin(), None, stop)
    assert kept_vector_bytes(tmp_path) == 0


def test_an_older_version_that_is_looked_at_is_not_kept(proxy: CountingProxy, tmp_path: Path) -> None:
    engine = opened(proxy, tmp_path)
    before = engine.store.version
    changed(engine).add(rows(3))
    assert engine.store.refresh()
    nearest(engine)
    asked = RecallRequest("gauge", recipe="memtui", query_vector=[1.0] * DIMS, table_version=before)
    assert engine.recall(asked).table_version == before
    assert opened(proxy, tmp_path).store.pin().holds_vectors
