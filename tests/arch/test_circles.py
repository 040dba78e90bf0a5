"""No two files import each other, over however many others; imports for the type checker count."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tests.conftest import ROOT


@cache
def modules() -> dict[str, Path]:
    """Every module of memtui by its dotted name; a package is its `__init__`."""
    found = {}
    for path in sorted((ROOT / "memtui").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """(module, name) of each import in a file, wherever it stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


@cache
def graph() -> dict[str, set[str]]:
    """Module to the modules it imports from. A face is no step: what is taken from it counts as its own file."""
    every = modules()
    faces = {
        name: {offered: module for module, offered in imported(path)}
        for name, path in every.items()
        if path.name == "__init__.py"
    }
    found: dict[str, set[str]] = {}
    for name, path in every.items():
        if name in faces:
            continue
        steps = set()
        for module, taken in imported(path):
            whole = f"{module}.{taken}"
            steps.add(whole if whole in every else faces.get(module, {}).get(taken, module))
        found[name] = {step for step in steps if step in every and step not in faces} - {name}
    return found


def circles(steps: Mapping[str, set[str]]) -> list[set[str]]:
    """Groups of modules that reach each other."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for step in steps.get(todo.pop(), ()):
                if step not in seen:
                    seen.add(step)
                    todo.append(step)
        return seen

    every = {name: reached(name) for name in steps}
    groups = [
        {other for other in every[name] if name in every.get(other, ())}
        for name in steps
        if name in every[name]
    ]
    return [group for at, group in enumerate(groups) if group not in groups[:at]]


def test_a_circle_is_found() -> None:
    steps = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"a"}}
    assert circles(steps) == [{"a", "b", "c"}]


def test_no_file_imports_itself_over_others() -> None:
    assert [sorted(group) for group in circles(graph())] == []
