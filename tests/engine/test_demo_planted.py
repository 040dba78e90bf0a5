"""Everything that was planted in the demo store is there, and nothing of its kind beside it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
import pytest

from memtui.engine import open_engine
from memtui.engine.core.content_rules import noise_rule
from memtui.engine.core.memory import TIERS, Memory
from memtui.engine.core.progress import CancelToken
from memtui.engine.core.text import clean
from memtui.engine.decay.decay import DecayParams, DecayScores, decay_scores
from memtui.engine.demo.build import build_demo, demo_table
from memtui.engine.demo.content import fake_token, problems, questions, records
from memtui.engine.demo.rows import DAY_MS, memory_id
from memtui.engine.dialects.memtui import own
from tests.conftest import NOW_MS

MIDNIGHT = NOW_MS - NOW_MS % DAY_MS
PLANTED = {each.name: set(each.keys) for each in problems()}
RECORDS = {each.key: each for each in records()}
Found = Mapping[str, Memory]


@pytest.fixture(scope="module")
def rows() -> list[dict[str, object]]:
    return demo_table(MIDNIGHT, None, CancelToken()).to_pylist()


@pytest.fixture(scope="module")
def found() -> Found:
    """Every memory by its key, read as the store's dialect reads it."""
    read = own().to_memories(demo_table(MIDNIGHT, None, CancelToken()), MIDNIGHT)
    return {key: memory for key, memory in zip(RECORDS, read, strict=True) if memory.id == memory_id(key)}


def keys_where(found: Found, test: Callable[[Memory], object]) -> set[str]:
    return {key for key, memory in found.items() if test(memory)}


def planted(*names: str) -> set[str]:
    return set().union(*(PLANTED[name] for name in names))


def test_the_list_names_memories_and_each_only_once(found: Found) -> None:
    assert len(found) == len(RECORDS)
    named = [key for each in problems() for key in each.keys]
    assert set(named) <= set(found)
    assert [key for key, count in Counter(named).items() if count > 1] == []
    assert all(each.what.endswith(".") for each in problems())


ROWS: dict[str, tuple[Callable[[Memory], object], tuple[str, ...]]] = {
    "expired": (lambda m: m.expired, ("expired", "hidden-by-a-word-of-time")),
    "suppressed": (lambda m: m.suppressed, ("suppressed",)),
    "nearly suppressed": (
        lambda m: not m.suppressed and m.metadata_values.get("bad_recall_count", 0) >= 2,
        ("bad-recall",),
    ),
    "drifted": (
        lambda m: m.importance in (0.47, 0.5, 0.55) and m.metadata_values.get("injected_count", 0) > 0,
        ("importance-drift",),
    ),
    "invalid metadata": (lambda m: not m.metadata_valid, ("invalid-metadata",)),
    "no scope": (lambda m: m.scope is None, ("null-scope",)),
    "blank scope": (lambda m: m.scope is not None and not m.scope.strip(), ("blank-scope",)),
    "padded scope": (lambda m: m.scope and m.scope != m.scope.strip(), ("padded-scope",)),
    "stranded scope": (
        lambda m: m.scope and not re.fullmatch(r"\s*(global|(reflection:)?\w+:[\w.-]+)\s*", m.scope),
        ("stranded-scope",),
    ),
    "secret": (lambda m: re.search(r"sk-[A-Za-z0-9]{20,}", m.text), ("secret",)),
    "instructions": (
        lambda m: re.search("ignore (all )?(your )?previous instructions", m.text),
        ("prompt-injection", "harmless-lookalike"),
    ),
    "hostile characters": (lambda m: clean(m.raw_text) != m.raw_text, ("hostile-control",)),
    "markup": (lambda m: re.search(r"\[/?[a-z@][^\]]*\]|<script", m.text), ("hostile-markup",)),
    "very long": (lambda m: len(m.text) >= 2000, ("very-long",)),
    "noise": (lambda m: noise_rule(m.text), ("noise", "mistaken-for-noise")),
    "camelCase": (lambda m: "accessCount" in m.metadata_values, ("old-access-keys",)),
}


@pytest.mark.parametrize("what", ROWS)
def test_a_problem_of_single_rows_is_there_exactly_as_listed(found: Found, what: str) -> None:
    test, names = ROWS[what]
    assert keys_where(found, test) == planted(*names)


def test_hostile_text_has_every_kind_of_it(found: Found) -> None:
    (key,) = PLANTED["hostile-control"]
    assert {"\x00", "\x07", "\x1b", "\u202e", "\u200b", "\u2066"} <= set(found[key].raw_text)


def test_no_file_holds_the_token_or_an_invisible_character() -> None:
    from importlib.resources import files

    for file in (files("memtui.engine.demo") / "memories").iterdir():
        text = file.read_text("utf-8")
        assert fake_token() not in text
        assert clean(text) == text


def test_seconds_and_the_zero_vector(rows: list[dict[str, object]]) -> None:
    keys = {memory_id(key): key for key in RECORDS}
    assert {keys[row["id"]] for row in rows if row["timestamp"] < 1e12} == PLANTED["seconds"]
    assert {keys[row["id"]] for row in rows if not any(row["vector"])} == PLANTED["zero-vector"]


def test_dangling_links(found: Found) -> None:
    ids = {each.id for each in found.values()}
    links = {key: {m.supersedes, m.superseded_by} - {None} for key, m in found.items()}
    assert {key for key, each in links.items() if each - ids} == PLANTED["dangling-links"]
    mutual = {key for key, m in found.items() if linked(m, "contradicts")}
    assert mutual == PLANTED["contradiction"]
    assert {linked(found[key], "contradicts") for key in mutual} == {found[key].id for key in mutual}


def linked(memory: Memory, kind: str) -> str | None:
    relations = memory.metadata_values.get("relations", [])
    return next((each["targetId"] for each in relations if each["type"] == kind), None)


def test_problems_between_two_scopes(found: Found) -> None:
    for name in ("contradiction", "silent-contradiction", "private-leak"):
        pair = [found[key] for key in PLANTED[name]]
        assert len({each.scope for each in pair}) == len(pair) == 2
        assert all(each.active and not each.expired for each in pair)
    (stray,) = (found[key] for key in PLANTED["wrong-scope"])
    assert "mango" in stray.text
    assert stray.scope == "project:quill"


def test_the_old_port_is_louder_than_the_new_one(found: Found) -> None:
    old, new = found["port-old"], found["port-new"]
    assert old.scope == new.scope
    assert old.active
    assert (old.tier, new.access_count) == ("core", 0)
    assert old.timestamp_ms < new.timestamp_ms
    query, wrong, right = bundled_vectors("Which port do I use for SSH to the bastion?", old.text, new.text)
    assert query @ wrong > query @ right + 0.2


def bundled_vectors(*texts: str) -> np.ndarray:
    from memtui.engine.providers.static_embedder import bundled

    return bundled().embed_passages(texts)


def scores(memories: Iterable[Memory], now_ms: int) -> DecayScores:
    each = list(memories)
    return decay_scores(
        [m.importance for m in each],
        [m.confidence for m in each],
        np.array([TIERS.index(m.tier or "working") for m in each]),
        [m.access_count for m in each],
        [m.timestamp_ms for m in each],
        [m.last_accessed_ms for m in each],
        [m.metadata_values.get("memory_temporal_type") == "dynamic" for m in each],
        now_ms=now_ms,
        params=DecayParams(),
    )


def test_the_lifecycle_has_something_to_do(found: Found) -> None:
    composite = dict(zip(found, scores(found.values(), MIDNIGHT).composite.tolist(), strict=True))
    soon = scores(found.values(), MIDNIGHT + 15 * DAY_MS)
    stale_soon = dict(zip(found, soon.stale(DecayParams()).tolist(), strict=True))

    def where(tier: str, test: Callable[[str, Memory], bool]) -> set[str]:
        return {key for key, m in found.items() if m.tier == tier and test(key, m)}

    rising = where("peripheral", lambda key, m: m.access_count >= 3 and composite[key] >= 0.4)
    assert rising == PLANTED["peripheral-to-promote"]
    falling = where("core", lambda key, m: m.access_count < 3 and composite[key] < 0.15)
    assert falling == PLANTED["core-to-demote"]
    best = where(
        "working", lambda key, m: m.access_count >= 10 and composite[key] >= 0.7 and m.importance >= 0.8
    )
    assert len(best) >= 5
    fading = {key for key, m in found.items() if m.importance >= 0.85 and 0.3 <= composite[key] < 0.32}
    assert fading == PLANTED["fading-important"]
    assert all(stale_soon[key] for key in fading)
    daily = [m for m in found.values() if m.access_count >= 80 and MIDNIGHT - m.last_accessed_ms < DAY_MS]
    assert len(daily) >= 5


def test_duplicates(found: Found) -> None:
    same = Counter(each.text for each in found.values())
    assert keys_where(found, lambda m: same[m.text] > 1) == PLANTED["exact-duplicates"]
    vectors = bundled_vectors(*(each.text for each in found.values()))
    position = {key: index for index, key in enumerate(found)}
    for key in PLANTED["near-duplicates"]:
        others = [position[other] for other in planted("near-duplicates", "exact-duplicates") if other != key]
        assert (vectors[others] @ vectors[position[key]]).max() > 0.75, key


def test_questions_name_memories_or_have_no_answer_and_say_what_they_show() -> None:
    asked = questions()
    assert len(asked) == len({each.id for each in asked}) == 14
    for each in asked:
        assert set(each.expected) | set(each.unexpected) <= set(RECORDS)
        assert bool(each.expected) != each.id.startswith("nothing-answers")
        assert not set(each.expected) & set(each.unexpected)
        assert each.shows.endswith(".")


def test_questions_for_one_lane_are_out_of_reach_of_the_other() -> None:
    by_id = {each.id: each for each in questions()}
    asked, answer = by_id["paraphrase"], RECORDS[by_id["paraphrase"].expected[0]]
    assert not words(asked.query) & words(answer.text)
    assert by_id["keyword-only"].expected == tuple(PLANTED["zero-vector"])
    outside = by_id["wrong-scope"]
    assert outside.scopes
    assert RECORDS[outside.expected[0]].scope not in outside.scopes


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{4,}", text.casefold()))


def test_a_question_without_an_answer_is_told_where_words_are_far_from_it(tmp_path: Path) -> None:
    """Of the two one is recognised: the share that `tests/quality/confidence.py` measures is about half."""
    from memtui.engine.cases.case import demo_cases
    from memtui.engine.cases.runner import CaseSetup, run_cases

    engine = open_engine(
        build_demo(tmp_path / "demo", now_ms=NOW_MS), now=lambda: NOW_MS, environ={}, cwd=tmp_path
    )
    silent = [case for case in demo_cases(NOW_MS) if case.silent]
    told = {
        recipe: [
            answer.measures.silence
            for answer in run_cases(
                silent, CaseSetup(recipe, recipe=recipe), engine.recall, engine.memories
            ).answers
            if answer.measures is not None
        ]
        for recipe in ("memtui", "pro/tool")
    }
    assert told == {"memtui": [1.0, 0.0], "pro/tool": [0.0, 0.0]}
