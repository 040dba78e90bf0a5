"""The state of the Recall screen: every change a pure function."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memtui.engine import MemtuiError, RecallRequest
from memtui.engine.recall.request import UNSET
from memtui.engine.recall.trace import FETCH, StageSummary
from memtui.tui.screens.recall import state as reduce
from memtui.tui.screens.recall.state import Form, RecallState
from memtui.tui.trace.options import tried_words
from memtui.tui.trace.stages import waits
from tests.tui.traces import STAGES, made, missed, recorded

ASKED = RecallState(form=Form(query="deploy window", recipe="pro/agent"))


def answered(trace: Any = None) -> RecallState:
    return reduce.finish(reduce.submit(ASKED), trace if trace is not None else made())


def test_a_form_becomes_a_request_and_what_is_not_set_stays_the_recipes() -> None:
    request = Form("q", "pro/cli", 5, ("agent:main",), "fact", "manual").request()
    assert request == RecallRequest(
        "q", "pro/cli", limit=5, scopes=("agent:main",), category="fact", source="manual"
    )
    plain = Form("q").request()
    assert plain.source is UNSET
    assert plain.scopes is UNSET
    assert Form("q", everyone=True, agent="ops").request().scopes is None
    assert plain.limit is None


def test_typing_changes_the_question_and_runs_nothing() -> None:
    state = reduce.typed(ASKED, "deploy windows")
    assert state.form.query == "deploy windows"
    assert state.phase == "idle"
    assert reduce.can_ask(state)
    assert not reduce.can_ask(reduce.typed(state, "   "))


def test_a_line_that_still_shows_a_question_of_several_lines_keeps_it_whole() -> None:
    whole = reduce.edit(ASKED, query="first line\n\tsecond\x1b[2J line")
    shown = reduce.title_of(whole.form.query)
    assert "\n" not in shown
    assert "\x1b" not in shown
    assert reduce.typed(whole, shown) is whole
    assert reduce.typed(whole, shown + "!").form.query == shown + "!"


def test_while_it_runs_the_old_answer_stays_and_stages_gather() -> None:
    state = reduce.submit(answered())
    assert state.phase == "running"
    assert state.stale
    assert state.trace is not None
    assert state.stages == ()
    state = reduce.add_stage(reduce.add_stage(state, STAGES[0]), STAGES[1])
    assert [stage.name for stage in state.stages] == ["vector_ranked", "bm25_ranked"]


def test_what_is_fetched_stands_once_and_grows() -> None:
    state = reduce.submit(answered(made()))
    begins = StageSummary(
        FETCH, "fetch vectors", "operation", 100_000, 0, 0.0, note="fetching 100,000 vectors"
    )
    state = reduce.add_stage(state, begins)
    assert (state.waits, state.fetched) == ("fetching 100,000 vectors", None)
    for done in (8_192, 41_000):
        state = reduce.add_stage(state, replace(begins, n_out=done))
    assert len(state.stages) == 1
    assert state.fetched is not None
    assert state.fetched.fraction == 0.41
    assert waits(state.stages[0]) == "fetching 100,000 vectors, 41% so far"
    state = reduce.add_stage(state, STAGES[0])
    assert [stage.name for stage in state.stages] == [FETCH, "vector_ranked"]


def test_an_answer_selects_its_first_result_or_keeps_the_selected_one() -> None:
    second = replace(recorded("m-3"), rank=2)
    trace = made(candidates=(recorded(), second, missed()))
    state = answered(trace)
    assert (state.phase, state.selected, state.stale) == ("done", "m-1", False)
    again = reduce.finish(reduce.submit(reduce.select(state, "m-3")), trace)
    assert again.selected == "m-3"
    other = reduce.finish(reduce.submit(reduce.select(state, "m-2")), trace)
    assert other.selected == "m-1"


def test_an_answer_without_results_selects_the_best_that_was_dropped() -> None:
    state = answered(made(candidates=(missed(),)))
    assert state.selected == "m-2"
    assert state.shown == "results"
    assert answered(made(candidates=())).selected == ""


def test_a_failure_keeps_what_was_on_the_screen() -> None:
    state = reduce.fail(reduce.submit(answered()), MemtuiError("The disk is gone.", fix="Plug it in."))
    assert state.phase == "failed"
    assert state.trace is not None
    assert state.stale
    back = reduce.give_up(state)
    assert (back.phase, back.error) == ("done", None)
    assert reduce.give_up(reduce.fail(reduce.submit(ASKED), MemtuiError("x"))).phase == "idle"


def test_edited_says_whether_the_answer_is_to_another_question() -> None:
    state = answered()
    assert not state.edited
    assert reduce.edit(state, limit=3).edited
    assert not reduce.edit(reduce.edit(state, limit=3), limit=None).edited


def test_the_limit_goes_one_up_or_down_within_what_the_engine_allows() -> None:
    assert reduce.limit_by(ASKED, 1, 6).form.limit == 7
    assert reduce.limit_by(reduce.edit(ASKED, limit=20), 1, 6).form.limit == 20
    assert reduce.limit_by(reduce.edit(ASKED, limit=1), -1, 6).form.limit == 1


def test_stepping_through_results_stops_at_the_ends_and_comes_back_from_the_dropped() -> None:
    state = answered(made(candidates=(recorded(), replace(recorded("m-3"), rank=2), missed())))
    state = reduce.step_result(state, 1)
    assert state.selected == "m-3"
    assert reduce.step_result(state, 1).selected == "m-3"
    dropped = reduce.show(reduce.select(state, "m-2"), "dropped")
    assert reduce.step_result(dropped, 1).selected == "m-1"
    assert reduce.step_result(dropped, 1).shown == "results"


def ask_all(*queries: str) -> RecallState:
    state = ASKED
    for query in queries:
        state = reduce.finish(reduce.submit(reduce.edit(state, query=query)), made())  # type: ignore[arg-type]
    return state


def test_the_history_walks_back_and_forth_and_keeps_the_draft() -> None:
    state = reduce.typed(ask_all("one", "two", "three"), "half a quest")
    state = reduce.earlier(state)
    assert state.form.query == "three"
    assert reduce.earlier(reduce.earlier(reduce.earlier(state))).form.query == "one"
    state = reduce.later(reduce.earlier(state))
    assert state.form.query == "three"
    state = reduce.later(state)
    assert (state.form.query, state.at) == ("half a quest", None)
    assert reduce.later(state) is state


def test_from_an_answered_question_up_goes_to_the_one_before() -> None:
    assert reduce.earlier(ask_all("one", "two")).form.query == "one"


def test_a_question_asked_again_moves_to_the_end_and_the_history_has_a_bound() -> None:
    assert ask_all("one", "two", "one").history == ("two", "one")
    long = ask_all(*(f"q{i}" for i in range(reduce.MOST_HISTORY + 20)))
    assert len(long.history) == reduce.MOST_HISTORY
    assert long.history[-1] == f"q{reduce.MOST_HISTORY + 19}"
    assert reduce.earlier(ASKED) is ASKED


def test_what_is_tried_goes_with_the_question_and_recipe_it_was_tried_on() -> None:
    state = reduce.edit(RecallState(), query="one", recipe="pro/tool")
    state = reduce.turned(
        state,
        {"limit": 9, "scopes": ["global"], "retrieval.minScore": 0.2, "now_ms": 5, "query_vector": [1.0]},
    )
    assert (state.form.limit, state.form.scopes) == (9, ("global",))
    request = state.form.request()
    assert request.config == {"retrieval": {"minScore": 0.2}}
    assert (request.now_ms, request.query_vector, request.limit) == (5, [1.0], 9)
    assert state.form.own.request().config is None
    assert tried_words(state.form) == "as of 1970-01-01, a given vector, 1 setting"
    asked = reduce.typed(state, "another")
    assert dict(asked.form.tried) == {"retrieval.minScore": 0.2, "now_ms": 5}
    other = reduce.edit(state, recipe="memtui")
    assert dict(other.form.tried) == {"now_ms": 5, "query_vector": [1.0]}
    assert dict(reduce.turned(state, {"now_ms": None}).form.tried).keys() == {
        "retrieval.minScore",
        "query_vector",
    }
