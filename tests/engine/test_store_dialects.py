"""Which table is whose: decided by its columns, refused with the way out where that is not certain."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from memtui.cli.open_store import column_map
from memtui.engine.catalog.build import build_catalog
from memtui.engine.catalog.metadata_columns import read_metadata
from memtui.engine.core.errors import UnknownDialectError, UsageError
from memtui.engine.dialects.memtui import own_schema
from memtui.engine.dialects.registry import detect
from memtui.engine.store.open import open_store
from tests.conftest import NOW_MS
from tests.engine.tables import PRO, pro_row, uuid, write_table

S, F = pa.string(), pa.float64()
VECTOR = pa.list_(pa.float32(), 2)
BUILTIN = [("id", S), ("text", S), ("vector", VECTOR), ("importance", F), ("category", S), ("createdAt", F)]
ENGINE = [
    ("id", S),
    ("text", S),
    ("vector", VECTOR),
    ("createdAt", F),
    ("category", S),
    ("importance", F),
    ("importance_label", S),
    ("scope", S),
    ("trust_tier", S),
]


def with_columns(schema: pa.Schema, *fields: tuple[str, pa.DataType]) -> pa.Schema:
    return pa.schema([*schema, *(pa.field(*field) for field in fields)])


@pytest.mark.parametrize(
    ("schema", "name", "title"),
    [
        (PRO, "pro", "memory-lancedb-pro"),
        (with_columns(PRO, ("createdAt", F)), "pro", "memory-lancedb-pro (on a built-in table)"),
        (
            with_columns(PRO, ("createdAt", F), ("agentId", S)),
            "pro",
            "memory-lancedb-pro (on a built-in table)",
        ),
        (pa.schema(BUILTIN), "builtin-g1", "built-in memory-lancedb"),
        (pa.schema([*BUILTIN, ("agentId", S)]), "builtin-g2", "built-in memory-lancedb (agentId)"),
        (
            pa.schema([*BUILTIN, ("agentId", S), ("scope", S)]),
            "builtin-g3",
            "built-in memory-lancedb (agentId, scope)",
        ),
        (pa.schema(ENGINE), "engine", "openclaw-mem-engine"),
        (own_schema(2), "memtui", "memtui"),
        (pa.schema(list(reversed(list(PRO)))), "pro", "memory-lancedb-pro"),
    ],
)
def test_detection(schema: pa.Schema, name: str, title: str) -> None:
    dialect = detect(schema, "x")
    assert (dialect.name, dialect.title) == (name, title)


@pytest.mark.parametrize(
    "schema",
    [
        pa.schema([("id", S)]),
        pa.schema([("id", S), ("text", S), ("vector", VECTOR)]),
        pa.schema([*BUILTIN, ("scope", S)]),
        pa.schema([*BUILTIN, ("metadata", S)]),
        pa.schema([*BUILTIN, ("timestamp", F), ("scope", S)]),
        pa.schema([*BUILTIN, ("trust_tier", S)]),
        pa.schema([*ENGINE, ("agentId", S)]),
        pa.schema([*ENGINE, ("metadata", S), ("timestamp", F)]),
        with_columns(PRO, ("trust_tier", S)),
        with_columns(PRO, ("agentId", S)),
        PRO.remove(PRO.get_field_index("vector")),
        PRO.set(0, pa.field("id", pa.int64())).remove(6),
        PRO.set(6, pa.field("timestamp", S)),
        PRO.set(2, pa.field("vector", pa.list_(pa.float32()))),
        PRO.set(7, pa.field("metadata", pa.struct([("tier", S)]))),
    ],
    ids=lambda schema: ",".join(schema.names),
)
def test_an_unknown_or_mixed_table_is_refused_with_its_columns_and_the_way_out(schema: pa.Schema) -> None:
    with pytest.raises(UnknownDialectError) as caught:
        detect(schema, "/some/where")
    for field in schema:
        assert f"{field.name} ({field.type})" in caught.value.message
    assert "--columns id=" in caught.value.fix


def test_a_newer_layout_of_our_own_is_not_read_as_an_older_one() -> None:
    newer = own_schema(2).with_metadata({"memtui.schema": "2"})
    with pytest.raises(UnknownDialectError, match="newer memtui"):
        detect(newer, "x")


def test_an_unknown_column_is_a_warning_and_stays_visible(tmp_path: Path) -> None:
    schema = with_columns(PRO, ("mood", S))
    write_table(tmp_path, [{**pro_row(1), "mood": "calm\x1b[31m"}], schema)
    store = open_store(tmp_path)
    assert any("mood" in warning for warning in store.warnings)
    (memory,) = store.dialect.to_memories(store.rows_by_id([uuid(1)], store.row_columns), NOW_MS)
    assert memory.extra == {"mood": "calm␛[31m"}


def test_an_index_that_the_agent_cannot_read_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANCE_FTS_FORMAT_VERSION", "2")
    table = write_table(tmp_path, [pro_row(1)])
    from lancedb.index import FTS

    table.create_index("text", config=FTS(with_position=True))
    (warning,) = open_store(tmp_path).warnings
    assert "version 2" in warning


def test_own_tables_read_their_columns_before_the_metadata(tmp_path: Path) -> None:
    raw = '{"tier":"peripheral","access_count":1,"state":"pending","last_accessed_at":5,"confidence":0.9}'
    own = {"tier": "core", "access_count": 42, "last_accessed_at": 1_785_000_000_000.0, "state": "confirmed"}
    absent = dict.fromkeys(own)
    rows = [{**pro_row(1, metadata=raw), **own}, {**pro_row(2, metadata=raw), **absent}]
    write_table(tmp_path, rows, own_schema(2))
    store = open_store(tmp_path)
    assert (store.dialect.name, store.warnings) == ("memtui", ())
    first, second = store.dialect.to_memories(store.rows_by_id([uuid(1), uuid(2)], store.row_columns), NOW_MS)
    assert (first.tier, first.access_count, first.state) == ("core", 42, "confirmed")
    assert first.last_accessed_ms == 1_785_000_000_000
    assert (second.tier, second.access_count, second.state) == ("peripheral", 1, "pending")
    assert (second.last_accessed_ms, second.confidence) == (5, 0.9)
    catalog = read_metadata(store, build_catalog(store))
    assert catalog.meta is not None
    place = {each: at for at, each in enumerate(catalog.ids.texts(range(2)))}
    assert catalog.meta.tier[[place[uuid(1)], place[uuid(2)]]].tolist() == [0, 2]
    assert catalog.meta.access_count[[place[uuid(1)], place[uuid(2)]]].tolist() == [42, 1]
    assert catalog.meta.state[[place[uuid(1)], place[uuid(2)]]].tolist() == [0, 1]


FOREIGN = pa.schema(
    [
        ("doc_id", pa.int64()),
        ("body text", S),
        ("embedding", VECTOR),
        ("made", pa.timestamp("us", tz="UTC")),
        ("weight", pa.float32()),
        ("tags", pa.list_(S)),
    ]
)


def foreign_row(number: int, text: str) -> dict[str, object]:
    return {
        "doc_id": number,
        "body text": text,
        "embedding": [1.0, 0.0],
        "made": 1_780_000_000_000_000,
        "weight": 0.25,
        "tags": ["a"],
    }


def test_a_foreign_table_is_read_through_a_column_map(tmp_path: Path) -> None:
    write_table(tmp_path, [foreign_row(7, "alpha"), foreign_row(8, "beta")], FOREIGN, name="docs")
    mapping = column_map(
        "id=doc_id, text=body text, vector=embedding, timestamp=made, importance=weight, category=body text"
    )
    store = open_store(tmp_path, table="docs", columns=mapping)
    assert (store.dialect.name, store.dims, store.count(), store.warnings) == ("generic", 2, 2, ())
    (memory,) = store.dialect.to_memories(store.rows_by_id(["8"], store.columns), NOW_MS)
    assert (memory.id, memory.text, memory.category) == ("8", "beta", "beta")
    assert (memory.timestamp_ms, memory.importance) == (1_780_000_000_000, 0.25)
    assert memory.extra == {"tags": ["a"]}
    catalog = build_catalog(store)
    assert sorted(catalog.ids.texts(range(2))) == ["7", "8"]
    assert catalog.timestamp.tolist() == [1_780_000_000_000.0] * 2
    assert not catalog.has_metadata
    assert store.vector_search([1.0, 0.0], k=2, columns=["doc_id"]).num_rows == 2


def test_a_map_without_a_vector_has_no_search_by_meaning(tmp_path: Path) -> None:
    write_table(tmp_path, [foreign_row(7, "alpha")], FOREIGN)
    store = open_store(tmp_path, columns={"id": "doc_id", "text": "body text"})
    assert store.dims is None
    with pytest.raises(UsageError, match="no vector column"):
        store.vector_search([1.0, 0.0], k=1)


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"id": "doc_id"}, "lacks text"),
        ({"id": "doc_id", "text": "nope"}, "no column nope"),
        ({"id": "doc_id", "text": "embedding"}, "cannot be the text"),
        ({"id": "weight", "text": "body text"}, "cannot be the id"),
        ({"id": "doc_id", "text": "body text", "vector": "weight"}, "cannot be the vector"),
        ({"id": "doc_id", "text": "body text", "colour": "weight"}, "unknown fields: colour"),
    ],
)
def test_a_map_that_does_not_fit_is_refused(tmp_path: Path, mapping: dict[str, str], words: str) -> None:
    write_table(tmp_path, [foreign_row(7, "alpha")], FOREIGN)
    with pytest.raises(UsageError, match=words) as caught:
        open_store(tmp_path, columns=mapping)
    assert caught.value.fix


@pytest.mark.parametrize("text", ["", "id=", "=x", "id=a,text", "colour=a"])
def test_a_map_that_does_not_parse(text: str) -> None:
    with pytest.raises(UsageError, match="--columns cannot read"):
        column_map(text)
