"""Filters over the real catalog of the recorded store, against the same question asked row by row."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from memtui.engine.catalog.filters import compile, glob_pattern
from memtui.engine.core.memory import Memory
from memtui.engine.query.parser import parse
from tests.conftest import NOW_MS
from tests.engine.query_world import World, world
from tests.timing import spent

HOUR, DAY, WEEK = 3_600_000, 86_400_000, 604_800_000


@pytest.fixture(scope="module")
def peer(shared: Path, unpack: Callable[[Path], Path]) -> World:
    return world(unpack(shared / "fixtures/peer/store-lived.tar.gz"))


def age(memory: Memory) -> float:
    return NOW_MS - memory.timestamp_ms if memory.timestamp_ms else float("nan")


def last(memory: Memory) -> float:
    return NOW_MS - (memory.last_accessed_ms or memory.timestamp_ms or float("nan"))


def scope(memory: Memory) -> str:
    return memory.scope or ""


MEANING: list[tuple[str, Callable[[Memory], bool]]] = [
    ("", lambda m: True),
    ("scope:global", lambda m: m.scope == "global"),
    ("scope:GLOBAL", lambda m: False),
    ("scope:global,agent:main", lambda m: m.scope in ("global", "agent:main")),
    ("scope!=global,agent:main", lambda m: m.scope not in ("global", "agent:main")),
    ("scope:agent:*", lambda m: scope(m).startswith("agent:")),
    ("scope:*:main", lambda m: scope(m).endswith(":main")),
    ("scope:user:?????", lambda m: scope(m).startswith("user:") and len(scope(m)) == 10),
    ("scope=agent:*", lambda m: False),
    ('scope:"agent:*"', lambda m: False),
    ("scope:agent:[a-z]*", lambda m: False),
    ("scope:agent:main'", lambda m: False),
    ('scope:"x\' OR 1=1 --"', lambda m: False),
    ("cat:fact", lambda m: m.category == "fact"),
    ("cat:entity", lambda m: m.category == "entity"),
    ("cat:fact,decision", lambda m: m.category in ("fact", "decision")),
    ("cat!=fact", lambda m: m.category != "fact"),
    ("cat:profile", lambda m: m.memory_category == "profile"),
    ("cat:preferences", lambda m: m.memory_category == "preferences"),
    ("cat:Event", lambda m: m.memory_category == "events"),
    ("tier:core", lambda m: m.tier == "core"),
    ("tier:core,peripheral", lambda m: m.tier in ("core", "peripheral")),
    ("tier!=working", lambda m: m.tier != "working"),
    ("imp>=.7", lambda m: m.importance >= 0.7),
    ("imp>.7", lambda m: m.importance > 0.7),
    ("imp<.7", lambda m: m.importance < 0.7),
    ("imp<=.7", lambda m: m.importance <= 0.7),
    ("imp:.7", lambda m: m.importance == 0.7),
    ("imp!=.7", lambda m: m.importance != 0.7),
    ("imp:.5..0.8", lambda m: 0.5 <= m.importance <= 0.8),
    ("imp:...4,.9..", lambda m: m.importance <= 0.4 or m.importance >= 0.9),
    ("conf<.7", lambda m: m.confidence < 0.7),
    ("conf:.7", lambda m: m.confidence == 0.7),
    ("used:0", lambda m: m.access_count == 0),
    ("used>=3", lambda m: m.access_count >= 3),
    ("used:3..10", lambda m: 3 <= m.access_count <= 10),
    ("used>99999999999999", lambda m: False),
    ("age<4w", lambda m: age(m) < 4 * WEEK),
    ("age>=26w", lambda m: age(m) >= 26 * WEEK),
    ("age:2w..8w", lambda m: 2 * WEEK <= age(m) <= 8 * WEEK),
    ("age:30d", lambda m: 30 * DAY <= age(m) < 31 * DAY),
    ("-age<4w", lambda m: not age(m) < 4 * WEEK),
    ("age>0s", lambda m: age(m) > 0),
    ("last<6h", lambda m: last(m) < 6 * HOUR),
    ("last:3d..2w", lambda m: 3 * DAY <= last(m) <= 2 * WEEK),
    ("id:1d538c87", lambda m: m.id.startswith("1d538c87")),
    ("id:1D538C87,corpus:", lambda m: m.id.startswith(("1d538c87", "corpus:"))),
    ("id=1d538c87", lambda m: False),
    (
        "id=1d538c87-7c04-4422-9aa4-775db829a7b1",
        lambda m: m.id == "1d538c87-7c04-4422-9aa4-775db829a7b1",
    ),
    ("id:'; DROP", lambda m: False),
    ("source:manual", lambda m: m.source == "manual"),
    ("source!=Manual,legacy", lambda m: m.source not in ("manual", "legacy")),
    ("state:confirmed", lambda m: m.state == "confirmed"),
    ("state:pending,archived", lambda m: m.state in ("pending", "archived")),
    ("layer:durable", lambda m: m.layer == "durable"),
    ("is:active", lambda m: m.active),
    ("-is:active", lambda m: not m.active),
    ("is:expired", lambda m: m.expired),
    ("is:superseded", lambda m: bool(m.superseded_by) or (m.invalidated_at_ms or NOW_MS + 1) <= NOW_MS),
    ("is:suppressed", lambda m: m.suppressed),
    ("is:pending,archived", lambda m: m.state in ("pending", "archived")),
    ("is:invalid-metadata", lambda m: not m.metadata_valid),
    ("has:links", lambda m: bool(m.supersedes or m.superseded_by)),
    ("deploy", lambda m: "deploy" in re.findall(r"\w+", m.raw_text.lower())),
    ('"PORT 6543"', lambda m: "port 6543" in m.raw_text.lower()),
    ("/654[0-9]/", lambda m: any(f"654{digit}" in m.raw_text for digit in range(10))),
    (
        "tier:core,working scope:agent:* imp>=0.5 -is:superseded",
        lambda m: (
            m.tier in ("core", "working")
            and scope(m).startswith("agent:")
            and m.importance >= 0.5
            and not m.superseded_by
        ),
    ),
    (
        "(cat:fact | cat:decision) -scope:project:* | used>10",
        lambda m: (
            (m.category in ("fact", "decision") and not scope(m).startswith("project:"))
            or m.access_count > 10
        ),
    ),
]
EMPTY = {"scope:GLOBAL", "scope=agent:*", 'scope:"agent:*"', "used>99999999999999", "id=1d538c87"}
"""Filters that rightly find nothing, beside those with a quote or a bracket; all others find something."""


@pytest.mark.parametrize(("text", "meaning"), MEANING, ids=[text for text, _ in MEANING])
def test_mask_is_the_row_by_row_answer(peer: World, text: str, meaning: Callable[[Memory], bool]) -> None:
    mask = compile(parse(text), peer.context(), text=text)
    assert mask.dtype == np.bool_
    assert mask.tolist() == [bool(meaning(memory)) for memory in peer.memories]
    rightly_empty = text in EMPTY or "'" in text or ("[" in text and "/" not in text)
    assert mask.any() != rightly_empty


def test_stale_is_what_the_agents_own_program_calls_stale(peer: World, shared: Path) -> None:
    recorded = json.loads((shared / "fixtures/peer/functions.json").read_text())["stale"]["default"]
    mask = compile(parse("is:stale"), peer.context())
    found = {memory.id for memory, hit in zip(peer.memories, mask, strict=True) if hit}
    assert found == {memory_id for memory_id, _ in recorded}
    assert 0 < len(found) < peer.catalog.n


def test_text_by_the_stores_own_index_and_scan(peer: World) -> None:
    def hits(text: str) -> set[int]:
        return set(np.flatnonzero(compile(parse(text), peer.context(text=peer.lookup), text=text)).tolist())

    def holding(wanted: str) -> set[int]:
        return {i for i, memory in enumerate(peer.memories) if wanted in memory.raw_text.lower()}

    assert hits('"port 6543"') == holding("port 6543") != set()
    assert hits('"PORT 6543" -"port 6543"') == set()
    assert hits("/PORT [0-9]{4}/") >= holding("port 6543")
    assert hits("pgbouncer") == holding("pgbouncer") != set()
    assert hits('"%" | "_"') == holding("%") | holding("_")
    assert hits('"\' OR 1=1 --"') == set()
    assert hits(r"/\'\) OR true/") == set()
    assert hits("デプロイ | 部署") == holding("デプロイ") | holding("部署")


def test_terms_that_the_store_decides_by_reading_rows(peer: World) -> None:
    context = peer.context(facts=peer.facts)
    texts = [memory.raw_text.strip() for memory in peer.memories]
    assert compile(parse("is:duplicate"), context).tolist() == [texts.count(text) > 1 for text in texts]
    assert (compile(parse("has:vector"), context) == ~compile(parse("is:zero-vector"), context)).all()
    assert 0 < compile(parse("is:noise"), context).sum() < peer.catalog.n


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(x+x+)+y", "(.*)*(.*)*(.*)*#", r"(\w+\s?)*\w+#"])
def test_a_catastrophic_pattern_is_answered_at_once(peer: World, pattern: str) -> None:
    def answer(text: str) -> object:
        return compile(parse(f"/{text}/"), peer.context(text=peer.lookup))

    assert spent(lambda: answer(pattern)) < 200 * spent(lambda: answer("(a)+$"))


def test_a_catastrophic_glob_is_answered_at_once() -> None:
    def match(length: int) -> None:
        assert glob_pattern("*a" * 40 + "b").match("a" * length) is None

    assert spent(lambda: match(2_000)) < 40 * spent(lambda: match(200)), (
        "ten times as long, ten times the time"
    )
