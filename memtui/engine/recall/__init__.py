""""""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.recall.confidence import Confidence
    from memtui.engine.recall.request import UNSET, RecallRequest

__all__ = [
    "UNSET",
    "Confidence",
    "RecallRequest",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Confidence": "memtui.engine.recall.confidence",
        "RecallRequest": "memtui.engine.recall.request",
        "UNSET": "memtui.engine.recall.request",
    },
)
