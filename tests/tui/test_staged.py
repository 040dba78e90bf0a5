"""Several changes in one change set, from the first that is staged to the undo of them all."""

from __future__ import annotations

import pytest

from memtui.engine.changes.change_set import Change
from memtui.engine.changes.staging import title_of
from memtui.tui.dialogs.change_preview import ChangePreview
from tests.engine.curate_world import row_of, rows_of, same_rows, version_of
from tests.tui.driving import lines, screen_text, type_text
from tests.tui.test_changing import browsing, choose, current_id, listing, pro_store, said, steps


async def test_changes_are_staged_looked_at_together_dropped_edited_and_applied_as_one(tmp_path):
    store = pro_store(tmp_path / "store")
    before, version = rows_of(store), version_of(store)
    async with browsing(store) as (app, pilot):
        first = current_id(app)
        await steps(pilot, "space", "space", "c", "i", *["backspace"] * 10)
        await type_text(pilot, "0.2")
        await steps(pilot, "enter", "s")
        assert "2 changes staged, nothing written; C in Browse" in said(app)
        assert "2 staged" in lines(app)[0]
        assert len(listing(app).marks) == 0
        assert sum(" ~ " in line for line in lines(app)) == 2
        await steps(pilot, "D", "d")  # the third memory
        third = app.screen.plan.ids[0]  # type: ignore[attr-defined]
        await steps(pilot, "s", "g", "c", "t")
        await choose(pilot, app, "core")
        assert "1 memory has a staged change: this comes on top, applied with it." in screen_text(app)
        assert "enter apply" not in screen_text(app)
        await steps(pilot, "enter")
        assert isinstance(app.screen, ChangePreview)
        await steps(pilot, "s")
        assert "3 staged" in lines(app)[0]
        await steps(pilot, "c", "t")  # core again: nothing more
        await choose(pilot, app, "core")
        assert "Nothing to change" in said(app)
        assert same_rows(rows_of(store), before)

        await steps(pilot, "C")
        assert "3 memories: importance, confidence, tier; 1 deleted" in screen_text(app)
        await steps(pilot, "j", "d")
        assert "2 memories: importance, confidence, tier; 1 deleted" in screen_text(app)
        await steps(pilot, "escape")
        assert said(app) == "2 changes stay staged."
        await steps(pilot, "q")
        assert app.is_running
        assert "2 staged and not applied" in said(app)
        await steps(pilot, "C", "e")
        assert "0.2" in screen_text(app), "the form shows the memory as it is staged"
        await steps(pilot, "escape", "C", "y")
        assert version_of(store) == version + 1
        assert "2 memories changed (entry 1); u undoes it" in said(app)
        assert "staged" not in lines(app)[0]
        changed = row_of(store, first)
        assert (changed["importance"], '"tier":"core"' in changed["metadata"].replace(" ", "")) == (0.2, True)
        assert third not in rows_of(store).column("id").to_pylist()
        await steps(pilot, "u", "enter")
        assert same_rows(rows_of(store), before)
        await steps(pilot, "C")
        assert "Nothing is staged." in said(app)


@pytest.mark.slow
async def test_what_has_waited_is_tried_on_the_table_of_now_whose_older_versions_may_be_gone(tmp_path):
    store = pro_store(tmp_path / "store")
    async with browsing(store) as (app, pilot):
        waiting = current_id(app)
        await steps(pilot, "c", "i", *["backspace"] * 10)
        await type_text(pilot, "0.2")
        await steps(pilot, "enter", "s")
        assert "1 change staged" in said(app)
        await steps(pilot, "j", "D")
        await choose(pilot, app, "including history")
        await steps(pilot, "y")
        assert "1 memory" in said(app) or "gone" in screen_text(app)
        await steps(pilot, "escape", "C")
        seen = screen_text(app)
        assert "EFFECT ON RECALL" in seen
        assert "is missing" not in seen
        assert "not known" not in seen
        await steps(pilot, "enter")
    assert row_of(store, waiting)["importance"] == 0.2


def test_the_title_of_several_changes_names_links_and_not_what_follows_a_text():
    after = {"text": "new", "l0_abstract": "new", "l1_overview": "- new", "relations": "[]", "tier": "core"}
    title = title_of([Change("a", "edit", "old", dict.fromkeys(after), after)])
    assert title == "1 memory: text, links, tier"
