"""Rows in an order of one's own, from where they lie or by way of a copy; lines as json writes them."""

from __future__ import annotations

import json
import resource
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from memtui.engine.core.errors import MemtuiError
from memtui.engine.store.open import open_store
from memtui.engine.transfer.exporting.request import Header, RowWindow
from memtui.engine.transfer.exporting.rows import in_order
from memtui.engine.transfer.writers.jsonl import JsonLines
from tests.benchmarks.million import write

NAMES = ("id", "text", "vector")


def test_rows_come_in_the_order_asked_for_and_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(str(tmp_path / "db"), 3_000)
    pin = open_store(tmp_path / "db").pin()
    every = pa.Table.from_batches(pin.scan([*NAMES], with_row_id=True))
    stored = every.column("_rowid").to_numpy()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "work"))
    (tmp_path / "work").mkdir()
    chance = np.random.default_rng(3)
    for order, copied in ((stored, False), (stored[::-1], False), (chance.permutation(stored)[:2_000], True)):
        there = []
        parts = []
        for part in in_order(pin, order, NAMES, 200):
            parts.append(part)
            there.append(any((tmp_path / "work").iterdir()))
        assert set(there) == {copied}
        assert not any((tmp_path / "work").iterdir())
        assert max(part.num_rows for part in parts) <= 200
        wanted = every.take(np.searchsorted(stored, order)).select([*NAMES])
        assert pa.concat_tables(parts).combine_chunks().equals(wanted.combine_chunks())
    missing = np.append(chance.permutation(stored), np.uint64(2**40))
    with pytest.raises(MemtuiError, match="vanished"):
        list(in_order(pin, missing, NAMES, 200))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))  # a disk that is full after so many bytes
    try:
        with pytest.raises(MemtuiError, match=r"no room in .*work") as refused:
            list(in_order(pin, order, NAMES, 200))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "TMPDIR" in refused.value.fix
    assert not any((tmp_path / "work").iterdir())


def test_a_line_is_what_json_makes_of_its_row(tmp_path: Path) -> None:
    write(str(tmp_path / "db"), 3)
    table = pa.table(
        {
            "id": ["a", "b", None],
            "text": ['100 % "so"\n\x00\x7f', "雪 \U0001f600 \u2028 %s", "\\"],
            "50%s": [1.5, float("nan"), None],
            "when": pa.array([0, None, 2**62], pa.timestamp("ms")),
            "flags": pa.array([[True], [], None], pa.list_(pa.bool_())),
            "n": pa.array([1, None, -(2**63)], pa.int64()),
            "yes": [True, None, False],
        }
    ).slice(0, 2)
    header = Header(open_store(tmp_path / "db"), 2, False, "a model", 0, {})
    writer = JsonLines(tmp_path / "out.jsonl", header)
    writer.write(RowWindow(table, None, [False, True]))
    writer.close()
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").split("\n")
    frame = {"schema": "memtui.memory.v1", "dialect": "pro"}
    for line, row, masked in zip(lines, table.to_pylist(), ({}, {"masked": True}), strict=False):
        known = {name: None if value != value else value for name, value in row.items()}  # NaN is no JSON
        whole = {**frame, **known, **masked}
        assert line == json.dumps(whole, ensure_ascii=False, separators=(",", ":"), default=str)
    assert lines[2:] == [""]
