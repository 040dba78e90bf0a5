"""The effect of a change set on recall: the same answers as after it is applied, and nothing of the store written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memtui.engine import (
    Cancelled,
    CancelToken,
    Engine,
    RecallRequest,
    RefusedError,
    changes,
    explain,
    open_engine,
)
from memtui.engine.cases.case import Case, case_id
from memtui.engine.demo import build_demo
from memtui.engine.explain.question_history import History
from tests.conftest import NOW_MS, tree_hash

QUESTIONS = ("Which port do I use for SSH to the bastion?", "Who owns the deploy rota?", "zebra crossing")
SCOPES = ("global", "agent:ops", "project:atlas", "project:mango")


def asked(question: str) -> RecallRequest:
    return RecallRequest(question, scopes=SCOPES)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_demo(tmp_path_factory.mktemp("demo") / "store", now_ms=NOW_MS)


def opened(folder: Path) -> Engine:
    engine = open_engine(
        folder, now=lambda: NOW_MS, environ={}, cwd=folder, writable=True, state=folder.parent / "state"
    )
    engine.load_catalog()
    engine.load_metadata()
    return engine


@pytest.fixture
def engine(demo: Path, tmp_path: Path) -> Engine:
    return opened(Path(shutil.copytree(demo, tmp_path / "store")))


def remembered(engine: Engine, folder: Path) -> History:
    history = History(folder / "questions.db")
    for question in QUESTIONS:
        explain.remember(engine, engine.recall(asked(question)), history)
    return history


def answers(engine: Engine) -> dict[str, tuple[str, ...]]:
    return {question: tuple(engine.recall(asked(question)).returned) for question in QUESTIONS}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["delete", "archive", "text", "scope", "merge"])
def test_what_is_foretold_is_what_comes(engine: Engine, tmp_path: Path, kind: str) -> None:
    history, before = remembered(engine, tmp_path), answers(engine)
    first, second = before[QUESTIONS[0]][:2]
    planned = {
        "delete": lambda: changes.plan_forget(engine, [first], hard=True),
        "archive": lambda: changes.plan_edit(engine, [first], {"state": "archived"}),
        "text": lambda: changes.plan_edit(
            engine, [first], {"text": "A zebra crossing is painted at the yard."}
        ),
        "scope": lambda: changes.plan_edit(
            engine, [first], {"scope": "project:elsewhere", "importance": "0"}
        ),
        "merge": lambda: changes.plan_merge(engine, [first, second], losers="delete"),
    }[kind]()
    case = Case(case_id(QUESTIONS[0], SCOPES, None, ""), QUESTIONS[0], expected=(first,), scopes=SCOPES)
    untouched = tree_hash(tmp_path / "store")
    effect = explain.effect_on_recall(engine, planned, [case], history)
    assert tree_hash(tmp_path / "store") == untouched
    changes.apply(engine, planned, confirmed=True)
    engine.refresh()
    after = answers(engine)
    foretold = {each.query: each for each in effect.changed}
    changed = {question for question in QUESTIONS if before[question] != after[question]}
    assert effect.asked == 3, "the case is one of the questions that were asked last: it is asked once"
    assert changed
    assert foretold.keys() == changed
    for question in changed:
        assert foretold[question].before == before[question]
        assert foretold[question].after == after[question]
    (saved,) = (each for each in effect.changed if each.saved)
    assert saved.lost == (() if first in after[QUESTIONS[0]] else (first,))


def test_a_change_that_recall_does_not_see_changes_no_answer(engine: Engine, tmp_path: Path) -> None:
    history = remembered(engine, tmp_path)
    seen = _seen(engine)
    unseen = next(memory for memory in engine.ids(engine.view(_everything())) if memory not in seen)
    effect = explain.effect_on_recall(
        engine, changes.plan_edit(engine, [unseen], {"pinned": "yes"}), [], history
    )
    assert (effect.asked, effect.changed) == (3, ())


def _everything():
    from memtui.engine import ListQuery

    return ListQuery()


def _seen(engine: Engine) -> set[str]:
    return {each for ids in answers(engine).values() for each in ids}


def test_without_questions_nothing_is_copied(engine: Engine, tmp_path: Path) -> None:
    planned = changes.plan_edit(engine, [engine.ids(engine.view(_everything()))[0]], {"pinned": "yes"})
    assert explain.effect_on_recall(engine, planned, [], History(tmp_path / "none.db")).asked == 0


def test_it_can_be_cancelled_and_reports_progress(engine: Engine, tmp_path: Path) -> None:
    history, token, seen = remembered(engine, tmp_path), CancelToken(), []
    planned = changes.plan_edit(engine, [engine.ids(engine.view(_everything()))[0]], {"importance": "0"})

    def report(progress: object) -> None:
        seen.append(progress)
        token.cancel()

    with pytest.raises(Cancelled):
        explain.effect_on_recall(engine, planned, [], history, on_progress=report, cancel=token)
    assert len(seen) == 1


def test_a_plan_with_conflicts_cannot_be_tried(engine: Engine, tmp_path: Path) -> None:
    history = remembered(engine, tmp_path)
    planned = changes.plan_edit(engine, ["no-such-memory"], {"importance": "0"})
    with pytest.raises(RefusedError, match="conflicts"):
        explain.effect_on_recall(engine, planned, [], history)


def test_changed_words_in_an_answer_are_a_changed_answer(engine: Engine, tmp_path: Path) -> None:
    question = QUESTIONS[0]
    before = engine.recall(asked(question))
    first = before.returned[0]
    old = next(row.text for row in before.pool.rows if row.id == first)
    new = old.replace("2222", "8443")
    assert new != old
    planned = changes.plan_edit(engine, [first], {"text": new})
    effect = explain.effect_on_recall(engine, planned, [], remembered(engine, tmp_path))
    change = next(each for each in effect.changed if each.query == question)
    (row,) = change.reworded
    assert (row.id, row.rank_before) == (first, 1)
    assert (row.before, row.after) == (old, new)
    assert row.as_json()["after"] == new
    changes.apply(engine, planned, confirmed=True)
    engine.refresh()
    after = engine.recall(asked(question))
    assert change.after == after.returned
    assert row.rank_after == after.returned.index(first) + 1
    assert {each.id for each in change.moved} == {
        each
        for each in after.returned
        if each in before.returned and after.returned.index(each) != before.returned.index(each)
    }


def test_what_only_the_prompt_shows_is_a_changed_answer_too(engine: Engine, tmp_path: Path) -> None:
    question = QUESTIONS[0]
    first = engine.recall(asked(question)).returned[0]
    planned = changes.plan_edit(engine, [first], {"l0_abstract": "Ask Tomas for the port."})
    change = next(
        each
        for each in explain.effect_on_recall(engine, planned, [], remembered(engine, tmp_path)).changed
        if each.query == question
    )
    row = next(each for each in change.rows if each.id == first)
    assert "Ask Tomas for the port." in row.after
    assert "Ask Tomas for the port." not in row.before


def test_the_cases_are_counted_before_and_after(engine: Engine, tmp_path: Path) -> None:
    ids = engine.recall(asked(QUESTIONS[0])).returned
    cases = [
        Case("right", QUESTIONS[0], expected=ids[:1], scopes=SCOPES),
        Case("rid", QUESTIONS[0] + " ", rejected=ids[:1], scopes=SCOPES),
        Case("second", QUESTIONS[0] + "  ", expected=ids[1:2], scopes=SCOPES),
    ]
    planned = changes.plan_forget(engine, [ids[0]], hard=True)
    kept = explain.effect_on_recall(engine, planned, cases, History(tmp_path / "none.db")).cases
    assert (kept.cases, kept.right_before, kept.right_after) == (3, 2, 2)
    assert kept.worse == (cases[0].query,)
    assert kept.down == ()
    assert kept.as_json()["right_after"] == 2
