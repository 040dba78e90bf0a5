"""An entry of which one memory was purged: undo and redo are about the rest, and nothing of the other returns."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine import changes
from tests.engine.curate_world import engine_at, row_of, rows_of, version_of
from tests.engine.test_curate_forget import SECRET, chain, uuid

__all__ = ["chain"]  # the fixture


@pytest.mark.parametrize("kept", [5, 6])
def test_undo_and_redo_of_what_is_left(chain: Path, kept: int) -> None:
    engine = engine_at(chain)
    other = 11 - kept
    before = row_of(chain, uuid(kept))
    done = changes.apply(
        engine, changes.plan_edit(engine, [uuid(5), uuid(6)], {"importance": 0.25}), confirmed=True
    )
    after = row_of(chain, uuid(kept))
    assert before["importance"] != after["importance"]
    purge = changes.plan_forget(engine, [uuid(other)], hard=True, shrink=True)
    changes.apply(engine, purge, confirmed=True)
    engine = engine_at(chain)
    back = changes.plan_undo(engine, done.entry)
    assert [each.id for each in back.changes] == [uuid(kept)]
    assert not back.conflicts
    undone = changes.apply(engine, back, confirmed=True)
    assert row_of(chain, uuid(kept)) == before
    assert uuid(other) not in rows_of(chain).column("id").to_pylist()
    entry = next(each for each in engine.write_state.applier.journal.entries() if each.entry == done.entry)
    assert entry.state == "undone"
    again = changes.plan_redo(engine, done.entry)
    assert [each.id for each in again.changes] == [uuid(kept)]
    changes.apply(engine, again, confirmed=True)
    assert row_of(chain, uuid(kept))["importance"] == after["importance"]
    assert uuid(other) not in rows_of(chain).column("id").to_pylist()
    everything = b"".join(path.read_bytes() for path in chain.parent.rglob("*") if path.is_file())
    assert f"{SECRET} {other}".encode() not in everything
    assert undone.entry != done.entry
    assert version_of(chain) > purge.version
