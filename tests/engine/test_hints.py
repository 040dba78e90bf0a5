"""Hints are found as by looking for each: in texts of any script, across words, at both ends."""

from __future__ import annotations

import random

from memtui.engine.core.hints import Hints
from memtui.engine.core.order_rules import hints

_PIECES = [
    *"-_. \né",
    "ignore",
    " all",
    "previous",
    "  ",
    "the",
    "sy",
    "stem:",
    "pass",
    "word",
    "token",
    "忽略",
    "kelp",
]


def test_what_is_found_is_what_a_search_for_each_finds() -> None:
    rng = random.Random(14)
    listed = [hint for hint in hints() if hint]
    chosen = Hints(listed)
    met = 0
    for number in range(4_000):
        parts = rng.choices([*_PIECES, *rng.sample(listed, 6)], k=rng.randrange(1, 9))
        if number % 3 == 0:
            parts = [part[rng.randrange(len(part)) :] for part in parts]
        text = rng.choice(("", " ", "x")).join(parts).lower()
        found = chosen.found_in(text)
        assert sorted(found) == sorted(hint for hint in listed if hint in text), text
        met += bool(found)
    assert met > 1_000


def test_long_texts_and_hints_of_one_character() -> None:
    chosen = Hints(("a b", "key", "x", "schlüssel", " end"))
    assert chosen.found_in("the key" + " of" * 400) == ["key"]
    assert sorted(chosen.found_in("a b x")) == ["a b", "x"]
    assert Hints(("a b", " end", "key")).found_in("a bend") == ["a b"]
    assert Hints(("a b", " end", "key")).found_in("the end") == [" end"]
    assert chosen.found_in("der schlüssel") == ["schlüssel"]
    assert chosen.found_in("") == []


def test_many_words_are_forgotten_together() -> None:
    chosen = Hints(("word7 of", "ord9"))
    for number in range(40_000):
        chosen.found_in(f"w{number}")
    assert chosen.found_in("the word7 of it") == ["word7 of"]
    assert chosen.found_in("word99") == ["ord9"]
