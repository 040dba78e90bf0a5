"""What spares the rules their patterns: the words and signs that are looked for first lose no match."""

from __future__ import annotations

import random
import re

import pytest

from memtui.engine.capture.recipes.memtui import wording
from memtui.engine.capture.recipes.memtui.statements import identifiers, names_something
from memtui.engine.capture.recipes.memtui.wording import Worded, spoken_in, words_in

WORDED = [name for name, found in vars(wording).items() if isinstance(found, Worded)]
PIECES = (
    "port", "5432", "v1.2.3", "10.0.0.1", "AB-12", "x-1", "a.com", "+49 30 123456", "deadbee1", "AB12C", "12/34",
    "99-88-77", "/a/b", "C:\\x", "00:11:22:aa:bb:cc", "12345", "ポート", "git@x", "https://a", "a@b.de", "report", "QX",
    "17", "room", "房间号", "-", ".", ",", "(", ")", "key", "é",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", WORDED)
def test_a_sentence_without_the_words_has_no_match(name: str) -> None:
    rule, draw = getattr(wording, name), random.Random(name)
    every = "|".join(getattr(wording, each).pattern.pattern for each in WORDED)
    words = sorted(
        {*re.findall(r"[a-z']+", every), "i'm", "don't", "the", "on mondays", "in may", "not sure"}
    )
    found = False
    for _ in range(20_000):
        sentence = " ".join(draw.choice(words) for _ in range(4))
        assert rule.search(sentence, words_in(sentence, spoken_in(sentence))) == rule.search(sentence), (
            sentence
        )
        found |= rule.search(sentence)
    assert found


def test_a_text_names_something_when_an_identifier_is_found_in_it() -> None:
    draw = random.Random(14)
    found = 0
    for _ in range(20_000):
        text = draw.choice(("", " ")).join(draw.choice(PIECES) for _ in range(draw.randrange(1, 6)))
        assert names_something(text) == bool(identifiers(text)), text
        found += names_something(text)
    assert 5_000 < found < 20_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The mail goes to ines@example.org.", ["ines@example.org."]),
        ("It listens on port 5432 now.", ["port 5432"]),
        ("Call +49 30 123456 first.", ["49 30 123456"]),
        ("The box is 10.0.0.12:8080.", ["10.0.0.12:8080"]),
        ("Nothing of 12 eggs is one.", []),
    ],
)
def test_identifiers_are_found_in_their_order(text: str, expected: list[str]) -> None:
    assert identifiers(text) == expected
