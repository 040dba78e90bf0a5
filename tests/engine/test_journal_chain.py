"""A changed past of the journal is noticed; removed contents, old journals and several writers are no break."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.engine.changes.journal import Journal, journal_at_rest
from memtui.engine.changes.journal_chain import KEY_FILE
from tests.conftest import ROOT
from tests.engine.journal_child import write
from tests.engine.test_curate_journal import intend, table


def made(tmp_path: Path, count: int = 5) -> Path:
    path = tmp_path / "journal.sqlite"
    journal = Journal(path)
    for n in range(count):
        journal.applied(intend(journal, f"m{n}", "shared", time_ms=n), 8 + n)
    journal.close()
    return path


def spoil(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as db:
        for each in statements:
            db.execute(each)
    db.close()


def test_a_journal_that_nobody_changed_is_whole_and_its_key_is_its_owners(tmp_path: Path) -> None:
    path = made(tmp_path)
    found = Journal(path).verify()
    assert (found.broken, found.covered, found.before, found.first_entry) == (None, 5, 0, 1)
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600
    assert len((tmp_path / KEY_FILE).read_bytes()) == 32


SPOILED = {
    "a title": ("UPDATE entries SET title = 'another' WHERE entry = 3", 3),
    "a time": ("UPDATE entries SET time_ms = 99 WHERE entry = 2", 2),
    "a state": ("UPDATE entries SET state = 'undone' WHERE entry = 4", 4),
    "a memory's id": ("UPDATE rows SET id = 'm9' WHERE entry = 3 AND place = 0", 3),
    "a memory": ("DELETE FROM rows WHERE entry = 3 AND place = 1", 3),
    "rows as they were": (
        "UPDATE images SET data = substr(data, 1, 40) WHERE entry = 2 AND side = 'before'",
        2,
    ),
    "an image": ("DELETE FROM images WHERE entry = 2 AND side = 'before'", 2),
    "an entry that went": ("DELETE FROM entries WHERE entry = 4", 4),
    "an entry that came": (
        "INSERT INTO entries SELECT 9, time_ms, action, title, state, rows, 1, 2, NULL, detail FROM entries"
        " WHERE entry = 1",
        9,
    ),
    "a digest": ("UPDATE chain SET digest = zeroblob(32) WHERE entry = 3 AND event = 'applied'", 3),
    "the last links": ("DELETE FROM chain WHERE entry = 5", None),
    "a link": ("DELETE FROM chain WHERE entry = 3 AND event = 'made'", 3),
    "a link's text": ("UPDATE chain SET digest = 'x' WHERE entry = 3", 3),
}


@pytest.mark.parametrize("what", SPOILED)
def test_whatever_was_changed_is_noticed_and_the_entry_named(what: str, tmp_path: Path) -> None:
    path = made(tmp_path)
    statement, entry = SPOILED[what]
    spoil(path, statement)
    found = Journal(path).verify()
    assert found.broken is not None
    assert found.why
    if entry is not None:
        assert found.broken == entry, found.why


def test_the_first_broken_entry_is_named(tmp_path: Path) -> None:
    path = made(tmp_path)
    spoil(path, *(f"UPDATE entries SET title = 'x' WHERE entry = {n}" for n in (4, 2, 5)))
    assert Journal(path).verify().broken == 2


def test_the_end_cannot_be_cut_off_with_its_head(tmp_path: Path) -> None:
    """Entries, links and the head go together: without the key no head fits the links that are left."""
    path = made(tmp_path)
    spoil(
        path,
        "DELETE FROM entries WHERE entry = 5",
        "DELETE FROM rows WHERE entry = 5",
        "DELETE FROM images WHERE entry = 5",
        "DELETE FROM chain WHERE entry = 5",
        "UPDATE chain_head SET link = (SELECT MAX(link) FROM chain)",
    )
    assert Journal(path).verify().broken is not None


def test_another_key_does_not_fit(tmp_path: Path) -> None:
    path = made(tmp_path)
    (tmp_path / KEY_FILE).write_bytes(b"x" * 32)
    found = Journal(path).verify()
    assert found.broken == 1
    assert KEY_FILE in found.why


def test_removed_contents_keep_the_chain_and_are_a_link_of_their_own(tmp_path: Path) -> None:
    path = made(tmp_path)
    journal = Journal(path)
    with sqlite3.connect(path) as db:
        before = db.execute("SELECT link, digest, hash FROM chain ORDER BY link").fetchall()
    assert journal.redact(["m1"]) == 1
    journal.close()
    with sqlite3.connect(path) as db:
        after = db.execute("SELECT link, digest, hash FROM chain ORDER BY link").fetchall()
        assert db.execute("SELECT entry, event FROM chain ORDER BY link DESC LIMIT 1").fetchone() == (
            2,
            "contents removed",
        )
    db.close()
    assert after[: len(before)] == before
    found = Journal(path).verify()
    assert (found.broken, found.removed) == (None, (2,))
    spoil(path, "UPDATE entries SET title = 'edit: something else' WHERE entry = 2")
    assert Journal(path).verify().broken == 2


def test_a_journal_without_a_chain_goes_on_with_one(tmp_path: Path) -> None:
    path = made(tmp_path)
    spoil(path, "DROP TABLE chain", "DROP TABLE chain_parts", "DROP TABLE chain_head")
    journal = Journal(path)
    found = journal.verify()
    assert (found.broken, found.first_entry, found.before) == (None, None, 5)
    entry = intend(journal, "m9")
    journal.applied(entry, 20, undoes=2)
    assert journal.entry(2).state == "undone"
    found = journal.verify()
    assert (found.broken, found.covered, found.before) == (None, 2, 4)
    journal.close()
    spoil(path, "UPDATE entries SET title = 'x' WHERE entry = 6")
    assert Journal(path).verify().broken == 6


def test_dropped_corrected_and_noted_entries_fit(tmp_path: Path) -> None:
    from memtui.engine.changes.journal import RowImages

    path = made(tmp_path, 2)
    journal = Journal(path)
    journal.drop(intend(journal, "x"))
    entry = intend(journal, "y", "z")
    journal.correct(entry, RowImages(table("y"), None, None), ["z"])
    journal.applied(entry, 9)
    journal.note(entry, {"erased": 2})
    journal.mark(entry, "left")
    assert journal.verify().broken is None
    found = journal_at_rest(tmp_path, "x", "y").verify()
    assert found.links == 0


def test_large_images_beside_the_journal_are_covered(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    journal = Journal(path)
    ids = [f"m{n}" for n in range(20_000)]
    journal.applied(intend(journal, *ids), 8)
    files = list((tmp_path / "rows").glob("*.arrow"))
    assert files
    assert journal.verify().broken is None
    data = bytearray(files[0].read_bytes())
    data[len(data) // 2] ^= 1
    files[0].write_bytes(data)
    assert journal.verify().broken == 1
    files[0].unlink()
    assert journal.verify().broken == 1


def test_two_programs_write_one_chain(tmp_path: Path) -> None:
    """Two processes that begin at once, key and all, and write in turn; one of them is killed in the middle."""
    path = tmp_path / "curate" / "journal.sqlite"
    commands = [sys.executable, "-m", "tests.engine.journal_child", str(path)]
    children = [
        subprocess.Popen(commands, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    try:
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
        for n in range(12):
            for at, child in enumerate(children):
                assert child.stdin is not None
                child.stdin.write(f"memory {at} {n}\n")
                child.stdin.flush()
            for child in children:
                assert child.stdout is not None
                assert int(child.stdout.readline())
        assert children[0].stdin is not None
        children[0].stdin.write("cut off\n")
        children[0].stdin.flush()
        children[0].kill()
    finally:
        for child in children:
            child.kill()
            child.communicate()
    journal = Journal(path)
    write(journal, "after")
    found = journal.verify()
    assert found.broken is None, found.why
    assert found.covered >= 25
    copy = tmp_path / "copy"
    journal.close()
    shutil.copytree(path.parent, copy)
    spoil(copy / path.name, "UPDATE rows SET id = 'x' WHERE entry = 7")
    assert Journal(copy / path.name).verify().broken == 7
