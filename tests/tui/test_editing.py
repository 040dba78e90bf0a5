"""Editing one memory: in the form and in $EDITOR, from the key press to the changed store."""

from __future__ import annotations

import re
import shlex
import shutil
import stat
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual import events
from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot

from memtui.engine import clean
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.dialogs.choose_one import ChooseOne
from memtui.tui.screens.browse.edit_form import DraftText, EditForm
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import KnobRows
from memtui.tui.widgets.text_lines import DialogKeys
from tests.conftest import NOW_MS
from tests.engine.curate_world import row_of, rows_of, same_rows, version_of
from tests.engine.pro_store import row, write_store
from tests.tui.driving import SIZES, check_golden, lines, press, screen_text, settle, type_text
from tests.tui.hostile import NASTY_ROWS
from tests.tui.test_changing import browsing, choose, current_id, pro_store, said, steps


@pytest.fixture
def demo(demo_store: Path, tmp_path: Path) -> Path:
    """A copy of the demo store: memtui's own, with its embedder."""
    return Path(shutil.copytree(demo_store, tmp_path / "store"))


@pytest.fixture
def lent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that can be lent to another program, as a real one can: the driver of the tests has none."""
    monkeypatch.setattr(HeadlessDriver, "can_suspend", True)


def editor(folder: Path, body: str) -> dict[str, str]:
    """The environment with a program that stands in for an editor."""
    path = folder / "editor.sh"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return {"EDITOR": shlex.quote(str(path))}


async def go_to(pilot: Pilot[None], name: str) -> None:
    """From wherever it is to a field of the form."""
    rows = pilot.app.screen.query_one(KnobRows)
    rows.focus()
    rows.choose(name)
    await settle(pilot)


async def find(pilot: Pilot[None], filter: str) -> str:
    """Narrow the list and take its first memory."""
    await press(pilot, "slash")
    await type_text(pilot, filter)
    await press(pilot, "enter")
    return current_id(pilot.app)  # type: ignore[arg-type]


@pytest.mark.slow
async def test_a_new_text_and_new_fields_go_in_one_change_and_come_back_with_undo(demo):
    before = rows_of(demo)
    async with browsing(demo) as (app, pilot):
        memory = await find(pilot, "cat:fact")
        old = row_of(demo, memory)
        await press(pilot, "e")
        assert isinstance(app.screen, EditForm)
        await type_text(pilot, "Now ")
        await go_to(pilot, "tier")
        await press(pilot, "enter")
        await choose(pilot, app, "core")
        await go_to(pilot, "confidence")
        await press(pilot, "l")
        text = screen_text(app)
        assert "~ text, tier, confidence" in text
        assert "was " in text
        assert same_rows(rows_of(demo), before)
        await press(pilot, "ctrl+s")
        text = screen_text(app)
        assert isinstance(app.screen, ChangePreview)
        assert f"Now {old['text'][:12]}" in text
        assert "A new vector is made by static-minilm-256" in text
        await press(pilot, "enter")
        assert "1 memory changed (entry 1); u undoes it" in said(app)
        new = row_of(demo, memory)
        assert new["text"] == f"Now {old['text']}"
        assert new["vector"] != old["vector"]
        assert '"tier":"core"' in new["metadata"].replace(" ", "")
        await steps(pilot, "u", "enter")
    assert same_rows(rows_of(demo), before)


@pytest.mark.slow
async def test_a_preference_gets_a_new_version_or_is_changed_in_place(demo):
    async with browsing(demo) as (app, pilot):
        memory = await find(pilot, "cat:preference -is:superseded")
        old = row_of(demo, memory)
        await press(pilot, "e")
        await type_text(pilot, "Still: ")
        assert "makes a new version" in screen_text(app)
        await press(pilot, "ctrl+s")
        text = screen_text(app)
        assert "new version" in text
        assert "the version before stays as history" in text
        assert "Still: " in text
        await press(pilot, "escape")
        assert isinstance(app.screen, EditForm)
        assert app.screen.query_one(DraftText).text.startswith("Still: ")
        await go_to(pilot, "in_place")
        await press(pilot, "enter", "ctrl+s")
        assert "new version" not in screen_text(app)
        await press(pilot, "enter")
        assert row_of(demo, memory)["text"] == f"Still: {old['text']}"
        assert "1 memory changed" in said(app)


async def test_importance_7_is_refused_where_it_is_typed_and_the_rest_stays(tmp_path):
    store = pro_store(tmp_path / "store")
    version = version_of(store)
    async with browsing(store, size=(80, 24)) as (app, pilot):
        await press(pilot, "e")
        await go_to(pilot, "tier")
        await press(pilot, "l")
        await go_to(pilot, "importance")
        await press(pilot, "enter", *["backspace"] * 4, "7", "enter")
        text = screen_text(app)
        assert "importance runs from 0 to 1; 7 is not in it" in text
        assert "~ tier" in text
        await go_to(pilot, "scope")
        await press(pilot, "enter", "G")
        await choose(pilot, app, "another scope")
        await press(pilot, *["backspace"] * 40)
        await type_text(pilot, "no such scope")
        await press(pilot, "enter")
        assert "characters (or spaces) that no agent's scope has" in words(screen_text(app))
        await press(pilot, "escape")
        assert isinstance(app.screen, ChooseOne), "esc asks before it drops what was typed"
        await press(pilot, "d")
        assert not isinstance(app.screen, EditForm)
    assert version_of(store) == version


async def test_escape_does_not_ask_when_nothing_differs(tmp_path):
    async with browsing(pro_store(tmp_path / "store")) as (app, pilot):
        await press(pilot, "e", "x", "backspace", "ctrl+s")
        assert "Nothing differs from what is stored yet." in screen_text(app)
        await press(pilot, "escape")
        assert len(app.screen_stack) == 1


async def test_a_refused_text_comes_back_to_the_form_with_the_reason(tmp_path):
    store = pro_store(tmp_path / "store")
    version = version_of(store)
    async with browsing(store) as (app, pilot):
        await press(pilot, "e")
        await type_text(pilot, "Other words. ")
        assert "there is no embedder" in screen_text(app)
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, EditForm)
        assert "The text cannot be changed, since its vector would not follow" in screen_text(app)
        assert app.screen.query_one(DraftText).text.startswith("Other words. ")
        app.screen.query_one(DraftText).load_text("  ")
        await press(pilot, "ctrl+s")
        assert "A memory cannot have an empty text." in screen_text(app)
    assert version_of(store) == version


async def test_a_paste_of_5_mb_is_refused_and_one_of_many_lines_is_taken(tmp_path):
    async with browsing(pro_store(tmp_path / "store")) as (app, pilot):
        await press(pilot, "e")
        text = app.screen.query_one(DraftText)
        before = text.text
        text.post_message(events.Paste("x" * 5_000_000))
        await settle(pilot)
        assert text.text == before
        assert "Not pasted: 5,000,000 characters; a memory takes 100,000." in screen_text(app)
        text.post_message(events.Paste("one\ntwo\x1b[31m\n"))
        await settle(pilot)
        assert text.text == f"one\ntwo\u241b[31m\n{before}"


async def test_the_text_in_the_editor(demo, tmp_path, lent):
    environ = editor(tmp_path, 'printf "first line\\nsecond line\\n" > "$1"')
    async with browsing(demo, environ=environ) as (app, pilot):
        memory = await find(pilot, "cat:fact")
        await press(pilot, "o")
        assert isinstance(app.screen, ChangePreview)
        await press(pilot, "enter")
        assert row_of(demo, memory)["text"] == "first line\nsecond line"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("exit 3", "The editor ended with 3"),
        ('rm "$1"', "The editor removed the file."),
        ("printf '\\377\\376' > \"$1\"", "no UTF-8 text"),
        (': > "$1"', "A memory cannot have an empty text."),
        ("head -c 5000000 /dev/zero | tr '\\000' 'x' > \"$1\"", "5,000,000 characters"),
        ("printf 'a\\000b' > \"$1\"", "NUL character"),
    ],
)
async def test_an_editor_that_fails_or_leaves_nonsense(demo, tmp_path, lent, body, sentence):
    version = version_of(demo)
    async with browsing(demo, environ=editor(tmp_path, body)) as (app, pilot):
        await find(pilot, "cat:fact")
        await press(pilot, "o")
        assert isinstance(app.screen, EditForm)
        assert sentence in words(screen_text(app))
    assert version_of(demo) == version


@pytest.mark.slow
async def test_an_editor_that_changes_nothing_and_one_that_is_not_there(demo, tmp_path, lent):
    async with browsing(demo, environ=editor(tmp_path, 'echo >> "$1"')) as (app, pilot):
        await press(pilot, "o")
        assert "The text is the same" in said(app)
    async with browsing(demo, environ={"EDITOR": "no-such-editor-anywhere"}) as (app, pilot):
        await press(pilot, "o")
        assert isinstance(app.screen, EditForm)
        assert "cannot be started" in screen_text(app)


async def test_where_no_editor_can_be_opened_the_form_says_so(tmp_path):
    async with browsing(pro_store(tmp_path / "store"), environ={"EDITOR": "true"}) as (app, pilot):
        await press(pilot, "o")
        assert isinstance(app.screen, EditForm)
        assert "No editor can be opened from here." in screen_text(app)


async def test_a_table_replaced_underneath_is_noticed(demo, tmp_path):
    other = pro_store(tmp_path / "other")
    async with browsing(demo) as (app, pilot):
        await press(pilot, "e")
        await go_to(pilot, "importance")
        await press(pilot, "l", "ctrl+s")
        assert isinstance(app.screen, ChangePreview)
        shutil.rmtree(demo / "memories.lance")
        shutil.copytree(other / "memories.lance", demo / "memories.lance")
        await press(pilot, "enter")
        assert isinstance(app.screen, EditForm)
        assert "has other columns than when this was planned" in words(screen_text(app))
    assert version_of(demo) == version_of(other)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_the_form_and_its_preview_look_as_recorded(demo, size):
    name = f"{size[0]}x{size[1]}"
    async with browsing(demo, size=size) as (app, pilot):
        await find(pilot, "cat:preference -is:superseded")
        await press(pilot, "e")
        await type_text(pilot, "Still: ")
        await go_to(pilot, "importance")
        await press(pilot, "l", "l")
        check_golden(f"edit-{name}", dialog(app))
        await press(pilot, "ctrl+s")
        check_golden(f"edit-preview-{name}", dialog(app))


def dialog(app: MemtuiApp) -> str:
    """What is inside the frame of the dialog; the id of a new version is another one each time."""
    box = app.screen.query_one(Panel).region
    shown = [line.ljust(box.right)[box.x : box.right].rstrip() for line in lines(app)[box.y : box.bottom]]
    return re.sub(r"[0-9a-f]{8}(?= takes its place)", "00000000", "\n".join(shown)).rstrip()


def words(text: str) -> str:
    """What is said in the dialog, however it is broken into lines."""
    middle = (line.split("│")[2] if line.count("│") >= 4 else line for line in text.split("\n"))
    return " ".join(" ".join(middle).split())


@pytest.mark.slow
async def test_hostile_text_is_harmless_in_the_form_the_preview_and_the_journal(tmp_path):
    rows = [
        row(f"row-{i}", text, (1.0, i / 10), timestamp=NOW_MS - i * 86_400_000, **more)
        for i, (text, more) in enumerate(NASTY_ROWS)
    ]
    store = write_store(tmp_path / "store", rows, dims=2)
    async with browsing(store, size=(80, 24)) as (app, pilot):
        for _ in range(4):
            await press(pilot, "e")
            harmless(app)
            await steps(pilot, "escape", "j")
        await press(pilot, "asterisk")
        await steps(pilot, "D", "d")
        harmless(app)
        if isinstance(app.screen, ChangePreview):
            await steps(pilot, "x", "y", "escape", "6")
            harmless(app)


def harmless(app: MemtuiApp) -> None:
    """Nothing on the screen that a terminal would obey, and no line that breaks out of it."""
    shown = lines(app)
    assert [clean(line) for line in shown] == shown
    assert all(cell_len(line) <= app.size.width for line in shown)


async def test_the_ways_out_can_be_clicked(tmp_path):
    store = pro_store(tmp_path / "store")
    async with browsing(store) as (app, pilot):
        await press(pilot, "c", "i", *["backspace"] * 10, "1")
        await press(pilot, "enter")
        await pilot.click(DialogKeys, offset=(3, 0))
        await settle(pilot)
        assert "1 memory changed" in said(app)
