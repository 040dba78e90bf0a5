"""The in-process memory engine: the public API.

Here is what a script begins with: `open_engine` and the `Engine` it returns, memories, lists, a recall and
its trace, progress and the way to stop, masking and text for people, and the errors that a caller may want
to catch. What can be done with an open engine are functions of its faces (`memtui.engine.changes`,
`.explain`, `.lifecycle`, `.transfer`, ...), each with the types it takes and returns. A name is exported at
one place.

Importing this package is cheap: names are loaded when first used, and numpy, pyarrow, lancedb, httpx
and pydantic only inside the functions that need them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names
from memtui.engine.core.secrets import one_line
from memtui.engine.core.text import clean, counted, duration, quoted, shortened, time_span, unbroken

if TYPE_CHECKING:
    from memtui.engine.catalog.types import ListQuery, ListView, StoreInfo
    from memtui.engine.changes.applier import ConflictError
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
    from memtui.engine.metadata.read import dump_json
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.request import RecallRequest

__all__ = [
    "CancelToken",
    "Cancelled",
    "ConfigError",
    "ConflictError",
    "DamagedStoreError",
    "EmbeddingError",
    "Engine",
    "ListQuery",
    "ListView",
    "Memory",
    "MemtuiError",
    "OnProgress",
    "Progress",
    "RecallRequest",
    "RefusedError",
    "RerankError",
    "StoreInfo",
    "StoreNotFoundError",
    "Trace",
    "UnknownDialectError",
    "UsageError",
    "clean",
    "counted",
    "day",
    "dump_json",
    "duration",
    "find_secrets",
    "mask",
    "moment_since",
    "one_line",
    "open_engine",
    "quoted",
    "shortened",
    "time_span",
    "unbroken",
    "veiled",
    "word_diff",
]

__getattr__ = lazy_names(
    __name__,
    {
        "CancelToken": "memtui.engine.core.progress",
        "Cancelled": "memtui.engine.core.errors",
        "ConfigError": "memtui.engine.core.errors",
        "ConflictError": "memtui.engine.changes.applier",
        "DamagedStoreError": "memtui.engine.core.errors",
        "EmbeddingError": "memtui.engine.core.errors",
        "Engine": "memtui.engine.engine",
        "ListQuery": "memtui.engine.catalog.types",
        "ListView": "memtui.engine.catalog.types",
        "Memory": "memtui.engine.core.memory",
        "MemtuiError": "memtui.engine.core.errors",
        "OnProgress": "memtui.engine.core.progress",
        "Progress": "memtui.engine.core.progress",
        "RecallRequest": "memtui.engine.recall.request",
        "RefusedError": "memtui.engine.core.errors",
        "RerankError": "memtui.engine.core.errors",
        "StoreInfo": "memtui.engine.catalog.types",
        "StoreNotFoundError": "memtui.engine.core.errors",
        "Trace": "memtui.engine.recall.record",
        "UnknownDialectError": "memtui.engine.core.errors",
        "UsageError": "memtui.engine.core.errors",
        "day": "memtui.engine.core.text",
        "dump_json": "memtui.engine.metadata.read",
        "find_secrets": "memtui.engine.core.secrets",
        "mask": "memtui.engine.core.secrets",
        "moment_since": "memtui.engine.core.text",
        "open_engine": "memtui.engine.engine",
        "veiled": "memtui.engine.core.secrets",
        "word_diff": "memtui.engine.core.text",
    },
)
