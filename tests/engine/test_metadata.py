"""Reading and patching the metadata of a row."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memtui.engine.core.javascript import number, text_of, to_fixed, trim, utf16_len, utf16_slice
from memtui.engine.metadata.categories import matches, resolve_input, smart_of
from memtui.engine.metadata.patch import as_object, build_metadata, stringify
from memtui.engine.metadata.read import (
    Metadata,
    coerce_timestamp,
    fact_key,
    loads,
    normalise,
    parse_object,
)
from tests.conftest import NOW_MS

DAY_MS = 86_400_000
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from(
    [name for name in Metadata._fields if name not in ("values", "valid")] + ["type", "custom"]
)
objects = st.dictionaries(keys, json_values, max_size=8)
TIMES = ("valid_from", "valid_until", "invalidated_at", "last_injected_at", "last_confirmed_use_at")
quick = settings(max_examples=60, deadline=None, database=None)


def read(raw: str | None, text: str = "Ports: 6543", category: str | None = "preference") -> Metadata:
    return normalise(raw, text=text, category=category, timestamp_ms=NOW_MS - DAY_MS, now_ms=NOW_MS)


def test_a_row_without_metadata_reads_as_its_columns():
    meta = read(None)
    assert (meta.valid, meta.values) == (True, {})
    assert (meta.l0_abstract, meta.l1_overview) == ("Ports: 6543", "- Ports: 6543")
    assert (meta.tier, meta.state, meta.source, meta.memory_layer) == (
        "working",
        "confirmed",
        "legacy",
        "durable",
    )
    assert (meta.confidence, meta.access_count) == (0.7, 0)
    assert (meta.valid_from, meta.last_accessed_at) == (NOW_MS - DAY_MS, NOW_MS - DAY_MS)
    assert meta.fact_key == "preferences:ports"


@pytest.mark.parametrize(
    "raw", ["{", "[1, 2]", "null", "42", '"x"', '{"a": NaN}', "{'a': 1}", "\ufeff{}", "  "]
)
def test_what_is_no_object_is_said_to_be_invalid(raw: str):
    assert parse_object(raw)[1] is False
    assert read(raw).tier == "working"


def test_an_array_keeps_its_items_under_their_places():
    assert parse_object('["not", {"tier": "core"}]')[0] == {"0": "not", "1": {"tier": "core"}}


def test_the_last_of_two_equal_keys_counts():
    assert read('{"tier": "core", "tier": "peripheral"}').tier == "peripheral"


@pytest.mark.slow
@pytest.mark.parametrize("depth", [3, 200_000])
def test_nesting_of_any_depth_is_read(depth: int):
    raw = '{"tier": "core", "deep": ' + '{"a": ' * depth + "[7]" + "}" * depth + "}"
    values, valid = parse_object(raw)
    assert valid
    inner: Any = values["deep"]
    for _ in range(depth):
        inner = inner["a"]
    assert inner == [7]
    assert parse_object(raw[:-1])[1] is False


def test_an_endless_number_is_infinite_and_so_no_count():
    raw = '{"access_count": ' + "9" * (sys.get_int_max_str_digits() + 1) + "}"
    assert read(raw).access_count == 0


@quick
@given(json_values)
def test_the_deep_reader_agrees_with_the_standard_one(value: Any):
    text = json.dumps(value, indent=1)
    assert loads(text) == json.loads(text)


@quick
@given(st.text(alphabet='{}[]",:1a \\ntrue', max_size=12))
def test_the_deep_reader_refuses_what_the_standard_one_refuses(text: str):
    def outcome(read_json: Any) -> Any:
        try:
            return read_json(text)
        except ValueError:
            return "refused"

    assert outcome(loads) == outcome(json.loads)


@quick
@given(objects)
def test_normalised_values_are_in_range_and_reading_them_again_changes_nothing(values: dict[str, Any]):
    assume(not any(0 < number(values.get(name)) < 1 for name in TIMES))  # rounded to 0, which is no time
    meta = read(json.dumps(values))
    assert 0 <= meta.confidence <= 1
    assert min(meta.access_count, meta.last_accessed_at, meta.injected_count, meta.bad_recall_count) >= 0
    assert meta.invalidated_at is None or meta.invalidated_at >= meta.valid_from
    again = read(json.dumps(as_object(meta)))
    assert as_object(again) == as_object(meta)


@quick
@given(objects)
def test_unknown_keys_survive_an_empty_patch(values: dict[str, Any]):
    kept = {**values, "unknown": [1, {"x": None}]}
    built = build_metadata(json.dumps(kept), {}, text="t", category=None, timestamp_ms=NOW_MS, now_ms=NOW_MS)
    assert built["unknown"] == [1, {"x": None}]


def test_a_bad_patch_keeps_what_was_there():
    raw = '{"access_count": 4, "confidence": 0.9, "state": "pending"}'
    patch = {"access_count": -2, "confidence": "n", "l0_abstract": " "}
    built = build_metadata(raw, patch, text="t", category="fact", timestamp_ms=NOW_MS, now_ms=NOW_MS)
    assert (built["access_count"], built["confidence"], built["state"]) == (4, 0.9, "pending")
    assert built["l0_abstract"] == "t"


def test_written_metadata_is_compact_with_whole_numbers_and_escaped_surrogates():
    values = {"a": 1.0, "b": 0.5, "c": float("nan"), "d": "é\ud800", "history": list(range(60))}
    written = stringify(values)
    assert written.startswith('{"a":1,"b":0.5,"c":null,"d":"é\\ud800","history":[10,')
    assert len(json.loads(written)["history"]) == 50


def test_validity_has_two_sides():
    meta = read(json.dumps({"valid_from": 100, "invalidated_at": 200, "valid_until": 150}))
    assert [meta.active(t) for t in (99, 100, 199, 200)] == [False, True, True, False]
    assert [meta.expired(t) for t in (149, 150)] == [False, True]


def test_a_topic_ends_at_a_colon_an_arrow_or_with_the_text():
    assert fact_key("preferences", "Deploy   TARGET => fra-5") == "preferences:deploy target"
    assert fact_key("entities", "多 空格：值") == "entities:多 空格"
    assert fact_key("preferences", "x" * 121 + ": y") == "preferences:" + "x" * 121 + ": y"
    assert fact_key("cases", "a: b") is None


def test_a_short_fact_about_the_user_is_a_profile():
    assert smart_of("fact", "My name is Dana") == "profile"
    assert smart_of("fact", "I'm " + "z" * 200) == "cases"
    assert smart_of("decision", "I am the owner", row_type="memory-reflection-mapped") == "profile"


def test_fact_matches_every_row_stored_as_fact_but_cases_asks_the_metadata():
    assert matches("fact", "fact", {"memory_category": "profile"})
    assert not matches("fact", "cases", {"memory_category": "profile"})
    assert matches("fact", "case", {"memory_category": "nonsense"})
    assert resolve_input(" Preferences ") == ("preferences", "preference")
    assert resolve_input("misc") == ("patterns", "other")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", 0),
        (None, 0),
        (" 0x1F ", 31),
        ("5.", 5),
        ("1_000", math.nan),
        ("nan", math.nan),
        ([[" 7 "]], 7),
        ([True], math.nan),
        ({"n": 1}, math.nan),
        ("-Infinity", -math.inf),
        (10**400, math.inf),
    ],
)
def test_numbers_are_read_as_javascript_reads_them(value: Any, expected: float):
    assert number(value) == pytest.approx(expected, nan_ok=True)


def test_seconds_are_recognised_and_what_is_no_time_is_zero():
    assert [coerce_timestamp(x) for x in (1700000000, "1700000000.9", NOW_MS + 0.5)] == [
        1_700_000_000_000,
        1_700_000_000_000,
        NOW_MS,
    ]
    assert [coerce_timestamp(x) for x in (-5, "x", None, math.inf, {})] == [0, 0, 0, 0, 0]


def test_lengths_and_cuts_are_in_utf16_units():
    assert utf16_len("a😀b") == 4
    assert utf16_slice("a😀b", 3) == "a😀"
    assert utf16_slice("a😀b", 2) == "a\ud83d"
    assert trim("\ufeff\u3000x\x1c ") == "x\x1c"


@quick
@given(st.text(), st.integers(0, 20))
def test_a_cut_has_at_most_its_length_and_begins_the_text(text: str, end: int):
    cut = utf16_slice(text, end)
    assert utf16_len(cut) == min(end, utf16_len(text))
    whole_text = text.encode("utf-16-le", "surrogatepass")
    assert whole_text.startswith(cut.encode("utf-16-le", "surrogatepass"))


def test_numbers_are_written_as_javascript_writes_them():
    assert [text_of(x) for x in (1.0, 0.4, 60, 1e-5, 1e-7, 1e21)] == [
        "1",
        "0.4",
        "60",
        "0.00001",
        "1e-7",
        "1e+21",
    ]
    assert [to_fixed(x, 0) for x in (24.5, 4.5, 14.500000000000002)] == ["25", "5", "15"]
    assert to_fixed(0.125, 2) == "0.13"
