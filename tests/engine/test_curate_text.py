"""A new text: its vector, what is made from it, and the versions of preferences and entities."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtui.engine import changes
from memtui.engine.core.errors import EmbeddingError, RefusedError, UsageError
from memtui.engine.providers.embedding_services import EmbeddingSettings
from memtui.engine.providers.openai_embedder import OpenAIEmbedder
from memtui.engine.store.open import open_store
from tests.conftest import NOW_MS
from tests.engine.curate_world import (
    NO_EMBEDDER,
    WordEmbedder,
    engine_at,
    row_of,
    rows_of,
    same_rows,
    version_of,
)
from tests.engine.loopback import loopback, text_vector
from tests.engine.tables import pro_row, uuid, write_table

OLD = "Tea: green, no sugar"


def metadata(**more: Any) -> str:
    made = {
        "l0_abstract": OLD,
        "l1_overview": f"- {OLD}",
        "l2_content": OLD,
        "memory_category": "cases",
        "tier": "core",
        "access_count": 9,
        "confidence": 0.8,
        "valid_from": 1_780_000_000_000,
        "state": "confirmed",
        "memory_layer": "durable",
        "tags": ["kitchen"],
    }
    return json.dumps({**made, **more}, separators=(",", ":"))


def world(folder: Path, **fields: Any):
    words = WordEmbedder(2)
    vector = words.embed_query(OLD).tolist()
    write_table(folder, [pro_row(1, text=OLD, vector=vector, metadata=metadata(), **fields), pro_row(2)])
    return words, engine_at(folder, embedder=words)


def test_in_place_everything_made_of_the_text_follows(tmp_path: Path) -> None:
    words, engine = world(tmp_path / "db")
    planned = changes.plan_edit(engine, [uuid(1)], {"text": "Tea: black from today"})
    assert words.calls == 2, "one call for the world, one for the plan: before any lock is taken"
    changes.apply(engine, planned)
    assert words.calls == 2
    row = row_of(tmp_path / "db", uuid(1))
    meta = json.loads(row["metadata"])
    assert row["text"] == "Tea: black from today"
    assert np.array_equal(np.float32(row["vector"]), words.embed_query("Tea: black from today"))
    assert (meta["l0_abstract"], meta["l1_overview"], meta["l2_content"]) == (
        "Tea: black from today",
        "- Tea: black from today",
        "Tea: black from today",
    )
    assert (meta["memory_temporal_type"], meta["valid_until"]) == ("dynamic", NOW_MS + 18 * 3_600_000)
    assert any("word of time" in note for note in planned.warnings)
    assert (row["timestamp"], meta["access_count"], meta["tags"]) == (1_780_000_000_000.0, 9, ["kitchen"])


def test_a_text_without_a_word_of_time_no_longer_expires(tmp_path: Path) -> None:
    _, engine = world(tmp_path / "db")
    changes.apply(engine, changes.plan_edit(engine, [uuid(1)], {"valid_until": "1d"}))
    changes.apply(engine, changes.plan_edit(engine, [uuid(1)], {"text": "Tea: white"}))
    assert "valid_until" not in json.loads(row_of(tmp_path / "db", uuid(1))["metadata"])


@pytest.mark.parametrize("category", ["preferences", "entities"])
def test_preferences_and_entities_get_a_new_version(tmp_path: Path, category: str) -> None:
    words, engine = world(tmp_path / "db", category="preference")
    changes.apply(engine, changes.plan_edit(engine, [uuid(1)], {"category": category}))
    outcome = changes.apply(
        engine, changes.plan_edit(engine, [uuid(1)], {"text": "Tea: black", "importance": 0.9})
    )
    fresh = next(each.id for each in outcome.changes if each.op == "add")
    old, new = row_of(tmp_path / "db", uuid(1)), row_of(tmp_path / "db", fresh)
    old_meta, new_meta = json.loads(old["metadata"]), json.loads(new["metadata"])
    assert (old["text"], old["importance"]) == (OLD, 0.5)
    assert (old_meta["superseded_by"], old_meta["invalidated_at"]) == (fresh, NOW_MS)
    assert old_meta["relations"] == [{"type": "superseded_by", "targetId": fresh}]
    assert (new["text"], new["importance"], new["timestamp"]) == ("Tea: black", 0.9, float(NOW_MS))
    assert np.array_equal(np.float32(new["vector"]), words.embed_query("Tea: black"))
    expected = {
        "supersedes": uuid(1),
        "relations": [{"type": "supersedes", "targetId": uuid(1)}],
        "valid_from": NOW_MS,
        "access_count": 0,
        "tier": "core",
        "fact_key": f"{category}:tea",
        "source": "manual",
        "tags": ["kitchen"],
    }
    assert {key: new_meta.get(key) for key in expected} == expected
    assert not {"superseded_by", "invalidated_at", "last_injected_at"} & new_meta.keys()
    memories = open_store(tmp_path / "db")
    read = memories.dialect.to_memories(
        memories.rows_by_id([uuid(1), fresh], memories.row_columns), NOW_MS + 1
    )
    assert [memory.active for memory in read] == [False, True]


def test_a_version_that_is_history_is_changed_in_place(tmp_path: Path) -> None:
    _, engine = world(tmp_path / "db", category="preference")
    changes.apply(engine, changes.plan_edit(engine, [uuid(1)], {"category": "preferences"}))
    changes.apply(engine, changes.plan_edit(engine, [uuid(1)], {"text": "Tea: black"}))
    later = engine_at(tmp_path / "db", embedder=WordEmbedder(2), now=lambda: NOW_MS + 5)
    outcome = changes.apply(
        later, changes.plan_edit(later, [uuid(1)], {"text": "Tea: green, no sugar at all"})
    )
    assert [(each.id, each.op) for each in outcome.changes] == [(uuid(1), "edit")]


def test_the_same_text_is_no_change_and_asks_no_embedder(tmp_path: Path) -> None:
    words, engine = world(tmp_path / "db")
    calls = words.calls
    assert changes.plan_edit(engine, [uuid(1)], {"text": OLD}).changes == ()
    assert words.calls == calls


def test_without_an_embedder_the_text_stays_and_the_reason_is_said(tmp_path: Path) -> None:
    world(tmp_path / "db")
    engine, version = engine_at(tmp_path / "db", embedder=NO_EMBEDDER), version_of(tmp_path / "db")
    with pytest.raises(RefusedError, match="No embedding provider is configured") as refused:
        changes.plan_edit(engine, [uuid(1)], {"text": "Tea: black"})
    assert refused.value.fix == "Configure one."
    assert version_of(tmp_path / "db") == version
    changes.apply(engine, changes.plan_edit(engine, [uuid(1)], {"importance": 1}))


def test_another_model_is_noticed(tmp_path: Path) -> None:
    world(tmp_path / "db", category="fact")
    rows = [pro_row(3, text=OLD, vector=[-1.0, 0.0], metadata=metadata())]
    write_table(tmp_path / "other", rows)
    other = engine_at(tmp_path / "other", embedder=WordEmbedder(2, "another"))
    cosine = float(other._embedder.embed_query(OLD)[0]) * -1  # type: ignore[union-attr]
    (note,) = changes.plan_edit(other, [uuid(3)], {"text": "Tea: black"}).warnings
    assert f"cosine {cosine:.2f}" in note


def test_a_new_text_that_the_noise_filter_drops_is_warned_of(tmp_path: Path) -> None:
    _, engine = world(tmp_path / "db")
    assert any(
        "noise filter" in note for note in changes.plan_edit(engine, [uuid(1)], {"text": "hi"}).warnings
    )


def test_one_text_for_many_is_refused_and_many_texts_are_one_change(tmp_path: Path) -> None:
    _, engine = world(tmp_path / "db")
    with pytest.raises(UsageError, match="all the same"):
        changes.plan_edit(engine, [uuid(1), uuid(2)], {"text": "Tea"})
    before = version_of(tmp_path / "db")
    changes.apply(engine, changes.plan_texts(engine, {uuid(1): "Tea: black", uuid(2): "Kiln: cold"}))
    assert version_of(tmp_path / "db") == before + 1
    assert [row_of(tmp_path / "db", uuid(n))["text"] for n in (1, 2)] == ["Tea: black", "Kiln: cold"]


class Broken(WordEmbedder):
    def embed_passages(self, texts: Any) -> Any:
        return {"zero": np.zeros, "short": lambda shape: np.ones((shape[0], 1))}[self.name]((len(texts), 2))


@pytest.mark.parametrize("kind", ["zero", "short"])
def test_useless_vectors_are_never_written(tmp_path: Path, kind: str) -> None:
    world(tmp_path / "db")
    before = rows_of(tmp_path / "db")
    with pytest.raises(EmbeddingError):
        changes.plan_edit(
            engine_at(tmp_path / "db", embedder=Broken(2, kind)), [uuid(1)], {"text": "Tea: black"}
        )
    assert same_rows(rows_of(tmp_path / "db"), before)


def test_with_a_real_embedding_service(tmp_path: Path) -> None:
    world(tmp_path / "db")
    with loopback() as server:
        server.dims = 2
        settings = EmbeddingSettings(
            model="loopback", base_url=f"{server.url}/v1", api_keys=("k",), dimensions=2
        )
        embedder = OpenAIEmbedder(settings, table_dims=2)
        engine = engine_at(tmp_path / "db", embedder=embedder)
        changes.apply(engine, changes.plan_edit(engine, [uuid(1)], {"text": "Tea: black"}))
    assert row_of(tmp_path / "db", uuid(1))["text"] == "Tea: black"
    made = np.float32(row_of(tmp_path / "db", uuid(1))["vector"])
    assert np.allclose(made, text_vector("Tea: black", 2), atol=1e-6)
