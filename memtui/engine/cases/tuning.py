"""A search for settings that answer the cases better, judged on cases it never saw."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memtui.engine.cases.case import Case
from memtui.engine.cases.runner import CaseReport, CaseSetup, Significance, compare
from memtui.engine.core.errors import UsageError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.text import counted
from memtui.engine.recall.recipes.registry import recipe_named

LEAST_CASES = 8

HELD_OUT_SHARE = 3
"""Every third case is kept apart."""

DEFAULT_BUDGET = 60
"""Settings tried at the most; each costs one recall a case."""


def space(recipe: str) -> tuple[str, Mapping[str, tuple[Any, ...]]]:
    """The block of the configuration in which a recipe's knobs stand, and what is tried of each.

    Raises UsageError for a recipe without any.
    """
    found = recipe_named(recipe) if recipe else None
    if found is not None and found.search_space:
        return found.block, found.search_space
    raise UsageError(
        f"{recipe or 'This recipe'} has no settings to search.", fix="Search with memtui or a pro recipe."
    )


@dataclass(frozen=True, slots=True)
class TuningResult:
    """The settings found, as the block to paste, and what they gain."""

    name: str
    """The block of the configuration that was searched: retrieval or memtui."""
    settings: Mapping[str, Any]
    """Only the keys that differ from the start."""
    tried: int
    train_gain: float
    """nDCG gained on the cases that chose the settings: always flattering."""
    held_out: Significance
    """The same settings on the cases kept apart: what to believe."""
    stopped: str
    """converged, budget."""

    @property
    def block(self) -> dict[str, Any]:
        """The configuration block to paste."""
        return {self.name: dict(self.settings)}


RunCases = Callable[[Sequence[Case], CaseSetup], CaseReport]


def split(cases: Sequence[Case]) -> tuple[list[Case], list[Case]]:
    """(train, held out), by a hash of the case so that a case never changes sides."""
    ordered = sorted(cases, key=lambda case: hashlib.sha256(case.id.encode()).hexdigest())
    held = ordered[::HELD_OUT_SHARE]
    return [case for case in ordered if case not in held], held


def tune(
    cases: Sequence[Case],
    start: CaseSetup,
    run: RunCases,
    *,
    budget: int = DEFAULT_BUDGET,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> TuningResult:
    """Coordinate search: change one knob at a time, keep what helps, until nothing does or the budget ends.

    `run` asks cases under a setup. Raises UsageError with fewer than eight cases: there is nothing to learn from
    and nothing to check on. Deterministic.
    """
    if len(cases) < LEAST_CASES:
        few = f"{counted(len(cases), 'case')} {'is' if len(cases) == 1 else 'are'} too few to tune on."
        raise UsageError(few, fix=f"Save {LEAST_CASES} or more first.")
    block, knobs = space(start.recipe)
    train, held = split(cases)
    base = dict((start.config or {}).get(block) or {})

    def setup(changes: Mapping[str, Any]) -> CaseSetup:
        return replace(start, config={**(start.config or {}), block: {**base, **changes}})

    first = run(train, setup({}))
    best: dict[str, Any] = {}
    gain, tried, stopped = 0.0, 1, "converged"
    improved = True
    while improved and stopped == "converged":
        improved = False
        for knob, value in _moves(knobs, best, base):
            if tried >= budget:
                stopped = "budget"
                break
            if cancel is not None:
                cancel.check()
            tried += 1
            candidate = {**best, knob: value}
            compared = compare(first, run(train, setup(candidate))).paired
            if on_progress is not None:
                on_progress(Progress(f"trying {knob} = {value}", tried, budget, "settings"))
            if compared is not None and compared.difference > gain + 1e-9:
                gain, best, improved = compared.difference, candidate, True
    judged = compare(run(held, setup({})), run(held, setup(best))).paired
    assert judged is not None  # compare always pairs
    return TuningResult(block, best, tried, gain, judged, stopped)


def _moves(
    knobs: Mapping[str, tuple[Any, ...]], best: Mapping[str, Any], base: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Every single change of one knob away from where the search stands."""
    for knob, values in knobs.items():
        here = best.get(knob, base.get(knob))
        for value in values:
            if value != here:
                yield knob, value
