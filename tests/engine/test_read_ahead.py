"""What a first question would wait for is read before it is asked: nothing twice, nobody is asked, and it stops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtui.engine import Cancelled, CancelToken, Engine, RecallRequest, open_engine
from memtui.engine.demo import build_demo
from memtui.engine.recall.answer import read_ahead
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.recipes.memtui.survey import survey
from memtui.engine.store.snapshot import Snapshot
from tests.conftest import NOW_MS

Floats32 = np.ndarray[Any, np.dtype[np.float32]]

QUESTION = "Which port do I use for SSH to the bastion?"
NOTHING_YET = RecallRequest("", recipe="memtui", scopes=None)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    folder: Path = build_demo(tmp_path / "store", now_ms=NOW_MS)
    return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)


def files(engine: Engine) -> dict[Path, int]:
    """Every file of the store with its time."""
    return {each: each.stat().st_mtime_ns for each in Path(engine.store.uri).rglob("*") if each.is_file()}


def surveyed(pin: Snapshot) -> bool:
    """Whether the whole table was surveyed already."""
    try:
        pin.derived(("survey", None), _not_yet)
    except LookupError:
        return False
    return True


def _not_yet() -> object:
    raise LookupError


def test_a_question_finds_everything_ready(engine: Engine) -> None:
    pin = engine.store.pin()
    assert not surveyed(pin)
    engine.read_ahead(NOTHING_YET, CancelToken())
    assert surveyed(pin)
    words, texts = pin._words, pin.rows
    assert words is not None
    assert words.read == texts
    known = survey(pin, None)
    trace = engine.recall(RecallRequest(QUESTION, recipe="memtui", scopes=None))
    assert words.read == texts  # no text was read or split again
    assert survey(engine.store.pin(), None) is known
    plain = open_engine(Path(engine.store.uri), now=lambda: NOW_MS, environ={}, cwd=Path(engine.store.uri))
    assert trace.returned == plain.recall(RecallRequest(QUESTION, recipe="memtui", scopes=None)).returned


def test_reading_ahead_asks_no_service_and_writes_nothing(engine: Engine) -> None:
    asked: list[str] = []

    def embed(text: str) -> Floats32:
        asked.append(text)
        return np.zeros(1, np.float32)

    before = files(engine)
    read_ahead(NOTHING_YET, RecallContext(engine.store, NOW_MS, embed), CancelToken())
    assert surveyed(engine.store.pin())
    assert asked == []
    assert files(engine) == before


def test_reading_ahead_stops_when_it_is_told_to(engine: Engine) -> None:
    stopped = CancelToken()
    stopped.cancel()
    with pytest.raises(Cancelled):
        engine.read_ahead(NOTHING_YET, stopped)
    assert not surveyed(engine.store.pin())
    engine.recall(RecallRequest(QUESTION, recipe="memtui", scopes=None))
    assert surveyed(engine.store.pin())


def test_a_recipe_without_anything_to_read_ahead_reads_nothing(engine: Engine) -> None:
    engine.read_ahead(RecallRequest("", recipe="pro/tool"), CancelToken())
    assert not surveyed(engine.store.pin())
