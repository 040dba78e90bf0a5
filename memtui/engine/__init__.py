"""The in-process memory engine: the public API.

Importing this package is cheap: names are loaded when first used, and numpy, pyarrow, lancedb, httpx
and pydantic only inside the functions that need them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from memtui.engine.core.text import clean, one_line

if TYPE_CHECKING:
    from memtui.engine.cases.case import CaseBook
    from memtui.engine.catalog.types import Facets, Finding, ListQuery, ListView, Stats, StoreInfo
    from memtui.engine.changes.apply import ConflictError
    from memtui.engine.changes.change_set import Change, ChangeSet, Conflict, Outcome
    from memtui.engine.changes.fields import LONGEST_TEXT, Field
    from memtui.engine.changes.journal import EntryRow, JournalEntry
    from memtui.engine.changes.owner_lock import LockState
    from memtui.engine.changes.recall_effect import RecallEffect
    from memtui.engine.core.errors import (
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
    from memtui.engine.core.memory import Memory
    from memtui.engine.core.progress import CancelToken, OnProgress, Progress
    from memtui.engine.core.secrets import find_secrets, mask, veiled
    from memtui.engine.core.text import day, moment_since, word_diff
    from memtui.engine.engine import Engine, open_engine
    from memtui.engine.explain.comparison import Comparison, Effect
    from memtui.engine.explain.effective_settings import Parameter
    from memtui.engine.explain.facade import Lab
    from memtui.engine.explain.knobs import Bounds, with_values
    from memtui.engine.explain.prompt_block import PromptBlock, PromptBlockSettings
    from memtui.engine.explain.question_history import History, PastQuestion
    from memtui.engine.explain.receipt_replay import Replay
    from memtui.engine.explain.receipts import Receipt, read_receipt
    from memtui.engine.explain.sentences import Explanation
    from memtui.engine.explain.variation import ValueStrip, WhatIf
    from memtui.engine.explain.verdict import GateResult, IdleKnob, SmallestChange, Verdict
    from memtui.engine.lifecycle.board import Board, BoardAsk, StoreHistory
    from memtui.engine.lifecycle.case_effects import CaseLoss, SweepEffect
    from memtui.engine.lifecycle.memory_life import LifeRemedy, MemoryLife
    from memtui.engine.lifecycle.review_queue import Review, ReviewCard, ReviewProgress, Settlement
    from memtui.engine.lifecycle.settings import KNOBS, DecayKnob, LifecycleSettings
    from memtui.engine.lifecycle.tier_plan import Crossing, TierMove
    from memtui.engine.metadata.read import dump_json
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.request import UNSET, RecallRequest, RecipeInfo, request_from
    from memtui.engine.recall.trace import Candidate, Proof, StageSummary, Step
    from memtui.engine.recall.word_matches import WordMet, WordsMet


_HOME = {
    "OnProgress": "core.progress",
    "day": "core.text",
    "find_secrets": "core.secrets",
    "mask": "core.secrets",
    "moment_since": "core.text",
    "veiled": "core.secrets",
    "Settlement": "lifecycle.review_queue",
    "SweepEffect": "lifecycle.case_effects",
    "Board": "lifecycle.board",
    "BoardAsk": "lifecycle.board",
    "Bounds": "explain.knobs",
    "Cancelled": "core.errors",
    "CancelToken": "core.progress",
    "Candidate": "recall.trace",
    "CaseBook": "cases.case",
    "CaseLoss": "lifecycle.case_effects",
    "Change": "changes.change_set",
    "ChangeSet": "changes.change_set",
    "Comparison": "explain.comparison",
    "ConfigError": "core.errors",
    "Conflict": "changes.change_set",
    "ConflictError": "changes.apply",
    "SmallestChange": "explain.verdict",
    "Crossing": "lifecycle.tier_plan",
    "DamagedStoreError": "core.errors",
    "Effect": "explain.comparison",
    "EmbeddingError": "core.errors",
    "Engine": "engine",
    "Explanation": "explain.sentences",
    "Facets": "catalog.types",
    "Field": "changes.fields",
    "Finding": "catalog.types",
    "History": "explain.question_history",
    "PromptBlock": "explain.prompt_block",
    "PromptBlockSettings": "explain.prompt_block",
    "EntryRow": "changes.journal",
    "JournalEntry": "changes.journal",
    "LockState": "changes.owner_lock",
    "DecayKnob": "lifecycle.settings",
    "KNOBS": "lifecycle.settings",
    "Lab": "explain.facade",
    "MemoryLife": "lifecycle.memory_life",
    "LifecycleSettings": "lifecycle.settings",
    "ListQuery": "catalog.types",
    "LONGEST_TEXT": "changes.fields",
    "ListView": "catalog.types",
    "Memory": "core.memory",
    "MemtuiError": "core.errors",
    "dump_json": "metadata.read",
    "open_engine": "engine",
    "request_from": "recall.request",
    "Outcome": "changes.change_set",
    "Parameter": "explain.effective_settings",
    "IdleKnob": "explain.verdict",
    "Progress": "core.progress",
    "Proof": "recall.trace",
    "PastQuestion": "explain.question_history",
    "read_receipt": "explain.receipts",
    "RecallEffect": "changes.recall_effect",
    "RecallRequest": "recall.request",
    "Receipt": "explain.receipts",
    "RecipeInfo": "recall.request",
    "RefusedError": "core.errors",
    "LifeRemedy": "lifecycle.memory_life",
    "Replay": "explain.receipt_replay",
    "RerankError": "core.errors",
    "Review": "lifecycle.review_queue",
    "ReviewCard": "lifecycle.review_queue",
    "ReviewProgress": "lifecycle.review_queue",
    "GateResult": "explain.verdict",
    "StageSummary": "recall.trace",
    "Stats": "catalog.types",
    "Step": "recall.trace",
    "StoreHistory": "lifecycle.board",
    "StoreInfo": "catalog.types",
    "StoreNotFoundError": "core.errors",
    "ValueStrip": "explain.variation",
    "TierMove": "lifecycle.tier_plan",
    "Trace": "recall.record",
    "UNSET": "recall.request",
    "UnknownDialectError": "core.errors",
    "UsageError": "core.errors",
    "Verdict": "explain.verdict",
    "WhatIf": "explain.variation",
    "with_values": "explain.knobs",
    "word_diff": "core.text",
    "WordMet": "recall.word_matches",
    "WordsMet": "recall.word_matches",
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
    "Crossing",
    "DamagedStoreError",
    "DecayKnob",
    "Effect",
    "EmbeddingError",
    "Engine",
    "EntryRow",
    "Explanation",
    "Facets",
    "Field",
    "Finding",
    "GateResult",
    "History",
    "IdleKnob",
    "JournalEntry",
    "Lab",
    "LifeRemedy",
    "LifecycleSettings",
    "ListQuery",
    "ListView",
    "LockState",
    "Memory",
    "MemoryLife",
    "MemtuiError",
    "OnProgress",
    "Outcome",
    "Parameter",
    "PastQuestion",
    "Progress",
    "PromptBlock",
    "PromptBlockSettings",
    "Proof",
    "RecallEffect",
    "RecallRequest",
    "Receipt",
    "RecipeInfo",
    "RefusedError",
    "Replay",
    "RerankError",
    "Review",
    "ReviewCard",
    "ReviewProgress",
    "Settlement",
    "SmallestChange",
    "StageSummary",
    "Stats",
    "Step",
    "StoreHistory",
    "StoreInfo",
    "StoreNotFoundError",
    "SweepEffect",
    "TierMove",
    "Trace",
    "UnknownDialectError",
    "UsageError",
    "ValueStrip",
    "Verdict",
    "WhatIf",
    "WordMet",
    "WordsMet",
    "clean",
    "day",
    "dump_json",
    "find_secrets",
    "mask",
    "moment_since",
    "one_line",
    "open_engine",
    "read_receipt",
    "request_from",
    "veiled",
    "with_values",
    "word_diff",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
