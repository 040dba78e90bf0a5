"""Another recording passes by the same code: no clock of one is built in, and what a case hands over is not changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.conformance.capture_functions import FUNCTIONS
from tests.conformance.recording import clock_of

EARLIEST = 1_600_000_000_000
"""A whole number from here on is a moment, in ms since the epoch."""


def moments(file: Path) -> Iterator[int]:
    """The moments that a module is written with."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and EARLIEST <= node.value < 10**13:
            yield node.value


def test_no_comparison_knows_the_clock_of_one_recording() -> None:
    files = [file for file in Path(__file__).parent.glob("*.py") if file.name != Path(__file__).name]
    assert {file.name: list(moments(file)) for file in files if list(moments(file))} == {}


def test_a_clock_is_read_under_the_name_that_a_recording_has_for_it() -> None:
    assert clock_of({"now": EARLIEST}) == clock_of({"now_ms": EARLIEST}) == EARLIEST


def test_a_counter_that_is_a_fraction_reaches_the_function_as_it_is() -> None:
    patch = FUNCTIONS["tier1_patch"]()([{"access_count": 1.7, "injected_count": 0.5}, 5])
    assert (patch["access_count"], patch["injected_count"]) == (2.7, 1.5)
