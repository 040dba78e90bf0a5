"""Other keys: presets, keys.toml, its mistakes, sequences; and that the app obeys them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from memtui.tui.actions.action import Action, cap
from memtui.tui.actions.conflicts import ANY_SCREEN, PLACES, clashes, together
from memtui.tui.actions.dispatch import Sequences
from memtui.tui.actions.key_names import RESERVED, canonical, unusable
from memtui.tui.actions.keymap import PRESETS
from memtui.tui.actions.table import BY_ID, TABLE, load_keys
from tests.conftest import ROOT
from tests.tui.driving import lines, make_app, press, screen_text, settle
from tests.tui.memory_engine import MemoryEngine


def keys_from(tmp_path: Path, text: str):
    file = tmp_path / "keys.toml"
    file.write_text(text, encoding="utf-8")
    return load_keys(file)


def test_every_context_has_a_place():
    assert sorted({key.context for key in TABLE} - set(PLACES)) == [], "name it in [where] of actions.toml"
    assert {outer for place in PLACES.values() for outer in place.inside} <= {ANY_SCREEN, *PLACES}


def test_hints_on_the_screen_name_actions_that_there_are():
    texts = [
        node.value
        for path in (ROOT / "memtui/tui").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    named = {id for text in texts for id in re.findall(r"\{([a-z]+\.[a-z-]+)\}", text)}
    assert len(named) > 60
    assert sorted(named - set(BY_ID)) == []


def test_hints_follow_the_keys_in_force(tmp_path):
    keys = keys_from(tmp_path, '[browse]\nundo = "f5"\n')
    assert keys.words("{browse.undo} undoes it, {no.such} {stays}") == "f5 undoes it, {no.such} {stays}"


def test_letters_of_choices_follow_the_keys_in_force(tmp_path):
    choices = [("app.reload", "try again"), ("d", "demo"), ("j", "JSON"), ("", "more"), ("d", "dodo")]
    assert load_keys().letters(choices, "pick", "app") == ("r", "d", "s", "", "o")
    keys = keys_from(tmp_path, '[app]\nreload = "f5"\n[pick]\nclose = "d"\ndown = "down"\n')
    assert keys.letters(choices, "pick", "app") == ("t", "e", "j", "", "o")


def test_keys_of_a_panel_and_of_the_screen_around_it_are_live_together():
    assert together("list", "browse")
    assert together("browse", "list")
    assert together("rows", "recall")
    assert together("rows", "transfer")
    assert together("palette", "palette")
    assert not together("browse", "recall")
    assert not together("list", "scopes")
    assert not together("pick", "app")


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_takes_no_key_from_another_action_and_uses_only_keys_that_arrive(preset):
    deliberate = {frozenset((clash.mine, clash.other)) for clash in clashes(TABLE)}
    keys = load_keys(None, preset)
    assert [
        clash for clash in clashes(keys.table) if frozenset((clash.mine, clash.other)) not in deliberate
    ] == []
    own = {key.id: key.each for key in TABLE}
    for key in keys.table:
        assert key.each or not own[key.id]
        for each in set(key.each) - set(own[key.id]):
            assert not any(unusable(part) for part in each.split(" ") if part not in RESERVED), key


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("?", "question_mark"),
        ("/", "slash"),
        ("G", "G"),
        ("shift+g", "G"),
        ("^d", "ctrl+d"),
        ("C-x", "ctrl+x"),
        ("Ctrl+D", "ctrl+d"),
        ("Esc", "escape"),
        ("PgDn", "pagedown"),
        ("ctrl+space", "ctrl+@"),
        ("alt+x", "alt+x"),
        ("ctrl+/", "ctrl+underscore"),
        ("+", "plus"),
        (" ", "space"),
    ],
)
def test_keys_are_written_as_people_write_them(written, name):
    assert canonical(written) == name
    assert unusable(name) == ""


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("ctrl+i", "reaches memtui as tab"),
        ("ctrl+h", "reaches memtui as backspace"),
        ("tab", "cannot be given away"),
        ("ctrl+c", "cannot be given away"),
        ("cmd+x", "never reaches"),
        ("ctrl+shift+a", "does not reach"),
        ("ctrl+1", "does not reach"),
        ("alt+less_than_sign", "does not reach"),
        ("pagedwn", "did you mean pagedown"),
        ("strg+x", "no modifier"),
    ],
)
def test_keys_that_never_arrive_are_refused(key, why):
    assert why in unusable(key)


def test_a_mistake_is_a_sentence_with_its_line_and_costs_only_that_line(tmp_path):
    keys = keys_from(
        tmp_path,
        'preset = "vim"\n\n[browse]\nsort = "o x"\nsorrt = "x"\nreverse = "c"\nzoom = ["Z", "ctrl+i"]\n'
        'wider = "Y"\n\n[app]\nquit = []\nreload = 3\npalette = "2"\n',
    )
    said = "\n".join(keys.problems)
    for part in (
        "line 5: there is no action browse.sorrt. Did you mean browse.sort?",
        'line 6: browse.reverse: c is already browse.change ("change", Browse).',
        "line 7: browse.zoom: ctrl+i reaches memtui as tab",
        "line 11: app.quit must keep a key.",
        "line 12: app.reload: write a key in quotes",
        'line 13: app.palette: 2 is already app.go-browse ("Browse", Everywhere).',
    ):
        assert part in said
    assert keys.by_id["browse.wider"].each == ("Y",)
    assert keys.by_id["browse.zoom"].each == ("z",)
    assert keys.by_id["list.first"].each[0] == "g g"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[browse\n", "keys.toml, line 1: is not TOML"),
        ('preset = "vmi"\n', "keys.toml, line 1: there is no preset vmi. Did you mean vim?"),
        ("preset = 4\n", "there is no preset 4"),
        ('[browse]\nsort = ["x", 4]\n', "line 2: browse.sort: write a key in quotes"),
        ('[browse]\nsort = "a b c"\n', "has more than 2 keys"),
        ('browse.sort = "o"\n"browse.sort" = "x"\n', "is set twice"),
        ('[x]\ny.z = "a"\n', "there is no action x.y.z"),
        ("\xff" * 3, "keys.toml"),
    ],
)
def test_no_file_stops_the_app(tmp_path, text, said):
    assert said in "\n".join(keys_from(tmp_path, text).problems)


def test_a_file_that_is_no_text_or_not_there(tmp_path):
    (tmp_path / "keys.toml").write_bytes(b"\x00\xff\xfe")
    assert "cannot be read" in load_keys(tmp_path / "keys.toml").problems[0]
    assert load_keys(tmp_path / "none.toml").problems == ()


def test_a_preset_of_the_settings_is_taken_unless_the_file_names_one(tmp_path):
    (tmp_path / "keys.toml").write_text('preset = "emacs"\n', encoding="utf-8")
    assert load_keys(tmp_path / "keys.toml", "vim").preset == "emacs"
    assert load_keys(None, "vim").preset == "vim"
    wrong = load_keys(None, "vmi")
    assert wrong.preset == "default"
    assert wrong.problems == ("The setting keys: there is no preset vmi. Did you mean vim?",)


def test_two_actions_can_swap_their_keys_and_a_key_can_be_taken_away(tmp_path):
    keys = keys_from(tmp_path, '[browse]\nsort = "z"\nzoom = "s"\nreverse = []\n')
    assert keys.problems == ()
    assert (keys.by_id["browse.sort"].keys, keys.by_id["browse.zoom"].keys) == ("z", "s")
    assert keys.by_id["browse.reverse"].caps == ""
    assert keys.changed["browse.reverse"] == "unbound-browse.reverse"


def test_a_key_that_begins_a_sequence_cannot_be_an_action_of_its_own(tmp_path):
    keys = keys_from(tmp_path, '[browse]\nsort = "z z"\n')
    assert "z is already browse.zoom" in keys.problems[0] or "zz is already browse.zoom" in keys.problems[0]


def test_sequences_are_heard_as_one_key():
    heard = Sequences({"g": {"g": "g-then-g", "h": "g-then-h"}})
    assert [heard.heard(key) for key in "gg"] == ["", "g-then-g"]
    assert [heard.heard(key) for key in ("g", "x", "h")] == ["", "x", "h"]
    assert [heard.heard(key) for key in ("g", "escape", "g", "h")] == ["", "", "", "g-then-h"]


def test_caps_of_sequences_and_of_nothing():
    assert cap("g g") == "gg"
    assert cap("ctrl+x ctrl+c") == "^x^c"
    assert Action("a.b", "", "x", "G").press == "unbound-a.b"
    assert set(load_keys().changed) == {key.id for key in TABLE if not key.keys} & set()
    assert BY_ID["app.help"].cap == "?"


def test_what_is_printed_goes_with_the_keys_that_are_kept():
    key = Action("a.b", "l,right,enter", "open", "G", shown="enter")
    assert key.on(("l", "right", "enter", "ctrl+f")).caps == "enter ^f"
    assert key.on(("l", "ctrl+f")).caps == "l ^f"
    assert key.on(("l", "right", "enter")) is key


async def test_the_app_obeys_and_shows_other_keys(tmp_path):
    keys = keys_from(tmp_path, 'preset = "vim"\n[browse]\nsort = "f6"\n')
    assert keys.problems == ()
    app = make_app(MemoryEngine(50), keys=keys)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, "g")
        assert "gh Home" in screen_text(app).replace("  ", " ") or "h Home" in lines(app)[-1]
        await press(pilot, "b")
        assert "[2 Browse]" in lines(app)[0]
        assert "f6 sort" in lines(app)[-1]
        await press(pilot, "G")
        assert app.screen.query_one("MemoryList").cursor == 49
        await press(pilot, "g", "g")
        assert app.screen.query_one("MemoryList").cursor == 0
        await press(pilot, "s")
        assert len(app.screen_stack) == 1
        await press(pilot, "f6")
        assert len(app.screen_stack) == 2
        await press(pilot, "escape", "slash", "g", "g")
        assert app.screen.query_one("FilterBar").text == "gg"


async def test_a_tab_names_the_key_that_opens_its_screen(tmp_path):
    app = make_app(MemoryEngine(50), keys=keys_from(tmp_path, '[app]\ngo-browse = "f7"\n'))
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        assert "f7 Browse" in lines(app)[0]
        await press(pilot, "f7")
        assert "[f7 Browse]" in lines(app)[0]
        assert "3 Recall" in lines(app)[0]


async def test_where_no_sequence_begins_with_it_a_key_is_one_by_itself():
    app = make_app(MemoryEngine(50), keys=load_keys(None, "vim"))
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, "2", "semicolon", "g")
        assert len(app.screen_stack) == 1
        await press(pilot, "g", "escape")
        assert "[2 Browse]" in lines(app)[0]
        assert "h Home" not in lines(app)[-1]


async def test_an_action_without_a_key_is_still_in_the_palette(tmp_path):
    app = make_app(MemoryEngine(50), keys=keys_from(tmp_path, "[browse]\nreverse = []\n"))
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, "2", "ctrl+p", *"reverse", "enter")
        assert app.screen.wish.query.sort == "timestamp"


@pytest.mark.slow
async def test_problems_of_the_keys_are_said_at_the_start(tmp_path):
    app = make_app(MemoryEngine(5), keys=keys_from(tmp_path, "[app]\nquit = []\nhelp = []\n"))
    async with app.run_test(size=(160, 36)) as pilot:
        await settle(pilot)
        assert "keys.toml, line 2: app.quit must keep a key." in screen_text(app)
        assert "1 more" in screen_text(app)
