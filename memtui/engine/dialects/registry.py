"""Which dialect a table speaks: decided by its columns, never guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.errors import DamagedStoreError, UnknownDialectError
from memtui.engine.dialects import crewai, hermes, mem_engine, memory_lancedb, memory_lancedb_pro, memtui
from memtui.engine.dialects.base import Dialect, fits

if TYPE_CHECKING:
    import pyarrow as pa


def detect(schema: pa.Schema, where: str) -> Dialect:
    """The dialect of a table with this schema; `where` names the table in messages.

    Raises `DamagedStoreError` for a table without columns, and `UnknownDialectError`, with the columns found and
    the way to open it, for a table that belongs to no program we know, or that mixes two.
    """
    if not schema.names:  # what is read where the newest manifest lost its contents
        raise DamagedStoreError(
            f"No column is left in the newest version of {where}: its manifest is damaged.",
            fix="Restore the folder from a backup, or go back to an earlier version: memtui doctor says which and "
            "does it.",
        )
    layout = _own_layout(schema)
    if layout not in ("", memtui.LAYOUT):
        raise UnknownDialectError(
            f"{where} was made by a newer memtui (layout {layout}); its columns are {_listing(schema)}.",
            fix=f"Update memtui. {_remedy(schema)}",
        )
    dialect = _by_names(schema, layout)
    if dialect is None:
        raise UnknownDialectError(
            f"{where} is not a table of memories that memtui knows; its columns are {_listing(schema)}.",
            fix=_remedy(schema),
        )
    wrong = _ill_typed(schema, dialect)
    if wrong:
        raise UnknownDialectError(
            f"{where} has the columns of {dialect.title}, but {wrong} has another type; "
            f"its columns are {_listing(schema)}.",
            fix=_remedy(schema),
        )
    return dialect


def _own_layout(schema: pa.Schema) -> str:
    """The number that memtui writes into its own tables, empty for all others."""
    stored: bytes = (schema.metadata or {}).get(memtui.MARK.encode(), b"")
    return stored.decode(errors="replace")


def _by_names(schema: pa.Schema, layout: str) -> Dialect | None:
    names = set(schema.names)
    if layout:
        return memtui.own() if names >= set(memtui.COLUMNS.known()) else None
    marks = names.intersection(mem_engine.MARKS)
    if names >= set(memory_lancedb_pro.REQUIRED):
        if marks:
            return None
        if "createdAt" in names:
            return memory_lancedb_pro.pro_on_builtin(tuple(name for name in ("agentId",) if name in names))
        return memory_lancedb_pro.pro() if "agentId" not in names else None
    if names >= set(crewai.REQUIRED):
        return None if marks else crewai.crewai(sources={crewai.SOURCE, crewai.PRIVATE} <= names)
    if names >= set(hermes.REQUIRED):
        return hermes.hermes(frozenset(names))
    if names & {"metadata", "timestamp"}:
        return None
    if names >= set(mem_engine.REQUIRED):
        return mem_engine.mem_engine() if "agentId" not in names else None
    if names >= set(memory_lancedb.REQUIRED) and not marks:
        agent, scope = "agentId" in names, "scope" in names
        return memory_lancedb.builtin(agent=agent, scope=scope) if agent or not scope else None
    return None


def _ill_typed(schema: pa.Schema, dialect: Dialect) -> str:
    for part in dialect.columns.__slots__:
        column = getattr(dialect.columns, part)
        if column and not dialect.fits(part, schema.field(column).type):
            return str(column)
    return next(
        (label for label in dialect.labels if not dialect.fits("label", schema.field(label).type)), ""
    )


def _listing(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in schema)


def _remedy(schema: pa.Schema) -> str:
    """How to open the table anyway, with the columns that could be id, text and vector filled in."""
    guesses = {part: _candidate(schema, part) for part in ("id", "text", "vector")}
    pairs = ",".join(f"{part}={column}" for part, column in guesses.items())
    return f"To read it as memories, say which column is which: --columns {pairs}."


def _candidate(schema: pa.Schema, part: str) -> str:
    likely = {"id": ("id", "_id", "doc_id", "uuid", "key"), "text": ("text", "content", "body", "memory")}
    fitting = [field.name for field in schema if fits(part, field.type)]
    named = [name for name in likely.get(part, ()) if name in fitting]
    return next(iter(named or (fitting if part == "vector" else [])), "...")
