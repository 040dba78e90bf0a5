"""Duplicates, the doctor's vectors and an import that a cluster works for: by hand, and on two workers of Ray."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from memtui.engine import transfer
from memtui.engine.catalog.types import ListQuery
from memtui.engine.cluster import ClusterPlan
from memtui.engine.core.errors import MemtuiError, RefusedError, UsageError
from memtui.engine.engine import Engine
from memtui.engine.health import (
    Cluster,
    NearVectors,
    TallyVectors,
    duplicates_job,
    examine,
    find_duplicates,
    patient_of,
    plan_doctor,
)
from memtui.engine.health.vector_pass import read_vectors
from memtui.engine.providers.static_embedder import BUNDLED, bundled
from memtui.engine.transfer import EmbedTexts, ImportRequest
from tests.conftest import NOW_MS, ROOT, tree_hash
from tests.engine.transfer_stores import memory, opened, pro_store

DIMS = 256


def store_of(folder: Path, vectors: Any, *, scopes: int = 2, add: int = 3) -> Engine:
    """A store of these vectors, written in `add` fragments, every tenth text the same as the one before."""
    rows = [
        {**memory(n, f"Reading {n - (n % 10 == 9)} of the gauge"), "scope": f"agent:a{n % scopes}"}
        for n in range(len(vectors))
    ]
    pro_store(folder, rows[:1])
    table = lancedb.connect(folder).open_table("memories")
    kept = table.to_arrow().schema
    table.delete("true")
    for part in np.array_split(np.arange(len(vectors)), add):
        held = [{**rows[n], "vector": vectors[n]} for n in part.tolist()]
        table.add(pa.Table.from_pylist(held, schema=kept))
    return opened(folder, folder / "state", writable=False)


def vectors_with_faults(n: int) -> Any:
    rng = np.random.default_rng(3)
    vectors: list[Any] = list(rng.standard_normal((n, DIMS)).astype(np.float32))
    for at in range(0, n, 7):
        vectors[at] = vectors[(at * 3) % n] * np.float32(1.5) + rng.normal(0, 0.01, DIMS).astype(np.float32)
    vectors[3], vectors[8] = np.zeros(DIMS, np.float32), np.full(DIMS, 0.5, np.float32)
    vectors[11] = vectors[12] = vectors[20]
    vectors[15] = None
    return vectors


def worked(plan: ClusterPlan, engine: Engine, worker: Callable[[Any], Any], column: str) -> None:
    """What two workers leave: batches of the store in two parts, each ended."""
    batches = list(engine.store.pin().scan([column], with_row_id=True, batch_size=97))
    for at, some in enumerate((batches[::2], batches[1::2])):
        folder = Path(plan.parts) / f"part-{at:05d}"
        folder.mkdir(parents=True)
        for number, batch in enumerate(some):
            pq.write_table(worker(pa.Table.from_batches([batch])), folder / f"{number}.parquet")
        (folder / "done").write_text(str(sum(each.num_rows for each in some)))


def members(clusters: tuple[Cluster, ...]) -> list[tuple[str, ...]]:
    """The clusters by their members: which of equal ones comes first hangs on the last digit of a cosine."""
    return sorted((each.ids[0], *sorted(each.ids[1:])) for each in clusters)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return store_of(tmp_path_factory.mktemp("cluster") / "store", vectors_with_faults(600))


def test_what_workers_see_of_vectors_is_what_the_doctor_sees(tmp_path: Path, shared: Engine) -> None:
    made = plan_doctor(shared.store, tmp_path / "plan")
    compile(made.script.read_text(), str(made.script), "exec")
    worked(made, shared, TallyVectors("vector", DIMS), "vector")
    here = read_vectors(shared.store)
    patient = patient_of(shared, now_ms=NOW_MS, parts=made.parts)
    there = patient.vectors
    assert (there.rows, there.usable) == (here.rows, here.usable) == (600, 598)
    for name in ("null", "not_finite", "zero", "off_unit", "constant"):
        assert np.array_equal(np.sort(getattr(there, name)), np.sort(getattr(here, name))), name
    assert np.allclose(there.direction, here.direction, atol=1e-3)
    assert there.norms == pytest.approx(here.norms)
    groups = [sorted(tuple(sorted(each.tolist())) for each in one.equal) for one in (here, there)]
    assert groups[0] == groups[1] != []
    kinds = {"D12", "D14", "D16", "D17"}
    found = examine(patient, passes=("deep",), kinds=kinds).findings
    same = examine(patient_of(shared, now_ms=NOW_MS), passes=("deep",), kinds=kinds).findings
    assert [each.as_json() for each in found] == [each.as_json() for each in same]
    assert len(found) >= 3


def test_a_pass_that_is_of_something_else_does_not_count(tmp_path: Path, shared: Engine) -> None:
    made = plan_doctor(shared.store, tmp_path / "plan")
    parts = Path(made.parts)

    def look() -> Any:
        return patient_of(shared, now_ms=NOW_MS, parts=made.parts).vectors

    with pytest.raises(MemtuiError, match="0 of 0 parts"):
        look()
    worked(made, shared, TallyVectors("vector", DIMS), "vector")
    part = parts / "part-00000" / "0.parquet"
    whole = pq.read_table(part)
    pq.write_table(whole.filter(pa.compute.not_equal(whole["kind"], "sums")), part)
    with pytest.raises(MemtuiError, match="checked 503 vectors, the store has 600"):
        look()
    kinds = whole.column("kind").to_pylist()
    rows = [
        b"" if kind == "zero" else each for kind, each in zip(kinds, whole["rows"].to_pylist(), strict=True)
    ]
    pq.write_table(whole.set_column(1, "rows", pa.array(rows, pa.binary())), part)
    with pytest.raises(MemtuiError, match="other vectors than this machine"):
        look()
    note = json.loads((parts / "memtui.json").read_text())
    (parts / "memtui.json").write_text(json.dumps({**note, "version": 1_000}))
    with pytest.raises(RefusedError, match="other: version"):
        look()
    with pytest.raises(RefusedError, match="another plan"):
        plan_doctor(shared.store, tmp_path / "plan")


@pytest.mark.parametrize(
    ("wanted", "across"),
    [
        ("", False),
        pytest.param("", True, marks=pytest.mark.slow),
        pytest.param("scope:agent:a1", False, marks=pytest.mark.slow),
    ],
)
def test_pairs_that_workers_find_make_the_same_clusters(
    tmp_path: Path, shared: Engine, wanted: str, across: bool
) -> None:
    shared.load_catalog()
    shared.load_metadata()
    here = find_duplicates(shared, wanted, floor=0.9, across_scopes=across)
    job = duplicates_job(shared, wanted, floor=0.9, across_scopes=across)
    made = job.plan(tmp_path / "plan")
    given: dict[str, Any] = {}
    exec(next(line for line in made.script.read_text().splitlines() if line.startswith("GIVEN")), given)
    worked(made, shared, NearVectors(**given["GIVEN"]), "vector")
    there = job.take(made.parts)
    for threshold in (0.9, 0.95, 0.999):
        assert members(there.clusters(threshold)) == members(here.clusters(threshold)) != []
    assert (there.compared, there.without) == (here.compared, here.without)


def test_pairs_of_another_question_or_wrong_ones_are_refused(tmp_path: Path, shared: Engine) -> None:
    shared.load_catalog()
    shared.load_metadata()
    job = duplicates_job(shared, "", floor=0.9)
    made = job.plan(tmp_path / "plan")
    given: dict[str, Any] = {}
    exec(next(line for line in made.script.read_text().splitlines() if line.startswith("GIVEN")), given)
    worked(made, shared, NearVectors(**given["GIVEN"]), "vector")
    with pytest.raises(RefusedError, match="across_scopes"):
        duplicates_job(shared, "", floor=0.9, across_scopes=True).take(made.parts)
    with pytest.raises(RefusedError, match="floor"):
        duplicates_job(shared, "", floor=0.8).take(made.parts)
    with pytest.raises(RefusedError, match="filter"):
        duplicates_job(shared, "scope:agent:a1", floor=0.9).take(made.parts)
    with pytest.raises(UsageError, match="a cosine from"):
        duplicates_job(shared, "", floor=0.2).plan(tmp_path / "other")
    assert not (tmp_path / "other").exists()
    part = next(
        each for each in Path(made.parts).glob("*/*.parquet") if pq.read_table(each).drop_null().num_rows
    )
    table = pq.read_table(part)
    spoiled = pa.compute.multiply(table["cosine"], pa.scalar(0.97, pa.float32()))
    pq.write_table(table.set_column(2, "cosine", spoiled), part)
    with pytest.raises(MemtuiError, match="not as near as it says"):
        job.take(made.parts)
    (Path(made.parts) / "part-00001" / "done").write_text("1")
    with pytest.raises(MemtuiError, match="rows only"):
        job.take(made.parts)


def lines(path: Path, count: int) -> Path:
    path.write_text(
        "".join(
            json.dumps({"text": f"Gauge {n} of the weir stands at {n % 13}"}) + "\n" for n in range(count)
        )
    )
    return path


def test_an_import_takes_its_vectors_from_the_parts_and_is_undone_as_ever(tmp_path: Path) -> None:
    engine = opened(pro_store(tmp_path / "store", [memory(1, "One."), memory(2, "Two.")]), tmp_path / "state")
    engine.load_catalog()
    request = ImportRequest((lines(tmp_path / "notes.jsonl", 300),))
    before = engine.store.count()
    made = transfer.plan_embedding(engine, request, tmp_path / "plan", part_rows=100)
    assert (made.rows, engine.store.count()) == (300, before)
    again = transfer.plan_embedding(engine, request, tmp_path / "plan", part_rows=100)
    assert again.script.read_text() == made.script.read_text()
    texts = lancedb.connect(Path(made.parts) / "texts")
    table = texts.open_table(texts.list_tables().tables[0])
    held = table.to_arrow()
    assert table.stats()["fragment_stats"]["num_fragments"] == 3
    folder = Path(made.parts) / "part-00000"
    folder.mkdir()
    pq.write_table(EmbedTexts("text", {"model": BUNDLED})(held), folder / "0.parquet")
    with_parts = ImportRequest(request.sources, parts=made.parts)
    with pytest.raises(MemtuiError, match="0 of 1 part "):
        transfer.plan_import(engine, with_parts)
    (folder / "done").write_text("300")
    plan = transfer.plan_import(engine, with_parts)
    done = transfer.run_import(engine, plan)
    plan.close()
    assert done.added == 300
    engine.refresh()
    rows = engine.page(engine.view(ListQuery("weir")), 0, 300)
    assert len(rows) == 300
    stored = lancedb.connect(tmp_path / "store").open_table("memories").to_arrow()
    by_text = dict(zip(stored["text"].to_pylist(), stored["vector"].to_pylist(), strict=True))
    wanted = held["text"].to_pylist()
    assert np.allclose([by_text[each] for each in wanted], bundled().embed_passages(wanted), atol=1e-5)
    assert not list((tmp_path / "state").rglob("*.vectors")), "what is in the store need not be kept"


def test_parts_of_another_source_or_model_import_nothing(tmp_path: Path) -> None:
    engine = opened(pro_store(tmp_path / "store", [memory(1, "One.")]), tmp_path / "state")
    engine.load_catalog()
    source = lines(tmp_path / "notes.jsonl", 40)
    folder = tmp_path / "parts" / "part-00000"
    folder.mkdir(parents=True)
    worker = EmbedTexts("text", {"model": BUNDLED})
    pq.write_table(worker(pa.table({"text": ["Something else."]})), folder / "0.parquet")
    (folder / "done").write_text("1")
    request = ImportRequest((source,), parts=str(tmp_path / "parts"))
    with pytest.raises(MemtuiError, match="have no vector for these texts"):
        transfer.plan_import(engine, request)
    good = worker(pa.table({"text": [json.loads(each)["text"] for each in source.read_text().splitlines()]}))
    turned = pa.array([each[::-1] for each in good["vector"].to_pylist()], good["vector"].type)
    pq.write_table(good.set_column(1, "vector", turned), folder / "0.parquet")
    with pytest.raises(MemtuiError, match="differ"):
        transfer.plan_import(engine, request)
    assert engine.store.count() == 1


@pytest.mark.slow
def test_two_workers_do_all_three_for_many_rows(tmp_path: Path) -> None:
    """Needs the extra: pip install -e '.[ray]'."""
    pytest.importorskip("lance_ray")
    rng = np.random.default_rng(5)
    rows = 12_000
    vectors = rng.standard_normal((rows, DIMS)).astype(np.float32)
    vectors[rows // 2 :: 50] = vectors[: rows // 2 : 50] + rng.normal(0, 0.01, DIMS).astype(np.float32)
    vectors[17] = 0
    engine = store_of(tmp_path / "store", vectors, scopes=5, add=4)
    engine.load_catalog()
    engine.load_metadata()
    before = tree_hash(tmp_path / "store")
    environ = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}

    def run(made: ClusterPlan) -> list[str]:
        command = [sys.executable, str(made.script)]
        done = subprocess.run(command, capture_output=True, text=True, env=environ, check=False)
        assert done.returncode == 0, done.stderr[-2_000:]
        return done.stdout.splitlines()

    made = plan_doctor(engine.store, tmp_path / "doctor", part_rows=rows // 4)
    assert run(made)[-1] == f"memtui: {rows:,} of {rows:,} vectors"
    there, alone = patient_of(engine, now_ms=NOW_MS, parts=made.parts).vectors, read_vectors(engine.store)
    assert (there.rows, there.usable, len(there.zero)) == (alone.rows, alone.usable, 1)
    assert np.allclose(there.direction, alone.direction, atol=1e-3)

    job = duplicates_job(engine, floor=0.9)
    made = job.plan(tmp_path / "duplicates", part_rows=rows // 4)
    run(made)
    stamps = {each: each.stat().st_mtime_ns for each in Path(made.parts).glob("*/done")}
    assert len(stamps) == 4
    run(made)  # what is done is not done again
    assert {each: each.stat().st_mtime_ns for each in Path(made.parts).glob("*/done")} == stamps
    near = job.take(made.parts)
    here = find_duplicates(engine, "", floor=0.9)
    assert members(near.clusters(0.95)) == members(here.clusters(0.95)) != []
    assert tree_hash(tmp_path / "store") == before

    target = opened(pro_store(tmp_path / "target", [memory(1, "One.")]), tmp_path / "state")
    target.load_catalog()
    request = ImportRequest((lines(tmp_path / "notes.jsonl", 8_000),))
    made = transfer.plan_embedding(target, request, tmp_path / "import", part_rows=2_000)
    assert run(made)[-1] == "memtui: 8,000 of 8,000 texts"
    plan = transfer.plan_import(target, ImportRequest(request.sources, parts=made.parts))
    assert transfer.run_import(target, plan).added == 8_000
    plan.close()
    assert target.store.count() == 8_001
