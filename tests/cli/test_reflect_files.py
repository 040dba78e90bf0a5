"""The files of a reflection: previewed, written with its memories, and taken back with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import open_engine
from memtui.engine.store.create import create_empty
from tests.cli.conftest import Run
from tests.conftest import NOW_MS, tree_hash
from tests.engine.loopback import chat_answer, loopback

REPORT = "## Invariants\n- Always knock before entering.\n\n## Derived\n- Next run verify the bell.\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store, a conversation and a workspace with a note of the day before."""
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home" / name.lower()))
    create_empty(tmp_path / "store", 256)
    (tmp_path / "talk.txt").write_text("User: The bell rang twice.\nAssistant: Noted.\n")
    (tmp_path / "ws" / "memory").mkdir(parents=True)
    (tmp_path / "ws" / "memory" / "old.md").write_text("# old\n")
    return tmp_path


def reflected(run: Run, place: Path, *more: str) -> Any:
    with loopback() as server:
        server.chat = lambda _: chat_answer(REPORT)
        code, out, errors = run(
            *(
                "reflect",
                place / "talk.txt",
                "--workspace",
                place / "ws",
                "--store",
                place / "store",
                "--json",
            ),
            *("--llm", f"{server.url}/v1", "--llm-model", "m", *more),
        )
    assert code == 0, errors
    return json.loads(out)


def notes(place: Path) -> list[Path]:
    return sorted(path for path in (place / "ws").rglob("*.md") if path.name != "old.md")


def test_files_are_previewed_written_and_taken_back_with_their_entry(run: Run, place: Path) -> None:
    before = tree_hash(place / "ws")
    shown = reflected(run, place, "--dry-run", "--send")
    assert tree_hash(place / "ws") == before
    assert sum(str(place / "ws") in each for each in shown["notes"]) == 2
    done = reflected(run, place)
    report, day = sorted(notes(place), key=lambda path: "reflections" not in str(path))
    assert "Always knock" in report.read_text()
    assert "Reflection generated" in day.read_text()
    where = ("--store", place / "store", "--json")
    code, _, errors = run("undo", done["entry"], *where)
    assert code == 0, errors
    assert notes(place) == []
    assert open_engine(place / "store", now=lambda: NOW_MS, environ={}, cwd=place).store.count() == 0
    assert run("undo", done["entry"] + 1, *where)[0] == 0
    assert set(notes(place)) == {report, day}, "what was undone is redone"


def test_what_others_wrote_into_a_file_since_stays(run: Run, place: Path) -> None:
    done = reflected(run, place)
    report, day = sorted(notes(place), key=lambda path: "reflections" not in str(path))
    day.write_text(day.read_text() + "- a line of the agent\n")
    report.write_text("rewritten by a person\n")
    code, out, _ = run("undo", done["entry"], "--store", place / "store", "--json")
    assert code == 0
    assert day.read_text() == "- a line of the agent\n"
    assert report.read_text() == "rewritten by a person\n"
    assert any(str(report) in note for note in json.loads(out)["warnings"])


def test_a_folder_that_cannot_be_written_changes_nothing(run: Run, place: Path) -> None:
    before = tree_hash(place / "store")
    (place / "ws" / "memory" / "reflections").write_text("a file where a folder should be")
    with loopback() as server:
        server.chat = lambda _: chat_answer(REPORT)
        code, _, errors = run(
            *("reflect", place / "talk.txt", "--workspace", place / "ws", "--store", place / "store"),
            *("--llm", f"{server.url}/v1", "--llm-model", "m"),
        )
    assert code == 1
    assert "nothing was changed" in errors
    assert tree_hash(place / "store") == before
