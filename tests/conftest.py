"""Fixtures that every part of the suite shares: the recorded material, unpacked copies of it, a fixed clock."""

from __future__ import annotations

import gc
import hashlib
import os
import re
import shutil
import signal
import sys
import tarfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

os.environ.pop(
    "PYTHONDONTWRITEBYTECODE", None
)  # else each of the many child processes compiles the project anew
sys.dont_write_bytecode = False

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # What a shell without job control starts with & ignores interrupts, and so would every program that a test starts
    # and interrupts: they inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

if "PYTEST_XDIST_WORKER" in os.environ:  # before numpy is imported; a benchmark runs alone and has every core
    # The workers share the cores: threads of one for its matrices wait for those of the other, on a busy machine six
    # times as long as the work takes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile(
    "same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
"""The same examples every time: a landing depends neither on luck nor on how busy the machine is.

`HYPOTHESIS_PROFILE=default` looks for new ones.
"""

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
NOW_MS = 1_788_264_000_000
"""2026-09-01T12:00:00Z, the frozen clock of the recorded recalls."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Nothing that is collected is thrown away: the collector would look at it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_pycollect_makemodule() -> None:
    """As the program does it, in half its usual time: nearly every file of tests imports it."""
    from memtui.engine.store.lancedb_import import import_lancedb

    import_lancedb()


def pytest_collection_finish() -> None:
    """What was imported until now stays: the collector looks at it no more, and less often at what is new.

    It took a sixth of a screen test's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


_FOLDERS: Counter[str] = Counter()


def _fresh_folder(tmp_path_factory: pytest.TempPathFactory, name: str) -> Path:
    """A folder named as pytest would name it, by a count that is kept.

    pytest looks through the folders of all tests before for a free number: ten milliseconds after some thousands. The
    count goes past what pytest made itself, for an archive of this name, and past names that end in a number.
    """
    while True:
        folder = tmp_path_factory.getbasetemp() / f"{name}{_FOLDERS[name]}"
        _FOLDERS[name] += 1
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return folder


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh folder for one test."""
    return _fresh_folder(tmp_path_factory, re.sub(r"\W", "_", request.node.name)[:30])


TERMINAL = (
    *("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "COLORTERM", "TEXTUAL_THEME", "TEXTUAL_ANIMATIONS"),
    *("TMUX", "SSH_TTY", "SSH_CONNECTION", "EDITOR", "VISUAL"),
)
"""What a terminal, a session and a shell say of themselves: how wide and how coloured, how to copy and to edit."""


@pytest.fixture(autouse=True)
def _quiet_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test sees the developer's own stores, settings, keys, colours or terminal."""
    home = _fresh_folder(tmp_path_factory, "home")
    for name in list(os.environ):
        if name.startswith(("OPENCLAW_", "CLAWDBOT_", "MEMTUI_", "MEMORY_LANCEDB_", "CLAWTEAM_", "XDG_")):
            monkeypatch.delenv(name)
    for name in (*TERMINAL, "OPENAI_API_KEY", "USERPROFILE", "RAY_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The recorded material beside the project; tests that need it say so when it is not there."""
    if not SHARED.is_dir():
        pytest.skip("left out: the recorded material (../shared) is not there")
    return SHARED


@pytest.fixture(scope="session")
def unpack(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Unpack an archive into a fresh folder; returns the single folder it holds (or that folder)."""

    def _unpack(archive: Path) -> Path:
        target = tmp_path_factory.mktemp(archive.name.split(".")[0])
        with tarfile.open(archive) as tar:
            tar.extractall(target, filter="data")
        inside = list(target.iterdir())
        return inside[0] if len(inside) == 1 and inside[0].is_dir() else target

    return _unpack


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store of memtui's own, made once as `memtui new` does; a test takes a copy (`copied`)."""
    from memtui.engine.discovery import create_empty
    from memtui.engine.transfer import BUNDLED_DIMS

    folder = tmp_path_factory.mktemp("empty") / "store"
    create_empty(folder, BUNDLED_DIMS, {})
    return folder


def copied(store: Path, folder: Path) -> Path:
    """A copy of a store in `folder`, to be changed."""
    shutil.copytree(store, folder)
    return folder


def thinned(cases: Iterable[Any], one_in: int) -> list[Any]:
    """Every so many cases of one rule for the README's command; the others run with what is slow."""
    return [
        case if at % one_in == 0 else pytest.param(case, marks=pytest.mark.slow)
        for at, case in enumerate(cases)
    ]


def tree_hash(folder: Path) -> str:
    """A hash over names, contents and modification times of all files below `folder`."""
    digest = hashlib.sha256()

    def walk(path: Path) -> Iterator[Path]:
        for entry in sorted(path.iterdir()):
            yield entry
            if entry.is_dir() and not entry.is_symlink():
                yield from walk(entry)

    for path in walk(folder):
        digest.update(str(path.relative_to(folder)).encode())
        if path.is_file():
            digest.update(path.read_bytes())
            digest.update(str(path.stat().st_mtime_ns).encode())
    return digest.hexdigest()
