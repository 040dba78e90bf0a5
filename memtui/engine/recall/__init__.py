"""Recall: a question, the recipes that answer it, and the trace of every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.recall.recipes.registry import recipe_named
    from memtui.engine.recall.request import UNSET, RecipeInfo, request_from
    from memtui.engine.recall.trace import Candidate, Confidence, Proof, StageSummary, Step, WordMet, WordsMet

__all__ = [
    "UNSET",
    "Candidate",
    "Confidence",
    "Proof",
    "RecipeInfo",
    "StageSummary",
    "Step",
    "WordMet",
    "WordsMet",
    "recipe_named",
    "request_from",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Candidate": "memtui.engine.recall.trace",
        "Confidence": "memtui.engine.recall.trace",
        "Proof": "memtui.engine.recall.trace",
        "RecipeInfo": "memtui.engine.recall.request",
        "StageSummary": "memtui.engine.recall.trace",
        "Step": "memtui.engine.recall.trace",
        "UNSET": "memtui.engine.recall.request",
        "WordMet": "memtui.engine.recall.trace",
        "WordsMet": "memtui.engine.recall.trace",
        "recipe_named": "memtui.engine.recall.recipes.registry",
        "request_from": "memtui.engine.recall.request",
    },
)
