"""Real stores for the Recall screen: the demo store with its bundled embedder, and one without any."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from memtui.engine import Engine, open_engine
from memtui.engine.demo import build_demo
from memtui.tui.screens.audit import screen as audit_screen
from memtui.tui.screens.browse import detail, neighbours
from memtui.tui.widgets import screen_bars
from tests.conftest import NOW_MS
from tests.engine.pro_store import row, write_store
from tests.tui.hostile import NASTY_ROWS
from tests.tui.idle import install

install()

REST_S = 0.02
"""The cursor has rested on a memory: so short that a test hardly waits, so long that keys in a row come before."""


def _open(folder: Path) -> Engine:
    """The engine with a stop-watch that goes on by a millisecond a look, so that durations are the same every time."""
    looks = count()
    engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder, timer=lambda: next(looks) / 1000)
    engine.load_catalog()
    engine.load_metadata()
    return engine


@pytest.fixture(autouse=True)
def messages_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes by itself stays until a test has looked: on a busy machine it was gone before that."""
    monkeypatch.setattr(screen_bars, "STAY_S", 3_600.0)
    monkeypatch.setattr(audit_screen, "REVEAL_S", 3_600.0)


@pytest.fixture(autouse=True)
def short_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits until the cursor has rested waits for less: a test waits for each of them, after every key."""
    monkeypatch.setattr(detail, "REST_S", REST_S)
    monkeypatch.setattr(neighbours.NeighboursPanel, "SETTLE_S", REST_S)


@pytest.fixture(scope="session")
def demo_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo store, made once, seen at the frozen clock."""
    return build_demo(tmp_path_factory.mktemp("demo") / "store", now_ms=NOW_MS)


@pytest.fixture
def demo_engine(demo_store: Path) -> Engine:
    """Both lanes: vectors of the bundled model, and keywords."""
    return _open(demo_store)


@pytest.fixture
def keyword_engine(tmp_path: Path) -> Engine:
    """A plugin's store without an embedder, whose rows are as hostile as rows can be."""
    rows = [
        row(f"row-{i}", text, (1.0, i / 10), timestamp=NOW_MS - i * 86_400_000, **more)
        for i, (text, more) in enumerate(NASTY_ROWS)
    ]
    return _open(write_store(tmp_path / "plugin", rows, dims=2))
