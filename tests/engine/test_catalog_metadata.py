"""Metadata in columns: for every row the same as `metadata.normalise`, whatever is stored."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from memtui.engine.catalog import metadata_parse
from memtui.engine.catalog.build import build_catalog
from memtui.engine.catalog.catalog import DYNAMIC, INVALID, STATIC, SUPERSEDED, SUPERSEDES, Catalog
from memtui.engine.catalog.metadata_columns import read_metadata
from memtui.engine.core.memory import LAYERS, STATES, TIERS
from memtui.engine.metadata.read import normalise
from memtui.engine.store.open import open_store
from tests.conftest import NOW_MS
from tests.engine.tables import PRO, pro_row, uuid, write_table

LATER, EARLIER = 1_790_000_000_000, 1_770_000_000_000
ODD: dict[str, list[Any]] = {
    "tier": ["core", "working", "peripheral", "Core", "", 5, None, ["core"], True],
    "access_count": [0, 3, 7.9, -1, "5", "many", "", None, True, [], [2], {}, 2**31, 2**33, 2**60, 1e300],
    "confidence": [0, 1, 0.35, -0.5, 7, "0.5", "x", None, False, []],
    "last_accessed_at": [0, EARLIER, LATER, -5, 1.5, "17", None, 1e18],
    "valid_from": [0, EARLIER, LATER, -1, "1770000000000", None, 1.7, {}],
    "valid_until": [0, EARLIER, LATER, "x", None, -2, 0.5],
    "invalidated_at": [0, EARLIER, LATER, 5, "1790000000000", None, True],
    "suppressed_until_ms": [0, EARLIER, LATER, None, -1, "5", 2.5],
    "memory_temporal_type": ["static", "dynamic", "other", None, 1],
    "state": ["pending", "confirmed", "archived", "lost", "", None, 3],
    "source": [
        "manual",
        "auto-capture",
        "reflection",
        "dreaming-engine",
        "session-summary",
        "legacy",
        "else",
        None,
        1,
    ],
    "type": ["session-summary", "memory-reflection", "memory-reflection-mapped", "note", None, 4],
    "memory_layer": ["durable", "working", "reflection", "archive", "cellar", None, 0],
    "memory_category": [
        "profile",
        "preferences",
        "events",
        "cases",
        "preference",
        " Events ",
        "event",
        "",
        "  ",
        "mine",
        None,
        9,
    ],
    "supersedes": [uuid(1), "", " ", None, 5],
    "superseded_by": [uuid(2), "", "\u00a0", None, []],
    "note": ["null", "a: null", "NaN", {"deep": [None, float("1e308")]}, "\U0001f600", "\u2028"],
}
RAW = [
    None,
    "",
    " ",
    "\n",
    "null",
    "[]",
    '["tier"]',
    "17",
    '"text"',
    "true",
    "{",
    "}",
    "{}",
    " {} ",
    "\t{}\n",
    "\ufeff{}",
    '{"tier":"core"}x',
    '{"tier":"core"}{"tier":"working"}',
    '{}}\n{"m":{"tier":"core"}',
    '{"tier":"core","tier":"working"}',
    '{"tier":"working","access_count":1,"access_count":2}',
    '{"confidence": NaN}',
    '{"confidence":Infinity}',
    '{"note":[NaN],"tier":"core"}',
    '{"note":-Infinity}',
    '{"access_count":1e400}',
    '{"access_count":-0}',
    '{"access_count":01}',
    '{"access_count":1E2}',
    '{"ti\\u0065r":"core"}',
    '{"note":"\\ud800","tier":"core"}',
    '{"tier":"core",}',
    "{'tier':'core'}",
    '{\n  "tier": "core",\n  "state": "archived"\n}',
    '{"tier":"core" /* no */}',
    '{"note":"' + "x" * 100_000 + '","tier":"core"}',
    '{"note":' * 300 + "1" + "}" * 300,
    '{"note":' * 5_000 + "1" + "}" * 5_000,
    '{"tier":"core","note":"a\\nb\\u0000"}',
    '{"tier":"core","access_count":5,"access_count":"x"}',
]


def metadata_texts(seed: int, number: int) -> list[str | None]:
    """Objects with every mixture of good and odd values, among them some cut in the middle."""
    rng = random.Random(seed)
    texts: list[str | None] = []
    for _ in range(number):
        keys = [key for key in ODD if rng.random() < 0.45]
        plain = rng.random() < 0.5
        values = {key: ODD[key][0] if plain else rng.choice(ODD[key]) for key in keys}
        text = json.dumps(values, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, None, 1]))
        texts.append(text[: rng.randrange(len(text))] if rng.random() < 0.05 else text)
    return texts


def check(catalog: Catalog, rows: dict[str, dict[str, Any]]) -> None:
    meta, source = catalog.meta, catalog.labels["source"]
    assert meta is not None
    for at, each in enumerate(catalog.ids.texts(range(catalog.n))):
        row = rows[str(each)]
        expected = normalise(
            row["metadata"],
            text=row["text"] or "",
            category=row["category"],
            timestamp_ms=int(catalog.timestamp[at]),
            now_ms=NOW_MS,
        )
        found = (
            meta.memory_categories[meta.memory_category[at]],
            TIERS[meta.tier[at]],
            STATES[meta.state[at]],
            LAYERS[meta.layer[at]],
            source.values[source.codes[at]],
            meta.access_count[at],
            meta.confidence[at],
            meta.last_accessed[at],
            meta.valid_from[at],
        )
        wanted = (
            expected.memory_category,
            expected.tier,
            expected.state,
            expected.memory_layer,
            expected.source,
            min(expected.access_count, 2**32 - 1),
            np.float32(expected.confidence),
            expected.last_accessed_at,
            expected.valid_from,
        )
        assert found == wanted, row["metadata"]
        for time, known in (
            (meta.valid_until[at], expected.valid_until),
            (meta.invalidated_at[at], expected.invalidated_at),
            (meta.suppressed_until[at], expected.suppressed_until_ms),
        ):
            assert np.isnan(time) if known is None else time == known, row["metadata"]
        flags = {
            INVALID: not expected.valid,
            SUPERSEDED: bool(expected.superseded_by),
            SUPERSEDES: bool(expected.supersedes),
            DYNAMIC: expected.memory_temporal_type == "dynamic",
            STATIC: expected.memory_temporal_type == "static",
        }
        assert {flag: bool(meta.flags[at] & flag) for flag in flags} == flags, row["metadata"]
        assert meta.active(NOW_MS)[at] == expected.active(NOW_MS)
        assert meta.expired(NOW_MS)[at] == expected.expired(NOW_MS)


def test_every_odd_metadata_is_read_as_one_by_one(tmp_path: Path) -> None:
    rng = random.Random(1)
    texts = [*RAW, *metadata_texts(7, 3_000)]
    rows = {
        uuid(n): pro_row(
            n,
            metadata=text,
            text=rng.choice(["My name is Ines.", "The kiln is hot.", None]),
            category=rng.choice(["fact", "preference", "decision", "entity", "other", None]),
            timestamp=rng.choice([1.78e12, 1.78e9, 0.0, None]),
        )
        for n, text in enumerate(texts)
    }
    write_table(tmp_path, list(rows.values()))
    store = open_store(tmp_path)
    check(read_metadata(store, build_catalog(store)), rows)


@pytest.mark.parametrize("seed", range(3))
def test_the_fast_way_is_taken_for_what_the_program_writes(seed: int) -> None:
    rng = random.Random(seed)
    texts = [
        json.dumps(
            {
                "l0_abstract": rng.choice(["Info on nulls", "a", "NaN is not a number"]),
                "memory_category": "cases",
                "tier": "core",
                "access_count": rng.randrange(9),
                "confidence": 0.7,
                "last_accessed_at": EARLIER,
                "valid_from": EARLIER,
                "state": "confirmed",
                "source": "manual",
                "memory_layer": "working",
                "suppressed_until_turn": 0,
                "sources": ["x"],
            }
        )
        for _ in range(500)
    ]
    raw = pa.array(texts)
    assert metadata_parse.plain_rows(raw).all()
    pieces = list(metadata_parse.parse(raw))
    assert sum(piece.stop - piece.start for piece, _ in pieces) == 500
    assert all(rows is not None for _, rows in pieces)


def test_one_bad_row_costs_its_neighbours_little(tmp_path: Path) -> None:
    good = '{"memory_category":"cases","tier":"core","state":"confirmed","source":"manual"}'
    raw = pa.array([good] * 3_000 + ['{"tier":5}'] + [good] * 2_000)
    lost = [piece for piece, rows in metadata_parse.parse(raw) if rows is None]
    assert sum(piece.stop - piece.start for piece in lost) <= 256
    assert any(piece.start <= 3_000 < piece.stop for piece in lost)


def test_lines_cannot_be_shifted_by_what_is_stored(tmp_path: Path) -> None:
    """Two objects in one text and an unclosed one in the next keep the count, but not their places."""
    raw = pa.array(['{"tier":"core"}}\n{"m":{"tier":"core"}', '{"tier":"working"', '{"tier":"peripheral"}'])
    assert [rows for _, rows in metadata_parse.parse(raw)] == [None]
    rows = {uuid(n): pro_row(n, metadata=text, category="other") for n, text in enumerate(raw.to_pylist())}
    write_table(tmp_path, list(rows.values()))
    store = open_store(tmp_path)
    check(read_metadata(store, build_catalog(store)), rows)


def test_large_text_columns_are_read_too(tmp_path: Path) -> None:
    schema = PRO.set(7, pa.field("metadata", pa.large_string())).set(1, pa.field("text", pa.large_string()))
    rows = {uuid(n): pro_row(n, metadata=text) for n, text in enumerate(metadata_texts(3, 50))}
    write_table(tmp_path, list(rows.values()), schema)
    store = open_store(tmp_path)
    check(read_metadata(store, build_catalog(store)), rows)


def test_the_texts_of_the_fixture(shared: Path, unpack: Any) -> None:
    rows = {
        row["id"]: row
        for row in map(json.loads, (shared / "fixtures/peer/memories.jsonl").read_text().splitlines())
    }
    store = open_store(unpack(shared / "fixtures/peer/store-lived.tar.gz"))
    check(read_metadata(store, build_catalog(store)), rows)
