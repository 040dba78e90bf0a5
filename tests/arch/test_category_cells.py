"""A category's name is shortened in one place: two ways of cutting show one category as two."""

from __future__ import annotations

import ast

from memtui.tui.theme.tokens import category_cell, category_code
from tests.conftest import ROOT

HOME = ROOT / "memtui" / "tui" / "theme" / "tokens.py"

NARROW = 8
"""Cells in which a usual category no longer stands whole."""


def cuts_of(tree: ast.AST) -> list[int]:
    """Lines that cut a category by themselves: a slice of it, or a function that gives it a few cells."""
    found = []
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Slice)
            and isinstance(node.slice.upper, ast.Constant)
        ):
            if _of_category(node.value):
                found.append(node.lineno)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in (
            "fit",
            "crop",
            "right",
            "set_cell_size",
        ):
            width = node.args[1] if len(node.args) > 1 else None
            narrow = (
                isinstance(width, ast.Constant) and isinstance(width.value, int) and width.value <= NARROW
            )
            if narrow and _of_category(node.args[0]) and "category_code" not in ast.unparse(node.args[0]):
                found.append(node.lineno)
    return found


def _of_category(node: ast.AST) -> bool:
    return any(
        (isinstance(part, ast.Name) and part.id == "category")
        or (isinstance(part, ast.Attribute) and part.attr in ("category", "memory_category"))
        for part in ast.walk(node)
    )


def test_a_cut_is_found() -> None:
    cuts = 'one_line(memory.category or "")[:4]\nfit(hit.category, 4)\n'
    source = f"{cuts}fit(category_code(hit.category), 4)\nfit(hit.text, 4)"
    assert cuts_of(ast.parse(source)) == [1, 2]


def test_nothing_else_shortens_a_category() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for folder in ("tui", "cli", "mcp")
        for path in sorted((ROOT / "memtui" / folder).rglob("*.py"))
        if path != HOME
        for line in cuts_of(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == [], "use category_cell"


def test_every_category_has_its_own_four_cells() -> None:
    for category in ("preference", "fact", "decision", "entity", "other", "reflection", "漢字漢字", "x"):
        text, _ = category_cell(category)
        assert text.rstrip() == category_code(category)[: len(text.rstrip())]
        assert text.strip()
    assert category_cell("other")[0] == "othr"
    assert category_cell(None)[0] == "    "
