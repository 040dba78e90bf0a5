"""Poison among memories is told from healthy look-alikes, better than by each of two scanners; none is accused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.quality.poison import ANSWERS, SCANNERS, by_memtui, digest, f1, healthy, texts


def test_better_than_each_scanner_on_every_set() -> None:
    recorded = json.loads(ANSWERS.read_text("utf-8"))["texts"]
    every = texts()
    new = [each for each in every if each.hand == "new"]
    assert sum(not each.poison for each in new) * 2 >= len(new), "at least half are healthy look-alikes"
    for chosen in (every, new, [each for each in new if each.family == "delayed"]):
        ours = f1([(each.poison, by_memtui(each.text)) for each in chosen])
        for at, _ in enumerate(SCANNERS):
            theirs = f1([(each.poison, recorded[digest(each.text)][at]) for each in chosen])
            assert ours > theirs
    assert f1([(each.poison, by_memtui(each.text)) for each in new]) > 0.7


def test_healthy_texts_of_the_fixtures_are_not_accused(shared: Path) -> None:
    if not shared.is_dir():
        pytest.skip("the shared fixtures are not here")
    every = list(healthy(shared))
    accused = [text for text in every if by_memtui(text)]
    assert len(accused) * 1_000 <= len(every), accused[:5]
