"""The topics of the help: every one can be read, in the shell and in the app, with the keys that are in force."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import memtui.help
from memtui.cli.main import COMMANDS
from memtui.engine import UsageError
from memtui.help import ORDER, topic, topics
from memtui.tui.actions.table import BY_ID, load_keys
from memtui.tui.dialogs.palette_sources import TopicView
from tests.tui.driving import make_app, press, running, screen_text, settle, type_text, until
from tests.tui.memory_engine import MemoryEngine


def test_every_file_is_a_topic_and_every_topic_has_a_file():
    there = {path.stem for path in Path(memtui.help.__file__).parent.glob("*.md")}
    assert there == set(ORDER)


@pytest.mark.parametrize("each", topics(), ids=lambda each: each.name)
def test_a_topic_names_only_keys_and_commands_that_exist(each):
    assert each.title
    assert each.about(load_keys().cap)
    assert set(re.findall(r"\{([a-z]+\.[a-z-]+)\}", each.text)) <= set(BY_ID)
    assert set(re.findall(r"(?m)(?:`|^ +)memtui ([a-z-]{2,})", each.text)) <= {*COMMANDS, "serve"}
    assert len(each.text.splitlines()) <= 45


def test_topics_are_asked_for_by_name_or_its_beginning():
    assert topic("Find and mend").name == "find-and-mend"
    assert topic("reci").name == "recipes"
    with pytest.raises(UsageError, match="There is no topic filtr"):
        topic("filtr")


def test_the_keys_of_a_topic_follow_the_keymap(tmp_path):
    (tmp_path / "keys.toml").write_text('[browse]\nfilter = "f7"\n[app]\njump = []\n', encoding="utf-8")
    cap = load_keys(tmp_path / "keys.toml").cap
    assert "(`f7`)" in topic("filter").with_keys(cap)
    assert "`palette: jump`" in topic("keys").with_keys(cap)


async def shown(pilot, words):
    """Wait for these words of a topic: Textual reads Markdown on a thread that `settle` does not know."""
    await until(pilot, lambda: words in screen_text(pilot.app))
    await settle(pilot)


@pytest.mark.slow
async def test_topics_are_found_in_the_palette_and_from_the_help():
    async with running(MemoryEngine(9), (100, 30)) as (app, pilot):
        await press(pilot, "question_mark", "t")
        assert "TOPICS" in screen_text(app)
        await press(pilot, "down", "enter")
        assert isinstance(app.screen, TopicView)
        await shown(pilot, "Why a memory did not come back")
        await press(pilot, "escape", "ctrl+p")
        await type_text(pilot, "?undo")
        await press(pilot, "enter")
        await shown(pilot, "memtui help safety")


async def test_a_long_topic_scrolls():
    app = make_app(MemoryEngine(9))
    async with app.run_test(size=(60, 16)) as pilot:
        await settle(pilot)
        app.push_screen(TopicView(topic("filter")))
        await shown(pilot, "The same words in Browse")
        before = screen_text(app)
        await press(pilot, "G")
        assert "Tab completes" in screen_text(app)
        await press(pilot, "g")
        assert screen_text(app) == before
