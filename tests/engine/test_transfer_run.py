"""Running an import: all or nothing, taken back as a whole, resumed after a failure without asking twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memtui.engine import changes, transfer
from memtui.engine.core.errors import Cancelled, EmbeddingError, MemtuiError, RefusedError
from memtui.engine.core.progress import CancelToken, Progress
from memtui.engine.providers.embedding_services import EmbeddingSettings
from tests.conftest import ROOT, tree_hash
from tests.engine.loopback import Answer, Request, loopback
from tests.engine.transfer_stores import (
    imported,
    jsonl,
    memory,
    opened,
    own_store,
    planned,
    pro_store,
    rows_of,
)

MANY = 2_500
"""More than go into an ordinary change set."""


def _source(path: Path, count: int) -> Path:
    rows = [
        {
            "id": memory(n, "")["id"],
            "text": f"Memory {n} of the kiln in Uferweg, door seal {n * 7}.",
            "category": "fact",
            "scope": "global",
            "importance": 0.5,
            "timestamp": 1_772_000_000_000 + n,
            "metadata": "{}",
        }
        for n in range(1, count + 1)
    ]
    return jsonl(path, rows)


def test_many_rows_are_one_commit_and_one_entry(tmp_path: Path) -> None:
    engine = opened(own_store(tmp_path / "store", [memory(9_999, "Here before.")]), tmp_path / "state")
    version = engine.store.version
    done = imported(engine, _source(tmp_path / "rows.jsonl", MANY), find_near=False)
    assert done.added == MANY
    assert len(rows_of(engine)) == MANY + 1
    (entry,) = engine.write_state.journal.entries()
    assert (entry.action, entry.rows, entry.state) == ("import", MANY, "applied")
    assert entry.version_after == version + 1
    assert engine.store.fts_status().unindexed_rows == 0, "the words of what came in are in the index"
    undo = changes.apply(engine, changes.plan_undo(engine, done.entry))
    assert undo.changed == MANY
    assert [row["text"] for row in rows_of(engine).values()] == ["Here before."]


def test_an_undo_leaves_a_row_that_was_edited_since(tmp_path: Path) -> None:
    engine = opened(own_store(tmp_path / "store"), tmp_path / "state")
    done = imported(engine, _source(tmp_path / "rows.jsonl", MANY), find_near=False)
    edited = memory(7, "")["id"]
    engine.refresh()
    changes.apply(engine, changes.plan_edit(engine, [edited], {"text": "The door seal was replaced."}))
    planned_undo = changes.plan_undo(engine, done.entry)
    assert [conflict.id for conflict in planned_undo.conflicts] == [edited]
    changes.apply(engine, planned_undo.without([edited]))
    assert list(rows_of(engine)) == [edited]


def test_cancelling_leaves_the_store_alone(tmp_path: Path) -> None:
    folder = own_store(tmp_path / "store")
    engine = opened(folder, tmp_path / "state")
    source = _source(tmp_path / "rows.jsonl", MANY)
    before = tree_hash(folder)
    cancel = CancelToken()
    seen: list[Progress] = []

    def stop(progress: Progress) -> None:
        seen.append(progress)
        if progress.what.startswith("embedding"):
            cancel.cancel()

    plan = planned(engine, source, find_near=False)
    with pytest.raises(Cancelled):
        transfer.run_import(engine, plan, on_progress=stop, cancel=cancel)
    plan.close()
    assert seen
    assert tree_hash(folder) == before
    early = CancelToken()
    early.cancel()
    from memtui.engine.transfer.importing.request import ImportRequest

    with pytest.raises(Cancelled):
        transfer.plan_import(engine, ImportRequest((source,)), cancel=early)
    assert engine.write_state.journal.entries() == []


def test_a_service_that_fails_at_row_700_of_1000_is_asked_for_the_rest_only(tmp_path: Path) -> None:
    folder = pro_store(tmp_path / "store", dims=8)
    source = _source(tmp_path / "rows.jsonl", 1_000)
    with loopback() as server:
        settings = EmbeddingSettings(model="test-model", base_url=f"{server.url}/v1", dimensions=8)
        engine = opened(folder, tmp_path / "state", embedding=settings)
        plan = planned(engine, source)
        assert "would have to be embedded by test-model first" in " ".join(plan.warnings)
        before = tree_hash(folder)
        usual = server.answer

        def refusing(request: Request) -> Answer:
            asked = sum(len(each.body["input"]) for each in server.requests)
            return usual(request) if asked < 700 else Answer(401, {"error": {"message": "no credit"}})

        server.answer = refusing  # type: ignore[method-assign]
        with pytest.raises(EmbeddingError):
            transfer.run_import(engine, plan)
        assert tree_hash(folder) == before
        server.answer = usual  # type: ignore[method-assign]
        server.requests.clear()
        done = transfer.run_import(engine, plan)
        plan.close()
        asked = [text for request in server.requests for text in request.body["input"]]
        assert done.added == 1_000
        assert len(asked) == len(set(asked)) == 1_000 - 10 * 64
        assert len(rows_of(engine)) == 1_000
        assert not list((tmp_path / "state" / "transfer").glob("*.vectors"))


def test_no_room_for_the_vectors_or_for_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = pro_store(tmp_path / "store", dims=8)
    source = _source(tmp_path / "rows.jsonl", 70)
    with loopback() as server:
        settings = EmbeddingSettings(model="test-model", base_url=f"{server.url}/v1", dimensions=8)
        engine = opened(folder, tmp_path / "state", embedding=settings)
        blocked = tmp_path / "state" / "transfer"
        blocked.parent.mkdir(exist_ok=True)
        blocked.write_text("a file where the folder should be")
        with pytest.raises(MemtuiError, match="cannot be kept"):
            imported(engine, source)
    assert rows_of(engine) == {}
    assert engine.write_state.journal.entries() == []


def test_a_store_that_is_only_read_is_not_written(tmp_path: Path) -> None:
    folder = own_store(tmp_path / "store")
    engine = opened(folder, tmp_path / "state", writable=False)
    before = tree_hash(folder)
    with pytest.raises(RefusedError, match="reading only"):
        imported(engine, _source(tmp_path / "rows.jsonl", 3))
    assert tree_hash(folder) == before


def test_rows_that_came_meanwhile_are_not_doubled(tmp_path: Path) -> None:
    folder = own_store(tmp_path / "store")
    source = _source(tmp_path / "rows.jsonl", MANY)
    first, second = opened(folder, tmp_path / "state"), opened(folder, tmp_path / "state")
    plan = planned(second, source, find_near=False)
    imported(first, source, find_near=False)
    with pytest.raises(RefusedError, match="meanwhile"):
        transfer.run_import(second, plan)
    plan.close()
    assert len(rows_of(first)) == MANY


KILLS = int(os.environ.get("MEMTUI_TEST_KILLS", "1"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_at_any_moment_and_resumed_equals_undisturbed(tmp_path: Path, seed: int) -> None:
    import random

    source = _source(tmp_path / "rows.jsonl", MANY)
    undisturbed = opened(own_store(tmp_path / "undisturbed"), tmp_path / "other-state")
    imported(undisturbed, source, find_near=False)
    folder, state = own_store(tmp_path / "store"), tmp_path / "state"
    command = [
        sys.executable,
        "-m",
        "memtui",
        "import",
        str(source),
        "--store",
        str(folder),
        "--no-find-near",
        "--json",
    ]
    environ = {**os.environ, "MEMTUI_STATE_DIR": str(state), "PYTHONPATH": str(ROOT)}
    moment = random.Random(seed)
    for _ in range(2 if KILLS > 1 else 1):
        process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moment.uniform(0.2, 2.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    engine = opened(folder, state)
    assert rows_of(engine) == rows_of(undisturbed)
    entries = engine.write_state.journal.entries()
    assert [(entry.action, entry.rows, entry.state) for entry in entries] == [("import", MANY, "applied")]
    assert changes.find_interrupted(engine) == []
