"""The columns of all rows at one version: filtering, ordering, searching and counting on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.catalog.completion import CompletionItem, complete_in
    from memtui.engine.catalog.similar import Neighbour
    from memtui.engine.catalog.types import AGES, SORT_KEYS, Facets, Finding, Stats
    from memtui.engine.catalog.views import select_ids

__all__ = [
    "AGES",
    "SORT_KEYS",
    "CompletionItem",
    "Facets",
    "Finding",
    "Neighbour",
    "Stats",
    "complete_in",
    "select_ids",
]

__getattr__ = lazy_names(
    __name__,
    {
        "AGES": "memtui.engine.catalog.types",
        "CompletionItem": "memtui.engine.catalog.completion",
        "Facets": "memtui.engine.catalog.types",
        "Finding": "memtui.engine.catalog.types",
        "Neighbour": "memtui.engine.catalog.similar",
        "SORT_KEYS": "memtui.engine.catalog.types",
        "Stats": "memtui.engine.catalog.types",
        "complete_in": "memtui.engine.catalog.completion",
        "select_ids": "memtui.engine.catalog.views",
    },
)
