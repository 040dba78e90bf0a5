"""Folders of memtui's own: made for their owner alone, closed where they stood open, left where they are shared."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from memtui.engine.core.private_file import make_private_folder, write_private
from memtui.engine.store.create import create_empty


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_folder_of_an_older_memtui_is_closed_when_memtui_writes_there(tmp_path: Path) -> None:
    old = tmp_path / "memtui" / "journals"
    old.mkdir(parents=True)
    os.chmod(old, 0o755)
    make_private_folder(old)
    assert mode(old) == 0o700
    make_private_folder(old / "new" / "newer")
    assert {mode(old / "new"), mode(old / "new" / "newer")} == {0o700}


@pytest.mark.parametrize("shared", [0o1777, 0o2770])
def test_a_folder_that_is_shared_on_purpose_keeps_its_rights(tmp_path: Path, shared: int) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    os.chmod(folder, shared)
    make_private_folder(folder)
    assert mode(folder) == shared


def test_a_home_and_the_folder_of_a_file_that_a_person_named_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.chmod(tmp_path, 0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    make_private_folder(tmp_path)
    write_private(tmp_path / "named.json", "{}")
    assert (mode(tmp_path), mode(tmp_path / "named.json")) == (0o755, 0o600)


def test_a_new_store_is_its_owners_alone_and_a_folder_that_was_there_keeps_its_rights(tmp_path: Path) -> None:
    create_empty(tmp_path / "stores" / "new", 8)
    assert {mode(tmp_path / "stores"), mode(tmp_path / "stores" / "new")} == {0o700}
    open_one = tmp_path / "open"
    open_one.mkdir()
    os.chmod(open_one, 0o755)
    create_empty(open_one, 8)
    assert mode(open_one) == 0o755
