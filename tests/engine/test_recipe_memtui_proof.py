"""The recipe `memtui` worked out a second time from the stored rows alone; and a tampered account turns red."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from memtui.engine import RecallRequest, Trace
from memtui.engine.providers.static_embedder import bundled
from memtui.engine.recall.answer import recall
from memtui.engine.recall.recipes.memtui import late_interaction, signals, stages
from memtui.engine.recall.recipes.memtui import question as dates
from memtui.engine.recall.recipes.memtui import recipe as recipe_stages
from memtui.engine.recall.recipes.memtui.survey import Survey
from memtui.engine.store.open import open_store
from tests.quality.table import Set, dialogue_set

QUESTIONS = (
    ("When is Priya's marathon?", "priya-marcus"),
    ("What did Theo do in March 2024?", "nadia-theo"),
    ("Which is the latest news of the bees of Tom?", "elena-tom"),
    ("What does Nadia sell at the harbour, number 2117?", None),
)


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Set:
    return dialogue_set(tmp_path_factory.mktemp("talks") / "store", scoped=True)


def ask(talks: Set, query: str, scope: str | None) -> Trace:
    scopes = None if scope is None else [scope]
    return recall(RecallRequest(query=query, recipe="memtui", scopes=scopes, limit=20), talks.bench)


def _by_hand(talks: Set, trace: Trace, scope: str | None) -> dict[str, float]:
    """Final scores by plain loops over the stored rows; only the BM25 numbers are taken from the trace."""
    columns = ["id", "text", "vector", "timestamp", "metadata", "scope"]
    stored = [
        {**r, **json.loads(r["metadata"])}
        for batch in talks.bench.store.scan(columns)
        for r in batch.to_pylist()
        if scope in (None, r["scope"])
    ]
    setting = trace.config["memtui"]
    late_params = next(s.params for s in trace.stages if s.name == "late_interaction")
    question = late_params["question"]
    model = bundled()

    def unit(v: Any) -> np.ndarray[Any, Any]:
        v = np.asarray(v, np.float64)
        length = np.linalg.norm(v)
        return v / length if length else v

    asked = model.token_vectors(question)
    q = unit(model.embed_query(question))
    cosine = {r["id"]: float(unit(r["vector"]) @ q) for r in stored}
    bm25 = {c.id: c.sources["bm25"]["score"] or 0.0 for c in trace.candidates if "bm25" in c.sources}
    nearest = sorted(cosine, key=lambda i: -cosine[i])[: setting["pool"]]
    union = set(nearest) | set(bm25)
    held = {c.id: s.after for c in trace.candidates for s in c.steps if s.stage == "identifier_ranked"}
    union |= set(held)
    words = [set(late_interaction._WORD.findall(f"{r['speaker']}: {r['text']}".lower())) for r in stored]

    def rarity(word: str) -> float:
        df = sum(word in each for each in words)
        return 1 - math.log(df + 1) / math.log(max(len(stored), 50) + 1)

    weights = []
    for (start, end), vector in zip(asked.spans, asked.matrix, strict=True):
        around = [
            f for f in late_interaction._WORD.finditer(question) if f.start() <= start and end <= f.end()
        ]
        weights.append(float(np.linalg.norm(vector)) * (rarity(around[0][0].lower()) if around else 0.0))

    def near(row: dict[str, Any]) -> list[float]:
        told = model.token_vectors(row["text"].removeprefix(f"{row['speaker']}: ")).matrix
        return [max((float(unit(t) @ unit(u)) for u in told), default=0.0) for t in asked.matrix]

    words_near = [near(row) for row in stored]

    def same_session(at: int, other: int) -> bool:
        inside = 0 <= other < len(stored)
        return inside and all(stored[other][key] == stored[at][key] for key in ("scope", "session"))

    def met(at: int) -> float:
        best = words_near[at]
        if same_session(at, at - 1):
            lent = [setting["contextWeight"] * b for b in words_near[at - 1]]
            best = [max(own, other) for own, other in zip(best, lent, strict=True)]
        return sum(w * b for w, b in zip(weights, best, strict=True)) / sum(weights)

    every_met = {r["id"]: met(at) for at, r in enumerate(stored)}

    def stretched(values: dict[str, float]) -> dict[str, float]:
        low, high = min(values.values()), max(values.values())
        return {i: (v - low) / (high - low) for i, v in values.items()}

    rows = {r["id"]: r for r in stored}
    named = {r["speaker"] for r in stored if r["speaker"] in trace.query}
    spans = next((s.params["spans"] for s in trace.stages if s.name == "date"), [])
    top = max(bm25.values())

    def by_itself(union: set[str]) -> dict[str, float]:
        v, w = stretched({i: cosine[i] for i in union}), stretched({i: every_met[i] for i in union})
        s = {}
        for i in union:
            s[i] = setting["vectorWeight"] * v[i] + setting["bm25Weight"] * bm25.get(i, 0) / top
            s[i] += setting["lateWeight"] * w[i] + setting["identifierWeight"] * (held.get(i) or 0)
            s[i] += setting["speakerWeight"] * (named == {rows[i]["speaker"]})
            s[i] += setting["dateWeight"] * any(a <= rows[i]["timestamp"] < b for a, b, _ in spans)
        return s

    s = by_itself(union)
    best = set(sorted(s, key=lambda i: -s[i])[: setting["following"]])
    after = {
        r["id"] for at, r in enumerate(stored) if same_session(at, at - 1) and stored[at - 1]["id"] in best
    }
    s = by_itself(union | after)
    weights_of = setting["signals"]
    pattern = {name: getattr(signals, name) for name in ("_NUMBER", "_TIME")}
    wants = signals.asks_number(trace.query), signals.asks_time(trace.query)
    final = dict(s)
    for at, row in enumerate(stored):
        if row["id"] not in s:
            continue
        said = row["text"].removeprefix(f"{row['speaker']}: ")
        first, last = not same_session(at, at - 1), not same_session(at, at + 1)
        before = stored[at - 1]
        scored = bm25.get(before["id"], 0) if not first else 0
        asked_before = not first and before["speaker"] != row["speaker"] and before["text"].endswith("?")
        told = {
            "wordsBefore": math.log(1 + scored) / math.log(1 + top),
            "askedBefore": asked_before,
            "lastOfSession": last,
            "numbers": wants[0] and bool(pattern["_NUMBER"].search(said)),
            "times": wants[1] and bool(pattern["_TIME"].search(said)),
        }
        final[row["id"]] += sum(weights_of[name] * float(value) for name, value in told.items())
    newest = [st.params["newest_ms"] for st in trace.stages if st.name == "recency"]
    for i in final:
        if newest:
            age = max(0.0, newest[0] - rows[i]["timestamp"]) / 86_400_000
            final[i] += setting["recencyWeight"] * 2 ** (-age / setting["recencyHalfLifeDays"])
    return final


@pytest.mark.parametrize(("query", "scope"), QUESTIONS)
def test_the_scores_are_those_of_the_formula_worked_out_by_hand(
    talks: Set, query: str, scope: str | None
) -> None:
    trace = ask(talks, query, scope)
    expected = _by_hand(talks, trace, scope)
    assert len(trace.results) == 20
    for result in trace.results:
        assert result.score == pytest.approx(expected[result.id], abs=1e-5), result.id
    best = sorted(expected.values(), reverse=True)[:20]
    assert [r.score for r in trace.results] == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize(("query", "scope"), QUESTIONS)
def test_a_number_changed_anywhere_turns_the_proof_red(talks: Set, query: str, scope: str | None) -> None:
    trace = ask(talks, query, scope)
    assert trace.proof.recomputed, trace.proof.failures
    for at, record in enumerate(trace.records):
        outcome = record.outcome
        best = int(outcome.flow.order[0])
        if record.kind == "score":
            score = outcome.flow.score.copy()
            score[best] += 1e-6
            changed = replace(outcome, flow=replace(outcome.flow, score=score))
            assert not _with(trace, at, changed).proof.recomputed, record.name
        for name, value in outcome.inputs.items():
            if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or np.isnan(value[best]).any():
                continue
            column = value.copy()
            column[best] += 1e-3 if value.ndim == 1 else 2  # the larger of two cosines counts
            altered = replace(outcome, inputs={**outcome.inputs, name: column})
            rule = outcome.rule if isinstance(outcome.rule, str) else outcome.rule[best]
            if rule != "unchanged":
                assert not _with(trace, at, altered).proof.recomputed, (record.name, name)


def _with(trace: Trace, at: int, outcome: Any) -> Trace:
    records = list(trace.records)
    records[at] = replace(records[at], outcome=outcome)
    return replace(trace, records=tuple(records))


@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [
        (stages, "MILLISECONDS_A_DAY", 1_000),
        (dates, "AFTER_MONTH", dates.timedelta(days=9)),
        (dates, "AFTER_DAY", dates.timedelta(days=9)),
        (signals, "QUESTION_MARKS", (",",)),
        (signals, "ASKS", {**signals.ASKS, "asks_time": signals.Wanted(lambda question: True, "")}),
        (late_interaction, "best_cosines", lambda *a: np.full((len(a[2]), len(a[1].tokens)), 0.5)),
    ],
)
def test_a_constant_changed_in_the_stages_is_noticed(
    talks: Set, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, value: Any
) -> None:
    """What the proof can see by itself; the comparison by hand above sees the rest."""
    queries = (*QUESTIONS, ("What did Theo do on 22 March 2024?", "nadia-theo"))
    before = [ask(talks, query, scope) for query, scope in queries]
    monkeypatch.setattr(owner, name, value)
    anew = replace(
        talks.bench, store=open_store(talks.bench.store.uri)
    )  # what rows say is kept with the store
    after = [ask(replace(talks, bench=anew), query, scope) for query, scope in queries]
    red = any(not trace.proof.recomputed for trace in after)
    other = any(a.returned != b.returned for a, b in zip(before, after, strict=True))
    assert red or other


def test_every_score_stage_is_covered(talks: Set) -> None:
    ran = {s.name for query, scope in QUESTIONS for s in ask(talks, query, scope).stages}
    assert ran >= {s.name for s in (*recipe_stages.SCORES, *recipe_stages.REST)} - {
        "min_score",
        "token_vectors",
    }


def test_rarity_of_words() -> None:
    survey = Survey(99, {"all": 99, "some": 9}, (), (), None)  # type: ignore[arg-type]
    assert survey.rarity("all") == 0
    assert survey.rarity("none") == 1
    assert survey.rarity("some") == pytest.approx(1 / 2)


def test_a_few_rows_do_not_tell_what_is_common() -> None:
    survey = Survey(2, {"port": 1, "the": 2}, (), (), None)  # type: ignore[arg-type]
    assert survey.share("the") == 0
    assert survey.rarity("port") > survey.rarity("the") > 0.7
