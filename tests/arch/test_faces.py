"""The faces of the engine: screens, commands and the server import these and nothing deeper."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

FACES = (
    *("access", "capture", "cases", "catalog", "changes", "configuration", "demo", "discovery", "explain"),
    *("health", "lifecycle", "query", "recall", "transfer", "witness"),
)
DEEPER = {
    "memtui/cli/cases.py": {"memtui.engine.witness.make_cases"},
    "memtui/cli/capture.py": {
        f"memtui.engine.capture.{name}" for name in ("commit", "document", "replay", "why_not")
    },
    "memtui/tui/screens/capture/screen.py": {"memtui.engine.capture.why_not"},
    "memtui/mcp/tools/store.py": {"memtui.engine.capture.commit", "memtui.engine.capture.remember"},
}
"""A function that is named like its module cannot stand in a face: the module would take its place."""
USERS = [path for name in ("tui", "cli", "mcp") for path in sorted((ROOT / "memtui" / name).rglob("*.py"))]


def imported(path: Path) -> Iterator[str]:
    """The modules of the engine that a file imports from."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("memtui.engine"):
            yield node.module


@pytest.mark.parametrize("folder", ["tui", "cli", "mcp"])
def test_only_faces_are_imported(folder: str) -> None:
    allowed = {"memtui.engine", *(f"memtui.engine.{face}" for face in FACES)}
    deeper = {
        path.relative_to(ROOT).as_posix(): sorted(set(imported(path)) - allowed)
        for path in sorted((ROOT / "memtui" / folder).rglob("*.py"))
    }
    found = {name: modules for name, modules in deeper.items() if set(modules) - DEEPER.get(name, set())}
    assert found == {}


@pytest.mark.parametrize("face", FACES)
def test_a_face_offers_what_is_there(face: str) -> None:
    from importlib import import_module

    module = import_module(f"memtui.engine.{face}")
    for name in getattr(module, "__all__", ()):
        assert getattr(module, name) is not None or name.isupper()
