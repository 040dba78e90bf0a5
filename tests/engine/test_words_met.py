"""Which word met which: exact where the recipe scores by it, an approximation elsewhere, plain values everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memtui.engine import RecallRequest, open_engine
from memtui.engine.providers.static_embedder import BUNDLED_DIMS, bundled
from memtui.engine.recall import WordsMet
from memtui.engine.recall.word_matches import words_met
from tests.engine.pro_store import NOW_MS, row, write_store
from tests.quality import dialogues


def by_word(met: WordsMet) -> dict[str, str]:
    return {word.word: word.met for word in met.words}


def test_a_word_meets_its_like() -> None:
    met = words_met("which port has the gateway", "Port 8443 is the entrance of the API.", approximate=False)
    pairs = by_word(met)
    assert (pairs["port"], pairs["the"]) == ("Port", "the")
    assert met.words[0].word in ("gateway", "port")
    assert next(w for w in met.words if w.word == "port").cosine == pytest.approx(1.0, abs=1e-6)
    assert all(-1 <= word.cosine <= 1 for word in met.words)


def test_shares_add_up_to_one_and_the_words_to_the_score() -> None:
    met = words_met("how big may a pull request be", "PRs stay under 300 lines.", approximate=True)
    assert sum(word.share for word in met.words) == pytest.approx(1.0, abs=1e-6)
    assert sum(word.share * word.cosine for word in met.words) == pytest.approx(met.score)
    assert met.approximate


def test_spans_point_into_both_texts() -> None:
    met = words_met("pg_hba.conf of the café, 数据库?", "In /etc/pg_hba.conf: café 数据库", approximate=False)
    for word in met.words:
        assert met.question[slice(*word.span)] == word.word
        assert met.memory[slice(*word.met_span)] == word.met
    assert by_word(met)["pg_hba.conf"] in ("pg_hba", "conf")


@pytest.mark.parametrize("memory", ["", "🚀🚀", "\x00\x1b[31m", " "])
def test_a_memory_without_known_words_is_met_by_nothing(memory: str) -> None:
    met = words_met("any port", memory, approximate=False)
    assert {word.word for word in met.words} == {"any", "port"}
    assert met.score == pytest.approx(0.0, abs=0.35)


def test_a_question_without_known_words_meets_nothing() -> None:
    met = words_met("🚀 ???", "the port", approximate=False)
    assert (met.words, met.score) == ((), 0.0)


@pytest.mark.parametrize("weights", [(0.0, 1.0), (0.0, 0.0)])
def test_a_word_of_every_memory_weighs_nothing_and_is_shown(weights: tuple[float, float]) -> None:
    met = words_met("any port", "the port", approximate=False, weights=weights)
    pairs = {word.word: word for word in met.words}
    assert (pairs["any"].share, pairs["port"].cosine) == (0.0, pytest.approx(1.0, abs=1e-6))
    assert met.score == pytest.approx(weights[1])


def test_it_is_exact_for_memtui(tmp_path: Path) -> None:
    store = dialogues.write(tmp_path / "s", dialogues.read("nadia-theo")[0])
    engine = open_engine(store, now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    trace = engine.recall(RecallRequest(query="What is Nadia's bakery named after?", limit=5))
    scored = {c.id: s.inputs["met"] for c in trace.results for s in c.steps if s.stage == "late_interaction"}
    assert len(scored) == 5
    for memory_id, m in scored.items():
        met = trace.words_met(memory_id)
        assert not met.approximate
        assert met.score == pytest.approx(m, abs=1e-6)
        whole = trace.memories[memory_id].text
        assert whole[met.offset :] == met.memory
        assert not met.memory.startswith(("Nadia:", "Theo:"))
    document = trace.as_json(words=True)
    assert document["results"][0]["words"]["score"] == pytest.approx(scored[trace.returned[0]], abs=1e-5)
    json.dumps(document)
    assert "words" not in trace.as_json()["results"][0]


def test_it_is_an_approximation_for_other_recipes(tmp_path: Path) -> None:
    vectors = bundled().embed_passages(["The gateway listens on port 8443."])
    rows = [row("a", "The gateway listens on port 8443.", vectors[0].tolist())]
    store = write_store(tmp_path / "pro", rows, dims=BUNDLED_DIMS)
    engine = open_engine(store, now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    trace = engine.recall(RecallRequest(query="gateway port", recipe="pro/tool"))
    met = trace.words_met("a")
    assert met.approximate
    assert by_word(met) == {"gateway": "gateway", "port": "port"}
    with pytest.raises(KeyError):
        trace.words_met("nobody")


def test_hostile_text_is_cleaned_before_it_is_shown(tmp_path: Path) -> None:
    text = "port \x1b[31m8443\u202e of the gateway"
    rows = [row("a", text, (1.0, 0.0))]
    engine = open_engine(
        write_store(tmp_path / "p", rows, dims=2), now=lambda: NOW_MS, environ={}, cwd=tmp_path
    )
    trace = engine.recall(RecallRequest(query="gateway \x1b port", recipe="memtui", query_vector=[1.0, 0.0]))
    met = trace.words_met("a")
    assert "\x1b" not in json.dumps(met.as_json(), ensure_ascii=False)
    assert met.memory == trace.memories["a"].text
