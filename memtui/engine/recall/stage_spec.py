"""A stage of a recipe: its name, when it runs, what it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memtui.engine.recall.candidates import CandidatePool
from memtui.engine.recall.context import StageContext
from memtui.engine.recall.stage import Ranking, StageOutcome
from memtui.engine.recall.trace import StageKind


@dataclass(frozen=True)
class StageSpec:
    """A stage of a recipe: its name (the trace's), its title (the screen's), when it runs, what it does."""

    name: str
    title: str
    kind: StageKind
    run: Callable[[Ranking, CandidatePool, StageContext], StageOutcome]
    when: Callable[[StageContext], bool] = lambda setting: True
    fresh: bool = False
    """True for stages that start from the lanes, not from the stage before."""
