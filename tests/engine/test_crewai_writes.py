"""CrewAI's store written beside the package: its columns to the byte, its lock, and the way back."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import lancedb
import pytest

from memtui.engine import Engine, RefusedError, UsageError, changes, open_engine
from memtui.engine.changes.named_lock import PATIENCE_S, NamedLock
from memtui.engine.changes.owner_lock import LockLostError
from tests.engine.crewai_store import NOW_MS, unpack


@pytest.fixture
def folder(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package's store with a column that another program added; locks of this test in a folder of their own."""
    memory = unpack(shared, tmp_path / "project")
    lancedb.connect(memory).open_table("memories").add_columns({"added_by_another": "concat('  x', id)"})
    locks = tmp_path / "locks"
    locks.mkdir()
    monkeypatch.setenv("TMPDIR", str(locks))
    return memory


def opened(folder: Path, **environ: str) -> Engine:
    place = folder.parent.parent
    return open_engine(
        folder,
        now=lambda: NOW_MS,
        environ={"TMPDIR": str(place / "locks"), **environ},
        cwd=place,
        writable=True,
        state=place / "state",
    )


def table_of(folder: Path) -> dict[str, dict[str, Any]]:
    """Every row as it is stored, vectors as bytes."""
    rows = lancedb.connect(folder).open_table("memories").to_arrow()
    vectors = rows.column("vector").combine_chunks().flatten().to_numpy().reshape(rows.num_rows, -1)
    return {
        row["id"]: {**row, "vector": vector.tobytes()}
        for row, vector in zip(rows.drop_columns(["vector"]).to_pylist(), vectors, strict=True)
    }


def lock_file(folder: Path) -> Path:
    digest = hashlib.md5(f"lancedb:{folder.resolve()}".encode(), usedforsecurity=False).hexdigest()
    return folder.parent.parent / "locks" / f"crewai:{digest}.lock"


@pytest.mark.parametrize(
    ("given", "column", "stored"),
    [
        ({"category": "price, é"}, "categories_str", json.dumps(["price", "é"])),
        ({"category": '["a, b"]'}, "categories_str", '["a, b"]'),
        ({"category": ""}, "categories_str", "[]"),
        ({"importance": "0.125"}, "importance", 0.125),
        ({"scope": "/crew/pedal-shop/agent/Ünïque"}, "scope", "/crew/pedal-shop/agent/Ünïque"),
        ({"scope": "/"}, "scope", "/"),
        ({"metadata": '{"k": [1, null], "ü": 2}'}, "metadata_str", json.dumps({"k": [1, None], "ü": 2})),
        ({"source": "me"}, "source", "me"),
        ({"private": "yes"}, "private", True),
    ],
)
def test_an_edit_writes_one_column_and_undo_brings_back_every_byte(
    folder: Path, given: dict[str, str], column: str, stored: Any
) -> None:
    before = table_of(folder)
    which = next(each for each, row in before.items() if not row["private"] and row["scope"].count("/") == 3)
    engine = opened(folder)
    planned = changes.plan_edit(engine, [which], given)
    assert [each.id for each in planned.changes] == [which]
    changes.apply(engine, planned)
    after = table_of(folder)
    assert after == {**before, which: {**before[which], column: stored}}
    assert lock_file(folder).exists()
    changes.apply(engine, changes.plan_undo(engine))
    assert table_of(folder) == before


def test_a_forgotten_memory_goes_alone_and_comes_back_whole(folder: Path) -> None:
    before = table_of(folder)
    which = next(each for each, row in before.items() if row["scope"] == "/crew/pedal-shop/stock")
    engine = opened(folder)
    changes.apply(engine, changes.plan_forget(engine, [which], hard=True), confirmed=True)
    assert table_of(folder) == {each: row for each, row in before.items() if each != which}
    changes.apply(engine, changes.plan_undo(engine))
    assert table_of(folder) == before


@pytest.mark.parametrize(
    "given",
    [
        {"scope": " "},
        {"scope": "/a//b"},
        {"scope": "/a/"},
        {"importance": "2"},
        {"metadata": "[1]"},
        {"category": "[1]"},
        {"tier": "core"},
    ],
)
def test_a_value_that_makes_no_sense_is_refused(folder: Path, given: dict[str, str]) -> None:
    engine = opened(folder)
    with pytest.raises(UsageError):
        changes.plan_edit(engine, [next(iter(table_of(folder)))], given)


def test_a_scope_outside_the_tree_is_said_in_the_preview(folder: Path) -> None:
    planned = changes.plan_edit(opened(folder), [next(iter(table_of(folder)))], {"scope": "crew/shop"})
    assert any("stands in no tree" in each for each in planned.warnings)


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", "redis://:secret@cache:6379"])
def test_with_a_lock_in_redis_nothing_is_written_and_the_reason_is_said(folder: Path, url: str) -> None:
    engine = opened(folder, REDIS_URL=url)
    planned = changes.plan_edit(engine, [next(iter(table_of(folder)))], {"importance": "0.9"})
    before = table_of(folder)
    with pytest.raises(RefusedError, match="REDIS_URL") as refused:
        changes.apply(engine, planned)
    assert "secret" not in str(refused.value)
    assert table_of(folder) == before
    assert not lock_file(folder).exists()


class Clock:
    """A clock that goes on only where somebody sleeps."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def test_a_lock_that_another_holds_is_waited_for_and_then_named(tmp_path: Path) -> None:
    file, clock = tmp_path / "crewai:0.lock", Clock()
    with file.open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(RefusedError, match=str(file)), NamedLock(file, clock=clock, sleep=clock.sleep):
            pass
        assert PATIENCE_S <= clock.now_s < PATIENCE_S + 1

        def let_go(seconds: float) -> None:
            clock.sleep(seconds)
            fcntl.flock(other, fcntl.LOCK_UN)

        with NamedLock(file, clock=clock, sleep=let_go) as held:
            held.check()
            with pytest.raises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_lock_that_was_removed_meanwhile_is_lost_and_one_that_cannot_be_opened_is_named(
    tmp_path: Path,
) -> None:
    file = tmp_path / "crewai:1.lock"
    with NamedLock(file) as held:
        file.unlink()
        with pytest.raises(LockLostError):
            held.check()
    file.mkdir()
    with pytest.raises(RefusedError, match=str(file)), NamedLock(file):
        pass


PACKAGE = os.environ.get("MEMTUI_CREWAI_PYTHON", "")
READS = """
import json, sys
from crewai.memory.storage.lancedb_storage import LanceDBStorage
kept = LanceDBStorage(path=sys.argv[1])
rows = {}
for each in sys.argv[2:]:
    row = kept.get_record(each)
    rows[each] = None if row is None else {
        "content": row.content, "scope": row.scope, "categories": row.categories, "metadata": row.metadata,
        "importance": row.importance, "source": row.source, "private": row.private,
        "created": row.created_at.isoformat(),
    }
print(json.dumps({"rows": rows, "count": kept.count(), "scopes": kept.list_scopes("/")}))
"""


@pytest.mark.skipif(
    not PACKAGE, reason="left out: MEMTUI_CREWAI_PYTHON names no Python with the package crewai"
)
def test_the_real_package_reads_what_was_written(folder: Path) -> None:
    before = table_of(folder)
    edited, forgotten = list(before)[:2]
    engine = opened(folder)
    given = {
        "scope": "/moved/here",
        "category": "x,é",
        "metadata": '{"k": [1]}',
        "importance": "0.05",
        "private": "yes",
    }
    changes.apply(engine, changes.plan_edit(engine, [edited], given))
    changes.apply(engine, changes.plan_forget(engine, [forgotten], hard=True), confirmed=True)
    locks = str(folder.parent.parent / "locks")
    asked = [PACKAGE, "-c", READS, str(folder), edited, forgotten]
    environ = {"HOME": locks, "TMPDIR": locks, "PATH": os.environ["PATH"], "OTEL_SDK_DISABLED": "true"}
    done = subprocess.run(asked, capture_output=True, text=True, check=False, env=environ, timeout=300)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["count"] == len(before) - 1
    assert "/moved" in said["scopes"]
    assert said["rows"][forgotten] is None
    assert said["rows"][edited] == {
        "content": before[edited]["content"],
        "scope": "/moved/here",
        "categories": ["x", "é"],
        "metadata": {"k": [1]},
        "importance": 0.05,
        "source": before[edited]["source"] or None,
        "private": True,
        "created": before[edited]["created_at"],
    }
