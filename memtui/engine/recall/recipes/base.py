"""The recipes: named, ordered lists of stages. A new recipe is a new list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memtui.engine.recall.candidates import CandidatePool
from memtui.engine.recall.context import StageContext
from memtui.engine.recall.stage import Outcome, Ranking
from memtui.engine.recall.trace import StageKind

Run = Callable[[Ranking, CandidatePool, StageContext], Outcome]

When = Callable[[StageContext], bool]


@dataclass(frozen=True)
class StageSpec:
    """A stage of a recipe: its name (the trace's), its title (the screen's), when it runs, what it does."""

    name: str
    title: str
    kind: StageKind
    run: Run
    when: When = lambda setting: True
    fresh: bool = False
    """True for stages that start from the lanes, not from the stage before."""
