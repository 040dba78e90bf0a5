"""The lists of "Where to add" in ARCHITECTURE.md are whole: what is there today stands in the files they name."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from memtui.engine.capture.recipes.registry import capture_recipes
from memtui.engine.transfer.registry import EXPORT_FORMATS, FORMATS
from tests.arch.test_documents import PAGE
from tests.conftest import ROOT

RECIPES = ROOT / "memtui/engine/recall/recipes"
CAPTURE = ROOT / "memtui/engine/capture/recipes"
ALSO_KINDS = frozenset(
    ("json", "csv", "parquet", "markdown", "letta", "mirror", "pasted", "lancedb", "memtui")
)
"""Formats whose names are words for other things as well."""


def _row(kind: str) -> set[str]:
    """The files and folders that the list of a kind names."""
    rows = dict(
        re.findall(r"^\| ([a-z ']+) \| (.+) \|$", PAGE.split("## Where to add")[1], flags=re.MULTILINE)
    )
    return set(re.findall(r"`((?:memtui|themes)[\w./-]*)`", rows[kind]))


@cache
def _texts(path: Path) -> frozenset[str]:
    """The texts that a file writes down, those of the parts of f-strings left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _naming(folder: str, name: str) -> set[str]:
    """The files below a folder that write a name down."""
    found = (path for path in sorted((ROOT / folder).rglob("*.py")) if name in _texts(path))
    return {path.relative_to(ROOT).as_posix() for path in found}


def _within(path: str, named: set[str]) -> bool:
    return any(path == each or (each.endswith("/") and path.startswith(each)) for each in named)


@pytest.mark.parametrize("name", [each.name for each in FORMATS if each.name not in ALSO_KINDS])
def test_a_format_to_import_is_named_by_its_reader_alone(name: str) -> None:
    readers = _row("format to import")
    others = {path for path in _naming("memtui/engine/transfer", name) if not _within(path, readers)}
    apart = (
        *("/exporting/", "/writers/", "/migration.py"),  # a form to write may have the same name
        "/sources/exports.py",  # whose conversations an export holds: its reader asks, and Capture
    )
    assert {path for path in others if not any(each in path for each in apart)} == set()


@pytest.mark.parametrize("name", [each.name for each in EXPORT_FORMATS])
def test_a_format_to_export_is_named_where_the_list_says(name: str) -> None:
    row = _row("format to export")
    assert row == {"memtui/engine/transfer/writers/"}
    writers = _naming("memtui/engine/transfer/writers", name)
    assert writers
    others = _naming("memtui/engine/transfer/exporting", name) | _naming("memtui/cli", name)
    assert {path for path in others if path.endswith("export.py")} == set()


def test_every_recipe_of_the_folder_is_in_the_registry() -> None:
    offering = {
        path.relative_to(RECIPES).with_suffix("").as_posix().replace("/", ".")
        for path in RECIPES.rglob("*.py")
        if re.search(r"^RECIPES\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert "memtui/engine/recall/recipes/registry.py" in _row("recipe")
    assert len(offering) > 3
    assert sorted(offering - _texts(RECIPES / "registry.py")) == []


def test_every_capture_recipe_of_the_folder_is_in_the_registry() -> None:
    offering = {
        path.relative_to(CAPTURE).parts[0].removesuffix(".py")
        for path in CAPTURE.rglob("*.py")
        if re.search(r"^RECIPE\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert "memtui/engine/capture/recipes/registry.py" in _row("capture recipe")
    assert len(offering) == len(capture_recipes())


def test_every_command_is_a_file_and_a_line() -> None:
    commands = {
        path.stem.replace("_", "-")
        for path in (ROOT / "memtui" / "cli").glob("*.py")
        if re.search(r"^def add_arguments\(parser", path.read_text(encoding="utf-8"), re.MULTILINE)
        and re.search(r"^def run\(args", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert "memtui/cli/main.py" in _row("command")
    assert len(commands) > 40
    assert sorted(commands - _texts(ROOT / "memtui" / "cli" / "main.py")) == []


def test_every_task_is_a_file_and_an_entry() -> None:
    from memtui.tui.screens.transfer import tasks

    assert "memtui/tui/screens/transfer/tasks.py" in _row("task")
    assert all(each.steps for each in tasks.TASKS)
    for each in (*tasks.TASKS, *tasks.UNLISTED):
        assert each.module.startswith("memtui.tui.screens.transfer.")
        assert tasks.task_named(each.name).name


def test_every_tool_is_a_file() -> None:
    from memtui.mcp.tools.registry import all_tools

    folder = ROOT / "memtui/mcp/tools"
    offering = {
        path.stem for path in folder.glob("*.py") if re.search(r"^TOOL\b", path.read_text(), re.MULTILINE)
    }
    assert _row("tool") == {"memtui/mcp/tools/"}
    assert len(offering) == len(all_tools()) > 8


def test_every_mode_stands_in_each_file_of_the_list_of_a_screen() -> None:
    from memtui.tui.startup.preload import MODES

    files = {each for each in _row("screen") if each.endswith((".py", ".toml")) and "bound_panel" not in each}
    actions = tomllib.loads((ROOT / "memtui/tui/actions/actions.toml").read_text(encoding="utf-8"))
    layouts = (ROOT / "memtui/tui/layouts.py").read_text(encoding="utf-8")
    assert files == {
        "memtui/tui/layouts.py",
        "memtui/tui/actions/actions.toml",
    }
    for mode in MODES:
        assert (ROOT / "memtui/tui/screens" / mode / "screen.py").exists(), mode
        assert mode in actions, mode
    laid_out = set(re.findall(r"^def ([a-z]\w+)\(width: int, height: int", layouts, re.MULTILINE))
    assert len(laid_out & set(MODES)) > 6, "Home and Browse go by what is in them"
