"""Each remedy while another process writes to the same table: nothing is lost, and it is done, or refused in words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import changes
from memtui.engine.core.errors import MemtuiError
from memtui.engine.health.doctor import examine
from memtui.engine.health.remedies import carry_out_remedies, plan_remedy
from memtui.engine.store import maintenance
from tests.conftest import ROOT
from tests.engine import planted_faults as planted
from tests.engine.planted_faults import PLANTED, spoiled
from tests.engine.test_doctor import look, patient


def setting(*numbers: int, to: Callable[[list[float]], list[float] | None]) -> Callable[[Path], None]:
    def spoil(vectors: Any) -> None:
        for number in numbers:
            vectors[number] = to(vectors[number])

    return lambda folder: spoiled(folder, spoil)


def shared(vectors: Any) -> None:
    vectors[9] = vectors[4]


PLANT: dict[str, Callable[[Path], None]] = {
    **{kind: PLANTED[kind][1] for kind in ("D2", "D6", "D7", "D10", "D19", "D20", "D30", "D32")},
    "D12": setting(3, 8, to=lambda vector: None),
    "D13": setting(3, to=lambda vector: [float("inf"), *vector[1:]]),
    "D14": setting(3, 4, to=lambda vector: [0.0] * len(vector)),
    "D15": setting(*range(5), to=lambda vector: [2 * x for x in vector]),
    "D16": setting(3, to=lambda vector: [len(vector) ** -0.5] * len(vector)),
    "D17": lambda folder: spoiled(folder, shared),
}
GROWS_AGAIN = ("D2",)
"""What the writer beside the remedy makes anew."""


@contextmanager
def writing(folder: Path) -> Iterator[dict[str, Any]]:
    """Another process that writes; what it wrote is there after the block."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.engine.recording_writer", str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    wrote: dict[str, Any] = {}
    assert child.stdout is not None
    assert child.stdout.readline().strip() == "writing"
    try:
        yield wrote
    finally:
        child.terminate()
        out, errors = child.communicate(timeout=120)
    assert child.returncode == 0, errors
    wrote |= json.loads(out)


def rows_of(folder: Path) -> dict[str, dict[str, Any]]:
    table = planted.open_table(folder).search().limit(None).select(["id", "text", "metadata"]).to_arrow()
    return {row["id"]: row for row in table.to_pylist()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", PLANT)
def test_a_remedy_beside_a_process_that_writes(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lancedb-pro"
    PLANT[kind](folder)
    if kind == "D2":  # what is a week old in a real store is so at once here
        monkeypatch.setattr(maintenance, "KEPT", timedelta(seconds=2))
        time.sleep(2.1)  # a quick machine plants all of it within the two seconds
    if kind == "D30":
        for each in (folder / "memories.lance" / "data").glob("0101*.lance"):
            os.utime(each, (time.time() - 8 * 86_400,) * 2)
    ill = patient(folder, writable=True)
    engine = ill.engine
    assert engine is not None
    before = rows_of(folder)
    finding = next(each for each in examine(ill).findings if each.kind == kind)
    plan = plan_remedy(ill, finding)
    assert plan.writes, plan.refusal
    done: list[dict[str, Any]] = []
    refused = ""
    with writing(folder) as wrote:
        try:
            done = carry_out_remedies(engine, [plan], confirmed=True)
        except MemtuiError as error:
            refused = str(error)
        time.sleep(0.3)  # it goes on writing on what the remedy left
    after = rows_of(folder)
    assert {each: after[each]["text"] for each in before} == {
        each: row["text"] for each, row in before.items()
    }
    assert wrote["texts"], "the writer wrote nothing meanwhile"
    assert {each: after[each]["text"] for each in wrote["texts"]} == wrote["texts"]
    assert set(after) == {*before, *wrote["texts"]}
    for each, count in Counter(wrote["counts"]).items():
        was = json.loads(before[each]["metadata"]).get("access_count", 0) if each in before else 0
        assert json.loads(after[each]["metadata"]).get("access_count", 0) >= was + count, "a count was lost"
    if refused:
        assert "writ" in refused.lower() or "changed" in refused.lower(), refused
        return
    assert done[0]["entry"] is not None
    left = {each.kind: each for each in look(folder).findings}
    ours = set(finding.seen.ids) & set(left[kind].seen.ids) if kind in left else set()
    assert not ours
    if kind not in GROWS_AGAIN and plan.steps:
        assert kind not in left, left[kind].seen.sentence
    if plan.changes is not None:
        engine.refresh()
        undone = changes.apply(engine, changes.plan_undo(engine), confirmed=True)
        assert undone.entry is not None
        assert set(finding.seen.ids) <= set(
            {each.kind: each for each in look(folder).findings}[kind].seen.ids
        )
