"""Scores taken apart: what is painted adds up, and what does not is said."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from memtui.engine import Engine, RecallRequest
from memtui.engine.recall import Candidate, Proof, Step
from memtui.tui.paint.glyphs import ASCII, UNICODE
from memtui.tui.paint.waterfall import Waterfall, WaterfallStep, badge, fall_rows, number, stacked, summary
from memtui.tui.trace import results, rule_text, stages
from tests.tui.traces import candidates, made, missed, recorded

MOVES = (
    WaterfallStep("vector", 0.0, 0.58, "$stage-vector", ".7 x .829"),
    WaterfallStep("bm25", 0.58, 0.85, "$stage-lexical", ".3 x .9"),
    WaterfallStep("rerank", 0.85, 0.90, "$stage-rerank", "", "#3 → #1"),
    WaterfallStep("length", 0.90, 0.90, "$stage-boost"),
    WaterfallStep("decay", 0.90, 0.81, "$stage-boost", "x .9"),
)
FALL = Waterfall(MOVES, 0.81)


def plain(fall: Waterfall, width: int, **options: object) -> str:
    return "\n".join(row.plain.rstrip() for row in fall_rows(fall, width, **options))  # type: ignore[arg-type]


def test_each_step_starts_where_the_one_before_ended() -> None:
    assert plain(FALL, 78) == "\n".join(
        [
            " vector         .580 █████████████████▍ +.580              .7 x .829",
            " bm25           .850                  ████████▌ +.270      .3 x .9",
            " rerank         .900                           █ +.050                #3 → #1",
            " length         .900                             =",
            " decay          .810                         ░░░ -.090     x .9",
            " final          .810 ████████████████████████▎      axis to 1",
        ]
    )


def test_ascii_has_no_character_outside_ascii() -> None:
    text = plain(replace(FALL, moves=tuple(replace(m, places="") for m in MOVES)), 78, glyphs=ASCII)
    assert text.isascii()
    assert "###" in text
    assert "--" in text


def test_the_missed_limit_stands_on_the_axis() -> None:
    fall = stages.fall(made(), missed())  # type: ignore[arg-type]
    final = plain(fall, 90).split("\n")[-1]
    assert "┊ needed .350" in final
    bar, mark = final.index("█"), final.index("┊")
    assert mark > final.rindex("█", bar, mark)


@given(candidates(), st.integers(40, 160))
@settings(max_examples=150, deadline=None)
def test_whatever_adds_up_is_painted_so_that_it_adds_up(candidate: Candidate, width: int) -> None:
    fall = stages.fall(made(), candidate)  # type: ignore[arg-type]
    assert fall.adds_up
    shown = [0.0 if delta == "=" else float(delta) for delta in fall.printed()]
    assert sum(shown) == pytest.approx(float(number(fall.final, fall.digits)), abs=1e-9)
    rows = fall_rows(fall, width)
    assert len(rows) == len(fall.moves) + 1
    assert {row.cell_length for row in rows} == {width}
    assert badge(fall, proved=True).plain == "✓ verified"


@given(candidates(), st.floats(1e-6, 0.5), st.data())
@settings(max_examples=100, deadline=None)
def test_a_wrong_number_anywhere_is_seen(candidate: Candidate, by: float, data: st.DataObject) -> None:
    fall = stages.fall(made(), candidate)  # type: ignore[arg-type]
    at = data.draw(st.integers(0, len(fall.moves)))
    if at == len(fall.moves):
        wrong = replace(fall, final=fall.final + by)
    else:
        bent = replace(fall.moves[at], after=fall.moves[at].after + by)
        wrong = replace(fall, moves=(*fall.moves[:at], bent, *fall.moves[at + 1 :]))
    assert not wrong.adds_up
    assert "off by" in badge(wrong, proved=True).plain


def test_a_jump_between_two_steps_is_seen_even_when_the_ends_agree() -> None:
    jump = Waterfall(
        (
            WaterfallStep("fusion", 0, 0.5, ""),
            WaterfallStep("decay", 0.6, 0.7, ""),
            WaterfallStep("length", 0.6, 0.5, ""),
        ),
        0.5,
    )
    assert jump.difference == pytest.approx(0.2)
    assert not jump.adds_up


def test_the_proof_of_the_engine_decides_too() -> None:
    good = stages.fall(made(), recorded())  # type: ignore[arg-type]
    assert results.trust(made(), recorded(), good, UNICODE).plain == "✓ verified"  # type: ignore[arg-type]
    broken = made(proof=Proof(False, 0.031, 42, ("m-1, decay_boost: gives .8, recorded is .831",)))
    assert "differs by 0.031" in results.trust(broken, recorded(), good, UNICODE).plain  # type: ignore[arg-type]
    elsewhere = made(proof=Proof(False, 0.031, 42, ("m-9, decay_boost: gives .8, recorded is .831",)))
    assert results.trust(elsewhere, recorded(), good, UNICODE).plain == "✓ verified"  # type: ignore[arg-type]
    assert "does not add up" in results.notes(elsewhere, UNICODE, "v")[0].plain  # type: ignore[arg-type]


def test_a_weighted_fusion_shows_its_lanes() -> None:
    moves = stages.fall(made(), recorded()).moves  # type: ignore[arg-type]
    assert [m.title for m in moves] == ["vector", "bm25", "rerank", "length", "decay"]
    assert moves[0].formula == ".7 x .745"
    assert moves[1].before == pytest.approx(0.7 * 0.744907382)


def test_a_clamped_fusion_shows_what_was_cut_off() -> None:
    step = Step(
        "fused",
        None,
        1.0,
        None,
        1,
        "weighted_sum",
        {"vector": 1, "bm25": 1, "vector_weight": 0.7, "bm25_weight": 0.6},
    )
    candidate = replace(recorded(), steps=(step,), score=1.0)
    fall = stages.fall(made(), candidate)  # type: ignore[arg-type]
    assert [m.title for m in fall.moves] == ["vector", "bm25", "clamp"]
    assert fall.adds_up


def test_what_was_stopped_in_its_lane_has_no_account_and_no_badge() -> None:
    gone = replace(
        missed(),
        steps=(Step("vector_ranked", None, None, None, None, "dropped", {"gate": "inactive", "value": 0.7}),),
        score=0.7,
    )
    fall = stages.fall(made(), gone)  # type: ignore[arg-type]
    assert fall.moves == ()
    assert results.trust(made(), gone, fall, UNICODE).plain == ""  # type: ignore[arg-type]


@given(candidates(), st.integers(1, 120))
@settings(max_examples=100, deadline=None)
def test_the_stacked_bar_is_as_long_as_the_score(candidate: Candidate, width: int) -> None:
    fall = stages.fall(made(), candidate)  # type: ignore[arg-type]
    bar = stacked(fall, width).plain
    assert cell_len(bar) <= width
    solid = len(bar) - bar.count(UNICODE.loss)
    gains = [m for m in fall.moves if m.after > m.before]
    peak = sum(m.after - m.before for m in gains)
    if width >= 40 and peak > 0.1:
        slack = len(gains) + 2
        assert abs(solid - fall.final / max(fall.top, peak) * width) <= slack


def test_stacked_and_summary_on_one_line() -> None:
    assert stacked(FALL, 40).plain == "███████████████████████▓▓▓▓▓▓▓▓▓░░░░"
    assert summary(FALL, 78).plain == "vector +.580  bm25 +.270  rerank +.050  decay -.090  = .810"
    short = summary(FALL, 40).plain
    assert cell_len(short) <= 40
    assert short.endswith("= .810")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.914, ".914"),
        (1.0, "1.000"),
        (0.0, ".000"),
        (-0.0004, ".000"),
        (-0.0234, "-.023"),
        (12.3456, "12.346"),
    ],
)
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
@settings(max_examples=60, deadline=None)
def test_no_number_breaks_a_painter(a: float, b: float) -> None:
    fall = Waterfall(
        (WaterfallStep("fusion", 0, a, "$stage-fuse"), WaterfallStep("decay", a, b, "$stage-boost")), b
    )
    for row in fall_rows(fall, 80):
        assert row.cell_length == 80
        assert not re.search(r"[\x00-\x1f\x7f]", row.plain)
    assert cell_len(stacked(fall, 80).plain) <= 80
    assert cell_len(summary(fall, 80).plain) <= 80


@pytest.mark.parametrize(
    "query", ["Which port do I use for SSH to the bastion?", "张梅现在用什么主题？", "proj:atlas deploy"]
)
def test_every_candidate_of_real_recalls_adds_up(demo_engine: Engine, query: str) -> None:
    seen = 0
    for recipe in demo_engine.recipes():
        trace = demo_engine.recall(RecallRequest(query, recipe=recipe.name))
        assert trace.proof.recomputed
        for candidate in trace.candidates:
            fall = stages.fall(trace, candidate)
            assert fall.adds_up, (recipe.name, candidate)
            assert {step.rule for step in candidate.steps} <= {*rule_text.FORMULAS, "dropped"}
            assert results.trust(trace, candidate, fall, UNICODE).plain in ("", "✓ verified")
            assert all(row.cell_length == 100 for row in fall_rows(fall, 100))
            seen += 1
    assert seen > 10
