"""The in-process memory engine: the public API.

Importing this package is cheap: names are loaded when first used, and numpy, pyarrow, lancedb, httpx
and pydantic only inside the functions that need them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# At once, not on demand: a function named like its module would be replaced by the module when that is imported.
from memtui.engine.clean import clean, one_line

_HOME = {
    "Board": "lifecycle.board",
    "BoardAsk": "lifecycle.board",
    "CancelToken": "progress",
    "Cancelled": "errors",
    "Candidate": "recall.trace",
    "CaseBook": "cases.book",
    "CaseLoss": "lifecycle.losses",
    "Change": "curate.changes",
    "ChangeSet": "curate.changes",
    "ConfigError": "errors",
    "Conflict": "curate.changes",
    "Crossing": "lifecycle.moves",
    "DamagedStoreError": "errors",
    "EmbeddingError": "errors",
    "Engine": "engine",
    "Facets": "listing",
    "Field": "curate.fields",
    "Finding": "listing",
    "KNOBS": "lifecycle.knobs",
    "Knob": "lifecycle.knobs",
    "Life": "lifecycle.lives",
    "LifecycleSettings": "lifecycle.settings",
    "ListQuery": "listing",
    "ListView": "listing",
    "Memory": "memory",
    "MemtuiError": "errors",
    "Outcome": "curate.changes",
    "Progress": "progress",
    "Proof": "recall.trace",
    "RecallRequest": "recall.request",
    "RecipeInfo": "engine",
    "RefusedError": "errors",
    "Remedy": "lifecycle.lives",
    "RerankError": "errors",
    "Review": "lifecycle.cards",
    "ReviewCard": "lifecycle.cards",
    "ReviewProgress": "lifecycle.settled",
    "StageSummary": "recall.trace",
    "Stats": "listing",
    "Step": "recall.trace",
    "StoreHistory": "lifecycle.board",
    "StoreInfo": "listing",
    "StoreNotFoundError": "errors",
    "TierMove": "lifecycle.moves",
    "Trace": "recall.record",
    "UnknownDialectError": "errors",
    "UsageError": "errors",
    "WordMet": "recall.words_met",
    "WordsMet": "recall.words_met",
    "open_engine": "engine",
}

__all__ = [
    "KNOBS",
    "Board",
    "BoardAsk",
    "CancelToken",
    "Cancelled",
    "Candidate",
    "CaseBook",
    "CaseLoss",
    "Change",
    "ChangeSet",
    "ConfigError",
    "Conflict",
    "Crossing",
    "DamagedStoreError",
    "EmbeddingError",
    "Engine",
    "Facets",
    "Field",
    "Finding",
    "Knob",
    "Life",
    "LifecycleSettings",
    "ListQuery",
    "ListView",
    "Memory",
    "MemtuiError",
    "Outcome",
    "Progress",
    "Proof",
    "RecallRequest",
    "RecipeInfo",
    "RefusedError",
    "Remedy",
    "RerankError",
    "Review",
    "ReviewCard",
    "ReviewProgress",
    "StageSummary",
    "Stats",
    "Step",
    "StoreHistory",
    "StoreInfo",
    "StoreNotFoundError",
    "TierMove",
    "Trace",
    "UnknownDialectError",
    "UsageError",
    "WordMet",
    "WordsMet",
    "clean",
    "one_line",
    "open_engine",
]

if TYPE_CHECKING:
    from memtui.engine.cases.book import CaseBook
    from memtui.engine.curate.changes import Change, ChangeSet, Conflict, Outcome
    from memtui.engine.curate.fields import Field
    from memtui.engine.engine import Engine, RecipeInfo, open_engine
    from memtui.engine.errors import (
        Cancelled,
        ConfigError,
        DamagedStoreError,
        EmbeddingError,
        MemtuiError,
        RefusedError,
        RerankError,
        StoreNotFoundError,
        UnknownDialectError,
        UsageError,
    )
    from memtui.engine.lifecycle.board import Board, BoardAsk, StoreHistory
    from memtui.engine.lifecycle.cards import Review, ReviewCard
    from memtui.engine.lifecycle.knobs import KNOBS, Knob
    from memtui.engine.lifecycle.lives import Life, Remedy
    from memtui.engine.lifecycle.losses import CaseLoss
    from memtui.engine.lifecycle.moves import Crossing, TierMove
    from memtui.engine.lifecycle.settings import LifecycleSettings
    from memtui.engine.lifecycle.settled import ReviewProgress
    from memtui.engine.listing import Facets, Finding, ListQuery, ListView, Stats, StoreInfo
    from memtui.engine.memory import Memory
    from memtui.engine.progress import CancelToken, Progress
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.request import RecallRequest
    from memtui.engine.recall.trace import Candidate, Proof, StageSummary, Step
    from memtui.engine.recall.words_met import WordMet, WordsMet


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
