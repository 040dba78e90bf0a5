"""Markdown that agents keep beside their tables, indexed and searched as memory-core does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.documents.index import DocumentHits, MarkdownIndex, SearchRules, Sync, open_index
    from memtui.engine.documents.ranking import Found

__all__ = ["DocumentHits", "Found", "MarkdownIndex", "SearchRules", "Sync", "open_index"]

__getattr__ = lazy_names(
    __name__,
    {
        "DocumentHits": "memtui.engine.documents.index",
        "Found": "memtui.engine.documents.ranking",
        "MarkdownIndex": "memtui.engine.documents.index",
        "SearchRules": "memtui.engine.documents.index",
        "Sync": "memtui.engine.documents.index",
        "open_index": "memtui.engine.documents.index",
    },
)
