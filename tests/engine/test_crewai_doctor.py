"""The traps of CrewAI as findings of the doctor, each on a store that has it and on healthy ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lancedb
import pytest

from memtui.engine import health, open_engine
from tests.engine.crewai_store import NOW_MS, crew_row, recorded, schema, unpack
from tests.engine.tables import pro_row, uuid, write_table

TRAPS = ("D50", "D51", "D52", "D53", "D54", "D55")


def traps(folder: Path) -> dict[str, health.HealthFinding]:
    """The traps that the doctor finds, looking deep."""
    engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)
    examined = health.examine(health.patient_of(engine, now_ms=NOW_MS))
    assert not [each for each in examined.unlooked if each.kind in TRAPS]
    found = examined.findings
    return {each.kind: each for each in found if each.kind in TRAPS}


def store(tmp_path: Path, *rows: dict[str, Any]) -> Path:
    write_table(tmp_path / "memory", list(rows), schema())
    return tmp_path / "memory"


def test_a_healthy_store_has_none_of_them(tmp_path: Path) -> None:
    scopes = ("/crew/shop", "/crew/shop/stock", "/company/shop-two")
    rows = [crew_row(at, scope=scope) for at, scope in enumerate(scopes)]
    rows += [crew_row(7, private=True), crew_row(8, created_at="2026-03-09T10:00:00", content=" . ")]
    assert traps(store(tmp_path, *rows)) == {}


def test_a_store_whose_memories_all_lie_at_the_root_is_healthy(tmp_path: Path) -> None:
    assert traps(store(tmp_path, crew_row(1, scope="/"), crew_row(2, scope="/"))) == {}


def test_tables_of_other_programs_are_not_looked_at_for_them(tmp_path: Path) -> None:
    write_table(tmp_path / "pro", [pro_row(1, text=" ", scope="/"), pro_row(2, scope="/crew")])
    assert traps(tmp_path / "pro") == {}


@pytest.mark.parametrize(
    ("kind", "bad"),
    [
        ("D50", {"scope": "/"}),
        ("D51", {"scope": "/crew/shop-two"}),
        ("D51", {"scope": "/crew/shop.old/stock"}),
        ("D51", {"scope": "/crews/other"}),
        ("D52", {"scope": "new/place"}),
        ("D53", {"created_at": "2026-01-01T00:00:00+00:00"}),
        ("D53", {"created_at": "2026-01-01T00:00:00Z"}),
        ("D53", {"created_at": "yesterday"}),
        ("D54", {"content": " \n\t", "vector": [0.0, 0.0]}),
        ("D54", {"content": "\u00a0\u3000", "vector": [0.0, 0.0]}),
    ],
)
def test_a_trap_names_its_memory_and_no_other(tmp_path: Path, kind: str, bad: dict[str, Any]) -> None:
    found = traps(store(tmp_path, crew_row(1), crew_row(2), crew_row(3, **bad)))
    assert list(found) == [kind]
    assert list(found[kind].seen.ids) == [uuid(3)]
    assert found[kind].seen.count == 1


def test_an_update_that_lost_privacy_is_told_from_one_that_kept_it(tmp_path: Path) -> None:
    folder = store(tmp_path, *(crew_row(each, private=True) for each in range(1, 5)))
    table = lancedb.connect(folder).open_table("memories")
    rows = [
        crew_row(1, content="Said anew.", source=""),  # as consolidation leaves it
        crew_row(2, content="Said anew.", private=True),
        crew_row(3),  # made public: the text is the same
        crew_row(4, content="Said anew."),  # its source is still known
    ]
    for row in rows:
        table.delete(f"id = '{row['id']}'")
        table.add([row])
    found = traps(folder)
    assert list(found) == ["D55"]
    assert list(found["D55"].seen.ids) == [uuid(1)]


def test_the_real_store_has_the_traps_that_its_making_set(shared: Path, tmp_path: Path) -> None:
    """Rows at /, a sibling of one beginning, a blank text, and consolidations that lost what was private."""
    rows = recorded(shared)["rows"]
    found = traps(unpack(shared, tmp_path))
    ids = {kind: set(each.seen.ids) for kind, each in found.items()}
    assert ids["D50"] == {row["id"] for row in rows if row["scope"] == "/"}
    assert ids["D51"] == {row["id"] for row in rows if row["scope"].startswith("/crew/pedal-shop-two")}
    assert ids["D54"] == {row["id"] for row in rows if not row["content"].strip()}
    assert ids.keys() == {"D50", "D51", "D54", "D55"}
    open_now = {row["id"] for row in rows if not row["private"] and row["source"] is None}
    assert ids["D55"]
    assert ids["D55"] <= open_now
