"""The catalog that an engine holds for all who use it: what one of them reads, cancels or fails takes nothing away."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from memtui.engine import Cancelled, CancelToken, Engine, ListQuery, Progress, lifecycle, open_engine, witness
from memtui.engine.changes import apply, plan_edit
from memtui.engine.health import examine, patient_of
from tests.conftest import NOW_MS
from tests.engine.pro_store import row, write_store

IDS = [f"0b7f3a52-6c1e-4f0a-9d55-{n:012}" for n in range(40)]


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """An open store of which everything has been read, as the app and the server hold one."""
    rows = [
        row(
            id,
            f"Fact number {n} of the bastion",
            (1.0, n / 40),
            timestamp=NOW_MS - n,
            metadata={"tier": "core" if n % 2 else "working"},
        )
        for n, id in enumerate(IDS)
    ]
    folder = write_store(tmp_path / "store", rows, dims=2)
    opened = open_engine(
        folder, now=lambda: NOW_MS, environ={}, cwd=tmp_path, writable=True, state=tmp_path / "state"
    )
    opened.load_catalog()
    opened.load_metadata()
    return opened


def write_elsewhere(engine: Engine) -> None:
    """A newer version, of which this engine knows nothing."""
    with open_engine(
        engine.store.uri,
        now=lambda: NOW_MS,
        environ={},
        cwd=Path("/"),
        writable=True,
        state=Path(engine.store.uri).parent / "b",
    ) as other:
        apply(other, plan_edit(other, [IDS[3]], {"importance": 0.9}))


def board_rows(engine: Engine) -> int:
    """How many memories Lifecycle weighs."""
    return lifecycle.make_board(engine, lifecycle.BoardAsk(), texts=False).rows


READERS: dict[str, Callable[[Engine], object]] = {
    "reach": lambda engine: witness.reach_of(engine, IDS[0], {}, Path("/")),
    "rights": lambda engine: witness.read_rights(engine, {}, Path("/")),
    "leaks": lambda engine: witness.hunt_leaks(
        engine, witness.read_rights(engine, {}, Path("/")), {}, Path("/")
    ),
    "proof": lambda engine: witness.collect_proof(engine, [IDS[0]], {}, Path("/")),
    "subject": lambda engine: witness.find_subject(engine, "bastion"),
    "doctor": lambda engine: examine(patient_of(engine, now_ms=NOW_MS)),
    "catalog": lambda engine: engine.load_catalog(),
}


@pytest.mark.parametrize("newer", [False, True], ids=["same", "newer"])
@pytest.mark.parametrize("name", READERS)
def test_a_reader_leaves_what_was_read(engine: Engine, name: str, newer: bool) -> None:
    if newer:
        write_elsewhere(engine)
        engine.store.refresh()
    READERS[name](engine)
    assert not engine.catalog.metadata_pending
    assert engine.view(ListQuery("tier:core")).total == 20
    assert engine.population.present().traits.n == 40
    assert board_rows(engine) == 40


@pytest.mark.parametrize("step", range(6))
def test_a_reading_cancelled_on_its_way_leaves_what_was_read(engine: Engine, step: int) -> None:
    write_elsewhere(engine)
    token, reports = CancelToken(), []

    def stop(progress: Progress) -> None:
        reports.append(progress)
        if len(reports) > step:
            token.cancel()

    with suppress(Cancelled):
        engine.refresh(stop, token)
    assert not engine.catalog.metadata_pending
    assert board_rows(engine) == 40


def test_whoever_waits_for_a_reading_that_is_cancelled_takes_it_over(tmp_path: Path, engine: Engine) -> None:
    fresh = open_engine(engine.store.uri, now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    fresh.load_catalog()
    token, inside, go = CancelToken(), threading.Event(), threading.Event()
    answers: list[int] = []

    def slow(_: Progress) -> None:
        inside.set()
        go.wait(60)

    def read() -> None:
        with suppress(Cancelled):
            fresh.load_metadata(slow, token)

    def wait() -> None:
        answers.append(board_rows(fresh))

    reader, waiter = threading.Thread(target=read), threading.Thread(target=wait)
    reader.start()
    assert inside.wait(60)
    waiter.start()
    token.cancel()
    go.set()
    reader.join(60)
    waiter.join(60)
    assert answers == [40]


def test_a_filter_by_metadata_that_nobody_reads_reads_it(tmp_path: Path, engine: Engine) -> None:
    fresh = open_engine(engine.store.uri, now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    fresh.load_catalog()
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        fresh.load_metadata(None, token)
    assert fresh.view(ListQuery("tier:core")).total == 20
    assert fresh.view(ListQuery(sort="-tier")).pending == ""
