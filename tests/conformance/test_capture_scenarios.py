"""Every recorded scenario of the plugin's write side, replayed on a real store; one test a scenario."""

from __future__ import annotations

from typing import Any

import pytest

from memtui.engine.capture.replays import read_prototypes, read_recordings, replay
from tests.conformance.capture_compare import differences
from tests.conformance.recording import FIXTURES
from tests.conftest import thinned

FILE = FIXTURES / "capture" / "scenarios.jsonl.gz"
RECORDED: dict[str, dict[str, Any]] = (
    {each["id"]: each for each in read_recordings(FILE)} if FILE.is_file() else {}
)
if not RECORDED:
    pytest.skip(f"left out: no recorded scenarios at {FILE}", allow_module_level=True)
OUTPUTS = (
    "rows_created",
    "rows_changed",
    "rows_deleted",
    "rows_total",
    "files_after",
    "unused_replies",
    "note",
)


def inputs_of(recorded: dict[str, Any]) -> dict[str, Any]:
    """The recording without anything that a replay finds out."""
    steps = [
        {key: value for key, value in step.items() if key not in ("answer", "queues", "trace")}
        for step in recorded["steps"]
    ]
    return {**{key: value for key, value in recorded.items() if key not in OUTPUTS}, "steps": steps}


@pytest.mark.parametrize("name", thinned(RECORDED, 6))
def test_the_scenario_is_equal(name: str) -> None:
    recorded = RECORDED[name]
    ours = replay(inputs_of(recorded), prototypes=read_prototypes(FILE))
    different = differences(ours, recorded)
    assert not different, f"{len(different)} differences:\n" + "\n".join(different[:30])
