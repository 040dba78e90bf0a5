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
    "Settlement": "lifecycle.cards",
    "SweepEffect": "lifecycle.questions",
    "Board": "lifecycle.board",
    "BoardAsk": "lifecycle.board",
    "Bounds": "lab.bounds",
    "Cancelled": "errors",
    "CancelToken": "progress",
    "Candidate": "recall.trace",
    "CaseBook": "cases.book",
    "CaseLoss": "lifecycle.losses",
    "Change": "curate.changes",
    "ChangeSet": "curate.changes",
    "Comparison": "lab.compare",
    "ConfigError": "errors",
    "Conflict": "curate.changes",
    "ConflictError": "curate.apply",
    "Counterfactual": "lab.verdict",
    "Crossing": "lifecycle.moves",
    "DamagedStoreError": "errors",
    "Effect": "lab.compare",
    "EmbeddingError": "errors",
    "Engine": "engine",
    "Explanation": "lab.sentences",
    "Facets": "listing",
    "Field": "curate.fields",
    "Finding": "listing",
    "History": "lab.history",
    "Injection": "lab.injected",
    "InjectionSettings": "lab.injected",
    "EntryRow": "curate.journal",
    "JournalEntry": "curate.journal",
    "LockState": "curate.lock",
    "Knob": "lifecycle.knobs",
    "KNOBS": "lifecycle.knobs",
    "Lab": "lab.facade",
    "Life": "lifecycle.lives",
    "LifecycleSettings": "lifecycle.settings",
    "ListQuery": "listing",
    "LONGEST_TEXT": "curate.fields",
    "ListView": "listing",
    "Memory": "memory",
    "MemtuiError": "errors",
    "dump_json": "deep_json",
    "open_engine": "engine",
    "request_from": "recall.request",
    "Outcome": "curate.changes",
    "Parameter": "lab.parameters",
    "Powerless": "lab.verdict",
    "Progress": "progress",
    "Proof": "recall.trace",
    "Question": "lab.history",
    "read_receipt": "lab.receipt",
    "RecallEffect": "curate.effect",
    "RecallRequest": "recall.request",
    "Receipt": "lab.receipt",
    "RecipeInfo": "recall.request",
    "RefusedError": "errors",
    "Remedy": "lifecycle.lives",
    "Replay": "lab.replay",
    "RerankError": "errors",
    "Review": "lifecycle.cards",
    "ReviewCard": "lifecycle.cards",
    "ReviewProgress": "lifecycle.settled",
    "Rung": "lab.verdict",
    "StageSummary": "recall.trace",
    "Stats": "listing",
    "Step": "recall.trace",
    "StoreHistory": "lifecycle.board",
    "StoreInfo": "listing",
    "StoreNotFoundError": "errors",
    "Strip": "lab.flips",
    "TierMove": "lifecycle.moves",
    "Trace": "recall.record",
    "UNSET": "recall.request",
    "UnknownDialectError": "errors",
    "UsageError": "errors",
    "Verdict": "lab.verdict",
    "WhatIf": "lab.whatif",
    "with_values": "lab.knobs",
    "word_diff": "transfer.word_diff",
    "WordMet": "recall.words_met",
    "WordsMet": "recall.words_met",
}

__all__ = [
    "KNOBS",
    "LONGEST_TEXT",
    "UNSET",
    "Board",
    "BoardAsk",
    "Bounds",
    "CancelToken",
    "Cancelled",
    "Candidate",
    "CaseBook",
    "CaseLoss",
    "Change",
    "ChangeSet",
    "Comparison",
    "ConfigError",
    "Conflict",
    "ConflictError",
    "Counterfactual",
    "Crossing",
    "DamagedStoreError",
    "Effect",
    "EmbeddingError",
    "Engine",
    "EntryRow",
    "Explanation",
    "Facets",
    "Field",
    "Finding",
    "History",
    "Injection",
    "InjectionSettings",
    "JournalEntry",
    "Knob",
    "Lab",
    "Life",
    "LifecycleSettings",
    "ListQuery",
    "ListView",
    "LockState",
    "Memory",
    "MemtuiError",
    "Outcome",
    "Parameter",
    "Powerless",
    "Progress",
    "Proof",
    "Question",
    "RecallEffect",
    "RecallRequest",
    "Receipt",
    "RecipeInfo",
    "RefusedError",
    "Remedy",
    "Replay",
    "RerankError",
    "Review",
    "ReviewCard",
    "ReviewProgress",
    "Rung",
    "Settlement",
    "StageSummary",
    "Stats",
    "Step",
    "StoreHistory",
    "StoreInfo",
    "StoreNotFoundError",
    "Strip",
    "SweepEffect",
    "TierMove",
    "Trace",
    "UnknownDialectError",
    "UsageError",
    "Verdict",
    "WhatIf",
    "WordMet",
    "WordsMet",
    "clean",
    "dump_json",
    "one_line",
    "open_engine",
    "read_receipt",
    "request_from",
    "with_values",
    "word_diff",
]

if TYPE_CHECKING:
    from memtui.engine.cases.book import CaseBook
    from memtui.engine.curate.apply import ConflictError
    from memtui.engine.curate.changes import Change, ChangeSet, Conflict, Outcome
    from memtui.engine.curate.effect import RecallEffect
    from memtui.engine.curate.fields import LONGEST_TEXT, Field
    from memtui.engine.curate.journal import EntryRow, JournalEntry
    from memtui.engine.curate.lock import LockState
    from memtui.engine.deep_json import dump_json
    from memtui.engine.engine import Engine, open_engine
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
    from memtui.engine.lab.bounds import Bounds
    from memtui.engine.lab.compare import Comparison, Effect
    from memtui.engine.lab.facade import Lab
    from memtui.engine.lab.flips import Strip
    from memtui.engine.lab.history import History, Question
    from memtui.engine.lab.injected import Injection, InjectionSettings
    from memtui.engine.lab.knobs import with_values
    from memtui.engine.lab.parameters import Parameter
    from memtui.engine.lab.receipt import Receipt, read_receipt
    from memtui.engine.lab.replay import Replay
    from memtui.engine.lab.sentences import Explanation
    from memtui.engine.lab.verdict import Counterfactual, Powerless, Rung, Verdict
    from memtui.engine.lab.whatif import WhatIf
    from memtui.engine.lifecycle.board import Board, BoardAsk, StoreHistory
    from memtui.engine.lifecycle.cards import Review, ReviewCard, Settlement
    from memtui.engine.lifecycle.knobs import KNOBS, Knob
    from memtui.engine.lifecycle.lives import Life, Remedy
    from memtui.engine.lifecycle.losses import CaseLoss
    from memtui.engine.lifecycle.moves import Crossing, TierMove
    from memtui.engine.lifecycle.questions import SweepEffect
    from memtui.engine.lifecycle.settings import LifecycleSettings
    from memtui.engine.lifecycle.settled import ReviewProgress
    from memtui.engine.listing import Facets, Finding, ListQuery, ListView, Stats, StoreInfo
    from memtui.engine.memory import Memory
    from memtui.engine.progress import CancelToken, Progress
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.request import UNSET, RecallRequest, RecipeInfo, request_from
    from memtui.engine.recall.trace import Candidate, Proof, StageSummary, Step
    from memtui.engine.recall.words_met import WordMet, WordsMet
    from memtui.engine.transfer.word_diff import word_diff


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
