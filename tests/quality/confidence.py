"""Fit and check the confidence of the recipe `memtui`: does the best memory answer at all?

python -m tests.quality.confidence prints the weights, a reliability table and what is recognised. Questions with an
answer: those of our dialogues. Without one: the same questions asked of another dialogue with its people's names
put in ("elsewhere"), and of the same dialogue without the turns that answer them ("removed"). Questions with and
without an answer count alike. Cross-validated over dialogues.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from memtui.engine import RecallRequest, Trace
from memtui.engine.providers.static_embedder import bundled
from memtui.engine.recall import confidence as subject
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.store.open import open_store
from tests.conftest import NOW_MS
from tests.quality import dialogues

FALSE_ALARMS = 0.05
KINDS = ("answerable", "elsewhere", "removed")


@dataclass(frozen=True)
class Sample:
    """One question asked of one dialogue: how well its best memory is met, and whether that can be the answer."""

    dialogue: str
    kind: str
    met: float
    covered: float
    words: int
    answers: bool

    @property
    def weight(self) -> float:
        return 1.0 if self.kind == "answerable" else 0.5


def samples(every: int = 1) -> list[Sample]:
    """Every question (or each `every`th) with its answer, elsewhere and with its answer removed."""
    read = {name: dialogues.read(name) for name in dialogues.names()}
    people = {name: list(dict.fromkeys(t.speaker for t in turns)) for name, (turns, _) in read.items()}
    found = []
    with tempfile.TemporaryDirectory() as root:
        benches = {name: _bench(Path(root) / name, turns) for name, (turns, _) in read.items()}
        for name, (turns, questions) in read.items():
            removed: dict[tuple[str, ...], RecallContext] = {}
            for number, question in list(enumerate(questions))[::every]:
                trace = _ask(benches[name], question.query)
                first = trace.returned[: subject.LOOKED_AT]
                found.append(_sample(name, "answerable", trace, any(id in first for id in question.expected)))
                other = [each for each in read if each != name][number % (len(read) - 1)]
                query = question.query
                for old, new in zip(people[name], people[other], strict=True):
                    query = re.sub(rf"\b{old}\b", new, query)
                found.append(_sample(other, "elsewhere", _ask(benches[other], query), False))
                if question.expected not in removed:
                    left = [turn for turn in turns if turn.id not in question.expected]
                    removed[question.expected] = _bench(Path(root) / f"{name}-{number}", left)
                trace = _ask(removed[question.expected], question.query)
                found.append(_sample(name, "removed", trace, False))
    return found


def _bench(folder: Path, turns: Sequence[dialogues.Turn]) -> RecallContext:
    store = open_store(str(dialogues.write(folder, turns)))
    return RecallContext(store, NOW_MS, bundled().embed_query, bundled=True)


def _ask(bench: RecallContext, query: str) -> Trace:
    return recall(RecallRequest(query, recipe="memtui"), bench)


def _sample(name: str, kind: str, trace: Trace, answers: bool) -> Sample:
    told = subject.confidence(trace)
    met, covered = (0.0, 0.0) if told is None else (told.met, told.covered)
    return Sample(name, kind, met, covered, len(trace.query.split()), answers)


def fit(chosen: Sequence[Sample]) -> tuple[float, float, float]:
    """Logistic regression by Newton's method: bias, and the weights of met and covered."""
    x = np.array([[1.0, each.met, each.covered] for each in chosen])
    y = np.array([float(each.answers) for each in chosen])
    counts = np.array([each.weight for each in chosen])
    found, ridge = np.zeros(3), np.diag([1e-3, 0.3, 0.3])
    for _ in range(40):
        p = 1 / (1 + np.exp(-x @ found))
        curve = (x * (counts * p * (1 - p))[:, None]).T @ x + ridge
        found = found + np.linalg.solve(curve, x.T @ (counts * (y - p)) - ridge @ found)
    return float(found[0]), float(found[1]), float(found[2])


def cross_validated(every: Sequence[Sample]) -> list[float]:
    """What each question is given by weights that never saw its dialogue."""
    weights = {
        name: fit([each for each in every if each.dialogue != name])
        for name in {each.dialogue for each in every}
    }
    return [
        float(1 / (1 + np.exp(-np.dot(weights[each.dialogue], (1.0, each.met, each.covered)))))
        for each in every
    ]


def table(every: Sequence[Sample], given: Sequence[float], bins: int = 5) -> str:
    """The reliability as lines: what was given against what is so."""
    lines = ["given  so     n    0 . . . . . . . . 1   o given, x so"]
    for row in reliability(every, given, bins):
        axis = [" "] * 21
        axis[round(row[0] * 20)] = "o"
        axis[round(row[1] * 20)] = "x" if axis[round(row[1] * 20)] == " " else "*"
        lines.append(f" {row[0]:.2f}  {row[1]:.2f}  {row[2]:4d}  |{''.join(axis)}|")
    return "\n".join(lines)


def reliability(
    every: Sequence[Sample], given: Sequence[float], bins: int = 5
) -> list[tuple[float, float, int]]:
    """By bin of what was given: its mean, the share that is so, and how many."""
    rows = []
    for number in range(bins):
        inside = [
            (p, each) for p, each in zip(given, every, strict=True) if min(bins - 1, int(p * bins)) == number
        ]
        if inside:
            total = sum(each.weight for _, each in inside)
            mean = sum(p * each.weight for p, each in inside) / total
            rows.append((mean, sum(each.answers * each.weight for _, each in inside) / total, len(inside)))
    return rows


def line_of(every: Sequence[Sample], given: Sequence[float]) -> float:
    """Below it lie so few of the answered questions as may be called unanswered by mistake."""
    found = sorted(p for p, each in zip(given, every, strict=True) if each.answers)
    return found[int(len(found) * FALSE_ALARMS)]


def recognised(every: Sequence[Sample], given: Sequence[float], kind: str, line: float) -> float:
    """Share of one kind that is given less than `line`."""
    return float(np.mean([p < line for p, each in zip(given, every, strict=True) if each.kind == kind]))


def main() -> None:
    every = samples()
    given = cross_validated(every)
    print({kind: sum(each.kind == kind for each in every) for kind in KINDS}, "bias, weight", fit(every))
    print(table(every, given))
    line = line_of(every, given)
    told = (f"{kind} {recognised(every, given, kind, line):.2f}" for kind in KINDS[1:])
    print(f"below {line:.3f} at {FALSE_ALARMS:.0%} false alarms:", *told)


if __name__ == "__main__":
    main()
