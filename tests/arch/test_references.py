"""What a docstring names in backticks is there: a class that was renamed leaves no trace of its old name."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from functools import cache

from tests.arch.test_circles import modules

OF_OTHERS = {"Input", "JSON", "Math"}
"""Classes of libraries and of the systems beside ours that docstrings speak of."""

COMMENT = re.compile(r"(?:^|  )\s*# .*")


@cache
def trees() -> dict[str, ast.Module]:
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in modules().items()}


@cache
def known() -> dict[str, set[str]]:
    """The names in each class and each module (by its last word): what may stand behind a dot."""
    found: dict[str, set[str]] = {}
    for module, tree in trees().items():
        lines = [COMMENT.sub("", line) for line in modules()[module].read_text(encoding="utf-8").splitlines()]
        found.setdefault(module.rpartition(".")[2], set()).update(re.findall(r"\w+", "\n".join(lines)))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                inside = "\n".join(lines[node.lineno - 1 : node.end_lineno])
                found.setdefault(node.name, set()).update(re.findall(r"\w+", inside))
    return found


@cache
def words() -> set[str]:
    """Every name and every short text in the code itself, docstrings left out."""
    found = set(dir(builtins))
    for tree in trees().values():
        for node in ast.walk(tree):
            found.update(
                each
                for field in ("id", "attr", "name", "arg", "asname")
                if isinstance(each := getattr(node, field, None), str)
            )
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 60:
                found.add(node.value)
    return found


def docstrings(tree: ast.Module) -> Iterator[str]:
    """Texts that stand alone: of modules, classes, functions, and below values."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text


def lost(text: str) -> list[str]:
    """The references of a docstring that lead nowhere."""
    found = [each for each in re.findall(r"`([A-Z][a-z]\w*)`", text) if each not in words()]
    for see, owner, name in re.findall(r"(see )?`([A-Za-z_]\w*)\.(\w+)`", text):
        is_class = owner[0].isupper() and not owner.isupper()
        if (is_class or see) and owner not in OF_OTHERS and name not in known().get(owner, ()):
            found.append(f"{owner}.{name}")
    return found


def test_a_lost_reference_is_found() -> None:
    for text in ("Fills the `Metta`.", "A variable of `CancelToken.chek`.", "More; see `moves.Mover`."):
        assert lost(text), text


def test_every_reference_leads_somewhere() -> None:
    found = {
        module: bad
        for module, tree in trees().items()
        if (bad := [b for t in docstrings(tree) for b in lost(t)])
    }
    assert found == {}
