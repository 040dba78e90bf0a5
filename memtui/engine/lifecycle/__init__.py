"""The lifecycle of a store: tiers, decay, what will fade and when, and the weekly review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.lifecycle.board import Board, BoardAsk
    from memtui.engine.lifecycle.case_effects import CaseLoss, SweepEffect
    from memtui.engine.lifecycle.crossings import SCENARIOS
    from memtui.engine.lifecycle.memory_life import LifeRemedy, MemoryLife
    from memtui.engine.lifecycle.questions import (
        case_effect,
        case_losses,
        find_crossings,
        follow_memory,
        iterate_numbers,
        lifecycle_findings,
        make_board,
        own_settings,
        plan_moves,
        plan_sweep,
        review,
        store_history,
        sweep_effect,
    )
    from memtui.engine.lifecycle.review_queue import ReviewProgress
    from memtui.engine.lifecycle.settings import LifecycleSettings

__all__ = [
    "SCENARIOS",
    "Board",
    "BoardAsk",
    "CaseLoss",
    "LifeRemedy",
    "LifecycleSettings",
    "MemoryLife",
    "ReviewProgress",
    "SweepEffect",
    "case_effect",
    "case_losses",
    "find_crossings",
    "follow_memory",
    "iterate_numbers",
    "lifecycle_findings",
    "make_board",
    "own_settings",
    "plan_moves",
    "plan_sweep",
    "review",
    "store_history",
    "sweep_effect",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Board": "memtui.engine.lifecycle.board",
        "BoardAsk": "memtui.engine.lifecycle.board",
        "CaseLoss": "memtui.engine.lifecycle.case_effects",
        "MemoryLife": "memtui.engine.lifecycle.memory_life",
        "LifeRemedy": "memtui.engine.lifecycle.memory_life",
        "LifecycleSettings": "memtui.engine.lifecycle.settings",
        "ReviewProgress": "memtui.engine.lifecycle.review_queue",
        "SCENARIOS": "memtui.engine.lifecycle.crossings",
        "SweepEffect": "memtui.engine.lifecycle.case_effects",
        "case_effect": "memtui.engine.lifecycle.questions",
        "case_losses": "memtui.engine.lifecycle.questions",
        "find_crossings": "memtui.engine.lifecycle.questions",
        "follow_memory": "memtui.engine.lifecycle.questions",
        "iterate_numbers": "memtui.engine.lifecycle.questions",
        "lifecycle_findings": "memtui.engine.lifecycle.questions",
        "make_board": "memtui.engine.lifecycle.questions",
        "own_settings": "memtui.engine.lifecycle.questions",
        "plan_moves": "memtui.engine.lifecycle.questions",
        "plan_sweep": "memtui.engine.lifecycle.questions",
        "review": "memtui.engine.lifecycle.questions",
        "store_history": "memtui.engine.lifecycle.questions",
        "sweep_effect": "memtui.engine.lifecycle.questions",
    },
)
