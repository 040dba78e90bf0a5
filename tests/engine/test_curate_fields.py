"""What may be set in a memory, how each dialect's rules follow, and what bad values get."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import changes
from memtui.engine.core.errors import RefusedError, UsageError
from tests.conftest import NOW_MS
from tests.engine.curate_world import WordEmbedder, engine_at, row_of, rows_of, same_rows, version_of
from tests.engine.tables import pro_row, uuid, write_table

FULL = (
    '{"l0_abstract":"Tea: green","l1_overview":"- Tea: green","l2_content":"Tea: green","memory_category":"cases",'
    '"tier":"working","access_count":3,"confidence":0.7,"state":"confirmed","memory_layer":"working",'
    '"bad_recall_count":2,"suppressed_until_ms":5,"z":{"deep":[1.50]}}'
)


def edit(
    folder: Path, given: dict[str, Any], row: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """Edit one memory and return its columns, the metadata parsed."""
    write_table(folder, [{**pro_row(1, text="Tea: green", metadata=FULL), **(row or {})}])
    engine = engine_at(folder, embedder=WordEmbedder(2))
    changes.apply(engine, changes.plan_edit(engine, [uuid(1)], given, **more))
    found = row_of(folder, uuid(1))
    return {**found, "metadata": json.loads(found["metadata"])}


def test_importance_sets_confidence_as_the_agents_tool_does(tmp_path: Path) -> None:
    found = edit(tmp_path / "db", {"importance": "0.25"})
    assert (found["importance"], found["metadata"]["confidence"]) == (0.25, 0.25)
    both = edit(tmp_path / "both", {"importance": "0.25", "confidence": 1})
    assert (both["importance"], both["metadata"]["confidence"]) == (0.25, 1)


@pytest.mark.parametrize(
    ("word", "column", "smart"),
    [
        ("preference", "preference", "preferences"),
        ("Preferences", "preference", "preferences"),
        ("events", "decision", "events"),
        ("event", "decision", "events"),
        ("fact", "fact", "cases"),
        ("profile", "fact", "profile"),
        ("reflection", "reflection", "patterns"),
    ],
)
def test_a_category_goes_to_column_and_metadata_together(
    tmp_path: Path, word: str, column: str, smart: str
) -> None:
    found = edit(tmp_path / "db", {"category": word}, {"category": "other"})
    assert (found["category"], found["metadata"]["memory_category"]) == (column, smart)
    assert found["metadata"].get("fact_key") == ("preferences:tea" if smart == "preferences" else None)


def test_leaving_a_versioned_category_takes_its_fact_key_away(tmp_path: Path) -> None:
    metadata = FULL.replace('"cases"', '"entities","fact_key":"entities:tea"')
    found = edit(tmp_path / "db", {"category": "decision"}, {"category": "entity", "metadata": metadata})
    assert "fact_key" not in found["metadata"]


def test_archive_and_confirm_as_the_agents_tools_do(tmp_path: Path) -> None:
    found = edit(tmp_path / "db", {"state": "archived"}, reason="old")["metadata"]
    assert (found["state"], found["memory_layer"], found["archive_reason"]) == ("archived", "archive", "old")
    assert found["archived_at"] == NOW_MS
    engine = engine_at(tmp_path / "db")
    changes.apply(engine, changes.plan_edit(engine, [uuid(1)], {"state": "confirmed"}))
    again = json.loads(row_of(tmp_path / "db", uuid(1))["metadata"])
    assert (again["state"], again["memory_layer"]) == ("confirmed", "working")
    pending = edit(tmp_path / "pending", {"state": "pending"})["metadata"]
    assert pending["state"] == "pending"
    engine = engine_at(tmp_path / "pending")
    changes.apply(engine, changes.plan_edit(engine, [uuid(1)], {"state": "confirmed"}))
    promoted = json.loads(row_of(tmp_path / "pending", uuid(1))["metadata"])
    assert (promoted["memory_layer"], promoted["bad_recall_count"], promoted["suppressed_until_ms"]) == (
        "durable",
        0,
        0,
    )


def test_pins_suppression_and_expiry(tmp_path: Path) -> None:
    found = edit(tmp_path / "a", {"pinned": "yes", "suppressed": "2d", "valid_until": "2027-01-31"})[
        "metadata"
    ]
    assert (found["pinned"], found["tier"]) == (True, "core")
    assert found["suppressed_until_ms"] == NOW_MS + 2 * 86_400_000
    assert found["valid_until"] == 1_801_353_600_000
    engine = engine_at(tmp_path / "a")
    changes.apply(
        engine,
        changes.plan_edit(engine, [uuid(1)], {"pinned": False, "suppressed": "no", "valid_until": "never"}),
    )
    after = json.loads(row_of(tmp_path / "a", uuid(1))["metadata"])
    assert "pinned" not in after
    assert "valid_until" not in after
    assert after["suppressed_until_ms"] == 0


def test_times_counters_and_unknown_keys_are_left_alone(tmp_path: Path) -> None:
    found = edit(tmp_path / "db", {"tier": "core", "scope": "agent:main"})
    assert found["timestamp"] == 1_780_000_000_000.0
    assert found["metadata"]["access_count"] == 3
    raw = row_of(tmp_path / "db", uuid(1))["metadata"]
    assert raw == FULL.replace('"tier":"working"', '"tier":"core"')


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"importance": 7}, "runs from 0 to 1"),
        ({"importance": "high"}, "runs from 0 to 1"),
        ({"importance": "nan"}, "runs from 0 to 1"),
        ({"importance": True}, "runs from 0 to 1"),
        ({"tier": "gold"}, "no tier 'gold'"),
        ({"tier": "perifpheral"}, "no tier"),
        ({"state": ""}, "no state"),
        ({"category": "nonsense"}, "no category"),
        ({"scope": ""}, "is blank"),
        ({"scope": " agent:main"}, "characters"),
        ({"scope": "x' OR 1=1 --"}, "characters"),
        ({"text": "   "}, "empty text"),
        ({"text": "x" * 5_000_000}, "takes 100,000"),
        ({"text": "half \ud83d"}, "half a character"),
        ({"text": "nul \0"}, "NUL"),
        ({"valid_until": "soon"}, "does not understand"),
        ({"suppressed": "2 moons"}, "does not understand"),
        ({"pinned": "perhaps"}, "yes or no"),
        ({"colour": "red"}, "no field 'colour'"),
        ({"tier": "core", "Tier": "core"}, "set twice"),
        ({"agent": "main"}, "have no agent"),
    ],
)
def test_values_that_make_no_sense_are_refused_before_anything_is_read(
    tmp_path: Path, given: dict[str, Any], says: str
) -> None:
    write_table(tmp_path / "db", [pro_row(1)])
    engine, before = engine_at(tmp_path / "db", embedder=WordEmbedder(2)), rows_of(tmp_path / "db")
    with pytest.raises(UsageError, match=says) as error:
        changes.plan_edit(engine, [uuid(1)], given)
    assert error.value.fix
    assert same_rows(rows_of(tmp_path / "db"), before)


def test_a_mistyped_tier_names_the_nearest(tmp_path: Path) -> None:
    write_table(tmp_path / "db", [pro_row(1)])
    with pytest.raises(UsageError) as error:
        changes.plan_edit(engine_at(tmp_path / "db"), [uuid(1)], {"tier": "perifpheral"})
    assert error.value.fix == "Did you mean peripheral?"


@pytest.mark.parametrize(
    "value",
    [
        "O'Brien",
        "'; DROP TABLE memories; --",
        'a "quoted" \\ text',
        "emoji 👩‍💻 日本語",
        "line\nbreak\ttab \x1b[31m",
    ],
)
def test_quotes_and_sql_in_a_text_are_only_a_text(tmp_path: Path, value: str) -> None:
    found = edit(tmp_path / "db", {"text": value, "l1_overview": value}, {"id": uuid(1)})
    assert found["text"] == value
    assert found["metadata"]["l1_overview"] == value


def test_odd_ids_are_values_too(tmp_path: Path) -> None:
    odd = 'it\'s "odd" -- id'
    write_table(tmp_path / "db", [pro_row(1, id=odd), pro_row(2)])
    engine = engine_at(tmp_path / "db")
    changes.apply(engine, changes.plan_edit(engine, [odd], {"importance": 1}))
    assert [row["importance"] for row in rows_of(tmp_path / "db").to_pylist()] == [0.5, 1.0]
    changes.apply(engine, changes.plan_undo(engine))
    assert row_of(tmp_path / "db", odd)["importance"] == 0.5


@pytest.mark.parametrize("metadata", ["{broken", "[1,2]", '"text"', "7"])
def test_metadata_that_is_no_object_is_never_written_over(tmp_path: Path, metadata: str) -> None:
    write_table(tmp_path / "db", [pro_row(1, metadata=metadata)])
    engine = engine_at(tmp_path / "db")
    (conflict,) = changes.plan_edit(engine, [uuid(1)], {"tier": "core"}).conflicts
    assert "not a JSON object" in conflict.sentence
    outcome = changes.apply(
        engine, changes.plan_edit(engine, [uuid(1)], {"importance": 0.9, "scope": "agent:main"})
    )
    assert row_of(tmp_path / "db", uuid(1))["metadata"] == metadata
    assert any("confidence stays" in note.lower() for note in outcome.warnings)


@pytest.mark.parametrize("metadata", [None, "", "{}"])
def test_a_row_without_metadata_gets_only_what_is_set(tmp_path: Path, metadata: str | None) -> None:
    write_table(tmp_path / "db", [pro_row(1, metadata=metadata)])
    before = rows_of(tmp_path / "db")
    engine = engine_at(tmp_path / "db")
    changes.apply(engine, changes.plan_edit(engine, [uuid(1)], {"tier": "core"}))
    assert row_of(tmp_path / "db", uuid(1))["metadata"] == '{"tier":"core"}'
    changes.apply(engine, changes.plan_undo(engine))
    assert same_rows(rows_of(tmp_path / "db"), before)


def test_a_scope_that_no_agent_has_is_warned_of(tmp_path: Path) -> None:
    write_table(tmp_path / "db", [pro_row(1)])
    engine = engine_at(tmp_path / "db")
    assert any(
        "No agent reads the scope work" in note
        for note in changes.plan_edit(engine, [uuid(1)], {"scope": "work"}).warnings
    )
    assert changes.plan_edit(engine, [uuid(1)], {"scope": "project:atlas"}).warnings == ()


def test_rows_that_the_agent_derives_are_refused(tmp_path: Path) -> None:
    derived = "corpus:" + "ab" * 24
    write_table(tmp_path / "db", [pro_row(1, id=derived), pro_row(2)])
    engine = engine_at(tmp_path / "db")
    planned = changes.plan_edit(engine, [derived, uuid(2)], {"importance": 1})
    assert [(each.id, each.reason) for each in planned.conflicts] == [(derived, "refused")]
    outcome = changes.apply(engine, planned.leaving_refused())
    assert [each.id for each in outcome.changes] == [uuid(2)]
    assert [each.id for each in outcome.conflicts] == [derived]


def test_a_vector_that_cannot_be_written_again_is_told_before(tmp_path: Path) -> None:
    """A damaged file can hold NaN, which the engine reads and refuses to write."""
    write_table(tmp_path / "db", [pro_row(1, vector=[12345.678, 1.0]), pro_row(2)])
    (data,) = (tmp_path / "db" / "memories.lance" / "data").glob("*.lance")
    number = struct.pack("<f", 12345.678)
    assert number in data.read_bytes()
    data.write_bytes(data.read_bytes().replace(number, struct.pack("<f", float("nan"))))
    version = version_of(tmp_path / "db")
    engine = engine_at(tmp_path / "db")
    with pytest.raises(RefusedError, match="no number"):
        changes.apply(engine, changes.plan_edit(engine, [uuid(1), uuid(2)], {"scope": "agent:main"}))
    assert version_of(tmp_path / "db") == version
    assert engine.write_state.journal.entries() == []
