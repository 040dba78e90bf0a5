"""An open store goes by the configuration as it is now: after our own write, and after anybody else's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memtui.engine import Engine, RecallRequest, open_engine
from tests.engine import planted_faults as planted

NOW_MS = planted.NOW_MS


def home(folder: Path, inner: str) -> Path:
    store = folder / ".openclaw" / "memory" / "lancedb-pro"
    if not store.exists():
        planted.sound(store)
    written(folder, inner)
    return store


def written(folder: Path, inner: str) -> None:
    file = folder / ".openclaw" / "openclaw.json"
    before = file.stat().st_mtime_ns if file.exists() else 0
    file.write_text(
        "{ plugins: { slots: { memory: 'memory-lancedb-pro' }, entries: { 'memory-lancedb-pro': "
        f"{{ enabled: true, config: {{ embedding: {{ apiKey: 'x', model: 'm', dimensions: 32 }}, {inner} }} }} }} }} }}"
    )
    if before:
        os.utime(file, ns=(before + 1_000_000, before + 1_000_000))


def opened(folder: Path) -> Engine:
    engine = open_engine(
        None,
        now=lambda: NOW_MS,
        environ={"HOME": str(folder)},
        cwd=folder,
        writable=True,
        state=folder / "state",
    )
    engine.load_catalog()
    engine.load_metadata()
    return engine


def test_rules_of_the_file_count_after_a_refresh(tmp_path: Path) -> None:
    home(tmp_path, "retrieval: { minScore: 0.2 }, scopes: { agentAccess: { main: ['global'] } }")
    engine = opened(tmp_path)
    assert engine.recall_context().base_retrieval == {"minScore": 0.2}
    assert engine.access.named_agents() == ("main",)
    assert not engine.reconfigured
    held = engine.write_state
    written(
        tmp_path,
        "retrieval: { minScore: 0.4, hardMinScore: 0.5 }, scopes: { agentAccess: { other: ['global'] } }",
    )
    assert engine.reconfigured
    assert engine.recall_context().base_retrieval == {"minScore": 0.2}, "what is open stays until it is asked"
    engine.refresh()
    assert not engine.reconfigured
    assert engine.recall_context().base_retrieval == {"minScore": 0.4, "hardMinScore": 0.5}
    assert engine.access.named_agents() == ("other",)
    assert engine.write_state is held, "what is staged stays"
    assert engine.recall(
        RecallRequest("kiln", recipe="pro/tool", query_vector=tuple(planted.word_vector("kiln")))
    )


def test_a_lock_of_another_kind_counts_at_once(tmp_path: Path) -> None:
    home(tmp_path, "autoRecall: true")
    engine = opened(tmp_path)
    assert engine.write_state.writable
    written(tmp_path, "redisUrl: 'redis://127.0.0.1'")
    engine.refresh()
    assert not engine.write_state.writable
    assert "Redis" in engine.write_state.never_because


def test_a_configuration_that_cannot_be_read_changes_nothing(tmp_path: Path) -> None:
    home(tmp_path, "retrieval: { minScore: 0.2 }")
    engine = opened(tmp_path)
    (tmp_path / ".openclaw" / "openclaw.json").write_text("{ plugins: ")
    engine.refresh()
    assert engine.store.count() == 40
    assert engine.recall_context().base_retrieval in ({"minScore": 0.2}, None)


def test_another_store_is_said_and_this_one_stays_open(tmp_path: Path) -> None:
    store = home(tmp_path, "autoRecall: true")
    other = planted.sound(tmp_path / "other", 3)
    engine = opened(tmp_path)
    assert engine.elsewhere == ""
    written(tmp_path, f"dbPath: '{other}'")
    engine.refresh()
    assert engine.store.folder == store
    assert engine.elsewhere == str(other)


@pytest.mark.parametrize("name", ["more.json5", ".env"])
def test_a_part_or_a_variable_that_changes_is_seen(name: str, tmp_path: Path) -> None:
    home(tmp_path, "$include: './more.json5'")
    part = tmp_path / ".openclaw" / "more.json5"
    part.write_text("{ retrieval: { minScore: 0.2 } }")
    engine = opened(tmp_path)
    (tmp_path / ".openclaw" / name).write_text(
        "{ retrieval: { minScore: 0.25 } }" if name != ".env" else "K=1"
    )
    assert engine.reconfigured
    engine.refresh()
    assert not engine.reconfigured
    if name != ".env":
        assert engine.recall_context().base_retrieval == {"minScore": 0.25}
