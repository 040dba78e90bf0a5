"""A filter that is wrong: where exactly, and what was probably meant."""

from __future__ import annotations

import pytest

from memtui.engine.core.errors import UsageError
from memtui.engine.query.errors import FilterError, nearest, quote
from memtui.engine.query.parser import MAX_DEPTH, MAX_LENGTH, MAX_PATTERN, expanded_size, parse

WRONG = [
    # text, the characters underlined, the corrected filter
    ("tir:core", "tir", "tier:core"),
    ("x scpoe:global", "scpoe", "x scope:global"),
    ("categry:fact", "categry", "cat:fact"),
    ("agent:main", "agent", "scope:agent:main"),
    ("http://example.org", "http", None),
    ("tier:cora", "cora", "tier:core"),
    ("tier:core,wrking", "wrking", "tier:core,working"),
    ("state:pend", "pend", "state:pending"),
    ("is:expird", "expird", "is:expired"),
    ("is:zzzz", "zzzz", None),
    ("has:lnks", "lnks", "has:links"),
    ("tier:", "tier:", None),
    ("tier: core", "tier:", None),
    ("tier:core,", "tier:core,", None),
    ("tier>core", ">", None),
    ("imp>.5,.7", ".5,.7", None),
    ("imp>.5...7", ".5...7", None),
    ("imp>.5..0.7", ".5..0.7", None),
    ("imp:high", "high", None),
    ("imp:-.5", "-.5", None),
    ("imp:nan", "nan", None),
    ("imp:1e3", "1e3", None),
    ("imp:..", "..", None),
    ("imp:.8...5", ".8...5", None),
    ("used:1.5", "1.5", None),
    ("used:٣", "٣", None),
    ("age<2", "2", None),
    ("age<2q", "2q", None),
    ('age<"2', '"2', None),
    ("age:3d..1d", "3d..1d", None),
    ('a "open', '"open', None),
    ('tier:"core"x', '"core"x', None),
    ("a /open", "/open", None),
    ("/etc/hosts", "h", None),
    ("//", "//", None),
    ('""', '""', None),
    ("~", "~", None),
    ("~ tier:core", "~", None),
    ('~" "', "~", None),
    ("-", "-", None),
    ("a - b", "-", None),
    ("(-)", "-", None),
    ("()", "()", None),
    ("a ( ) b", "( )", None),
    ("(a", "(", None),
    ("a)", ")", None),
    (")", ")", None),
    ("a |", "|", None),
    ("| a", "|", None),
    ("a || b", "|", None),
]


@pytest.mark.parametrize(("text", "underlined", "corrected"), WRONG, ids=[text for text, *_ in WRONG])
def test_wrong(text: str, underlined: str, corrected: str | None) -> None:
    with pytest.raises(FilterError) as caught:
        parse(text)
    error = caught.value
    assert isinstance(error, UsageError)
    assert text[error.span.start : error.span.end] == underlined
    assert error.corrected == corrected
    assert error.message.endswith(".")
    assert error.fix.endswith((".", "?"))
    if corrected:
        parse(corrected)


def test_carets_stand_under_the_wrong_characters_also_behind_wide_ones() -> None:
    with pytest.raises(FilterError) as caught:
        parse("日本 tir:core")
    assert caught.value.caret().split("\n") == ["日本 tir:core", "     ^^^"]


def test_hostile_text_in_a_message_is_harmless() -> None:
    with pytest.raises(FilterError) as caught:
        parse("tier:\x1b[31m\u202eevil")
    for shown in (str(caught.value), caught.value.caret()):
        assert "\x1b" not in shown
        assert "\u202e" not in shown


@pytest.mark.parametrize(
    "text", ["(" * 5000 + "a" + ")" * 5000, "-" * 5000 + "a", "(" * (MAX_DEPTH + 1) + "a"]
)
def test_depth_is_bounded(text: str) -> None:
    with pytest.raises(FilterError, match="levels deep"):
        parse(text)


def test_depth_below_the_bound_is_fine() -> None:
    parse("(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH)


def test_length_is_bounded() -> None:
    parse("a " * (MAX_LENGTH // 2))
    with pytest.raises(FilterError, match="longer than"):
        parse("a" * (MAX_LENGTH + 1))
    with pytest.raises(FilterError, match="too large"):
        parse(f"/{'a' * (MAX_PATTERN + 1)}/")


@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        ("abc", 3),
        ("a{5}", 5),
        ("a{2}{3}", 6),
        ("a{0}", 1),
        ("(ab|c){3}x", 13),
        (r"(\d{1,3}\.){3}\d{1,3}", 123),
        (r"\p{Greek}{3}\pL", 40),
        (r"[a-z\]{9}]{3}[]{9}]{2}", 5),
        (r"\({4}", 4),
        (")){3}(a{2", 3),
        ("((((a{9}){9}){9}){9})", 6561),
    ],
)
def test_size_of_a_pattern_written_out(pattern: str, size: int) -> None:
    assert expanded_size(pattern) == size


@pytest.mark.parametrize(
    "pattern", [r"(.{0,60}){0,40}#", r"(\w? ?){0,500}", r"\w?" * 60, r"a{99999999999999999999}"]
)
def test_patterns_that_measured_slow_are_refused(pattern: str) -> None:
    with pytest.raises(FilterError, match="too large"):
        parse(f"/{pattern}/")


def test_nearest() -> None:
    assert nearest("per", ("core", "working", "peripheral")) == "peripheral"
    assert nearest("AGENT:Mian", ("agent:main", "agent:ops")) == "agent:main"
    assert nearest("qqq", ("core", "working")) == ""
    assert nearest("", ("core",)) == ""


def test_quote_is_short() -> None:
    assert len(quote("x" * 500)) == 40
    assert quote("a\n\tb") == "a b"
