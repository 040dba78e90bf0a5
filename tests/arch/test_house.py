"""Habits of the house that a machine can check."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCES = sorted([*(ROOT / "memtui").rglob("*.py"), *(ROOT / "tests").rglob("*.py")])
_PROGRAM = sorted((ROOT / "memtui").rglob("*.py"))
SCREEN = sorted((ROOT / "memtui" / "tui").rglob("*.py"))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


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


CLOCKS = ("perf_counter", "monotonic", "process_time", "thread_time", "time")
SPANS = ("took", "elapsed", "spent", "duration", "waited")


def _is_figure(node: ast.expr) -> bool:
    """A number that is written down, also as 2 * 0.5."""
    return all(
        isinstance(each, ast.Constant | ast.BinOp | ast.operator | ast.UnaryOp | ast.unaryop)
        for each in ast.walk(node)
    )


def _is_span(node: ast.expr, spans: set[str]) -> bool:
    """A difference of two looks at a clock, or a name that holds one."""
    match node:
        case ast.BinOp(op=ast.Sub()):
            return any(
                isinstance(each, ast.Call) and ast.unparse(each.func).rpartition(".")[2] in CLOCKS
                for each in ast.walk(node)
            )
        case ast.Name(id=name):
            return name in spans
    return False


_TIMED = re.compile(rf"\b(?:{'|'.join(CLOCKS)})\(|\b(?:{'|'.join(SPANS)})\b")


def _seconds_asserted(source: str) -> list[str]:
    if not _TIMED.search(source):  # most files need not be parsed
        return []
    tree = ast.parse(source)
    spans = set(SPANS)
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_span(value, spans):
                spans.add(name)
    compared = (
        each
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert)
        for each in ast.walk(node)
        if isinstance(each, ast.Compare)
    )
    return [
        ast.unparse(each)
        for each in compared
        if any(_is_span(side, spans) for side in (each.left, *each.comparators))
        and any(_is_figure(side) for side in (each.left, *each.comparators))
    ]


@pytest.mark.parametrize(
    "source",
    [
        "assert time.monotonic() - begun < 2",
        "assert 0.35 <= time.perf_counter() - begun",
        "long = time.process_time() - begun\nassert long < 2 * 1.5",
        "assert took < 3",
    ],
)
def test_asserted_seconds_are_found(source: str) -> None:
    assert _seconds_asserted(source)


def test_no_test_asserts_seconds() -> None:
    """A machine may be busy: a ratio within the run (tests/timing.py), or an event, says the same."""
    found = {
        _name(path): _seconds_asserted(path.read_text(encoding="utf-8"))
        for path in SOURCES
        if "tests" in path.parts
    }
    assert {name: hits for name, hits in found.items() if hits} == {}


def test_nobody_asks_a_source_for_the_name_of_its_format() -> None:
    """`Format` says what may be asked of it and whether its columns are mapped: a new one is a reader."""
    asks = re.compile(r"\bformat\.name (?:==|!=|in|not in)|preview\.format (?:==|!=|in|not in)")
    found = {_name(path): asks.findall(path.read_text(encoding="utf-8")) for path in _PROGRAM}
    assert {name: hits for name, hits in found.items() if hits} == {}


def _is_recipe(node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) if name.endswith("recipe"):
            return True
        case ast.Attribute(value=value, attr="name"):
            return _is_recipe(value)
    return False


def _is_name_of_one(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str(text)):
            return text != ""
        case ast.Name(id=name):
            return name.isupper()
        case ast.Tuple(elts=several) | ast.Set(elts=several) | ast.List(elts=several):
            return any(_is_name_of_one(each) for each in several)
    return False


def _recipes_compared(source: str) -> list[str]:
    if "recipe" not in source:
        return []
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
                told = any(map(_is_recipe, sides)) and any(map(_is_name_of_one, sides))
            case ast.Call(func=ast.Attribute(value=value, attr="startswith" | "endswith")):
                told = _is_recipe(value)
            case ast.Subscript(value=ast.Name(id=table), slice=key):
                told = table.lstrip("_").isupper() and _is_recipe(key)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=table), attr="get"), args=[key, *_]):
                told = table.lstrip("_").isupper() and _is_recipe(key)
            case _:
                told = False
        if told:
            found.append(ast.unparse(node))
    return found


@pytest.mark.parametrize(
    "source",
    [
        'trace.recipe == "memtui"',
        "recipe != BY_MEANING",
        'recipe.name in ("a", "b")',
        "_GATES.get(trace.recipe)",
        'name.recipe.startswith("pro/")',
    ],
)
def test_a_compared_recipe_is_found(source: str) -> None:
    assert _recipes_compared(source)


def test_nobody_asks_a_recipe_for_its_name_to_decide_something() -> None:
    """Its value says what others decide by (`RecipeInfo`, `Recipe`): a new recipe is one file and one line."""
    found = {
        _name(path): _recipes_compared(path.read_text(encoding="utf-8"))
        for path in _PROGRAM
        if "/recipes/" not in _name(path)
    }
    assert {name: hits for name, hits in found.items() if hits} == {}


def test_a_count_with_its_noun_is_written_by_one_function() -> None:
    by_hand = re.compile(r"def plural\(|:,\} \{'\w+' if [^{}]+ == 1 else '\w+'\}")
    found = {_name(path): by_hand.findall(path.read_text(encoding="utf-8")) for path in _PROGRAM}
    assert {name: hits for name, hits in found.items() if hits} == {}, "use memtui.engine.counted"


def test_the_name_of_a_class_is_used_once() -> None:
    """Whoever searches for a name finds one thing. The models of the tools are named as hosts see them: left out."""
    places: dict[str, list[str]] = {}
    for path in _PROGRAM:
        for name in re.findall(r"^class ([A-Za-z]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE):
            places.setdefault(name, []).append(_name(path))
    tools = "memtui/mcp/tools/"
    found = {name: [each for each in where if not each.startswith(tools)] for name, where in places.items()}
    assert {name: where for name, where in found.items() if len(where) > 1} == {}


def test_a_file_that_memtui_keeps_is_named_in_one_place() -> None:
    """Else what writes it and what reads it drift apart: `memtui/paths.py` names what several need."""
    named = re.compile(r"_dir\([^\n]*\) / f?(\"[^\"]+\.\w+\")")
    places: dict[str, set[str]] = {}
    for path in _PROGRAM:
        for name in named.findall(path.read_text(encoding="utf-8")):
            places.setdefault(name, set()).add(_name(path))
    assert '"cases.json"' in places
    assert {name: sorted(where) for name, where in places.items() if len(where) > 1} == {}


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
        "docs",
        "requirements.lock",
        "packaging",
    }
    there = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert there - agreed - {"dist", "build"} == set()


COLLECTOR = {
    "memtui/tui/startup/preload.py": "freezes what was loaded, and looks through the rest while nobody presses a key",
    "memtui/cli/mcp.py": "the process ends: nothing that the SDK made needs to be looked through once more",
    "memtui/engine/capture/pipeline.py": "a long conversation makes many values and no circle",
}


def test_the_garbage_collector_is_steered_where_it_says_why() -> None:
    steers = re.compile(r"\bgc\.(?:freeze|unfreeze|disable|enable|set_threshold|collect)\(")
    assert {_name(path) for path in _PROGRAM if steers.search(path.read_text(encoding="utf-8"))} == set(
        COLLECTOR
    )


def test_no_part_of_the_program_lists_the_objects_of_all_threads() -> None:
    """A list of all objects owns the tuples that other threads are filling: Python ends their work (SystemError)."""
    names = ("get_objects", "get_referrers", "get_referents")
    told = {path: path.read_text(encoding="utf-8") for path in _PROGRAM}
    found = [
        _name(path)
        for path, text in told.items()
        if any(name in text for name in names)  # a comment may name one
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr in names
    ]
    assert found == []
