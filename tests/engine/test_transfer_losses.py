"""What an import changes or loses is in the ledger, and nothing that it does not; links lead to the rows made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import transfer
from memtui.engine.transfer.exporting.request import ExportRequest
from tests.conftest import thinned
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

OLD, NEW = "old!1", "new/2"
"""Ids that no row can have: the rows get others."""


def said(plan: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for loss in plan.losses():
        found.setdefault(loss.field, []).append(loss.what)
    return found


def test_a_key_that_stands_twice_is_in_the_ledger(tmp_path: Path) -> None:
    lines = tmp_path / "lines.jsonl"
    lines.write_text(
        '{"id":"one","text":"the gate opens at seven","text":"the gate opens at eight","metadata":{"a":1,"a":2}}\n'
        '{"id":"two","text":"nothing is said twice here","metadata":{"a":1}}\n'
    )
    whole = tmp_path / "whole.json"
    whole.write_text('[{"text":"the mast is new","note":1,"note":2},{"text":"the sail is old","note":3}]')
    with opened(own_store(tmp_path / "store"), tmp_path / "state") as engine:
        for path, keys in ((lines, {"text", "a"}), (whole, {"note"})):
            plan = planned(engine, path)
            twice = {loss.field: loss for loss in plan.losses() if "twice in one object" in loss.what}
            assert set(twice) == keys
            assert {loss.rows for loss in twice.values()} == {1}


@pytest.mark.parametrize("form", ["plugin", "other"])
def test_a_list_where_a_word_belongs_is_in_the_ledger_and_kept(tmp_path: Path, form: str) -> None:
    row = {"text": "the berth has two names", "category": ["fact", "preference"], "scope": ["a:b", "c:d"]}
    if form == "plugin":
        row |= {"id": "berth-1", "importance": 0.5, "timestamp": 1_750_000_000_000, "metadata": "{}"}
    with opened(own_store(tmp_path / "store"), tmp_path / "state") as engine:
        plan = planned(engine, jsonl(tmp_path / "lines.jsonl", [row]))
        assert any("a list: its first is the category" in each for each in said(plan)["category"])
        imported(engine, tmp_path / "lines.jsonl")
        (stored,) = rows_of(engine).values()
        assert '["fact","preference"]' in stored["metadata"].replace(" ", "")


def test_every_row_names_its_own_file(tmp_path: Path) -> None:
    first = jsonl(tmp_path / "first.jsonl", [{"text": "the first of two files says this"}])
    second = jsonl(tmp_path / "second.jsonl", [{"text": "the second of two files says that"}, {"text": ""}])
    with opened(own_store(tmp_path / "store"), tmp_path / "state") as engine:
        plan = planned(engine, first, second)
        assert [item.where.split(",")[0] for item in plan.page("new", 0, 9)] == [
            "first.jsonl",
            "second.jsonl",
        ]
        assert [each.where.split(",")[0] for each in plan.rejected()] == ["second.jsonl"]


def linked(**more: Any) -> list[dict[str, Any]]:
    relation = {"type": "superseded_by", "targetId": NEW, "why": "kept"}
    metadata = {"superseded_by": NEW, "invalidated_at": 1_760_000_000_000, "relations": [relation], "n": 1.0}
    old = memory(1, "the gate number is 1111 since March", metadata=json.dumps(metadata))
    new = memory(2, "the gate number is 2222 since October", metadata=json.dumps({"supersedes": OLD}))
    return [{**old, "id": OLD, **more}, {**new, "id": NEW}]


def links(rows: dict[str, dict[str, Any]]) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    ids = {
        "old" if "1111" in row["text"] else "new": each
        for each, row in rows.items()
        if "gate number" in row["text"]
    }
    old, new = (json.loads(rows[ids[which]]["metadata"]) for which in ("old", "new"))
    return ids["old"], ids["new"], old, new


def test_links_lead_to_the_rows_that_renamed_memories_became(tmp_path: Path) -> None:
    with opened(pro_store(tmp_path / "store"), tmp_path / "state") as engine:
        imported(engine, jsonl(tmp_path / "lines.jsonl", linked()), without_embedding=True)
        old_id, new_id, old, new = links(rows_of(engine))
        assert {old_id, new_id}.isdisjoint((OLD, NEW))
        assert old["superseded_by"] == new_id
        assert old["relations"] == [{"type": "superseded_by", "targetId": new_id, "why": "kept"}]
        assert new["supersedes"] == old_id


def test_a_link_to_a_memory_that_was_there_already_leads_to_that_row(tmp_path: Path) -> None:
    there = memory(7, "the gate number is 2222 since October")
    with opened(pro_store(tmp_path / "store", [there]), tmp_path / "state") as engine:
        imported(engine, jsonl(tmp_path / "lines.jsonl", linked()), without_embedding=True)
        _, new_id, old, _ = links(rows_of(engine))
        assert new_id == there["id"]
        assert old["superseded_by"] == there["id"]


def test_links_follow_a_memory_whose_id_was_taken(tmp_path: Path) -> None:
    there = memory(2, "another thing altogether has this id")
    incoming = linked()
    incoming[1]["id"] = there["id"]
    incoming[0]["metadata"] = json.dumps({"superseded_by": there["id"], "invalidated_at": 1_760_000_000_000})
    with opened(pro_store(tmp_path / "store", [there]), tmp_path / "state") as engine:
        imported(engine, jsonl(tmp_path / "lines.jsonl", incoming), without_embedding=True, conflicts="both")
        _, new_id, old, _ = links(rows_of(engine))
        assert new_id != there["id"]
        assert old["superseded_by"] == new_id


SCOPED = [
    memory(1, "row one is global", scope="global"),
    memory(2, "row two is of the agent ops", scope="agent:ops"),
    memory(3, "row three is of a project", scope="project:atlas"),
    {key: value for key, value in memory(4, "row four has no scope").items() if key != "scope"},
]


@pytest.mark.parametrize(
    ("store", "words", "rows"),
    [("builtin-legacy", "this table has none: lost", 2), ("builtin-mixed", "given to main", 2)],
)
def test_scopes_on_the_way_to_a_table_without_them(
    shared: Path, unpack: Callable[[Path], Path], tmp_path: Path, store: str, words: str, rows: int
) -> None:
    folder = unpack(shared / f"fixtures/stores/{store}.tar.gz")
    with opened(folder, tmp_path / "state", writable=False) as engine:
        plan = planned(engine, jsonl(tmp_path / "lines.jsonl", SCOPED), without_embedding=True)
        (loss,) = (each for each in plan.losses() if each.field == "scope")
        assert words in loss.what
        assert loss.rows == rows
        assert plan.scopes == ()  # nothing is put into a scope where there are none


def test_an_export_announces_no_loss_of_what_is_not_there(
    shared: Path, unpack: Callable[[Path], Path], tmp_path: Path
) -> None:
    folder = unpack(shared / "fixtures/stores/builtin-new.tar.gz")
    with opened(folder, tmp_path / "state", writable=False) as engine:
        done = transfer.export_memories(engine, ExportRequest(tmp_path / "notes", "markdown"))
        lost = {(loss.field, loss.what): loss.rows for loss in done.loss}
        assert {rows for (field, _), rows in lost.items() if field == "scope"} == {28}  # 36 of 64 have none
        assert not any(field == "metadata" for field, _ in lost)  # this table has no such column


SAME, OTHER_TEXT = "the lamp in the hall is green", "the lamp in the shed is red"


@pytest.mark.parametrize("key", thinned(["shared/1", "shared-1", memory(5, "")["id"]], 3))
@pytest.mark.parametrize("second", [SAME, OTHER_TEXT])
@pytest.mark.parametrize("make", [pro_store, own_store])
def test_one_id_in_two_scopes_is_two_memories(
    tmp_path: Path, key: str, second: str, make: Callable[..., Path]
) -> None:
    rows = [
        {"id": key, "text": SAME, "scope": "user:eva", "metadata": "{}"},
        {"id": key, "text": second, "scope": "project:atlas", "metadata": "{}"},
    ]
    with opened(make(tmp_path / "store"), tmp_path / "state") as engine:
        source = jsonl(tmp_path / "lines.jsonl", rows)
        imported(engine, source)
        stored = {(row["scope"], row["text"]) for row in rows_of(engine).values()}
        assert stored == {("user:eva", SAME), ("project:atlas", second)}
        assert len(rows_of(engine)) == 2
        imported(engine, source)  # and the same file again adds nothing
        assert len(rows_of(engine)) == 2


NO_TIME_AT_ALL = {
    "lines.jsonl": '{{"text": "{0}", "metadata": {{}}, "timestamp": 0}}\n{{"text": "{1}", "metadata": {{}}}}\n',
    "mem0.json": '{{"results": [{{"id": "1", "memory": "{0}", "user_id": "eva", "created_at": 0}}, '
    '{{"id": "2", "memory": "{1}", "user_id": "eva"}}]}}',
    "table.csv": "text,timestamp\n{0},0\n{1},\n",
}
"""A time of 0 and no time, as three kinds of source have them."""


@pytest.mark.parametrize("name", NO_TIME_AT_ALL)
@pytest.mark.parametrize("make", [pro_store, own_store])
def test_a_time_of_zero_is_an_unknown_age_in_every_source_and_the_ledger_says_so(
    tmp_path: Path, name: str, make: Callable[..., Path]
) -> None:
    path = tmp_path / name
    path.write_text(NO_TIME_AT_ALL[name].format(SAME, OTHER_TEXT))
    with opened(make(tmp_path / "store"), tmp_path / "state") as engine:
        plan = planned(engine, path)
        told = "; ".join(said(plan)["timestamp"])
        plan.close()
        assert "0, which means no time: its age stays unknown" in told
        assert "the time of the import is stored" in told
        imported(engine, path)
        times = {row["text"]: row["timestamp"] for row in rows_of(engine).values()}
        assert times[SAME] == 0
        assert times[OTHER_TEXT] == engine.now_ms
