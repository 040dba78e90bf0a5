"""Capture without a model on the labelled statements, beside the rules of the three systems."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memtui.engine.capture.recipes import mem_engine, memory_lancedb
from memtui.engine.capture.recipes.memtui.statements import find, sentences
from memtui.engine.capture.stages.triggers import should_capture
from tests.quality.statements import Measured, labelled, measure


def ours(text: str) -> bool:
    """Whether the recipe memtui keeps something of a text."""
    return any(each.kind is not None and each.sure for each in map(find, sentences(text)))


def engine_keeps(text: str) -> bool:
    """Whether openclaw-mem-engine's rules keep something of a text, every category switched on."""
    return any(
        mem_engine.SHORTEST <= len(part) <= 240
        and not mem_engine.looks_like_secret(part)
        and not mem_engine.looks_like_tool_output(part)
        and mem_engine.detect_category(part) is not None
        for part in mem_engine.split_candidates(text)
    )


RULES: dict[str, Callable[[str], bool]] = {
    "memtui": ours,
    "memory-lancedb-pro": should_capture,
    "memory-lancedb": memory_lancedb.should_capture,
    "mem-engine": engine_keeps,
}


def table() -> str:
    """Precision and recall of each system on what the rules of ours were not fitted to, and on all."""
    lines = [
        f"{'rules':<20} {'held apart':>16} {'all':>16}",
        f"{'':<20} {'prec. recall':>16} {'prec. recall':>16}",
    ]
    texts = labelled()
    for name, keeps in RULES.items():
        apart, every = measure([t for t in texts if t.held], keeps), measure(texts, keeps)
        lines.append(
            f"{name:<20} {apart.precision:>9.2f} {apart.recall:>6.2f} {every.precision:>9.2f} {every.recall:>6.2f}"
        )
    return "\n".join(lines)


def test_the_set_is_large_enough() -> None:
    texts = labelled()
    assert len(texts) >= 750
    assert {each.language for each in texts} == {"en", "de", "zh", "ja", "es"}
    assert {each.kind for each in texts} == {
        "preference",
        "decision",
        "fact",
        "identifier",
        "correction",
        None,
    }
    assert len({each.text for each in texts}) == len(texts)


def test_what_was_held_apart_is_told_well() -> None:
    found = measure([each for each in labelled() if each.held], ours)
    assert found.precision >= 0.9, table()
    assert found.recall >= 0.7, table()


@pytest.mark.parametrize("language", ["en", "de", "zh", "ja", "es"])
def test_every_language_is_told_well(language: str) -> None:
    found = measure([each for each in labelled() if each.language == language], ours)
    assert found.precision >= 0.9
    assert found.recall >= 0.7


def test_our_rules_are_the_best_of_four() -> None:
    texts = [each for each in labelled() if each.held]
    best = measure(texts, ours)
    for name, keeps in RULES.items():
        other = measure(texts, keeps)
        assert best.recall >= other.recall, (name, table())
        assert _both(best) >= _both(other), (name, table())


def _both(found: Measured) -> float:
    """The harmonic mean of precision and recall."""
    total = found.precision + found.recall
    return 2 * found.precision * found.recall / total if total else 0.0


if __name__ == "__main__":
    print(table())
