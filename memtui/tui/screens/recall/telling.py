"""The story of each candidate in words, and which word met which: made behind the answer, results first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.engine import CancelToken, EmbeddingError
from memtui.tui.runner import Report

if TYPE_CHECKING:
    from memtui.engine import Engine, Trace, WordsMet

TOLD = "told"
"""The slot of this work."""
RADAR = "radar"
"""The slot of the look for memories that disagree."""
AT_A_TIME = 20


@dataclass(frozen=True, slots=True)
class Told:
    """What is said of one candidate beside its numbers."""

    story: str
    """How it was found, what pushed it, what it gained and lost."""
    words: WordsMet | None
    """Word by word by the bundled model; None where that cannot be read."""


def tell(engine: Engine, trace: Trace, cancel: CancelToken, report: Report) -> None:
    """Report id to `Told` for every candidate of `trace`, some at a time, in the order of the lists."""
    ids = [candidate.id for candidate in trace.candidates]
    results = len(trace.returned)
    for part in (ids[:results], *_parts(ids[results:])):
        told: dict[str, Told] = {}
        for each in part:
            cancel.check()
            told[each] = Told(engine.lab.explain(trace, each).text, _words(trace, each))
        if told:
            report(told)


def _parts(ids: list[str]) -> Iterator[list[str]]:
    for at in range(0, len(ids), AT_A_TIME):
        yield ids[at : at + AT_A_TIME]


def _words(trace: Trace, memory_id: str) -> WordsMet | None:
    try:
        return trace.words_met(memory_id)
    except EmbeddingError:
        return None
