"""Every command on a table of another program, read by a column map in which no column has one of our names."""

from __future__ import annotations

import hashlib
from pathlib import Path

import lancedb
import pyarrow as pa
import pytest

from tests.cli.every_command import call, commands_on_a_store

COLUMNS = "id=uid,text=body,vector=vec,timestamp=at"
CHANGES = (
    ("edit", "u1", "--set", "text=another text"),
    ("edit", "u1", "--set", "text=another text", "--dry-run"),
    ("forget", "u1", "--hard"),
    ("forget", "u1"),
    ("restore", "u1"),
    ("merge", "u1", "u2", "--losers", "delete"),
    ("add", "a new memory"),
)
"""Each way to change a memory by hand."""


@pytest.fixture
def mapped(tmp_path: Path) -> Path:
    """The folder of the database; its table is `notes.lance`."""
    folder = tmp_path / "elsewhere"
    table = pa.table(
        {
            "uid": [f"u{n}" for n in range(4)],
            "body": [f"The bastion listens on port 480{n}" for n in range(4)],
            "vec": pa.array([[1.0, n / 10, 0.0, 0.0] for n in range(4)], pa.list_(pa.float32(), 4)),
            "at": [1_788_000_000_000 + n for n in range(4)],
        }
    )
    lancedb.connect(str(folder)).create_table("notes", table)
    return folder / "notes.lance"


def _digest(folder: Path) -> str:
    names = sorted(path for path in folder.rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(str(path).encode() + path.read_bytes() for path in names)).hexdigest()


def test_no_change_is_planned_and_the_reason_is_told(mapped: Path) -> None:
    """A change that could never be applied is refused before it is planned, and the table keeps its bytes."""
    before = _digest(mapped)
    for change in CHANGES:
        answer = call(*change, *(() if "--dry-run" in change else ("--yes",)), *_on(mapped))
        assert (answer.code, answer.faults) == (3, []), (change, answer)
        assert "another program" in answer.err, change
        assert "memtui migrate" in answer.err, (change, answer.err)
    assert _digest(mapped) == before


def test_every_command_answers(mapped: Path, tmp_path: Path) -> None:
    """None ends in a failure that the program does not expect, whatever the columns are called."""
    out = tmp_path / "out"
    out.mkdir()
    before = _digest(mapped)
    faults: list[str] = []
    for line in commands_on_a_store(mapped, out):
        if "--store" in line:
            faults += call(*line, "--columns", COLUMNS).faults
    assert faults == []
    assert _digest(mapped) == before


def _on(store: Path) -> tuple[str, ...]:
    return ("--store", str(store), "--columns", COLUMNS)
