"""A fault of our own: the place is told, the values of the store are not."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT

_FAULT = """
from memtui.tui.app import MemtuiApp
def fail(self):
    memory = "the vault opens with marzipan"
    raise ValueError("broken [/oops] key sk-proj-" + "a1B2" * 12)
MemtuiApp._start = fail
MemtuiApp("/nowhere").run(headless=True, size=(80, 24))
"""


def test_a_crash_tells_its_place_and_no_value():
    done = subprocess.run(
        [sys.executable, "-c", _FAULT], cwd=ROOT, capture_output=True, text=True, check=False
    )
    told = " ".join((done.stdout + done.stderr).split())  # a path's length says where lines break
    assert "memtui stopped by a fault of its own: ValueError: broken [/oops]" in told
    assert "in fail" in told
    assert "marzipan" not in told
    assert "a1B2a1B2" not in told
    assert "Report these lines" in told


def test_the_screen_goes_back_after_an_answer_with_empty_columns(tmp_path):
    """Traces hold columns: two of them are never compared value by value."""
    from memtui.engine import RecallRequest, open_engine
    from tests.engine.pro_store import NOW_MS, row, write_store

    store = write_store(tmp_path / "store", [row("row-1-aaaa", "A port", (1.0, 0.0))], dims=2)
    engine = open_engine(store, now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    asked = RecallRequest("port", query_vector=[1.0, 0.0])
    first, second = engine.recall(asked), engine.recall(asked)
    assert (first == first, first == second) == (True, False)
