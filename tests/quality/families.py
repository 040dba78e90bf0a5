"""What each weight of the recipe `memtui` does in dialogues of several hands, each by itself, and neighbours by score.

python -m tests.quality.families [../shared]

Families: two hands of other people (`../shared/fixtures/recall-tuning`, conversations d and e; adversarial questions
left out), our own dialogues and our own chats, alone and as one. A weight that stays has to help or do no harm in each:
printed is the change of nDCG@10 and recall@10 without it, the others as they are, with 95 % intervals over the
questions. Each question is recalled once; everything else is arithmetic over its trace.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memtui.engine import RecallRequest
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.recipes.memtui.signals import SIGNALS
from tests.conftest import SHARED
from tests.quality import dialogues, fusion, tuning
from tests.quality.fusion import BEFORE, Row, Sample
from tests.quality.tuning import Asked, interval

NEIGHBOURS = ((0.1, 0.0), (0.2, 0.0), (0.3, 0.0), (0.0, 0.1), (0.0, 0.2), (0.1, 0.1), (0.2, 0.2))
"""(previousWeight, nextWeight) that are tried."""


@dataclass(frozen=True)
class Traced:
    """A question's signals with the weights that it was asked with; where its candidates' neighbours stand."""

    sample: Sample
    weights: Mapping[str, float]
    previous: np.ndarray[Any, np.dtype[np.int64]]
    """Place of the memory before among the candidates, -1 where it is none."""
    following: np.ndarray[Any, np.dtype[np.int64]]

    def score(self, without: Sequence[str] = (), beside: tuple[float, float] = (0.0, 0.0)) -> Row:
        """The score of each candidate without some weights, with so much of its neighbours' own."""
        columns = self.sample.columns
        parts = {name: weight * columns[name] for name, weight in self.weights.items() if name not in without}
        own = np.sum([parts[name] for name in BEFORE if name in parts], axis=0)
        total = np.sum(list(parts.values()), axis=0)
        for weight, places in zip(beside, (self.previous, self.following), strict=True):
            total = total + weight * np.where(places >= 0, own[places], 0.0)
        found: Row = total
        return found


def traced(bench: RecallContext, asked: Asked) -> Traced:
    """One recall as a sample."""
    request = RecallRequest(
        asked.query, recipe="memtui", scopes=[asked.scope], limit=10, now_ms=asked.asked_at
    )
    trace = recall(request, bench)
    of = {record.name: record.outcome for record in trace.records}
    kept = np.sort(of["kind"].flow.order)
    ids = [trace.pool.rows[at].id for at in kept]
    place = {name: at for at, name in enumerate(ids)}
    beside = of["neighbours"].inputs if "neighbours" in of else {}
    nobody = np.full(trace.pool.n, None, object)
    previous, following = (
        np.array([place.get(name, -1) for name in beside.get(side, nobody)[kept]])
        for side in ("previous", "next")
    )
    settings = trace.config["memtui"]
    weights = {name: float(settings[name]) for name in BEFORE}
    weights |= {signal.name: float(settings["signals"].get(signal.key, 0.0)) for signal in SIGNALS}
    return Traced(fusion.sample("", asked.scope, trace, asked.relevant), weights, previous, following)


def families(shared: Path, root: Path) -> dict[str, list[Traced]]:
    """The questions of every family, recalled."""
    found: dict[str, list[Traced]] = {}
    material = shared / "fixtures" / "recall-tuning"
    if material.is_dir():
        bench, questions = tuning.read_foreign(material, root / "foreign")
        for hand in sorted({asked.scope[0] for asked in questions}):
            listed = [asked for asked in questions if asked.scope[0] == hand]
            found[f"others, hand {hand}"] = [traced(bench, asked) for asked in listed]
    for title, folder in (
        ("our dialogues", dialogues.FOLDER),
        ("our chats", dialogues.FOLDER / "chats"),
    ):
        found[title] = []
        for together in (False, True):
            turns: list[dialogues.Turn] = []
            asked_of: list[dialogues.Question] = []
            for name in dialogues.names(folder):
                said, asked = dialogues.read(name, folder)
                if together:
                    said, asked = fusion.renamed(name, said, asked)
                turns += said
                asked_of += asked
            bench = tuning.bench_on(dialogues.write(root / f"{title}-{together}", turns))
            found[title] += [
                traced(bench, Asked(each.query, str(each.scope), frozenset(each.expected), None))
                for each in asked_of
            ]
    return found


def ways() -> dict[str, tuple[tuple[str, ...], tuple[float, float]]]:
    """What is tried: each weight left out, neighbours by score beside the words before and in their place."""
    nothing = (0.0, 0.0)
    names = (*BEFORE, *(signal.name for signal in SIGNALS))
    tried: dict[str, tuple[tuple[str, ...], tuple[float, float]]] = {
        f"without {name}": ((name,), nothing) for name in names
    }
    for beside in NEIGHBOURS:
        told = f"previousWeight {beside[0]}, nextWeight {beside[1]}"
        tried[told] = ((), beside)
        tried[f"{told}, in place of words_before"] = (("words_before",), beside)
    return tried


def lines(title: str, asked: Sequence[Traced]) -> list[str]:
    """The changes in one family."""
    plain = np.array([fusion.measures(each.sample, each.score()) for each in asked])
    told = [
        f"{title}, {len(asked)} questions: nDCG@10 {plain[:, 0].mean():.3f}, recall@10 {plain[:, 1].mean():.3f}"
    ]
    for name, (without, beside) in ways().items():
        made = np.array([fusion.measures(each.sample, each.score(without, beside)) for each in asked])
        cells = ["{:+.3f} [{:+.3f}, {:+.3f}]".format(*interval(made[:, at] - plain[:, at])) for at in (0, 1)]
        told.append(f"  {name:<60} nDCG@10 {cells[0]}  recall@10 {cells[1]}")
    return told


def main() -> int:
    """Print every family's table."""
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED
    with tempfile.TemporaryDirectory() as place:
        for title, asked in families(shared, Path(place)).items():
            print("\n".join(lines(title, asked)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
