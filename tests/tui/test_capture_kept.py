"""Conversations kept as cases: from Capture to the Cases screen and back; the funnel's own keys; a model that fails."""

from __future__ import annotations

import json

import pytest
from textual.widgets import Input

from memtui.engine import CancelToken
from memtui.engine.capture import CaptureCaseBook
from memtui.paths import cases_file
from memtui.tui.dialogs.sheet import Sheet
from memtui.tui.screens.capture import working
from memtui.tui.screens.capture.screen import CaptureScreen
from memtui.tui.screens.cases.screen import CasesScreen
from memtui.tui.widgets.screen_bars import FlashLine
from tests.conftest import thinned
from tests.engine.loopback import Answer, chat_answer, loopback
from tests.tui.driving import press, running, screen_text, settle, walk
from tests.tui.test_capture_screen import engine, pasted, to_text

__all__ = ["engine"]  # the fixture


def book_of(engine):
    return CaptureCaseBook.beside(cases_file(engine.info.uri))


def said(app):
    return app.screen.query_one(FlashLine).text


async def kept(app, pilot, name="Coffee and kelp"):
    """The pasted conversation, kept as a case of this name."""
    screen = await pasted(app, pilot)
    await press(pilot, "E")
    app.screen.query_one(Input).value = name
    await press(pilot, "enter")
    return screen


async def to_cases(app, pilot):
    await press(pilot, "3", "escape", "T")
    screen = app.screen
    assert isinstance(screen, CasesScreen)
    return screen


async def test_a_conversation_is_kept_run_beside_the_questions_opened_removed_and_put_back(engine):
    async with running(engine, (120, 36)) as (app, pilot):
        screen = await pasted(app, pilot)
        wanted = [each.writes[0].row.text for each in screen.state.trace.candidates if each.writes]
        await to_text(pilot, screen, screen.state.trace.candidates[0].texts[0])
        await kept(app, pilot)
        assert "kept as a case: leaves 3 memories" in said(app)
        (case,) = book_of(engine).cases()
        assert sorted(case.expected) == sorted(wanted)
        cases = await to_cases(app, pilot)
        assert "talk  Coffee and kelp" in screen_text(app)
        assert "keeps 3" in screen_text(app)
        await press(pilot, "R")
        assert "right" in screen_text(app)
        assert "1 of 1 leave what they should" in screen_text(app)
        assert wanted[0][:30] in screen_text(app)
        await press(pilot, "D")
        assert (book_of(engine).cases(), cases.state.empty) == ((), True)
        assert "Saved questions will be listed here." in screen_text(app)
        await press(pilot, "u")
        assert book_of(engine).cases() == (case,)
        await press(pilot, "enter")
        await settle(pilot)
        opened = app.screen
        assert isinstance(opened, CaptureScreen)
        assert opened.state.talk == f"case {case.id}"
        assert len(opened.state.trace.texts) == len(screen.state.trace.texts)


@pytest.mark.slow
async def test_what_was_refused_is_not_expected_and_another_memory_is_said_to_be_off(engine):
    async with running(engine, (120, 36)) as (app, pilot):
        screen = await pasted(app, pilot)
        candidate = screen.state.trace.candidates[0]
        await to_text(pilot, screen, candidate.texts[0])
        await press(pilot, "D")
        await press(pilot, "E")
        app.screen.query_one(Input).value = "without one"
        await press(pilot, "enter")
        (case,) = book_of(engine).cases()
        assert len(case.expected) == 2
        assert candidate.abstract not in case.expected
        await to_cases(app, pilot)
        await press(pilot, "R")
        assert "1 off" in screen_text(app)
        assert "A LEAVES, TOO" in screen_text(app)
        assert "0 of 1 leave what they should" in screen_text(app)


@pytest.mark.slow
async def test_the_funnel_is_turned_tried_on_the_cases_and_exported(engine, tmp_path):
    async with running(engine, (120, 36)) as (app, pilot):
        screen = await pasted(app, pilot)
        await press(pilot, "right_square_bracket", "right_square_bracket")
        await press(pilot, "T")
        assert "No conversation is kept as a case: E keeps one." in said(app)
        await press(pilot, "p", "1")
        assert (dict(screen.state.turned), screen.state.funnel.rows) == ({"captureAssistant": True}, 4)
        assert "as if: agent texts too" in screen_text(app)
        await press(pilot, "p", "1")
        assert (dict(screen.state.turned), screen.state.funnel.rows) == ({}, 3)
        await press(pilot, "p", "2")
        await press(pilot, "p", "0")
        assert (dict(screen.state.turned), screen.state.funnel.rows) == ({}, 3)
        for name in ("funnel.json", "funnel.json", "no/such/folder"):
            await press(pilot, "x")
            app.screen.query_one(Input).value = str(tmp_path / name)
            await press(pilot, "enter")
        assert "cannot be written" in said(app)
        told = json.loads((tmp_path / "funnel.json").read_text("utf-8"))
        assert (told["schema"], told["funnel"]["rows"]) == ("memtui.capture.funnel.v1", 3)
        assert "hunter22" not in json.dumps(told)
        await walk(pilot, lambda: screen.state.view == "conversations", lambda: "right_square_bracket")
        await kept(app, pilot)
        await walk(pilot, lambda: screen.state.view == "funnel", lambda: "right_square_bracket")
        await press(pilot, "T")
        assert isinstance(app.screen, Sheet)
        assert "agent texts too: conversations: 1 of 1 leave what they should now, 0 then" in screen_text(app)
        assert "Our office closes at six on Fridays." in screen_text(app)


async def test_one_conversation_is_captured_again_as_a_setting_would_and_back(engine):
    async with running(engine, (80, 24)) as (app, pilot):
        screen = await pasted(app, pilot)
        before = sum(bool(each.writes) for each in screen.state.trace.candidates)
        await press(pilot, "p", "1")
        assert sum(bool(each.writes) for each in screen.state.trace.candidates) == before + 1
        await press(pilot, "p", "0")
        assert sum(bool(each.writes) for each in screen.state.trace.candidates) == before


@pytest.mark.parametrize(
    "bad",
    thinned(
        [
            Answer(429, {"error": "slow down"}),
            Answer(500, {}),
            chat_answer('{"memories": [{"te'),
            chat_answer({"a": 1}),
        ],
        2,
    ),
    ids=["429", "500", "half", "schema"],
)
async def test_a_model_that_fails_is_told_and_nothing_is_lost(engine, monkeypatch, bad):
    monkeypatch.setattr("memtui.engine.providers.chat._WAIT_S", 0.01)
    before = engine.store.newest_version()
    with loopback() as server:
        server.chat = lambda _: bad
        monkeypatch.setenv("MEMTUI_CHAT_MODEL", "small")
        monkeypatch.setenv("MEMTUI_CHAT_BASE_URL", f"{server.url}/v1")
        async with running(engine, (120, 36)) as (app, pilot):
            screen = await pasted(app, pilot)
            await press(pilot, "f", "ctrl+r")
            await settle(pilot)
            waiting = [text for text in screen.state.trace.texts if text.gate == "model failed"]
            assert any("dark roast" in text.text for text in waiting)
            assert "needs review: model failed" in screen_text(app)
            assert screen.state.trace.warnings[0][:24] in screen_text(app)
            assert screen.state.to_apply() == ()
            await press(pilot, "f", "ctrl+r")
            await settle(pilot)
            assert len(screen.state.to_apply()) == 3, "by rules the same conversation is captured"
    assert engine.store.newest_version() == before


async def test_what_an_agent_was_told_goes_into_its_own_scope(engine, tmp_path):
    """A session of ops is remembered by ops, not by the main agent."""
    folder = tmp_path / ".openclaw" / "agents" / "ops" / "sessions"
    folder.mkdir(parents=True)
    said = "From now on prune the docker cache on kelp every Monday, keep 40 GB of it."
    message = {"role": "user", "content": [{"type": "text", "text": said}]}
    lines = [
        {"type": "session", "version": 3, "id": "11111111-2222-4333-8444-555555555555", "cwd": str(tmp_path)},
        {
            "type": "message",
            "id": "a1",
            "parentId": None,
            "timestamp": "2026-08-31T10:00:00Z",
            "message": message,
        },
    ]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (folder / "11111111-2222-4333-8444-555555555555.jsonl").write_text(text, "utf-8")
    (talk,) = working.found({"HOME": str(tmp_path)})
    _, request, trace = working.captured(engine, talk, None, CancelToken(), print)
    assert request.agent == "ops"
    assert {write.row.scope for each in trace.candidates for write in each.writes} == {"agent:ops"}
