"""What is proposed at the cursor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine.catalog.completion import MOST, Completion, CompletionItem, complete
from memtui.engine.catalog.filters import compile
from memtui.engine.query.ast import TextSpan
from memtui.engine.query.errors import FilterError
from memtui.engine.query.fields import FIELDS
from memtui.engine.query.parser import parse
from tests.engine.query_world import World, world


@pytest.fixture(scope="module")
def peer(shared: Path, unpack: Callable[[Path], Path]) -> World:
    return world(unpack(shared / "fixtures/peer/store-lived.tar.gz"))


def at(marked: str) -> tuple[str, int]:
    """The text and the cursor of `a|b`, where ¦ is the cursor."""
    cursor = marked.index("¦")
    return marked.replace("¦", ""), cursor


def applied(marked: str, proposal: CompletionItem, found: Completion) -> str:
    text, _ = at(marked)
    return text[: found.span.start] + proposal.insert + text[found.span.end :]


@pytest.mark.parametrize(
    ("marked", "results"),
    [
        ("ti¦", ["tier:"]),
        ("s¦", ["scope:", "state:", "source:"]),
        ("impo¦", ["imp:", "label:"]),
        ("age<2d ca¦ x", ["age<2d cat: x", "age<2d cat:cases x"]),
        ("-ha¦", ["-has:"]),
        ("(la¦", ["(last:", "(lang:", "(layer:", "(label:"]),
        ("tie¦:core", ["tier:core"]),
        ("tier:¦", ["tier:core", "tier:working", "tier:peripheral"]),
        ("tier:wor¦", ["tier:working"]),
        ("tier:core,¦", ["tier:core,working", "tier:core,peripheral"]),
        ("tier:¦,core", ["tier:working,core", "tier:peripheral,core"]),
        ("a tier!=p¦ b", ["a tier!=peripheral b"]),
        ("is:su¦", ["is:superseded", "is:suppressed"]),
        ("is:se¦", []),
        ("has:¦", ["has:links"]),
        ("age<¦", ["age<1h", "age<1d", "age<1w", "age<4w"]),
        ("age:¦", ["age:1h", "age:1d", "age:1w", "age:4w", "age:1d..1w"]),
        ("used!¦=", []),
        ("nosuch:¦", []),
        ('"tie¦', []),
        ("/tie¦/", []),
        ("working¦", ["tier:working"]),
    ],
)
def test_without_a_store(marked: str, results: list[str]) -> None:
    found = complete(*at(marked))
    assert [applied(marked, proposal, found) for proposal in found.proposals] == results


def test_an_empty_bar_offers_every_field_with_help() -> None:
    found = complete("", 0)
    assert [proposal.insert for proposal in found.proposals] == [f"{name}:" for name in FIELDS]
    assert all(proposal.help for proposal in found.proposals)
    assert complete("tier:core ", 10).proposals == found.proposals


def test_values_of_the_store_with_their_counts(peer: World) -> None:
    scopes = Counter(memory.scope for memory in peer.memories)
    found = complete("scope:", 6, peer.context())
    assert {proposal.insert: proposal.count for proposal in found.proposals} == scopes
    counts = [proposal.count or 0 for proposal in found.proposals]
    assert counts == sorted(counts, reverse=True)
    tiers = Counter(memory.tier for memory in peer.memories)
    assert {p.insert: p.count for p in complete("tier:", 5, peer.context()).proposals} == tiers
    sources = Counter(memory.source for memory in peer.memories)
    assert {p.insert: p.count for p in complete("source:", 7, peer.context()).proposals} == sources
    categories = Counter(memory.category for memory in peer.memories)
    smart = Counter(memory.memory_category for memory in peer.memories)
    assert {p.insert: p.count for p in complete("cat:", 4, peer.context()).proposals} == {
        **smart,
        **categories,
    }


def test_keys_of_the_metadata_are_completed_and_filtered_by(peer: World) -> None:
    whole = [memory.metadata_values for memory in peer.memories if memory.metadata_valid]
    having = Counter(key for values in whole for key in values)
    assert peer.catalog.meta is not None
    assert set(peer.catalog.meta.keys) == set(having)
    found = [p.insert for p in complete("meta:", 5, peer.context()).proposals]
    assert [having[key] for key in found] == [number for _, number in having.most_common(MOST)]
    assert [p.insert for p in complete("l0_", 3, peer.context()).proposals] == ["meta:l0_abstract"]
    for text, wanted in (
        ("meta:fact_key", lambda values: values.get("fact_key") is not None),
        ("meta:tier=CORE", lambda values: values.get("tier") == "core"),
        ("meta:access_count=0", lambda values: values.get("access_count") == 0),
        ("meta!=source=manual", lambda values: values.get("source") != "manual"),
        ("meta:tier=nothing", lambda values: False),
    ):
        mask = compile(parse(text), peer.context(facts=peer.facts), text=text)
        assert mask.tolist() == [wanted(memory.metadata_values) for memory in peer.memories], text
    with pytest.raises(FilterError) as wrong:
        compile(parse("meta:fact_kez"), peer.context(facts=peer.facts))
    assert wrong.value.corrected == "meta:fact_key"


def test_half_a_scope_becomes_a_whole_term(peer: World) -> None:
    found = complete("agent", 5, peer.context())
    assert {p.insert for p in found.proposals} == {
        "scope:agent:main",
        "scope:agent:ops",
        "scope:agent:reviewer",
        "meta:agentId",
    }


def test_before_the_metadata_is_read_there_are_no_counts(peer: World) -> None:
    found = complete("tier:", 5, peer.context(catalog=peer.bare))
    assert [proposal.count for proposal in found.proposals] == [None, None, None]


def test_only_what_can_be_filtered_is_proposed(peer: World) -> None:
    def conditions(**changes: object) -> set[str]:
        return {p.insert for p in complete("is:", 3, peer.context(**changes)).proposals}

    decided = {"duplicate", "envelope", "injection", "noise", "pinned", "secret", "untrusted", "zero-vector"}
    assert conditions(facts=peer.facts) - conditions() == decided
    for name in conditions(facts=peer.facts):
        parse(f"is:{name}")


def test_where_the_cursor_stands_decides() -> None:
    assert complete("tier:core", 2).span == TextSpan(0, 4)
    assert complete("tier:core", 5).span == TextSpan(5, 9)
    assert complete("tier:core", 7).proposals == (CompletionItem("core", "fades slowest"),)
    assert complete("tier:core x", 10).span == TextSpan(10, 11)
