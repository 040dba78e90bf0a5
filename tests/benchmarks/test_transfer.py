"""Import and export beside the bare work: processor time in one process, so that a busy machine does not decide.

10,000 rows are moved, 100,000 where the figures are asked for in full.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pytest

from memtui.engine import transfer
from memtui.engine.catalog.build import build_catalog
from memtui.engine.store.create import create_pro, pro_schema
from memtui.engine.store.open import open_store
from memtui.engine.transfer.exporting.request import ExportRequest
from memtui.engine.transfer.importing.existing import ExistingMemories
from memtui.engine.transfer.importing.near_copies import Nearest, kind_of
from memtui.engine.transfer.importing.request import ImportRequest
from tests.benchmarks.million import write
from tests.benchmarks.sizes import sized
from tests.benchmarks.test_catalog_scale import run
from tests.engine.transfer_stores import opened

ROWS = sized(10_000, 100_000)
DIMS = 384
EXPORT_LIMIT = 1.5
IMPORT_LIMIT = sized(2.5, 1.25)
"""Beside reading the lines as JSON, the vectors from base64, and `table.add`."""
NEAR_LIMIT = 2.0
BYTES_A_ROW = sized(1_500, 250)
"""What memory may grow by with a row: some numbers in the plan, never its text or vector. The engine itself takes
about 100 MB for its reading and writing, little by little over the first few hundred thousand rows."""


def spent(work: Callable[[], Any]) -> float:
    """Seconds of processor time."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("transfer")
    write(str(folder / "source"), ROWS, DIMS)
    return folder


@pytest.fixture(scope="module")
def lines(source: Path) -> Path:
    engine = opened(source / "source", source / "state", writable=False)
    transfer.export_memories(engine, ExportRequest(source / "all.jsonl", "jsonl", vectors=True))
    return source / "all.jsonl"


@pytest.mark.parametrize("vectors", [True, False])
def test_an_export_beside_a_bare_scan_and_json_dump(source: Path, vectors: bool) -> None:
    engine = opened(source / "source", source / "state", writable=False)
    path = source / f"out-{vectors}.jsonl"
    ours = spent(lambda: transfer.export_memories(engine, ExportRequest(path, "jsonl", vectors=vectors)))
    names = list(engine.store.columns if vectors else engine.store.row_columns)

    def bare() -> None:
        table = lancedb.connect(str(source / "source")).open_table("memories")
        with (source / "bare.jsonl").open("w", encoding="utf-8") as file:
            for batch in table.search().select(names).limit(None).to_batches(batch_size=4_096):
                file.writelines(json.dumps(row) + "\n" for row in batch.to_pylist())

    theirs = spent(bare)
    print({"rows": ROWS, "vectors": vectors, "export": ours, "bare": theirs, "ratio": ours / theirs})
    assert ours <= EXPORT_LIMIT * theirs


def test_an_import_beside_bare_parsing_and_adding(source: Path, lines: Path) -> None:
    data = lancedb.connect(str(source / "source")).open_table("memories").to_arrow()
    for name in ("ours", "bare"):
        create_pro(source / name, pro_schema(DIMS).empty_table())
    engine = opened(source / "ours", source / "state")

    def whole() -> None:
        plan = transfer.plan_import(engine, ImportRequest((lines,)))
        assert transfer.run_import(engine, plan).added == ROWS
        plan.close()

    ours = spent(whole)
    table = lancedb.connect(str(source / "bare")).open_table("memories")
    added = spent(lambda: table.add(data.cast(pro_schema(DIMS))))

    def parse() -> None:
        with lines.open("rb") as file:
            for line in file:
                np.frombuffer(base64.b64decode(json.loads(line)["vector_f32"]), dtype="<f4")

    parsed = spent(parse)
    print({"rows": ROWS, "import": ours, "add": added, "parse": parsed,
           "beside add": ours / added, "beside both": ours / (added + parsed)})  # fmt: skip
    assert ours <= IMPORT_LIMIT * (added + parsed)


def test_near_copies_beside_the_bare_product(tmp_path: Path) -> None:
    there, incoming = 5 * ROWS, ROWS // 2
    write(str(tmp_path / "db"), there, DIMS)
    store = open_store(tmp_path / "db")
    present = ExistingMemories(store, build_catalog(store))
    rng = np.random.default_rng(2)
    vectors = rng.random((incoming, DIMS), dtype=np.float32)
    kinds = np.array([kind_of(f"text {n}") for n in range(incoming)], dtype=np.int64)

    def check() -> None:
        nearest = Nearest(vectors, np.zeros(incoming, dtype=np.int64), kinds, 0.98)
        for block in present.blocks():
            nearest.compare(block)

    ours = spent(check)
    others = rng.random((there, DIMS), dtype=np.float32)

    def product() -> None:
        for start in range(0, incoming, 1_024):
            vectors[start : start + 1_024] @ others.T

    theirs = spent(product)
    print({"incoming": incoming, "there": there, "near": ours, "product": theirs, "ratio": ours / theirs})
    assert ours <= NEAR_LIMIT * theirs


def test_memory_hardly_grows_with_the_rows(tmp_path_factory: pytest.TempPathFactory) -> None:
    taken: dict[str, list[int]] = {"export": [], "import": []}
    few, many = 2 * ROWS, 8 * ROWS
    for rows in (few, many):
        folder = tmp_path_factory.mktemp("peak")
        for what, found in taken.items():
            found.append(json.loads(run("transfer_peak.py", what, str(folder), str(rows), "32"))["bytes"])
    growth = {what: (most - least) / (many - few) for what, (least, most) in taken.items()}
    print({**taken, "bytes a row": growth})
    assert max(growth.values()) <= BYTES_A_ROW
