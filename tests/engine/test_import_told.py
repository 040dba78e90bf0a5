"""What an import says when the disk of memtui's state is full, or when it is stopped: true, or that it is not known."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import changes, transfer
from memtui.engine.core.errors import MemtuiError
from tests.engine.test_curate_bad import small_disk  # noqa: F401 - a fixture
from tests.engine.test_transfer_run import MANY, _source
from tests.engine.transfer_stores import imported, jsonl, memory, opened, own_store, planned, rows_of

FEW = 60


@pytest.mark.slow
@pytest.mark.parametrize("count", [FEW, MANY])
def test_whenever_the_state_disk_is_full_what_an_import_says_is_true(
    small_disk: Path,  # noqa: F811
    tmp_path: Path,
    count: int,
) -> None:
    folder = own_store(tmp_path / "store", [memory(9_999, "Here before.")])
    engine = opened(folder, small_disk / "state")
    imported(engine, _source(tmp_path / "one.jsonl", 1), find_near=False)
    seen = set()
    for at, left in enumerate((*range(0, 130_000, 16_384), 400_000, 3_000_000)):
        rows = [memory((at + 1) * 10_000 + n, f"Memory {n} of kiln {at}.") for n in range(count)]
        source = jsonl(tmp_path / f"rows-{at}.jsonl", rows)
        plan = planned(engine, source, find_near=False)
        ballast = small_disk / "ballast"
        free = os.statvfs(small_disk).f_bavail * 4096
        ballast.write_bytes(bytes(max(0, free - left)))
        before = len(rows_of(engine))
        try:
            transfer.run_import(engine, plan, confirmed=True)
            told = "done"
        except MemtuiError as error:
            told = str(error)
        ballast.unlink()
        plan.close()
        engine.refresh()
        came = len(rows_of(engine)) - before
        assert came in (0, count)
        if came:
            assert told == "done" or "is made" in told or "not known" in told, told
        else:
            assert "othing was changed" in told or "not known" in told, told
        seen.add((bool(came), told == "done"))
        for cut in changes.find_interrupted(engine):
            changes.finish_entry(engine, cut.entry.entry)
        engine.refresh()
    assert {(False, False), (True, True)} <= seen


def test_a_lock_that_is_lost_while_the_rows_are_written_is_told_and_no_failure(tmp_path: Path) -> None:
    """Somebody takes the lock away between the commit and the last look at it: the memories are in."""
    engine = opened(own_store(tmp_path / "store"), tmp_path / "state")
    journal = engine.write_state.journal
    completed = journal.applied

    def complete_and_lose(*args: Any, **more: Any) -> None:
        completed(*args, **more)
        for place in (tmp_path / "store", tmp_path / "state"):
            for lock in sorted(place.rglob("*lock*"), reverse=True):
                lock.rmdir() if lock.is_dir() else lock.unlink()

    journal.applied = complete_and_lose  # type: ignore[method-assign]
    done = imported(engine, _source(tmp_path / "rows.jsonl", MANY), find_near=False)
    assert (done.added, len(rows_of(engine))) == (MANY, MANY)
    assert "The change is there all the same." in " ".join(done.warnings)


STOPS = (0.0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.4, 3.0)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", STOPS)
def test_a_stopped_import_is_there_whole_or_not_and_the_journal_says_which(
    tmp_path: Path, seconds: float
) -> None:
    own_store(tmp_path / "store")
    source = _source(tmp_path / "rows.jsonl", MANY)
    environment = {
        **os.environ,
        **{f"XDG_{each}_HOME": str(tmp_path / each) for each in ("STATE", "DATA", "CACHE", "CONFIG")},
        "HOME": str(tmp_path),
    }
    program = [sys.executable, "-m", "memtui"]
    store = ["--store", str(tmp_path / "store")]
    running = subprocess.Popen(
        [*program, "import", str(source), "--yes", "--no-find-near", *store],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(1 + seconds)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    listed = subprocess.run(
        [*program, "journal", *store], env=environment, capture_output=True, text=True, check=False
    )
    engine = opened(tmp_path / "store", tmp_path / "other")
    came = len(rows_of(engine))
    assert came in (0, MANY)
    if running.returncode == 0 or f"{MANY:,} added" in out:  # stopped when all was said
        assert came == MANY
    else:
        assert "memtui journal" in err, (out, err)
        assert "othing was" not in err
        if came:
            assert f"{MANY:,}" in listed.stdout + listed.stderr, (listed.stdout, listed.stderr)
