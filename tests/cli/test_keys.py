"""`memtui keys`: the table, the verdict on a keys.toml, and the page that is made from it."""

from __future__ import annotations

import json
import os
import re

import pytest

from memtui.cli.keys import markdown
from memtui.cli.main import run
from memtui.tui.actions.table import TABLE, load_keys
from tests.conftest import ROOT

BLOCK = re.compile(r"(<!-- keys: memtui keys --markdown -->\n).*?(<!-- /keys -->)", re.DOTALL)


@pytest.fixture(autouse=True)
def own_config(tmp_path, monkeypatch):
    """Nobody's keys but ours."""
    monkeypatch.setenv("MEMTUI_CONFIG_DIR", str(tmp_path))


def test_the_page_of_the_keys_lists_them_as_they_are():
    path = ROOT / "docs" / "keys.md"
    text = path.read_text(encoding="utf-8")
    new = BLOCK.sub(lambda found: f"{found[1]}{markdown(load_keys())}\n{found[2]}", text)
    if os.environ.get("WRITE_GOLDEN"):
        path.write_text(new, encoding="utf-8")
        text = new
    assert text == new, (
        "the keys have changed: WRITE_GOLDEN=1 pytest tests/cli/test_keys.py writes the page anew"
    )


PAGES = [
    ROOT / "README.md",
    *(path for path in sorted((ROOT / "docs").glob("*.md")) if path.name != "api.md"),
]
NO_KEYS = ("=", ">", "<")
"""Comparisons of the filter language, which look like keys."""
PROSE_KEY = re.compile(r"`([^`\s]|\^[a-z]|tab|space)`(?:<!-- ([a-z.-]+) -->)?")


def test_a_key_in_a_pages_sentences_is_that_of_the_action_it_names():
    """A letter that moves takes the sentences along: each key there names its action in a comment."""
    caps = {key.id: key.cap for key in load_keys().table}
    named = 0
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        prose = re.sub(r"```.*?```", "", BLOCK.sub("", text), flags=re.DOTALL)
        found = [(key, action) for key, action in PROSE_KEY.findall(prose) if key not in NO_KEYS]
        named += len(found)
        assert [key for key, action in found if not action] == [], path.name
        assert [action for _, action in found if action not in caps] == [], path.name
        new = PROSE_KEY.sub(
            lambda match: f"`{caps[match[2]]}`<!-- {match[2]} -->" if match[2] else match[0], text
        )
        if os.environ.get("WRITE_GOLDEN"):
            path.write_text(new, encoding="utf-8")
            text = new
        assert text == new, path.name
    assert named > 60


def test_the_table_has_every_action_and_json_says_the_same(capsys):
    assert run(["keys"]) == 0
    printed = capsys.readouterr().out
    assert all(key.id in printed for key in TABLE)
    assert run(["keys", "--preset", "vim", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["preset"] == "vim"
    assert {key["id"] for key in document["keys"]} == {key.id for key in TABLE}
    assert next(key for key in document["keys"] if key["id"] == "list.first")["keys"][0] == "g g"


def test_check_is_0_for_a_good_file_and_for_none_and_1_for_a_bad_one(tmp_path, capsys):
    assert run(["keys", "--check"]) == 0
    assert "There is no" in capsys.readouterr().out
    (tmp_path / "keys.toml").write_text('preset = "emacs"\n[browse]\nsort = "f6"\n', encoding="utf-8")
    assert run(["keys", "--check"]) == 0
    assert "no problem, preset emacs" in capsys.readouterr().out
    bad = tmp_path / "bad.toml"
    bad.write_text('[browse]\nsort = "ctrl+i"\n', encoding="utf-8")
    assert run(["keys", "--check", str(bad)]) == 1
    assert "bad.toml, line 2: browse.sort: ctrl+i reaches memtui as tab" in capsys.readouterr().out
    assert run(["keys", "--check", str(bad), "--json"]) == 1
    assert len(json.loads(capsys.readouterr().out)["problems"]) == 1
    assert run(["keys", "--check", str(tmp_path / "none.toml")]) == 2


def test_help_lists_topics_and_prints_one_with_the_keys_in_force(tmp_path, capsys):
    assert run(["help"]) == 0
    assert "why-not" in capsys.readouterr().out
    (tmp_path / "keys.toml").write_text('[app]\njump = "f8"\n', encoding="utf-8")
    assert run(["help", "keys"]) == 0
    assert "`f8` puts a letter" in capsys.readouterr().out
    assert run(["help", "nothing"]) == 2
    assert run(["help", "filter", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "filter"
