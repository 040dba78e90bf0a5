"""Habits of the house that a machine can check."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCES = sorted([*(ROOT / "memtui").rglob("*.py"), *(ROOT / "tests").rglob("*.py")])
SCREEN = sorted((ROOT / "memtui" / "tui").rglob("*.py"))
MOST_LINES = 600  # advice with a limit: above it, ask what second idea moved in


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_no_file_outgrows_its_idea(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", SCREEN, ids=_name)
def test_no_text_is_parsed_as_markup(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert not re.search(r"from_markup|Text\.assemble\(", source)
    assert not re.search(r'Static\(\s*f"', source)
    for call in re.findall(r"(?:app|screen|self)\.notify\((?:[^()]|\([^()]*\))*\)", source):
        assert call.endswith("notify()") or "markup=False" in call


def test_every_test_folder_is_a_package() -> None:
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_the_top_level_holds_what_was_agreed() -> None:
    agreed = {
        "pyproject.toml",
        "README.md",
        "memtui",
        "tests",
        "themes",
        "screenshots",
        "LICENSE",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "ARCHITECTURE.md",
        "requirements.lock",
    }
    there = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert there - agreed - {"dist", "build"} == set()
