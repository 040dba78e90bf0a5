"""One journal, opened twice in a process and in two processes at once, one of which is killed: no entry is lost."""

from __future__ import annotations

import gc
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from memtui.engine import Engine, open_engine
from memtui.engine.changes.journal import Journal
from memtui.engine.store.create import create_empty
from tests.conftest import NOW_MS, ROOT
from tests.engine.journal_child import write

ROUNDS = 200


class Child:
    """The other process, started again when it was killed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._start()

    def _start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.engine.journal_child", str(self._path)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def ask(self, title: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{title}\n")
        self.process.stdin.flush()

    def answer(self) -> int:
        assert self.process.stdout is not None
        return int(self.process.stdout.readline())

    def kill_and_restart(self) -> None:
        self.stop()
        self._start()

    def stop(self) -> None:
        self.process.kill()
        self.process.communicate()


def sound(path: Path) -> str:
    """What SQLite says of the file, asked on a copy, so that no lock of the test helps or hurts."""
    copy = path.parent.parent / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for each in (path, Path(f"{path}-wal")):
        if each.exists():
            # Read by another program: closing the file here would drop the locks of this process.
            subprocess.run(["cp", str(each), str(copy / each.name)], check=True)
    with closing(sqlite3.connect(copy / path.name)) as db:
        return str(db.execute("PRAGMA integrity_check").fetchone()[0])


@pytest.mark.slow
def test_two_engines_two_processes_and_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "journal" / "journal.sqlite"
    dice = random.Random(11)
    first, second = Journal(path), Journal(path)
    written: dict[int, str] = {}
    child = Child(path)
    try:
        for n in range(ROUNDS):
            child.ask(f"theirs {n}")
            for journal in (first, second) if n % 2 else (second, first):
                title = f"ours {n} {journal is first}"
                number = write(journal, title)
                assert number not in written, f"entry {number} was given twice: {written[number]}, {title}"
                written[number] = title
            if dice.random() < 0.08:
                child.kill_and_restart()
            else:
                number = child.answer()
                assert number not in written, f"entry {number} was given twice: {written[number]}, theirs {n}"
                written[number] = f"theirs {n}"
            if dice.random() < 0.2:
                second.close()
                second = Journal(path)
            if dice.random() < 0.1:
                first.tidy()
            assert sound(path) == "ok", f"round {n}"
            found = {each.entry: each.title for each in first.entries()}
            assert written.items() <= found.items(), f"round {n} lost an entry"
    finally:
        child.stop()
    assert {each.entry for each in second.entries()} >= written.keys()


def test_a_journal_that_nobody_holds_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    first, second = Journal(path), Journal(path)
    write(first, "one")
    write(second, "two")
    first.close()
    assert [each.title for each in second.entries()] == ["two", "one"]
    assert write(first, "three") == 3, "a closed journal opens again when it is used"
    first.close()
    second.close()
    assert not Path(f"{path}-wal").exists()
    write(Journal(path), "four")
    gc.collect()
    assert not Path(f"{path}-wal").exists()


def test_the_same_file_under_two_names_is_one_journal(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    first = Journal(tmp_path / "real" / "journal.sqlite")
    second = Journal(tmp_path / "link" / "journal.sqlite")
    assert [write(each, "x") for each in (first, second, first)] == [1, 2, 3]


def test_a_journal_whose_folder_was_removed_starts_anew(tmp_path: Path) -> None:
    path = tmp_path / "state" / "journal.sqlite"
    journal = Journal(path)
    write(journal, "one")
    shutil.rmtree(path.parent)
    assert journal.entries() == []
    assert write(journal, "two") == 1
    assert [each.title for each in Journal(path).entries()] == ["two"]


@pytest.mark.skipif(os.name == "nt", reason="another way of locking")
def test_opening_again_keeps_the_lock_of_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    first = Journal(path)
    write(first, "one")
    script = (
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)\n"
        "try:\n    db.execute('BEGIN EXCLUSIVE'); db.execute('PRAGMA journal_mode=DELETE')\n"
        "except sqlite3.OperationalError as error: print(error)\n"
        "else: print(db.execute('PRAGMA journal_mode').fetchone()[0])"
    )
    with first._file.writing() as db:
        db.execute("UPDATE entries SET title = 'held'")
        Journal(path).close()
        second = Journal(path)
        assert second.path == first.path
        told = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True)
        assert "locked" in told.stdout, told


def test_a_closed_engine_lets_go_of_its_journal(tmp_path: Path) -> None:
    folder, state = tmp_path / "store", tmp_path / "state"
    create_empty(folder, 3)

    def opened() -> Engine:
        return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=tmp_path, writable=True, state=state)

    with opened() as engine:
        journal = engine.write_state.applier.journal
        write(journal, "one")
    engine.close()
    assert not Path(f"{journal.path}-wal").exists()
    with opened() as again:
        assert [each.title for each in again.write_state.journal.entries()] == ["one"]
        assert [each.title for each in engine.write_state.journal.entries()] == ["one"], (
            "a closed engine opens again when asked"
        )
