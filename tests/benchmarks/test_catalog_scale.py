"""A million rows, or ten: a page costs what its rows cost, wherever it is, and the process stays small.

Ten with MEMTUI_BENCHMARKS=ten-million.

Ratios against a raw take of fifty rows in the same process; processor time, so that a busy machine
does not decide.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.limits import within
from tests.benchmarks.sizes import TEN_MILLION
from tests.conftest import ROOT

ROWS = 10_000_000 if TEN_MILLION else 1_000_000
PAGE_LIMIT = 3.5
"""A page of fifty memories (rows taken, normalised, cleaned) against taking fifty rows: 2.2 to 3.2 are measured."""
PEAK_MB = 2_500 if TEN_MILLION else 400
PARSE_LIMIT = 2.0
"""Metadata of all rows beside a bare parse of the keys that are needed."""
NEXT_LIMIT = 0.3
"""Metadata at the next version, of which one row changed, against reading all of it: .12 is measured."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("million") / "store"
    run("million.py", str(folder), str(ROWS), *(["64"] if TEN_MILLION else []))
    found: dict[str, Any] = json.loads(run("browse_million.py", str(folder)))
    print(json.dumps(found, indent=1))
    return found


def run(script: str, *arguments: str) -> str:
    command = [sys.executable, str(Path(__file__).with_name(script)), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment())
    assert done.returncode == 0, done.stderr
    return done.stdout


def environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_a_page_costs_little_more_than_its_rows(measured: dict[str, Any]) -> None:
    assert measured["rows"] == ROWS
    for name, spent in measured["pages"].items():
        within(spent / measured["raw_take"], PAGE_LIMIT, name)


def test_a_page_is_far_from_what_sorting_in_the_engine_costs(measured: dict[str, Any]) -> None:
    within(max(measured["pages"].values()) / measured["engine_page"], 1 / 20)


def test_metadata_costs_little_more_than_parsing_it(measured: dict[str, Any]) -> None:
    print({"metadata in bare parses": measured["metadata"] / measured["bare_parse"]})
    within(measured["metadata"] / measured["bare_parse"], PARSE_LIMIT)


def test_metadata_of_the_next_version_is_of_what_changed(measured: dict[str, Any]) -> None:
    within(measured["metadata_next"] / measured["metadata"], NEXT_LIMIT)


def test_the_process_stays_small(measured: dict[str, Any]) -> None:
    within(measured["peak_mb"], PEAK_MB, "MB")
