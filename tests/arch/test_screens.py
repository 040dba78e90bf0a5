"""The shape of the screens: one class each, parts that know no screen, few methods that only forward."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.conftest import ROOT

TUI = ROOT / "memtui" / "tui"
TREES = {path.relative_to(TUI).as_posix(): ast.parse(path.read_text()) for path in sorted(TUI.rglob("*.py"))}

ANY_SCREEN = {
    "actions/perform.py",
    "dialogs/help.py",
    "dialogs/palette.py",
    "dialogs/palette_sources.py",
    "jump.py",
    "widgets/screen_bars.py",
}
"""What speaks of whichever screen is shown (help, palette, jump, key bar, an action from anywhere): Textual's own
`Screen` is their subject."""

KNOWN = {"app", "screen", "query_one", "runner", "push_screen"}
"""What only a widget or a screen has."""

MOST_FORWARDS = 36
"""Actions that are one call of a part: this number only shrinks."""


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))


def _takes_a_screen(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    given = function.args
    notes = (each.annotation for each in (*given.posonlyargs, *given.args, *given.kwonlyargs))
    return any(
        (isinstance(node, ast.Name) and node.id.endswith("Screen"))
        or (isinstance(node, ast.Constant) and str(node.value).endswith("Screen"))
        for note in notes
        if note is not None
        for node in ast.walk(note)
    )


def test_no_helper_takes_a_screen() -> None:
    found = {
        name: count
        for name, tree in TREES.items()
        if name not in ANY_SCREEN and (count := sum(map(_takes_a_screen, _functions(tree))))
    }
    assert found == {}


def test_no_task_knows_a_screen() -> None:
    """A task is a declaration: what it needs it asks of its `TaskRun`."""
    folder = TUI / "screens" / "transfer"
    tasks = [
        name for name in TREES if name.startswith("screens/transfer/") and not name.endswith("/screen.py")
    ]
    assert len(tasks) >= len(list(folder.glob("*_task*.py"))) >= 5
    known = {
        name: sorted({node.attr for node in ast.walk(TREES[name]) if isinstance(node, ast.Attribute)} & KNOWN)
        for name in [*tasks, "wizard/wizard.py"]
    }
    assert {name: attributes for name, attributes in known.items() if attributes} == {}
    imported = {
        name
        for name in [*tasks, "wizard/wizard.py"]
        for node in ast.walk(TREES[name])
        if isinstance(node, ast.ImportFrom) and (node.module or "").endswith(".screen")
    }
    assert imported == set()


def test_no_screen_inherits_another() -> None:
    classes = [each for tree in TREES.values() for each in ast.walk(tree) if isinstance(each, ast.ClassDef)]
    bases = {each.name: [ast.unparse(base) for base in each.bases] for each in classes}
    screens = {name for name, above in bases.items() if "BaseScreen" in above}
    assert len(screens) >= 14
    assert {name: above for name, above in bases.items() if screens & set(above)} == {}
    assert {name for name in screens if bases[name] != ["BaseScreen"]} == set()


def _forwards(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether an action is one call of another object's method, with nothing but constants."""
    body = [
        each
        for each in function.body
        if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
    ]
    if len(body) != 1 or not isinstance(body[0], ast.Expr) or not isinstance(body[0].value, ast.Call):
        return False
    call = body[0].value
    given = (*call.args, *(each.value for each in call.keywords))
    elsewhere = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) != "self"
    return elsewhere and all(isinstance(each, ast.Constant) for each in given)


def test_few_actions_only_forward() -> None:
    found = sorted(
        f"{name}:{each.name}"
        for name, tree in TREES.items()
        for each in _functions(tree)
        if each.name.startswith("action_") and _forwards(each)
    )
    assert len(found) <= MOST_FORWARDS, found


def test_no_line_is_cut_without_a_sign() -> None:
    """`truncate` by itself leaves no trace of what it cut; painters of bars, which fill a width, are in `paint`."""
    silent = []
    for path in sorted(TUI.rglob("*.py")):
        if "paint" in path.relative_to(TUI).parts:
            continue
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            told = {each.arg for each in node.keywords} & {"ellipsis", "pad"}
            signed = "glyphs.ellipsis" in lines[(node.end_lineno or 1) - 1]
            if node.func.attr == "truncate" and not told and not signed:
                silent.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert silent == []
