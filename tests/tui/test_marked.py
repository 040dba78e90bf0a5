"""Lists with marks: while some are marked the key bar has what can be done with all of them, and escape clears them."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.tui.actions.data import from_source
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.screens.browse.neighbours import NeighboursDialog
from memtui.tui.widgets.screen_bars import KeyBar
from tests.tui.driving import lines, press, settle
from tests.tui.test_locked import locked, play

NEXT = "right_square_bracket"

MARKED = {
    "Browse": ("2 space", ("list.mark", "browse.change", "browse.forget", "browse.export")),
    "Mend, noise": (
        "2 f right_square_bracket space",
        ("finds.mark", "mend.archive", "mend.forget", "mend.every-trace"),
    ),
    "Mend, secrets": (
        "2 f right_square_bracket right_square_bracket space",
        ("finds.mark", "mend.archive", "mend.mask", "mend.past"),
    ),
    "Mend, the trash": (
        "2 f right_square_bracket right_square_bracket right_square_bracket space",
        ("finds.mark", "mend.restore"),
    ),
    "Health, a version": (f"9 {NEXT} {NEXT} j d tab space", ("versions.bring-back",)),
}
"""The keys that mark one row, and what can then be done with it and others."""

IN_DIALOGS = {
    "choice.mark": "what is marked is the answer; enter takes it, and the frame says so",
    "person.choose": "each memory goes or stays; the dialog's own line says what will be done",
}

DECIDED = {"wizard.switch": "a row is in or out of what is written; there is no other thing to do with it"}


def test_every_key_that_marks_is_walked_to() -> None:
    marks = {
        id
        for id, row in from_source()["actions"].items()
        if "space" in row["keys"] and row["group"] == "ACT" and id.partition(".")[2] in _MARK_NAMES
    }
    walked = {id for _, verbs in MARKED.values() for id in verbs if id.endswith(".mark")}
    assert marks == walked | set(IN_DIALOGS) | set(DECIDED)


_MARK_NAMES = ("mark", "choose", "switch", "toggle", "select")


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["80x24", "120x36"])
async def test_marked_rows_turn_the_key_bar_to_what_is_done_with_all(
    size: tuple[int, int], demo_store: Path, tmp_path: Path
) -> None:
    async with locked(demo_store, tmp_path, size) as (app, pilot):
        for name, (keys, verbs) in MARKED.items():
            await play(pilot, keys)
            screen = app.screen
            assert screen.marked == 1, name
            shown = {key.id for key, able, _ in screen.query_one(KeyBar)._keys if able}
            assert set(verbs) <= shown, name
            bulk = {id for id, row in from_source()["actions"].items() if row.get("bulk")}
            assert shown <= bulk, f"{name}: only what is done with all of them"
            bar = lines(app)[-1]
            assert "1 marked" in bar, name
            assert app.keys.by_id[verbs[-1] if len(verbs) == 1 else verbs[1]].title in bar, name
            await press(pilot, "escape")
            assert screen.marked == 0, name
            assert app.screen is screen, name
            assert "marked" not in lines(app)[-1], name
            while len(app.screen_stack) > 1:
                app.screen.dismiss(None)
                await settle(pilot)


async def test_marked_memories_become_one_by_one_key(demo_store: Path, tmp_path: Path) -> None:
    async with locked(demo_store, tmp_path, (120, 36)) as (app, pilot):
        await play(pilot, "2 space j space")
        marked = set(app.screen.listing.marks.ids)
        assert len(marked) == 2
        await play(pilot, "M")
        await settle(pilot)
        assert isinstance(app.screen, ChangePreview)
        assert app.screen.plan.action == "merge"
        assert marked <= set(app.screen.plan.ids)


async def test_the_preview_of_a_merge_lets_choose_which_memory_is_kept(
    demo_store: Path, tmp_path: Path
) -> None:
    async with locked(demo_store, tmp_path, (80, 24)) as (app, pilot):
        await play(pilot, "2 space j space M")
        await settle(pilot)
        first = app.screen
        assert isinstance(first, ChangePreview)
        kept = next(change.id for change in first.plan.changes if change.why == "kept")
        other = next(change.id for change in first.plan.changes if change.id != kept)
        if first._rows.key == kept:
            assert "keep this one" not in "\n".join(lines(app)), "the kept one is kept already"
            await press(pilot, "j")
        assert first._rows.key == other
        assert "keep this one" in "\n".join(lines(app))
        await press(pilot, "P")
        await settle(pilot)
        second = app.screen
        assert isinstance(second, ChangePreview)
        assert second is not first
        assert next(change.id for change in second.plan.changes if change.why == "kept") == other
        assert set(second.plan.ids) == set(first.plan.ids)


async def test_without_marks_the_nearest_are_offered_to_merge_with(demo_store: Path, tmp_path: Path) -> None:
    async with locked(demo_store, tmp_path, (80, 24)) as (app, pilot):
        await play(pilot, "2 M")
        await settle(pilot)
        assert isinstance(app.screen, NeighboursDialog)
