"""Capture on a real store: a pasted conversation, why not, accept, apply, undo, the inbox, a model on loopback."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import Engine, open_engine
from memtui.engine.capture import recipes  # noqa: F401 - loaded before the clock of a test runs
from memtui.engine.store.create import create_empty
from memtui.tui.screens.capture.screen import CaptureScreen
from tests.conftest import NOW_MS
from tests.engine.loopback import Answer, Request, chat_answer, loopback
from tests.tui.driving import SIZES, check_golden, press, running, screen_text, settle

TALK = """User: morning! coffee first
User: From now on prune the docker cache on kelp every Monday, keep 40 GB of it.
User: remember: heron's dashboard password is hunter22
Assistant: Our office closes at six on Fridays.
User: Herr Wiebe wants a call on the day before, not a mail.
User: The staging host is kelp-03, not kelp-02.
User: I really prefer dark roast coffee in the morning.
User: ok
User: maybe we rename otter to seal
User: thanks, bye
"""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.chdir(tmp_path)
    numbers = iter(range(1, 10_000))
    monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=next(numbers)))
    create_empty(tmp_path / "store", 256)
    engine = open_engine(
        tmp_path / "store",
        now=lambda: NOW_MS,
        environ={},
        cwd=tmp_path,
        writable=True,
        state=tmp_path / "state",
    )
    from memtui.engine.capture.commits import commit
    from memtui.engine.capture.pipeline import capture
    from memtui.engine.capture.recipes.base import CaptureRequest
    from memtui.engine.capture.trace import Message

    said = ("I prefer dark roast coffee in the morning.", "The staging host is kelp-02.")
    request = CaptureRequest([Message("user", each) for each in said], "memtui")
    commit(capture(request, engine.capture_context()), engine.store, engine.curate)
    engine.refresh()
    return engine


async def pasted(app: Any, pilot: Any, text: str = TALK) -> CaptureScreen:
    """Capture, with a conversation that was pasted."""
    await press(pilot, "7")
    screen = app.screen
    assert isinstance(screen, CaptureScreen)
    screen._add_text(text)
    await settle(pilot)
    return screen


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_a_pasted_conversation_at_three_sizes(engine, size):
    name = f"{size[0]}x{size[1]}"
    async with running(engine, size) as (app, pilot):
        await press(pilot, "7")
        check_golden(f"capture-empty-{name}", screen_text(app))
        await pasted(app, pilot)
        check_golden(f"capture-{name}", screen_text(app))
        await press(pilot, "j", "j", "j", "j")
        check_golden(f"capture-replaced-{name}", screen_text(app))
        await press(pilot, "j", "j", "j", "W")
        check_golden(f"capture-whynot-{name}", screen_text(app))
        await press(pilot, "right_square_bracket")
        check_golden(f"capture-inbox-{name}", screen_text(app))


async def test_nothing_secret_is_drawn_and_nothing_written_before_apply(engine):
    before = engine.store.newest_version()
    async with running(engine) as (app, pilot):
        await pasted(app, pilot)
        assert "hunter22" not in screen_text(app)
        assert "secret" in screen_text(app)
        assert "nothing leaves this machine" in screen_text(app)
        assert engine.store.newest_version() == before


async def test_accepted_ones_are_previewed_and_written_as_one_entry(engine):
    async with running(engine, (200, 50)) as (app, pilot):
        screen = await pasted(app, pilot)
        assert len(screen.state.to_apply()) == 3
        await press(pilot, "D")
        assert len(screen.state.to_apply()) == 2
        await press(pilot, "A")
        assert "kelp-03" in screen_text(app)
        await press(pilot, "enter")
        assert engine.curate.journal()[0].action == "capture"
        engine.refresh()
        assert engine.store.count() == 4
        await press(pilot, "right_square_bracket")
        assert "otter" in screen_text(app)
        await press(pilot, "D")
        assert "Nothing waits" in screen_text(app)


async def test_a_lost_sentence_is_found_explained_and_kept(engine):
    async with running(engine, (200, 50)) as (app, pilot):
        screen = await pasted(app, pilot)
        at = next(n for n, text in enumerate(screen.state.trace.texts) if text.gate == "assistant text")
        while screen.state.text != at:
            await press(pilot, "j" if screen.state.text < at else "k")
        await press(pilot, "W")
        assert "captureAssistant" in screen_text(app)
        assert "kept in a replay" in screen_text(app)
        unsure = next(n for n, text in enumerate(screen.state.trace.texts) if text.gate == "unsure")
        while screen.state.text != unsure:
            await press(pilot, "j" if screen.state.text < unsure else "k")
        await press(pilot, "a")
        assert screen.state.trace.candidates[-1].decision == "create"
        assert screen.state.marks


async def test_a_model_on_this_machine_is_named_asked_and_accounted_for(engine, monkeypatch):
    def answer(request: Request) -> Answer:
        parts = json.loads(request.body["messages"][1]["content"])
        if "messages" not in parts:
            return chat_answer({"results": [{"index": 1, "decision": "create", "match": 0, "reason": ""}]})
        found = [m["number"] for m in parts["messages"] if "kelp every Monday" in m["text"]]
        text = "Prune the docker cache on kelp every Monday, keep 40 GB of it."
        return chat_answer(
            {"memories": [{"text": text, "category": "patterns", "from": found, "sure": True, "real": True}]},
            (612, 40),
        )

    with loopback() as server:
        server.chat = answer
        monkeypatch.setenv("MEMTUI_CHAT_MODEL", "small")
        monkeypatch.setenv("MEMTUI_CHAT_BASE_URL", f"{server.url}/v1")
        async with running(engine, (200, 50)) as (app, pilot):
            screen = await pasted(app, pilot)
            await press(pilot, "f")
            assert "small at 127.0.0.1" in screen_text(app)
            assert not server.requests, "naming a model asks nothing"
            await press(pilot, "X")
            assert "652 tokens" in screen_text(app)
            assert [each.decision for each in screen.state.trace.candidates] == ["create"]
        assert "hunter22" not in json.dumps([each.body for each in server.requests])
