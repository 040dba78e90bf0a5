"""Out into each foreign form and back: what differs is what the two ledgers say, field by field, no row more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import UsageError, transfer
from memtui.engine.transfer.exporting.request import ExportRequest
from memtui.engine.transfer.importing.request import ImportRequest
from memtui.engine.transfer.writers.csv import as_it_was, harmless
from tests.engine.test_transfer_export import ODD
from tests.engine.transfer_stores import memory, opened, own_store, pro_store, rows_of

Make = Callable[[Path, list[dict[str, Any]]], Path]
ROWS = [
    *ODD,
    memory(11, "'=already with an apostrophe", metadata={"memory_category": "cases", "l0_abstract": "x"}),
    memory(12, "- a dash", scope="work", metadata={"superseded_by": memory(1, "")["id"], "tags": ["t"]}),
    memory(15, "# no heading\n- no bullet\n\\- a backslash\n> no quote", metadata={}),
    memory(13, "Category of its own.", category="weather"),
    memory(14, "  spaces around  ", metadata={"memory_category": "events", "tier": "core"}, tier="core"),
]
EVERYTHING = frozenset(("exact", "near", "short", "secret", "noise"))
RESTORED = {"csv": {"text"}}
"""Losses of the file as it is for others, which our own reader undoes."""


def _there_and_back(
    make: Make, name: str, tmp_path: Path, fields: tuple[str, ...] = ()
) -> tuple[Any, Any, Counter[str]]:
    engine = opened(make(tmp_path / "store", ROWS), tmp_path / "state")
    out = transfer.export_memories(engine, ExportRequest(tmp_path / "out", name, mask=False, fields=fields))
    copy = opened(make(tmp_path / "copy", []), tmp_path / "state")
    plan = transfer.plan_import(copy, ImportRequest((tmp_path / "out",), rules_off=EVERYTHING))
    ledger: Counter[str] = Counter()
    for loss in (*out.loss, *plan.losses()):
        ledger[loss.field] += loss.rows
    transfer.run_import(copy, plan)
    plan.close()
    return rows_of(engine), rows_of(copy), ledger


def _differing(before: Any, after: Any) -> Counter[str]:
    assert before.keys() == after.keys()
    return Counter(
        field
        for key, row in before.items()
        for field, value in row.items()
        if field != "vector" and after[key][field] != value
    )


@pytest.mark.parametrize("name", ["json", "csv", "obsidian"])
@pytest.mark.parametrize("make", [own_store, pro_store])
def test_rows_come_back_equal_up_to_the_ledger(make: Make, name: str, tmp_path: Path) -> None:
    before, after, ledger = _there_and_back(make, name, tmp_path)
    changed = _differing(before, after)
    said = ledger.keys() - {"vector"} - RESTORED.get(name, set())
    assert changed.keys() == said
    assert all(rows <= ledger[field] for field, rows in changed.items()), (changed, ledger)


@pytest.mark.parametrize("name", ["jsonl", "csv", "parquet"])
def test_fields_that_are_left_out_are_in_the_ledger_and_the_rest_comes_back(
    name: str, tmp_path: Path
) -> None:
    before, after, ledger = _there_and_back(own_store, name, tmp_path, ("category", "timestamp"))
    had = {key: {name: v for name, v in row.items() if v is not None} for key, row in before.items()}
    changed = _differing(had, after)
    assert changed.keys() <= ledger.keys()
    assert all(rows <= ledger[field] for field, rows in changed.items()), (changed, ledger)
    for field in ("scope", "importance", "metadata", "tier", "state", "access_count"):
        there = sum(row[field] is not None for row in before.values())
        assert ledger[field] >= there - (
            field == "tier"
        )  # what the table has none of comes from the metadata
    assert all(row["scope"] for row in after.values())  # an agent finds each of them


def test_a_field_that_there_is_not_is_a_wrong_use(tmp_path: Path) -> None:
    engine = opened(own_store(tmp_path / "store", ROWS), tmp_path / "state")
    for name, fields in (("csv", "colour"), ("json", "scope")):
        with pytest.raises(UsageError, match=r"There is no field|cannot be chosen"):
            transfer.export_memories(engine, ExportRequest(tmp_path / "out", name, fields=(fields,)))
    assert transfer.past_exports(engine).all() == []


@pytest.mark.parametrize("make", [own_store, pro_store])
def test_notes_keep_the_texts_and_the_ledger_covers_the_rest(make: Make, tmp_path: Path) -> None:
    before, after, ledger = _there_and_back(make, "markdown", tmp_path)

    def by_text(rows: Any) -> dict[tuple[str, int], Any]:
        seen: Counter[str] = Counter()
        found = {}
        for row in sorted(rows.values(), key=lambda row: (row["timestamp"], row["id"])):
            text = " ".join(row["text"].split())
            found[text, seen[text]] = {**row, "text": text}
            seen[text] += 1
        return found

    changed = _differing(by_text(before), by_text(after))
    assert changed.keys() <= ledger.keys()
    assert all(rows <= ledger[field] for field, rows in changed.items()), (changed, ledger)


@pytest.mark.parametrize("text", ["plain", "=1", "'=1", "''=1", "'plain", "", "'", "@x", "\tx", "'-x"])
def test_a_spreadsheet_text_is_undone_exactly(text: str) -> None:
    assert as_it_was(harmless(text)) == text
    assert not harmless(text).startswith(("=", "+", "-", "@", "\t", "\r"))
