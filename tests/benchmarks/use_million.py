"""Uses a large table as the app does, prints what it cost as JSON: `python use_million.py FOLDER WHAT`.

WHAT is `recall`, `lifecycle` or `doctor`, each in a process of its own, so that its peak is its own. Times are
processor time in seconds: neighbours on the machine do not count.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memtui.engine import Engine, RecallRequest, open_engine
from tests.benchmarks.million import NOW_MS
from tests.benchmarks.peak import peak_mb

QUESTIONS = ("which agent prefers postgres", "what deploys on friday", "mysql for the new service")


def spent(work: Callable[[], object]) -> float:
    """Processor time of all threads, in seconds."""
    started = time.process_time()
    work()
    return time.process_time() - started


def opened(folder: Path) -> Engine:
    """The store, as a person opens it."""
    return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)


def question_vector(text: str, dims: int) -> NDArray[np.float64]:
    """A vector that stands for a question: the table's own vectors are numbers drawn by chance, too."""
    return np.random.default_rng(len(text)).random(dims)


def once_through(engine: Engine) -> None:
    """One pass of numpy over all vectors: what a search without an index costs at least."""
    store = engine.store
    column, dims = str(store.dialect.columns.vector), store.dims or 1
    asked = question_vector("any", dims).astype(np.float32)
    best = 0.0
    for batch in store.pin().scan([column], batch_size=65_536):
        vectors = batch.column(column).flatten().to_numpy(zero_copy_only=False).reshape(-1, dims)
        best = max(best, float((vectors @ asked).max()))
    assert best > 0


def use_recall(engine: Engine) -> dict[str, Any]:
    """Each question of the recipe `memtui` twice: the first pays for what is opened once."""
    from memtui.engine.recall.answer import recall

    dims = engine.store.dims or 1
    bench = replace(engine.recall_context(), embed=lambda text: question_vector(text, dims))
    found: dict[str, Any] = {
        "pass": spent(lambda: once_through(engine)),
        "first": [],
        "questions": [],
        "wall": [],
    }
    for name in ("first", "questions"):
        for text in QUESTIONS:
            began, worked = time.perf_counter(), time.process_time()
            trace = recall(RecallRequest(query=text, recipe="memtui"), bench)
            found[name].append(time.process_time() - worked)
            found["wall"].append(time.perf_counter() - began)
            assert trace.results
            found["warnings"] = list(trace.warnings)
    return found


def use_lifecycle(engine: Engine) -> dict[str, Any]:
    """Board, another setting, history: what the screen asks for."""
    from memtui.engine.lifecycle.board import BoardAsk
    from memtui.engine.lifecycle.questions import make_board, store_history

    found = {"catalog": spent(engine.load_catalog), "metadata": spent(engine.load_metadata)}
    found["board"] = spent(lambda: make_board(engine, BoardAsk()))
    slid = BoardAsk(changes={"decay.recencyHalfLifeDays": 21.0})
    found["slider"] = spent(lambda: make_board(engine, slid))
    found["history"] = spent(lambda: store_history(engine))
    scored = spent(lambda: _bare_score(engine))
    return {**found, "scored": scored}


def _bare_score(engine: Engine) -> None:
    from memtui.engine.decay.decay import DecayParams
    from memtui.engine.decay.tiers import TierParams
    from tests.benchmarks.test_lifecycle import bare

    traits = engine.population.present(None).traits
    for start in range(0, traits.n, 1_000_000):
        bare(traits.take(slice(start, start + 1_000_000)), DecayParams(), TierParams())


def use_doctor(engine: Engine) -> dict[str, Any]:
    """Its passes one after another, as the screen makes them."""
    from memtui.engine.health.check import Cost
    from memtui.engine.health.doctor import examine, patient_of

    found: dict[str, Any] = {"pass": spent(lambda: once_through(engine))}
    patient = patient_of(engine, now_ms=NOW_MS)
    passes: Sequence[Cost] = ("facts", "light", "deep")
    for each in passes:
        seen: list[Any] = []
        found[each] = spent(lambda each=each, seen=seen: seen.append(examine(patient, passes=(each,))))
        found[f"{each} peak_mb"] = peak_mb()
        found[f"{each} unlooked"] = [(one.kind, one.why) for one in seen[0].unlooked]
    return found


def main(folder: str, what: str) -> None:
    engine = opened(Path(folder))
    uses = {"recall": use_recall, "lifecycle": use_lifecycle, "doctor": use_doctor}
    found = uses[what](engine)
    print(json.dumps({"rows": engine.store.count(), **found, "peak_mb": peak_mb()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
