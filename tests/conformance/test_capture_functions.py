"""Every recorded case of the plugin's pure functions of capture; one test a function."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.capture_functions import FUNCTIONS, SIX_DECIMALS, TOLERANCE, same

FOLDER = (
    Path(os.environ.get("MEMTUI_FIXTURES") or Path(__file__).parents[3] / "shared" / "fixtures") / "capture"
)
FILE = FOLDER / "functions.json"
RECORDED: dict[str, list[dict[str, Any]]] = (
    json.loads(FILE.read_text(encoding="utf-8"))["data"] if FILE.is_file() else {}
)
if not RECORDED:
    pytest.skip(f"left out: no recorded functions at {FILE}", allow_module_level=True)


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_every_case_is_equal(name: str) -> None:
    read = FUNCTIONS[name]()
    different = []
    tolerance = 1e-5 if name in SIX_DECIMALS else TOLERANCE
    for case in RECORDED[name]:
        ours = read(case["in"])
        if not same(ours, case["out"], tolerance):
            different.append(
                f"{json.dumps(case['in'], ensure_ascii=False)[:300]}: {ours!r} against {case['out']!r}"
            )
    assert not different, f"{len(different)} of {len(RECORDED[name])}:\n" + "\n".join(different)
