"""The effect of a change on recall, beside its preview: said when it is known, waited for by nobody."""

from __future__ import annotations

import shutil
import threading
from functools import partial
from pathlib import Path

import pytest

from memtui.engine import CancelToken, MemtuiError, RecallRequest, changes, explain
from memtui.engine.changes import RecallEffect
from memtui.engine.explain import History
from memtui.paths import questions_file
from memtui.tui.change_request import effect_on_recall
from memtui.tui.dialogs.change_preview import ChangePreview, PreviewAnswer
from memtui.tui.widgets.text_lines import DialogKeys
from tests.tui.driving import press, screen_text, settle, type_text, until
from tests.tui.test_changing import browsing, choose, current_id, pro_store, said


@pytest.mark.slow
async def test_the_preview_says_which_questions_get_other_answers(demo_store, tmp_path, monkeypatch):
    store = Path(shutil.copytree(demo_store, tmp_path / "store"))
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    async with browsing(store) as (app, pilot):
        engine = app.session.engine
        assert engine is not None
        trace = engine.recall(RecallRequest("Which port do I use for SSH to the bastion?"))
        explain.remember(engine, trace, History(questions_file()))
        await press(pilot, "slash")
        await type_text(pilot, f"id:{trace.returned[0]}")
        await press(pilot, "enter", "c", "a")
        await choose(pilot, app, "archived")
        assert isinstance(app.screen, ChangePreview)
        text = screen_text(app)
        assert "EFFECT ON RECALL" in text
        assert "Which port do I use for SSH" in text
        assert "1 of 1 answer changes" in text
        assert "before" in text
        assert "now" in text
        await press(pilot, "enter")
        assert "1 memory changed" in said(app)


async def test_the_effect_never_holds_up_applying(demo_store, tmp_path):
    asked, go_on = threading.Event(), threading.Event()

    def effect(plan: object, cancel: CancelToken, report: object) -> RecallEffect:
        asked.set()
        assert go_on.wait(120)
        raise MemtuiError("It was never needed.")

    store = pro_store(tmp_path / "store")
    async with browsing(store) as (app, pilot):
        engine = app.session.engine
        assert engine is not None
        plan = changes.plan_edit(engine, [current_id(app)], {"importance": "0.9"})
        answers: list[PreviewAnswer | None] = []
        app.push_screen(ChangePreview(plan, effect=effect), answers.append)
        await until(pilot, asked.is_set)
        await pilot.press("enter")
        await until(pilot, lambda: bool(answers))
        go_on.set()
        assert answers == [PreviewAnswer("apply", plan)]


@pytest.mark.slow
async def test_changed_words_of_an_answer_are_shown_old_and_new(demo_store, tmp_path, monkeypatch):
    store = Path(shutil.copytree(demo_store, tmp_path / "store"))
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    async with browsing(store) as (app, pilot):
        engine = app.session.engine
        assert engine is not None
        trace = engine.recall(RecallRequest("Which port do I use for SSH to the bastion?"))
        explain.remember(engine, trace, History(questions_file()))
        first = trace.returned[0]
        text = next(row.text for row in trace.pool.rows if row.id == first)
        plan = changes.plan_edit(engine, [first], {"text": text.replace("2222", "8443")})
        app.push_screen(ChangePreview(plan, effect=partial(effect_on_recall, engine)))
        await until(pilot, lambda: "1 of 1 answer changes" in screen_text(app))
        shown = screen_text(app).partition("EFFECT ON RECALL")[2]
        assert "2222" in shown
        assert "8443" in shown
        assert shown.index("2222") < shown.index("8443")  # before at the left, now at the right


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_no_key_of_a_preview_moves_while_its_answers_arrive(demo_store, tmp_path, size):
    go_on = threading.Event()

    def effect(plan: object, cancel: CancelToken, report: object) -> RecallEffect:
        assert go_on.wait(120)
        raise MemtuiError("The service of the answers said no. " * 20)

    store = pro_store(tmp_path / "store")
    async with browsing(store, size=size) as (app, pilot):
        engine = app.session.engine
        assert engine is not None
        plan = changes.plan_edit(engine, [current_id(app)], {"importance": "0.9"})
        app.push_screen(ChangePreview(plan, effect=effect))
        await until(pilot, lambda: "asking" in screen_text(app))
        await pilot.pause(0.1)
        keys = app.screen.query_one(DialogKeys)
        before = keys.region
        go_on.set()
        await until(pilot, lambda: "The service of the answers" in screen_text(app))
        await settle(pilot)
        assert keys.region == before


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_every_way_out_of_a_preview_is_whole(demo_store, tmp_path, size):
    store = pro_store(tmp_path / "store")
    async with browsing(store, size=size) as (app, pilot):
        engine = app.session.engine
        assert engine is not None
        ids = [f"row-{i:05}-aaaa-bbbb-cccc-dddddddddddd" for i in range(3)]
        plan = changes.plan_edit(engine, ids, {"importance": "0.9"})
        app.push_screen(
            ChangePreview(plan, staging="offered", turns=True, locked=True, way_out="back to the editor")
        )
        await settle(pilot)
        text = " ".join(screen_text(app).split())
        keys = app.screen.query_one(DialogKeys)
        assert keys.region.height == keys.rows
        for words in (
            "unlock and apply 3 changes",
            "stage",
            "m delete",
            "exclude this row",
            "esc back to the editor",
        ):
            assert words in text
