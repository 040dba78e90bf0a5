"""Real catalogs for the tests of the filter language, and their rows as memories in the same order."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from memtui.engine.catalog.build import build_catalog
from memtui.engine.catalog.catalog import Catalog
from memtui.engine.catalog.filter_context import FilterContext
from memtui.engine.catalog.metadata_columns import read_metadata
from memtui.engine.catalog.text_search import StoreFacts, TextLookup
from memtui.engine.core.memory import Memory
from memtui.engine.store.open import open_store
from tests.conftest import NOW_MS


class ListedTexts:
    """The protocol `TextSearch` over a list: the plain meaning of each kind of search."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self.asked: list[str] = []

    def words(self, term: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        return self._where(rf"(?i)(?<!\w){re.escape(term)}(?!\w)")

    def substring(self, text: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        return self._where(f"(?i){re.escape(text)}")

    def regex(self, pattern: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        try:
            return self._where(f"(?i){pattern}")
        except re.error as error:
            raise ValueError(str(error)) from error

    def _where(self, pattern: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        self.asked.append(pattern)
        return np.array([i for i, text in enumerate(self.texts) if re.search(pattern, text)], dtype=np.int64)


@dataclass(frozen=True)
class World:
    """A store's catalog before and after its metadata was read, and its rows."""

    bare: Catalog
    catalog: Catalog
    memories: tuple[Memory, ...]
    texts: ListedTexts
    lookup: TextLookup
    facts: StoreFacts

    def context(self, **changes: Any) -> FilterContext:
        return replace(FilterContext(self.catalog, NOW_MS, text=self.texts), **changes)


@cache
def world(folder: Path) -> World:
    """The store in `folder`, read by the store's own code."""
    store = open_store(folder)
    bare = build_catalog(store)
    catalog = read_metadata(store, bare)
    tables = [pa.Table.from_batches([batch]) for batch in store.scan(list(store.columns))]
    by_id = {memory.id: memory for table in tables for memory in store.dialect.to_memories(table, NOW_MS)}
    ids = catalog.ids.texts(np.arange(catalog.n))
    memories = tuple(by_id[str(each)] for each in ids)
    listed = ListedTexts([memory.raw_text for memory in memories])
    return World(bare, catalog, memories, listed, TextLookup(store, catalog), StoreFacts(store, catalog))
