"""Remedies on the memories: each does what it is for when it is really written, and the mildest stands first."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memtui.engine import Engine, RecallRequest, open_engine
from memtui.engine.cases.demo import demo_cases
from memtui.engine.demo import build_demo
from memtui.engine.lab.radar import radar
from tests.conftest import NOW_MS, tree_hash

QUESTION = "Which port do I use for SSH to the bastion?"
DAY_MS = 86_400_000


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_demo(tmp_path_factory.mktemp("demo") / "store", now_ms=NOW_MS)


@pytest.fixture
def engine(demo: Path, tmp_path: Path) -> Engine:
    folder = Path(shutil.copytree(demo, tmp_path / "store"))
    return opened(folder)


def opened(folder: Path) -> Engine:
    engine = open_engine(
        folder, now=lambda: NOW_MS, environ={}, cwd=folder, writable=True, state=folder.parent / "state"
    )
    engine.load_catalog()
    engine.load_metadata()
    return engine


def test_a_memory_that_did_not_come_back_is_brought_back_by_what_is_proposed(
    engine: Engine, tmp_path: Path
) -> None:
    trace = engine.recall(RecallRequest(QUESTION, recipe="pro/tool"))
    (told,) = radar(trace)
    assert told.newer not in trace.returned
    untouched = tree_hash(tmp_path / "store")
    found = engine.lab.remedies(trace, told.newer, demo_cases(NOW_MS))
    assert tree_hash(tmp_path / "store") == untouched
    assert {"words", "supersede"} & {each.name for each in found}
    order = [(each.worse, each.harm) for each in found]
    assert order == sorted(order)
    best = found[0]
    engine.curate.apply(best.planned, confirmed=True)
    engine.refresh()
    after = engine.recall(RecallRequest(QUESTION, recipe="pro/tool"))
    assert told.newer in after.returned
    assert after.returned.index(told.newer) + 1 == best.rank


def test_a_memory_that_wrongly_came_back_is_kept_away(engine: Engine) -> None:
    trace = engine.recall(RecallRequest(QUESTION, recipe="pro/tool"))
    (told,) = radar(trace)
    found = engine.lab.remedies(trace, told.recalled, ())
    assert found[0].name == "supersede"
    assert found[0].rank is None
    engine.curate.apply(found[0].planned, confirmed=True)
    engine.refresh()
    assert told.recalled not in engine.recall(RecallRequest(QUESTION, recipe="pro/tool")).returned


def test_an_expired_memory_is_brought_back_by_lifting_its_expiry(engine: Engine) -> None:
    first = engine.recall(RecallRequest(QUESTION, recipe="pro/tool")).returned[0]
    engine.curate.apply(engine.curate.edit([first], {"valid_until": "1d"}))
    engine.refresh()
    trace = engine.recall(RecallRequest(QUESTION, recipe="pro/tool", now_ms=NOW_MS + 2 * DAY_MS))
    assert first not in trace.returned
    later = opened(Path(engine.store.folder or ""))
    later._now = lambda: NOW_MS + 2 * DAY_MS
    trace = later.recall(RecallRequest(QUESTION, recipe="pro/tool"))
    found = later.lab.remedies(trace, first, ())
    assert found[0].name == "lift-expiry"
    assert found[0].rank == 1
