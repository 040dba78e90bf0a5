"""A million memories in use, or ten: recall, Lifecycle, the doctor and the whole app beside one bare pass, and small.

Ten with MEMTUI_BENCHMARKS=ten-million. Each use is a process of its own, so that its peak is its own; ratios are of
processor time in one process, so that a busy machine does not decide.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.benchmarks.limits import spread_of, within
from tests.benchmarks.sizes import TEN_MILLION
from tests.benchmarks.test_catalog_scale import ROWS, run

DIMS = 64
QUESTION_LIMIT = 2.0
"""A question without any index, in bare passes over all vectors: .9 is measured at a million, 1.6 at ten."""
BOARD_LIMIT = 2.5
"""Lifecycle's board in bare scorings of all memories: 1.4 is measured."""
DEEP_LIMIT = 45
"""The doctor's deep pass in bare passes: 27 at a million, most of it a part that does not grow beyond 200,000 rows."""
PEAK_MB = (
    {"recall": 2_500, "lifecycle": 2_700, "doctor": 2_500}
    if TEN_MILLION
    else {"recall": 850, "lifecycle": 520, "doctor": 1_000}
)
"""Measured at a million: 740, 458, 916. Asked for ten millions is 2,500: README says what is reached."""
APP_MB, LIFECYCLE_MB = 450, 600
"""The most that the whole app takes at a million: opened, paged and filtered (450 is asked for, 443 is measured); with
Lifecycle, whose board is worked out beside that (551 is measured, 451 stay)."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("use") / "store"
    run("million.py", str(made), str(ROWS), str(DIMS))
    return made


def used(folder: Path, what: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("use_million.py", str(folder), what))
    print(what, json.dumps(found, indent=1))
    assert found["rows"] == ROWS
    within(found["peak_mb"], PEAK_MB[what], "MB")
    return found


def test_a_question_costs_little_more_than_one_pass(folder: Path) -> None:
    found = used(folder, "recall")
    within(median(found["questions"]) / found["pass"], QUESTION_LIMIT, spread=spread_of(found["questions"]))


def test_the_board_costs_little_more_than_the_formulas(folder: Path) -> None:
    found = used(folder, "lifecycle")
    within(found["board"] / found["scored"], BOARD_LIMIT)


def test_the_doctor_looks_at_everything_in_bounded_memory(folder: Path) -> None:
    found = used(folder, "doctor")
    within(found["deep"] / found["pass"], DEEP_LIMIT)


@pytest.mark.skipif(TEN_MILLION, reason="the figure is one of a million memories")
def test_the_whole_app_stays_small(folder: Path) -> None:
    found = json.loads(run("app_memory.py", str(folder)))
    print(json.dumps(found, indent=1))
    within(found["paged and filtered, peak"], APP_MB, "MB, paged and filtered")
    within(found["peak"], LIFECYCLE_MB, "MB, Lifecycle")
