"""Not a number: no export and no row that is imported holds a word that JSON does not have, and the losses tell."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa
import pytest

from memtui.engine import open_engine, transfer
from memtui.engine.capture.funnel import days
from memtui.engine.engine import Engine
from memtui.engine.transfer import EXPORT_FORMATS, ExportRequest
from tests.engine.pro_store import NOW_MS, row, schema, write_store
from tests.engine.transfer_stores import imported, opened, own_store, planned, rows_of

NAN, INF = float("nan"), float("inf")
IDS = {f"nan-{name}": value for name, value in (("not", NAN), ("inf", INF), ("minus", -INF))}
HUGE = '{"confidence": 1e999, "l1_overview": "password: hunter2-tower"}'
"""A number in it is JSON and yet too large for one: read, it is infinite, and would be written as a word."""
FORMS = [form.name for form in EXPORT_FORMATS]


def refuse(word: str) -> Any:
    raise AssertionError(f"{word} is no JSON")


def _read(text: str) -> Any:
    return json.loads(text, parse_constant=refuse)


def odd_store(folder: Path) -> Engine:
    """A plugin's store: for each number that is none, rows with it as importance, time, in the vector, in metadata."""
    rows = [row("sound", "The office closes at six", [1.0, 0.5])]
    for name, bad in IDS.items():
        rows += [
            row(f"{name}-importance", f"The bridge of {name} opens at nine", [0.4, 0.5], importance=bad),
            row(f"{name}-time", f"The harbour of {name} is closed in May", [1.0, 0.2], timestamp=bad),
            row(f"{name}-vector", f"The kiln of {name} is fired on Fridays", [1.0, bad]),
            row(
                f"{name}-metadata",
                f"The key of {name} hangs in the hall; password: hunter2-{name}",
                [0.7, 0.1],
                metadata=json.dumps({"confidence": bad, "l0_abstract": f"password: hunter2-{name}"}),
            ),
        ]
    rows.append(
        row(
            "huge",
            "The tower is high; password: hunter2-tower",
            [0.3, 0.1],
            metadata=HUGE,
        )
    )
    write_store(folder, [], dims=2, fts=False)
    table = lancedb.connect(folder).open_table("memories")
    table.merge_insert("id").when_not_matched_insert_all().execute(
        pa.Table.from_pylist(rows, schema=schema(2)), on_bad_vectors="fill", fill_value=NAN
    )
    engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder.parent)
    engine.load_catalog()
    return engine


def _cells(place: Path, form: str) -> Iterator[tuple[str, Any]]:
    """Every value of an export with the id of its row: JSON read strictly, and whatever else has cells."""
    files = [place] if place.is_file() else sorted(each for each in place.rglob("*") if each.is_file())
    for file in files:
        text = file.read_text(encoding="utf-8") if form != "parquet" else ""
        if form == "jsonl":
            for line in text.splitlines():
                yield from ((found["id"], each) for found in [_read(line)] for each in found.values())
        elif form == "json":
            for found in _read(text)["memories"]:
                yield from ((found["id"], each) for each in found.values())
        elif form == "csv":
            for found in csv.DictReader(text.splitlines()):
                yield from ((found["id"], each) for each in found.values())
        elif form == "obsidian":
            head = dict(line.split(": ", 1) for line in text.split("---\n")[1].splitlines())
            for name, value in head.items():
                assert value not in ("NaN", "Infinity", "-Infinity"), f"{file}: {name}"
                yield json.loads(head["id"]), _read(value)


def _export(engine: Engine, place: Path, form: str, **options: Any) -> str:
    done = transfer.export_memories(engine, ExportRequest(place, form, **options))
    return str(done.loss)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize("masked", [True, False])
def test_no_export_holds_a_word_that_json_does_not_have(
    tmp_path: Path, form: str, vectors: bool, masked: bool
) -> None:
    engine = odd_store(tmp_path / "store")
    place = tmp_path / f"out-{form}"
    told = _export(engine, place, form, vectors=vectors and form not in ("markdown", "obsidian"), mask=masked)
    seen = set()
    for name, value in _cells(place, form):
        seen.add(name)
        assert str(value).lower() not in ("nan", "inf", "-inf", "infinity", "-infinity"), (name, value)
        if masked and name == "huge" and isinstance(value, str) and value.startswith("{"):
            _read(value)
    if form not in ("markdown", "parquet"):
        assert len(seen) == 2 + 4 * len(IDS)
        assert "not a number" in told, "what became of it is said"


@pytest.mark.parametrize("form", FORMS)
def test_an_export_with_numbers_that_are_none_comes_back_as_sound_rows(tmp_path: Path, form: str) -> None:
    """Whatever form it went through: metadata that parses strictly, numbers that are numbers."""
    place = tmp_path / f"out-{form}"
    _export(odd_store(tmp_path / "store"), place, form)
    engine = opened(own_store(tmp_path / "own"), tmp_path / "state")
    imported(engine, place, confirmed=True)
    rows = rows_of(engine)
    assert len(rows) >= 2 + 4 * len(IDS)
    for name, found in rows.items():
        assert found["importance"] is None or math.isfinite(found["importance"]), name
        assert found["timestamp"] is None or math.isfinite(found["timestamp"]), name


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("form", ["json", "jsonl", "bare"])
def test_what_another_program_wrote_with_such_words_is_imported_and_told(
    tmp_path: Path, form: str, word: str
) -> None:
    """Python's json writes NaN unasked: the row comes in, its metadata is JSON, and the loss names the field."""
    line = (
        '{"id":"given-#","text":"The lock # is on the north side.","importance":BAD,"timestamp":BAD,"scope":"global",'
        '"category":BAD,"vector":[1.0,BAD],"metadata":{"confidence":BAD,"weights":[BAD]},"mood":BAD}'
    )
    if form == "bare":
        line = '{"id":BAD,"text":"The gate # is shut.","importance":BAD,"score":BAD,"deep":{"a":[BAD]}}'
    lines = [line.replace("#", str(n)).replace("BAD", word) for n in range(3)]
    source = tmp_path / ("in.jsonl" if form == "jsonl" else "in.json")
    if form == "jsonl":
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    elif form == "json":
        source.write_text('{"version":"1.0","memories":[' + ",".join(lines) + "]}", encoding="utf-8")
    else:
        source.write_text("[" + ",".join(lines) + "]", encoding="utf-8")
    engine = opened(own_store(tmp_path / "own"), tmp_path / "state")
    plan = planned(engine, source)
    told = {loss.field for loss in plan.losses()}
    transfer.run_import(engine, plan, confirmed=True)
    plan.close()
    rows = rows_of(engine)
    assert len(rows) == 3
    for found in rows.values():
        _read(found["metadata"])
        assert found["importance"] is None or math.isfinite(found["importance"])
        assert math.isfinite(found["timestamp"] or 0)
        assert str(found["category"]).lower() not in ("nan", "inf", "-inf")
    assert (
        {"importance", "id"} <= told
        if form == "bare"
        else {"importance", "category", "vector", "metadata"} <= told
    )


def test_the_days_of_a_capture_count_no_row_of_an_infinite_time(tmp_path: Path) -> None:
    """Such a time is on no day, and a repair leaves it alone: it is no microseconds either."""
    engine = odd_store(tmp_path / "store")
    assert all(day.captured == 0 for day in days(engine, 3))
    times = {each.id for each in transfer.plan_repair(engine, ["times"]).changes if each.id.endswith("-time")}
    assert not times
