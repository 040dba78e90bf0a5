"""An export goes where a person pointed: through a link, a pipe or a device that stays what it is, or out as `-`."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.engine.pro_store import row, write_store

TEXTS = ["The van is in the yard.", "The ladder is in the shed."]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home" / name.lower()))
    rows = [row(f"0b7f3a52-6c1e-4f0a-9d55-00000000000{n}", text, (1, n)) for n, text in enumerate(TEXTS)]
    return write_store(tmp_path / "store", rows, dims=2)


def exported(written: str) -> list[str]:
    return sorted(json.loads(line)["text"] for line in written.splitlines() if line.strip())


def beside(folder: Path) -> set[str]:
    """What stands in a folder, but the store and the home."""
    return {each.name for each in folder.iterdir()} - {"store", "home"}


def test_a_link_stays_a_link_and_what_it_points_to_is_written(run: Run, store: Path, tmp_path: Path) -> None:
    real, link, ahead = tmp_path / "real.jsonl", tmp_path / "link.jsonl", tmp_path / "ahead.jsonl"
    real.write_text("old")
    os.chmod(real, 0o640)
    link.symlink_to(real)
    ahead.symlink_to(tmp_path / "not-yet.jsonl")
    assert run("export", link, "--store", store)[0] == 3  # what stands there is not replaced unasked
    assert real.read_text() == "old"
    assert run("export", link, "--yes", "--store", store)[0] == 0
    assert run("export", ahead, "--store", store)[0] == 0
    assert link.is_symlink()
    assert ahead.is_symlink()
    assert exported(real.read_text()) == exported(ahead.read_text()) == sorted(TEXTS)
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert beside(tmp_path) == {"real.jsonl", "link.jsonl", "ahead.jsonl", "not-yet.jsonl"}


def test_a_file_of_two_names_stays_one_file(run: Run, store: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    one.write_text("old")
    os.link(one, two)
    assert run("export", one, "--yes", "--store", store)[0] == 0
    assert one.stat().st_ino == two.stat().st_ino
    assert exported(two.read_text()) == sorted(TEXTS)
    assert beside(tmp_path) == {"one.jsonl", "two.jsonl"}


def test_a_pipe_is_written_and_stays_a_pipe(run: Run, store: Path, tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    code, _, errors = run("export", pipe, "--format", "jsonl", "--store", store)
    reader.join(20)
    assert code == 0, errors
    assert exported(got[0]) == sorted(TEXTS)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert beside(tmp_path) == {"pipe"}


@pytest.mark.parametrize("way", ["itself", "link"])
def test_a_device_stays_a_device(run: Run, store: Path, tmp_path: Path, way: str) -> None:
    before = os.stat("/dev/null")
    target = Path("/dev/null")
    if way == "link":
        target = tmp_path / "nowhere.jsonl"
        target.symlink_to("/dev/null")
    assert run("export", target, "--format", "jsonl", "--store", store)[0] == 0
    after = os.stat("/dev/null")
    assert stat.S_ISCHR(after.st_mode)
    assert (after.st_ino, after.st_rdev, after.st_mode) == (before.st_ino, before.st_rdev, before.st_mode)
    assert beside(tmp_path) <= {"nowhere.jsonl"}


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1"])
def test_standard_output_is_a_place(store: Path, tmp_path: Path, name: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    out = tmp_path / "out.jsonl"
    with out.open("w") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "memtui", "export", name, "--format", "jsonl", "--store", str(store)],
            cwd=work, stdout=stream, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert exported(out.read_text()) == sorted(TEXTS)
    assert not list(work.iterdir())
    assert beside(tmp_path) == {"work", "out.jsonl"}


def test_a_name_that_cannot_be_written_is_told_and_leaves_nothing(
    run: Run, store: Path, tmp_path: Path
) -> None:
    ring, other = tmp_path / "ring.jsonl", tmp_path / "other.jsonl"
    ring.symlink_to(other)
    other.symlink_to(ring)
    code, _, errors = run("export", ring, "--store", store)
    assert code in (1, 2, 3)
    assert "cannot be written" in errors
    assert beside(tmp_path) == {"ring.jsonl", "other.jsonl"}
