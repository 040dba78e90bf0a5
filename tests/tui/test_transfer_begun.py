"""The start page of Transfer: imports that were stopped are gone on with or forgotten, done ones taken back."""

from __future__ import annotations

import threading

import pytest

from memtui.engine import Cancelled, open_engine, transfer
from memtui.engine.core.progress import CancelToken
from memtui.engine.providers.embedding_services import EmbeddingSettings
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.screens.transfer.tasks import TASKS
from tests.conftest import NOW_MS
from tests.engine.loopback import Answer, Request, loopback
from tests.engine.transfer_stores import imported, jsonl, planned, pro_store
from tests.tui.driving import press, running, screen_text, settle, type_text, until
from tests.tui.test_transfer_import import markdown, texts
from tests.tui.transferring import (
    HERE,
    KILNS,
    importing,
    notes,
    said,
    steps,
    store,
    stored,
    transferring,
)

__all__ = ["store"]


async def test_a_stopped_import_is_offered_and_gone_on_with(store):
    path = notes(store.parent, broken=False)
    engine = stored(store)
    plan = planned(engine, path, conflicts="keep", choices={7: "keep", 8: "keep"})
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        transfer.run_import(engine, plan, cancel=token)
    plan.close()
    async with transferring(store) as (app, pilot, screen):
        assert "import of notes.jsonl" in screen_text(app)
        screen.rows("b").focus()
        await press(pilot, "enter")
        assert screen.run.step == "review"
        await steps(pilot, "ny")
        assert screen.run.step == "report"
        await press(pilot, "n")
        assert "import of notes.jsonl" not in screen_text(app)
        assert " 1  6 memories" in screen_text(app)
    assert texts(store)[KILNS[0]] == 1


async def test_an_unfinished_run_can_be_forgotten(store):
    engine = stored(store)
    token = CancelToken()
    token.cancel()
    plan = planned(engine, notes(store.parent, broken=False))
    with pytest.raises(Cancelled):
        transfer.run_import(engine, plan, cancel=token)
    plan.close()
    async with transferring(store) as (app, pilot, screen):
        screen.rows("b").focus()
        await press(pilot, "D")
        assert "import of notes.jsonl" not in screen_text(app)
    assert transfer.unfinished_runs(engine).all() == []


async def test_what_was_imported_before_is_taken_back_from_the_start_page(store):
    imported(stored(store), markdown(store.parent))
    async with transferring(store) as (app, pilot, screen):
        screen.rows("b").focus()
        await press(pilot, "u")
        assert isinstance(app.screen, ChangePreview)
        await press(pilot, "enter")
        if isinstance(app.screen, ChangePreview):
            await type_text(pilot, str(len(KILNS)))
            await press(pilot, "enter")
        assert "undone" in screen_text(app)
    assert len(texts(store)) == len(HERE)


@pytest.mark.slow
async def test_a_run_is_stopped_and_gone_on_with_and_nothing_is_asked_twice(store):
    folder = pro_store(store.parent / "plugin", dims=8)
    rows = [{"text": f"Kiln {n} in Uferweg has door seal {n * 7}."} for n in range(200)]
    source = jsonl(store.parent / "many.jsonl", rows)
    first, go_on = threading.Event(), threading.Event()
    with loopback() as server:
        usual = server.answer

        def held(request: Request) -> Answer:
            if len(server.requests) == 2:  # the first is done and kept, the second is on its way
                first.set()
                assert go_on.wait(120)
            return usual(request)

        server.answer = held  # type: ignore[method-assign]
        settings = EmbeddingSettings(model="test-model", base_url=f"{server.url}/v1", dimensions=8)
        async with importing(folder, source, embedding=settings) as (app, pilot, screen):
            await press(pilot, "n")
            assert "200 to embed, not measured" in screen_text(app)
            await press(pilot, "n")
            key = "Y" if screen.run.able("stopped", "", "") else "y"
            await pilot.press(key)
            await until(pilot, first.is_set)
            await pilot.press("escape")
            await until(pilot, lambda: "Stopping at the next safe place" in screen_text(app))
            go_on.set()
            await settle(pilot)
            assert "It was stopped." in screen_text(app)
            assert "Nothing was written" in screen_text(app)
            asked = [text for each in server.requests for text in each.body["input"]]
            server.requests.clear()
            server.answer = usual  # type: ignore[method-assign]
            screen.begin("")
            await settle(pilot)
            assert "import of many.jsonl" in screen_text(app)
            screen.rows("b").focus()
            await press(pilot, "enter")
            await steps(pilot, ["n", key])
            assert "200 memories imported" in said(screen)
        again = [text for each in server.requests for text in each.body["input"]]
        assert asked
        assert not set(asked) & set(again)
        assert len(asked) + len(again) == 200


async def test_every_task_begins_or_says_why_not_where_no_work_can_be_kept(tmp_path):
    folder = pro_store(tmp_path / "store")
    engine = open_engine(folder, writable=True, now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    assert engine.state is None
    async with running(engine) as (app, pilot):
        await app.switch_mode("transfer")
        await settle(pilot)
        for task in TASKS:
            app.screen.begin(task.name)
            await settle(pilot)
            assert app.screen.run.task.name == task.name or "MEMTUI_STATE_DIR" in screen_text(app), task.name
            app.screen.begin("")
