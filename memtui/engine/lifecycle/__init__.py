"""The lifecycle of a store: tiers, decay, what will fade and when, and the weekly review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.lifecycle.board import Board, BoardAsk, StoreHistory
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
    from memtui.engine.lifecycle.review_queue import Review, ReviewCard, ReviewProgress, Settlement
    from memtui.engine.lifecycle.settings import KNOBS, DecayKnob, LifecycleSettings
    from memtui.engine.lifecycle.tier_plan import Crossing, TierMove

__all__ = [
    "KNOBS",
    "SCENARIOS",
    "Board",
    "BoardAsk",
    "CaseLoss",
    "Crossing",
    "DecayKnob",
    "LifeRemedy",
    "LifecycleSettings",
    "MemoryLife",
    "Review",
    "ReviewCard",
    "ReviewProgress",
    "Settlement",
    "StoreHistory",
    "SweepEffect",
    "TierMove",
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
        "Crossing": "memtui.engine.lifecycle.tier_plan",
        "DecayKnob": "memtui.engine.lifecycle.settings",
        "KNOBS": "memtui.engine.lifecycle.settings",
        "LifeRemedy": "memtui.engine.lifecycle.memory_life",
        "LifecycleSettings": "memtui.engine.lifecycle.settings",
        "MemoryLife": "memtui.engine.lifecycle.memory_life",
        "Review": "memtui.engine.lifecycle.review_queue",
        "ReviewCard": "memtui.engine.lifecycle.review_queue",
        "ReviewProgress": "memtui.engine.lifecycle.review_queue",
        "SCENARIOS": "memtui.engine.lifecycle.crossings",
        "Settlement": "memtui.engine.lifecycle.review_queue",
        "StoreHistory": "memtui.engine.lifecycle.board",
        "SweepEffect": "memtui.engine.lifecycle.case_effects",
        "TierMove": "memtui.engine.lifecycle.tier_plan",
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
