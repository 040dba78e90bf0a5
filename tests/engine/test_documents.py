"""An agent's Markdown in real files: taken in, found by words and by meaning, kept up to date."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine import UsageError
from memtui.engine.documents import MarkdownIndex, SearchRules, open_index
from tests.conftest import ROOT, tree_hash

NOW_MS = 1_770_724_800_000  # 10 February 2026


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Tea\n\nGreen tea: 80 degrees, two minutes.\n", encoding="utf-8")
    (folder / "memory" / "2026-02-10.md").write_text("The router moved to VLAN 10 today.\n", encoding="utf-8")
    (folder / "memory" / "2025-02-10.md").write_text("The router stood in VLAN 7.\n", encoding="utf-8")
    (folder / "notes.md").write_text("Outside of the memory files.\n", encoding="utf-8")
    (folder / "memory" / "link.md").symlink_to(folder / "notes.md")
    return folder


@pytest.fixture
def index(workspace: Path, tmp_path: Path) -> Iterator[MarkdownIndex]:
    made = open_index(workspace, tmp_path / "index.sqlite")
    yield made
    made.close()


def test_unchanged_files_are_skipped_and_removed_ones_go(index: MarkdownIndex, workspace: Path) -> None:
    before = tree_hash(workspace)
    first = index.sync()
    assert (first.files, first.read, first.unchanged) == (3, 3, 0)
    assert first.skipped == ("memory/link.md: a link",)
    again = index.sync()
    assert (again.read, again.unchanged, again.removed) == (0, 3, 0)
    assert tree_hash(workspace) == before
    (workspace / "MEMORY.md").write_text("Oolong is for Sundays.\n", encoding="utf-8")
    (workspace / "memory" / "2025-02-10.md").unlink()
    changed = index.sync()
    assert (changed.files, changed.read, changed.unchanged, changed.removed) == (2, 1, 1, 1)
    assert not index.search("green tea degrees", SearchRules(), now_ms=NOW_MS).by_words


def test_dated_files_fade_and_what_is_hidden_is_counted(index: MarkdownIndex) -> None:
    index.sync()
    rules = SearchRules(min_score=0.0)
    assert {hit.path for hit in index.search("router VLAN", rules, now_ms=NOW_MS).hits} >= {
        "memory/2026-02-10.md",
        "memory/2025-02-10.md",
    }
    faded = index.search("router VLAN", SearchRules(min_score=0.0, half_life_days=30), now_ms=NOW_MS)
    factors = {hit.path: hit.decayed_by for hit in faded.hits}
    assert faded.hits[0].path == "memory/2026-02-10.md"
    assert factors["memory/2025-02-10.md"] < 0.001
    strict = index.search("router VLAN", SearchRules(min_score=0.99), now_ms=NOW_MS)
    assert {hit.by_words for hit in strict.hits} == {True}  # rather than nothing
    assert len(strict.hits) + strict.hidden == 3


def test_words_alone_are_enough(workspace: Path, tmp_path: Path) -> None:
    index = open_index(workspace, tmp_path / "words.sqlite", words_only=True)
    index.sync()
    found = index.search("green tea", SearchRules(min_score=0.0), now_ms=NOW_MS)
    index.close()
    assert [hit.path for hit in found.hits] == ["MEMORY.md"]
    assert found.by_vector == 0


def test_no_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder"):
        open_index(tmp_path / "nothing", tmp_path / "index.sqlite")


def test_the_command_tells_where_it_stands(workspace: Path, tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    asked = [sys.executable, "-m", "memtui", "docs", str(workspace)]
    done = subprocess.run(
        [*asked, "how hot is green tea?", "--json"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environ,
        check=True,
    )
    hit = json.loads(done.stdout)["hits"][0]
    assert (hit["path"], hit["start_line"]) == ("MEMORY.md", 1)
    plain = subprocess.run(asked, capture_output=True, text=True, cwd=ROOT, env=environ, check=True)
    assert "3 unchanged" in plain.stdout
