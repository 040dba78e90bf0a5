"""Ways out of a filter that finds nothing, with true counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine.catalog.filters import FilterRemedy, compile, remedies
from memtui.engine.query.errors import FilterError, NotReadyError
from memtui.engine.query.parser import parse
from tests.engine.query_world import World, world


@pytest.fixture(scope="module")
def peer(shared: Path, unpack: Callable[[Path], Path]) -> World:
    return world(unpack(shared / "fixtures/peer/store-lived.tar.gz"))


def count(peer: World, text: str) -> int:
    return int(compile(parse(text), peer.context(), text=text).sum())


@pytest.mark.parametrize(
    "text",
    [
        'tier:core age<1h "kafka"',
        "scope:user:* used>50 -is:active",
        "(cat:fact | cat:entity) imp<.2 tier:core",
    ],
)
def test_each_dropped_term_and_the_rows_it_gives(peer: World, text: str) -> None:
    assert count(peer, text) == 0
    offered = remedies(peer.context(), text)
    assert [remedy.action for remedy in offered] == ["drop", "drop", "drop", "clear"]
    assert offered[-1] == FilterRemedy("clear", "", "", peer.catalog.n)
    for remedy in offered:
        assert remedy.count == count(peer, remedy.filter)
        assert remedy.term not in remedy.filter or not remedy.term
    assert len({remedy.count for remedy in offered}) > 1


def test_every_term_is_evaluated_once(peer: World) -> None:
    peer.texts.asked.clear()
    remedies(peer.context(), 'kafka "pg" /x/ tier:core')
    assert len(peer.texts.asked) == 3


def test_a_misspelt_scope_is_offered_in_its_nearest_spelling(peer: World) -> None:
    text = "scope:projct:atlas imp>.5"
    first = remedies(peer.context(), text)[0]
    assert (first.action, first.term, first.filter) == (
        "replace",
        "scope:projct:atlas",
        "scope:project:atlas imp>.5",
    )
    assert first.count == count(peer, "scope:project:atlas imp>.5") > 0


@pytest.mark.parametrize(
    "text", ["scope:project:* age<1h", "scope:project:atlas age<1h", "scope!=projct:atlas age<1h"]
)
def test_scopes_that_are_not_misspelt_are_left_alone(peer: World, text: str) -> None:
    assert [remedy.action for remedy in remedies(peer.context(), text)] == ["drop", "drop", "clear"]


def test_a_single_term_can_only_be_cleared(peer: World) -> None:
    assert remedies(peer.context(), "age<1s | zzz") == (FilterRemedy("clear", "", "", peer.catalog.n),)
    assert remedies(peer.context(), "") == (FilterRemedy("clear", "", "", peer.catalog.n),)


def test_errors_are_those_of_the_filter(peer: World) -> None:
    with pytest.raises(FilterError):
        remedies(peer.context(), "tier:")
    with pytest.raises(NotReadyError):
        remedies(peer.context(catalog=peer.bare), "tier:core age<1h")
