"""Not a number: JSON exports hold no word that JSON does not have, and the losses say what became of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa
import pytest

from memtui.engine import open_engine, transfer
from memtui.engine.transfer import ExportRequest
from tests.engine.pro_store import NOW_MS, row, schema, write_store

NAN, INF = float("nan"), float("inf")


def _refuse(word: str) -> Any:
    raise AssertionError(f"{word} is no JSON")


@pytest.mark.parametrize("form", ["json", "jsonl"])
@pytest.mark.parametrize("vectors", [True, False])
def test_no_export_holds_a_word_that_json_does_not_have(tmp_path: Path, form: str, vectors: bool) -> None:
    rows = [
        row("sound", "The office closes at six", [1.0, 0.5]),
        row("nan", "The bridge opens at nine", [NAN, 0.5], importance=NAN),
        row("inf", "The harbour is closed in May", [1.0, INF], importance=INF),
    ]
    write_store(tmp_path / "store", [], dims=2, fts=False)
    table = lancedb.connect(tmp_path / "store").open_table("memories")
    table.merge_insert("id").when_not_matched_insert_all().execute(
        pa.Table.from_pylist(rows, schema=schema(2)), on_bad_vectors="fill", fill_value=NAN
    )
    engine = open_engine(tmp_path / "store", now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    engine.load_catalog()
    place = tmp_path / f"out.{form}"
    done = transfer.export_memories(engine, ExportRequest(place, form, vectors=vectors))
    text = place.read_text(encoding="utf-8")
    parts = text.splitlines() if form == "jsonl" else [text]
    read = [json.loads(each, parse_constant=_refuse) for each in parts]
    found = {each["id"]: each for each in (read if form == "jsonl" else read[0]["memories"])}
    assert set(found) == {"sound", "nan", "inf"}
    told = str(done)
    if form == "jsonl":
        assert found["nan"]["importance"] is None
        assert "written as null" in told
    elif vectors:
        assert "vector" in found["sound"]
        assert not any("vector" in found[each] for each in ("nan", "inf"))
        assert "left out" in told
