"""The palette: everything that can be done from here, by a part of its name."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from textual.widgets import Input

from memtui.tui.actions.data import SENTENCES
from memtui.tui.actions.table import BY_ID, TABLE
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.dialogs.choose_one import ChooseOne
from memtui.tui.dialogs.palette import Palette, PaletteList, shifted
from memtui.tui.dialogs.palette_entry import PaletteEntry, rank
from memtui.tui.dialogs.palette_sources import closeness, entries_for, intent_entries, is_command
from memtui.tui.dialogs.palette_words import FILLERS, REMOVING
from memtui.tui.screens.mend.screen import MendScreen
from memtui.tui.startup.open_store import NothingFound
from memtui.ui_state import store_ui_state
from tests.engine.curate_world import version_of
from tests.timing import spent
from tests.tui.driving import lines, press, running, screen_text, settle, type_text, until
from tests.tui.memory_engine import MemoryEngine
from tests.tui.test_changing import browsing, pro_store
from tests.tui.test_journal import changed_store


def entry(name: str, group: str = "COMMANDS", disabled: str = "") -> PaletteEntry:
    return PaletteEntry(group, name, lambda: None, disabled=disabled)


def test_matches_are_ranked_within_their_groups_and_disabled_ones_come_last():
    pool = [
        entry("Sort by age"),
        entry("Reload", disabled="no store"),
        entry("agent:main", "SCOPES"),
        entry("Age"),
    ]
    names = [found.name for found, _ in rank(pool, "age")]
    assert names[0] == "Age"
    assert set(names) == {"Age", "Sort by age", "agent:main"} or "agent:main" in names
    assert [found.name for found, _ in rank(pool, "re")][-1] == "Reload"
    assert [found.name for found, _ in rank(pool, ":")] == ["agent:main"]
    assert len(rank(pool, "")) == 4
    assert rank(pool, "zzz") == []


def test_what_several_words_surely_mean_keeps_its_place_though_it_cannot_be_done_now():
    pool = [
        *(entry(f"Browse list number {name}") for name in ("one", "two", "three", "four", "five", "six")),
        entry("Browse this list", disabled="nothing here"),
        entry("Lists of scopes", disabled="nothing here"),
    ]
    assert rank(pool, "browse this list")[0][0].name == "Browse this list"
    several = [found.name for found, _ in rank(pool, "browse number")]
    assert "Browse this list" not in several[:6], "said by half of the words only"
    one = [bool(found.disabled) for found, _ in rank(pool, "list")]
    assert one == [False] * 6 + [True] * 2, "one word may mean any of them: what can be done comes first"


def test_a_long_hostile_name_is_matched_quickly():
    def match(length: int) -> None:
        rank([entry("a" * 60 + "b" * length)] * 50, "aaabbbx")

    assert spent(lambda: match(5_000)) < 40 * spent(lambda: match(500))


async def test_a_command_is_run_on_the_screen_below():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "2", "ctrl+p")
        assert isinstance(app.screen, Palette)
        await type_text(pilot, "importance")
        await press(pilot, "enter")
        assert app.screen.wish.query.sort == "-importance"


async def test_a_scope_is_gone_to_by_name():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "2", "colon")
        await type_text(pilot, "ines")
        await press(pilot, "enter")
        await until(pilot, lambda: not isinstance(app.screen, Palette))
        await until(pilot, lambda: app.screen.wish.query.scopes == ("user:ines",))


async def test_what_enter_takes_does_not_depend_on_how_fast_the_memories_are_found():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "2", "colon")
        await type_text(pilot, "ines")
        palette = app.screen
        assert isinstance(palette, Palette)
        await until(
            pilot, lambda: any(each.group == "MEMORIES" for each, _ in palette.query_one(PaletteList).rows)
        )
        palette._show()  # as when the next letter comes after they were found
        current = palette.query_one(PaletteList).current
        assert current is not None
        assert current.name == "user:ines"


async def test_a_theme_is_previewed_and_taken_back():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "%paper")
        await settle(pilot)
        assert app.theme == "paper"
        await press(pilot, "escape")
        assert app.theme == "deep-sea"


async def test_the_direct_key_is_shown_beside_the_command():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "2", "ctrl+p")
        await type_text(pilot, "zoom")
        await settle(pilot)
        line = next(line for line in screen_text(app).split("\n") if "Zoom" in line)
        assert line.rstrip(" │").endswith(" z") or " z " in line


async def test_memories_are_searched_in_the_store_and_shown_in_browse():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "@ines rota")
        await until(pilot, lambda: "MEMORIES" in screen_text(app))
        await press(pilot, "enter")
        await until(pilot, lambda: "[2 Browse]" in screen_text(app))


@pytest.mark.slow
async def test_hostile_memories_stay_text_in_the_palette(keyword_engine):
    async with running(keyword_engine, (200, 50)) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "@")
        await until(pilot, lambda: "MEMORIES" in screen_text(app))
        for _ in range(len(app.screen._found)):
            await pilot.press("down")
        await settle(pilot)
        text = screen_text(app)
        assert all(char.isprintable() or char in "\n\u200d" for char in text)


async def test_without_a_store_the_search_says_so():
    async with running(NothingFound(())) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "@port")
        await until(pilot, lambda: "no store is open" in screen_text(app))


@pytest.mark.slow
async def test_tab_goes_through_the_prefixes_and_keeps_what_was_typed():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "x")
        await press(pilot, "tab")
        assert app.screen.query_one(Input).value == ">x"
        await press(pilot, "tab", "tab", "tab", "tab", "tab", "tab")
        assert app.screen.query_one(Input).value == "x"


async def test_what_cannot_be_done_is_last_with_its_reason_and_does_nothing():
    async with running(NothingFound(()), (160, 40)) as (app, pilot):
        await press(pilot, "2", "ctrl+p")
        await type_text(pilot, ">merge")
        text = screen_text(app)
        assert "CANNOT NOW" in text
        assert "no store is open" in text
        await press(pilot, "enter")
        assert isinstance(app.screen, Palette)


async def test_a_wide_screen_shows_the_whole_of_the_highlighted_entry():
    async with running(MemoryEngine(50), (200, 50)) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "?filter")
        await settle(pilot)
        assert app.screen.query_one("EntryPane").display
        assert "The same words in Browse (/) and in" in screen_text(app)


async def test_saved_views_are_offered_on_every_screen(keyword_engine, tmp_path):
    environ = {"MEMTUI_STATE_DIR": str(tmp_path / "state")}
    uri = keyword_engine.info.uri
    store_ui_state(uri, environ).put(
        {"views": {"my plain ones": {"filter": "plain", "scopes": None, "sort": "scope"}}}
    )
    async with running(keyword_engine, environ=environ) as (app, pilot):
        await press(pilot, "1", "ctrl+p")
        await type_text(pilot, "/")
        await settle(pilot)
        assert "my plain ones" in screen_text(app)
        await press(pilot, "enter")
        await until(pilot, lambda: "[2 Browse]" in screen_text(app))
        assert (app.screen.wish.query.filter, app.screen.wish.query.sort) == ("plain", "scope")


# every command, from every screen


def own_words(entries) -> dict[str, str]:
    """For each command three words of its own, each chosen so that the fewest others have all of them.

    What takes something away is found only by words that say so: one of its three is such a word. Words that say
    nothing ("as", "was", "now") match nothing, and are none of a command's own.
    """
    texts = {
        entry.copies: set(re.findall(r"\w+", f"{entry.name} {entry.also} {entry.place}".casefold())) - FILLERS
        for entry in entries
    }
    removing = {entry.copies for entry in entries if entry.removes}
    found = {}
    for id, own in texts.items():
        chosen, others = [], list(texts.values())
        for nth in range(3):
            left = sorted(own & REMOVING if nth == 0 and id in removing else own - set(chosen))
            if left:
                chosen.append(min(left, key=lambda word: sum(word in each for each in others)))
                others = [each for each in others if chosen[-1] in each]
        found[id] = " ".join(chosen)
    return found


@pytest.mark.slow
async def test_the_palette_opens_on_every_screen_with_what_can_be_done_there(demo_engine):
    async with running(demo_engine) as (app, pilot):
        for mode in app.MODES:
            await app.switch_mode(mode)
            await press(pilot, "ctrl+p")
            assert isinstance(app.screen, Palette), mode
            assert "COMMANDS" in screen_text(app) or "HERE" in screen_text(app), mode
            await type_text(pilot, "a")
            await press(pilot, "escape")


@pytest.mark.slow
async def test_every_command_is_found_from_every_screen_by_three_words_of_its_own(keyword_engine):
    commands = [key for key in TABLE if is_command(key)]
    assert len(commands) > 250
    async with running(keyword_engine) as (app, pilot):
        await press(pilot, "2", "f")
        screens = [app.screen]
        for mode in app.MODES:
            await app.switch_mode(mode)
            await settle(pilot)
            screens.append(app.screen)
        lost = []
        for screen in screens:
            entries = [each for each in entries_for(screen) if each.group == "COMMANDS"]
            words = own_words(entries)
            for key in commands:
                meant = [replace(each, guessed=True) for each in intent_entries(screen, words[key.id])]
                first = [entry.copies for entry, _ in rank([*meant, *entries], words[key.id])][:5]
                if key.id not in first:
                    lost.append((type(screen).__name__, key.id, words[key.id]))
        assert lost == []


OTHER_WORDS = (
    ("delete memories", "browse.forget"),
    ("remove", "browse.forget"),
    ("obsidian", "transfer.begin-export"),
    ("markdown", "transfer.begin-export"),
    ("re-embed", "transfer.begin-reembed"),
    ("new model", "transfer.begin-reembed"),
    ("switch store", "home.open-path"),
    ("open store", "home.open-path"),
    ("duplicates", "mend.duplicates"),
    ("bisect", "recall.bisect"),
    ("dark theme", "app.choose-theme"),
    ("change the colours", "app.choose-theme"),
    ("change model", "transfer.begin-reembed"),
    ("restore a backup", "transfer.begin-import"),
    ("what fades this week", "app.go-lifecycle"),
    ("is the store healthy", "app.go-health"),
    ("accept pending", "app.go-capture"),
)
"""What is typed, and the command that is meant by it."""


async def test_commands_are_found_by_other_words_for_them():
    async with running(MemoryEngine(50)) as (app, _):
        entries = entries_for(app.screen)
        first = {typed: [entry.copies for entry, _ in rank(entries, typed)][:3] for typed, _ in OTHER_WORDS}
    assert {typed: first[typed] for typed, id in OTHER_WORDS if id not in first[typed]} == {}


async def test_a_near_match_is_never_a_theme_and_typing_puts_none_on():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "ctrl+p")
        for typed in ("paer", "delete every", "light", "paper"):
            app.screen.query_one(Input).value = ""
            await type_text(pilot, typed)
            await settle(pilot)
            assert app.theme == "deep-sea", typed
            rows = app.screen.query_one(PaletteList).rows
            groups = [entry.group for entry, _ in rows]
            assert "THEMES" not in groups[: len(groups) - groups.count("THEMES")]


async def test_a_dark_theme_is_chosen_among_the_themes_and_the_present_one_stands_first():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "dark theme")
        await press(pilot, "enter")
        await until(
            pilot, lambda: isinstance(app.screen, Palette) and app.screen.query_one(Input).value == "%"
        )
        await settle(pilot)
        assert app.theme == "deep-sea"
        await press(pilot, "enter")
        assert app.theme == "deep-sea"


async def test_words_in_the_plural_find_what_stands_in_the_singular(keyword_engine):
    async with running(keyword_engine) as (app, pilot):
        await press(pilot, "2", "ctrl+p")
        await type_text(pilot, "find kafkas plain")
        await until(pilot, lambda: "1 memory" in screen_text(app))
        await press(pilot, "enter")
        await until(pilot, lambda: app.screen.wish.query.filter == '"kafka" "plain"')


async def test_a_command_of_another_screen_goes_there_and_opens_its_dialog(keyword_engine):
    async with running(keyword_engine) as (app, pilot):
        await press(pilot, "6", "ctrl+p")
        await type_text(pilot, "sort order")
        await press(pilot, "enter")
        await until(pilot, lambda: "Sort by" in screen_text(app))
        assert isinstance(app.screen, ChooseOne)
        await press(pilot, "escape", "9", "ctrl+p")
        await type_text(pilot, "mend noise junk")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, MendScreen) and app.screen.state.part == "noise")


async def test_a_command_that_cannot_act_there_says_why(keyword_engine):
    async with running(keyword_engine) as (app, pilot):
        await press(pilot, "1", "ctrl+p")
        await type_text(pilot, "swap exchange sides")
        await press(pilot, "enter")
        await until(pilot, lambda: "compare: needs" in lines(app)[-2])
        assert app.current_mode == "recall"


async def test_before_anything_is_typed_the_keys_of_the_screen_come_first_then_what_was_done_last():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "2", "ctrl+p")
        text = screen_text(app)
        assert "HERE" in text
        assert "RECENT" not in text
        await type_text(pilot, "reverse the order")
        await press(pilot, "enter", "ctrl+p")
        await settle(pilot)
        assert "RECENT" in screen_text(app)
        rows = app.screen.query_one(PaletteList).rows
        assert [entry.copies for entry, _ in rows if entry.group == "RECENT"] == ["browse.reverse"]


async def test_memories_are_ranked_and_their_matches_marked_and_in_sight(keyword_engine):
    async with running(keyword_engine, (120, 36)) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "@plain")
        await until(pilot, lambda: bool(app.screen.query_one(PaletteList).rows))
        for entry, offsets in app.screen.query_one(PaletteList).rows:
            assert offsets
            said, moved = shifted(entry.name, offsets, 30)
            assert said[moved[0] : moved[0] + 5].casefold() == "plain"
            assert moved[0] < 30


async def test_what_older_words_found_never_stands_for_the_words_that_are_typed(keyword_engine):
    """The search for "plain" has not begun: of what "@a" found, only what holds the word stays, and is counted."""
    async with running(keyword_engine, (120, 36)) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "@a")
        await until(pilot, lambda: len(app.screen.query_one(PaletteList).rows) > 1)
        palette = app.screen
        assert isinstance(palette, Palette)
        before = len(palette.query_one(PaletteList).rows)
        for words in ("a plain", "a zzzz"):
            palette._list(f"@{words}")  # as when a letter has come and the store is not asked yet
            rows = palette.query_one(PaletteList).rows
            assert len(rows) < before
            assert all(all(word in entry.name.casefold() for word in words.split()) for entry, _ in rows)


def test_a_text_meets_words_the_better_the_more_exactly():
    texts = ["airport", "ports of call", "a port, and the bastion", "the bastion port is 2222"]
    assert sorted(texts, key=lambda text: -closeness(text, ["bastion", "port"])) == texts[::-1]


# sentences


def test_a_guess_stands_behind_a_command_that_has_all_of_the_words():
    guess = PaletteEntry("INTENT", "Archive lint notes", lambda: None, guessed=True)
    command = entry("Notes archive")
    assert [found.name for found, _ in rank([guess, command], "notes archive")] == [command.name, guess.name]
    assert rank([guess, command], "lint notes archive")[0][0].name == guess.name


def test_no_command_that_takes_away_is_offered_for_words_that_it_does_not_have():
    drop = PaletteEntry("COMMANDS", "Drop all", lambda: None, removes=True)
    assert [found.name for found, _ in rank([drop, entry("Drag all")], "darg")] == ["Drag all"]
    assert [found.name for found, _ in rank([drop, entry("Drag all")], "drp")] == []


async def test_a_command_that_begins_like_a_search_is_not_taken_for_one(keyword_engine):
    async with running(keyword_engine) as (app, pilot):
        await press(pilot, "7", "ctrl+p")
        await type_text(pilot, "show lifecycle browse")
        await settle(pilot)
        rows = app.screen.query_one(PaletteList).rows
        assert rows[0][0].copies == "lifecycle.browse"
        app.screen.query_one(Input).value = ""
        await type_text(pilot, "erase lifecycle delete")
        await settle(pilot)  # the sentence is about no memory
        assert app.screen.query_one(PaletteList).rows[0][0].copies == "review.forget"
        for typed, id in (("drop case cases", "cases.remove"), ("revert capture back", "capture.undo")):
            app.screen.query_one(Input).value = ""
            await type_text(pilot, typed)
            await settle(pilot)
            assert app.screen.query_one(PaletteList).rows[0][0].copies == id
        app.screen.query_one(Input).value = ""
        await type_text(pilot, "show lifecycle gallery")
        await settle(pilot)
        assert (
            app.screen.query_one(PaletteList).rows[0][0].group != "INTENT"
        )  # about no memory: "show" is no sentence then


@pytest.mark.parametrize("typed", ["delete all", "delete everything", "wipe all"])
async def test_what_is_typed_to_delete_all_ends_on_the_dialog_that_asks_how(typed, keyword_engine):
    async with running(keyword_engine) as (app, _):
        first = rank(entries_for(app.screen), typed)[0][0]
        assert first.copies == "browse.forget"


def test_every_sentence_does_actions_of_the_table_that_its_screens_have():
    for name, row in SENTENCES.items():
        if row["takes"] not in ("agent", "scope"):
            for step in row["does"]:
                assert step.partition("(")[0] in BY_ID, name
        kinds = ("memories", "question", "path", "agent", "scope", "entries", "anything", "sentence")
        assert row["takes"] in kinds


@pytest.mark.slow
async def test_a_sentence_lands_on_the_preview_of_its_task_from_any_screen(tmp_path):
    store = pro_store(tmp_path / "store")
    before = version_of(store)
    async with browsing(store) as (app, pilot):
        await press(pilot, "6", "ctrl+p")
        await type_text(pilot, "forget note 3")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        assert "Note number 3" in screen_text(app)
        assert "Note number 2" not in screen_text(app)
        await press(pilot, "escape", "ctrl+p")
        await type_text(pilot, "export note as markdown")
        await press(pilot, "enter")
        await until(pilot, lambda: app.current_mode == "transfer" and "WHAT IS LOST" in screen_text(app))
        assert app.screen.run.state.format == "markdown"
    assert version_of(store) == before


async def test_the_palette_says_how_many_memories_a_sentence_is_about(keyword_engine):
    async with running(keyword_engine) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "forget kafka plain")
        await until(pilot, lambda: "1 memory" in screen_text(app))
        assert "INTENT" in screen_text(app)


async def test_forgetting_by_name_offers_deletion_including_history_second(demo_engine):
    async with running(demo_engine) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "forget Peter Lund")
        await settle(pilot)
        rows = app.screen.query_one(PaletteList).rows
        names = [entry.name for entry, _ in rows if entry.group == "INTENT"]
        assert names[:2] == ["Forget Peter Lund", "Delete including history: Peter Lund"]


async def test_no_sentence_ends_in_nothing_matches(keyword_engine):
    async with running(keyword_engine) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "bisect the zzyzx")
        await until(pilot, lambda: "Ask Recall: bisect the zzyzx" in screen_text(app))
        rows = app.screen.query_one(PaletteList).rows
        named = [entry.name for entry, _ in rows if entry.group == "COMMANDS"]
        assert named, "a command has one of the words"
        assert all(entry.group != "THEMES" for entry, _ in rows)
        await press(pilot, *["down"] * (len(rows) - 1), "enter")
        await until(pilot, lambda: app.current_mode == "browse")
        await until(pilot, lambda: app.screen.wish.query.filter.split() == ['"bisect"', '"the"', '"zzyzx"'])


@pytest.mark.slow
async def test_sentences_land_on_the_journal_on_an_import_and_on_audit(tmp_path):
    store = changed_store(tmp_path)  # two entries of three days ago, one of today
    (tmp_path / "talks.jsonl").write_text('{"text": "The tea is green."}\n')
    async with browsing(store) as (app, pilot):
        await press(pilot, "5", "ctrl+p")
        await type_text(pilot, "undo since 5 days tier")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        assert "tier" in screen_text(app)
        await press(pilot, "escape")
        assert "/ since:5d tier   1 of 3" in screen_text(app)
        assert app.screen.state.shown == 2
        await press(pilot, "ctrl+p")
        await type_text(pilot, "undo yesterday")
        await press(pilot, "enter")
        await until(pilot, lambda: "0 of 3" in screen_text(app))
        assert app.screen.state.shown == 0  # not another entry that happened to be under the cursor
        await until(pilot, lambda: "undo: needs an entry" in screen_text(app))
        assert not isinstance(app.screen, ChangePreview)
        await press(pilot, "ctrl+p")
        await type_text(pilot, f"import {tmp_path / 'talks.jsonl'}")
        await press(pilot, "enter")
        await until(pilot, lambda: app.current_mode == "transfer" and "talks.jsonl" in screen_text(app))
        await press(pilot, "escape", "1", "ctrl+p")
        await type_text(pilot, "who may write agent:main")
        await press(pilot, "enter")
        await until(pilot, lambda: app.current_mode == "audit" and app.screen.state.view == "access")
