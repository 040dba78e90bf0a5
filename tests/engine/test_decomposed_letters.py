"""Texts in decomposed letters, as files of macOS have them: found by the words that people type, and the other way."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Literal

import pytest

from memtui.engine import Engine, ListQuery, RecallRequest, changes, explain, open_engine
from memtui.engine.explain.question_history import History
from memtui.engine.store import word_matrix
from memtui.engine.witness import likely_about, stays_elsewhere
from tests.engine.pro_store import NOW_MS, row, write_store

Form = Literal["NFC", "NFD"]

TEXTS = (
    "Das Café Müller öffnet um acht.",
    "Der Schlüssel liegt unter der Matte.",
    "학점인정 신청은 금요일까지.",
    "ガレージの鍵は棚の上にある.",
)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("fts", [True, False])
def test_a_word_is_found_in_both_forms(tmp_path: Path, form: str, fts: bool) -> None:
    rows = [
        row(str(n), unicodedata.normalize(form, text), (1, n))  # type: ignore[arg-type]
        for n, text in enumerate((*TEXTS, "Nothing of the kind stands here"))
    ]
    write_store(tmp_path / "store", rows, dims=2, fts=fts)
    engine = open_engine(tmp_path / "store", now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    asked = {
        "Café": "0",
        "Müller": "0",
        "Schlüssel": "1",
        "학점인정": "2",
        "ガレージ": "3",
        '"Café Müller"': "0",
    }
    for word, wanted in asked.items():
        for typed in {word, unicodedata.normalize("NFD", word)}:
            found = engine.view(ListQuery(typed))
            assert [each.id for each in engine.page(found, 0, 10)] == [wanted], (
                typed.encode("unicode-escape"),
                form,
            )
    if fts or form == "NFD":
        assert [each.id for each in engine.page(engine.view(ListQuery("schlussel")), 0, 10)] == ["1"]
    assert len(engine.page(engine.view(ListQuery("kind")), 0, 10)) == 1


def _store(tmp_path: Path, form: Form, *, fts: bool, name: str = "store") -> Engine:
    texts = (*TEXTS, "Nothing of the kind stands here", "Mu says hello to everybody")
    rows = [row(str(n), unicodedata.normalize(form, text), (1, n)) for n, text in enumerate(texts)]
    write_store(tmp_path / name, rows, dims=2, fts=fts)
    engine = open_engine(tmp_path / name, now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    engine.load_catalog()
    return engine


ASKED = {"Café": "0", "Müller": "0", "Schlüssel": "1", "학점인정": "2", "ガレージ": "3"}


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("way", ["in memory", "by the library", "without an index"])
def test_the_keyword_lane_counts_a_word_in_both_forms(
    tmp_path: Path, form: Form, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "by the library":
        monkeypatch.setattr(word_matrix, "MOST_ROWS", 0)
    fts = way != "without an index"
    engine = _store(tmp_path, form, fts=fts)
    for word, wanted in ASKED.items():
        raw = set()
        for typed in (word, unicodedata.normalize("NFD", word)):
            trace = engine.recall(RecallRequest(typed, recipe="memtui"))
            best = min(trace.pool.bm25.items(), key=lambda hit: hit[1].rank, default=None)
            assert best is not None, (word, form, way)
            assert trace.pool.rows[best[0]].id == wanted
            raw.add(round(best[1].score, 6))
            verdict = explain.why_not(engine, wanted, RecallRequest(typed, recipe="memtui"), changes=False)
            told = [rung.facts for rung in verdict.ladder if "shared_words" in rung.facts]
            assert word == "ガレージ" or not fts or (told and all(each["shared_words"] for each in told)), (
                word,
                form,
                way,
            )
        assert len(raw) == 1, f"{word} counts differently as it is typed composed or decomposed"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_scores_of_words_do_not_depend_on_the_form(tmp_path: Path, form: Form) -> None:
    scores = []
    for name, stored in (("composed", "NFC"), ("other", form)):
        engine = _store(tmp_path, stored, fts=True, name=name)  # type: ignore[arg-type]
        trace = engine.recall(RecallRequest("Wo liegt der Schlüssel von Müller?", recipe="memtui"))
        found = {trace.pool.rows[at].id: round(hit.score, 6) for at, hit in trace.pool.bm25.items()}
        scores.append(found)
    assert scores[0] == scores[1]
    assert set(scores[0]) == {"0", "1"}, "no row for the letters that a mark cuts off"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_name_is_forgotten_in_both_forms(tmp_path: Path, form: Form) -> None:
    engine = _store(tmp_path, form, fts=True)
    stored = unicodedata.normalize(form, TEXTS[0])
    for name in {"Jörg Müller", unicodedata.normalize("NFD", "Jörg Müller")}:
        likely = likely_about(engine, ["4"], name)
        assert [each.memory.id for each in likely if each.word] == ["0"], "Mu is another name"
        assert changes.holds_words(stored, "", name)
        assert changes.holds_words(stored, name.split()[1], name)
        assert not changes.holds_words("Mu says hello", "", name)
        assert not changes.holds_words(stored, "", "Mu"), "a letter with its mark is no end of a word"


@pytest.mark.parametrize("written", ["NFC", "NFD"])
@pytest.mark.parametrize("name", ["Özil", "Émile Ångström"])
def test_what_stays_elsewhere_is_seen_in_both_forms(tmp_path: Path, written: Form, name: str) -> None:
    own = tmp_path / "state"
    own.mkdir()
    (own / "cases.json").write_text(
        f'{{"query": "{unicodedata.normalize(written, name)}"}}', encoding="utf-8"
    )
    (own / "escaped.json").write_text(
        json.dumps({"q": unicodedata.normalize(written, name)}), encoding="utf-8"
    )
    for typed in (name, name.lower(), unicodedata.normalize("NFD", name)):
        found = " ".join(stays_elsewhere(typed, {}, tmp_path, own))
        assert "cases.json" in found, (typed, written)
        assert "escaped.json" in found, (typed, written)
    history = History(tmp_path / "questions.sqlite")
    asked = RecallRequest(unicodedata.normalize(written, f"who is {name}?"), recipe="pro/cli")
    history.add(_store(tmp_path, written, fts=True).recall(asked), store="s", asked_ms=NOW_MS)
    assert history.forget_words(unicodedata.normalize("NFD", name.upper())) == 1
