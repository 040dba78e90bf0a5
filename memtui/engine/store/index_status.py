"""The state of a table's indexes on text and vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memtui.engine.core.text import counted
from memtui.engine.store.errors import explained


@dataclass(frozen=True, slots=True)
class FtsStatus:
    """Whether words can be searched, and how well. `readable` is False when the index files are gone."""

    exists: bool
    version: int | None = None
    positions: bool = False
    indexed_rows: int = 0
    unindexed_rows: int = 0
    tokenizer: str = ""
    readable: bool = True
    details: Mapping[str, Any] | None = None
    """How it splits words, by the names of the engine."""

    @property
    def code(self) -> str:
        """As data has it: "version 1, positions, 253 of 267 rows"."""
        if not self.exists:
            return "none"
        if not self.readable:
            return f"version {self.version}, files missing"
        positions = "positions" if self.positions else "no positions"
        rows = self.indexed_rows + self.unindexed_rows
        return f"version {self.version}, {positions}, {self.indexed_rows:,} of {counted(rows, 'row')}"

    @property
    def phrase(self) -> str:
        """For people: "253 of 267 rows, format 1"."""
        if not self.exists:
            return "none"
        if not self.readable:
            return f"files missing, format {self.version}"
        positions = "" if self.positions else ", no phrase search"
        rows = self.indexed_rows + self.unindexed_rows
        return f"{self.indexed_rows:,} of {counted(rows, 'row')}, format {self.version}{positions}"


def fts_status(table: Any, column: str, where: str) -> FtsStatus:
    """The index on `column` of an open table; raises when the list of indices cannot be read."""
    with explained(where):
        indices = table.list_indices()
    for index in indices:
        if index.index_type == "FTS" and list(index.columns) == [column]:
            details = getattr(index, "index_details", None)
            return FtsStatus(
                exists=True,
                version=getattr(index, "index_version", None),
                positions=bool((details or {}).get("with_position")),
                indexed_rows=index.num_indexed_rows or 0,
                unindexed_rows=index.num_unindexed_rows or 0,
                tokenizer=str((details or {}).get("base_tokenizer", "")),
                readable=details is not None,
                details=details,
            )
    return FtsStatus(exists=False)


def vector_index_rows(table: Any, column: str | None, where: str) -> tuple[int, int] | None:
    """Rows that the index on the vector column holds, and those beside it; None without such an index."""
    with explained(where):
        indices = table.list_indices()
    for index in indices:
        if index.index_type != "FTS" and list(index.columns) == [column]:
            return index.num_indexed_rows or 0, index.num_unindexed_rows or 0
    return None


PROBES, LOOKED_AT, LEAST_TIMES = 100, 200, 3
"""How a vector index is asked that memtui itself recalls by: so many of its parts, and exactly at so many vectors or
times as many as are wanted. At a million real lines IVF_RQ gives .99 of the ten nearest so, and .71 without."""


def refining(query: Any, k: int) -> Any:
    """A search of the library by its vector index that loses little of the `k` nearest."""
    return query.nprobes(PROBES).refine_factor(max(LEAST_TIMES, -(-LOOKED_AT // k)))
