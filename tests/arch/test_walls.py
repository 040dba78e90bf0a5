"""The walls of the house: tested by import contracts, and by looking at what a fresh interpreter really loads."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT

HEAVY = ("lancedb", "pyarrow", "numpy", "httpx", "pydantic", "textual", "rich")


def loaded(code: str) -> set[str]:
    """Top-level modules in a fresh interpreter after `code`."""
    script = code + "\nimport sys\nprint(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
        env={**os.environ},
    )
    return set(done.stdout.split())


def test_import_contracts_hold() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _imported_at_run_time(path: Path) -> set[str]:
    """The modules that a file imports, at its head or within a function, but not for its types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    imports = [node for node in ast.walk(tree) if id(node) not in for_types]
    return {node.module or "" for node in imports if isinstance(node, ast.ImportFrom)} | {
        alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names
    }


def test_the_core_of_recall_and_explain_import_the_registry_of_recipes_alone() -> None:
    recall, recipes = ROOT / "memtui/engine/recall", "memtui.engine.recall.recipes"
    core = [path for path in recall.rglob("*.py") if recall / "recipes" not in path.parents]
    explain = sorted((ROOT / "memtui/engine/explain").rglob("*.py"))
    found = {
        str(path.relative_to(ROOT)): sorted(names)
        for path in [*core, *explain]
        if (
            names := {n for n in _imported_at_run_time(path) if n.startswith(recipes)}
            - {f"{recipes}.registry"}
        )
    }
    assert f"{recipes}.registry" in _imported_at_run_time(recall / "answer.py")
    assert found == {}


def test_the_contract_on_recipes_names_every_module() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    contract = next(c for c in contracts["contracts"] if "registry alone" in c["name"])
    recall = ROOT / "memtui/engine/recall"
    core = {f"memtui.engine.recall.{path.stem}" for path in recall.iterdir() if path.name[0] not in "_."}
    kept = {path.stem for path in (recall / "recipes").iterdir() if path.name[0] not in "_."} - {"registry"}
    assert {*contract["source_modules"]} == core - {"memtui.engine.recall.recipes"} | {
        "memtui.engine.explain"
    }
    assert {*contract["forbidden_modules"]} == {f"memtui.engine.recall.recipes.{name}" for name in kept}


@pytest.mark.parametrize(
    ("code", "forbidden"),
    [
        ("import memtui", HEAVY),
        ("import memtui.__main__", (*HEAVY, "argparse")),
        ("import memtui.engine", HEAVY),
        ("from memtui.engine import ListQuery, Memory, MemtuiError, RecallRequest, clean", HEAVY),
        ("from memtui.engine import Engine, open_engine", HEAVY),
        ("import memtui.cli.main", HEAVY),
        ("import memtui.tui.app", ("lancedb", "pyarrow", "numpy", "httpx", "pydantic")),
        ("import memtui.tui.screens.browse.screen", ("lancedb", "pyarrow", "numpy", "httpx", "pydantic")),
        ("import memtui.tui.screens.recall.screen", ("lancedb", "pyarrow", "numpy", "httpx", "pydantic")),
        (
            "import memtui.engine.recall.recipes.pro.run, memtui.engine.store.open",
            ("textual", "rich", "lancedb"),
        ),
        ("import memtui.engine.discovery.search", ("lancedb", "textual", "rich")),
    ],
)
def test_a_fresh_interpreter_loads_only_what_it_may(code: str, forbidden: tuple[str, ...]) -> None:
    assert loaded(code) & set(forbidden) == set()


def test_lancedb_is_imported_in_the_store_only() -> None:
    offenders = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "memtui").rglob("*.py")
        if "engine/store" not in path.as_posix()
        and any(
            line.strip().startswith(("import lancedb", "from lancedb"))
            for line in path.read_text(encoding="utf-8").splitlines()
        )
    ]
    assert offenders == []
