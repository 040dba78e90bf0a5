"""The write lock of memory-lancedb-pro, held and respected as its own programs do."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from memtui.engine.changes import owner_lock as lock_module
from memtui.engine.changes.owner_lock import HELD, TARGET, FileLock, LockLostError, lock_state
from memtui.engine.changes.process_lock import ProcessLock
from memtui.engine.core.errors import RefusedError
from tests.conftest import ROOT


class Clock:
    """A clock that moves only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = time.time()
        self.sleeps: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds


def held_by_another(folder: Path, *, silent_s: float = 0.0) -> Path:
    """The lock as another program left it `silent_s` seconds ago."""
    held = folder / HELD
    held.mkdir()
    stamp = time.time() - silent_s
    os.utime(held, (stamp, stamp))
    return held


def test_it_is_there_while_held_and_gone_after(tmp_path: Path) -> None:
    with FileLock(tmp_path):
        assert (tmp_path / HELD).is_dir()
        assert (tmp_path / TARGET).read_bytes() == b""
        assert lock_state(tmp_path, time.time()).phrase == "held"
    assert not (tmp_path / HELD).exists()
    assert (tmp_path / TARGET).exists()
    assert lock_state(tmp_path, time.time()).phrase == "free"


def test_a_living_holder_is_waited_for(tmp_path: Path) -> None:
    held = held_by_another(tmp_path)
    left = threading.Event()

    def leave() -> None:
        left.set()
        held.rmdir()

    threading.Timer(0.4, leave).start()
    with FileLock(tmp_path):
        assert left.is_set()


def test_a_living_holder_is_not_waited_for_without_end(tmp_path: Path) -> None:
    held = held_by_another(tmp_path)
    clock = Clock()

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        os.utime(held, (clock.now, clock.now))

    with (
        pytest.raises(RefusedError, match="has been writing"),
        FileLock(tmp_path, patience_s=60, clock=clock, sleep=sleep),
    ):
        pass
    assert held.is_dir()
    assert 60 <= sum(clock.sleeps) < 62


def test_a_silent_lock_is_never_removed_unasked(tmp_path: Path) -> None:
    held = held_by_another(tmp_path, silent_s=12)
    clock = Clock()
    assert lock_state(tmp_path, clock.now).stale
    with (
        pytest.raises(RefusedError, match="silent for") as refused,
        FileLock(tmp_path, clock=clock, sleep=clock.sleep),
    ):
        pass
    assert "memtui doctor --fix D34 --yes" in refused.value.fix
    assert held.is_dir()
    assert sum(clock.sleeps) >= 30, "the agent's program may only be busy: it is watched for half a minute"


def test_a_silent_lock_is_removed_when_a_person_says_so(tmp_path: Path) -> None:
    held_by_another(tmp_path, silent_s=31)
    with FileLock(tmp_path, remove_abandoned=True):
        assert not lock_state(tmp_path, time.time()).stale
    assert not (tmp_path / HELD).exists()


def test_a_young_lock_is_not_removed_even_then(tmp_path: Path) -> None:
    held = held_by_another(tmp_path, silent_s=3)
    threading.Timer(0.3, held.rmdir).start()
    with FileLock(tmp_path, remove_abandoned=True):
        pass


def test_the_heartbeat_keeps_it_young(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock_module, "HEARTBEAT_S", 0.05)
    with FileLock(tmp_path) as lock:
        first = (tmp_path / HELD).stat().st_mtime_ns
        while (tmp_path / HELD).stat().st_mtime_ns == first:
            time.sleep(0.01)
        assert (tmp_path / HELD).stat().st_mtime_ns > first
        lock.check()


def test_a_foreign_touch_means_that_it_is_lost(tmp_path: Path) -> None:
    with FileLock(tmp_path) as lock:
        os.utime(tmp_path / HELD, (1_700_000_000, 1_700_000_000))
        with pytest.raises(LockLostError):
            lock.check()
    assert (tmp_path / HELD).is_dir(), "it is another program's now"


def test_a_lock_that_went_away_is_lost(tmp_path: Path) -> None:
    with FileLock(tmp_path) as lock:
        (tmp_path / HELD).rmdir()
        with pytest.raises(LockLostError):
            lock.check()


def test_a_waiting_agent_gets_a_gap(tmp_path: Path) -> None:
    clock = Clock()
    lock = FileLock(tmp_path, clock=clock, sleep=clock.sleep)
    with lock:
        pass
    with lock:
        pass
    assert sum(clock.sleeps) >= 0.049


def test_what_a_killed_memtui_left_is_taken_over_at_once(tmp_path: Path) -> None:
    note = tmp_path / "journal.lock"
    script = (
        "import os, sys, pathlib; from memtui.engine.changes.owner_lock import FileLock\n"
        "lock = FileLock(pathlib.Path(sys.argv[1]), note=pathlib.Path(sys.argv[2]))\n"
        "lock.__enter__(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path, note], cwd=ROOT, check=False)
    assert (tmp_path / HELD).is_dir()
    clock = Clock()
    with FileLock(tmp_path, note=note, clock=clock, sleep=clock.sleep):
        assert clock.sleeps == []


_TAKES_AND_LEAVES = """
import os, sys, pathlib
from memtui.engine.changes import owner_lock
owner_lock.HEARTBEAT_S = 0.002
folder = pathlib.Path(sys.argv[1])
print("ready", flush=True)
while True:
    with owner_lock.FileLock(folder, note=folder / "journal.lock", sleep=lambda _: None):
        for _ in range(3000):
            pass
"""


@pytest.mark.slow
def test_whenever_a_kill_comes_the_lock_it_leaves_is_known_for_our_own(tmp_path: Path) -> None:
    rng = random.Random(28)
    left = 0
    for _ in range(60):
        child = subprocess.Popen(
            [sys.executable, "-c", _TAKES_AND_LEAVES, tmp_path], cwd=ROOT, stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(rng.random() * 0.02)
        child.kill()
        child.wait()
        child.stdout.close()
        left += (tmp_path / HELD).exists()
        clock = Clock()
        with FileLock(tmp_path, note=tmp_path / "journal.lock", clock=clock, sleep=clock.sleep):
            assert clock.sleeps == []
        left_over = {path.name for path in tmp_path.iterdir() if not path.name.endswith(".new")}
        assert left_over <= {TARGET, "journal.lock"}
    assert left > 5, "the loop did not meet what it is for"


def test_the_lock_is_young_when_it_was_long_waited_for(tmp_path: Path) -> None:
    held = held_by_another(tmp_path)
    clock = Clock()

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        if sum(clock.sleeps) > 20:
            held.rmdir()
        else:
            os.utime(held, (clock.now, clock.now))

    with FileLock(tmp_path, clock=clock, sleep=sleep):
        assert lock_state(tmp_path, clock.now).silent_s < 2


def held_from_the_future(folder: Path, ahead_s: float) -> Path:
    """A lock as a program with a wrong clock left it."""
    held = folder / HELD
    held.mkdir()
    stamp = time.time() + ahead_s
    os.utime(held, (stamp, stamp))
    return held


def test_a_lock_from_the_future_is_refused_with_what_breaks_it(tmp_path: Path) -> None:
    held_from_the_future(tmp_path, 86_400)
    clock = Clock()
    state = lock_state(tmp_path, clock.now)
    assert state.stale
    assert state.misdated
    with (
        pytest.raises(RefusedError, match="silent for") as refused,
        FileLock(tmp_path, clock=clock, sleep=clock.sleep),
    ):
        pass
    assert "memtui doctor --fix D34 --yes" in refused.value.fix
    with FileLock(tmp_path, remove_abandoned=True, clock=clock, sleep=clock.sleep):
        pass
    assert not (tmp_path / HELD).exists()


def test_a_clock_that_is_a_little_ahead_is_no_wrong_date(tmp_path: Path) -> None:
    held_from_the_future(tmp_path, 5)
    state = lock_state(tmp_path, time.time())
    assert not state.stale


def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("left out: root may write everywhere")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(RefusedError), FileLock(tmp_path):
            pass
    finally:
        tmp_path.chmod(0o700)


def test_only_one_memtui_writes(tmp_path: Path) -> None:
    path = tmp_path / "journal.busy"
    with (
        ProcessLock(path),
        pytest.raises(RefusedError, match="Another memtui"),
        ProcessLock(path, patience_s=0.05),
    ):
        pass
    with ProcessLock(path, patience_s=0):
        pass


def test_two_threads_never_hold_it_together(tmp_path: Path) -> None:
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(5):
            with FileLock(tmp_path):
                inside += 1
                most = max(most, inside)
                time.sleep(0.005)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
