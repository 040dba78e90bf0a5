"""Forget everything about somebody: one sentence, the preview of all that names them, and what stays elsewhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.dialogs.person_preview import PersonPreview
from memtui.tui.dialogs.text_prompt import TextPrompt
from tests.engine.curate_world import rows_of
from tests.tui.driving import press, screen_text, settle, type_text, until
from tests.tui.test_changing import browsing


@pytest.mark.slow
async def test_the_preview_says_what_stays_of_a_person_elsewhere(demo_store: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(demo_store, tmp_path / "store"))
    sessions = tmp_path / ".openclaw" / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True)
    (sessions / "one.jsonl").write_text('{"type": "session", "text": "ask Peter Lund"}\n')
    (sessions / "two.jsonl").write_text('{"type": "session", "text": "ask somebody else"}\n')
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "filters.json").write_text('["peter lund"]')
    async with browsing(store, size=(160, 50)) as (app, pilot):
        await press(pilot, "6", "ctrl+p")
        await type_text(pilot, "forget everything about Peter Lund")
        await settle(pilot)
        assert "Forget everything about Peter Lund" in screen_text(app)
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        await settle(pilot)
        seen = " ".join(screen_text(app).replace("│", " ").split())
        assert "Would delete 3 memories, including history" in seen
        assert "1 session file holds the name and stays: one.jsonl" in seen
        assert "of memtui's own (questions, cases, filters) hold" in seen
        assert "NAMED 3 go" in seen
        assert "PROBABLY ABOUT THEM" in seen
        await press(pilot, "y")
        assert "LOOKED FOR AFTERWARDS" in screen_text(app)
    left = rows_of(store).column("text").to_pylist()
    assert not any("Peter Lund" in text for text in left)


@pytest.mark.slow
async def test_the_name_is_taken_out_of_one_memory_and_the_others_go(
    demo_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    store = Path(shutil.copytree(demo_store, tmp_path / "store"))
    before = [text for text in rows_of(store).column("text").to_pylist() if "Peter Lund" in text]
    async with browsing(store, size=(120, 36)) as (app, pilot):
        await press(pilot, "3")
        await type_text(pilot, "who is Peter Lund?")
        await press(pilot, "enter", "2", "slash")
        await type_text(pilot, "Peter Lund")
        await press(pilot, "enter")
        before_it = [
            each.name
            for each in (tmp_path / "state").rglob("*")
            if each.is_file() and b"Lund" in each.read_bytes()
        ]
        assert len(before_it) >= 2, before_it
        await press(pilot, "ctrl+p")
        await type_text(pilot, "forget everything about Peter Lund")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        await settle(pilot)
        assert "m redact " in screen_text(app)
        await press(pilot, "m")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        await settle(pilot)
        assert f"Would delete {len(before) - 1} memories and redact 1, including history" in screen_text(app)
        await press(pilot, "y")
        await settle(pilot)
        assert "LOOKED FOR AFTERWARDS" in screen_text(app)
        assert "found in" not in screen_text(app)
        kept = [each for each in (tmp_path / "state").rglob("*") if each.is_file()]
        named = [each.name for each in kept if "curate" not in each.parts and b"Lund" in each.read_bytes()]
        assert named == [], "filters and questions of our own"
    left = rows_of(store).column("text").to_pylist()
    assert not any("Peter" in text and "Lund" in text for text in left)
    assert sum("[REDACTED]" in text for text in left) == 1
    assert not any(b"Peter Lund" in each.read_bytes() for each in store.rglob("*") if each.is_file())


@pytest.mark.slow
async def test_what_is_probably_about_a_person_is_chosen_one_by_one(
    demo_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    store = Path(shutil.copytree(demo_store, tmp_path / "store"))
    async with browsing(store, size=(120, 36)) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "forget everything about Harriet Bramble")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, PersonPreview))
        preview = app.screen
        assert isinstance(preview, PersonPreview)
        case = preview.case
        assert len(case.likely) > 2
        named = len(preview.plan.ids)
        assert not set(case.likely) & set(preview.plan.ids), "nothing is chosen that one did not choose"
        first, second, *_, third = case.likely
        preview._rows.choose(first)
        await press(pilot, "space", "space")  # typed ahead: each takes the memory it stands on
        await until(pilot, lambda: {first, second} <= set(preview.plan.ids))
        assert len(preview.plan.ids) == named + 2
        assert f"Would delete {named + 2} memories, including history" in screen_text(app)
        preview._rows.choose(second)
        await press(pilot, "space")
        await until(pilot, lambda: second not in preview.plan.ids)
        word = next(each for each in case.texts[third].split() if each.isalpha() and len(each) > 4)
        preview._rows.choose(third)
        await press(pilot, "m")
        await until(pilot, lambda: isinstance(app.screen, TextPrompt))
        await type_text(pilot, word)
        await press(pilot, "enter")
        await until(pilot, lambda: third in preview.plan.ids)
        assert f"Would delete {named + 1} memories and redact 1, including history" in screen_text(app)
        await press(pilot, "y")
        await until(pilot, lambda: "LOOKED FOR AFTERWARDS" in screen_text(app))
        assert "found in" not in screen_text(app)
        gone, kept, reworded = case.texts[first], case.likely, case.texts[third]
        await press(pilot, "escape", "u")
        await until(pilot, lambda: "contents were removed for good" in screen_text(app))
    texts = dict(zip(*(rows_of(store).column(name).to_pylist() for name in ("id", "text")), strict=True))
    assert first not in texts
    assert texts[third] == reworded.replace(word, "[REDACTED]")
    assert set(kept) - {first} <= set(texts)
    assert not any(gone.encode() in each.read_bytes() for each in store.rglob("*") if each.is_file())
