"""A remedy that is offered mends: afterwards the finding is gone, or nothing more is offered for what is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memtui.engine.health.doctor import examine
from memtui.engine.health.remedies import carry_out_remedies, plan_remedy
from tests.engine import planted_faults as planted
from tests.engine.planted_faults import PLANTED, memory
from tests.engine.test_doctor import look, patient

BY_FILE = {"D34", "D35"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", PLANTED)
def test_each_offered_remedy_leaves_nothing_to_offer(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "lancedb-pro"
    PLANTED[kind][1](folder)
    _mend_once(folder, kind)


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("D23", [{"scope": "nowhere"}, {"scope": "agent:undefined"}]),
        ("D23", [{"scope": "nowhere"}, {"scope": " global"}]),
        ("D24", [{"timestamp": 1.7e15}, {"timestamp": 1.7e18}]),
        ("D24", [{"timestamp": 1_700_000_000.0}, {"timestamp": None}]),
        ("D24", [{"timestamp": None}, {"timestamp": 0.0}]),
    ],
)
def test_what_nobody_can_know_is_not_offered(kind: str, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    folder = planted.sound(tmp_path / "lancedb-pro")
    planted.add(folder, [memory(900 + at, **row) for at, row in enumerate(rows)])
    _mend_once(folder, kind)


def _mend_once(folder: Path, kind: str) -> None:
    ill = patient(folder, writable=True)
    finding = next((each for each in examine(ill).findings if each.kind == kind), None)
    if finding is None or kind in BY_FILE or finding.check.how == "by hand":
        return
    plan = plan_remedy(ill, finding)
    if not plan.writes:
        assert finding.check.how != "safe" or kind in _NEEDS_MORE, plan.refusal
        return
    assert ill.engine is not None
    carry_out_remedies(ill.engine, [plan.without_names()], confirmed=True)
    left = [each for each in look(folder).findings if each.kind == kind]
    assert not left or not plan_remedy(patient(folder, writable=True), left[0]).writes, left


_NEEDS_MORE = ("D2", "D12", "D13", "D14", "D16", "D17", "D27", "D30")
"""What a young table, or one without a model at hand, has to wait for: the refusal says so."""


def test_no_remedy_of_a_store_that_is_never_written_is_called_safe(shared: Path, unpack: Any) -> None:
    folder = unpack(shared / "fixtures" / "stores" / "engine.tar.gz")
    ill = patient(folder, writable=False)
    found = examine(ill).findings
    assert found
    assert ill.engine is not None
    if not ill.engine.write_state.never_because:
        pytest.skip("stores of this program are written")
    for each in found:
        assert each.check.how in ("by hand", "yours") or each.check.safe is None, each.kind
        assert plan_remedy(ill, each).refusal
