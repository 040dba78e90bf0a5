"""Ids of many rows in a finding: made when they are asked for, each once, as the eager ones would be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memtui.engine import Engine
from memtui.engine.health import check
from memtui.engine.health.check import ManyIds
from memtui.engine.health.doctor import examine, patient_of
from memtui.engine.store.open import open_store
from tests.benchmarks.million import write
from tests.conftest import NOW_MS

ROWS = 500


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    write(str(tmp_path / "store"), ROWS, 8)  # numbers from 0 to 1: hardly a vector of length 1
    return Engine(open_store(tmp_path / "store"), now=lambda: NOW_MS)


def test_a_finding_about_all_rows_makes_no_texts(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    eager = next(each for each in examine(patient_of(engine, now_ms=NOW_MS)).findings if each.kind == "D15")
    monkeypatch.setattr(check, "MANY_IDS", 100)
    monkeypatch.setattr(check, "_IDS_AT_ONCE", 64)
    lazy = next(each for each in examine(patient_of(engine, now_ms=NOW_MS)).findings if each.kind == "D15")
    assert isinstance(lazy.seen.ids, ManyIds)
    assert isinstance(eager.seen.ids, tuple)
    assert len(eager.seen.ids) == ROWS
    assert lazy.as_json() == eager.as_json()
    assert lazy.seen.ids[:7] == eager.seen.ids[:7]
    assert lazy.seen.ids[-1] == eager.seen.ids[-1]


def test_an_id_that_comes_twice_is_there_once(engine: Engine) -> None:
    ids = engine.catalog.ids
    positions = [5, 9, 5, 5, 2, 9]
    assert list(ManyIds(ids, np.array(positions))) == ids.texts([5, 9, 2])
