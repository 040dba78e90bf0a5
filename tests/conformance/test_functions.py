"""The plugin's pure functions, value by value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conformance.functions import KNOWN, MEMBERS, SETTINGS, Row, compare_functions, same

pytestmark = pytest.mark.conformance


@pytest.fixture(scope="module")
def table(shared: Path) -> dict[str, Row]:
    return {row.name: row for row in compare_functions(shared)}


@pytest.mark.parametrize("function", sorted(MEMBERS))
def test_every_recorded_value_is_reproduced_or_differs_for_a_known_reason(
    table: dict[str, Row], function: str
):
    row = table[function]
    assert row.cases > 0
    found = {what: why for why, cases in row.different.items() for what in cases}
    assert found == {what: why for (name, what), why in KNOWN.items() if name == function}


def test_no_recorded_function_is_forgotten(shared: Path):
    recorded = json.loads((shared / "fixtures" / "peer" / "functions.json").read_text())
    assert recorded.keys() == MEMBERS.keys() | SETTINGS


def test_the_comparison_sees_differences():
    assert same({"a": [1, 0.3]}, {"a": [1.0, 0.1 + 0.2]})
    assert not same(0.3, 0.3 + 1e-11)
    assert not same(True, 1)
    assert not same([1], [1, 2])
    assert not same({"a": None}, {})
