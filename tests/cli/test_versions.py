"""`memtui versions`: the time line, names, differences, chosen memories brought back, the whole table restored."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import lancedb
import pytest

from tests.cli.test_health import memtui
from tests.conftest import tree_hash
from tests.engine import planted_faults as planted


def _ids(store: Path) -> dict[str, str]:
    rows = lancedb.connect(store).open_table("memories").search().select(["id", "text"]).limit(None).to_list()
    return {row["id"]: row["text"] for row in rows}


@pytest.mark.slow
def test_chosen_memories_come_back_as_an_ordinary_change(tmp_path: Path) -> None:
    store = planted.sound(tmp_path / "store")
    on = ("--store", str(store))
    before = _ids(store)
    table = lancedb.connect(store).open_table("memories")
    version = table.version
    gone, other, changed = list(before)[:3]
    table.delete(f"id IN ('{gone}', '{other}')")
    table.update(where=f"id = '{changed}'", values={"text": "something else"})
    code, found, errors = memtui(tmp_path, "versions", "diff", str(version), str(table.version), *on)
    assert code == 0, errors
    assert {each["id"]: each["op"] for each in found["rows"]} == {
        gone: "remove",
        other: "remove",
        changed: "change",
    }
    kept = tree_hash(store)
    chosen = ("versions", "restore", str(version), gone, changed)
    code, found, errors = memtui(tmp_path, *chosen, "--dry-run", *on)
    assert (code, found["entry"], found["changed"]) == (0, None, 2), errors
    assert tree_hash(store) == kept
    code, found, errors = memtui(tmp_path, *chosen, *on)
    assert (code, found["changed"]) == (0, 2), errors
    assert _ids(store) == {each: text for each, text in before.items() if each != other}
    code, _, errors = memtui(tmp_path, "undo", "--yes", *on)
    assert code == 0, errors
    assert gone not in _ids(store)
    assert _ids(store)[changed] == "something else"
    code, _, errors = memtui(tmp_path, "versions", "restore", str(version), "no-such-memory", *on)
    assert code == 2
    assert "does not hold" in errors


@pytest.mark.slow
def test_a_whole_restore_says_what_goes_and_keeps_the_words(tmp_path: Path) -> None:
    store = planted.sound(tmp_path / "store")
    on = ("--store", str(store))
    before = _ids(store)
    table = lancedb.connect(store).open_table("memories")
    for each in table.list_indices():
        if list(each.columns) == ["text"]:
            table.drop_index(each.name)
    bare = table.version
    table.create_index("text", config=lancedb.index.FTS(with_position=True))
    gone = next(iter(before))
    table.delete(f"id = '{gone}'")
    code, found, errors = memtui(tmp_path, "versions", "restore", str(bare), *on)
    assert (code, found["receipt"]) == (3, None), errors
    assert [(each["id"], each["op"]) for each in found["rows"]] == [(gone, "add")]
    assert found["indexes_lost"]
    assert gone not in _ids(store)
    code, found, errors = memtui(tmp_path, "versions", "restore", str(bare), "--yes", *on)
    assert code == 0, errors
    assert _ids(store) == before
    assert found["receipt"]["entry"] is not None
    assert found["receipt"]["answers"] == {
        "asked": 0, "failed": 0, "not_known": "", "changed": [],
        "cases": {"cases": 0, "right_before": 0, "right_after": 0, "worse": [], "down": []},
    }  # fmt: skip
    assert found["receipt"]["indexes_after"] == found["receipt"]["indexes_before"]
    back = str(found["receipt"]["version_before"])
    code, found, errors = memtui(tmp_path, "versions", "restore", back, "--yes", "--no-cases", *on)
    assert code == 0, errors
    assert found["receipt"]["answers"] is None
    assert gone not in _ids(store)


def test_a_whole_restore_is_what_a_plain_undo_takes_back(tmp_path: Path) -> None:
    store = planted.sound(tmp_path / "store")
    on = ("--store", str(store))
    before = _ids(store)
    edited, deleted = sorted(before)[:2]
    first = lancedb.connect(store).open_table("memories").version
    assert memtui(tmp_path, "edit", edited, "--set", "importance=0.11", "--yes", *on)[0] == 0
    assert memtui(tmp_path, "forget", deleted, "--hard", "--yes", *on)[0] == 0
    there = tree_rows(store)
    assert memtui(tmp_path, "versions", "restore", str(first), "--yes", *on)[0] == 0
    assert _ids(store) == before
    code, _, errors = memtui(tmp_path, "undo", "--yes", *on)
    assert code == 0, errors
    assert tree_rows(store) == there
    code, _, errors = memtui(tmp_path, "undo", "--redo", "--yes", *on)
    assert code == 0, errors
    assert _ids(store) == before
    assert memtui(tmp_path, "undo", "--yes", *on)[0] == 0
    assert memtui(tmp_path, "undo", "--yes", *on)[0] == 0, "the deletion before it is next"
    assert deleted in _ids(store)


def tree_rows(store: Path) -> list[dict[str, Any]]:
    rows = lancedb.connect(store).open_table("memories").to_arrow().to_pylist()
    return sorted(rows, key=lambda row: row["id"])


@pytest.mark.slow
def test_names_are_our_own_and_go_with_their_version(tmp_path: Path) -> None:
    store = planted.sound(tmp_path / "store")
    on = ("--store", str(store))
    table = lancedb.connect(store).open_table("memories")
    number = table.version
    kept = tree_hash(store)
    code, found, errors = memtui(tmp_path, "versions", "name", str(number), "before", "the", "trial", *on)
    assert code == 0, errors
    assert found["names"][0]["lives_until_ms"] - found["names"][0]["time_ms"] == 7 * 86_400_000
    assert tree_hash(store) == kept
    code, found, _ = memtui(tmp_path, "versions", *on)
    assert next(each["name"] for each in found["rows"] if each["version"] == number) == "before the trial"
    gone = next(iter(_ids(store)))
    table.delete(f"id = '{gone}'")
    code, found, errors = memtui(tmp_path, "versions", "restore", "before the trial", gone, *on)
    assert (code, found["changed"]) == (0, 1), errors
    code, _, errors = memtui(tmp_path, "versions", "name", "1", "before the trial", *on)
    assert code == 2, errors
    table.checkout_latest()
    table.optimize(cleanup_older_than=timedelta(0))
    code, found, _ = memtui(tmp_path, "versions", *on)
    assert found["names"] == []
    code, _, errors = memtui(tmp_path, "versions", "restore", "before the trial", gone, *on)
    assert code == 2
    assert "No version has" in errors
