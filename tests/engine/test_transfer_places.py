"""Paths as people give them, a first look at a source, and what differs between two texts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memtui.engine import transfer
from memtui.engine.core.progress import Cancelled, CancelToken
from memtui.engine.core.text import word_diff
from memtui.engine.transfer.importing.request import ImportRequest
from memtui.engine.transfer.sources.paths import completions, given_paths, is_large, looks_like_paths
from tests.engine.transfer_stores import opened, own_store


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "notes of Ana").mkdir()
    for name in ("a b.json", "rows.jsonl", "Readme", ".hidden.json", "it's.csv"):
        (tmp_path / name).write_text("[]", "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "given",
    [
        "{}/a b.json",
        "'{}/a b.json'",
        '"{}/a b.json"',
        "{}/a\\ b.json",
        "file://{}/a%20b.json",
        " {}/a b.json\n",
    ],
)
def test_a_dropped_file_is_found_however_the_terminal_writes_it(home: Path, given: str) -> None:
    escaped = given.startswith("{}") and "\\" in given  # every blank of the path, as the terminal does it
    text = given.replace("{}", re.sub(r"([^\w/])", r"\\\1", str(home)) if escaped else str(home))
    assert given_paths(text, home) == (home / "a b.json",)
    assert looks_like_paths(text, home)


def test_several_files_and_what_is_not_there(home: Path) -> None:
    assert given_paths("'a b.json' rows.jsonl", home) == (home / "a b.json", home / "rows.jsonl")
    assert given_paths("it's.csv", home) == (home / "it's.csv",)
    assert given_paths("no such.json", home) == (home / "no such.json",)
    assert given_paths("  ", home) == ()
    assert given_paths("~nobody-here/x", home) == (home / "~nobody-here/x",)
    assert not looks_like_paths("- Ana paints boats\n- The kiln is old", home)


def test_completion_lists_folders_then_files_and_no_hidden_ones(home: Path) -> None:
    assert [each.path for each in completions("", home)] == [
        "notes of Ana/",
        "a b.json",
        "it's.csv",
        "rows.jsonl",
        "Readme",
    ]
    assert [each.name for each in completions("R", home)] == ["rows.jsonl", "Readme"]
    assert [each.path for each in completions(f"{home}/.h", home)] == [f"{home}/.hidden.json"]
    assert completions("nowhere/x", home) == ()


def test_words_that_differ() -> None:
    assert word_diff("Ships on Android first", "Ships on iOS first") == (
        ("same", "Ships on "),
        ("gone", "Android"),
        ("new", "iOS"),
        ("same", " first"),
    )
    assert word_diff("", "x") == (("new", "x"),)
    apart = "Ships on Android, first.", "Ana paints, in Uferweg, first."
    assert word_diff(*apart) == (("gone", apart[0]), ("new", apart[1]))
    assert word_diff("...", "..") == (("same", ".."), ("gone", "."))
    long = "word " * 5_000
    assert word_diff(long, long) == (("same", long),)
    assert [kind for kind, _ in word_diff(long, "x")] == ["gone", "new"]


def test_a_first_look_reads_memories_and_what_is_lost(tmp_path: Path) -> None:
    engine = opened(own_store(tmp_path / "store"), tmp_path / "state")
    table = tmp_path / "rows.csv"
    table.write_text(
        "body;when;weight\nAna paints boats;2026-01-02;high\nKiln in Uferweg;soon;0.4\n", "utf-8"
    )
    seen = transfer.preview_import(engine, ImportRequest((table,)))
    assert dict(seen.mapping) == {"text": "body", "importance": "weight"} | (
        {"timestamp": "when"} if "timestamp" in dict(seen.mapping) else {}
    )
    assert seen.glimpse is not None
    assert [each.text for each in seen.glimpse.records] == ["Ana paints boats", "Kiln in Uferweg"]
    notes = tmp_path / "MEMORY.md"
    notes.write_text("## People\n- Ana paints boats in winter.\n", "utf-8")
    seen = transfer.preview_import(engine, ImportRequest((notes,)))
    assert seen.glimpse is not None
    assert [each.text for each in seen.glimpse.records] == ["Ana paints boats in winter."]


def test_counting_a_large_folder_ends_when_it_is_told_to(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number}.md").touch()
    token = CancelToken()
    assert not is_large(tmp_path, token)
    assert is_large(tmp_path, token, most=19)
    token.cancel()
    with pytest.raises(Cancelled):
        is_large(tmp_path, token)
