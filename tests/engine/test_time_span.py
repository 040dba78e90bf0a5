"""A length of time in words: one formatter, and nobody beside it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memtui.engine import time_span

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (2.5, "2.5 s"),
        (9, "9 s"),
        (38.4, "38 s"),
        (60, "1 min"),
        (240, "4 min"),
        (9_000, "2.5 h"),
        (40_000, "11 h"),
        (86_400 * 2, "2 days"),
        (60 * 120_136, "83 days"),
        (86_400 * 365 * 3, "3 years"),
        (-5, "0 s"),
        (float("nan"), "an unknown time"),
    ],
)
def test_a_length_of_time_is_told_in_the_unit_that_fits(seconds, said):
    assert time_span(seconds) == said


def test_nothing_tells_a_length_of_time_in_a_unit_of_its_own_choice():
    """A count of minutes or hours in a text is made by `time_span` (or by `ago`, the time since a moment)."""
    own = re.compile(r"""\{[^{}"]*\}\s(?:min|minutes|hours|h)\b""")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "memtui").rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if own.search(line) and path.name != "text.py"
    ]
    assert found == []
