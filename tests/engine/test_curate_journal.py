"""The journal keeps rows byte for byte, is written before the change, and forgets only when it is told to."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from memtui.engine.changes.blob_store import decode, encode
from memtui.engine.changes.change_set import Change
from memtui.engine.changes.journal import Journal, RowImages
from memtui.engine.core.errors import MemtuiError, UsageError
from tests.engine.curate_world import same_rows

SCHEMA = pa.schema(
    [
        pa.field("id", pa.string()),
        pa.field("text", pa.string()),
        pa.field("vector", pa.list_(pa.float32(), 3)),
        pa.field("timestamp", pa.float64()),
        pa.field("odd", pa.list_(pa.int16())),
        pa.field("blob", pa.binary(), nullable=False),
    ]
)


def table(*ids: str) -> pa.Table:
    odd = np.frombuffer(b"\x01\x00\xc0\x7f" * 3, dtype=np.float32)  # NaN with a payload
    flat = np.concatenate([odd if n == 0 else np.float32([n, -0.0, 1e-42]) for n in range(len(ids))])
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(flat, pa.float32()), 3)
    return pa.Table.from_arrays(
        [
            pa.array(ids),
            pa.array([f"secret of {each} \0\x1b" for each in ids]),
            vectors,
            pa.array([1.5e12 + 0.1] * len(ids)),
            pa.array([[1, None]] * len(ids), pa.list_(pa.int16())),
            pa.array([b"\xff\x00"] * len(ids), pa.binary()),
        ],
        schema=SCHEMA,
    )


def change(memory: str) -> Change:
    return Change(memory, "edit", {"text": f"secret of {memory}"}, {"text": "new"})


def intend(journal: Journal, *ids: str, time_ms: int = 5) -> int:
    return journal.intend(
        time_ms=time_ms,
        action="edit",
        title="a title",
        changes=[change(each) for each in ids],
        images=RowImages(table(*ids), None, None),
        version_before=7,
    )


def test_rows_come_back_bit_for_bit() -> None:
    rows = table("a", "b")
    assert same_rows(decode(encode(rows)), rows)
    assert decode(encode(rows)).schema == SCHEMA


def test_an_entry_goes_through_its_states(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "deep" / "journal.sqlite")
    entry = intend(journal, "a", "b")
    assert journal.entries() == []
    assert [each.state for each in journal.entries(states=("intended",))] == ["intended"]
    journal.applied(entry, 8)
    found = journal.entry(entry)
    assert (found.state, found.rows, found.version_before, found.version_after) == ("applied", 2, 7, 8)
    assert next((row.id, row.before, row.after) for row in journal.rows(entry)) == (
        "a",
        {"text": "secret of a"},
        {"text": "new"},
    )
    images = journal.images(entry)
    assert images.before is not None
    assert same_rows(images.before, table("a", "b"))
    assert images.after is None


def test_another_process_sees_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    first = Journal(path)
    entry = intend(first, "a")
    assert Journal(path).entry(entry).state == "intended"


def test_looking_makes_no_file(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    assert journal.entries() == []
    assert journal.rows(1) == []
    assert journal.of_memory("a") == []
    with pytest.raises(UsageError, match="no entry 3"):
        journal.entry(3)
    assert list(tmp_path.iterdir()) == []


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "journal.sqlite"
    intend(Journal(path), "a")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_numbers_are_never_used_twice(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    first = intend(journal, "a")
    journal.drop(first)
    assert intend(journal, "b") > first


def test_contents_can_be_taken_out_for_good(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    journal = Journal(path)
    for n in range(3):
        journal.applied(intend(journal, "gone", f"kept{n}", time_ms=n), 8)
    assert journal.redact(["gone"]) == 3
    journal.close()
    everything = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert b"secret of gone" not in everything
    assert b"secret of kept1" in everything
    images = journal.images(1)
    assert images.before is not None
    assert images.before.column("id").to_pylist() == ["kept0"]
    assert [row.id for row in journal.rows(1)] == ["gone", "kept0"]
    assert journal.rows(1)[0].before == {}


def test_a_memory_knows_its_entries(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    for ids in (("a", "b"), ("b",), ("c",)):
        journal.applied(intend(journal, *ids), 8)
    intend(journal, "b")
    assert [entry.entry for entry, _ in journal.of_memory("b")] == [2, 1]


def test_a_journal_of_a_newer_memtui_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(MemtuiError, match="newer memtui"):
        intend(Journal(path), "a")
    assert path.read_bytes() == before


def test_a_file_that_is_no_journal_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_bytes(b"not a database, but long enough to be looked at" * 50)
    with pytest.raises(MemtuiError, match="cannot be used") as error:
        intend(Journal(path), "a")
    assert "Nothing was changed" in error.value.fix


@pytest.mark.slow
def test_large_rows_are_files_beside_it_and_go_with_their_entry(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    rows = pa.concat_tables([table(f"m{n}") for n in range(20_000)]).combine_chunks()
    entry = journal.intend(
        time_ms=1, action="edit", title="", changes=[change("m0"), change("m1")],
        images=RowImages(rows, None, None), version_before=1,
    )  # fmt: skip
    journal.applied(entry, 2)
    (file,) = (tmp_path / "rows").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    images = journal.images(entry)
    assert images.before is not None
    assert same_rows(images.before, rows)
    (tmp_path / "rows" / "99-before.arrow").write_bytes(b"left by a program that was killed")
    journal.redact(["m1"])
    assert [each.name for each in (tmp_path / "rows").iterdir()] == [file.name]
    assert b"secret of m1 " not in file.read_bytes()
    assert b"secret of m2 " in file.read_bytes()
    journal.drop(entry)
    assert list((tmp_path / "rows").iterdir()) == []
    with pytest.raises(UsageError):
        journal.entry(entry)


@pytest.mark.slow
def test_an_image_that_is_gone_is_an_error_not_an_empty_answer(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    rows = pa.concat_tables([table(f"m{n}") for n in range(20_000)]).combine_chunks()
    entry = journal.intend(
        time_ms=1,
        action="edit",
        title="",
        changes=[change("m0")],
        images=RowImages(rows, None, None),
        version_before=1,
    )
    next((tmp_path / "rows").iterdir()).unlink()
    with pytest.raises(MemtuiError, match="cannot be used"):
        journal.images(entry)
