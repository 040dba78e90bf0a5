"""The import wizard on real stores, from the first key to the changed rows and back."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from textual import events
from textual.widgets import TextArea

from memtui.engine import changes
from memtui.engine.transfer.sources.paths import MOST_LOOKED_AT
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.dialogs.text_prompt import Paste
from memtui.tui.screens.transfer.import_calls import make_plan, show
from memtui.tui.wizard.widgets import PathLine
from tests.engine.transfer_stores import jsonl, memory, planned, rows_of
from tests.tui.driving import lines, press, screen_text, settle, type_text
from tests.tui.transferring import (
    HERE,
    KILNS,
    importing,
    notes,
    said,
    steps,
    store,
    stored,
    transferring,
)

__all__ = ["store"]


def texts(folder: Path) -> Counter[str]:
    return Counter(row["text"] for row in rows_of(stored(folder)).values())


def own_export(folder: Path) -> Path:
    rows = [memory(100 + n, text) for n, text in enumerate(KILNS)]
    names = ("id", "text", "category", "scope", "importance", "timestamp", "metadata")
    return jsonl(folder / "backup.jsonl", [{name: row[name] for name in names} for row in rows])


def plugin_export(folder: Path) -> Path:
    rows = [
        {
            "id": f"a0000000-0000-4000-8000-{n:012}",
            "text": text,
            "category": "fact",
            "scope": "global",
            "importance": 0.6,
            "timestamp": 1_772_000_000_000 + n,
            "metadata": "{}",
        }
        for n, text in enumerate(KILNS)
    ]
    path = folder / "export.json"
    head = {"version": "1.0", "exportedAt": "2026-02-01T00:00:00Z", "count": len(rows), "filters": {}}
    path.write_text(json.dumps({**head, "memories": rows}), "utf-8")
    return path


def markdown(folder: Path) -> Path:
    path = folder / "MEMORY.md"
    path.write_text("# Memory\n\n## Kilns\n\n" + "".join(f"- {text}\n" for text in KILNS), "utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("make", [own_export, plugin_export, markdown])
async def test_from_the_first_key_to_the_changed_store_and_back(store, make):
    make(store.parent)
    async with transferring(store) as (app, pilot, screen):
        await press(pilot, "enter")
        await type_text(pilot, make(store.parent).name[:4])
        await press(pilot, "tab")
        assert screen.query_one(PathLine).value == make(store.parent).name
        await press(pilot, "enter", "n")
        assert screen.run.state.plan is not None
        assert screen.run.state.plan.counts["new"] == len(KILNS)
        await press(pilot, "n")
        assert f"added        {len(KILNS)} memories" in screen_text(app)
        await press(pilot, "enter")
        assert screen.run.step == "run"  # Enter never writes
        await press(pilot, "y")
        assert screen.run.step == "report"
        assert f"{len(KILNS)} memories imported (entry 1)" in said(screen)
        assert texts(store) == Counter([row["text"] for row in HERE]) + Counter(KILNS)
        await press(pilot, "u")
        assert isinstance(app.screen, ChangePreview)
        await press(pilot, "enter")
        if isinstance(app.screen, ChangePreview):  # so many deletions are confirmed by their number
            await type_text(pilot, str(len(KILNS)))
            await press(pilot, "enter")
        assert texts(store) == Counter(row["text"] for row in HERE)
        assert "Undone" in screen_text(app)


async def test_the_plan_is_the_engines_and_a_switched_rule_counts_anew(store):
    path = notes(store.parent)
    plan = planned(stored(store), path)
    expected = plan.counts
    plan.close()
    async with importing(store, path) as (app, pilot, screen):
        await press(pilot, "n")
        state = screen.run.state
        assert state.plan.counts == expected
        assert expected["conflict"] == 2
        assert expected["noise"] + expected["short"] == 2
        show(screen.run, "new")
        await settle(pilot)
        screen.focus_list("b")
        await steps(pilot, ["space", "space"])  # the first two are left out, the first comes back in
        await steps(pilot, ["k", "k", "space"])
        assert screen.run.state.plan.counts["new"] == expected["new"] - 1
        assert screen.run.state.taken == expected["new"] - 1
        assert "left out" in screen_text(app)
        await steps(pilot, ["k", "k", "j", "space"])
        assert screen.run.state.taken == expected["new"]
        screen.rows("a").focus()
        screen.rows("a").repaint("secret")
        await press(pilot, "space")
        assert screen.run.state.plan.counts["secret"] == 0
        assert screen.run.state.plan.counts["new"] == expected["new"] + 1
        await press(pilot, "space")
        assert screen.run.state.plan.counts == expected


@pytest.mark.slow
async def test_every_conflict_is_decided_before_anything_is_written(store):
    before = rows_of(stored(store))
    async with importing(store, notes(store.parent)) as (app, pilot, screen):
        await steps(pilot, "nn")
        assert screen.run.step == "review"
        assert "0 conflicts decided, 2 open" in screen_text(app)
        await steps(pilot, ["l", "plus"])
        assert screen.run.state.request.choices == {7: "take", 8: "both"}
        await press(pilot, "n")
        text = screen_text(app)
        assert "replaced     1 memory" in text
        assert "1 part of the source cannot be read" in text
        await press(pilot, "y")
        await type_text(pilot, "7")
        await press(pilot, "enter")
        assert screen.run.step == "run"  # another number agrees to nothing
        await press(pilot, "y")
        await type_text(pilot, "1")
        await press(pilot, "enter")
        assert screen.run.step == "report", screen_text(app)
        assert "says otherwise" not in screen_text(app)  # neither of the two was left out
        found = texts(store)
        assert found["The bastion listens on port 4444."] == 1
        assert found["The bastion listens on port 2222."] == 0
        assert found["The beta of mango has 200 seats."] == found["The beta of mango has 350 seats."] == 1
        assert all(any(row["vector"]) for row in rows_of(stored(store)).values())
        await press(pilot, "u")
        assert isinstance(app.screen, ChangePreview)
        await press(pilot, "enter")
        assert "Undone" in screen_text(app)
    assert rows_of(stored(store)) == before


async def test_all_conflicts_at_once_and_the_record_beside_ours(store):
    async with importing(store, notes(store.parent)) as (app, pilot, screen):
        await press(pilot, "n")
        text = screen_text(app)
        assert "port 2222 4444" in text
        assert "HERE" in text
        assert "FILE" in text
        await press(pilot, "asterisk", "o")
        assert set(screen.run.state.request.choices.values()) == {"keep"}
        assert "ours: nothing is written" in screen_text(app)
        await press(pilot, "backspace")
        await press(pilot, "n")
        assert screen.run.state.request.choices == {7: "keep", 8: "keep"}  # going back loses nothing
        await press(pilot, "n")
        assert screen.run.step == "run"


async def test_views_list_the_ledger_what_is_left_out_scopes_cost_and_notes(store):
    async with importing(store, notes(store.parent)) as (app, pilot, _):
        await steps(pilot, "nd")
        assert "WHAT CHANGES OR IS LOST" in screen_text(app)
        seen = []
        for _ in range(4):
            await press(pilot, "right_square_bracket")
            seen.append(screen_text(app))
        assert "line 13" in seen[0]
        assert "THEIRS" in seen[1]
        assert "project:kiln" in seen[1]
        assert "static-minilm-256" in seen[2]
        assert "cannot be read" in seen[3]


async def test_a_table_of_another_program_is_mapped_by_hand(store):
    path = store.parent / "table.csv"
    path.write_text("a,b\n" + "".join(f"{text},{text[::-1]}\n" for text in KILNS), "utf-8")
    async with importing(store, path) as (app, pilot, screen):
        screen.rows("a").focus()
        screen.rows("a").repaint("role:text")
        await press(pilot, "enter")
        await steps(pilot, ["j", "enter"])
        mapping = dict(screen.run.state.preview.mapping)
        assert mapping["text"] == "b"
        assert KILNS[0][::-1][:20] in screen_text(app)
        await press(pilot, "n")
        page = screen.run.state.page
        assert [item.text for item in page.items] == [text[::-1] for text in KILNS]


async def test_a_switch_and_a_value_change_what_is_asked(store):
    async with importing(store, notes(store.parent)) as (_, pilot, screen):
        rows = screen.rows("a")
        rows.focus()
        rows.repaint("mask_secrets")
        await press(pilot, "space")
        assert screen.run.state.request.mask_secrets
        rows.repaint("near")
        await press(pilot, "enter")
        await press(pilot, *(["backspace"] * 8))
        await type_text(pilot, "7")
        await press(pilot, "enter")
        assert "7 is no cosine" in said(screen)
        rows.repaint("scope")
        await press(pilot, "enter")
        await type_text(pilot, "agent:ana")
        await press(pilot, "enter")
        assert screen.run.state.request.scope == "agent:ana"
        await press(pilot, "n")
        assert screen.run.state.plan.counts["secret"] == 0


async def test_a_locked_session_plans_and_unlocks_to_write(store):
    async with importing(store, notes(store.parent), writable=False) as (app, pilot, screen):
        await steps(pilot, ["n", "asterisk", "o", "n"])
        assert screen.run.step == "run"
        await press(pilot, "y")
        assert "unlock and import them" in screen_text(app)
        await press(pilot, "n")
        assert screen.run.step == "run"
        assert len(texts(store)) == len(HERE)
        await press(pilot, "y", "y")
        await settle(pilot)
        assert screen.run.step == "report"
    assert len(texts(store)) > len(HERE)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("broken.json", '{"memories": [\n  {"text": "x",}\n]}', "line 2, column"),
        pytest.param(
            "login.html",
            "<!doctype html><html><body>Sign in</body></html>",
            "is HTML",
            marks=pytest.mark.slow,
        ),
        pytest.param("empty.json", "", "is empty", marks=pytest.mark.slow),
        ("what.bin", "\x01\x02\x03 nothing at all", ""),
    ],
)
async def test_bad_input_is_a_message_in_place_and_nothing_is_lost(store, name, content, words):
    path = store.parent / name
    path.write_text(content, "utf-8")
    async with importing(store, path) as (app, pilot, screen):
        await settle(pilot)
        text = " ".join(line.split("││")[-1].strip(" │") for line in lines(app))
        if words:
            assert words in text or words in screen_text(app), text
            await press(pilot, "n")
        assert screen.run.state.plan is None or not words
        while screen.run.step != "source" and screen.run.part.back(screen.run):
            await settle(pilot)
        assert screen.query_one(PathLine).value == str(path)


async def test_a_path_that_is_not_there(store):
    async with transferring(store, task="import") as (app, pilot, screen):
        await type_text(pilot, "nowhere")
        await press(pilot, "enter")
        assert "There is no file or folder" in screen_text(app)
        assert screen.query_one(PathLine).value == "nowhere"
        assert screen.run.step == "source"


async def test_a_folder_is_taken_when_it_is_a_source_and_bare_texts_need_no_mapping(store):
    inside = store.parent / "notes" / "texts"
    inside.mkdir(parents=True)
    (inside / "texts.json").write_text(json.dumps(["Ash lives in Uferweg.", "The kiln is hot."]), "utf-8")
    (store.parent / "work").mkdir()
    markdown(store.parent / "work")
    async with transferring(store, task="import") as (app, pilot, screen):
        screen.put_line("notes")
        await settle(pilot)
        await press(pilot, "enter")
        assert screen.query_one(PathLine).value == "notes/"  # on the way to somewhere
        screen.put_line("work")
        await settle(pilot)
        await press(pilot, "enter")
        assert screen.run.step == "map"
        assert KILNS[0][:20] in screen_text(app)
        await press(pilot, "backspace")
        screen.put_line("notes/texts/texts.json")
        await settle(pilot)
        await steps(pilot, ["enter", "n"])
        assert [item.text for item in screen.run.state.page.items] == [
            "Ash lives in Uferweg.",
            "The kiln is hot.",
        ]


async def test_a_path_leads_through_a_large_folder_without_reading_it(store):
    """Whoever types /home/me/notes.md means neither the disk nor the folder of everybody."""
    large = store.parent / "large"
    for inside in (large, large / "below"):
        inside.mkdir()
        markdown(inside)
    for number in range(MOST_LOOKED_AT):
        (large / "below" / f"{number}.txt").touch()
    file = next(each for each in large.iterdir() if each.suffix == ".md")
    async with transferring(store, task="import") as (_app, pilot, screen):
        screen.put_line("large")
        await settle(pilot)
        assert screen.run.state.found is None
        screen.put_line(f"large/{file.name}")
        await settle(pilot)
        assert screen.run.state.found.sources


async def test_a_pasted_list_is_imported(store):
    async with transferring(store) as (app, pilot, screen):
        await press(pilot, "i")
        assert isinstance(app.screen, Paste)
        lines = ("[2026-01-02] - Ana paints boats.", "[2026-01-03] - The kiln\x1b[2J\u202e is in Uferweg.\t")
        app.post_message(events.Paste("\n".join(lines)))
        await settle(pilot)
        assert app.screen.query_one(TextArea).text.endswith("The kiln\u241b[2J is in Uferweg.\t")
        await press(pilot, "ctrl+s")
        assert screen.run.step == "map"
        assert "Ana paints boats." in screen_text(app)
        await steps(pilot, "nny")
    assert texts(store)["Ana paints boats."] == 1


async def test_another_writer_makes_the_plan_anew_and_decisions_stay(store):
    path = notes(store.parent)
    async with importing(store, path) as (_, pilot, screen):
        await steps(pilot, ["n", "asterisk", "o"])
        before = screen.run.state.plan
        other = stored(store)
        changes.apply(other, changes.plan_edit(other, [HERE[1]["id"]], {"importance": 0.9}))
        await press(pilot, "r")
        state = screen.run.state
        assert state.plan is not before
        assert state.plan.version > before.version
        assert state.request.choices == {7: "keep", 8: "keep"}


async def test_leaving_the_screen_and_coming_back_keeps_the_plan(store):
    async with importing(store, notes(store.parent)) as (_, pilot, screen):
        await steps(pilot, ["n", "asterisk", "o"])
        plan = screen.run.state.plan
        await steps(pilot, "25")
        assert screen.run.state.plan is plan


async def test_a_plan_that_is_stopped_leads_back_to_the_mapping(store):
    async with importing(store, notes(store.parent)) as (_, pilot, screen):
        make_plan(screen.run)
        assert screen.run.stop()
        await settle(pilot)
        assert screen.run.step in ("map", "review")  # the plan may have been quicker
        if screen.run.step == "map":
            await press(pilot, "n")
        assert screen.run.state.plan is not None


async def test_the_plan_shows_what_the_agent_would_then_read(store, monkeypatch):
    """A saved case is asked of a copy with the import in it: texts and places before and now; nothing is written."""
    from memtui.engine.cases import CaseBook
    from memtui.engine.cases.case import Case
    from memtui.paths import cases_file

    monkeypatch.setenv("MEMTUI_STATE_DIR", str(store.parent / "state"))
    question = "Which port does the bastion listen on?"
    CaseBook(cases_file(str(store))).put(Case("c1", question, (HERE[0]["id"],), everyone=True))
    source = store.parent / "ports.jsonl"
    source.write_text(json.dumps({"text": "The bastion listens on port 48022 now."}) + "\n")
    before = texts(store)
    async with importing(store, source, size=(80, 24)) as (app, pilot, _):
        await press(pilot, "n")
        await settle(pilot)
        assert "answers: 1 of 1 changes" in screen_text(app)
        await press(pilot, "right_square_bracket")
        await settle(pilot)
        text = screen_text(app)
        assert question in text
        assert "before" in text
        new = [line for line in text.splitlines() if "The bastion listens on p" in line]
        assert any(" new" in line for line in new), text
    assert texts(store) == before
