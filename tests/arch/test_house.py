"""Habits of the house that a machine can check."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conftest import ROOT

SOURCES = sorted([*(ROOT / "memtui").rglob("*.py"), *(ROOT / "tests").rglob("*.py")])
SCREEN = sorted((ROOT / "memtui" / "tui").rglob("*.py"))
MOST_LINES = 600  # advice with a limit: above it, ask what second idea moved in


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_no_file_outgrows_its_idea() -> None:
    lines = {_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def _parsed_as_markup(source: str) -> list[str]:
    found = re.findall(r'from_markup|Text\.assemble\(|Static\(\s*f"', source)
    calls = re.findall(r"(?:app|screen|self)\.notify\((?:[^()]|\([^()]*\))*\)", source)
    return found + [call for call in calls if not call.endswith("notify()") and "markup=False" not in call]


def test_no_text_is_parsed_as_markup() -> None:
    found = {_name(path): _parsed_as_markup(path.read_text(encoding="utf-8")) for path in SCREEN}
    assert {name: calls for name, calls in found.items() if calls} == {}


def test_nobody_asks_a_dialect_for_its_name_to_decide_something() -> None:
    """`Dialect.can` says what may be done; a new dialect then is one file and one registration."""
    asks = re.compile(r"dialect\.name (?:==|!=|in|not in)|\.dialect\.name\.startswith|info\.dialect [=!]=")
    sources = sorted((ROOT / "memtui").rglob("*.py"))
    found = {_name(path): asks.findall(path.read_text(encoding="utf-8")) for path in sources}
    assert {name: hits for name, hits in found.items() if hits} == {}


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
        "API.md",
        "requirements.lock",
    }
    there = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert there - agreed - {"dist", "build"} == set()
