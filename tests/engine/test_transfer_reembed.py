"""Another embedding model: made beside the store, verified, rehearsed, switched to and back; killed and resumed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtui.engine import changes, transfer
from memtui.engine.cases.case import Case
from memtui.engine.changes.recall_effect import EffectQuestion
from memtui.engine.core.errors import (
    Cancelled,
    DamagedStoreError,
    EmbeddingError,
    MemtuiError,
    RefusedError,
)
from memtui.engine.core.progress import CancelToken, Progress
from memtui.engine.engine import Engine
from memtui.engine.providers.embedder import embedder_of
from memtui.engine.providers.embedding_services import EmbeddingSettings
from memtui.engine.providers.static_embedder import BUNDLED, bundled
from memtui.engine.recall.request import RecallRequest
from memtui.engine.store.open import open_store
from memtui.engine.transfer.reembed import switch as switching
from memtui.engine.transfer.reembed.build import reembed
from tests.conftest import ROOT, thinned, tree_hash
from tests.engine.loopback import Answer, Loopback, Request, loopback, text_vector
from tests.engine.transfer_stores import memory, opened, own_store, pro_store, rows_of

ROWS = [memory(n, f"Memory {n} of the kiln in Uferweg, door seal {n * 7}.") for n in range(1, 151)]
ODD = [
    memory(1, "The kiln needs a seal.", metadata='{"unknown": [1, {"deep": null}]}'),
    memory(2, "", scope=None),
    memory(3, " \ufeff\u3000", importance=float("nan")),
    memory(4, "Twice."),
    memory(5, "Twice.", metadata="not json", timestamp=0.0),
]


def _settings(server: Loopback, **more: Any) -> EmbeddingSettings:
    return EmbeddingSettings(model="other-model", base_url=f"{server.url}/v1", **more)


def _without_vectors(rows: dict[str, dict[str, Any]]) -> list[str]:
    return [json.dumps({**row, "vector": None}) for row in rows.values()]


def _vector(text: str) -> bytes:
    return np.asarray(text_vector(text.strip(), 8), dtype=np.float32).tobytes()


@pytest.mark.parametrize("make", [own_store, pro_store])
def test_a_second_table_has_everything_but_the_vectors(tmp_path: Path, make: Any) -> None:
    folder = make(tmp_path / "store", ODD)
    engine = opened(folder, tmp_path / "state", writable=False)
    before = tree_hash(folder)
    with loopback() as server:
        another = transfer.reembed_job(engine)
        cost = another.estimate(embedder_of(_settings(server)))
        assert (cost.rows, cost.empty, cost.dims_before, cost.dims, cost.bytes) == (5, 2, 256, 8, 160)
        destination = another.destination("owner/other:model")
        assert destination.name == "store.reembed-owner-other-model"
        done = another.make(embedder_of(_settings(server)), destination)
        assert (
            another.make(embedder_of(_settings(server)), destination) == done
        )  # there already: verified again
    assert tree_hash(folder) == before
    assert (done.rows, done.dims, done.sampled, done.found_itself) == (5, 8, 3, 3)
    assert done.similarity == pytest.approx(1)
    made = opened(destination, tmp_path / "state", embedding=None, writable=False)
    old, new = rows_of(engine), rows_of(made)
    assert _without_vectors(new) == _without_vectors(old)
    assert new[memory(1, "")["id"]]["vector"] == _vector("The kiln needs a seal.")
    assert not np.frombuffer(new[memory(2, "")["id"]]["vector"], np.float32).any()
    assert made.store.dialect.name == engine.store.dialect.name
    assert made.store.model == ("other-model" if make is own_store else None)
    with pytest.raises(RefusedError, match="holds a table of other-model"):
        another.make(bundled(), destination)


@pytest.mark.parametrize("name", thinned(["builtin-legacy", "builtin-mixed", "engine"], 3))
def test_tables_of_other_programs(shared: Path, tmp_path: Path, unpack: Any, name: str) -> None:
    engine = opened(unpack(shared / "fixtures/stores" / f"{name}.tar.gz"), tmp_path / "state", writable=False)
    done = transfer.reembed_job(engine).make(bundled(), tmp_path / "new")
    made = opened(tmp_path / "new", tmp_path / "state", writable=False)
    assert done.rows == made.store.count() == engine.store.count()
    assert _without_vectors(rows_of(made)) == _without_vectors(rows_of(engine))


def test_a_foreign_table_with_a_column_map(shared: Path, tmp_path: Path, unpack: Any) -> None:
    source = unpack(shared / "fixtures/stores/damaged/foreign-schema.tar.gz")
    columns = {"id": "doc_id", "text": "content", "vector": "embedding"}
    engine = opened(source, tmp_path / "state", writable=False, columns=columns)
    done = transfer.reembed_job(engine).make(bundled(), tmp_path / "new")
    made = opened(tmp_path / "new", tmp_path / "state", writable=False, columns=columns)
    assert done.rows == made.store.count() == engine.store.count() > 0
    assert (made.store.columns, made.store.dims) == (engine.store.columns, 256)


@pytest.mark.parametrize("step", ["embedding", "writing", "comparing"])
def test_cancelled_at_every_step_nothing_is_left(tmp_path: Path, step: str) -> None:
    engine = opened(own_store(tmp_path / "store", ROWS), tmp_path / "state")
    cancel = CancelToken()

    def stop(progress: Progress) -> None:
        if progress.what.startswith(step):
            cancel.cancel()

    with loopback() as server, pytest.raises(Cancelled):
        transfer.reembed_job(engine).make(embedder_of(_settings(server)), tmp_path / "new", stop, cancel)
    assert {each.name for each in tmp_path.iterdir()} <= {"state", "store"}


def test_a_damaged_store_is_named_not_the_new_one(shared: Path, tmp_path: Path, unpack: Any) -> None:
    source = unpack(shared / "fixtures/stores/damaged/pro-data-missing.tar.gz")
    with pytest.raises(DamagedStoreError) as caught:
        reembed(open_store(source), bundled(), tmp_path / "new", work=tmp_path / "work")
    assert str(source) in str(caught.value)
    assert "making" not in str(caught.value)


def test_keys_are_used_in_turn_and_limits_waited_for(tmp_path: Path) -> None:
    engine = opened(own_store(tmp_path / "store", ROWS), tmp_path / "state")
    with loopback() as server:
        server.by_key["used-up"] = Answer(429, {"error": {"message": "rate limit"}}, {"Retry-After": "0"})
        settings = _settings(server, api_keys=("used-up", "good-1", "good-2"))
        done = transfer.reembed_job(engine).make(embedder_of(settings), tmp_path / "new")
        assert done.rows == 150
        assert {request.key for request in server.requests} == {"used-up", "good-1", "good-2"}


def test_a_service_that_fails_is_asked_for_the_rest_only(tmp_path: Path) -> None:
    engine = opened(own_store(tmp_path / "store", ROWS), tmp_path / "state")
    another = transfer.reembed_job(engine)
    with loopback() as server:
        settings = _settings(server, dimensions=8)
        usual = server.answer
        server.answer = lambda request: (  # type: ignore[method-assign]
            usual(request) if len(server.requests) <= 2 else Answer(401, {"error": {"message": "no credit"}})
        )
        with pytest.raises(EmbeddingError):
            another.make(embedder_of(settings), tmp_path / "new")
        assert sorted(each.name for each in tmp_path.iterdir()) == ["state", "store"]
        server.answer = usual  # type: ignore[method-assign]
        server.requests.clear()
        # the same model with another task hint makes other vectors: none of those kept count
        cancel = CancelToken()
        with pytest.raises(Cancelled):
            another.make(
                embedder_of(_settings(server, dimensions=8, task_passage="retrieval.passage")),
                tmp_path / "new",
                on_progress=lambda progress: cancel.cancel() if progress.done >= 64 else None,
                cancel=cancel,
            )
        assert [len(request.body["input"]) for request in server.requests] == [64]
        server.requests.clear()
        heard: list[Progress] = []
        another.make(embedder_of(settings), tmp_path / "new", heard.append)
        assert [len(request.body["input"]) for request in server.requests] == [22, 64]  # the rest; the sample
        assert heard[0].done == 128
        assert not list((tmp_path / "state" / "transfer").glob(f"{'[0-9a-f]' * 16}.vectors"))[1:]


def test_a_service_that_never_answers_the_same_is_refused(tmp_path: Path) -> None:
    engine = opened(own_store(tmp_path / "store", ROWS[:3]), tmp_path / "state")
    with loopback() as server:
        usual = server.answer

        def moody(request: Request) -> Answer:
            asked = request.body["input"]
            texts = [asked] if isinstance(asked, str) else asked
            body = {**request.body, "input": [f"{text} {len(server.requests)}" for text in texts]}
            return usual(Request(request.path, request.headers, body))

        server.answer = moody  # type: ignore[method-assign]
        with pytest.raises(MemtuiError, match="does not answer the same twice"):
            transfer.reembed_job(engine).make(embedder_of(_settings(server)), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_what_cannot_be_asked_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="no API key"):
        embedder_of(EmbeddingSettings(model="text-embedding-3-small"))
    with pytest.raises(RefusedError, match="not an http"):
        embedder_of(EmbeddingSettings(model="m", base_url="file:///etc"))
    assert embedder_of(EmbeddingSettings(model=BUNDLED)).dims == 256


# ---------------------------------------------------------------------- switch and way back


@pytest.fixture
def made(tmp_path: Path) -> Engine:
    """A store with one change in its journal, and a second table beside it."""
    rows = [{**row, "vector": text_vector(row["text"], 8)} for row in ROWS[:20]]
    engine = opened(pro_store(tmp_path / "store", rows, dims=8), tmp_path / "state")
    changes.apply(engine, changes.plan_edit(engine, [ROWS[0]["id"]], {"importance": "0.9"}))
    engine.refresh()
    transfer.reembed_job(engine).make(bundled(), tmp_path / "new")
    return engine


def test_a_switch_and_its_way_back(made: Engine, tmp_path: Path) -> None:
    before = rows_of(made)
    journal = made.write_state.journal.entries()
    another = transfer.reembed_job(made)
    with pytest.raises(RefusedError, match="would go on with the old table"):
        another.switch(tmp_path / "new", confirmed=False)
    done = another.switch(tmp_path / "new", confirmed=True)
    assert (done.model, done.dims) == (BUNDLED, 256)
    assert not (tmp_path / "new").exists()
    new = opened(tmp_path / "store", tmp_path / "state")
    assert new.store.dims == 256
    assert _without_vectors(rows_of(new)) == _without_vectors(before)
    assert new.write_state.journal.entries() == []
    changes.apply(new, changes.plan_edit(new, [ROWS[1]["id"]], {"importance": "0.1"}))
    assert [entry.entry for entry in new.write_state.journal.entries()] == [1]
    with pytest.raises(RefusedError, match="would no longer be seen"):
        transfer.reembed_job(new).back(confirmed=False)
    transfer.reembed_job(new).back(confirmed=True)
    old = opened(tmp_path / "store", tmp_path / "state")
    assert rows_of(old) == before
    assert old.write_state.journal.entries() == journal
    assert transfer.reembed_job(old).last_switch is None
    changes.apply(old, changes.plan_undo(old, journal[0].entry))
    assert rows_of(old)[ROWS[0]["id"]]["importance"] == 0.5
    kept = tmp_path / f"store.reembedded-{done.time_ms}"
    assert opened(kept, tmp_path / "state").store.dims == 256


def test_a_table_made_before_the_last_write_is_not_switched_to(made: Engine, tmp_path: Path) -> None:
    changes.apply(made, changes.plan_edit(made, [ROWS[2]["id"]], {"importance": "0.7"}))
    before = tree_hash(tmp_path / "store")
    with pytest.raises(RefusedError, match="was written to since"):
        transfer.reembed_job(made).switch(tmp_path / "new", confirmed=True)
    with pytest.raises(RefusedError, match="holds no table that was made"):
        transfer.reembed_job(made).switch(tmp_path / "absent", confirmed=True)
    with pytest.raises(RefusedError, match="No switch of this store"):
        transfer.reembed_job(made).back(confirmed=True)
    assert tree_hash(tmp_path / "store") == before


@pytest.mark.slow
@pytest.mark.parametrize("step", [0, 1])
def test_a_switch_that_was_killed_is_taken_back(
    made: Engine, tmp_path: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows_of(made)
    steps = iter(range(step, -1, -1))
    usual = switching._move

    def killed(here: Path, there: Path) -> None:
        if not next(steps):
            raise KeyboardInterrupt
        usual(here, there)

    monkeypatch.setattr(switching, "_move", killed)
    with pytest.raises(KeyboardInterrupt):
        transfer.reembed_job(made).switch(tmp_path / "new", confirmed=True)
    monkeypatch.undo()
    command = [
        sys.executable,
        "-m",
        "memtui",
        "reembed",
        "--back",
        "--yes",
        "--store",
        str(tmp_path / "store"),
    ]
    done = subprocess.run(
        command, env=_environ(tmp_path / "state"), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert rows_of(opened(tmp_path / "store", tmp_path / "state")) == before


def _environ(state: Path) -> dict[str, str]:
    return {**os.environ, "MEMTUI_STATE_DIR": str(state), "PYTHONPATH": str(ROOT)}


# ---------------------------------------------------------------------- rehearsal


def test_a_rehearsal_compares_the_models_and_its_vectors_are_used_again(tmp_path: Path) -> None:
    texts = [
        f"{word} is kept in drawer {n}" for n, word in enumerate(("Rope", "Paint", "Glue", "Wire", "Salt"))
    ]
    folder = own_store(tmp_path / "store", [memory(n, text) for n, text in enumerate(texts)])
    engine = opened(folder, tmp_path / "state")
    before = tree_hash(folder)
    cases = [Case(id=f"c{n}", query=text, expected=(memory(n, "")["id"],)) for n, text in enumerate(texts)]
    with loopback() as server:
        new = embedder_of(_settings(server, dimensions=8))
        asked = [
            EffectQuestion("glue", RecallRequest("glue")),
            EffectQuestion(texts[0], RecallRequest(texts[0])),
        ]
        found = transfer.reembed_job(engine).rehearse(
            new, cases, recipe=engine.default_recipe, context=engine.recall_context(), last=asked
        )
        assert (found.sample, found.rows, found.old, found.new) == (5, 5, BUNDLED, "other-model")
        assert found.report.other is not None
        assert found.report.mean.keys() == found.report.other.mean.keys()
        assert found.estimate.rows == 5
        assert found.as_json()["estimate"]["dims"] == 8
        effect = found.effect  # both the saved questions and those that were asked, each once
        assert (effect.asked, effect.failed, effect.cases.cases) == (6, 0, 5)
        assert effect.changed
        for change in effect.changed:
            assert {row.after or row.before for row in change.rows} <= set(texts)
            assert any(row.score_before != row.score_after for row in change.rows)
        server.requests.clear()
        transfer.reembed_job(engine).make(new, tmp_path / "new")
        assert [len(request.body["input"]) for request in server.requests] == [5]  # the verification's sample
    assert tree_hash(folder) == before
    assert [each.name for each in (tmp_path / "state" / "transfer").iterdir()] == []


# ---------------------------------------------------------------------- killed and resumed

KILLS = int(os.environ.get("MEMTUI_TEST_KILLS", "1"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_at_any_moment_and_resumed_equals_undisturbed(tmp_path: Path, seed: int) -> None:
    folder = own_store(tmp_path / "store", ROWS)
    engine = opened(folder, tmp_path / "state")
    with loopback() as server:
        transfer.reembed_job(engine).make(embedder_of(_settings(server)), tmp_path / "undisturbed")
        command = [sys.executable, "-m", "memtui", "reembed", "--store", str(folder), "--to", str(tmp_path / "new"),
                   "--model", "other-model", "--base-url", f"{server.url}/v1", "--json"]  # fmt: skip
        moment = random.Random(seed)
        server.requests.clear()
        process = subprocess.Popen(
            command, env=_environ(tmp_path / "killed"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _wait(process, lambda: len(server.requests) >= moment.randint(1, 4))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(moment.uniform(0, 0.2))
        process.kill()
        process.wait()
        if not (tmp_path / "new").exists():
            done = subprocess.run(
                command, env=_environ(tmp_path / "killed"), capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
    new = opened(tmp_path / "new", tmp_path / "state", embedding=None, writable=False)
    other = opened(tmp_path / "undisturbed", tmp_path / "state", embedding=None, writable=False)
    assert rows_of(new) == rows_of(other)
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "killed",
        "new",
        "state",
        "store",
        "undisturbed",
    ]


def _wait(process: subprocess.Popen[bytes], come: Callable[[], bool]) -> None:
    while not come() and process.poll() is None:
        time.sleep(0.01)
