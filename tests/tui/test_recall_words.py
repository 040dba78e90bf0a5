"""What the Recall screen says: formulas, gates, notes, empty states. Nothing that the engine can name stays unnamed."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.engine import MemtuiError, clean
from memtui.engine.recall import StageSummary, Step
from memtui.engine.recall.proof_formulas import SCORES
from memtui.engine.recall.trace import Confidence
from memtui.tui.paint.glyphs import UNICODE
from memtui.tui.screens.recall import view
from memtui.tui.screens.recall.state import RecallState
from memtui.tui.session import Session
from memtui.tui.trace import ledger, results, rule_text, stages
from tests.conftest import NOW_MS
from tests.tui.memory_engine import MemoryEngine
from tests.tui.traces import DAY, EMBED, made, memory, missed, recorded


def test_every_rule_that_the_engine_proves_has_words() -> None:
    for rule in (*SCORES, "decay_boost"):
        assert rule in rule_text.FORMULAS
        assert rule_text.formula(rule, 0.5, {"vector": 0.5, "vector_weight": 0.7})


STEPS: dict[str, dict[str, Any]] = {
    "inverse_distance": {"distance": 0.25},
    "inverse_squared_l2": {"distance": 0.5},
    "bm25_logistic": {"raw_bm25": 3.25},
    "weighted_sum": {"vector": 0.75, "bm25": 0.5, "vector_weight": 0.7, "bm25_weight": 0.3},
    "exact_match_floor": {"vector": 0.5, "bm25": 0.875, "vector_weight": 0.7, "bm25_weight": 0.3},
    "keyword_only": {"bm25": 0.625},
    "vector_only": {"vector": 0.625},
    "keyword_bump": {"vector": 0.5},
    "rerank_blend": {"reranked": 0.875, "keep": 0.5},
    "rerank_unreturned": {"keep": 0.5},
    "cosine_blend": {"cosine": 0.875},
    "recency": {"weight": 0.1, "age_days": 8, "e_folding_days": 14},
    "importance": {"importance": 0.75},
    "length": {"length": 800, "anchor": 500},
    "time_decay": {"age_days": 8, "e_folding_days": 60},
    "decay_boost": {"multiplier": 0.875, "tier": "core", "recency": 0.5},
}
BEFORE = 0.625


def worth(text: str, before: float) -> float:
    """The number that a formula on the screen gives, read as a person reads it."""
    text = re.sub(r",.*", "", text)
    keeps = re.search(r"keeps ([.\d]+)", text)
    if keeps:
        return before * float(keeps[1])
    text = text.split("  ")[0]
    text = re.sub(
        r"\b(squared distance|distance|cosine|importance|days|by keywords only|by meaning only)\b", "", text
    )
    text = text.replace(" x ", " * ").strip()
    text = re.sub(r"^x ", "* ", text)
    if text[0] in "+*/":
        text = f"{before} {text}"
    return float(eval(text, {"__builtins__": {}}, {"exp": math.exp, "log2": math.log2}))


@pytest.mark.parametrize("rule", STEPS)
def test_a_formula_on_the_screen_gives_what_the_engine_computes(rule: str) -> None:
    inputs = STEPS[rule]
    assert worth(rule_text.formula(rule, BEFORE, inputs), BEFORE) == pytest.approx(
        SCORES[rule](BEFORE, inputs), abs=1e-9
    )


def test_no_rule_with_a_formula_is_left_unchecked() -> None:
    words_only = {"substring", "recorded", "exempt", "unchanged", "deferred"}
    assert set(SCORES) - words_only == set(STEPS)


@pytest.mark.parametrize(
    ("rule", "before", "inputs", "words"),
    [
        (
            "weighted_sum",
            None,
            {"vector": 0.83, "bm25": 0.9, "vector_weight": 0.7, "bm25_weight": 0.3},
            ".7 x .83 + .3 x .9",
        ),
        ("weighted_sum", None, {"vector": 0.83, "vector_weight": 0.7, "bm25_weight": 0.3}, ".7 x .83"),
        ("exact_match_floor", None, {"bm25": 0.965}, ".92 x .965, a strong keyword match"),
        (
            "rerank_blend",
            0.852,
            {"reranked": 0.94, "keep": 0.95},
            ".6 x .94 + .4 x .852, minimum .95 of the former score",
        ),
        ("rerank_unreturned", 0.5, {"keep": 1.0}, "not returned by the reranker: keeps 1"),
        ("cosine_blend", 0.888, {"cosine": -0.12}, ".7 x .888 + .3 x cosine -.12"),
        ("recency", 0.5, {"weight": 0.1, "age_days": 8, "e_folding_days": 14}, "+ .1 x exp(-8 / 14 days)"),
        ("length", 0.5, {"length": 812, "anchor": 500}, "/ (1 + .5 x log2(812 / 500))"),
        ("length", 0.5, {"length": 112, "anchor": 500}, "112 of 500 characters: no loss"),
        ("substring", None, {"characters": 1, "field": "text"}, "1 character found as they stand in text"),
        ("a_new_rule", 0.5, {"knob": 0.25, "name": "x"}, "a new rule knob .25, name x"),
        ("dropped", 0.3, {"gate": "hard_cutoff", "value": 0.331, "limit": 0.35}, ".331 < .350 by .019"),
    ],
)
def test_formulas_have_their_numbers_filled_in(
    rule: str, before: float | None, inputs: dict[str, Any], words: str
) -> None:
    assert rule_text.formula(rule, before, inputs) == words


@pytest.mark.parametrize(
    ("reason", "value", "limit", "words"),
    [
        ("min_score", 0.281, 0.3, ".281 < .300 by .019"),
        ("rerank_window", 13.0, 12.0, "place 13 > 12"),
        ("limit", 7.0, 6.0, "place 7 > 6"),
        ("mmr_diversity", 0.913, 0.85, "cosine .913 > .85"),
        ("expired", float(NOW_MS - DAY), float(NOW_MS), "since 2026-08-31 12:00"),
        ("suppressed", float(NOW_MS), float(NOW_MS + DAY), "until 2026-09-02 12:00"),
        ("state", None, None, ""),
        ("inactive", 0.7, None, ""),
    ],
)
def test_by_how_much_a_gate_was_missed(
    reason: str, value: float | None, limit: float | None, words: str
) -> None:
    assert rule_text.missed(reason, value, limit) == words


_ANY = st.one_of(st.none(), st.booleans(), st.integers(-(10**9), 10**9), st.floats(), st.text(max_size=20))


@given(
    st.sampled_from([*rule_text.FORMULAS, "dropped", "new"]),
    st.dictionaries(
        st.sampled_from(
            [
                "vector",
                "bm25",
                "keep",
                "length",
                "anchor",
                "characters",
                "gate",
                "value",
                "cosine",
                "question",
                "question_weight",
                "words_before",
                "met",
            ]
        ),
        _ANY,
    ),
)
@settings(max_examples=200, deadline=None)
def test_no_record_is_too_odd_for_words(rule: str, inputs: dict[str, Any]) -> None:
    if rule == "weighted_sum":
        inputs = {"vector_weight": 0.7, "bm25_weight": 0.3, **inputs}
    words = rule_text.formula(rule, 0.5, inputs)
    assert "\n" not in words
    assert words == clean(words)


def test_the_dropped_are_told_by_gate_in_the_order_of_the_stages() -> None:
    early = replace(missed("m-4"), disposition="rerank_input", reason="rerank_window", score=0.6)
    gates = results.gates(made(candidates=(recorded(), missed(), early)))  # type: ignore[arg-type]
    assert [(gate.stage, gate.why) for gate in gates] == [
        ("min + window", "outside the rerank window"),
        ("hard cutoff", "below the hard cutoff"),
    ]
    assert gates[1].misses[0].missed == ".331 < .350 by .019"


def test_an_inactive_memory_says_since_when() -> None:
    gone = replace(missed(), reason="inactive", disposition="bm25_ranked")
    texts = {"m-2": memory("m-2", invalidated_at_ms=NOW_MS - 5 * DAY, active=False)}
    (gate,) = results.gates(made(candidates=(gone,), memories=texts))  # type: ignore[arg-type]
    assert gate.misses[0].missed == "replaced 5d ago"


def test_ranks_are_compared_with_the_fused_order_or_the_only_lane() -> None:
    assert stages.climbed(recorded()) == 2
    lane = replace(recorded(), sources={"vector": {"score": 0.7, "rank": 4}}, rank=6)
    assert stages.climbed(lane) == -2
    assert stages.climbed(missed()) is None


def test_words_of_a_question_leave_out_what_says_nothing() -> None:
    assert results.words_of("Which port do I use for the bastion?") == ("port", "use", "bastion")
    assert results.words_of("?! ...") == ()
    assert results.words_of("部署窗口") == ("部署窗口",)
    assert len(results.words_of("w" + " w".join(str(i) for i in range(10_000)))) <= results.MOST_WORDS


def state_of(**values: Any) -> RecallState:
    return RecallState(**values)


def ready() -> Session:
    engine = MemoryEngine(10)
    return Session(phase="ready", engine=engine, info=engine.info)  # type: ignore[arg-type]


def test_the_gate_that_skips_a_question_is_told_with_a_way_to_ask_on_purpose() -> None:
    skip = StageSummary(
        "adaptive_gate", "adaptive gate", "filter", 1, 0, 0.0, {"adaptive_gate": 1}, "skipped: greeting"
    )
    gone = replace(missed(), disposition="adaptive_gate", reason="adaptive_gate")
    said = view.nothing(made(stages=(*made().stages, skip), candidates=(gone,)), ["pro/agent", "pro/tool"])  # type: ignore[arg-type]
    assert said.headline == "The agent would not have asked this."
    assert ("gate", "skipped: greeting") in said.facts
    assert [choice.value for choice in said.choices if choice.name == "recipe"] == ["pro/tool"]


def test_nothing_found_offers_to_drop_each_filter() -> None:
    said = view.nothing(made(candidates=(), filters={"scopes": ["a"], "category": "fact"}), [])  # type: ignore[arg-type]
    assert said.headline == "No search found anything."
    assert {choice.name for choice in said.choices} == {"scope", "category", "ask"}


def test_all_dropped_says_by_what() -> None:
    said = view.nothing(made(candidates=(missed(),)), [])  # type: ignore[arg-type]
    assert "the only candidate was dropped" in said.headline
    assert ("hard cutoff", "1 below the hard cutoff") in said.facts


def test_a_failure_says_what_is_wrong_and_what_to_do() -> None:
    state = state_of(phase="failed", error=MemtuiError("The disk is gone.", fix="Plug it in."))
    said = view.results_state(state, ready(), ())
    assert said is not None
    assert ("reason", "The disk is gone.") in said.facts
    assert ("fix", "Plug it in.") in said.facts
    assert view.results_state(state_of(phase="done", trace=made()), ready(), ()) is None


def test_an_empty_store_says_so_and_leads_to_another() -> None:
    session = replace(ready(), info=MemoryEngine(0).info)
    said = view.results_state(state_of(), session, ())
    assert said is not None
    assert "no memories yet" in said.headline
    assert [choice.name for choice in said.choices] == [
        "add", "import", "capture", "connect", "open", "demo",
    ]  # fmt: skip


def test_the_ledger_has_every_stage_with_its_rule() -> None:
    page = ledger.page(made(), recorded(), UNICODE, NOW_MS)  # type: ignore[arg-type]
    assert [entry.stage for entry in page.entries] == [
        "vector", "bm25", "fusion", "min + window", "rerank", "length", "decay", "hard cutoff", "limit",
    ]  # fmt: skip
    assert page.entries[3].rule == "passes: minimum .300, the first 12 go to the reranker"
    assert page.entries[4].rule == ".6 x .94 + .4 x .726, minimum .5 of the former score"
    below = "\n".join(line.plain for line in page.below(100))
    assert "returned at #1" in below
    assert "42 steps of this recall recomputed" in below
    stopped = ledger.page(made(), missed(), UNICODE, NOW_MS).entries[-1]  # type: ignore[arg-type]
    assert stopped.stopped
    assert stopped.rule == "below the hard cutoff: .331 < .350 by .019"


def test_notes_begin_with_the_warnings() -> None:
    trace = made(warnings=("keyword only: there is no embedder",), operations=(EMBED,))
    said = [note.plain for note in results.notes(trace, UNICODE, "v")]  # type: ignore[arg-type]
    assert said == ["! keyword only: there is no embedder", "v 1 dropped: 1 hard cutoff"]


def test_the_account_says_which_words_stand_in_the_memory() -> None:
    words = results.matched("Which deploy window on friday? windowing", memory("m-1"))
    assert words is not None
    assert words.plain == "has deploy window   lacks friday windowing"
    assert results.matched("?! ...", memory("m-1")) is None
    assert results.matched("部署", memory("m-1", "新的部署窗口")).plain == "has 部署"  # type: ignore[union-attr]


def test_an_expanded_question_is_told_and_neighbours_are_listed() -> None:
    trace = made(
        bm25_query="deploy window friday release ship",
        neighbors={"m-1": [{"id": "n-1", "score": 0.61, "rank": 2}]},
    )
    assert results.notes(trace, UNICODE, "v")[-1].plain == "keywords asked: deploy window friday release ship"  # type: ignore[arg-type]
    below = "\n".join(line.plain for line in ledger.page(trace, recorded(), UNICODE, NOW_MS).below(80))  # type: ignore[arg-type]
    assert "NEIGHBOURS ATTACHED\n  .610 #2  n-1" in below


def test_the_settings_name_every_key_of_a_configuration() -> None:
    config = {
        "retrieval": {"mode": "hybrid", "minScore": 0.3, "odd": [1, {"a": None}]},
        "decay": None,
        "limit": 5,
    }
    told = {line.name: line for section in view.sections(config) for line in section.lines}
    assert set(told) == {"mode", "minScore", "retrieval.odd", "decay", "limit"}
    assert told["minScore"].value == ".3"
    assert told["decay"].value == "off"
    assert all(line.meaning for name, line in told.items() if name in ("mode", "minScore", "decay"))


def test_a_gate_passed_says_what_it_asked() -> None:
    governance = StageSummary("governance", "governance", "filter", 6, 6, 0.0)
    step = Step("governance", 0.8, 0.8, 1, 1, "unchanged", {"state": "confirmed, durable"})
    assert results.asked(step, governance) == "confirmed, durable"
    near = Step("mmr_diversity", 0.8, 0.8, 1, 6, "deferred", {"cosine": 0.91, "threshold": 0.85})
    assert results.asked(near, governance) == "cosine .91 with a better one, above .85: to the end"


def test_the_confidence_says_what_it_is_made_of() -> None:
    told = Confidence("m1", 0.83, 0.714, 0.9, 0.2)
    assert results.confidence_reasons(told) == "words matched .714, weight .900"
    assert told.why == "71% of the question's words matched, 90% of all weight gathered"
    beside = replace(told, beside=True)
    assert results.confidence_reasons(beside) == "words matched .714, weight .900, neighbours too"
    assert beside.why == f"{told.why}, what was said beside it came back too"
    alone = replace(told, beside=False)
    assert results.confidence_reasons(alone) == "words matched .714, weight .900, no neighbours"
    assert alone.why == f"{told.why}, nothing that was said beside it came back too"
    other = replace(told, other=(0.2, 0.1))
    assert results.confidence_reasons(other) == "words matched .714, weight .900, another's fits better"
    assert other.why == f"{told.why}, what another than the one it names has said fits it better"
    assert results.confidence_reasons(replace(told, other=(0.2, 0.0))) == results.confidence_reasons(told)
    few = replace(told, few=True)
    assert results.confidence_reasons(few) == "words matched .714, few candidates"
    assert (
        few.why == "71% of the question's words matched; too few candidates to weigh them against each other"
    )
