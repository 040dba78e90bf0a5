"""Token vectors: made by a real model file, kept in a table of memtui's own, and worth something to a recall."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from string import ascii_lowercase
from typing import Literal

import numpy as np
import pytest

from memtui.engine import (
    Cancelled,
    CancelToken,
    Engine,
    RecallRequest,
    Trace,
    UsageError,
    explain,
    open_engine,
)
from memtui.engine.core.errors import EmbeddingError
from memtui.engine.providers.token_model import TokenModel
from memtui.engine.recall.recipes.memtui.settings import UNCOVERED, fitted, fitted_read, resolve_own
from memtui.engine.recall.recipes.memtui.token_vectors import best_cosines, in_bytes, shortened
from memtui.engine.store.token_table import KeptTokens, TokenTable, open_token_table
from memtui.engine.token_vectors import build, remove, status
from memtui.engine.transfer import ImportRequest, ImportResult, plan_import, run_import
from memtui.paths import state_dir
from tests.cli.every_command import call
from tests.conftest import tree_hash
from tests.engine.pro_store import NOW_MS
from tests.engine.small_model import WIDTH, make_model
from tests.engine.test_recipe_memtui import own

TEXTS = (
    "anna bought a car in spring",
    "the boat of anna is blue",
    "bo likes tea in the morning",
    "bo repaired the roof of the shed",
    "which colour has it",
    "it is green with stripes",
)
SAME = {"automobile": "car", "vessel": "boat"}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return make_model(tmp_path / "model", " ".join(TEXTS).split(), SAME)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """A store of sentences; the last two follow each other in a session."""
    rows = [{"text": text} for text in TEXTS]
    rows[-2]["metadata"] = {"session": "s1"}
    rows[-1]["metadata"] = {"session": "s1"}
    own(tmp_path / "store", *rows)
    return reopened(tmp_path)


def reopened(tmp_path: Path) -> Engine:
    return open_engine(
        tmp_path / "store", now=lambda: NOW_MS, environ=os.environ, cwd=tmp_path, state=state_dir(os.environ)
    )


def change(tmp_path: Path, *words: str) -> None:
    """Change the store through the command line."""
    done = call(*words, "--yes", "--store", tmp_path / "store")
    assert done.code == 0, done.err


def ask(engine: Engine, question: str, **settings: float) -> Trace:
    config = {"memtui": settings} if settings else None
    trace = engine.recall(RecallRequest(query=question, recipe="memtui", config=config))
    assert trace.proof.recomputed, trace.proof.failures
    return trace


def read_stage(trace: Trace) -> dict[str, object] | None:
    return next((dict(stage.params) for stage in trace.stages if stage.name == "token_vectors"), None)


def test_a_text_is_read_with_the_one_before_and_alike_in_any_batch(model: Path) -> None:
    reading = TokenModel(model)
    alone = reading.read("it is green")
    many = reading.read_many([("which colour has it", "it is green"), ("", "it is green"), ("", "")])
    assert alone.tokens == ["it", "is", "green"]
    assert alone.spans[2] == (6, 11)
    assert np.allclose(np.linalg.norm(alone.matrix, axis=1), 1, atol=1e-5)
    assert np.allclose(alone.matrix, many[1].matrix, atol=1e-5)
    assert not np.allclose(alone.matrix, many[0].matrix, atol=1e-2)
    assert many[2].matrix.shape == (0, WIDTH)


def test_long_texts_and_odd_characters_are_read_as_far_as_they_go(model: Path) -> None:
    long, odd = TokenModel(model).read_many([("tea " * 500, "car " * 5000), ("", "tea \ud800 car")])
    assert 100 < len(long.tokens) < 256
    assert len(odd.tokens) == 3


@pytest.mark.parametrize("fault", ["no folder", "no tokenizer", "no model", "garbage", "garbage tokenizer"])
def test_a_model_that_is_none_is_refused_in_words(model: Path, fault: str) -> None:
    if fault == "no folder":
        model = model / "nowhere"
    elif fault.startswith("no "):
        (model / {"no tokenizer": "tokenizer.json", "no model": "model.onnx"}[fault]).unlink()
    else:
        (model / ("model.onnx" if fault == "garbage" else "tokenizer.json")).write_bytes(b"\x00\x01nothing")
    with pytest.raises(EmbeddingError) as caught:
        TokenModel(model).read("tea")
    assert caught.value.fix


def test_without_the_extra_it_says_what_to_install(model: Path) -> None:
    code = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from pathlib import Path\n"
        "from memtui.engine.providers.token_model import TokenModel\n"
        "try: TokenModel(Path(sys.argv[1])).read('tea')\n"
        "except Exception as error: print(error.fix)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(model)], capture_output=True, text=True, check=True
    )
    assert "memtui[context]" in done.stdout


def test_a_build_reads_each_memory_once_and_leaves_the_store_alone(
    engine: Engine, model: Path, tmp_path: Path
) -> None:
    assert status(engine) is None
    with pytest.raises(UsageError, match="No model"):
        build(engine)
    before = tree_hash(tmp_path / "store")
    first = build(engine, model, dims=16)
    again = build(engine)
    found = status(engine)
    assert (first.made, first.unchanged) == (len(TEXTS), 0)
    assert (again.made, again.unchanged) == (0, len(TEXTS))
    assert found is not None
    assert (found.current, found.memories, found.dims) == (len(TEXTS), len(TEXTS), 16)
    assert tree_hash(tmp_path / "store") == before


def test_only_what_changed_is_read_again(engine: Engine, model: Path, tmp_path: Path) -> None:
    build(engine, model)
    change(tmp_path, "edit", "m4", "--set", "text=which colour has the boat")
    change(tmp_path, "forget", "m0", "--hard")
    done = build(reopened(tmp_path))
    assert (done.made, done.removed) == (2, 1)  # m4, and m5 which was read with it


def test_what_is_forgotten_for_good_leaves_no_vector_in_any_file(
    engine: Engine, model: Path, tmp_path: Path
) -> None:
    build(engine, model)
    place = engine.token_place
    assert place is not None
    table = open_token_table(place)
    assert table is not None
    key = table.keys()["m0"]

    def holds() -> bool:
        return any(key in file.read_bytes() for file in place.rglob("*") if file.is_file())

    assert holds()
    change(tmp_path, "forget", "m1")
    change(tmp_path, "forget", "m2", "--hard")  # both can be taken back: their vectors stay for that
    change(tmp_path, "forget", "m0", "--hard", "--shrink-history")
    assert not holds()
    left = open_token_table(place)
    assert left is not None
    assert left.keys().keys() == {"m1", "m2", "m3", "m4", "m5"}


def test_the_past_of_a_memory_goes_with_its_vectors(engine: Engine, model: Path, tmp_path: Path) -> None:
    """They are of the text that was masked; the next question, or build, makes those of the text of now."""
    build(engine, model)
    change(tmp_path, "edit", "m3", "--set", "text=bo repaired the roof of the boat")
    change(tmp_path, "forget", "m3", "--past")
    assert engine.token_place is not None
    left = open_token_table(engine.token_place)
    assert left is not None
    assert not left.read(["m3"])
    stage = read_stage(ask(reopened(tmp_path), "vessel of bo"))
    assert stage is not None
    assert stage["fresh"] == 1


def test_a_cancelled_build_goes_on_where_it_was(
    engine: Engine, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.engine.token_vectors.building.PUT_AT_ONCE", 2)
    monkeypatch.setattr("memtui.engine.token_vectors.building.CHUNK", 2)
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        build(engine, model, on_progress=lambda p: cancel.cancel() if p.done else None, cancel=cancel)
    kept = status(engine)
    assert kept is not None
    assert 0 < kept.current < len(TEXTS)
    assert build(engine).made == len(TEXTS) - kept.current


def test_words_of_the_same_meaning_are_met_and_the_trace_proves_it(engine: Engine, model: Path) -> None:
    plain = ask(engine, "whose vessel")
    assert read_stage(plain) is None
    build(engine, model)
    trace = ask(engine, "whose vessel")
    stage = read_stage(trace)
    assert stage is not None
    assert stage["pieces"] == ["vessel"]
    assert trace.results[0].id == "m1"
    step = next(s for s in trace.results[0].steps if s.stage == "token_vectors")
    assert step.after is not None
    assert step.after - (step.before or 0) == pytest.approx(fitted_read("notes")["tokenWeight"])
    assert read_stage(ask(engine, "whose vessel", tokenWeight=0)) is None


def test_turning_its_weight_is_a_what_if_like_any_other(engine: Engine, model: Path) -> None:
    build(engine, model)
    trace = ask(engine, "whose vessel")
    turned = explain.what_if(engine, trace, {"memtui.tokenWeight": 0.2})
    anew = ask(engine, "whose vessel", tokenWeight=0.2)
    assert [c.id for c in turned.trace.results] == [c.id for c in anew.results]
    assert [c.score for c in turned.trace.results] == pytest.approx([c.score for c in anew.results])


def test_what_has_no_vectors_yet_is_read_for_the_recall_and_kept(
    engine: Engine, model: Path, tmp_path: Path
) -> None:
    build(engine, model)
    change(tmp_path, "edit", "m3", "--set", "text=the vessel of bo")
    first = read_stage(ask(reopened(tmp_path), "vessel of bo"))
    second = read_stage(ask(reopened(tmp_path), "vessel of bo"))
    assert first is not None
    assert second is not None
    assert (first["fresh"], second["fresh"]) == (1, 0)


def test_a_model_that_went_or_changed_is_a_warning_and_the_recall_goes_on(
    engine: Engine, model: Path
) -> None:
    build(engine, model)
    make_model(model, " ".join(TEXTS).split(), SAME, seed=2)
    changed = ask(engine, "whose boat")
    (model / "model.onnx").unlink()
    gone = ask(engine, "whose boat")
    for trace in (changed, gone):
        assert trace.results
        assert read_stage(trace) is None
        assert any("token vectors were not compared" in each for each in trace.warnings)


def test_the_table_is_opened_once_and_again_when_it_was_made_anew(
    engine: Engine, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings and recall look at it; what another engine wrote since is seen."""
    opened: list[Path] = []

    def counted(folder: Path) -> TokenTable | None:
        opened.append(folder)
        return open_token_table(folder)

    monkeypatch.setattr("memtui.engine.recall.recipes.memtui.token_vectors.open_token_table", counted)
    build(engine, model)
    request = RecallRequest(query="whose vessel", recipe="memtui")
    for _ in range(2):
        assert explain.settings(engine, request)[0]["memtui"]["tokenWeight"]
        assert read_stage(ask(engine, "whose vessel")) is not None
    assert len(opened) == 1
    other = open_token_table(opened[0])
    assert other is not None
    other.remove(["m1"])
    changed = read_stage(ask(engine, "whose vessel"))
    assert changed is not None
    assert changed["fresh"] == 1
    build(engine, make_model(model.with_name("another"), " ".join(TEXTS).split(), SAME, seed=2))
    anew = read_stage(ask(engine, "whose vessel"))
    assert anew is not None
    assert anew["fresh"] == 0
    assert len(opened) == 2


def test_what_was_read_of_the_table_is_remembered_and_never_outlives_a_change(
    engine: Engine, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read at once where it is small, else as it is asked for; remembered no further than the bound."""
    build(engine, model)
    assert engine.token_place is not None
    small, large = (open_token_table(engine.token_place) for _ in range(2))
    assert small is not None
    assert large is not None
    ids = [f"m{at}" for at in range(len(TEXTS))]
    whole = small.read(ids)
    monkeypatch.setattr("memtui.engine.store.token_table.MOST_BYTES", 1)
    for _ in range(2):
        for each in ids:
            assert np.array_equal(large.read([each])[each].matrix, whole[each].matrix)
    changed = KeptTokens(b"k" * 16, whole["m0"].matrix)
    for table in (small, large):
        table.catch_up()
        table.put({"m1": changed})
        assert table.read(["m1", "m0"])["m1"].key == changed.key
        table.remove(["m1"])
        assert "m1" not in table.read(["m1"])
        table.put({"m1": whole["m1"]})
    small.catch_up()
    assert small.read(["m1", "nobody"]).keys() == {"m1"}


def test_removed_is_as_never_made(engine: Engine, model: Path) -> None:
    build(engine, model)
    assert remove(engine)
    assert not remove(engine)
    assert status(engine) is None
    assert read_stage(ask(engine, "whose boat")) is None


def test_the_best_cosine_is_what_a_plain_loop_finds() -> None:
    random = np.random.default_rng(3)
    asked = shortened(random.normal(size=(4, 24)).astype(np.float32), None)
    memories = [in_bytes(shortened(random.normal(size=(n, 24)).astype(np.float32), None)) for n in (3, 0, 7)]
    found = best_cosines(asked, memories)
    for at, memory in enumerate(memories):
        for piece in range(4):
            wanted = max(
                (float(asked[piece] @ (v / np.linalg.norm(v))) for v in memory.astype(np.float64)),
                default=0.0,
            )
            assert found[at, piece] == pytest.approx(wanted, abs=1e-5)


def imported(tmp_path: Path, *texts: str) -> tuple[Engine, ImportResult]:
    """The store after an import of a file of texts, through the engine."""
    source = tmp_path / "more.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    engine = open_engine(
        tmp_path / "store",
        now=lambda: NOW_MS,
        environ=os.environ,
        cwd=tmp_path,
        state=state_dir(os.environ),
        writable=True,
    )
    plan = plan_import(engine, ImportRequest((source,), "auto"))
    try:
        return engine, run_import(engine, plan, confirmed=True)
    finally:
        plan.close()


def test_an_import_reads_what_comes_in(engine: Engine, model: Path, tmp_path: Path) -> None:
    build(engine, model)
    later, done = imported(tmp_path, "bo bought a boat", "anna likes the shed")
    assert done.added == 2
    assert not done.warnings
    told = status(later)
    assert told is not None
    assert told.current == told.memories == len(TEXTS) + 2
    stage = read_stage(ask(later, "vessel of bo"))
    assert stage is not None
    assert stage["fresh"] == 0


def test_what_is_added_by_hand_is_read_at_once(engine: Engine, model: Path, tmp_path: Path) -> None:
    build(engine, model)
    change(tmp_path, "add", "the vessel of bo")
    stage = read_stage(ask(reopened(tmp_path), "vessel of bo"))
    assert stage is not None
    assert stage["fresh"] == 0


def test_little_that_comes_into_much_is_left_to_the_first_question(
    engine: Engine, model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    build(engine, model)
    monkeypatch.setattr("memtui.engine.token_vectors.building.LITTLE", 0.5)
    later, done = imported(tmp_path, "bo bought a boat")
    assert not done.warnings
    told = status(later)
    assert told is not None
    assert told.current == told.memories - 1


def test_an_import_without_its_model_is_whole_and_says_so(
    engine: Engine, model: Path, tmp_path: Path
) -> None:
    build(engine, model)
    (model / "model.onnx").unlink()
    later, done = imported(tmp_path, "bo bought a boat")
    assert done.added == 1
    assert any("token vectors were not made" in warning for warning in done.warnings)
    assert later.store.count() == len(TEXTS) + 1


def test_an_import_into_a_store_without_token_vectors_makes_none(engine: Engine, tmp_path: Path) -> None:
    later, done = imported(tmp_path, "bo bought a boat")
    assert done.added == 1
    assert status(later) is None


_LETTERS = "数据库端口城市天气朋友工作时间问题我你他们在有是"

CHINESE = [one + two for one in _LETTERS for two in _LETTERS]

LATIN = [one + two for one in ascii_lowercase for two in ascii_lowercase]
"""Words of two letters, enough for a model to have learned the script."""


@pytest.mark.parametrize("profile", ["dialogue", "notes"])
def test_token_vectors_take_over_from_the_words_and_their_share_is_fitted(
    tmp_path: Path, profile: Literal["dialogue", "notes"]
) -> None:
    reader = TokenModel(make_model(tmp_path / "small", ["ship", "vessel"], {}))
    told, _ = resolve_own(None, bundled=True, question="whose vessel", profile=profile, reader=reader)
    plain, _ = resolve_own(None, bundled=True, question="whose vessel", profile=profile)
    context = fitted_read(profile)
    assert (told.late_weight, told.token_weight, told.vector_weight) == (
        context["lateWeight"],
        context["tokenWeight"],
        context["vectorWeight"],
    )
    assert told.token_weight > told.late_weight < plain.late_weight
    assert told.signals == plain.signals
    assert (told.bm25_weight, told.speaker_weight) == (plain.bm25_weight, plain.speaker_weight)
    given, _ = resolve_own(None, bundled=False, question="whose vessel", profile=profile, reader=reader)
    assert given.vector_weight > context["vectorWeight"]  # vectors of a transformer count beside it


def test_token_vectors_of_a_model_that_never_learned_the_script_do_not_count(tmp_path: Path) -> None:
    """Judged by the vocabulary of the model that made them, not by that of the bundled one."""
    question = "数据库的端口是多少"
    english = TokenModel(make_model(tmp_path / "english", LATIN, {}))
    several = TokenModel(make_model(tmp_path / "several", [*LATIN, *CHINESE], {}))
    plain, _ = resolve_own(None, bundled=True, question=question)
    unread, said = resolve_own(None, bundled=True, question=question, reader=english)
    assert unread.token_weight == 0
    assert unread.as_block() | {"tokenWeight": plain.token_weight} == plain.as_block()
    assert said[0].endswith("token vectors 0.")
    read, said = resolve_own(None, bundled=True, question=question, reader=several)
    assert read.token_weight == fitted_read("notes")["tokenWeight"]
    assert read.bm25_weight == UNCOVERED["bm25Weight"] > fitted("notes")["bm25Weight"]
    assert said[0].endswith(f"token vectors {read.token_weight:g}.")
    half, _ = resolve_own(
        None, bundled=True, question="the database 数据库的 port of the pay server", reader=english
    )
    assert 0 < half.token_weight < read.token_weight


def test_what_token_vectors_say_nothing_of_is_led_by_keywords(engine: Engine, model: Path) -> None:
    build(engine, model)
    trace = ask(engine, "数据库的端口")
    assert read_stage(trace) is None
    assert trace.config["memtui"]["tokenWeight"] == 0
    assert any("token vectors 0" in finding for finding in trace.findings)
