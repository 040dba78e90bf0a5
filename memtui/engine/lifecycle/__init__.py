""""""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.lifecycle.board import Board, BoardAsk
    from memtui.engine.lifecycle.case_effects import CaseLoss, SweepEffect
    from memtui.engine.lifecycle.crossings import SCENARIOS
    from memtui.engine.lifecycle.memory_life import LifeRemedy
    from memtui.engine.lifecycle.review_queue import ReviewProgress
    from memtui.engine.lifecycle.settings import LifecycleSettings

__all__ = [
    "SCENARIOS",
    "Board",
    "BoardAsk",
    "CaseLoss",
    "LifeRemedy",
    "LifecycleSettings",
    "ReviewProgress",
    "SweepEffect",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Board": "memtui.engine.lifecycle.board",
        "BoardAsk": "memtui.engine.lifecycle.board",
        "CaseLoss": "memtui.engine.lifecycle.case_effects",
        "LifeRemedy": "memtui.engine.lifecycle.memory_life",
        "LifecycleSettings": "memtui.engine.lifecycle.settings",
        "ReviewProgress": "memtui.engine.lifecycle.review_queue",
        "SCENARIOS": "memtui.engine.lifecycle.crossings",
        "SweepEffect": "memtui.engine.lifecycle.case_effects",
    },
)
