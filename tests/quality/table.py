"""How well each recipe answers questions that we made ourselves: recall@10, nDCG@10, MRR.

python -m tests.quality.table [../shared] [--context FOLDER]

Three sets: dialogues (ours, bundled vectors), the peer's store with its MiniLM vectors (rows judged by us), the demo
store. They are small: read differences below .05 as none. With `--context`, the folder of a model, `memtui` is also
asked with its token vectors at several weights, which is how `tokenWeight` is judged.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from memtui.engine import RecallRequest, open_engine
from memtui.engine.cases.case import Case
from memtui.engine.cases.runner import Measures, mean, measure
from memtui.engine.providers.static_embedder import bundled
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.recipes.memtui.signals import SIGNALS
from memtui.engine.store.open import open_store
from memtui.engine.store.sql import is_in
from memtui.engine.token_vectors import build
from tests.conftest import NOW_MS, SHARED
from tests.quality import dialogues

K = 10
RECIPES = ("pro/agent", "pro/tool", "pro/cli", "pro/article", "memory-lancedb", "mem-engine", "memtui")
_NO_BEFORE = {signal.key: 0.0 for signal in SIGNALS if signal.stage == "neighbours"}
_NO_KIND = {signal.key: 0.0 for signal in SIGNALS if signal.stage == "kind"}
_NO_NEIGHBOURS = {"signals": _NO_BEFORE | _NO_KIND, "contextWeight": 0, "following": 0}
_NO_SIGNALS = {"speakerWeight": 0, "dateWeight": 0, **_NO_NEIGHBOURS}
PARTS: Mapping[str, Mapping[str, Any]] = {
    "memtui: two lanes": {**_NO_SIGNALS, "lateWeight": 0, "vectorWeight": 0.2, "bm25Weight": 0.8},
    "memtui: + word by word": _NO_SIGNALS,
    "memtui: + speaker, date": _NO_NEIGHBOURS,
    "memtui: + signals": {"contextWeight": 0, "following": 0},
    "memtui: without the place": {"signals": _NO_BEFORE},
    "memtui: without the kind": {"signals": _NO_KIND},
    "memtui: without rarity": {"rarity": 0},
}
"""The recipe without some of its signals."""


@dataclass(frozen=True)
class Asked:
    """One question: what to ask, in which scopes, with which vector, and what should come back."""

    query: str
    scopes: tuple[str, ...] | None
    expected: tuple[str, ...]
    vector: list[float] | None = None


@dataclass(frozen=True)
class Set:
    """A store and its questions."""

    name: str
    bench: RecallContext
    questions: Sequence[Asked]


def answer(bench: RecallContext, asked: Asked, recipe: str, settings: Mapping[str, Any] | None) -> list[str]:
    """Ids of the first ten."""
    request = RecallRequest(
        query=asked.query,
        recipe=recipe,
        scopes=asked.scopes,
        limit=K,
        query_vector=asked.vector,
        config=None if settings is None else {"memtui": settings},
    )
    return list(recall(request, bench).returned)


def plain_hybrid(bench: RecallContext, asked: Asked) -> list[str]:
    """LanceDB's own hybrid search as it comes: RRF with k = 60 over lists of 20."""
    pin = bench.store.pin()
    vector = asked.vector
    if vector is None and bench.embed is not None:
        vector = [float(x) for x in bench.embed(asked.query)]
    column = pin.dialect.columns.scope
    where = None if asked.scopes is None or column is None else is_in(column, asked.scopes)
    query = pin.table.search(query_type="hybrid", vector_column_name="vector", fts_columns="text")
    query = query.vector(vector).text(asked.query.replace('"', " ")).distance_type("cosine")
    query = query if where is None else query.where(where, prefilter=True)
    return [row["id"] for row in query.limit(20).to_list()][:K]


def scores(set_: Set, answers: Sequence[Sequence[str]]) -> dict[str, float | None]:
    """The mean measures over a set's questions."""
    made: list[Measures] = []
    for asked, ids in zip(set_.questions, answers, strict=True):
        case = Case(id=asked.query, query=asked.query, expected=asked.expected, scopes=asked.scopes)
        made.append(measure(case, ids, [None] * len(ids), K))
    return mean(made)


def dialogue_set(folder: Path, *, scoped: bool, prefixed: bool = True) -> Set:
    """The dialogues; `scoped` asks each question in its own dialogue only."""
    read = [dialogues.read(name) for name in dialogues.names()]
    turns = [turn for each, _ in read for turn in each]
    store = dialogues.write(folder, turns, prefixed=prefixed)
    questions = [
        Asked(q.query, (str(q.scope),) if scoped else None, q.expected) for _, each in read for q in each
    ]
    bench = RecallContext(open_store(store), NOW_MS, bundled().embed_query, bundled=True)
    title = ("" if scoped else ", all in one") + ("" if prefixed else ", bare texts")
    return Set(f"dialogues{title}", bench, questions)


def peer_set(shared: Path, folder: Path) -> Set:
    """The peer's store with the vectors of its own model."""
    peer = shared / "fixtures" / "peer"
    with tarfile.open(peer / "store-clean.tar.gz") as tar:
        tar.extractall(folder, filter="data")
    rows = [json.loads(line)["id"] for line in (peer / "memories.jsonl").read_text("utf-8").splitlines()]
    answers = tomllib.loads(Path(__file__).with_name("peer_answers.toml").read_text("utf-8"))["answers"]
    with gzip.open(peer / "traces.json.gz", "rt", encoding="utf-8") as file:
        recorded: dict[str, Any] = json.load(file)
    vectors = np.load(peer / "query_vectors.npy")
    questions = [
        Asked(
            query["text"],
            None if query["scope_filter"] is None else tuple(query["scope_filter"]),
            tuple(rows[n] for n in answers[query["qid"]]),
            [float(x) for x in vectors[query["vector_index"]]],
        )
        for query in recorded["queries"]
        if query["qid"] in answers
    ]
    bench = RecallContext(open_store(folder / "store-clean"), NOW_MS, None)
    return Set("peer store, given vectors", bench, questions)


def demo_set(folder: Path) -> Set:
    """The demo store and its questions."""
    from memtui.engine.demo.build import build_demo
    from memtui.engine.demo.content import records
    from memtui.engine.demo.rows import table_rows

    store = open_store(build_demo(folder, now_ms=NOW_MS))
    rows = table_rows(records(), NOW_MS)
    ids = {record.key: row["id"] for record, row in zip(records(), rows, strict=True)}
    file = Path(__file__).parents[2] / "memtui" / "engine" / "demo" / "questions.toml"
    questions = [
        Asked(q["query"], None, tuple(ids[key] for key in q["expected"]))
        for q in tomllib.loads(file.read_text("utf-8"))["question"]
        if q.get("expected")
    ]
    return Set("demo store", RecallContext(store, NOW_MS, bundled().embed_query, bundled=True), questions)


def table(set_: Set) -> list[tuple[str, dict[str, float | None]]]:
    """Each recipe's means on one set."""
    out = [("LanceDB hybrid (RRF)", scores(set_, [plain_hybrid(set_.bench, q) for q in set_.questions]))]
    runs = [(recipe, recipe, None) for recipe in RECIPES]
    runs += [(title, "memtui", settings) for title, settings in PARTS.items()]  # type: ignore[misc]
    for title, recipe, settings in runs:
        answers = [answer(set_.bench, q, recipe, settings) for q in set_.questions]
        out.append((title, scores(set_, answers)))
    return out


TOKEN_WEIGHTS = ((0.8, 0.0), (0.8, 0.4), (0.8, 0.8), (0.4, 0.8), (0.8, 1.2), (0.0, 1.6))
"""(lateWeight, tokenWeight) that are compared where a model is named."""


def token_table(set_: Set, model: Path, state: Path) -> list[tuple[str, dict[str, float | None]]]:
    """The means of `memtui` with token vectors of `model`, kept in `state`."""
    engine = open_engine(
        Path(set_.bench.store.uri), now=lambda: NOW_MS, environ={}, cwd=state.parent, state=state
    )
    build(engine, model)
    bench, out = replace(set_.bench, tokens=engine.recall_context().tokens), []
    for late, read in TOKEN_WEIGHTS:
        settings = {"lateWeight": late, "tokenWeight": read}
        answers = [answer(bench, q, "memtui", settings) for q in set_.questions]
        out.append((f"memtui: late {late}, token {read}", scores(set_, answers)))
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description="How well each recipe answers.")
    parser.add_argument("shared", nargs="?", type=Path, default=SHARED)
    parser.add_argument("--context", type=Path, metavar="FOLDER", help="a model for token vectors")
    args = parser.parse_args()
    shared: Path = args.shared
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sets = [
            dialogue_set(folder / "scoped", scoped=True),
            dialogue_set(folder / "whole", scoped=False),
            dialogue_set(folder / "bare", scoped=True, prefixed=False),
        ]
        if shared.is_dir():
            sets.append(peer_set(shared, folder / "peer"))
        sets.append(demo_set(folder / "demo"))
        for set_ in sets:
            print(f"\n{set_.name}, {len(set_.questions)} questions")
            found_of = table(set_)
            if args.context is not None:
                found_of += token_table(set_, args.context, folder / "state" / str(sets.index(set_)))
            for name, found in found_of:
                print(
                    f"  {name:<26}recall {found['recall'] or 0:.3f}  nDCG {found['ndcg'] or 0:.3f}"
                    f"  MRR {found['mrr'] or 0:.3f}"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
