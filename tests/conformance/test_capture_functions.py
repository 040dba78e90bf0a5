"""Every recorded case of the plugin's pure functions of capture; one test a function."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.capture_functions import FILE, FUNCTIONS, RECORDING, SIX_DECIMALS, TOLERANCE, same

RECORDED: dict[str, list[dict[str, Any]]] = RECORDING["data"]
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
