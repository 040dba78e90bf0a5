"""Copying: the system's clipboard where there is one, the terminal's otherwise, and a word on which it was."""

from __future__ import annotations

import json

import pyperclip
import pytest

from memtui.tui import app as clipboard
from memtui.tui.appearance import Appearance
from memtui.tui.screens.browse.view import copy_options, copy_text
from tests.tui.driving import press, running, screen_text, settle
from tests.tui.memory_engine import MemoryEngine, memory


@pytest.fixture
def no_native(monkeypatch):
    """A machine without a clipboard program, which is what pyperclip itself says there."""

    def refuse(text):
        raise pyperclip.PyperclipException("no copy mechanism")

    monkeypatch.setattr(pyperclip, "copy", refuse)


@pytest.fixture
def native(monkeypatch):
    """The text that reached the system's clipboard."""
    copied: list[str] = []
    monkeypatch.setattr(pyperclip, "copy", copied.append)
    return copied


def test_what_can_be_copied():
    row = memory(3)
    assert [option.value for option in copy_options(row)] == ["id", "text", "JSON"]
    assert copy_text(row, "id") == row.id
    assert copy_text(row, "text") == row.raw_text
    assert json.loads(copy_text(row, "JSON"))["scope"] == row.scope


async def test_the_systems_clipboard_comes_first(native):
    async with running(MemoryEngine(9)) as (app, pilot):
        await press(pilot, "2", "y", "t")
        await settle(pilot)
        assert native == [memory(0).raw_text]
        assert "copied the text (clipboard)" in screen_text(app)


async def test_without_one_the_terminal_is_asked(no_native):
    async with running(MemoryEngine(9)) as (app, pilot):
        await press(pilot, "2", "y", "enter")
        await settle(pilot)
        assert app.clipboard == memory(0).id
        assert "copied the id (terminal clipboard)" in screen_text(app)


async def test_over_ssh_the_terminal_is_the_right_machine_unless_it_is_set(native):
    ssh = {"SSH_TTY": "/dev/pts/3", "TMUX": "/tmp/tmux-0/default,1,0"}
    async with running(MemoryEngine(9), environ=ssh) as (app, pilot):
        await press(pilot, "2", "y", "i")
        await settle(pilot)
        assert native == []
        assert app.clipboard == memory(0).id
        assert "copied the id (terminal clipboard; tmux needs set-clipboard on)" in screen_text(app)
    look = Appearance(clipboard="native")
    async with running(MemoryEngine(9), environ=ssh, look=look) as (app, pilot):
        app.copy("one", "text")
        await settle(pilot)
        assert native == ["one"]


async def test_copying_can_be_switched_off(native):
    environ = {"MEMTUI_CLIPBOARD": "off"}
    async with running(MemoryEngine(9), environ=environ) as (app, pilot):
        app.copy("one", "text")
        await settle(pilot)
        assert (native, app.clipboard) == ([], "")
        assert "not copied: copying is switched off" in screen_text(app)


async def test_what_is_too_long_for_the_terminal_is_said(no_native):
    async with running(MemoryEngine(9)) as (app, pilot):
        app.copy("x" * (clipboard._OSC52_LIMIT + 1), "text")
        await settle(pilot)
        assert "not copied: too long" in screen_text(app)


async def test_a_scope_name_can_be_copied(native):
    async with running(MemoryEngine(9)) as (_, pilot):
        await press(pilot, "2", "h", "j", "y")
        await settle(pilot)
        assert native == ["global"]
