"""The memory of an edit of a third of a table and of its undo: what grows with the rows is the engine's own merge."""

from __future__ import annotations

import json
from pathlib import Path

from tests.benchmarks.limits import within
from tests.benchmarks.sizes import sized
from tests.benchmarks.test_catalog_scale import run

FEW, MANY, DIMS = sized(30_000, 200_000), sized(150_000, 1_000_000), 64
LIMIT = 2.0
"""Growth of a step with its rows, beside that of the bare merge of the same rows. Rows as objects took 4.5."""


def test_an_edit_of_a_third_and_its_undo_grow_as_the_bare_merge_does(tmp_path: Path) -> None:
    peaks: dict[str, list[float]] = {}
    edited: list[float] = []
    for rows in (FEW, MANY):
        folder = tmp_path / f"store{rows}"
        run("million.py", str(folder), str(rows), str(DIMS))
        for step in ("bare", "edit", "plan_undo", "undo"):
            found: dict[str, float] = json.loads(run("edit_memory.py", step, str(folder)).splitlines()[-1])
            peaks.setdefault(step, []).append(found["mb"])
        edited.append(found["rows"])
    growth = {step: (many - few) / (edited[1] - edited[0]) * 1e3 for step, (few, many) in peaks.items()}
    ratios = {step: growth[step] / growth["bare"] for step in ("edit", "plan_undo", "undo")}
    print({"edited": edited, "MB": peaks, "kB a row": growth})
    for step, ratio in ratios.items():
        within(ratio, LIMIT, step)
