"""openclaw-mem-engine: importance labels and trust tiers beside the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.dialects.base import Capabilities, Columns, Dialect

if TYPE_CHECKING:
    import pyarrow as pa


PROTOCOL = 1

LABEL, TRUST = MARKS = ("importance_label", "trust_tier")
"""Columns that no other program's table has."""

TIERS = ("trusted", "untrusted", "quarantined", "unknown", "user", "operator", "import")
"""Words that its programs write as a trust tier: the first three are the sidecar's, the others say who made the row."""

REQUIRED = ("id", "text", "vector", "createdAt", "category", "importance", "scope", *MARKS)


def mem_engine() -> Dialect:
    """A table that openclaw-mem-engine made."""
    columns = Columns(scope="scope", category="category", importance="importance", timestamp="createdAt")
    can = Capabilities(
        writable=True,
        visibility="policy",
        compares_l2=True,
        row_form="engine",
        clips_texts=True,
        native_export="mem-engine",
        default_recipe="mem-engine",
    )
    return Dialect("engine", "openclaw-mem-engine", columns, MARKS, can=can)


def recognise(schema: pa.Schema) -> Dialect | None:
    """openclaw-mem-engine's dialect, where all its columns are there and none is another program's."""
    names = set(schema.names)
    foreign = names & {"metadata", "timestamp", "agentId"}
    return mem_engine() if names >= set(REQUIRED) and not foreign else None
