"""The palette understands what people type: nine of ten wordings at the first hit, alike on every screen."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from memtui.tui.dialogs.palette import PaletteList
from memtui.tui.dialogs.palette_entry import PaletteEntry, rank
from memtui.tui.dialogs.palette_sources import entries_for
from memtui.tui.dialogs.palette_words import REMOVING, SYNONYMS, WORD, met_by, slipped, stem
from tests.tui.driving import press, running, settle
from tests.tui.memory_engine import MemoryEngine
from tests.tui.palette_wordings import DESTROYING, HARMLESS, WORDINGS


def is_meant(entry: PaletteEntry | None, targets: str) -> bool:
    """Whether the entry is one of the targets, as `palette_wordings` names them."""
    if entry is None:
        return False
    for target in targets.split():
        kind, _, name = target.partition(":")
        groups = {"sentence": "INTENT", "topic": "TOPICS", "scope": "SCOPES"}
        if kind in groups and entry.group == groups[kind] and (kind != "scope" or entry.name == name):
            return True
        if target == entry.copies or (kind == "sort" and entry.name.startswith("Sort")):
            return True
    return False


def takes_away(entry: PaletteEntry | None) -> bool:
    """Whether it is a command or a sentence that takes something away."""
    words = ("Forget", "Delete", "Archive")
    return entry is not None and (
        entry.removes
        or entry.copies in DESTROYING
        or (entry.group == "INTENT" and entry.name.startswith(words))
    )


@pytest.mark.slow
async def test_nine_of_ten_wordings_land_right_on_home_and_on_browse_and_none_on_what_destroys(demo_engine):
    assert len(WORDINGS) >= 150
    first: dict[str, list[PaletteEntry | None]] = {}
    async with running(demo_engine) as (app, pilot):
        for key in "12":
            await press(pilot, key, "ctrl+p")
            palette = app.screen
            for typed in (*(typed for typed, _ in WORDINGS), *HARMLESS):
                palette.query_one(Input).value = typed
                await settle(pilot)
                rows = palette.query_one(PaletteList).rows
                first.setdefault(typed, []).append(rows[0][0] if rows else None)
            await press(pilot, "escape")
    for screen in (0, 1):
        missed = [typed for typed, targets in WORDINGS if not is_meant(first[typed][screen], targets)]
        assert len(missed) <= len(WORDINGS) // 10, missed
    meaning = dict(WORDINGS)
    silent = [typed for typed in first if not REMOVING & set(typed.split())]
    assert [typed for typed in silent if takes_away(first[typed][0]) or takes_away(first[typed][1])] == []
    named = [[entry and (entry.copies or entry.name) for entry in first[typed]] for typed in meaning]
    assert [pair for pair in named if pair[0] != pair[1]] == []


async def test_words_that_say_nothing_match_nothing():
    async with running(MemoryEngine(50)) as (app, _):
        entries = entries_for(app.screen)
    assert {
        typed: rank(entries, typed)
        for typed in ("the", "a", "please", "with this", "for my")
        if rank(entries, typed)
    } == {}


async def test_every_removing_command_is_silent_for_a_slip_of_every_word_that_removes():
    async with running(MemoryEngine(50)) as (app, _):
        entries = entries_for(app.screen)
    removing = [entry.copies for entry in entries if entry.removes]
    assert {"browse.forget", "mend.every-trace", "agents.remove", "versions.whole"} <= set(removing)
    offered = []
    for word in sorted(REMOVING):
        for at in range(1, len(word) - 1):
            slip = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
            if slip not in REMOVING:
                offered += [(slip, entry.copies) for entry, _ in rank(entries, slip) if entry.removes]
    assert offered == []


def test_every_slip_of_one_key_is_one_and_another_word_is_none():
    for word in {word for word in WORD.findall(SYNONYMS) if len(word) > 4 and word.isalpha()}:
        for at in range(1, len(word) - 1):
            assert slipped(word[:at] + word[at + 1 :], word), word
            assert slipped(word[:at] + "q" + word[at + 1 :], word), word
            assert slipped(word[:at] + word[at + 1] + word[at] + word[at + 2 :], word), word
    assert not slipped("bastion", "session")
    assert not slipped("port", "sort")


def test_a_word_is_met_in_both_spellings_and_all_its_forms():
    assert stem("neighbours") == stem("neighbor")
    assert stem("optimise") == stem("optimize")
    assert stem("tagging") == stem("tags") == "tag"
    assert met_by("hotkeys", ["keys", "theme"]).keys() == {"keys"}
    assert met_by("improt", ["import", "report"]).keys() == {"import"}
