"""Start-up: nothing heavy before the first frame, keys that work while the store opens, ways out of nothing."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from memtui.engine import CancelToken, StoreNotFoundError
from memtui.tui.dialogs.open_store import OpenStore, completed, folders
from memtui.tui.startup.open_store import NothingFound, SeveralFound, opener
from memtui.tui.widgets.state_panel import StatePanel
from tests.engine.transfer_stores import memory, own_store
from tests.tui.driving import (
    lines,
    make_app,
    press,
    running,
    screen_text,
    settle,
    type_text,
    until,
)
from tests.tui.memory_engine import MemoryEngine

FIRST_FRAME = """
import sys
from pathlib import Path
from memtui.tui.app import MemtuiApp
from memtui.tui.startup.open_store import opener

heavy = ("lancedb", "pyarrow", "numpy", "httpx", "pydantic", "tokenizers", "json5", "pyperclip")

def first_frame(self):
    lines = [strip.text for strip in self.screen._compositor.render_strips()]
    assert "1 Home" in lines[0], lines[:2]
    print(",".join(sorted({name.split(".")[0] for name in sys.modules} & set(heavy))) or "none")
    self.exit()

MemtuiApp._start = first_frame
MemtuiApp(sys.argv[1], opener=opener({}, Path.cwd())).run(headless=True)
"""


def test_the_first_frame_needs_nothing_heavy(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", FIRST_FRAME, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.strip().splitlines()[-1:] == ["none"], done.stdout + done.stderr


async def test_help_palette_and_screens_work_while_the_store_opens():
    gate = threading.Event()

    def slow():
        gate.wait(120)
        return MemoryEngine(10)

    app = make_app(slow)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        assert "opening" in lines(app)[0]
        await pilot.press("question_mark")
        await pilot.pause()
        assert "Keys: " in screen_text(app)
        await pilot.press("escape", "2")
        await pilot.pause()
        assert "[2 Browse]" in lines(app)[0]
        assert "opening the store" in screen_text(app)
        await pilot.press("ctrl+p")
        await pilot.pause()
        assert "Commands" in screen_text(app)
        await pilot.press("escape")
        gate.set()
        await settle(pilot)
        assert "1 / 10" in screen_text(app)


async def test_without_a_store_the_demo_and_a_path_are_offered():
    asked = []
    engines = [NothingFound(("/home/x/.openclaw/openclaw.json", "/home/x/.openclaw/memory")), MemoryEngine(7)]

    def opener(target, now, report, cancel):
        asked.append(target)
        return engines.pop(0)

    app = make_app(None)
    app._store._opener, app._target = opener, None
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        text = screen_text(app)
        assert "no memory store was found" in text
        assert "/home/x/.openclaw/openclaw.json" in text
        assert [choice.name for choice in app.screen.query_one(StatePanel).state.choices] == [
            "demo",
            "open",
            "make",
            "bring",
            "connect",
        ]
        assert app.screen.query_one(StatePanel).letters == ("d", "o", "m", "b", "c")
        hints = [
            "a year of an invented",
            "a folder, a LanceDB",
            "empty, in a folder",
            "ChatGPT,",
            "claude, codex",
        ]
        columns = {line.index(hint) for line in text.split("\n") for hint in hints if hint in line}
        assert len(columns) == 1, "what each way is begins below the one before"
        await press(pilot, "o")
        assert isinstance(app.screen, OpenStore)
        await press(pilot, "escape")
        await press(pilot, "d")
        assert asked == [None, "demo"]
        assert "memories   7" in screen_text(app)


async def test_a_typed_path_is_opened():
    asked = []

    def opener(target, now, report, cancel):
        asked.append(target)
        return NothingFound(()) if target is None else MemoryEngine(7)

    app = make_app(None)
    app._store._opener, app._target = opener, None
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("j", "enter")
        await pilot.pause()
        await type_text(pilot, "mystore")
        await press(pilot, "enter")
        assert asked == [None, "mystore"]
        assert app.session.phase == "ready"


async def test_several_stores_are_a_choice_and_never_a_guess():
    found = SeveralFound(
        "Two stores are configured.", (("main", "/a", "configured"), ("ops", "/b", "configured"))
    )
    async with running(found) as (app, pilot):
        text = screen_text(app)
        assert "Two stores are configured." in text
        assert "open main" in text
        app._store._opener = lambda target, *_: MemoryEngine(3, name=str(target))
        await press(pilot, "j", "enter")
        assert app.session.info.name == "ops"


async def test_a_store_that_cannot_be_opened_says_why_on_every_screen_and_r_tries_again():
    error = StoreNotFoundError(
        "/nowhere holds no LanceDB table.", fix="Give the folder that holds memories.lance."
    )
    async with running(error) as (app, pilot):
        for key in ("1", "2"):
            await press(pilot, key)
            text = screen_text(app)
            assert "/nowhere holds no LanceDB table." in text
            assert "Give the folder that holds memories.lance." in text
        assert "store not opened" in lines(app)[0]
        app._store._opener = lambda *_: MemoryEngine(3)
        await pilot.press("r")
        await until(pilot, lambda: app.session.phase == "ready")
        await settle(pilot)
        assert "1 / 3" in screen_text(app)


async def test_a_terminal_that_is_too_small_says_what_it_needs():
    async with running(MemoryEngine(3), (50, 12)) as (app, pilot):
        assert "memtui needs 60 x 15 cells, this terminal has 50 x 12." in " ".join(screen_text(app).split())
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert "─ Store " in screen_text(app)


def test_the_demo_store_may_be_changed_when_it_is_opened_by_its_path_too(tmp_path):
    environ = {"MEMTUI_CACHE_DIR": str(tmp_path), "MEMTUI_STATE_DIR": str(tmp_path / "state")}
    for name, writable in (("demo", True), ("other", False)):
        folder = own_store(tmp_path / name, [memory(1, "The kiln is in Uferweg.")])
        engine = opener(environ, tmp_path, writable=False)(
            str(folder), lambda: 0, lambda progress: None, CancelToken()
        )
        assert engine.write_state.writable is writable


def test_folders_with_a_table_come_first_and_a_path_is_completed(tmp_path):
    for name in ("memories-a", "memories-b", "music"):
        (tmp_path / name).mkdir()
    (tmp_path / "memories-b" / "memories.lance" / "_versions").mkdir(parents=True)
    found = folders(str(tmp_path / "mem"), tmp_path)
    assert [Path(each.value).name for each in found] == ["memories-b", "memories-a", "mem"]
    assert [each.store for each in found] == [True, False, False]
    assert found[0].written_ms is not None
    assert found[-1].kind == "new"
    assert completed(str(tmp_path / "mem"), found) == str(tmp_path / "memories-")
    assert completed(str(tmp_path / "mu"), folders(str(tmp_path / "mu"), tmp_path)) == f"{tmp_path}/music/"


async def test_where_nothing_is_found_a_store_is_made_and_memories_can_be_brought(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    app = make_app(None)
    app._store._opener, app._target = opener({"HOME": str(tmp_path)}, tmp_path), None
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        assert "connect an agent" in screen_text(app)
        await press(pilot, "j", "j", "j", "enter")
        assert isinstance(app.screen, OpenStore)
        assert "MAKE" in screen_text(app)
        await press(pilot, "enter")
        await until(pilot, lambda: "[5 Transfer]" in lines(app)[0])
        assert app.session.info is not None
        assert app.session.info.rows == 0
    assert (tmp_path / "memories" / "memories.lance").is_dir()
