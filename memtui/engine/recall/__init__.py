"""Recall: a question, the recipes that answer it, and the trace of every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.recall.recipes.registry import recipe_named
    from memtui.engine.recall.request import UNSET, RecallRequest
    from memtui.engine.recall.trace import Confidence

__all__ = [
    "UNSET",
    "Confidence",
    "RecallRequest",
    "recipe_named",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Confidence": "memtui.engine.recall.trace",
        "RecallRequest": "memtui.engine.recall.request",
        "UNSET": "memtui.engine.recall.request",
        "recipe_named": "memtui.engine.recall.recipes.registry",
    },
)
