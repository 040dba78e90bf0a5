"""No screen of the demo is an empty room, and none of them shows the sessions of this machine's own agents."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from memtui.engine import UsageError
from memtui.engine.core.progress import CancelToken
from memtui.engine.demo import demo_folder, demo_home, questions
from memtui.engine.witness import find_sessions, replay_session
from memtui.tui.app import MemtuiApp
from memtui.tui.startup.open_store import opener
from memtui.tui.widgets.state_panel import StatePanel
from tests.conftest import NOW_MS
from tests.tui.driving import press, screen_text, settle, until

OWN = "the orchard gate code of my own agent"


@pytest.fixture
def environ(demo_store: Path, tmp_path: Path) -> dict[str, str]:
    """A machine with the demo in memtui's cache, and an agent of its own that has had a session."""
    found = {
        "HOME": str(tmp_path / "home"),
        "OPENCLAW_STATE_DIR": str(tmp_path / "home" / "claw"),
        **{f"MEMTUI_{name.upper()}_DIR": str(tmp_path / name) for name in ("config", "state", "cache")},
        "MEMTUI_GLYPHS": "unicode",
    }
    shutil.copytree(demo_store, demo_folder(tmp_path / "cache"))
    folder = tmp_path / "home" / "claw" / "agents" / "gardener" / "sessions"
    folder.mkdir(parents=True)
    message = {"role": "user", "content": [{"type": "text", "text": OWN}], "timestamp": NOW_MS}
    entries = [
        {"type": "session", "version": 3, "id": "0f0f0f0f-own", "timestamp": "2026-08-31T10:00:00.000Z"},
        {"type": "message", "id": "0001", "timestamp": "2026-08-31T10:00:00.000Z", "message": message},
    ]
    lines = "".join(json.dumps(each) + "\n" for each in entries)
    (folder / "0f0f0f0f-own.jsonl").write_text(lines, encoding="utf-8")
    assert [each.agent for each in find_sessions(found, tmp_path)] == ["gardener"]
    return found


def demo_app(environ: dict[str, str], cwd: Path) -> MemtuiApp:
    """The app as `memtui demo` makes it."""
    return MemtuiApp("demo", opener=opener(environ, cwd), now=lambda: NOW_MS, environ=environ)


async def test_recall_audit_and_capture_have_something_to_show(environ: dict[str, str], tmp_path: Path):
    app = demo_app(environ, tmp_path)
    offered = [each.query for each in questions() if each.offered]
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, "3")
        await until(pilot, lambda: all(query in screen_text(app) for query in offered))
        await press(pilot, "escape", "j", "enter")
        await until(pilot, lambda: app.screen.state.trace is not None)
        assert app.screen.state.trace.query == offered[1]
        for key, seen in (("8", "scribe"), ("7", "scribe 88e02b71")):
            await press(pilot, key)
            await settle(pilot)
            text = screen_text(app)
            assert seen in text, text
            assert "gardener" not in text
        await press(pilot, "enter")
        await until(pilot, lambda: "verdict" in screen_text(app))


@pytest.mark.slow
async def test_what_was_asked_before_is_offered_before_the_demo_s_own(
    environ: dict[str, str], tmp_path: Path
):
    app = demo_app(environ, tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "3")
        await settle(pilot)
        app.screen.ask("who orders the boxes?")
        await until(pilot, lambda: app.screen.state.trace is not None)
        app.take("demo")
        await until(pilot, lambda: app.session.open and app.screen.state.trace is None)
        await settle(pilot)
        panel = next(each for each in app.screen.query(StatePanel) if each.display)
        asked = [each.label for each in panel.state.choices if each.name == "question"]
        assert asked == ["who orders the boxes?"]


def test_a_witness_on_the_demo_reads_the_demo_s_sessions_alone(environ: dict[str, str], tmp_path: Path):
    engine = opener(environ, tmp_path)("demo", lambda: NOW_MS, lambda progress: None, CancelToken())
    files = find_sessions(engine.environ, tmp_path)
    assert {each.agent for each in files} == {"main", "ops", "scribe"}
    assert all(each.path.is_relative_to(demo_home(demo_folder(tmp_path / "cache"))) for each in files)
    replayed = replay_session("4d1f6a10", engine.environ, tmp_path, engine=engine)
    assert [len(turn.memories or ()) for turn in replayed.turns] == [2, 0, 1]
    with pytest.raises(UsageError):
        replay_session("0f0f0f0f", engine.environ, tmp_path, engine=engine)
