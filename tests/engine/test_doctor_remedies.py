"""A remedy that is offered mends: afterwards the finding is gone, or nothing more is offered for what is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memtui.engine.health.check import HealthFinding
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


@pytest.mark.parametrize(
    ("kind", "rows", "said"),
    [
        (
            "D12",
            [{"vector": None}],
            "the provider and model that made its vectors, then embed their texts again",
        ),
        (
            "D14",
            [{"vector": [0.0] * planted.DIMS}],
            "the provider and model that made its vectors, then embed their texts again",
        ),
        (
            "D17",
            [{"vector": planted.vector_of(5)}] * 2,
            "the provider and model that made its vectors, then embed their texts again",
        ),
        ("D27", [{"metadata": {"supersedes": planted.key_of(800)}}], "hides nothing"),
    ],
)
def test_what_would_be_refused_is_not_offered_and_says_what_to_do_first(
    kind: str, rows: list[dict[str, Any]], said: str, tmp_path: Path
) -> None:
    folder = planted.sound(tmp_path / "lancedb-pro")
    planted.add(folder, [memory(900 + at, **row) for at, row in enumerate(rows)])
    finding = next(each for each in look(folder).findings if each.kind == kind)
    assert (finding.check.how, finding.check.safe) == ("by hand", None)
    assert said in finding.remedy


def test_memories_without_a_text_are_not_offered_to_be_embedded(tmp_path: Path) -> None:
    """A model is there, and there is nothing that it could embed."""
    folder = tmp_path / "lancedb-pro"

    def zeros(vectors: Any) -> None:
        vectors[7] = [0.0] * len(vectors[7])

    planted.spoiled(folder, zeros)
    offered = next(each for each in look(folder).findings if each.kind == "D14")
    assert offered.check.how == "safe"
    planted.open_table(folder).update(where=f"id = '{planted.key_of(7)}'", values={"text": " "})
    finding = next(each for each in look(folder).findings if each.kind == "D14")
    assert finding.check.how == "by hand"
    assert "texts" in finding.remedy


def _mend_once(folder: Path, kind: str) -> None:
    ill = patient(folder, writable=True)
    finding = next((each for each in examine(ill).findings if each.kind == kind), None)
    if finding is None or kind in BY_FILE or not _offered(finding):
        return
    plan = plan_remedy(ill, finding)
    assert plan.writes, f"{finding.kind} is offered and refused: {plan.refusal}"
    assert ill.engine is not None
    carry_out_remedies(ill.engine, [plan.without_names()], confirmed=True)
    left = [each for each in look(folder).findings if each.kind == kind]
    assert not left or not _offered(left[0]), left


def _offered(finding: HealthFinding) -> bool:
    """Whether a screen and the command say that memtui mends this one."""
    return finding.check.how not in ("by hand", "restart")


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


def test_a_repair_that_shares_memories_says_who_will_read_them(tmp_path: Path) -> None:
    folder = planted.sound(tmp_path / "lancedb-pro")
    planted.add(folder, [memory(900, scope=None), memory(901, scope="  "), memory(902, scope=" agent:main ")])
    ill = patient(folder)
    finding = next(each for each in examine(ill).findings if each.kind == "D23")
    plan = plan_remedy(ill, finding)
    assert plan.changes is not None
    assert any("2 memories go to global, which every agent reads" in note for note in plan.changes.warnings)
