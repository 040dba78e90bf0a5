"""What a table says of itself without a row being read: rows, fragments, masked rows, indexes, names of versions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtui.engine.store.errors import explained

if TYPE_CHECKING:
    from memtui.engine.store.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """One index as the table lists it."""

    name: str
    kind: str
    """FTS, BTree, Bitmap, IvfPq, IvfSq, IvfFlat, IvfRq, IvfHnswSq and the like."""
    columns: tuple[str, ...]
    indexed: int
    unindexed: int
    size: int | None
    version: int | None
    created_ms: int | None
    details: Mapping[str, Any] | None
    """None: its files cannot be read."""

    @property
    def is_text(self) -> bool:
        """Whether it is a full-text index."""
        return self.kind.upper() == "FTS"

    @property
    def is_vector(self) -> bool:
        """Whether it is an index over vectors."""
        return self.kind.upper().replace("_", "").startswith(("IVF", "HNSW"))


@dataclass(frozen=True, slots=True)
class TableFacts:
    """The state of one version of a table."""

    rows: int
    fragments: int
    small_fragments: int
    masked_rows: int
    """Deleted rows that still stand in data files, behind a mask."""
    deletion_files: int
    indexes: tuple[IndexFacts, ...]
    tags: Mapping[str, int]
    """Versions that have a name in the table itself."""


def table_facts(pin: Snapshot, masks: tuple[int, int] | None = None) -> TableFacts:
    """Ask the open table at `pin`; no row is read.

    `masks` are (files, rows) of masked rows where they are known already: the engine tells them only with its whole
    list of versions, which takes the longer the more there are.
    """
    with explained(pin.where):
        stats = pin.table.stats()
        fragments = stats["fragment_stats"]
        files, rows = _masks(pin.table) if masks is None else masks
        tags = tag_names(pin)
        return TableFacts(
            rows=int(stats["num_rows"]),
            fragments=int(fragments["num_fragments"]),
            small_fragments=int(fragments["num_small_fragments"]),
            masked_rows=rows,
            deletion_files=files,
            indexes=tuple(_index(index) for index in pin.table.list_indices()),
            tags=tags,
        )


def tag_names(pin: Snapshot) -> dict[str, int]:
    """The names that versions have in the table itself."""
    with explained(pin.where):
        return {name: int(each["version"]) for name, each in dict(pin.table.tags.list()).items()}


def in_the_way(tags: Mapping[str, int]) -> str:
    """The names that hold older versions, in words: `before-trial (v3), keep (v9)`."""
    return ", ".join(
        f"{name} (v{version})" for name, version in sorted(tags.items(), key=lambda each: each[1])
    )


def _masks(table: Any) -> tuple[int, int]:
    newest = max(table.list_versions(), key=lambda each: int(each["version"]), default=None)
    words = {} if newest is None else newest["metadata"]
    return int(words.get("total_deletion_files") or 0), int(words.get("total_deletion_file_rows") or 0)


def _index(found: Any) -> IndexFacts:
    created = getattr(found, "created_at", None)
    return IndexFacts(
        name=str(found.name),
        kind=re.sub(r"[_\s]", "", str(found.index_type)),
        columns=tuple(found.columns),
        indexed=int(found.num_indexed_rows or 0),
        unindexed=int(found.num_unindexed_rows or 0),
        size=getattr(found, "size_bytes", None),
        version=getattr(found, "index_version", None),
        created_ms=None if created is None else int(created.timestamp() * 1000),
        details=getattr(found, "index_details", None),
    )


def index_names(pin: Snapshot) -> tuple[str, ...]:
    """The names of the indexes at `pin`, in order."""
    with explained(pin.where):
        return tuple(sorted(str(index.name) for index in pin.table.list_indices()))


def has_text_index(pin: Snapshot) -> bool:
    """Whether this version has a full-text index on its text column."""
    with explained(pin.where):
        found = pin.table.list_indices()
    return any(
        str(each.index_type).upper() == "FTS" and list(each.columns) == [pin.dialect.columns.text]
        for each in found
    )
