"""The faces of the engine: screens, commands and the server import these and nothing deeper."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.conftest import ROOT

FACES = (
    *(
        "access",
        "alive",
        "blame",
        "capture",
        "cases",
        "catalog",
        "changes",
        "clients",
        "cluster",
        "configuration",
        "cost",
        "demo",
        "discovery",
    ),
    *(
        "documents",
        "explain",
        "extensions",
        "health",
        "hosts",
        "lifecycle",
        "query",
        "recall",
        "report",
        "token_vectors",
        "transfer",
        "witness",
    ),
)
LAZY = "memtui.engine.core.lazy"


def imported(path: Path) -> Iterator[str]:
    """The modules of the engine that a file imports from."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("memtui.engine"):
            yield node.module


def described(face: Path) -> tuple[dict[str, str], list[str], dict[str, str], list[str]]:
    """What a face says it offers: to the type checker, in `__all__`, when a name is used, and imported at once."""
    typed: dict[str, str] = {}
    at_once: list[str] = []
    offered: list[str] = []
    loaded: dict[str, str] = {}
    for node in ast.parse(face.read_text(encoding="utf-8")).body:
        match node:
            case ast.If():
                for each in node.body:
                    assert isinstance(each, ast.ImportFrom)
                    assert each.module is not None
                    typed.update({alias.name: each.module for alias in each.names})
            case ast.ImportFrom(module=module) if (module or "").startswith("memtui.") and module != LAZY:
                at_once += [alias.name for alias in node.names]
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                offered = ast.literal_eval(node.value)
            case ast.Assign(value=ast.Call(args=[_, ast.Dict() as table])):
                loaded = ast.literal_eval(table)
    return typed, sorted(offered), loaded, at_once


@pytest.mark.parametrize("folder", ["tui", "cli", "mcp"])
def test_only_faces_are_imported(folder: str) -> None:
    allowed = {"memtui.engine", *(f"memtui.engine.{face}" for face in FACES)}
    deeper = {
        path.relative_to(ROOT).as_posix(): sorted(set(imported(path)) - allowed)
        for path in sorted((ROOT / "memtui" / folder).rglob("*.py"))
    }
    assert {name: modules for name, modules in deeper.items() if modules} == {}


@pytest.mark.parametrize("face", FACES)
def test_a_face_offers_what_is_there(face: str) -> None:
    module = import_module(f"memtui.engine.{face}")
    for name in module.__all__:
        assert getattr(module, name) is not None or name.isupper()


@pytest.mark.parametrize("face", [*FACES, ""])
def test_the_type_checker_and_the_interpreter_see_the_same_face(face: str) -> None:
    path = ROOT / "memtui" / "engine" / face / "__init__.py"
    typed, offered, loaded, at_once = described(path)
    assert sorted([*typed, *at_once]) == offered
    assert loaded == typed


@pytest.mark.parametrize("face", [*FACES, ""])
def test_no_name_of_a_face_is_a_module_of_its_package(face: str) -> None:
    """Importing `changes/undo.py` would put the module in the place of a function `undo` of the face."""
    folder = ROOT / "memtui" / "engine" / face
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
    offered = described(folder / "__init__.py")[1]
    assert modules & set(offered) == set()


def test_what_is_exported_is_exported_at_one_place() -> None:
    places: dict[tuple[str, str], list[str]] = {}
    for face in ["", *FACES]:
        typed = described(ROOT / "memtui" / "engine" / face / "__init__.py")[0]
        for name, module in typed.items():
            places.setdefault((module, name), []).append(face or "engine")
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_the_top_offers_what_a_script_begins_with() -> None:
    """What one face takes and returns is offered by that face."""
    assert len(described(ROOT / "memtui" / "engine" / "__init__.py")[1]) <= 40
