"""What the screen was left like: kept beside a second memtui, through damage, and never raising."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.ui_state import MOST_BYTES, UiState, app_state, store_ui_state


def test_what_is_put_is_read_by_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "ui.json"
    assert UiState(path).read() == {}
    assert UiState(path).put({"sort": "-used", "width": 3})
    assert UiState(path).put({"width": None, "theme": "paper"})
    assert UiState(path).read() == {"sort": "-used", "theme": "paper"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 or os.name == "nt"


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b"[" * 100_000, b" " * (MOST_BYTES + 1)])
def test_a_damaged_file_is_no_harm(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "ui.json"
    path.write_bytes(content)
    assert UiState(path).read() == {}
    assert UiState(path).put({"a": 1})
    assert UiState(path).read() == {"a": 1}


WRITE = """
import sys
from pathlib import Path
from memtui.ui_state import UiState
for i in range(40):
    assert UiState(Path(sys.argv[1])).put({f"{sys.argv[2]}{i}": i, "both": sys.argv[2]})
"""


def test_two_running_programs_keep_what_the_other_wrote(tmp_path: Path) -> None:
    path = tmp_path / "ui.json"
    both = [subprocess.Popen([sys.executable, "-c", WRITE, str(path), name]) for name in "ab"]
    assert [each.wait(120) for each in both] == [0, 0]
    kept = UiState(path).read()
    assert kept.pop("both") in ("a", "b")
    assert kept == {f"{name}{i}": i for name in "ab" for i in range(40)}
    assert sorted(each.name for each in tmp_path.iterdir()) == ["ui.json", "ui.lock"]


def test_a_folder_that_cannot_be_written_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert not UiState(tmp_path / "file" / "ui.json").put({"a": 1})
    assert not UiState(tmp_path / "ui.json").put({"a": object()})
    assert UiState(tmp_path / "ui.json").read() == {}


def test_a_file_for_the_app_and_one_for_each_store(tmp_path: Path) -> None:
    environ = {"MEMTUI_STATE_DIR": str(tmp_path)}
    paths = {
        app_state(environ).path,
        store_ui_state("/a", environ).path,
        store_ui_state("/b", environ).path,
    }
    assert len(paths) == 3
    assert all(tmp_path in path.parents for path in paths)
