"""The table of actions: the JSON that is read says what the TOML says that people edit."""

from __future__ import annotations

import os
import tomllib

from memtui.tui.actions.conflicts import PLACES
from memtui.tui.actions.data import FILE, SOURCE, as_json, from_source

SHARED = {
    "filter": "slash",
    "mark": "space",
    "forget": "D",
    "export": "x",
    "edit": "e",
    "undo": "u",
    "redo": "U",
    "copy": "y",
    "zoom": "z",
    "explain": "w",
    "why-not": "W",
    "browse": "b",
}
"""The verbs that screens have in common, and the one key for each."""


def test_the_json_of_the_actions_says_what_their_toml_says() -> None:
    wanted = as_json(from_source())
    if os.environ.get("WRITE_GOLDEN"):
        FILE.write_text(wanted, encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == wanted, (
        "actions.toml has changed: WRITE_GOLDEN=1 pytest tests/arch/test_actions.py writes actions.json anew"
    )


def test_a_row_says_nothing_that_nobody_reads() -> None:
    data = from_source()
    fields = {
        "keys",
        "label",
        "group",
        "bar",
        "shown",
        "help",
        "needs",
        "also",
        "moved",
        "call",
        "writes",
        "bulk",
        "removes",
    }
    places = {"title", "inside", "needs", "on", "by"}
    assert {id: set(row) - fields for id, row in data["actions"].items() if set(row) - fields} == {}
    assert {name for name, row in data["where"].items() if set(row) - places} == set()


MOST_EXCEPTIONS = 13
"""Letters that mean something else on one screen: they may become fewer."""


def opened_by(section: str) -> list[str]:
    """The keys of the action that opens a section."""
    return from_source()["actions"].get(PLACES[section].by, {}).get("keys", [])


def test_a_letter_means_one_thing_on_every_screen_or_says_why_not() -> None:
    source = tomllib.loads(SOURCE.read_text(encoding="utf-8"))
    letters, exceptions = source["letters"], source["exceptions"]
    unlisted, used = [], set()
    for id, row in from_source()["actions"].items():
        section, _, name = id.partition(".")
        if section != "app" and not PLACES[section].on:
            continue  # a dialog has the whole keyboard
        if name == "close" and set(row["keys"]) & set(opened_by(section)):
            continue  # what opened it closes it, too
        wrong = [
            key
            for key in row["keys"]
            if (key in letters and name not in letters[key]["of"])
            or (len(key) == 1 and key.isalpha() and key not in letters)
        ]
        if name in SHARED and row["keys"] and SHARED[name] not in row["keys"]:
            wrong.append(f"{SHARED[name]} for {name}")
        used |= {id} if wrong else set()
        unlisted += [f"{id}: {', '.join(wrong)}"] if wrong and id not in exceptions else []
    meanings = [f"{letter}: {row['means']}" for letter, row in letters.items()]
    assert unlisted == [], f"one letter, one meaning: {meanings}"
    assert sorted(set(exceptions) - used) == [], "no longer exceptions"
    assert all(len(reason) > 20 for reason in exceptions.values())
    assert len(exceptions) <= MOST_EXCEPTIONS, "a letter of its own needs another reason to go"
