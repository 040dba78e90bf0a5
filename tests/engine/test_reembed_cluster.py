"""Vectors that a cluster makes: the script, its parts, a run that is killed and goes on, and the second table of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import lancedb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from memtui.engine import transfer
from memtui.engine.cluster import run_plan
from memtui.engine.core.errors import MemtuiError, RefusedError, UsageError
from memtui.engine.engine import Engine
from memtui.engine.providers.static_embedder import BUNDLED, bundled
from memtui.engine.transfer import EmbedTexts, NamedEmbedder, write_plan
from memtui.engine.transfer.answer_cache import key_of
from tests.conftest import ROOT, tree_hash
from tests.engine.loopback import loopback
from tests.engine.transfer_stores import memory, opened, pro_store

ROWS = [memory(n, f"Memory {n} of the kiln in Uferweg.") for n in range(1, 41)]
ROWS += [memory(41, ""), memory(42, "Twice."), memory(43, "Twice.")]
OWN = NamedEmbedder(BUNDLED)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return opened(pro_store(tmp_path / "store", ROWS), tmp_path / "state", writable=False)


def made_by_hand(engine: Engine, parts: Path, embedder: NamedEmbedder, *, ended: bool = True) -> None:
    """Two parts as the workers leave them."""
    text = engine.store.dialect.columns.text
    worker = EmbedTexts(text, {"model": embedder.model, "base_url": embedder.base_url})
    for at in range(2):
        folder = parts / f"part-{at:05d}"
        folder.mkdir(parents=True)
        batch = pa.table({text: [each["text"] for each in ROWS[at * 20 : 20 + at * 30]]})
        pq.write_table(worker(batch), folder / "0.parquet")
        if ended or not at:
            (folder / "done").write_text("20")


def test_a_worker_makes_one_vector_of_each_text_and_none_of_a_blank_one() -> None:
    made = EmbedTexts("text", {"model": BUNDLED})(
        pa.table({"text": ["Twice.", " \ufeff", None, "Twice.", "Once"]})
    )
    assert made.column("key").to_pylist() == [key_of("Twice."), key_of("Once")]
    assert np.allclose(made.column("vector").to_pylist(), bundled().embed_passages(["Twice.", "Once"]))
    assert EmbedTexts("text", {"model": BUNDLED})(pa.table({"text": [""]})).num_rows == 0


def test_the_script_names_variables_and_holds_no_key(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLUSTER_KEY", "sk-of-the-service")
    engine.store._options = {"region": "eu-central-1", "aws_secret_access_key": "of-the-bucket"}
    asked = NamedEmbedder("their-model", "http://127.0.0.1:9/v1", "CLUSTER_KEY", 8)
    made = write_plan(engine.store, asked, tmp_path / "plan", workers=3)
    script = made.script.read_text()
    compile(script, str(made.script), "exec")
    assert "CLUSTER_KEY" in script
    assert "eu-central-1" in script
    assert "sk-of-the-service" not in script
    assert "of-the-bucket" not in script
    assert "WORKERS = 3" in script
    assert (made.rows, made.version) == (len(ROWS), engine.store.version)


def test_a_plan_of_something_else_is_not_written_over(tmp_path: Path, engine: Engine) -> None:
    made = write_plan(engine.store, OWN, tmp_path / "plan")
    assert write_plan(engine.store, OWN, tmp_path / "plan", workers=5).script == made.script
    monkey = NamedEmbedder("other", "http://127.0.0.1:9/v1")
    with pytest.raises(RefusedError, match="another version of the store, or another model"):
        write_plan(engine.store, monkey, tmp_path / "plan")
    with pytest.raises(UsageError, match="one worker or more"):
        write_plan(engine.store, OWN, tmp_path / "other", workers=0)
    assert not (tmp_path / "other").exists()


def test_the_second_table_is_made_of_the_parts_and_only_a_sample_is_asked_for_again(
    tmp_path: Path, engine: Engine
) -> None:
    with loopback() as server:
        asked = NamedEmbedder("their-model", f"{server.url}/v1")
        made_by_hand(engine, tmp_path / "parts", asked)
        before = len(server.requests)
        job = transfer.reembed_job(engine)
        done = job.make(asked.found({}), tmp_path / "second", parts=str(tmp_path / "parts"))
        asked_for = [each.body["input"] for each in server.requests[before:]]
        inputs = sum(1 if isinstance(one, str) else len(one) for one in asked_for)
    assert done.rows == len(ROWS)
    assert done.found_itself == done.sampled
    assert inputs <= done.sampled + 1, "the vector length, and the sample of the verification"


def test_parts_that_are_not_whole_or_of_another_model_make_no_table(tmp_path: Path, engine: Engine) -> None:
    made_by_hand(engine, tmp_path / "parts", OWN, ended=False)
    job = transfer.reembed_job(engine)
    with pytest.raises(MemtuiError, match="1 of 2 parts"):
        job.make(bundled(), tmp_path / "second", parts=str(tmp_path / "parts"))
    with pytest.raises(MemtuiError, match="0 of 0 parts"):
        job.make(bundled(), tmp_path / "second", parts=str(tmp_path / "nowhere"))
    (tmp_path / "parts" / "part-00001" / "done").write_text("20")
    with loopback() as server:
        other = NamedEmbedder("their-model", f"{server.url}/v1").found({})
        with pytest.raises(MemtuiError, match="are not 8 numbers each"):
            job.make(other, tmp_path / "second", parts=str(tmp_path / "parts"))
    assert not (tmp_path / "second").exists()


def test_what_a_script_says_last_is_said_when_it_fails(tmp_path: Path) -> None:
    script = tmp_path / "plan.py"
    script.write_text("print('memtui: 1 of 2 texts')\nraise SystemExit('no such bucket')\n")
    heard: list[tuple[int, int]] = []
    with pytest.raises(MemtuiError, match="no such bucket"):
        run_plan(script, sys.executable, on_progress=lambda each: heard.append((each.done, each.total)))
    assert heard == [(1, 2)]


@pytest.mark.slow
def test_two_workers_embed_two_hundred_thousand_rows_through_a_kill(tmp_path: Path) -> None:
    """Needs the extra: pip install -e '.[ray]'."""
    pytest.importorskip("lance_ray")
    rows, parts = 200_000, 4
    folder = pro_store(tmp_path / "store", ROWS[:1])
    table = lancedb.connect(folder).open_table("memories")
    one = table.to_arrow().slice(0, 1)
    for part in range(parts):
        count = rows // parts
        texts = pa.array([f"Reading {n} of gauge {n % 97}" for n in range(part * count, (part + 1) * count)])
        many = pa.concat_tables([one] * 1).take(pa.array(np.zeros(count, np.int64)))
        many = many.set_column(many.schema.get_field_index("text"), "text", texts)
        ids = pa.array([f"{part}-{n}" for n in range(count)])
        table.add(many.set_column(many.schema.get_field_index("id"), "id", ids))
    table.delete("text = 'Reading 5 of gauge 5'")
    engine = opened(folder, tmp_path / "state", writable=False)
    before = tree_hash(folder)
    made = write_plan(engine.store, OWN, tmp_path / "plan", part_rows=rows // parts)
    environ = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(made.script)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environ, start_new_session=True
    ) as first:
        assert first.stdout is not None
        assert any(line.startswith("memtui: ") for line in first.stdout)
        os.killpg(first.pid, signal.SIGKILL)
    ended = sorted(Path(made.parts).glob("*/done"))
    assert 1 <= len(ended) < parts + 1
    stamps = {each: each.stat().st_mtime_ns for each in ended}
    said = subprocess.run(
        command, capture_output=True, text=True, env=environ, check=True
    ).stdout.splitlines()
    assert said[-1] == f"memtui: {rows:,} of {rows:,} texts"  # one of the first row, one was deleted
    assert {each: each.stat().st_mtime_ns for each in ended} == stamps
    done = transfer.reembed_job(engine).make(bundled(), tmp_path / "second", parts=made.parts)
    assert done.rows == rows
    assert done.similarity > 0.9999
    assert tree_hash(folder) == before
    assert not (tmp_path / ".ray").exists(), "no token is written into the home folder"
