"""Export, repair, upgrade, missing vectors, migration and re-embedding: from the key press to what is on disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memtui.engine import changes
from memtui.engine.cases import CaseBook
from memtui.engine.cases.case import Case
from memtui.paths import cases_file
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.dialogs.choose_one import ChooseOne
from memtui.tui.screens.transfer.export_task import count
from tests.engine.transfer_stores import memory, opened, pro_store, rows_of
from tests.tui.driving import lines, press, screen_text, settle, type_text
from tests.tui.previews import in_words
from tests.tui.transferring import HERE, said, steps, store, stored, transferring

__all__ = ["store"]


@pytest.mark.slow
async def test_an_export_writes_as_many_as_it_counted(store):
    async with transferring(store, task="export") as (app, pilot, _):
        await type_text(pilot, "scope:project:mango")
        await settle(pilot)
        assert "2 memories" in screen_text(app)
        await steps(pilot, ["enter", "n"])
        assert "memories.jsonl" in screen_text(app)
        await steps(pilot, ["escape", "y"])
        assert "2 of 2" in screen_text(app)
        assert "re-embedded when it is imported" in screen_text(app)
        await press(pilot, "n")
        assert "2 memories to memories.jsonl (jsonl)" in screen_text(app)  # and the start page knows
    written = [json.loads(line) for line in (store.parent / "memories.jsonl").read_text("utf-8").splitlines()]
    assert sorted(row["text"] for row in written if "text" in row) == sorted(row["text"] for row in HERE[1:3])


async def test_enter_right_behind_a_filter_waits_for_the_count(store):
    """Typed ahead of the count it goes on with it, and does not leave the person in a line that takes the next key."""
    async with transferring(store, task="export") as (_, pilot, screen):
        screen.run.keep(filter="scope:project:mango", counted=None)
        screen.run.part.took(screen.run, "scope:project:mango")
        assert screen.run.state.step == "what"
        count(screen.run)
        await settle(pilot)
        assert (screen.run.state.step, screen.run.state.counted) == ("form", 2)


async def test_a_file_that_is_there_is_replaced_only_after_a_yes(store):
    path = store.parent / "memories.csv"
    path.write_text("mine", "utf-8")
    async with transferring(store, task="export", writable=False) as (app, pilot, screen):
        await press(pilot, "enter")
        screen.rows("a").focus()
        await press(pilot, "enter")
        assert isinstance(app.screen, ChooseOne)
        await steps(pilot, ["j", "j", "enter"])
        assert "csv" in screen_text(app)
        await steps(pilot, ["n", "escape", "y"])
        assert isinstance(app.screen, ChooseOne)
        await press(pilot, "enter")
        assert path.read_text("utf-8") == "mine"
        await steps(pilot, ["y", "j", "enter"])
        assert f"{len(HERE)} of {len(HERE)}" in screen_text(app)
    assert HERE[0]["text"] in path.read_text("utf-8")


@pytest.mark.slow
async def test_secrets_are_masked_unless_it_is_switched_off_and_texts_can_stay_out(store):
    secret = "sk-proj-abcdefghijklmnopqrstuvwx12345"
    engine = stored(store)
    changes.apply(
        engine, changes.plan_edit(engine, [HERE[0]["id"]], {"text": f"The api key is {secret} for mango."})
    )
    async with transferring(store, task="export") as (app, pilot, screen):
        await press(pilot, "enter")
        assert "1 memory" in screen_text(app)  # masked
        await steps(pilot, ["n", "escape", "y"])
        assert secret not in (store.parent / "memories.jsonl").read_text("utf-8")
        screen.begin("")
        await settle(pilot)
        screen.run.opened("a", "task:export")
        await settle(pilot)
        await press(pilot, "enter")
        rows = screen.rows("a")
        rows.focus()
        rows.repaint("fields")
        await press(pilot, "enter")
        await type_text(pilot, "colour")
        await press(pilot, "enter")
        assert "There is no field 'colour'" in said(screen)
        await press(pilot, "enter")
        await type_text(pilot, "scope")
        await press(pilot, "enter")
        assert "metadata" in screen_text(app)
        assert "left out, as asked" in screen_text(app)
        rows.repaint("redact")
        await steps(pilot, ["space", "n"])
        screen.put_line("bare.jsonl")
        await steps(pilot, ["escape", "y"])
        assert "mango" not in "".join(
            json.loads(line).get("text", "")
            for line in (store.parent / "bare.jsonl").read_text("utf-8").splitlines()
        )


async def test_a_filter_that_does_not_parse_stays_to_be_mended(store):
    async with transferring(store, task="export") as (app, pilot, screen):
        await type_text(pilot, "tier:coer")
        await settle(pilot)
        assert "Did you mean core?" in screen_text(app)
        await press(pilot, "enter")
        assert screen.run.step == "what"


@pytest.fixture
def old(store: Path) -> Path:
    """A plugin's store with rows of the old form, blank scopes and a time in seconds."""
    mended = {
        "tier": "core",
        "memory_category": "events",
        "l0_abstract": "x",
        "l1_overview": "- x",
        "l2_content": "x y",
    }
    rows = [memory(n, f"Old memory {n} of the kiln in Uferweg.", metadata={}) for n in range(3)]
    rows += [memory(10, "Nobody finds this one.", scope=" ", metadata=mended)]
    rows += [memory(11, "In seconds.", timestamp=1_772_000_000.0, metadata=mended)]
    return pro_store(store.parent / "old", rows)


@pytest.mark.parametrize(
    ("task", "rows"), [("repair", 2), pytest.param("upgrade", 3, marks=pytest.mark.slow)]
)
async def test_mending_shows_every_row_writes_one_entry_and_is_taken_back(old, task, rows):
    before = rows_of(opened(old, old.parent / "state"))
    async with transferring(old, task=task) as (app, pilot, screen):
        await press(pilot, "n")
        assert f"{rows} memories" in screen_text(app)
        assert "nothing is written" in screen_text(app)
        assert "EFFECT ON RECALL" in screen_text(app)
        assert "No question was asked yet" in screen_text(app)
        in_words(app, task)
        key = "Y" if screen.run.able("stopped", "", "") else "y"
        await press(pilot, key)
        assert screen.run.step == "report", screen_text(app)
        assert f"{rows} memories changed (entry 1)" in said(screen)
        assert "Every row that was changed" in screen_text(app)
        assert " ~ " in screen_text(app)
        after = rows_of(opened(old, old.parent / "state"))
        assert sum(before[each] != after[each] for each in before) == rows
        await press(pilot, "u")
        assert isinstance(app.screen, ChangePreview)
        await press(pilot, key if key == "Y" else "enter")
    assert rows_of(opened(old, old.parent / "state")) == before


async def test_one_kind_of_repair_can_be_left_out(old):
    async with transferring(old, task="repair") as (app, pilot, screen):
        screen.rows("a").focus()
        await steps(pilot, ["space", "n"])
        assert "Nobody finds" not in screen_text(app)
        assert "In seconds." in screen_text(app)


async def test_nothing_to_mend_says_so(store):
    async with transferring(store, task="vectors") as (app, pilot, _):
        await press(pilot, "n")
        assert "Nothing to repair" in screen_text(app)


@pytest.mark.slow
async def test_a_migration_is_checked_run_and_verified(store):
    async with transferring(store, task="migrate", writable=False) as (app, pilot, screen):
        assert f"to write     {len(HERE)} rows" in screen_text(app)
        await steps(pilot, "ny")
        assert f"{len(HERE)} rows made and verified" in said(screen)
        screen.begin("")  # and what was made into another one, by its path
        await settle(pilot)
        screen.run.opened("a", "task:migrate")
        await settle(pilot)
        await steps(pilot, ["enter", "j", "enter"])
        await type_text(pilot, str(store.with_name("store-pro")))
        await press(pilot, "enter")
        assert "~/store-pro-pro" in screen_text(app)
        await steps(pilot, "ny")
        assert f"{len(HERE)} rows made and verified" in said(screen)
    assert rows_of(opened(store.with_name("store-pro-pro"), store.parent / "state"))
    made = rows_of(opened(store.with_name("store-pro"), store.parent / "state"))
    assert {row["text"] for row in made.values()} == {row["text"] for row in HERE}


@pytest.mark.slow
async def test_another_model_is_rehearsed_made_switched_to_and_back(store):
    book = CaseBook(cases_file(stored(store).info.uri))
    book.put(Case(id="1", query="Which port does the bastion use?", expected=(HERE[0]["id"],)))
    async with transferring(store, task="reembed") as (app, pilot, screen):
        assert f"memories     {len(HERE)}" in screen_text(app)
        await press(pilot, "n")
        assert "T rehearse" in lines(app)[-1], "a rehearsal writes nothing, and its key does not say so"
        assert "y apply" not in lines(app)[-1]
        await press(pilot, "T")
        assert "EFFECT ON RECALL" in screen_text(app)
        assert "MEASURE" in screen_text(app)
        assert "alike" in screen_text(app)
        await steps(pilot, "ny")
        assert screen.run.step == "switch", screen_text(app)
        assert f"found itself {len(HERE)} of {len(HERE)}" in screen_text(app)
        await press(pilot, "Y")
        assert "UNDO" in screen_text(app)
        assert len(list(store.parent.glob("store.before-*"))) == 1
        screen.rows("b").focus()
        await steps(pilot, ["enter", "Y"])
        assert "UNDO" not in screen_text(app)
    assert len(list(store.parent.glob("store.before-*"))) == 0
    assert len(rows_of(stored(store))) == len(HERE)


async def test_a_model_whose_key_is_not_set_is_a_sentence(store):
    async with transferring(store, task="reembed") as (app, pilot, screen):
        screen.run.state = screen.run.state.__class__(
            model="bge-m3", base_url="http://127.0.0.1:9/v1", key_env="NO_KEY"
        )
        screen.run.renewed()
        await settle(pilot)
        assert "The variable NO_KEY is not set." in screen_text(app)
        await press(pilot, "n")
        assert screen.run.step == "model"


async def test_a_locked_session_makes_the_table_and_unlocks_to_switch(store):
    async with transferring(store, task="reembed", writable=False) as (app, pilot, screen):
        await steps(pilot, "nny")
        assert screen.run.step == "switch"
        await press(pilot, "Y")
        assert "unlock and switch to the new table" in screen_text(app)
        await press(pilot, "n")
        assert screen.run.step == "switch"


@pytest.mark.slow
async def test_the_marked_memories_of_browse_are_exported_and_else_its_list(store):
    async with transferring(store) as (app, pilot, screen):
        await steps(pilot, ["2", "space", "space", "x"])
        assert app.screen is screen
        assert "the 2 marked in Browse" in screen_text(app)
        await steps(pilot, ["enter", "n", "escape", "y"])
        assert "2 of 2" in screen_text(app)
        await steps(pilot, ["2", "escape", "slash"])
        await type_text(pilot, "designer")
        await steps(pilot, ["enter", "x"])
        assert "1 memory" in screen_text(app)
        assert screen.run.part.line(screen.run.state) == "designer"
