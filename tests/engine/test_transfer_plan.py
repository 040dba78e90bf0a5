"""What the plan of an import says of each record, and that the run does exactly that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtui.engine import changes, transfer
from memtui.engine.core.errors import MemtuiError, RefusedError, UsageError
from memtui.engine.engine import Engine
from memtui.engine.providers.static_embedder import bundled
from memtui.engine.transfer.importing.near_copies import Nearest, block, kind_of, within
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
from tests.engine.transfer_world import NOW_MS, write_json


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    rows = [
        memory(1, "The standup of team Atlas is at 09:30 in the blue room."),
        memory(2, "Ines prefers short answers.", scope="agent:main", category="preference"),
        memory(3, "Deploys are frozen on Fridays.", category="decision"),
    ]
    return opened(own_store(tmp_path / "store", rows), tmp_path / "state")


def _counts(engine: Engine, path: Path, **options: Any) -> dict[str, int]:
    plan = planned(engine, path, **options)
    try:
        return {group: count for group, count in plan.counts.items() if count}
    finally:
        plan.close()


def test_each_record_is_in_one_group(engine: Engine, tmp_path: Path) -> None:
    source = write_json(
        tmp_path / "list.json",
        [
            {"note": "Something new about the kiln."},
            {"note": "Deploys  are frozen on Fridays."},
            {"note": "Something new about the kiln."},
            {"note": "The standup of team Atlas is at 09:30 in the blue room!"},
            {"note": "The standup of team Atlas is at 10:00 in the blue room."},
            {"note": "ok"},
            {"note": "Do you remember what I told you?"},
            {"note": "password = Tr0ub4dor&3"},
            {"note": ""},
            {"note": 7},
        ],
    )
    assert _counts(engine, source, mapping={"text": "note"}, near=0.9) == {
        "new": 1,
        "exact": 2,
        "near": 1,
        "conflict": 1,
        "short": 1,
        "noise": 1,
        "secret": 1,
        "invalid": 2,
    }


def test_every_rule_can_be_switched(engine: Engine, tmp_path: Path) -> None:
    source = write_json(tmp_path / "list.json", [{"note": "ok"}, {"note": "password = Tr0ub4dor&3"}])
    options = {"mapping": {"text": "note"}}
    assert _counts(engine, source, **options) == {"short": 1, "secret": 1}
    assert _counts(engine, source, rules_off=frozenset(("short", "secret")), **options) == {"new": 2}
    with pytest.raises(UsageError, match="no rule 'luck'"):
        planned(engine, source, rules_off=frozenset(("luck",)))
    plan = planned(engine, source, **options)
    from dataclasses import replace

    assert plan.switched(replace(plan.rules, on=frozenset())).counts["new"] == 2
    plan.close()


def test_the_same_text_in_another_scope_is_new(engine: Engine, tmp_path: Path) -> None:
    source = jsonl(
        tmp_path / "rows.jsonl",
        [
            {
                "text": "Deploys are frozen on Fridays.",
                "scope": "agent:ops",
                "metadata": "{}",
                "timestamp": NOW_MS,
            }
        ],
    )
    assert _counts(engine, source) == {"new": 1}


def test_a_match_names_what_it_is_compared_with(engine: Engine, tmp_path: Path) -> None:
    source = write_json(
        tmp_path / "list.json",
        [
            {"note": "The standup of team Atlas is at 09:30 in the blue room!"},
            {"note": "The standup of team Atlas is at 10:00 in the blue room."},
        ],
    )
    plan = planned(engine, source, mapping={"text": "note"}, near=0.9)
    (near,), (conflict,) = plan.page("near", 0, 9), plan.page("conflict", 0, 9)
    for item in (near, conflict):
        assert item.match is not None
        assert item.match.id == "00000000-0000-4000-8000-000000000001"
        assert item.match.cosine is not None
        assert item.match.cosine > 0.9
    assert conflict.text.endswith("10:00 in the blue room.")
    plan.close()


def test_conflicts_are_kept_taken_or_both(engine: Engine, tmp_path: Path) -> None:
    taken = {"id": "00000000-0000-4000-8000-000000000003", "text": "Deploys are frozen on Thursdays."}
    source = jsonl(tmp_path / "rows.jsonl", [{**taken, "metadata": "{}", "scope": "global"}])
    assert _counts(engine, source) == {"conflict": 1}
    assert imported(engine, source).entry is None
    both = imported(engine, source, conflicts="both")
    assert (both.added, both.replaced) == (1, 0)
    texts = [row["text"] for row in rows_of(engine).values()]
    assert texts.count("Deploys are frozen on Thursdays.") == 1
    assert len(texts) == 4
    take = imported(engine, source, conflicts="take")
    assert (take.added, take.replaced) == (0, 1)
    row = rows_of(engine)[taken["id"]]
    assert row["text"] == "Deploys are frozen on Thursdays."
    assert row["vector"] == bundled().embed_passages([row["text"]])[0].tobytes()
    for entry in (take.entry, both.entry):
        changes.apply(engine, changes.plan_undo(engine, entry))
    assert rows_of(engine)[taken["id"]]["text"] == "Deploys are frozen on Fridays."
    assert len(rows_of(engine)) == 3


def test_a_single_conflict_can_be_decided(engine: Engine, tmp_path: Path) -> None:
    rows = [
        {"id": memory(1, "")["id"], "text": "The standup moved to the red room."},
        {"id": memory(3, "")["id"], "text": "Deploys are never frozen."},
    ]
    source = jsonl(tmp_path / "rows.jsonl", [{**row, "metadata": "{}", "scope": "global"} for row in rows])
    done = imported(engine, source, choices={1: "take"})
    assert (done.added, done.replaced) == (0, 1)
    there = rows_of(engine)
    assert there[rows[0]["id"]]["text"].startswith("The standup of team Atlas")
    assert there[rows[1]["id"]]["text"] == "Deploys are never frozen."


def test_a_masked_text_never_replaces_a_whole_one(engine: Engine, tmp_path: Path) -> None:
    row = {
        "id": memory(3, "")["id"],
        "text": "Deploy key: sk-[REDACTED]",
        "createdAt": NOW_MS,
        "trust_tier": "user",
    }
    source = jsonl(tmp_path / "export.jsonl", [row])
    assert _counts(engine, source, conflicts="take") == {"same_id": 1}
    assert imported(engine, source, conflicts="take").entry is None


def test_categories_are_mapped_and_the_words_kept(shared: Path, tmp_path: Path) -> None:
    nasty = shared / "fixtures" / "sources" / "nasty"
    wanted = json.loads((nasty / "expected.json").read_text())["files"]["categories-importance.json"]
    engine = opened(pro_store(tmp_path / "store"), tmp_path / "state")
    imported(engine, nasty / "categories-importance.json", rules_off=frozenset(("near",)))
    rows = rows_of(engine)
    for number, each in enumerate(wanted["categories"], 1):
        row = next(row for row in rows.values() if row["text"] == f"category row {number}")
        assert row["category"] == each["column"]
        raw = each["raw"]
        if (
            isinstance(raw, str)
            and raw.strip()
            and raw not in ("preference", "profile", "cases", "reflection")
        ):
            assert json.loads(row["metadata"])["imported"]["category"] == raw
    values = [row["importance"] for row in rows.values()]
    assert all(0 <= value <= 1 for value in values)
    assert all(row["importance"] == 0.7 for row in rows.values() if "importance row 4" in row["text"])


def test_ids_of_every_kind(shared: Path, tmp_path: Path) -> None:
    nasty = shared / "fixtures" / "sources" / "nasty"
    engine = opened(pro_store(tmp_path / "store"), tmp_path / "state")
    done = imported(engine, nasty / "duplicate-ids.json")
    rows = rows_of(engine)
    assert done.added == len(rows) == 8
    assert rows["00000001-aaaa-4bbb-8ccc-00000000000a"]["text"] == "same id, first"
    assert [row["text"] for row in rows.values()].count("Row 2") == 1
    quoted = next(row for row in rows.values() if row["text"] == "Row 8")
    assert "'" not in quoted["id"]
    assert json.loads(quoted["metadata"])["imported"]["id"] == "upper-case-x'y"
    again = imported(engine, nasty / "duplicate-ids.json")
    assert again.entry is None


def test_vectors_are_used_only_by_the_users_word(shared: Path, tmp_path: Path) -> None:
    source = shared / "fixtures" / "sources" / "nasty" / "vectors.jsonl"
    engine = opened(pro_store(tmp_path / "store", dims=4), tmp_path / "state")
    plan = planned(engine, source, vectors="keep")
    assert len(plan.to_embed()) == 9
    assert "bundled" in plan.cost.problem or plan.cost.problem
    with pytest.raises(MemtuiError, match="have no vector that this store can use"):
        transfer.run_import(engine, plan)
    plan.close()
    done = imported(engine, source, vectors="keep", without_embedding=True)
    assert done.added == 10
    vectors = {row["text"]: np.frombuffer(row["vector"], np.float32) for row in rows_of(engine).values()}
    assert vectors["vector ok"].tolist() == [1, 0, 0, 0]
    assert all(not vector.any() for text, vector in vectors.items() if text != "vector ok")


def test_broken_parts_need_a_yes(shared: Path, tmp_path: Path) -> None:
    source = shared / "fixtures" / "sources" / "nasty" / "broken-line.jsonl"
    engine = opened(pro_store(tmp_path / "store"), tmp_path / "state")
    with pytest.raises(RefusedError, match="1 part of broken-line"):
        imported(engine, source)
    assert rows_of(engine) == {}
    assert imported(engine, source, confirmed=True).added == 11


def test_a_source_that_changes_is_noticed(engine: Engine, tmp_path: Path) -> None:
    source = write_json(tmp_path / "list.json", [{"note": "A first thing to know."}])
    plan = planned(engine, source, mapping={"text": "note"})
    write_json(source, [{"note": "A first thing to know."}, {"note": "And another one."}])
    with pytest.raises(RefusedError, match="no longer what was read"):
        transfer.run_import(engine, plan)
    plan.close()
    assert len(rows_of(engine)) == 3


def test_scopes_go_where_agents_find_them(shared: Path, tmp_path: Path) -> None:
    source = shared / "fixtures" / "sources" / "mem-engine" / "export.jsonl"
    engine = opened(pro_store(tmp_path / "store"), tmp_path / "state")
    plan = planned(engine, source, scopes={"buoys": "project:buoys"})
    assert {theirs: ours for theirs, ours, _ in plan.scopes} == {
        "buoys": "project:buoys",
        "global": "global",
        "imported-notes": "custom:imported-notes",
        "harbour": "custom:harbour",
        "ops": "custom:ops",
    }
    transfer.run_import(engine, plan)
    plan.close()
    scopes = [row["scope"] for row in rows_of(engine).values()]
    assert scopes.count("project:buoys") == 5


def test_one_text_in_two_scopes_of_a_source_without_ids_is_two_memories(tmp_path: Path) -> None:
    source = tmp_path / "two.json"
    said = [{"text": "The lathe runs at 900 rpm", "scope": scope} for scope in ("project:a", "project:b")]
    source.write_text(json.dumps([*said, said[0]]), encoding="utf-8")
    engine = opened(pro_store(tmp_path / "store"), tmp_path / "state")
    plan = planned(engine, source, format="json")
    assert (plan.counts["new"], plan.counts["exact"]) == (2, 1)
    transfer.run_import(engine, plan)
    plan.close()
    assert {row["scope"] for row in rows_of(engine).values()} == {"project:a", "project:b"}


def test_the_plan_counts_what_the_run_writes(shared: Path, tmp_path: Path) -> None:
    for number, source in enumerate(
        (
            "mem0/get_all.user-mira.json",
            "chat-memory/handmade.pasted.txt",
            "tabular/pandas.csv",
            "basic-memory/project",
            "letta/handmade.archival-page1.json",
        )
    ):
        engine = opened(pro_store(tmp_path / str(number)), tmp_path / "state")
        plan = planned(engine, shared / "fixtures" / "sources" / source)
        expected = plan.counts["new"]
        done = transfer.run_import(engine, plan)
        plan.close()
        assert done.added == expected == len(rows_of(engine)) > 0
        changes.apply(engine, changes.plan_undo(engine, done.entry))
        assert rows_of(engine) == {}


def test_nearest_equals_every_pair() -> None:
    rng = np.random.default_rng(5)
    present = rng.standard_normal((2_300, 24)).astype(np.float32)
    incoming = np.concatenate(
        [present[::40] + 0.02 * rng.standard_normal((58, 24)), rng.standard_normal((900, 24))]
    )
    incoming = incoming.astype(np.float32)
    scopes, kinds = rng.integers(0, 2, 2_300), rng.integers(0, 2, 2_300)
    mine, my_kinds = rng.integers(0, 2, 958), rng.integers(0, 2, 958)
    nearest = Nearest(incoming, mine, my_kinds, 0.95)
    for at in range(0, 2_300, 700):
        part = slice(at, at + 700)
        kinds_here = kinds[part].__getitem__
        nearest.compare(block(present[part], scopes[part], kinds_here, np.arange(2_300)[part]))
    cosines = (incoming / np.linalg.norm(incoming, axis=1)[:, None]) @ (
        present / np.linalg.norm(present, axis=1)[:, None]
    ).T
    same_scope = mine[:, None] == scopes[None, :]
    alike = my_kinds[:, None] == kinds[None, :]
    for counts, found in ((same_scope & alike, nearest.place), (same_scope & ~alike, nearest.rival)):
        best = np.where(counts, cosines, -1)
        expected = np.where(best.max(axis=1) >= 0.95, best.argmax(axis=1), -1)
        assert (found == expected).all()
    assert (nearest.place >= 0).sum() > 5


def test_copies_within_a_source_are_greedy_in_order() -> None:
    vectors = np.array([[1, 0], [1, 0.01], [0, 1], [1, 0.02], [0.01, 1]], dtype=np.float32)
    place, cosine = within(vectors, np.array([1, 1, 1, 2, 1]), 0.99)
    assert place.tolist() == [-1, 0, -1, -1, 2]
    assert (cosine[[1, 4]] > 0.99).all()
    assert kind_of("at 9:30 in room B2") != kind_of("at 10:00 in room B2")
    assert kind_of("in room B2, 9:30") == kind_of("9:30 in room B2")
