"""openclaw-mem-engine's recorded lists, counts and exports, read of a table as it writes them; its scan of a turn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
import pytest

from memtui.engine import Engine, ListQuery, Memory, RecallRequest, explain, mask, open_engine
from memtui.engine.capture import CaptureRequest, capture
from memtui.engine.capture.recipes import mem_engine
from memtui.engine.capture.trace import Message
from tests.conftest import NOW_MS
from tests.engine.test_recipe_mem_engine import SCHEMA

pytestmark = pytest.mark.conformance

Given = dict[str, Any]

SECOND = 1_000
"""The recorded times are so small that memtui takes them for seconds: milliseconds in each."""


def recorded(shared: Path, function: str) -> list[Given]:
    """The cases of one upstream function."""
    file = shared / "fixtures" / "mem-engine" / "golden.json"
    cases = json.loads(file.read_text(encoding="utf-8"))["cases"]
    return [case for case in cases if case["fn"] == function]


@pytest.fixture
def records(shared: Path) -> list[Given]:
    """What the recorded import left, as its export tells it."""
    (case,) = recorded(shared, "memory_export")
    found: list[Given] = case["expected"]["records"]
    return [{**each, "id": each["id"] or "00000000-0000-4000-8000-0000000000ff"} for each in found]


@pytest.fixture
def engine(tmp_path: Path, records: list[Given]) -> Iterator[Engine]:
    """A table of the engine's with these rows."""
    rows = [{**each, "vector": [1.0, 0.0], "createdAt": float(each["createdAt"])} for each in records]
    lancedb.connect(tmp_path / "store").create_table("memories", pa.Table.from_pylist(rows, schema=SCHEMA))
    with open_engine(tmp_path / "store", now=lambda: NOW_MS, environ={}, cwd=tmp_path) as opened:
        opened.load_catalog()
        yield opened


def listed(engine: Engine, filter: str, sort: str = "-timestamp") -> list[Memory]:
    view = engine.view(ListQuery(filter=filter, sort=sort))
    return engine.page(view, 0, view.total)


def test_lists_hold_the_recorded_rows_in_the_recorded_order(shared: Path, engine: Engine) -> None:
    """Its limit of 0 means 1 and ends at 5,000; a list of memtui's is a page of whatever size."""
    cases = recorded(shared, "memory_list")
    assert len(cases) == 6
    for case in cases:
        told, receipt = case["expected"]["texts"], case["expected"]["receipt"]
        asked = receipt["filtersApplied"]
        words = [f"{name}:{asked[name]}" for name in ("scope", "category") if asked[name]]
        found = listed(engine, " ".join(words))
        assert len(found) == receipt["matchedCount"], case["id"]
        ours = [each.raw_text for each in found][: asked["limit"]]
        assert ours == told, case["id"]


def test_counts_are_the_recorded_ones(shared: Path, engine: Engine) -> None:
    (case,) = recorded(shared, "memory_stats")
    told, view = case["expected"], engine.view(ListQuery(filter="scope:proj"))
    rows = engine.page(view, 0, view.total)
    sizes = [
        len("token sk-" + "A" * 24) if "REDACTED" in each.raw_text else len(each.raw_text) for each in rows
    ]
    assert view.total == told["count"]
    assert {scope: count for scope, count in view.facets.scopes if count} == told["byScope"]
    assert {name: count for name, count in view.facets.categories if count} == told["byCategory"]
    assert (min(sizes), max(sizes)) == (told["size"]["minChars"], told["size"]["maxChars"])
    ours = (rows[-1].timestamp_ms, rows[0].timestamp_ms)
    assert ours == (told["oldestCreatedAt"] * SECOND, told["newestCreatedAt"] * SECOND)


def test_an_export_is_in_the_recorded_order(engine: Engine, records: list[Given]) -> None:
    found = listed(engine, "", sort="timestamp")
    assert [each.id for each in found] == [each["id"] for each in records]
    for memory, told in zip(found, records, strict=True):
        assert (memory.category, memory.scope, memory.timestamp_ms) == (
            told["category"],
            told["scope"],
            told["createdAt"] * SECOND,
        )
        assert mask(memory.raw_text)[0] == memory.raw_text == told["text"]  # hidden there already


def test_a_turn_is_scanned_as_recorded(shared: Path) -> None:
    names = {
        "maxMessages": "maxScannedUserMessages",
        "maxTextBlocksPerMessage": "maxTextBlocksPerMessage",
        "maxTotalInputChars": "maxTotalInputChars",
    }
    cases = recorded(shared, "extractUserTextMessages")
    assert len(cases) == 4
    for case in cases:
        given = case["input"]
        limits = {names[key]: value for key, value in given["options"].items()}
        said = [Message(each["role"], each["content"]) for each in given["messages"]]
        scan = mem_engine.user_texts(said, {**mem_engine.DEFAULTS, **limits})
        ours = {
            "texts": [text for _, text in scan.texts],
            "stats": {
                "scannedUserMessages": scan.messages,
                "scannedTextBlocks": len(scan.texts),
                "scannedTextChars": scan.chars,
                "skippedOlderUserMessages": scan.older,
                "truncatedInputChars": scan.cut,
            },
        }
        assert ours == case["expected"], case["id"]


def test_a_turn_has_a_receipt_in_the_engines_form_with_counts_and_no_text(engine: Engine) -> None:
    said = [
        Message("user", "I prefer the blue ladder in the morning."),
        Message("assistant", "Noted."),
        Message("user", "I prefer the blue ladder in the morning.\nIt rained on the old slip all day.\nok"),
        Message("user", "My password: " + "hunter" + "2, I prefer it short\nExit code 1: I want the log"),
    ]
    context = replace(
        engine.capture_context(), embed=lambda texts: np.ones((len(texts), 2), dtype=np.float32)
    )
    trace = capture(CaptureRequest(said, "mem-engine", {"maxScannedUserMessages": 3}), context)
    told = trace.facts["receipt"]
    assert told["schema"] == "openclaw-mem-engine.autoCapture.receipt.v1"
    assert told["scanned"] == {
        "userMessages": 3,
        "textBlocks": 3,
        "textChars": sum(len(each.content) for each in said if each.role == "user"),
    }
    assert told["candidateExtractionCount"] == 6
    assert told["storedCount"] == len(trace.writes) == 1
    assert told["filteredOut"] == {
        "tool_output": 1,
        "secrets_like": 1,
        "duplicate": 1,
        "todo_rate_limit": 0,
        "todo_dedupe_window": 0,
        "older_user_messages": 0,
        "input_chars_truncated": 0,
    }
    assert told["unlisted"] == {"no trigger": 1, "too short": 1}
    assert "ladder" not in json.dumps(told)


def test_the_built_in_programs_block_is_the_recorded_one(shared: Path, tmp_path: Path) -> None:
    (case,) = [
        each
        for each in recorded(shared, "formatRelevantMemoriesContext")
        if each["id"] == "injection/block-lancedb"
    ]
    schema = pa.schema(
        [
            ("id", pa.string()),
            ("text", pa.string()),
            ("vector", pa.list_(pa.float32(), 2)),
            ("importance", pa.float64()),
            ("category", pa.string()),
            ("createdAt", pa.float64()),
        ]
    )
    rows = [
        {
            **each,
            "id": f"00000000-0000-4000-8000-00000000000{at}",
            "vector": [1.0, at / 10],
            "importance": 0.7,
            "createdAt": float(NOW_MS),
        }
        for at, each in enumerate(case["input"]["memories"])
    ]
    lancedb.connect(tmp_path / "store").create_table("memories", pa.Table.from_pylist(rows, schema=schema))
    with open_engine(tmp_path / "store", now=lambda: NOW_MS, environ={}, cwd=tmp_path) as opened:
        trace = opened.recall(
            RecallRequest("which tea", recipe="memory-lancedb", source="auto-recall", query_vector=[1.0, 0.0])
        )
        assert explain.injected(trace).block == case["expected"]
