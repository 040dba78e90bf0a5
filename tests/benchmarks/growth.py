"""What growing costs, each in a process of its own, as JSON: `growth.py recall|undo|forget FOLDER SIZE DIMS`."""

from __future__ import annotations

import json
import resource
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from memtui.engine import RecallRequest, transfer
from memtui.engine.recall.answer import recall
from memtui.engine.transfer.exporting.request import ExportRequest
from memtui.engine.transfer.importing.request import ImportRequest
from tests.benchmarks.use_million import QUESTIONS, opened, question_vector, spent


def peak_mb() -> float:
    """The most memory that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def use_recall(folder: Path, rows: int, dims: int) -> dict[str, Any]:
    """Questions of the recipe `memtui` beside one product of numpy over as many vectors."""
    engine = opened(folder)
    bench = replace(
        engine.recall_context(), embed=lambda text: question_vector(text, dims).astype(np.float32)
    )
    asked = [RecallRequest(query=text, recipe="memtui") for text in QUESTIONS]
    first = spent(lambda: recall(asked[0], bench))
    ours = [spent(partial(recall, each, bench)) for each in asked * 5]
    peak = peak_mb()  # before the matrix that it is compared with
    matrix = np.random.default_rng(1).random((rows, dims), dtype=np.float32)
    product = median(spent(lambda: matrix @ matrix[0]) for _ in range(9))
    return {"first": first, "question": median(ours), "product": product, "peak_mb": peak}


def use_undo(folder: Path, rows: int, dims: int) -> dict[str, Any]:
    """An import of all rows, taken back: what the taking back adds to the most memory that there was."""
    from memtui.engine.store.create import create_pro, pro_schema
    from tests.benchmarks.transfer_peak import Watch
    from tests.engine.transfer_stores import opened as writable

    source = writable(folder, folder.parent / "state", writable=False)
    lines, target = folder.parent / f"{rows}.jsonl", folder.parent / f"target-{rows}"
    transfer.export_memories(source, ExportRequest(lines, "jsonl", vectors=True, mask=False))
    create_pro(target, pro_schema(dims).empty_table())
    engine = writable(target, folder.parent / f"state-{rows}")
    plan = transfer.plan_import(engine, ImportRequest((lines,)))
    assert transfer.run_import(engine, plan).added == rows
    plan.close()
    watch = Watch()
    engine.curate.apply(engine.curate.undo(), confirmed=True)
    grown = watch.stop()
    engine.refresh()
    assert engine.store.count() == 0
    return {"bytes": grown}


def use_forget(folder: Path, versions: int, _: int) -> dict[str, Any]:
    """One memory forgotten with every trace, of a table with so many versions."""
    from tests.engine.transfer_stores import opened as writable

    engine = writable(folder, folder.parent / f"state-{versions}")
    table = engine.store.pin().table
    table.checkout_latest()
    before = table.version
    for each in engine.catalog.ids.texts(range(10, 10 + versions)):
        table.delete(f"id = '{each}'")
    assert table.version == before + versions
    engine.refresh()
    gone = engine.catalog.ids.texts([5])[0]
    assert gone is not None
    planned = engine.curate.forget([gone], hard=True, shrink=True)
    cpu = spent(lambda: engine.curate.apply(planned, confirmed=True))
    return {"forget": cpu}


def main(what: str, folder: str, size: str, dims: str = "64") -> None:
    """Measure and print."""
    uses = {"recall": use_recall, "undo": use_undo, "forget": use_forget}
    print(json.dumps(uses[what](Path(folder), int(size), int(dims))))


if __name__ == "__main__":
    main(*sys.argv[1:])
