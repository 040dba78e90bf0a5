"""How well the recipe `memtui` answers on notes in English and passages in Chinese, against keyword search alone.

python -m tests.quality.tuning [../shared]

`../shared/fixtures/recall-tuning`: its README names the sources and their licences. recall@10 and nDCG@10 (binary
gain), paired bootstrap over the questions, the full-text index folded first, each question asked at its own time.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from memtui.engine import RecallRequest, open_engine
from memtui.engine.dialects.memtui import own_schema
from memtui.engine.providers.static_embedder import BUNDLED_DIMS, bundled
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.store.create import create_own
from memtui.engine.store.open import open_store
from memtui.engine.store.sql import is_in
from memtui.engine.token_vectors import build
from tests.conftest import NOW_MS, SHARED
from tests.quality import dialogues

K = 10
ROUNDS = 2_000


@dataclass(frozen=True)
class Asked:
    """A question, the scope and time it is asked in, and the memories that answer it."""

    query: str
    scope: str
    relevant: frozenset[str]
    asked_at: int | None


def read_tuning(shared: Path, folder: Path) -> tuple[RecallContext, dict[str, list[Asked]]]:
    """The set as a store of our own, and its questions by part."""
    material = shared / "fixtures" / "recall-tuning"
    memories, queries = (_lines(material / f"{name}.jsonl.gz") for name in ("memories", "queries"))
    vectors = bundled().embed_passages([memory["text"] for memory in memories])
    rows = [_row(memory, vector.tolist()) for memory, vector in zip(memories, vectors, strict=True)]
    folder.mkdir(parents=True, exist_ok=True)
    create_own(folder, pa.Table.from_pylist(rows, schema=own_schema(BUNDLED_DIMS)))
    parts: dict[str, list[Asked]] = {}
    for query in queries:
        asked = Asked(query["text"], query["scope"], frozenset(query["relevant"]), query["asked_at"])
        parts.setdefault(query["part"], []).append(asked)
    return bench_on(folder), parts


def read_foreign(material: Path, folder: Path) -> tuple[RecallContext, list[Asked]]:
    """The dialogues of other people as a store, and their questions without the adversarial ones."""
    memories, queries = (_lines(material / f"dialogues-{name}.jsonl.gz") for name in ("memories", "queries"))
    vectors = bundled().embed_passages([memory["text"] for memory in memories])
    rows = [_row(memory, vector.tolist()) for memory, vector in zip(memories, vectors, strict=True)]
    folder.mkdir(parents=True, exist_ok=True)
    create_own(folder, pa.Table.from_pylist(rows, schema=own_schema(BUNDLED_DIMS)))
    questions = [
        Asked(query["text"], query["scope"], frozenset(query["relevant"]), query["asked_at"])
        for query in queries
        if query["category"] != "adversarial"
    ]
    return bench_on(folder), questions


def read_dialogues(folder: Path) -> tuple[RecallContext, list[Asked]]:
    """Our own dialogues and their questions."""
    read = [dialogues.read(name) for name in dialogues.names()]
    dialogues.write(folder, [turn for turns, _ in read for turn in turns])
    asked = [Asked(q.query, str(q.scope), frozenset(q.expected), None) for _, each in read for q in each]
    return bench_on(folder), asked


def bench_on(folder: Path) -> RecallContext:
    """The store in `folder` with the bundled embedder, its index folded."""
    store = open_store(folder)
    store.pin().table.optimize(cleanup_older_than=timedelta(days=36_500))
    store.refresh()
    return RecallContext(open_store(folder), NOW_MS, bundled().embed_query, bundled=True)


def reading(bench: RecallContext, model: Path | None) -> RecallContext:
    """The same with token vectors of every memory by `model`, kept beside the store; as it is without one."""
    if model is None:
        return bench
    folder = Path(bench.store.uri)
    state = folder.with_name(f"{folder.name}-state")
    engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder, state=state)
    build(engine, model)
    return replace(bench, tokens=engine.recall_context().tokens)


def by_recipe(
    bench: RecallContext, settings: Mapping[str, Any] | None = None
) -> Callable[[Asked], Sequence[str]]:
    """The first ten of the recipe `memtui`."""

    def answer(asked: Asked) -> Sequence[str]:
        request = RecallRequest(
            query=asked.query,
            recipe="memtui",
            scopes=[asked.scope],
            limit=K,
            now_ms=asked.asked_at,
            config=None if settings is None else {"memtui": settings},
        )
        return recall(request, bench).returned

    return answer


def by_words(bench: RecallContext) -> Callable[[Asked], Sequence[str]]:
    """The first ten by keyword search alone."""
    pin = bench.store.pin()

    def answer(asked: Asked) -> Sequence[str]:
        where = is_in("scope", [asked.scope])
        if asked.asked_at is not None:
            where += f" AND timestamp <= {asked.asked_at}"
        found = pin.fts_search(asked.query.replace('"', " "), k=K, where=where, columns=["id"])
        ids: list[str] = found.column("id").to_pylist()
        return ids

    return answer


def measured(answer: Callable[[Asked], Sequence[str]], questions: Sequence[Asked]) -> np.ndarray[Any, Any]:
    """recall@10 and nDCG@10 of each question, [questions, 2]."""
    return np.array([_measures(answer(asked), asked.relevant) for asked in questions])


def interval(difference: np.ndarray[Any, Any]) -> tuple[float, float, float]:
    """The mean of paired differences with its 95 % bootstrap interval."""
    rng = np.random.default_rng(1)
    means = difference[rng.integers(0, len(difference), (ROUNDS, len(difference)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(difference.mean()), float(low), float(high)


def _measures(ids: Sequence[str], relevant: frozenset[str]) -> tuple[float, float]:
    gains = np.array([each in relevant for each in ids[:K]], float)
    discounts = 1 / np.log2(np.arange(2, K + 2))
    ideal = discounts[: min(K, len(relevant))].sum()
    return gains.sum() / len(relevant), float((gains * discounts[: len(gains)]).sum() / ideal)


def _lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _row(memory: Mapping[str, Any], vector: list[float]) -> dict[str, Any]:
    known = {"speaker": memory["speaker"], "session": memory["session"]}
    return {
        "id": memory["id"],
        "text": memory["text"],
        "vector": vector,
        "category": "fact",
        "scope": memory["scope"],
        "importance": 0.7,
        "timestamp": float(memory["timestamp"]),
        "metadata": json.dumps({key: value for key, value in known.items() if value}),
        "tier": "working",
        "access_count": 0,
        "last_accessed_at": None,
        "state": "confirmed",
    }


def main() -> int:
    """Print the table."""
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED
    as_before = {"bm25Weight": 0.1, "lateWeight": 0.8, "vectorWeight": 0.3}
    with tempfile.TemporaryDirectory() as place:
        own, said = read_dialogues(Path(place) / "dialogues")
        sets = [("dialogues", own, said)]
        if shared.is_dir():
            bench, parts = read_tuning(shared, Path(place) / "tuning")
            sets += [(part, bench, questions) for part, questions in parts.items()]
        for name, bench, questions in sets:
            print(f"{name}, {len(questions)} questions")
            runs = {
                "keyword search": by_words(bench),
                "fixed weights": by_recipe(bench, as_before),
                "memtui": by_recipe(bench),
            }
            made = {title: measured(run, questions) for title, run in runs.items()}
            for title, found in made.items():
                recalled, ndcg = found.mean(axis=0)
                mean, low, high = interval(made["memtui"][:, 1] - found[:, 1])
                print(
                    f"  {title:<16} recall {recalled:.3f}  nDCG {ndcg:.3f}"
                    f"  memtui minus it {mean:+.3f} [{low:+.3f}, {high:+.3f}]"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
