"""A change of any constant of any stage turns the badge red."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

from tests.engine.loopback import loopback
from tests.engine.mutation_battery import Case, battery, small_changes

RECALL = "memtui.engine.recall"
STAGES = tuple(f"{RECALL}.stages.{name}" for name in ("gates", "scores", "rerank"))
MODULES = (
    *STAGES,
    f"{RECALL}.lanes",
    f"{RECALL}.store_search",
    f"{RECALL}.recipes.memory_lancedb",
    f"{RECALL}.stage",
    f"{RECALL}.recipes.pro.plan",
    f"{RECALL}.recipes.pro.run",
    f"{RECALL}.context",
    "memtui.engine.decay.decay",
)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Case]]:
    with loopback() as server:
        server.score = lambda _, text: 0.0 if text.startswith("port ") else (len(text) * 37 % 101) / 50 - 0.3
        yield battery(tmp_path_factory.mktemp("battery"), server.url)


def constants(module: ModuleType) -> list[str]:
    """The names that the module assigns in capitals."""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    names = [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
    numbers = [name for name in names if name.isupper() and small_changes(getattr(module, name))]
    return [name for name in numbers if name != "PROTOCOL"]  # of extensions: no stage computes with it


def holders(name: str, value: Any) -> list[ModuleType]:
    """Every module of the engine that has taken the constant over by name."""
    engine = [module for key, module in sys.modules.items() if key.startswith("memtui.engine")]
    return [module for module in engine if vars(module).get(name) is value]


def notices(cases: list[Case]) -> str:
    """The first case whose proof fails, empty when all of them hold."""
    return next((case.name for case in cases if not case.trace().proof.recomputed), "")


def test_without_a_mutation_every_recall_of_the_battery_adds_up(cases: list[Case]) -> None:
    failures = {case.name: case.trace().proof.failures for case in cases}
    assert {name: why for name, why in failures.items() if why} == {}
    assert all(case.trace().candidates for case in cases)


CONSTANTS = [(path, name) for path in MODULES for name in constants(import_module(path))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "name"), CONSTANTS, ids=[f"{p.rpartition('.')[2]}.{n}" for p, n in CONSTANTS]
)
def test_a_constant_a_little_off_turns_the_badge_red(
    path: str, name: str, cases: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    original = getattr(import_module(path), name)
    survivors = []
    for changed in small_changes(original):
        with monkeypatch.context() as patch:
            for module in holders(name, original):
                patch.setattr(module, name, changed)
            if not notices(cases):
                survivors.append(changed)
    assert not survivors, "\n" + "\n".join(map(str, survivors))


HARMLESS = (
    ("valid_until or 0", "a row that has expired has a time"),
    ("pool.timestamp > 0", "no time lies between 0 and 1 ms of 1970"),
    ("b * EXACT_SHARE, 0.0", "no sum of scores lies below 0"),
    ("np.full(len(cosines), -1", "any negative number stands for nobody"),
    ("Hit(row, 0,", "the rank is given when the lane is complete"),
    ("SearchResult((), (), 0)", "an answer without rows"),
    ("missing = 0", "counts for a warning"),
    ("missing += 1", "counts for a warning"),
    ("len(item) < 2", "a hit without a score is refused in other words"),
    ("np.maximum(count - 1, 1)", "counts where there was more than one access only"),
    ("t if math.isfinite(t) and t >= 0", "no access lies within 1 ms of 1970"),
    ("max(0.0, n)", "rounded down afterwards"),
    ("values.get(key) is not None), 0)", "a negative count or time is none either"),
)
"""Numbers that no result can depend on, and why; a mutation of one direction may still be noticed."""


def literals(tree: ast.Module) -> list[ast.Constant]:
    """The numbers inside the functions of a module, not those that pick an element or an axis."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            skipped |= {id(inner) for inner in ast.walk(node.slice)}
        if isinstance(node, ast.keyword) and node.arg in ("axis", "strict"):
            skipped |= {id(inner) for inner in ast.walk(node.value)}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)]
    found = {id(n): n for f in functions for n in ast.walk(f) if isinstance(n, ast.Constant)}
    return [n for key, n in found.items() if key not in skipped and type(n.value) in (int, float)]


def functions(module: ModuleType) -> dict[str, FunctionType]:
    """The module's own functions and methods by qualified name."""
    found: dict[str, FunctionType] = {}
    for thing in vars(module).values():
        members = (
            vars(thing).values()
            if isinstance(thing, type) and thing.__module__ == module.__name__
            else [thing]
        )
        for member in members:
            plain = member.fget if isinstance(member, property) else getattr(member, "func", member)
            if isinstance(plain, FunctionType) and plain.__module__ == module.__name__:
                found[plain.__qualname__] = plain
    return found


def codes(code: CodeType) -> dict[str, CodeType]:
    """Every code object inside `code` by qualified name."""
    found = {code.co_qualname: code}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= codes(constant)
    return found


@contextmanager
def mutated(module: ModuleType, tree: ast.Module, literal: ast.Constant, value: Any) -> Iterator[None]:
    """The module's functions with one literal changed, put in where the originals are."""
    original, literal.value = literal.value, value
    fresh: dict[str, Any] = {"__name__": module.__name__, "__file__": module.__file__}
    code = compile(tree, str(module.__file__), "exec")
    literal.value = original
    changed = codes(code)
    own = functions(module)
    before = {name: (f.__code__, f.__defaults__, f.__kwdefaults__) for name, f in own.items()}
    spec = ModuleType(module.__name__)
    vars(spec).update(fresh)
    saved = sys.modules[module.__name__]
    sys.modules[module.__name__] = spec
    try:
        exec(code, vars(spec))
    finally:
        sys.modules[module.__name__] = saved
    again = functions(spec)
    own = {name: function for name, function in own.items() if name in changed}
    for name, function in own.items():
        function.__code__ = changed[name]
        function.__defaults__, function.__kwdefaults__ = again[name].__defaults__, again[name].__kwdefaults__
    try:
        yield
    finally:
        for name, function in own.items():
            function.__code__, function.__defaults__, function.__kwdefaults__ = before[name]


LITERAL_MODULES = (
    *STAGES,
    f"{RECALL}.lanes",
    "memtui.engine.decay.decay",
)


@pytest.mark.slow
@pytest.mark.parametrize("path", LITERAL_MODULES, ids=lambda path: path.rpartition(".")[2])
def test_a_number_inside_a_stage_a_little_off_turns_the_badge_red(path: str, cases: list[Case]) -> None:
    module = import_module(path)
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    tree = ast.parse(source)
    survivors = []
    for literal in literals(tree):
        for value in small_changes(literal.value):
            with mutated(module, tree, literal, value):
                try:
                    seen = notices(cases)
                except Exception as error:  # a recall that fails is no recall that lies
                    seen = type(error).__name__
            line = source.splitlines()[literal.lineno - 1].strip()
            if not seen and not any(part in line for part, _ in HARMLESS):
                survivors.append(f"{line}  [{literal.value} -> {value}]")
    assert not survivors, "\n" + "\n".join(map(str, survivors))


@pytest.mark.slow
def test_a_changed_rank_or_last_score_of_any_candidate_turns_the_badge_red(cases: list[Case]) -> None:
    survivors: list[str] = []
    for case in cases[:6]:
        trace = case.trace()
        for candidate in trace.candidates[:8]:
            changed = [
                replace(candidate, steps=(*candidate.steps[:at], mutant, *candidate.steps[at + 1 :]))
                for at, step in enumerate(candidate.steps)
                for mutant in (
                    *([replace(step, rank_after=step.rank_after + 1)] if step.rank_after else []),
                    *([replace(step, after=math.nan)] if step.after is not None else []),
                )
            ]
            if any(step.after is not None for step in candidate.steps) and candidate.score is not None:
                changed.append(replace(candidate, score=candidate.score + 0.001))
            for mutant in changed:
                given = [mutant if each is candidate else each for each in trace.candidates]
                other = replace(trace)
                vars(other)["candidates"] = tuple(given)
                if other.proof.recomputed:
                    survivors.append(f"{case.name}, {candidate.id}: {candidate.disposition}")
    assert survivors == []
