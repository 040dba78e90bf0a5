"""The wizard for a table of another program: roles, times of every form, what cannot be done, kept maps."""

from __future__ import annotations

import json
import tarfile
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.cli.every_command import call
from tests.conftest import SHARED
from tests.engine.tables import write_table

S, VECTOR = pa.string(), pa.list_(pa.float32(), 2)
MOMENT = datetime(2026, 5, 2, 11, 5, 44, 873000, tzinfo=UTC)
MS = int(MOMENT.timestamp() * 1000)


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTUI_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))


def foreign(folder: Path, when: str, kind: pa.DataType, values: list[Any], **more: Any) -> Path:
    """A table of three rows with the times `values` in the column `when`."""
    kinds = {name: value[0] for name, value in more.items()}
    schema = pa.schema([("key", S), ("body", S), ("emb", VECTOR), (when, kind), *kinds.items()])
    rows = [
        {"key": f"k{at}", "body": f"a sentence of some length, number {at}", "emb": [1.0, at], when: value}
        | {name: value[1] for name, value in more.items()}
        for at, value in enumerate(values)
    ]
    write_table(folder, rows, schema)
    return folder


def proposed(*arguments: object) -> dict[str, Any]:
    said = call("columns", *arguments, "--json")
    assert said.faults == []
    return json.loads(said.out)


def times_of(store: Path) -> list[int]:
    said = call("ls", "--store", store, "--json")
    assert said.code == 0, said.err
    return sorted(row["timestamp_ms"] for row in json.loads(said.out)["rows"])


@pytest.mark.parametrize(
    ("kind", "value", "options", "expected"),
    [
        (S, "2026-05-02T11:05:44.873154", "", MS),
        (S, "2026-05-02T11:05:44.873154", "zone=Asia/Tokyo", MS - 9 * 3_600_000),
        (S, "2026-05-02T11:05:44.873+02:00", "zone=Asia/Tokyo", MS - 2 * 3_600_000),
        (S, "2026-05-02 11:05:44.873Z", "", MS),
        (pa.int64(), MS // 1000, "", MS - MS % 1000),
        (pa.float64(), MS / 1000, "", MS),
        (pa.int64(), MS, "", MS),
        (pa.int64(), MS * 1000 + 154, "", MS),
        (pa.int64(), MS * 1_000_000 + 154_000, "", MS),
        (pa.timestamp("ms"), MOMENT.replace(tzinfo=None), "", MS),
        (pa.timestamp("us"), MOMENT.replace(tzinfo=None), "zone=Asia/Tokyo", MS - 9 * 3_600_000),
        (pa.timestamp("us", tz="UTC"), MOMENT, "zone=Asia/Tokyo", MS),
        (pa.date32(), date(2026, 5, 2), "", int(datetime(2026, 5, 2, tzinfo=UTC).timestamp() * 1000)),
    ],
)
def test_times_of_every_form_are_proposed_and_read(
    tmp_path: Path, kind: pa.DataType, value: Any, options: str, expected: int
) -> None:
    store = foreign(tmp_path / "store", "created", kind, [value] * 3)
    given = ("--columns", options) if options else ()
    found = proposed(store, "--keep", "mine", *given)
    assert (found["columns"]["id"], found["columns"]["text"]) == ("key", "body")
    assert (found["columns"]["vector"], found["columns"]["timestamp"]) == ("emb", "created")
    read = times_of(store)
    assert all(abs(time - expected) <= 1 for time in read), (read, expected)
    shown = json.loads(call("show", "k0", "--store", store, "--json").out)
    assert abs(shown["timestamp_ms"] - expected) <= 1


def test_what_is_not_said_is_told(tmp_path: Path) -> None:
    store = foreign(
        tmp_path / "store",
        "filed",
        S,
        ["2026-05-02T11:05:44"] * 3,
        details=(S, '{"a": 1}'),
        nested=(pa.struct([("x", S)]), {"x": "y"}),
        loose=(pa.list_(pa.float32()), [1.0]),
    )
    found = proposed(store)
    notes = "\n".join(found["notes"])
    for part in ("No zone stands in filed", "details holds JSON", "nested is nested", "loose is list"):
        assert part in notes
    limits = {limit["action"]: limit["why"] for limit in found["limits"]}
    assert any("edit" in action for action in limits)
    assert any("tiers" in action for action in limits)
    assert not any("vector search" in action for action in limits)
    assert call("show", "k0", "--store", store, "--columns", "id=key,text=body").code == 0


def test_roles_that_are_given_win_and_one_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    store = foreign(tmp_path / "store", "made", S, ["2026-05-02T11:05:44"] * 3)
    found = proposed(store, "--columns", "scope=made")
    assert found["columns"]["scope"] == "made"
    wrong = call("columns", store, "--columns", "vector=body", "--json")
    assert wrong.code == 2
    assert "cannot be the vector" in wrong.err
    zone = call("ls", "--store", store, "--columns", "id=key,text=body,timestamp=made,zone=Atlantis/Reef")
    assert zone.code == 2
    assert "Atlantis/Reef" in zone.err


def test_a_kept_map_is_used_by_place_and_by_name_and_a_damaged_file_is_named(tmp_path: Path) -> None:
    store = foreign(tmp_path / "store", "created", S, ["2026-05-02T11:05:44"] * 3)
    other = foreign(tmp_path / "other", "created", S, ["2026-05-02T11:05:44"] * 3)
    assert call("ls", "--store", store).code == 1
    assert proposed(store, "--keep", "mine")["kept"] == "mine"
    assert call("ls", "--store", store).code == 0
    assert call("ls", "--store", store / "memories.lance").code == 0
    assert call("ls", "--store", other).code == 1
    assert call("ls", "--store", other, "--columns", "mine").code == 0
    unknown = call("ls", "--store", other, "--columns", "nothing")
    assert unknown.code == 2
    assert "'nothing'" in unknown.err
    (tmp_path / "config" / "column-maps.json").write_text("{")
    damaged = call("ls", "--store", store)
    assert damaged.code == 2
    assert "column-maps.json" in damaged.err


MEMPALACE = SHARED / "fixtures" / "stores-other" / "mempalace-code" / "store.tar.gz"


@pytest.mark.skipif(not MEMPALACE.exists(), reason="the recorded stores are not here")
def test_mempalace_opens_through_the_wizard_with_all_rows_and_times(tmp_path: Path) -> None:
    with tarfile.open(MEMPALACE) as archive:
        archive.extractall(tmp_path, filter="data")
    store = tmp_path / "palace" / "lance"
    found = proposed(store, "--columns", "zone=UTC", "--keep", "palace")
    roles = {"id": "id", "text": "text", "vector": "vector", "scope": "wing", "category": "room"}
    assert found["columns"] == {**roles, "timestamp": "filed_at", "zone": "UTC"}
    rows = json.loads(call("ls", "--store", store, "--json", "--limit", 200).out)["rows"]
    assert len(rows) == found["rows"] == 106
    assert all(row["timestamp_ms"] > 0 for row in rows)
