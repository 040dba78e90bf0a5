"""Capture on a real store: a pasted conversation, why not, accept, apply, undo, the inbox, a model on loopback."""

from __future__ import annotations

import json
import os
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
from tests.tui.driving import EACH_SIZE, check_golden, press, running, screen_text, settle, until, walk

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
        environ=os.environ,
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
    commit(engine, capture(request, engine.capture_context()))
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


async def to_text(pilot: Any, screen: CaptureScreen, at: int) -> None:
    """Move the cursor to a text of the conversation."""
    await walk(pilot, lambda: screen.state.text == at, lambda: "j" if screen.state.text < at else "k")


@pytest.mark.parametrize("size", EACH_SIZE, ids=lambda size: f"{size[0]}x{size[1]}")
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
        await press(pilot, "right_square_bracket")
        await settle(pilot)
        check_golden(f"capture-funnel-{name}", screen_text(app))
        await press(pilot, "right_square_bracket", "enter")
        await settle(pilot)
        check_golden(f"capture-jobs-{name}", screen_text(app))


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sessions of an agent, in one of them a password, and a third file that is none."""
    folder = tmp_path / "claw" / "agents" / "ops" / "sessions"
    folder.mkdir(parents=True)
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path / "claw"))
    said = {
        "aaaaaaaa-1": (
            "From now on prune the docker cache on kelp every Monday.",
            "heron's password is hunter22",
        ),
        "bbbbbbbb-2": ("The staging host is kelp-03, not kelp-02.",),
    }
    for at, (name, texts) in enumerate(said.items()):
        entries: list[dict[str, Any]] = [
            {"type": "session", "version": 3, "id": name, "timestamp": "2026-08-31T10:00:00.000Z"}
        ]
        for number, text in enumerate(texts):
            message = {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": NOW_MS}
            entries.append(
                {
                    "type": "message",
                    "id": f"m{number}",
                    "timestamp": "2026-08-31T10:00:00.000Z",
                    "message": message,
                }
            )
        file = folder / f"{name}.jsonl"
        file.write_text("".join(json.dumps(each) + "\n" for each in entries), encoding="utf-8")
        os.utime(file, (NOW_MS / 1000 - at, NOW_MS / 1000 - at))
    broken = folder / "cccccccc-3.jsonl"
    broken.write_bytes(b'{"type": "session", "id": "cccccccc-3"}\n\xff\xfe not a session\n')
    os.utime(broken, (NOW_MS / 1000 - 9, NOW_MS / 1000 - 9))
    return folder


async def test_a_conversation_is_read_as_it_is_chosen_and_what_was_decided_of_it_stays(engine, sessions):
    """The texts beside the list are those of the conversation under the cursor, and marks outlive a look elsewhere."""
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "7")
        await until(pilot, lambda: "prune the docker cache" in screen_text(app))
        assert "hunter22" not in screen_text(app)
        screen = app.screen
        assert screen.state.trace is None
        await press(pilot, "enter")
        await until(pilot, lambda: screen.state.trace is not None)
        await press(pilot, "a")
        marks = dict(screen.state.marks)
        assert marks
        screen.query_one("#talk-rows").focus()
        await press(pilot, "j")
        await until(pilot, lambda: "kelp-03" in screen_text(app))
        assert "prune the docker cache" not in screen_text(app)
        assert screen.state.trace is None
        await press(pilot, "j")
        await until(pilot, lambda: "cannot be read" in screen_text(app))
        await press(pilot, "k", "k")
        await until(pilot, lambda: screen.state.trace is not None)
        assert "prune the docker cache" in screen_text(app)
        assert screen.state.marks == marks


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
        assert engine.write_state.journal.entries()[0].action == "capture"
        engine.refresh()
        assert engine.store.count() == 4
        await press(pilot, "right_square_bracket")
        assert "otter" in screen_text(app)
        await press(pilot, "D")
        assert "Nothing needs review" in screen_text(app)


async def test_a_lost_sentence_is_found_explained_and_kept(engine):
    async with running(engine, (200, 50)) as (app, pilot):
        screen = await pasted(app, pilot)
        at = next(n for n, text in enumerate(screen.state.trace.texts) if text.gate == "assistant text")
        await to_text(pilot, screen, at)
        await press(pilot, "W")
        assert "captureAssistant" in screen_text(app)
        assert "kept in a replay" in screen_text(app)
        unsure = next(n for n, text in enumerate(screen.state.trace.texts) if text.gate == "unsure")
        await to_text(pilot, screen, unsure)
        await press(pilot, "a")
        assert screen.state.trace.candidates[-1].decision == "create"
        assert screen.state.marks


async def test_the_smallest_change_is_taken_on_the_screen(engine):
    async with running(engine, (120, 36)) as (app, pilot):
        screen = await pasted(app, pilot)
        at = next(n for n, text in enumerate(screen.state.trace.texts) if text.gate == "assistant text")
        await to_text(pilot, screen, at)
        await press(pilot, "W")
        await settle(pilot)
        assert screen.state.remedy.setting == "captureAssistant"
        await press(pilot, "a")
        await settle(pilot)
        assert screen.state.trace.settings["captureAssistant"] is True
        assert screen.state.trace.texts[at].fate == "kept"
        await press(pilot, "A", "enter")
        await settle(pilot)
        engine.refresh()
        assert any("closes at six" in row.text for row in engine.capture_context().draft.rows())
        entry = engine.write_state.journal.entries()[0].entry
        assert f", entry {entry}" in screen_text(app), "what became of the texts stays in sight"
        assert screen.state.to_apply() == (), "nothing is written twice unasked"
        await press(pilot, "a")
        assert screen.state.to_apply(), "but may be, by a mark of its own"


async def test_two_settings_together_keep_what_neither_keeps_alone(engine):
    talk = "User: hello there, good morning\nAssistant: Perhaps our office on Birch Lane closes at six on Fridays.\n"
    async with running(engine, (120, 36)) as (app, pilot):
        screen = await pasted(app, pilot, talk)
        at = next(n for n, text in enumerate(screen.state.trace.texts) if text.role == "assistant")
        await to_text(pilot, screen, at)
        await press(pilot, "W")
        await settle(pilot)
        both = screen.state.remedy
        assert both.confirmed
        assert set(both.setting.split(", ")) == {"captureAssistant", "keepUnsure"}
        for alone in both.after:
            assert not any(each.confirmed and each.setting == alone for each in screen.state.verdict.remedies)
        await press(pilot, "a")
        await settle(pilot)
        assert screen.state.trace.texts[at].fate == "kept"
        assert {name: screen.state.trace.settings[name] for name in both.after} == both.after


SESSION = [
    {"type": "session", "version": 3, "id": "5e551011", "timestamp": "2026-08-30T09:00:00.000Z", "cwd": "/home/a/ws"},
    {
        "type": "message", "id": "m1", "parentId": None, "timestamp": "2026-08-30T09:01:00.000Z",
        "message": {"role": "user", "content": [{"type": "text", "text":
            "<relevant-memories>\n<mode:full>\n[UNTRUSTED DATA]\n- [C][fact:global] 2026-05-04 The gate opens at 7.\n"
            "[END UNTRUSTED DATA]\n</relevant-memories>\n\nFrom now on deploy otter on Thursdays only."}]},
    },
    {
        "type": "message", "id": "m2", "parentId": "m1", "timestamp": "2026-08-30T09:01:10.000Z",
        "message": {"role": "assistant", "content": [{"type": "toolCall", "id": "c1", "name": "memory_recall",
            "arguments": {"query": "otter"}}]},
    },
    {
        "type": "message", "id": "m3", "parentId": "m2", "timestamp": "2026-08-30T09:01:11.000Z",
        "message": {"role": "toolResult", "toolCallId": "c1", "toolName": "memory_recall",
            "content": [{"type": "text", "text": "1. [x] [fact:global] Otter is deployed on Mondays."}]},
    },
]  # fmt: skip


@pytest.mark.parametrize("size", EACH_SIZE, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_an_agents_own_transcript_is_listed_and_captured(engine, size, tmp_path, monkeypatch):
    home = tmp_path / "home"
    folder = home / ".openclaw" / "agents" / "scribe" / "sessions"
    folder.mkdir(parents=True)
    (folder / "5e551011.jsonl").write_text("\n".join(json.dumps(each) for each in SESSION) + "\n", "utf-8")
    (home / ".openclaw" / "openclaw.json").write_text("{}")
    monkeypatch.setenv("HOME", str(home))
    async with running(engine, size) as (app, pilot):
        await press(pilot, "7")
        await settle(pilot)
        screen = app.screen
        assert [each.title for each in screen.state.talks] == ["scribe 5e551011"]
        await press(pilot, "enter")
        await settle(pilot)
        assert "deploy otter" in screen_text(app), "what the person said, not the block before it"
        assert "relevant-memories" not in screen_text(app)
        (made,) = [each for each in screen.state.trace.candidates if each.writes]
        assert "Thursdays" in made.abstract
        learned = " ".join(each.abstract for each in screen.state.trace.candidates)
        assert "Mondays" not in learned, "a tool's output is not what somebody said"
        assert "gate opens" not in learned, "a recalled memory is not captured again"
        fates = {text.role: text.fate for text in screen.state.trace.texts}
        assert fates["user"] == "kept"
        assert all(fate for fate in fates.values())


@pytest.mark.slow
async def test_every_recorded_transcript_is_captured_on_the_screen(engine, shared, monkeypatch):
    monkeypatch.setenv("HOME", str(shared / "fixtures" / "sessions" / "home"))
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "7")
        await settle(pilot)
        screen = app.screen
        count = len(screen.state.talks)
        assert count
        for number in range(count):
            if number:
                await press(pilot, "shift+tab") if screen.focused.id != "talks" else None
                await press(pilot, "j")
            await press(pilot, "enter")
            await settle(pilot)
            assert screen.state.trace is not None
            assert all(text.fate for text in screen.state.trace.texts)
            assert "relevant-memories" not in screen_text(app)
            screen.focus_first()


async def test_the_funnel_counts_what_was_lost_and_leads_to_it(engine):
    async with running(engine, (120, 36)) as (app, pilot):
        screen = await pasted(app, pilot)
        await press(pilot, "right_square_bracket", "right_square_bracket")
        await settle(pilot)
        found = screen.state.funnel
        assert found.texts == len(screen.state.trace.texts) >= found.candidates >= found.rows == 3
        assert sum(each.count for each in found.losses) == found.texts - 3
        tried = {each.setting: each.rows for each in screen.state.otherwise}
        assert tried["captureAssistant"] == 4
        assert tried["keepUnsure"] == 4
        assert screen.state.days[-1].captured == 2, "the rows of the store itself"
        await press(pilot, "plus")
        await settle(pilot)
        assert len(screen.state.days) == 14
        await walk(pilot, lambda: screen.state.loss == "secret", lambda: "j")
        await press(pilot, "enter")
        await settle(pilot)
        assert screen.state.view == "conversations"
        assert screen.state.trace.texts[screen.state.text].gate == "secret"


@pytest.mark.slow
async def test_the_funnel_counts_every_conversation_of_the_list(engine, tmp_path):
    (tmp_path / "a.txt").write_text("I prefer trains to planes.\nok\n", "utf-8")
    async with running(engine, (120, 36)) as (app, pilot):
        screen = await pasted(app, pilot)
        screen._add_file(str(tmp_path / "a.txt"))
        await settle(pilot)
        await press(pilot, "right_square_bracket", "right_square_bracket", "ctrl+r")
        await settle(pilot)
        assert screen.state.funnel.texts == 12
        assert [each.kept for each in screen.state.talks] == [1, 3]


@pytest.mark.slow
async def test_a_job_is_looked_at_applied_and_taken_back(engine):
    for words in ("I prefer dark roast coffee.", "I prefer light roast coffee."):
        context = engine.capture_context()
        from memtui.engine.capture import CaptureRequest, capture, commit
        from memtui.engine.capture.trace import Message

        commit(engine, capture(CaptureRequest([Message("user", words)], "memtui"), context))
        engine.refresh()
    before = {row.id: row.metadata for row in engine.capture_context().draft.rows()}
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "7", *["right_square_bracket"] * 3)
        screen = app.screen
        assert screen.state.view == "jobs"
        await press(pilot, "enter")
        await settle(pilot)
        assert "no change" in screen_text(app), "nothing is old enough for compaction"
        await press(pilot, "j", "enter")
        await settle(pilot)
        assert screen.state.job == "dreaming"
        assert screen.state.plans["dreaming"].changes.changes
        await press(pilot, "A", "enter")
        await settle(pilot)
        assert engine.write_state.journal.entries()[0].action == "dream"
        engine.refresh()
        assert {row.id: row.metadata for row in engine.capture_context().draft.rows()} != before
        await press(pilot, "u", "enter")
        await settle(pilot)
        engine.refresh()
        assert {row.id: row.metadata for row in engine.capture_context().draft.rows()} == before
        await press(pilot, "j", "enter")
        await settle(pilot)
        assert "conversation" in screen_text(app), "a reflection needs one, and a model"


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
            await press(pilot, "ctrl+r")
            assert "652 tokens" in screen_text(app)
            assert [each.decision for each in screen.state.trace.candidates] == ["create"]
        assert "hunter22" not in json.dumps([each.body for each in server.requests])
