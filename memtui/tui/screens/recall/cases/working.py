"""What the Cases screen asks of the engine, on its own thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine import CancelToken, CaseBook
from memtui.tui.paint.numbers import plural
from memtui.tui.screens.recall.cases.state import Book

if TYPE_CHECKING:
    from memtui.engine import Engine, RecallRequest
    from memtui.engine.cases.case import Case
    from memtui.engine.cases.run import Report, Setup
    from memtui.engine.cases.tune import Tuning

BUDGET = 60
"""Settings that a search tries at the most."""


def read(engine: Engine, book: CaseBook) -> Book:
    """The cases, the memories that they name, and whether the demo's own questions would fit here."""
    from memtui.engine.cases.demo import demo_cases

    cases = book.cases()
    named = dict.fromkeys(id for case in cases for id in (*case.expected, *case.rejected))
    memories = engine.memories(list(named)) if named else {}
    demo = False
    if not cases:
        first = demo_cases(0)[0].expected
        demo = bool(engine.memories(first))
    return Book(cases, memories, demo)


def run(
    engine: Engine,
    cases: Sequence[Case],
    setups: tuple[Setup, Setup | None],
    k: int,
    report: Callable[[Any], None],
    cancel: CancelToken,
) -> Report:
    """Ask every case of A, and of B where there is one."""
    from memtui.engine.cases.run import compare, run_cases

    def ask(request: RecallRequest) -> Any:
        return engine.recall(request, None, cancel)

    a, b = setups
    first = run_cases(cases, a, ask, engine.memories, k=k, on_progress=report, cancel=cancel)
    if b is None:
        return first
    return compare(first, run_cases(cases, b, ask, engine.memories, k=k, on_progress=report, cancel=cancel))


def search(
    engine: Engine,
    cases: Sequence[Case],
    start: Setup,
    k: int,
    report: Callable[[Any], None],
    cancel: CancelToken,
) -> Tuning:
    """Search better settings from `start`, judged on cases kept apart."""
    from memtui.engine.cases.run import run_cases
    from memtui.engine.cases.tune import tune

    def ask(request: RecallRequest) -> Any:
        return engine.recall(request, None, cancel)

    def asked(some: Sequence[Case], setup: Setup) -> Report:
        return run_cases(some, setup, ask, engine.memories, k=k, cancel=cancel)

    return tune(cases, start, asked, budget=BUDGET, on_progress=report, cancel=cancel)


def take_file(book: CaseBook, path: Path) -> tuple[int, list[tuple[str, str]]]:
    """Take the cases of a file; how many, and the lines that are none."""
    from memtui.engine.cases.lines import read_cases

    taken, rejected = read_cases(path)
    book.put_all(taken)
    return len(taken), rejected


def take_demo(book: CaseBook, now_ms: int) -> str:
    """Take the demo store's own questions."""
    from memtui.engine.cases.demo import demo_cases

    cases = demo_cases(now_ms)
    book.put_all(cases)
    return f"{plural(len(cases), 'case')} taken from the demo store's questions"
