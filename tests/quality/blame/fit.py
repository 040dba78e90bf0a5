"""Fit the weights of `memtui blame` on the planted families, and judge them with each family left out.

    python -m tests.quality.blame.fit            says what is reached
    python -m tests.quality.blame.fit --write    also writes memtui/engine/blame/weights.toml

A logistic rule by Newton's method with a penalty on the squares of the weights. What is measured: the guilty memory
first, "none" right, and turns without a guilty memory that hold an accusation.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from memtui.engine.blame import ACCUSED, NAMES, Grounds, PossibleCause, weigh
from memtui.engine.blame.judge import WEIGHTS, CauseRule
from memtui.engine.blame.rows import StoredText, rarity_of
from tests.quality.blame.planted import Family, families

PENALTY = 0.3

AGAINST = ("contrast", "opposed", "conflict", "elsewhere", "unsaid")
"""What speaks against a memory: rarer than what speaks for it, so a tenth of the penalty."""

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Weighed:
    """One planted sentence and the evidence for each memory that may have caused it."""

    family: str
    turn: int
    guilty: frozenset[str]
    grounds: tuple[Grounds, ...]


@dataclass(frozen=True)
class Reached:
    """What a rule reaches."""

    guilty: int
    first: int
    accused: int
    innocent: int
    none: int

    def __str__(self) -> str:
        return (
            f"guilty first {self.first} of {self.guilty}, accused {self.accused}; "
            f"none right {self.none} of {self.innocent}"
        )


@cache
def _vectors(texts: tuple[str, ...]) -> Floats:
    from memtui.engine.transfer import embedder_named

    return np.asarray(embedder_named("static-minilm-256", {}).embed_passages(list(texts)), np.float64)


def of_turns(found: Sequence[Family]) -> Iterator[Weighed]:
    """Each turn's sentence against the memories of its turn."""
    rows = [StoredText(m.id, m.text, None, m.time_ms) for family in found for m in family.memories.values()]
    for family in found:
        own = dict(zip(family.memories, _texts(family), strict=True))
        for turn in family.turns:
            said, asked = _vectors((turn.sentence, turn.question))
            given = [family.memories[key] for key in dict.fromkeys((*turn.injected, *turn.recalled))]
            candidates = [
                PossibleCause(m.id, m.text, m.day, float(own[m.key] @ said), float(own[m.key] @ asked))
                for m in given
            ]
            grounds = weigh(
                turn.sentence,
                candidates,
                question=turn.question,
                told=(turn.told,) if turn.told else (),
                rarity=rarity_of(turn.sentence, rows),
            )
            yield Weighed(family.agent, turn.number, _ids(family, turn.guilty), tuple(grounds))


def of_store(found: Sequence[Family]) -> Iterator[Weighed]:
    """Each turn's sentence against the memories of all families, as without a session."""
    memories = [m for family in found for m in family.memories.values()]
    rows = [StoredText(m.id, m.text, None, m.time_ms) for m in memories]
    every = np.concatenate([_texts(family) for family in found])
    for family in found:
        for turn in family.turns:
            near = every @ _vectors((turn.sentence,))[0]
            candidates = [
                PossibleCause(m.id, m.text, "", float(c)) for m, c in zip(memories, near, strict=True)
            ]
            grounds = weigh(turn.sentence, candidates, rarity=rarity_of(turn.sentence, rows))
            yield Weighed(family.agent, turn.number, _ids(family, turn.guilty), tuple(grounds))


def _texts(family: Family) -> Floats:
    return _vectors(tuple(m.text for m in family.memories.values()))


def _ids(family: Family, keys: Sequence[str]) -> frozenset[str]:
    return frozenset(family.memories[key].id for key in keys)


def fit(weighed: Sequence[Weighed]) -> CauseRule:
    """The rule that fits some sentences best."""
    rows = [
        (each.candidate.id in one.guilty, each.evidence.as_row()) for one in weighed for each in one.grounds
    ]
    wanted = np.array([guilty for guilty, _ in rows], np.float64)
    known = np.array([[1.0, *row] for _, row in rows], np.float64)
    penalty = np.array([1e-3, *(PENALTY * (0.1 if name in AGAINST else 1.0) for name in NAMES)])
    weights = np.zeros(known.shape[1])
    for _ in range(60):
        told = 1 / (1 + np.exp(-known @ weights))
        slope = known.T @ (told - wanted) + penalty * weights
        curve = (known * (told * (1 - told))[:, None]).T @ known + np.diag(penalty)
        weights -= np.linalg.solve(curve, slope)
    return CauseRule(float(weights[0]), dict(zip(NAMES, map(float, weights[1:]), strict=True)))


def reached(weighed: Sequence[Weighed], judged: CauseRule) -> Reached:
    """What a rule reaches on some sentences."""
    guilty = first = accused = innocent = none = 0
    for one in weighed:
        best = max(one.grounds, key=lambda each: judged.confidence(each.evidence))
        sure = judged.confidence(best.evidence) >= ACCUSED
        if one.guilty:
            guilty += 1
            first += best.candidate.id in one.guilty
            accused += sure and best.candidate.id in one.guilty
        else:
            innocent += 1
            none += not sure
    return Reached(guilty, first, accused, innocent, none)


def without_each(weighed: Sequence[Weighed]) -> Reached:
    """What is reached on each family by a rule that was fitted on the others, added up."""
    total = np.zeros(5, int)
    for name in dict.fromkeys(one.family for one in weighed):
        judged = fit([one for one in weighed if one.family != name])
        got = reached([one for one in weighed if one.family == name], judged)
        total += (got.guilty, got.first, got.accused, got.innocent, got.none)
    return Reached(*map(int, total))


def main() -> None:
    """Fit, say, write."""
    found = families()
    text = [
        "# What each piece of evidence counts in `memtui blame`; made by `python -m tests.quality.blame.fit --write`.",
        "# 1 / (1 + e^-(bias + weight * evidence + ...)) is the probability that a memory caused the sentence.",
    ]
    for name, weighed in (("turn", list(of_turns(found))), ("store", list(of_store(found)))):
        judged = fit(weighed)
        left_out = without_each(weighed)
        print(f"{name}: each family left out: {left_out}")
        text += [
            "",
            f"# each of {len(found)} families left out: {left_out}",
            f"[{name}]",
            f"bias = {judged.bias:.3f}",
        ]
        text += [f"{key} = {value:.3f}" for key, value in judged.weights.items()]
    if "--write" in sys.argv:
        WEIGHTS.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
