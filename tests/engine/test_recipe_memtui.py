"""The recipe `memtui` on real tables: what comes back, for which reason, and what happens with bad input."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pydantic.alias_generators import to_camel

from memtui.engine import MemtuiError, RecallRequest, Trace, UsageError, explain, open_engine
from memtui.engine.core.errors import ConfigError
from memtui.engine.dialects.memtui import own_schema
from memtui.engine.providers.static_embedder import BUNDLED_DIMS, bundled
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.recipes.memtui.settings import fitted
from memtui.engine.recall.recipes.memtui.signals import RETIRED, SIGNALS
from memtui.engine.store.create import create_own
from memtui.engine.store.open import open_store
from tests.engine.pro_store import DAY_MS, NOW_MS, row, write_store
from tests.quality import dialogues
from tests.quality.fusion import WEIGHTS
from tests.quality.table import Set, answer, dialogue_set, plain_hybrid, scores


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Set:
    """The dialogues with their questions."""
    return dialogue_set(tmp_path_factory.mktemp("talks") / "store", scoped=True)


def own(folder: Path, *rows: dict[str, Any]) -> RecallContext:
    """A store of memtui's own: `text`, and what else a row should have."""
    vectors = bundled().embed_passages([each["text"] for each in rows])
    filled = [
        {
            "id": f"m{at}",
            "category": "fact",
            "scope": "global",
            "importance": 0.7,
            "timestamp": float(NOW_MS - (len(rows) - at) * DAY_MS),
            "tier": "working",
            "access_count": 0,
            "last_accessed_at": None,
            "state": "confirmed",
            "vector": vector.tolist(),
            **each,
            "metadata": json.dumps(each.get("metadata", {})),
        }
        for at, (each, vector) in enumerate(zip(rows, vectors, strict=True))
    ]
    create_own(folder, pa.Table.from_pylist(filled, schema=own_schema(BUNDLED_DIMS)))
    return RecallContext(open_store(folder), NOW_MS, bundled().embed_query, bundled=True)


def ask(bench: RecallContext, query: str, **more: Any) -> Trace:
    trace = recall(RecallRequest(query=query, recipe="memtui", **more), bench)
    assert trace.proof.recomputed, trace.proof.failures
    return trace


@pytest.fixture(scope="module")
def answers(talks: Set) -> list[list[str]]:
    """What the recipe answers to each question as it is."""
    return [answer(talks.bench, asked, "memtui", None) for asked in talks.questions]


@pytest.mark.slow
def test_it_answers_better_than_the_engines_own_hybrid(talks: Set, answers: list[list[str]]) -> None:
    ours = scores(talks, answers)
    plain = scores(talks, [plain_hybrid(talks.bench, q) for q in talks.questions])
    assert len(talks.questions) == 181
    assert (ours["recall"] or 0) >= 0.85
    assert (ours["ndcg"] or 0) >= 0.70
    assert (ours["recall"] or 0) >= (plain["recall"] or 0) + 0.15


@pytest.mark.slow
def test_each_signal_is_worth_something(talks: Set, answers: list[list[str]]) -> None:
    some = replace(talks, questions=talks.questions[::3])
    whole = scores(some, answers[::3])
    for without in ("lateWeight", "speakerWeight", "rarity"):
        part = scores(some, [answer(some.bench, q, "memtui", {without: 0}) for q in some.questions])
        assert (part["ndcg"] or 0) < (whole["ndcg"] or 0), without


@pytest.mark.slow
def test_every_recall_adds_up_and_comes_out_the_same_again(talks: Set) -> None:
    for asked in talks.questions[::12]:
        one = ask(talks.bench, asked.query, scopes=asked.scopes, limit=50)
        two = ask(talks.bench, asked.query, scopes=asked.scopes, limit=50)
        assert one.candidates == two.candidates
        assert len(one.results) == 50


@pytest.mark.slow
def test_a_name_before_the_text_makes_no_difference(talks: Set, tmp_path: Path) -> None:
    bare = dialogue_set(tmp_path / "bare", scoped=True, prefixed=False)
    bare = replace(bare, questions=bare.questions[::3])
    found = scores(bare, [answer(bare.bench, q, "memtui", None) for q in bare.questions])
    assert (found["recall"] or 0) >= 0.85


def test_the_only_speaker_named_is_preferred(talks: Set) -> None:
    trace = ask(talks.bench, "What does Nadia want to sell in her bakery?", scopes=["nadia-theo"])
    stage = next(stage for stage in trace.stages if stage.name == "speaker")
    assert stage.params["named"] == ["Nadia"]
    both = ask(talks.bench, "Do Nadia and Theo hike?", scopes=["nadia-theo"])
    gains = [s for c in both.candidates for s in c.steps if s.stage == "speaker" and s.after != s.before]
    assert gains == []


def test_a_date_in_the_question_lifts_what_was_said_then(talks: Set) -> None:
    query = "What did Priya do in August 2023?"
    trace = ask(talks.bench, query, scopes=["priya-marcus"], limit=5)
    times = {row.id: row.timestamp_ms for row in trace.pool.rows}
    start = 1_690_848_000_000
    assert all(start <= times[each] < start + 38 * DAY_MS for each in trace.returned)


def test_rows_with_a_speaker_are_a_dialogue_and_a_person_may_say_otherwise(tmp_path: Path) -> None:
    said = [{"text": f"tea {n}", "metadata": {"speaker": "A"} if n < 30 else {}} for n in range(60)]
    talk = own(tmp_path / "talk", *said)
    assert ask(talk, "which tea").config["memtui"]["profile"] == "dialogue"
    forced = ask(talk, "which tea", config={"memtui": {"profile": "notes", "signals": {"times": 0.5}}})
    assert forced.config["memtui"]["profile"] == "notes"
    assert forced.config["memtui"]["signals"] == {**fitted_all("notes"), "times": 0.5}
    assert ask(own(tmp_path / "notes", *said[29:]), "which tea").config["memtui"]["profile"] == "notes"
    with pytest.raises(ConfigError, match="signals"):
        ask(talk, "tea", config={"memtui": {"signals": {"tims": 1}}})


def fitted_all(profile: str) -> dict[str, float]:
    """The signals of a profile; those without a weight count 0."""
    return dict.fromkeys((signal.key for signal in SIGNALS), 0.0) | fitted(profile)["signals"]  # type: ignore[arg-type]


def test_every_weight_of_the_file_has_an_error_and_an_ablation() -> None:
    told = tomllib.loads(WEIGHTS.read_text(encoding="utf-8"))
    keys = {signal.key for signal in SIGNALS}
    for profile in ("dialogue", "notes"):
        parts = ("signals", "context", "confidence", "few")
        weights = {k: value for k, value in told[profile].items() if k not in parts}
        assert set(told[profile]["signals"]) <= keys
        context = told[profile]["context"]
        assert set(context) == {"lateWeight", "tokenWeight", "vectorWeight"}
        for each in (*weights.values(), *told[profile]["signals"].values(), *context.values()):
            assert set(each) == {"weight", "error", "without", "interval"}
            assert each["interval"][0] <= each["without"] <= each["interval"][1]


def test_an_answer_without_the_questions_words_is_met_by_what_was_asked(tmp_path: Path) -> None:
    said = [
        "Which colour did you choose for the roof of the library?",
        "Zebra mauve quux.",
        "The weather was fine.",
    ]
    rows = [{"text": t, "metadata": {"session": "s1", "speaker": "A"}} for t in said]
    filler = [{"text": f"roof {n} of the library is made of steel {n}"} for n in range(40)]
    bench = own(tmp_path / "s", *rows, *filler)
    config = {"memtui": {"pool": 5}}
    trace = ask(bench, said[0], config=config, limit=3)
    assert trace.returned[:2] == ("m0", "m1")
    first = trace.results[1].steps[0]
    assert (first.stage, first.rule) == ("following", "follows")
    met = trace.words_met("m1")
    late = next(s for s in trace.results[1].steps if s.stage == "late_interaction")
    assert met.score == pytest.approx(late.inputs["met"], abs=1e-6)
    colour = next(word for word in met.words if word.word == "colour")
    assert (colour.met, colour.before, colour.cosine) == ("", True, pytest.approx(0.8, abs=1e-6))
    gone = ask(bench, said[0], config={"memtui": {"pool": 5, "following": 0}}, limit=3)
    assert "m1" not in gone.returned


def test_what_may_not_be_seen_lends_no_words(tmp_path: Path) -> None:
    said = ["Which colour has the roof of the library?", "Zebra mauve quux."]
    rows = [{"text": t, "metadata": {"session": "s1"}} for t in said]
    rows[0]["metadata"]["state"] = "archived"  # type: ignore[index]
    bench = own(tmp_path / "s", *rows, *({"text": f"tea {n} is green"} for n in range(60)))
    trace = ask(bench, said[0], limit=20)
    lent = [
        s.inputs.get("before") for c in trace.candidates for s in c.steps if s.stage == "late_interaction"
    ]
    assert set(lent) == {None}


def test_an_identifier_is_met_to_the_letter(tmp_path: Path) -> None:
    rows = [{"text": f"Port {5000 + n} belongs to service {n}."} for n in range(60)]
    bench = own(tmp_path / "s", *rows, {"text": "sha 9f3c2ab7d1e4 was reverted"}, {"text": "PORT=x5432x"})
    assert ask(bench, "who reverted 9f3c2ab7?", limit=1).returned == ("m60",)
    assert ask(bench, "what is on x5432X?", limit=1).returned == ("m61",)
    off = ask(bench, "who reverted 9f3c2ab7?", config={"memtui": {"identifierWeight": 0}})
    assert {s.inputs["identifier_weight"] for c in off.results for s in c.steps if s.stage == "fused"} == {0}


def test_newer_ones_win_only_when_they_are_asked_for(tmp_path: Path) -> None:
    rows = [{"text": "The release is version 1."}, {"text": "The release is version 2."}]
    rows = [
        {**each, "timestamp": float(NOW_MS - age * DAY_MS)} for each, age in zip(rows, (400, 1), strict=True)
    ]
    bench = own(tmp_path / "s", *rows, *({"text": f"Tea number {n} is green."} for n in range(30)))
    plain = ask(bench, "Which version is the release?")
    assert not any(stage.name == "recency" for stage in plain.stages)
    newest = ask(bench, "Which is the latest version of the release?")
    assert newest.returned[:2] == ("m1", "m0")
    off = ask(bench, "Which is the latest version?", config={"memtui": {"recency": "off"}})
    assert not any(stage.name == "recency" for stage in off.stages)
    on = ask(bench, "Which version is the release?", config={"memtui": {"recency": "on"}})
    assert on.returned[:2] == ("m1", "m0")


def test_what_is_no_longer_true_stays_out(tmp_path: Path) -> None:
    text = "The deploy window is Tuesday at nine."
    bench = own(
        tmp_path / "s",
        {"text": text},
        {"text": text, "metadata": {"invalidated_at": NOW_MS - 1}},
        {"text": text, "metadata": {"valid_until": NOW_MS - 1}},
        {"text": text, "metadata": {"state": "archived"}},
    )
    trace = ask(bench, "When is the deploy window?")
    assert trace.returned == ("m0",)
    gates = {c.id: c.reason for c in trace.candidates if c.rank is None}
    assert gates == {"m1": "inactive", "m2": "expired", "m3": "state"}


def test_scopes_and_category_are_kept_to(tmp_path: Path) -> None:
    rows = [
        {
            "text": f"tea number {n}",
            "scope": "a" if n % 2 else "b",
            "category": "fact" if n < 30 else "decision",
        }
        for n in range(60)
    ]
    bench = own(tmp_path / "s", *rows)
    found = ask(bench, "tea", scopes=["a"], category="decision", limit=50)
    assert len(found.returned) == 15
    assert {r.scope for r in found.pool.rows} == {"a"}
    assert ask(bench, "tea", category="events", limit=50).returned != ()
    assert ask(bench, "tea", scopes=[]).returned == ()
    assert ask(bench, "tea", scopes=["nowhere"]).returned == ()


@pytest.fixture
def small(tmp_path: Path) -> RecallContext:
    return own(
        tmp_path / "small", {"text": "The gateway listens on 8443."}, {"text": "Tea is served at five."}
    )


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"query": "  "}, UsageError),
        ({"limit": 0}, UsageError),
        ({"limit": -3}, UsageError),
        ({"query_vector": [1.0, 2.0]}, UsageError),
        ({"query_vector": [float("nan")] * 256}, UsageError),
        ({"config": {"memtui": {"lateweight": 1}}}, ConfigError),
        ({"config": {"memtui": {"vectorWeight": "much"}}}, ConfigError),
        ({"config": {"memtui": 7}}, ConfigError),
        ({"config": {"elsewhere": {}}}, ConfigError),
        ({"lanes": {"vector": [["m0"]]}}, UsageError),
    ],
)
def test_bad_input_is_told(small: RecallContext, more: dict[str, Any], error: type[MemtuiError]) -> None:
    request = replace(RecallRequest(query="tea", recipe="memtui"), **more)
    with pytest.raises(error) as caught:
        recall(request, small)
    assert caught.value.fix


@pytest.mark.parametrize(
    "query", ['"', '"tea" AND (x', "???", "\ud800 tea", "🚀" * 50, "tea " * 3000, "'; --"]
)
def test_odd_questions_are_answered(small: RecallContext, query: str) -> None:
    trace = ask(small, query)
    assert trace.candidates or trace.warnings


def test_weights_of_another_plugin_are_told_to_be_without_effect(small: RecallContext) -> None:
    trace = ask(small, "tea", config={"retrieval": {"vectorWeight": 0.9}, "decay": None})
    assert trace.findings == (
        "retrieval has no effect: those are the plugin's settings, this recipe reads the block memtui.",
    )


def test_settings_that_name_a_retired_signal_are_read_and_told_to_have_no_effect(
    small: RecallContext,
) -> None:
    """Old configurations and the settings in saved receipts name them; 0 is what they count now, so it is not told."""
    named = {to_camel(name): -0.25 for name in RETIRED}
    trace = ask(small, "tea", config={"memtui": {"signals": {**named, "times": 0.5}}})
    assert trace.config["memtui"]["signals"] == {**fitted_all("notes"), "times": 0.5}
    assert [told.split(" has no effect")[0] for told in trace.findings] == [
        f"memtui.signals.{key}" for key in named
    ]
    assert ask(small, "tea", config={"memtui": {"signals": dict.fromkeys(named, 0.0)}}).findings == ()
    for wrong in ({"signals": 7}, {"signals": {**named, "tims": 1}}):
        with pytest.raises(ConfigError, match="signals"):
            ask(small, "tea", config={"memtui": wrong})


def test_given_vectors_have_their_own_weights(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = [row(f"r{n}", f"note {n} about tea", rng.normal(size=8).tolist()) for n in range(30)]
    bench = RecallContext(open_store(write_store(tmp_path / "s", rows, dims=8)), NOW_MS, None)
    trace = ask(bench, "note 7", query_vector=rows[7]["vector"], limit=3)
    assert trace.returned[0] == "r7"
    assert trace.config["memtui"]["pool"] == 50
    assert trace.config["memtui"]["dateWeight"] == 0.8


def test_without_vectors_the_words_are_enough_with_and_without_an_index(tmp_path: Path) -> None:
    rows = [row("a", "tea at five", (1, 0)), row("b", "coffee at ten", (0, 1))]
    bench = RecallContext(
        open_store(write_store(tmp_path / "s", rows, dims=2)), NOW_MS, None, "no model is known"
    )
    trace = ask(bench, "when is tea")
    assert (trace.mode, trace.returned[0]) == ("keyword", "a")
    assert any("no model is known" in warning for warning in trace.warnings)
    flat = RecallContext(open_store(write_store(tmp_path / "f", rows, dims=2, fts=False)), NOW_MS, None)
    trace = ask(flat, "when is tea")
    assert trace.returned[0] == "a"
    assert any("row by row" in warning for warning in trace.warnings)


def test_recorded_hits_take_the_place_of_the_searches(small: RecallContext) -> None:
    lanes = {"vector": [["m1", 0.9], ["gone", 0.8]], "bm25": [["m0", 4.0]]}
    trace = ask(small, "gateway", lanes=lanes)
    assert set(trace.returned) == {"m0", "m1"}
    assert any("this store does not have" in warning for warning in trace.warnings)


@pytest.fixture
def bundled_in_pro(tmp_path: Path) -> Path:
    texts = ["The gateway listens on 8443.", "Tea is served at five.", "Backups run at night."]
    vectors = bundled().embed_passages(texts)
    rows = [row(f"r{n}", t, v.tolist()) for n, (t, v) in enumerate(zip(texts, vectors, strict=True))]
    return write_store(tmp_path / "pro", rows, dims=BUNDLED_DIMS)


def test_vectors_of_the_bundled_model_are_recognised_anywhere(bundled_in_pro: Path) -> None:
    engine = open_engine(bundled_in_pro, now=lambda: NOW_MS, environ={}, cwd=bundled_in_pro)
    trace = engine.recall(RecallRequest(query="which port has the gateway", recipe="memtui"))
    assert trace.mode == "hybrid"
    assert trace.config["memtui"]["pool"] == 100
    assert engine.default_recipe == "pro/agent"


def test_stores_of_memtui_are_asked_by_it(tmp_path: Path) -> None:
    store = dialogues.write(tmp_path / "s", dialogues.read("elena-tom")[0][:20])
    engine = open_engine(store, now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    assert engine.default_recipe == "memtui"
    assert engine.recall(RecallRequest(query="What is the boat called?")).recipe == "memtui"


def test_metadata_that_was_encoded_twice_is_read_here_and_not_by_the_plugin(tmp_path: Path) -> None:
    told = [
        ("When does the choir sing?", {"speaker": "Ana", "session": "s1"}),
        ("On Thursday at eight.", {"speaker": "Bo", "session": "s1"}),
        ("The old plan of the choir", {"state": "archived"}),
    ]
    rows = [
        row(f"m{at}", text, (1.0, at / 10), age=9 - at, metadata=json.dumps(json.dumps(values)))
        for at, (text, values) in enumerate(told)
    ]
    rows.append(row("plain", "A choir needs a conductor", (0.5, 0.5), metadata='"just words"'))
    bench = RecallContext(open_store(write_store(tmp_path / "twice", rows, dims=2)), NOW_MS, None)
    found = ask(bench, "What did Bo say of the choir?", query_vector=[1.0, 0.0])
    assert found.pool.rows[0].metadata.valid
    assert [each.metadata.values.get("speaker") for each in found.pool.rows if each.id == "m1"] == ["Bo"]
    assert "speaker" in {record.name for record in found.records}
    assert {each.id: each.reason for each in found.candidates}["m2"] == "state"
    assert found.findings == (
        "metadata is encoded twice in 3 rows: read here as what it holds, by the plugin not at all.",
    )
    again = ask(bench, "What did Bo say of the choir?", query_vector=[1.0, 0.0], config={"memtui": {}})
    assert again.returned == found.returned
    plugin = recall(RecallRequest(query="choir", recipe="pro/tool", query_vector=[1.0, 0.0]), bench)
    assert not plugin.pool.rows[0].metadata.valid
    assert "metadata is encoded twice in 3 candidates: the plugin reads nothing of it." in plugin.findings
    engine = open_engine(tmp_path / "twice", now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    verdict = explain.why_not_in(engine, found, "m2", changes=False)
    assert verdict.gate == "state"
