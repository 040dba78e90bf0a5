"""The terms of a filter one by one: chips, one less, one more."""

from __future__ import annotations

import pytest

from memtui.engine.query.ast import TextSpan
from memtui.engine.query.errors import FilterError
from memtui.engine.query.render import FilterChip, add, chips, remove


def test_chips_are_the_terms_as_written() -> None:
    text = ' tier:Core,working  -is:stale scope!=global "deploy" -/x y/ ~old things | '.rstrip(" |")
    assert chips(text) == (
        FilterChip("tier:Core,working", TextSpan(1, 18), "tier", False),
        FilterChip("-is:stale", TextSpan(20, 29), "is", True),
        FilterChip("scope!=global", TextSpan(30, 43), "scope", True),
        FilterChip('"deploy"', TextSpan(44, 52), "phrase", False),
        FilterChip("-/x y/", TextSpan(53, 59), "regex", True),
        FilterChip("~old things", TextSpan(60, 71), "semantic", False),
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", []),
        ("a", ["a"]),
        ("a | b c", ["a | b c"]),
        ("(a b)", ["a", "b"]),
        ("(a | b) c", ["(a | b)", "c"]),
        ("-(a b) c", ["-(a b)", "c"]),
    ],
)
def test_groups_are_one_chip(text: str, written: list[str]) -> None:
    assert [chip.text for chip in chips(text)] == written


@pytest.mark.parametrize(
    ("text", "index", "left"),
    [
        ("tier:core  age<2d   x", 0, "age<2d   x"),
        ("tier:core  age<2d   x", 1, "tier:core x"),
        ("tier:core  age<2d   x", -1, "tier:core  age<2d"),
        ("tier:core", -1, ""),
        ("a | b", 0, ""),
        ("(a b)", 0, "( b)"),
        ("(a | b) c", 1, "(a | b)"),
        ("(a b) c", 1, "(a b)"),
        ("~how do tier:core kafka", 1, '~"how do" kafka'),
        ('"x"tier:core "y"', 1, '"x" "y"'),
    ],
)
def test_remove(text: str, index: int, left: str) -> None:
    assert remove(text, index) == left


def test_removing_what_is_not_there() -> None:
    with pytest.raises(IndexError):
        remove("a b", 2)
    with pytest.raises(IndexError):
        remove("", -1)


@pytest.mark.parametrize(
    ("text", "term", "longer"),
    [
        ("", "tier:core", "tier:core"),
        ("age<2d ", "tier:core", "age<2d tier:core"),
        ("age<2d tier:core", "tier:core", "age<2d tier:core"),
        ("a | b", "tier:core", "(a | b) tier:core"),
        ("a", "b | c", "a (b | c)"),
        ("~how do", "kafka", '~"how do" kafka'),
        ("x", "", "x"),
    ],
)
def test_add(text: str, term: str, longer: str) -> None:
    assert add(text, term) == longer


def test_a_filter_that_does_not_parse_has_no_chips() -> None:
    for ask in (
        chips,
        lambda text: remove(text, 0),
        lambda text: add(text, "a"),
        lambda text: add("a", text),
    ):
        with pytest.raises(FilterError):
            ask("tier:")
