"""How far to trust a memory of openclaw-mem-engine, and how much it counts: filtered, counted and told."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import Engine, ListQuery, open_engine
from memtui.engine.query.errors import FilterError
from tests.cli.every_command import call
from tests.conftest import NOW_MS
from tests.engine.tables import pro_row, write_table

Row = dict[str, Any]


@pytest.fixture(scope="module")
def recorded(shared: Path) -> list[Row]:
    """Every row as the plugin stored it."""
    lines = (shared / "fixtures/stores/rows/engine.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def folder(shared: Path, unpack: Callable[[Path], Path]) -> Path:
    return unpack(shared / "fixtures" / "stores" / "engine.tar.gz")


@pytest.fixture
def engine(folder: Path, tmp_path: Path) -> Engine:
    opened = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    opened.load_catalog()
    return opened


def found(engine: Engine, filter: str) -> set[str]:
    view = engine.view(ListQuery(filter=filter))
    return {memory.id for memory in engine.page(view, 0, view.total)}


Wanted = Callable[[Row], bool]


@pytest.mark.parametrize(
    ("filter", "wanted"),
    [
        ("trust:quarantined", lambda row: row["trust_tier"] == "quarantined"),
        ("trust:quarantined,quarantine", lambda row: row["trust_tier"] in ("quarantined", "quarantine")),
        ("-trust:user", lambda row: row["trust_tier"] != "user"),
        ("trust:un-trusted", lambda row: row["trust_tier"] == "Un-Trusted"),
        ("label:must_remember", lambda row: row["importance_label"] == "must_remember"),
        ("label:high", lambda row: row["importance_label"] == "must_remember"),
        ("label:unknown,ignore", lambda row: row["importance_label"] in ("unknown", "ignore")),
        (
            "label:nice-to-have -trust:user scope:kornfeld",
            lambda row: (
                row["importance_label"] == "nice_to_have"
                and row["trust_tier"] != "user"
                and row["scope"] == "kornfeld"
            ),
        ),
        ("cat:todo", lambda row: row["category"] == "todo"),
        ("meta:trust_tier=operator", lambda row: row["trust_tier"] == "operator"),
        ("meta:importance_label", lambda row: True),
    ],
)
def test_trust_and_labels_are_filtered(
    engine: Engine, recorded: list[Row], filter: str, wanted: Wanted
) -> None:
    expected = {row["id"] for row in recorded if wanted(row)}
    assert expected
    assert found(engine, filter) == expected


@pytest.mark.parametrize("filter", ["trust:trustd", "label:must_remembr"])
def test_a_word_that_is_neither_is_told_with_the_nearest(engine: Engine, filter: str) -> None:
    with pytest.raises(FilterError) as caught:
        found(engine, filter)
    assert "Did you mean" in caught.value.fix


@pytest.mark.parametrize("filter", ["trust:user", "label:ignore"])
def test_another_programs_store_says_that_it_has_none(filter: str, tmp_path: Path) -> None:
    write_table(tmp_path / "db", [pro_row(1)])
    opened = open_engine(tmp_path / "db", now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    opened.load_catalog()
    with pytest.raises(FilterError, match="only openclaw-mem-engine"):
        found(opened, filter)


def test_a_row_without_a_label_counts_by_its_score(shared: Path, unpack: Callable[[Path], Path]) -> None:
    """As the program that made it reads it: recorded in its own list of a table with nulls."""
    opened = open_engine(
        unpack(shared / "fixtures/stores/damaged/engine-null-fields.tar.gz"),
        now=lambda: NOW_MS,
        environ={},
        cwd=shared,
    )
    opened.load_catalog()
    whole = opened.view(ListQuery())
    rows = opened.page(whole, 0, whole.total)
    bare = [memory for memory in rows if memory.extra.get("importance_label") is None]
    assert bare
    for memory in bare:
        score = memory.importance
        label = "unknown" if score is None else "must_remember" if score >= 0.8 else "nice_to_have"
        label = "ignore" if score is not None and score < 0.5 else label
        assert memory.id in found(opened, f"label:{label}")
    assert sum(count for _, count in opened.stats().labels) == whole.total


def test_counts_by_trust_and_by_label_are_those_of_the_rows(folder: Path, recorded: list[Row]) -> None:
    told = json.loads(call("stats", "--json", "--store", folder).out)
    assert dict(told["trust_tiers"]) == Counter(row["trust_tier"] for row in recorded)
    assert dict(told["labels"]) == Counter(row["importance_label"] for row in recorded)
    shown = call("stats", "--store", folder).out
    assert "trust tier" in shown
    assert "importance label" in shown


def test_a_memory_is_shown_with_both(folder: Path, recorded: list[Row]) -> None:
    row = next(each for each in recorded if each["trust_tier"] == "Un-Trusted")
    told = json.loads(call("show", row["id"], "--json", "--store", folder).out)
    assert (told["importance_label"], told["trust_tier"]) == (row["importance_label"], "Un-Trusted")
    listed = json.loads(call("ls", f"id:{row['id']}", "--json", "--store", folder).out)
    assert json.dumps(listed).count("Un-Trusted") >= 1
    shown = call("show", row["id"], "--store", folder).out
    assert "Un-Trusted" in shown
