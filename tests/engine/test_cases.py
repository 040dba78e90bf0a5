"""Cases: saved questions, their measures, A against B, and what a lost memory does."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from memtui.engine import Cancelled, CancelToken, MemtuiError, UsageError, explain
from memtui.engine.cases.case import Case, CaseBook, case_from, case_id
from memtui.engine.cases.golden_set import read_cases
from memtui.engine.cases.runner import (
    CaseReport,
    CaseSetup,
    compare,
    mean,
    measure,
    missed_bars,
    paired,
    run_cases,
)
from memtui.engine.cases.tuning import split, tune
from memtui.engine.engine import Engine
from memtui.engine.store.open import open_store
from tests.engine.pro_store import NOW_MS, row, write_store


def case(expected: tuple[str, ...] = ("a",), **more: object) -> Case:
    return Case(**({"id": "c", "query": "q", "expected": expected} | more))  # type: ignore[arg-type]


def test_measures_of_a_case_that_expects_memories() -> None:
    found = measure(case(("a", "b", "z")), ["x", "a", "y", "b"], ["global"] * 4, 3)
    assert found.hit == 1
    assert found.recall == pytest.approx(1 / 3)
    assert found.mrr == 0.5
    assert found.ndcg == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3) + 0.5))
    assert found.silence is None


def test_measures_of_silence_rejection_and_scope() -> None:
    silent = case(())
    assert measure(silent, [], [], 5).silence == 1
    assert measure(silent, ["a"], [None], 5).silence == 0
    scoped = case(scopes=("global",), rejected=("x",))
    found = measure(scoped, ["a", "x"], ["global", "agent:ops"], 5)
    assert (found.rejected, found.wrong_scope) == (0.5, 0.5)
    assert mean([])["hit"] is None


def test_a_judgement_replaces_an_earlier_one() -> None:
    judged = case(()).marked("m", "right").marked("m", "wrong")
    assert (judged.expected, judged.rejected) == ((), ("m",))


def test_a_grade_counts_in_the_gain_and_the_best_is_that_of_who_has_none() -> None:
    graded = case(("a", "b")).graded("b", 1)
    assert [graded.grade(each) for each in ("a", "b", "c")] == [3, 1, None]
    best = 7 + 1 / math.log2(3)
    assert measure(graded, ["a", "b"], ["global"] * 2, 3).ndcg == pytest.approx(1)
    assert measure(graded, ["b", "a"], ["global"] * 2, 3).ndcg == pytest.approx((1 + 7 / math.log2(3)) / best)
    assert measure(graded, ["b"], ["global"], 1).ndcg == pytest.approx(1 / 7)
    rejected = graded.graded("a", 0)
    assert (rejected.expected, rejected.rejected, rejected.grade("a")) == (("b",), ("a",), 0)
    assert rejected.marked("b", "right").grades == ()  # judged anew, without a word about how well
    assert case_from(rejected.as_json(), "here") == rejected
    assert "grades" not in case().as_json()
    with pytest.raises(UsageError, match="grades of line 1"):
        case_from({"query": "q", "expected": ["a"], "grades": {"a": 4}}, "line 1")


def test_a_book_survives_a_round_trip_and_two_writers(tmp_path: Path) -> None:
    book, other = CaseBook(tmp_path / "s" / "cases.json"), CaseBook(tmp_path / "s" / "cases.json")
    assert book.cases() == ()
    first = book.mark("which port?", "m1", "expected", now_ms=5, scopes=("global",))
    other.mark("another", "m2", "wrong", now_ms=6)
    again = book.mark("which port?", "m2", "right", now_ms=7, scopes=("global",))
    assert again.id == first.id
    assert [c.query for c in other.cases()] == ["which port?", "another"]
    assert other.cases()[0].expected == ("m1", "m2")
    with pytest.raises(UsageError, match="No case"):
        book.remove("zzzz")
    book.remove(first.id[:6])
    assert [c.query for c in book.cases()] == ["another"]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"cases": 3}', '{"cases": [3]}', '{"cases": [{"query": "q", "expected": "x"}]}']
)
def test_a_broken_book_is_said_and_not_overwritten(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cases.json"
    path.write_text(text)
    with pytest.raises(MemtuiError):
        CaseBook(path).mark("q", "m", "right", now_ms=1)
    assert path.read_text() == text


def test_the_paired_test_says_when_it_cannot_tell() -> None:
    rng = random.Random(1)
    assert paired([1, 0, 1], [1, 0, 1], rng).verdict == "A and B answer all 3 cases alike"
    assert paired([1], [1], rng).verdict == "A and B answer the one case alike"
    few = paired([0, 0, 0], [1, 1, 1], rng)
    assert (few.p, few.distinguishable) == (0.25, False)
    assert "not distinguishable" in few.verdict
    many = paired([0] * 12, [1] * 12, rng)
    assert many.p == pytest.approx(2 / 4096)
    assert many.verdict.startswith("B is better")
    sampled = paired([1.0] * 30, [0.0] * 30, rng)
    assert sampled.verdict.startswith("A is better")


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    rows = [
        row("port-new", "The gateway listens on port 8443", (1, 0)),
        row("port-old", "The gateway listened on port 8080", (0.6, 0.8), age=200, importance=0.1),
        row("menu", "The cafeteria serves soup", (0, 1), scope="user:ines"),
    ]
    return Engine(open_store(write_store(tmp_path / "store", rows, dims=2)), now=lambda: NOW_MS)


def test_cases_are_asked_and_a_b_compared(engine: Engine) -> None:
    cases = [
        Case("1", "gateway port", ("port-new",), query_vector=(1.0, 0.0)),
        Case("2", "soup", ("menu",), query_vector=(0.0, 1.0), scopes=("user:ines",)),
        Case("3", "gateway port", ("gone", "port-old"), query_vector=(1.0, 0.0)),
        Case("4", "gateway port", ("gone",), query_vector=(1.0, 0.0)),
    ]
    a = run_cases(cases, CaseSetup("A", "pro/tool"), engine.recall, engine.memories, k=3)
    assert a.mean["hit"] == 1
    assert a.answers[2].missing == ("gone",)
    assert a.answers[3].measures is None
    assert "gone" in a.answers[3].error
    strict = CaseSetup("B", "pro/tool", {"retrieval": {"hardMinScore": 0.999}})
    report = compare(a, run_cases(cases, strict, engine.recall, engine.memories, k=3))
    assert report.paired is not None
    assert report.paired.worse == 3
    assert [flip.case.id for flip in report.flips] == ["1", "2", "3"]
    json.dumps(report.as_json())
    assert missed_bars(a, {"hit": 0.9}) == ()
    assert missed_bars(report.other or a, {"hit": 0.9, "wrong_scope": 0.1}) == (
        "hit is 0.000, the bar is 0.9",
    )
    with pytest.raises(UsageError, match="accuracy"):
        missed_bars(a, {"accuracy": 1})


def test_a_recall_that_fails_is_said_in_its_answer(engine: Engine) -> None:
    report = run_cases(
        [
            Case("1", "x", ("menu",), query_vector=(1.0, 0.0, 0.0)),
            Case("2", "soup", ("menu",), query_vector=(0.0, 1.0)),
        ],
        CaseSetup("A", "pro/tool"),
        engine.recall,
        engine.memories,
    )
    assert "dimensions" in report.answers[0].error
    assert report.answers[1].measures is not None


@pytest.mark.slow
def test_tuning_finds_the_planted_knob_and_judges_on_cases_kept_apart(engine: Engine) -> None:
    cases = [
        Case(str(n), "gateway port", ("port-old",), query_vector=(1.0, 0.0), scopes=None) for n in range(9)
    ]
    start = CaseSetup("A", "pro/tool", {"retrieval": {"hardMinScore": 0.999}})

    def run(some: Sequence[Case], setup: CaseSetup) -> CaseReport:
        return run_cases(some, setup, engine.recall, engine.memories, k=3)

    found = tune(cases, start, run, budget=40)
    assert found.settings["hardMinScore"] <= 0.5
    assert found.train_gain > 0
    assert (found.held_out.cases, found.held_out.better) == (3, 3)
    assert found.block == {"retrieval": dict(found.settings)}
    train, held = split(cases)
    assert {c.id for c in train} | {c.id for c in held} == {c.id for c in cases}
    assert tune(cases, start, run, budget=3).stopped == "budget"
    with pytest.raises(UsageError, match="too few"):
        tune(cases[:5], start, run)
    stopped = CancelToken()
    stopped.cancel()
    with pytest.raises(Cancelled):
        tune(cases, start, run, cancel=stopped)


def test_what_is_no_case_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="line 3"):
        case_from({"expected": ["a"]}, "line 3")
    assert case_from({"query": "q"}, "line 1").id == case_id("q", None, None, "")


def test_a_case_that_only_rejects_asks_for_no_silence() -> None:
    judged = case((), rejected=("x",))
    assert not judged.silent
    found = measure(judged, ["a", "x"], ["global"] * 2, 5)
    assert (found.silence, found.hit, found.rejected) == (None, None, 0.5)
    assert judged.verdict("x") == "rejected"
    assert judged.without("x").silent


def test_a_setup_may_ask_an_older_version_and_says_so(engine: Engine) -> None:
    cases = [Case("1", "gateway port", ("port-new",), query_vector=(1.0, 0.0))]
    versions = explain.versions(engine)
    newest = CaseSetup("B", "pro/tool", table_version=versions[-1].version)
    report = run_cases(cases, newest, engine.recall, engine.memories, k=3)
    assert report.mean["hit"] == 1
    assert report.as_json()["setup"]["table_version"] == versions[-1].version
    gone = run_cases(
        cases, CaseSetup("B", "pro/tool", table_version=999), engine.recall, engine.memories, k=3
    )
    assert gone.answers[0].error


def test_a_broken_line_is_named_and_the_others_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text('{"query": "q", "expected": ["a"]}\n\nnot json\n{"expected": []}\n{"query": "r"}\n')
    found = read_cases(path)
    assert [each.query for each in found.taken] == ["q", "r"]
    assert [where for where, _ in found.rejected] == ["line 3", "line 4"]
    with pytest.raises(UsageError, match="cannot be read"):
        read_cases(tmp_path / "absent.jsonl")


def test_a_foreign_golden_set_keeps_what_it_expects(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    lines = [
        {"query": "port?", "expects": ["a", "b"], "k": 3},
        {"question": "host?", "relevant_ids": "a", "must_not": ["c"], "scope": "agent:ops", "comment": "why"},
        {"query": "graded", "relevant": [{"id": "a", "grade": 2}, {"id": "b", "grade": 0}]},
        {"query": "hints", "expects": ["a"], "hints": ["x"], "got": []},
        {"query": "unread", "should_return": ["a"]},
        {"query": "odd", "expects": [["a"]]},
        {"query": "far", "expects": ["a"], "k": 500},
        {"query": "silence", "expects": []},
    ]
    path.write_text("\n".join(json.dumps(each) for each in lines), encoding="utf-8")
    found = read_cases(path)
    port, host, graded, hints, silence = found.taken
    assert (port.expected, port.k) == (("a", "b"), 3)
    assert (host.query, host.expected, host.rejected, host.scopes, host.note) == (
        "host?", ("a",), ("c",), ("agent:ops",), "why",
    )  # fmt: skip
    assert (graded.expected, graded.rejected, graded.grades) == (("a",), ("b",), (("a", 2),))
    assert hints.expected == ("a",)
    assert silence.silent
    assert [place for place, _ in found.rejected] == ["line 5", "line 6", "line 7"]
    assert "'should_return'" in found.rejected[0][1]
    assert [(place, "'hints'" in why or "'got'" in why) for place, why in found.unused] == [
        ("line 4", True)
    ] * 2
    assert case_from(port.as_json(), "here") == port


@pytest.mark.parametrize("holder", ["", "queries"])
def test_a_golden_set_may_be_one_document(tmp_path: Path, holder: str) -> None:
    rows = [{"query": "q", "expects": ["a"]}, {"query": "r", "expects": ["b"], "k": 2}]
    path = tmp_path / "golden.json"
    path.write_text(json.dumps({holder: rows, "k": 4, "name": "n"} if holder else rows, indent=1))
    found = read_cases(path)
    assert [(each.expected, each.k) for each in found.taken] == [(("a",), 4 if holder else None), (("b",), 2)]
    assert ["'name'" in why for _, why in found.unused] == ([True] if holder else [])


def test_a_case_with_its_own_k_is_measured_by_it(engine: Engine) -> None:
    wide = Case("1", "gateway port", ("port-new",), query_vector=(1.0, 0.0))
    report = run_cases(
        [wide, replace(wide, id="2", k=1)], CaseSetup("A", "pro/tool"), engine.recall, engine.memories
    )
    assert len(report.answers[0].ids) > 1 == len(report.answers[1].ids)


@pytest.mark.slow
def test_the_own_recipe_is_searched_in_its_own_block_and_others_are_refused(engine: Engine) -> None:
    cases = [Case(str(n), "gateway port", ("port-old",), query_vector=(1.0, 0.0)) for n in range(9)]

    def run(some: Sequence[Case], setup: CaseSetup) -> CaseReport:
        return run_cases(some, setup, engine.recall, engine.memories, k=3)

    found = tune(cases, CaseSetup("A", "memtui", {"memtui": {"minScore": 3.0}}), run, budget=50)
    assert found.block.keys() == {"memtui"}
    assert found.settings["minScore"] < 3
    assert found.held_out.better == 3
    with pytest.raises(UsageError, match="no settings to search"):
        tune(cases, CaseSetup("A", "memory-lancedb"), run)
