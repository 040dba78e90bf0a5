"""What growing costs, each in a process of its own, as JSON: `growth.py WHAT FOLDER SIZE DIMS`; see `main`."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from memtui.engine import RecallRequest, changes, transfer
from memtui.engine.recall.answer import recall
from memtui.engine.transfer.exporting.request import ExportRequest
from memtui.engine.transfer.importing.request import ImportRequest
from tests.benchmarks.peak import peak_mb
from tests.benchmarks.use_million import QUESTIONS, opened, question_vector, spent


def use_worded(folder: Path, rows: int, dims: int) -> dict[str, Any]:
    """`use_recall` of a table with the full-text index that the plugin makes, as every table in use has one."""
    from lancedb import index

    writable_table(folder).create_index("text", config=index.FTS(with_position=True))
    found = run_apart("recall", folder, rows, dims)
    return {**found, "indexed": True}


def run_apart(what: str, folder: Path, rows: int, dims: int) -> dict[str, Any]:
    """The same by a process of its own, whose peak is its own."""
    from tests.benchmarks.test_catalog_scale import run

    found: dict[str, Any] = json.loads(run("growth.py", what, str(folder), str(rows), str(dims)))
    return found


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


def use_indexed(folder: Path, rows: int, dims: int) -> dict[str, Any]:
    """Questions of the recipe `memtui` to a table of its own that an index leads through, and what the index loses.

    The vectors lie about 2,000 middles, as texts lie about what they speak of: without any such order there is
    nothing that an index could go by.
    """
    from lancedb import index

    from memtui.engine.health.indexes import honesty

    _own_table(folder, rows, dims)
    engine = opened(folder)
    table = engine.store.writer().handle
    table.create_index("vector", config=index.IvfRq(distance_type="cosine"))
    engine.refresh()
    rng = np.random.default_rng(3)
    asked = _about(_middles(dims), rng, 16)
    bench = replace(engine.recall_context(), embed=lambda text: asked[int(text.split()[-1])])
    questions = [RecallRequest(query=f"{text} {n}", recipe="memtui") for n, text in enumerate(QUESTIONS * 5)]
    recall(questions[0], bench)
    wall, cpu = [], []
    for each in questions:
        began = time.perf_counter()
        cpu.append(spent(partial(recall, each, bench)))
        wall.append(time.perf_counter() - began)
    found = honesty(engine.store, questions=asked)
    assert found is not None
    shown = {"kept": found.recall, "first_lost": found.first_lost, "with_ms": found.with_ms}
    return {
        **shown,
        "without_ms": found.without_ms,
        "question": median(cpu),
        "wall": median(wall),
        "peak_mb": peak_mb(),
    }


def _middles(dims: int) -> Any:
    return np.random.default_rng(2).standard_normal((2_000, dims), dtype=np.float32)


def _about(middles: Any, rng: np.random.Generator, n: int) -> Any:
    """So many vectors about the middles: float32 [n, dims]."""
    near = middles[rng.integers(0, len(middles), n)]
    return near + 0.6 * rng.standard_normal(near.shape, dtype=np.float32)


def _own_table(folder: Path, rows: int, dims: int) -> None:
    """A table of memtui's own, a part at a time, with its full-text index at the end."""
    import pyarrow as pa

    from memtui.engine.dialects.memtui import own_schema
    from memtui.engine.store.create import FTS, create_own
    from tests.benchmarks.million import BATCH, batch

    schema, middles, rng = own_schema(dims), _middles(dims), np.random.default_rng(7)
    create_own(folder, schema.empty_table())
    table = writable_table(folder)
    words = np.array([f"word{n}" for n in range(20_000)])
    for start in range(0, rows, BATCH):
        n = min(BATCH, rows - start)
        made = pa.Table.from_batches([batch(rng, n, 2)])
        flat = pa.array(_about(middles, rng, n).ravel())
        vectors = pa.FixedSizeListArray.from_arrays(flat, dims)
        spoken = words[rng.zipf(1.3, (n, 12)) % len(words)]
        texts = pa.array([" ".join(each) for each in spoken])
        columns = {
            **{name: made.column(name) for name in made.column_names},
            "vector": vectors,
            "text": texts,
            "metadata": pa.array(["{}"] * n),
        }
        table.add(
            pa.table(
                [
                    columns[each.name].cast(each.type) if each.name in columns else pa.nulls(n, each.type)
                    for each in schema
                ],
                schema=schema,
            )
        )
    from lancedb import index

    table.create_index("text", config=index.FTS(**FTS), replace=True)


def writable_table(folder: Path) -> Any:
    """The library's own handle."""
    import lancedb

    return lancedb.connect(str(folder)).open_table("memories")


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
    changes.apply(engine, changes.plan_undo(engine), confirmed=True)
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
    planned = changes.plan_forget(engine, [gone], hard=True, shrink=True)
    cpu = spent(lambda: changes.apply(engine, planned, confirmed=True))
    return {"forget": cpu}


def main(what: str, folder: str, size: str, dims: str = "64") -> None:
    """Measure and print."""
    uses = {
        "recall": use_recall,
        "worded": use_worded,
        "indexed": use_indexed,
        "undo": use_undo,
        "forget": use_forget,
    }
    print(json.dumps(uses[what](Path(folder), int(size), int(dims))))


if __name__ == "__main__":
    main(*sys.argv[1:])
