"""The in-process memory engine: the public API.

Importing this package is cheap: names are loaded when first used, and numpy, pyarrow, lancedb, httpx
and pydantic only inside the functions that need them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names
from memtui.engine.core.secrets import one_line
from memtui.engine.core.text import clean, counted, time_span, unbroken

if TYPE_CHECKING:
    from memtui.engine.cases.case import CaseBook
    from memtui.engine.catalog.types import Facets, Finding, ListQuery, ListView, Stats, StoreInfo
    from memtui.engine.changes.applier import ConflictError
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
    from memtui.engine.recall.trace import Candidate, Proof, StageSummary, Step, WordMet, WordsMet

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
    "counted",
    "day",
    "dump_json",
    "find_secrets",
    "mask",
    "moment_since",
    "one_line",
    "open_engine",
    "read_receipt",
    "request_from",
    "time_span",
    "unbroken",
    "veiled",
    "with_values",
    "word_diff",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Board": "memtui.engine.lifecycle.board",
        "BoardAsk": "memtui.engine.lifecycle.board",
        "Bounds": "memtui.engine.explain.knobs",
        "CancelToken": "memtui.engine.core.progress",
        "Cancelled": "memtui.engine.core.errors",
        "Candidate": "memtui.engine.recall.trace",
        "CaseBook": "memtui.engine.cases.case",
        "CaseLoss": "memtui.engine.lifecycle.case_effects",
        "Change": "memtui.engine.changes.change_set",
        "ChangeSet": "memtui.engine.changes.change_set",
        "Comparison": "memtui.engine.explain.comparison",
        "ConfigError": "memtui.engine.core.errors",
        "Conflict": "memtui.engine.changes.change_set",
        "ConflictError": "memtui.engine.changes.applier",
        "Crossing": "memtui.engine.lifecycle.tier_plan",
        "DamagedStoreError": "memtui.engine.core.errors",
        "DecayKnob": "memtui.engine.lifecycle.settings",
        "Effect": "memtui.engine.explain.comparison",
        "EmbeddingError": "memtui.engine.core.errors",
        "Engine": "memtui.engine.engine",
        "EntryRow": "memtui.engine.changes.journal",
        "Explanation": "memtui.engine.explain.sentences",
        "Facets": "memtui.engine.catalog.types",
        "Field": "memtui.engine.changes.fields",
        "Finding": "memtui.engine.catalog.types",
        "GateResult": "memtui.engine.explain.verdict",
        "History": "memtui.engine.explain.question_history",
        "IdleKnob": "memtui.engine.explain.verdict",
        "JournalEntry": "memtui.engine.changes.journal",
        "KNOBS": "memtui.engine.lifecycle.settings",
        "LONGEST_TEXT": "memtui.engine.changes.fields",
        "LifeRemedy": "memtui.engine.lifecycle.memory_life",
        "LifecycleSettings": "memtui.engine.lifecycle.settings",
        "ListQuery": "memtui.engine.catalog.types",
        "ListView": "memtui.engine.catalog.types",
        "LockState": "memtui.engine.changes.owner_lock",
        "Memory": "memtui.engine.core.memory",
        "MemoryLife": "memtui.engine.lifecycle.memory_life",
        "MemtuiError": "memtui.engine.core.errors",
        "OnProgress": "memtui.engine.core.progress",
        "Outcome": "memtui.engine.changes.change_set",
        "Parameter": "memtui.engine.explain.effective_settings",
        "PastQuestion": "memtui.engine.explain.question_history",
        "Progress": "memtui.engine.core.progress",
        "PromptBlock": "memtui.engine.explain.prompt_block",
        "PromptBlockSettings": "memtui.engine.explain.prompt_block",
        "Proof": "memtui.engine.recall.trace",
        "RecallEffect": "memtui.engine.changes.recall_effect",
        "RecallRequest": "memtui.engine.recall.request",
        "Receipt": "memtui.engine.explain.receipts",
        "RecipeInfo": "memtui.engine.recall.request",
        "RefusedError": "memtui.engine.core.errors",
        "Replay": "memtui.engine.explain.receipt_replay",
        "RerankError": "memtui.engine.core.errors",
        "Review": "memtui.engine.lifecycle.review_queue",
        "ReviewCard": "memtui.engine.lifecycle.review_queue",
        "ReviewProgress": "memtui.engine.lifecycle.review_queue",
        "Settlement": "memtui.engine.lifecycle.review_queue",
        "SmallestChange": "memtui.engine.explain.verdict",
        "StageSummary": "memtui.engine.recall.trace",
        "Stats": "memtui.engine.catalog.types",
        "Step": "memtui.engine.recall.trace",
        "StoreHistory": "memtui.engine.lifecycle.board",
        "StoreInfo": "memtui.engine.catalog.types",
        "StoreNotFoundError": "memtui.engine.core.errors",
        "SweepEffect": "memtui.engine.lifecycle.case_effects",
        "TierMove": "memtui.engine.lifecycle.tier_plan",
        "Trace": "memtui.engine.recall.record",
        "UNSET": "memtui.engine.recall.request",
        "UnknownDialectError": "memtui.engine.core.errors",
        "UsageError": "memtui.engine.core.errors",
        "ValueStrip": "memtui.engine.explain.variation",
        "Verdict": "memtui.engine.explain.verdict",
        "WhatIf": "memtui.engine.explain.variation",
        "WordMet": "memtui.engine.recall.trace",
        "WordsMet": "memtui.engine.recall.trace",
        "day": "memtui.engine.core.text",
        "dump_json": "memtui.engine.metadata.read",
        "find_secrets": "memtui.engine.core.secrets",
        "mask": "memtui.engine.core.secrets",
        "moment_since": "memtui.engine.core.text",
        "open_engine": "memtui.engine.engine",
        "read_receipt": "memtui.engine.explain.receipts",
        "request_from": "memtui.engine.recall.request",
        "veiled": "memtui.engine.core.secrets",
        "with_values": "memtui.engine.explain.knobs",
        "word_diff": "memtui.engine.core.text",
    },
)
