"""The memory of an edit of a third of a table, beside the engine's own merge of the same rows in the same process."""

from __future__ import annotations

import json
from pathlib import Path

from tests.benchmarks.sizes import sized
from tests.benchmarks.test_catalog_scale import run

ROWS, DIMS = sized(120_000, 1_000_000), 64
LIMIT = 4.0
"""Every step, undo included, measured over the start of the process: the rows stand as objects in a plan once."""


def test_an_edit_of_a_third_and_its_undo_take_a_bounded_multiple_of_the_bare_merge(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    run("million.py", str(folder), str(ROWS), str(DIMS))
    found: dict[str, float] = json.loads(run("edit_memory.py", str(folder)).splitlines()[-1])
    ratios = {name: found[name] / found["bare"] for name in ("plan", "apply", "plan_undo", "undo")}
    worst = max(ratios.values())
    print(f"{found['rows']:.0f} rows: " + ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items()))
    print(f"ratio {worst:.2f}, limit {LIMIT:g}")
    assert worst <= LIMIT, found
