"""Public sets in public units, with the peers that run offline in the same table.

python -m tests.quality.board FOLDER [--questions N]

FOLDER holds what a person fetched: `public_sets` says which files are read and in which form. Every system gets the
same rows, the vectors of the bundled model and the same questions, each within its conversation; nDCG@10 and
recall@10 (binary gain) with 95 % intervals by bootstrap over the questions, and `memtui` minus the system, paired.
The peers are our ports of their formulas, checked against recordings of the originals (`tests/conformance`); what
they do with a model or a network (reranking, extraction) is not in it. Nothing leaves the machine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from memtui.engine import MemtuiError, RecallRequest
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from tests.quality import dialogues, table, tuning
from tests.quality.public_sets import PublicSet, read_public_sets
from tests.quality.tuning import Asked, K, interval

Answer = Callable[[Asked], Sequence[str]]

OURS = "memtui"

PEERS: Mapping[str, str] = {
    "memory-lancedb-pro, as shipped": "pro/tool",
    "memory-lancedb": "memory-lancedb",
    "memory-core, its formula": "memory-core",
    "CrewAI, its search": "crewai",
    "Hermes, its search": "hermes",
}
"""Systems by the recipe that is their formula."""


def by_recipe(bench: RecallContext, recipe: str) -> Answer:
    """The first ten of a recipe as it comes."""

    def answer(asked: Asked) -> Sequence[str]:
        request = RecallRequest(
            query=asked.query, recipe=recipe, scopes=[asked.scope], limit=K, now_ms=asked.asked_at
        )
        return recall(request, bench).returned

    return answer


def by_hybrid(bench: RecallContext) -> Answer:
    """LanceDB's own hybrid search as it comes."""
    return lambda asked: table.plain_hybrid(bench, table.Asked(asked.query, (asked.scope,), ()))


def systems(bench: RecallContext) -> dict[str, Answer]:
    """Every system by its title, ours first."""
    found: dict[str, Answer] = {OURS: by_recipe(bench, OURS)}
    found["LanceDB hybrid (RRF)"] = by_hybrid(bench)
    found["BM25 (LanceDB)"] = tuning.by_words(bench)
    return found | {title: by_recipe(bench, recipe) for title, recipe in PEERS.items()}


def scored(set_: PublicSet, folder: Path, most: int | None = None) -> list[str]:
    """The table of a set as lines of Markdown; a system that cannot be asked here says why."""
    questions = set_.questions[:most]
    bench = tuning.bench_on(dialogues.write(folder, set_.memories, prefixed=set_.unit == "turns"))
    left = ", ".join(f"{count} {why}" for why, count in set_.left_out.items() if count) or "none"
    lines = [
        f"## {set_.name}, by {set_.unit}: {len(set_.memories)} memories, {len(questions)} questions (left out: {left})",
        "",
        "| system | nDCG@10 | recall@10 | memtui minus it, nDCG@10 | recall@10 |",
        "|---|---|---|---|---|",
    ]
    ours: np.ndarray | None = None
    for title, answer in systems(bench).items():
        try:
            found = tuning.measured(answer, questions)
        except MemtuiError as error:
            lines.append(f"| {title} | not asked: {error} | | | |")
            continue
        ours = found if ours is None else ours
        cells = [_with_interval(found[:, at]) for at in (1, 0)]
        cells += [_change(ours[:, at] - found[:, at]) if title != OURS else "" for at in (1, 0)]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return [*lines, ""]


def _with_interval(values: np.ndarray) -> str:
    mean, low, high = interval(values)
    return f"{mean:.3f} [{low:.3f}, {high:.3f}]"


def _change(values: np.ndarray) -> str:
    mean, low, high = interval(values)
    return f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for every set of the folder; 1 where it holds none."""
    parser = argparse.ArgumentParser(description="Public sets in public units, with offline peers beside.")
    parser.add_argument("folder", type=Path, help="where the fetched sets lie")
    parser.add_argument("--questions", type=int, metavar="N", help="only the first N of each set, to try it")
    args = parser.parse_args(arguments)
    sets = read_public_sets(args.folder)
    if not sets:
        sys.stderr.write(
            f"{args.folder} holds none of locomo10.json, Chat_*.json, longmemeval_s*.json: fetch one first.\n"
        )
        return 1
    for number, set_ in enumerate(sets):
        with tempfile.TemporaryDirectory() as place:
            print("\n".join(scored(set_, Path(place) / str(number), args.questions)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
