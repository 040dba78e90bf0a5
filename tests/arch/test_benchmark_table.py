"""The table of the benchmarks: what a run of them says, and with which exit code it ends."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

HEAD = """
import os
from pathlib import Path

import pytest

from tests.benchmarks.limits import within

pytestmark = pytest.mark.benchmark
"""
RUNS = (
    "count = Path(__file__).with_suffix('.runs')\n"
    "    count.write_text((count.read_text() if count.exists() else '') + '.')"
)


def table(folder: Path, body: str) -> tuple[int, list[list[str]], int]:
    """Exit code, rows and number of runs of a file with one benchmark of this body."""
    file = folder / "test_planted.py"
    file.write_text(f"{HEAD}\n\ndef test_a_thing():\n    {RUNS}\n    {body}\n")
    command = [sys.executable, str(ROOT / ".ci" / "benchmarks"), str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    head, *rows = [re.split(r" {2,}", line.strip()) for line in done.stdout.splitlines()]
    assert head == ["work", "outcome", "ratio", "limit", "spread"], done.stderr
    return done.returncode, rows, len((folder / "test_planted.runs").read_text())


@pytest.mark.parametrize(
    ("body", "code", "rows", "runs"),
    [
        ("within(1.25, 2, spread=0.1)", 0, [["planted: a thing", "within", "1.25", "2", "10%"]], 1),
        ("within(3, 2, 'MB')", 1, [["planted: a thing (MB)", "MISSED", "3", "2", "0%"]], 3),
        (
            "within(3 if len(count.read_text()) == 1 else 1, 2)",
            0,
            [["planted: a thing", "within", "1", "2", "67%"]],
            2,
        ),
        ("assert 1 == 2", 2, [["planted: a thing", "NOT RUN", "assert 1 == 2"]], 1),
        ("pass", 2, [["planted: a thing", "NOT RUN", "it names no figure with its limit"]], 1),
    ],
    ids=["kept", "missed", "missed once", "broken", "nothing measured"],
)
def test_a_limit_is_missed_where_no_run_keeps_it(
    tmp_path: Path, body: str, code: int, rows: list[list[str]], runs: int
) -> None:
    assert table(tmp_path, body) == (code, rows, runs)


def test_every_benchmark_names_its_limit() -> None:
    for file in sorted((ROOT / "tests" / "benchmarks").glob("test_*.py")):
        assert re.search(r"\bwithin\(", file.read_text(encoding="utf-8")), file.name


def test_a_file_is_named_with_its_folder_or_without() -> None:
    find = runpy.run_path(str(ROOT / ".ci" / "benchmarks"))["_file"]
    found = {find(name) for name in ("test_lab.py", str(ROOT / "tests" / "benchmarks" / "test_lab.py"))}
    assert found == {ROOT / "tests" / "benchmarks" / "test_lab.py"}
