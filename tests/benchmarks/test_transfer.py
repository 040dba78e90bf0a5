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
import pyarrow as pa
import pytest

from memtui.engine import Engine, transfer
from memtui.engine.catalog.build import build_catalog
from memtui.engine.dialects.memtui import own_schema
from memtui.engine.providers.static_embedder import BUNDLED_DIMS
from memtui.engine.store.create import create_own, create_pro, pro_schema
from memtui.engine.store.open import open_store
from memtui.engine.transfer.exporting.request import ExportRequest
from memtui.engine.transfer.importing.existing import ExistingMemories
from memtui.engine.transfer.importing.near_copies import Nearest, kind_of
from memtui.engine.transfer.importing.request import ImportRequest
from tests.benchmarks.limits import within
from tests.benchmarks.million import write
from tests.benchmarks.sizes import sized
from tests.benchmarks.test_catalog_scale import run
from tests.benchmarks.transfer_peak import Watch
from tests.engine.transfer_stores import opened

ROWS = sized(10_000, 100_000)
DIMS = 384
EXPORT_LIMIT = 1.5
IMPORT_LIMIT = sized(2.5, 1.25)
"""Beside reading the lines as JSON, the vectors from base64, and `table.add`."""
LINE_LIMIT, LINE_BYTES = 2.0, 60
"""A line of 5 MB beside the same text in 1,000 lines, and the bytes of memory for each of its characters."""
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
    within(ours / theirs, EXPORT_LIMIT)


@pytest.mark.parametrize("kind", ["plugin", "own"])
def test_an_import_beside_bare_parsing_and_adding(source: Path, lines: Path, kind: str) -> None:
    """The lines of a plugin's table, with vectors, into another of the plugin's and into one of memtui's own."""
    data = lancedb.connect(str(source / "source")).open_table("memories").to_arrow()
    ours, bare = source / f"{kind}-ours", source / f"{kind}-bare"
    for folder in (ours, bare):
        if kind == "plugin":
            create_pro(folder, pro_schema(DIMS).empty_table())
        else:
            create_own(folder, own_schema(DIMS).empty_table())
    engine = opened(ours, source / f"{kind}-state")

    def whole() -> None:
        plan = transfer.plan_import(engine, ImportRequest((lines,)))
        assert transfer.run_import(engine, plan).added == ROWS
        plan.close()

    spent_on_ours = spent(whole)
    table = lancedb.connect(str(bare)).open_table("memories")
    wanted = pa.table(
        [data.column(each.name) if each.name in data.schema.names else pa.nulls(ROWS, each.type)
         for each in table.schema], names=table.schema.names
    )  # fmt: skip
    added = spent(lambda: table.add(wanted.cast(table.schema)))
    if kind == "own":
        added += spent(table.optimize)  # the import ends with its words in the index, too

    def parse() -> None:
        with lines.open("rb") as file:
            for line in file:
                row = json.loads(line)
                np.frombuffer(base64.b64decode(row["vector_f32"]), dtype="<f4")
                if kind == "own":
                    json.loads(row["metadata"])  # tier, use and state have columns of their own there

    parsed = spent(parse)
    print({"rows": ROWS, "into": kind, "import": spent_on_ours, "add": added, "parse": parsed,
           "beside add": spent_on_ours / added, "beside both": spent_on_ours / (added + parsed)})  # fmt: skip
    within(spent_on_ours / (added + parsed), IMPORT_LIMIT)


@pytest.mark.parametrize("said", ["a word at a time", "password"])
def test_a_line_of_five_megabytes_costs_what_as_much_in_many_lines_costs(tmp_path: Path, said: str) -> None:
    sentence = f"The agent of the new service prefers postgres to mysql, as {said} was told on friday. "
    text = sentence * (5_000_000 // len(sentence))
    found: dict[str, float] = {}
    grown: dict[str, int] = {}
    for name, length in (("one", len(text)), ("many", 5_000)):
        path = tmp_path / f"{name}.jsonl"
        texts = [f"Part {at}. {text[at : at + length]}" for at in range(0, len(text), length)]
        path.write_text(
            "".join(
                json.dumps({"text": each, "scope": "global", "timestamp": 1.7e12}) + "\n" for each in texts
            )
        )
        create_pro(tmp_path / name, pro_schema(BUNDLED_DIMS).empty_table())
        engine = opened(tmp_path / name, tmp_path / f"{name}-state")

        def whole(path: Path = path, engine: Engine = engine, rows: int = len(texts)) -> None:
            plan = transfer.plan_import(engine, ImportRequest((path,)))
            assert transfer.run_import(engine, plan).added == rows
            plan.close()

        watch = Watch()
        found[name] = spent(whole)
        grown[name] = watch.stop()
    print({"bytes": len(text), "said": said, **found, "grown": grown, "ratio": found["one"] / found["many"]})
    within(found["one"] / found["many"], LINE_LIMIT, "time")
    within(grown["one"] / len(text), LINE_BYTES, "bytes a character")


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
    within(ours / theirs, NEAR_LIMIT)


def test_memory_hardly_grows_with_the_rows(tmp_path_factory: pytest.TempPathFactory) -> None:
    taken: dict[str, list[int]] = {"export": [], "import": []}
    few, many = 2 * ROWS, 8 * ROWS
    for rows in (few, many):
        folder = tmp_path_factory.mktemp("peak")
        for what, found in taken.items():
            found.append(json.loads(run("transfer_peak.py", what, str(folder), str(rows), "32"))["bytes"])
    growth = {what: (most - least) / (many - few) for what, (least, most) in taken.items()}
    print({**taken, "bytes a row": growth})
    for what, bytes_a_row in growth.items():
        within(bytes_a_row, BYTES_A_ROW, f"{what}, bytes a row")
