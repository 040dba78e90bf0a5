"""Keys of a metadata text change; every other byte of it stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.metadata.json_patch import (
    REMOVED,
    Raw,
    changed_keys,
    dump,
    members,
    patch,
    raw_values,
)

SPACE = st.sampled_from(["", " ", "\n  ", "\t"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.text(max_size=6)


@st.composite
def spelled(draw: Any) -> tuple[str, dict[str, str]]:
    """An object as a text with odd spacing and spelling, and the text of each value."""
    values = draw(st.dictionaries(KEYS, VALUES, max_size=6))
    ascii_only = draw(st.booleans())
    texts = {key: json.dumps(value, ensure_ascii=ascii_only) for key, value in values.items()}
    numbers = draw(st.sampled_from(["1.0", "1e3", "0.70", "-0", "12345678901234567890", "1E+2"]))
    texts = {key: numbers if text == "0" else text for key, text in texts.items()}
    gap = [draw(SPACE) for _ in range(4)]
    inner = f"{gap[0]},{gap[1]}".join(
        f"{json.dumps(key, ensure_ascii=ascii_only)}{gap[2]}:{gap[3]}{text}" for key, text in texts.items()
    )
    return f"{gap[1]}{{{gap[0]}{inner}{gap[2]}}}{gap[3]}", texts


@pytest.mark.slow
@given(spelled(), st.dictionaries(KEYS, st.one_of(VALUES, st.just(REMOVED)), max_size=4))
def test_only_the_named_keys_change(
    text_and_values: tuple[str, dict[str, str]], changes: dict[str, Any]
) -> None:
    text, values = text_and_values
    patched = patch(text, changes)
    after = raw_values(patched)
    for key, value in values.items():
        if key not in changes:
            assert after[key] == value
    for key, value in changes.items():
        assert (key not in after) if value is REMOVED else (after[key] == dump(value))
    left = [key for key in values if changes.get(key) is not REMOVED]
    added = [key for key, value in changes.items() if value is not REMOVED and key not in values]
    assert list(after) == left + added
    json.loads(patched)


@given(spelled())
def test_nothing_to_change_changes_nothing(text_and_values: tuple[str, dict[str, str]]) -> None:
    text, values = text_and_values
    assert patch(text, {}) == text
    assert patch(text, {key: Raw(value) for key, value in values.items()}) == text


@given(spelled(), KEYS, VALUES)
def test_what_was_added_can_be_taken_out_again(
    text_and_values: tuple[str, dict[str, str]], key: str, value: Any
) -> None:
    text, values = text_and_values
    if key not in values:
        assert patch(patch(text, {key: value}), {key: REMOVED}) == text


def test_spacing_of_new_keys_is_that_of_the_object() -> None:
    assert patch('{"a": 1, "b": 2}', {"c": 3}) == '{"a": 1, "b": 2, "c": 3}'
    assert patch('{"a":1,"b":2}', {"c": 3}) == '{"a":1,"b":2,"c":3}'
    assert patch('{"a": 1}', {"b": 2}) == '{"a": 1, "b": 2}'
    assert patch("{ }", {"b": 2}) == '{"b":2 }'
    assert patch(None, {"b": 2}) == patch("", {"b": 2}) == '{"b":2}'


def test_of_a_key_that_is_there_twice_the_last_counts() -> None:
    text = '{"tier":"core","x":1,"tier":"working"}'
    assert raw_values(text)["tier"] == '"working"'
    assert patch(text, {"tier": "peripheral"}) == '{"tier":"core","x":1,"tier":"peripheral"}'
    assert patch(text, {"tier": REMOVED}) == '{"x":1}'


def test_depth_does_not_matter() -> None:
    deep = "[" * 50_000 + "]" * 50_000
    assert patch(f'{{"deep":{deep},"a":1}}', {"a": 2}) == f'{{"deep":{deep},"a":2}}'


def test_numbers_are_written_as_javascript_writes_them() -> None:
    assert dump({"a": 1.0, "b": 0.7, "c": float("nan"), "d": [2.0]}) == '{"a":1,"b":0.7,"c":null,"d":[2]}'
    assert dump("é\ud800") == '"é\\ud800"'


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        "7",
        '"x"',
        "{",
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        '{"a":1}x',
        '{"a":"b}',
        '{"a":[1}',
        "null",
        "{a:1}",
    ],
)
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        patch(text, {"a": 1})


def test_differences_are_told_by_key() -> None:
    assert changed_keys('{"a":1,"b":2,"c":3}', '{"a": 1,"b":5,"d":4}') == {
        "b": ("2", "5"),
        "c": ("3", None),
        "d": (None, "4"),
    }
    assert [each.key for each in members('{"a":{"b":1},"c":"}"}')] == ["a", "c"]
