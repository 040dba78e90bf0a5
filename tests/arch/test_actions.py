"""The table of actions: the JSON that is read says what the TOML says that people edit."""

from __future__ import annotations

import os

from memtui.tui.actions.data import FILE, as_json, from_source


def test_the_json_of_the_actions_says_what_their_toml_says() -> None:
    wanted = as_json(from_source())
    if os.environ.get("WRITE_GOLDEN"):
        FILE.write_text(wanted, encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == wanted, (
        "actions.toml has changed: WRITE_GOLDEN=1 pytest tests/arch/test_actions.py writes actions.json anew"
    )


def test_a_row_says_nothing_that_nobody_reads() -> None:
    data = from_source()
    fields = {"keys", "label", "group", "bar", "shown", "help", "needs", "also", "call"}
    places = {"title", "inside", "needs", "on", "by"}
    assert {id: set(row) - fields for id, row in data["actions"].items() if set(row) - fields} == {}
    assert {name for name, row in data["where"].items() if set(row) - places} == set()
