"""Which dialect a table speaks: decided by its columns, never guessed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.engine.core.errors import DamagedStoreError, UnknownDialectError, UsageError
from memtui.engine.core.extensions import (
    Extension,
    ExtensionError,
    extension_named,
    guarded,
    guarded_methods,
    installed,
    load,
)
from memtui.engine.dialects import crewai, hermes, mem_engine, memory_lancedb, memory_lancedb_pro, memtui
from memtui.engine.dialects.base import Dialect, DialectModule, fits

if TYPE_CHECKING:
    import pyarrow as pa


MODULES: tuple[DialectModule, ...] = (memtui, memory_lancedb_pro, crewai, hermes, mem_engine, memory_lancedb)
"""Our own dialects: each is asked in turn. What an extension adds is asked after them."""

GROUP = "memtui.dialects"


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
    layout = memtui.layout_of(schema)
    if layout not in ("", memtui.LAYOUT):
        raise UnknownDialectError(
            f"{where} was made by a newer memtui (layout {layout}); its columns are {_listing(schema)}.",
            fix=f"Update memtui. {_remedy(schema)}",
        )
    dialect = _of_ours(schema, layout)
    broken = ""
    if dialect is None and not layout:
        dialect, broken = _of_extensions(schema)
    if dialect is None:
        raise UnknownDialectError(
            f"{where} is not a table of memories that memtui knows; its columns are {_listing(schema)}.{broken}",
            fix=_remedy(schema),
        )
    _check_types(schema, dialect, where)
    return dialect


def dialect_named(name: str, schema: pa.Schema, where: str) -> Dialect:
    """The dialect `name` of an extension, chosen by a person for the table `where`.

    Raises UsageError where no extension has that name, ExtensionError where it is broken, UnknownDialectError where
    it does not know the table.
    """
    extension = extension_named(GROUP, name)
    if extension is None:
        known = ", ".join(one.name for one in installed(GROUP)) or "none is installed"
        raise UsageError(
            f"There is no column map and no dialect {name!r}.",
            fix=f"Dialects of extensions: {known}. A column map is ROLE=COLUMN,..., such as id=uid,text=body; "
            "memtui columns makes one and keeps it under a name.",
        )
    dialect = _ask(extension, schema)
    if dialect is None:
        raise UnknownDialectError(
            f"The {extension} does not know {where}; its columns are {_listing(schema)}.", fix=_remedy(schema)
        )
    _check_types(schema, dialect, where)
    return dialect


def _of_ours(schema: pa.Schema, layout: str) -> Dialect | None:
    if layout:
        return memtui.recognise(schema)
    return next((found for module in MODULES if (found := module.recognise(schema)) is not None), None)


def _of_extensions(schema: pa.Schema) -> tuple[Dialect | None, str]:
    """The dialect of the extension whose marks are all in the table, most marks first; and what is broken, in words."""
    names, broken = set(schema.names), []
    marked = [extension for extension in installed(GROUP) if extension.marks and extension.marks <= names]
    for extension in sorted(marked, key=lambda extension: -len(extension.marks)):
        try:
            found = _ask(extension, schema)
        except ExtensionError as error:
            broken.append(f" {error.message}")
            continue
        if found is not None:
            return found, ""
    return None, "".join(broken)


def _ask(extension: Extension, schema: pa.Schema) -> Dialect | None:
    """What an extension says to a table; ExtensionError where it fails or answers with something else."""
    recognise = guarded(load(extension, "recognise"), extension)
    found = recognise(schema)
    if found is not None and not isinstance(found, Dialect):
        raise ExtensionError(f"The {extension} answered with {type(found).__name__}, not a dialect.")
    if found is None:
        return None
    can = replace(found.can, of_extension=True)
    if can.writable and not _has_writable_id(schema, found):
        can = replace(can, writable=False, read_only_because=UNWRITABLE_ID)
    return guarded_methods(replace(found, can=can), Dialect, extension)


UNWRITABLE_ID = "memtui writes a table only where the id of a row is a text column named id."
"""The journal and its undo find rows by that column alone."""


def _has_writable_id(schema: pa.Schema, dialect: Dialect) -> bool:
    column = dialect.columns.id
    return column == "id" and column in schema.names and fits("text", schema.field(column).type)


def _check_types(schema: pa.Schema, dialect: Dialect, where: str) -> None:
    """Raise UnknownDialectError where a column is missing or of another type than the dialect needs."""
    needed = (*dialect.columns.known(), *dialect.labels)
    wrong = next((name for name in needed if name not in schema.names), "") or _ill_typed(schema, dialect)
    if wrong:
        kind = "has another type" if wrong in schema.names else "is missing"
        raise UnknownDialectError(
            f"{where} has the columns of {dialect.title}, but {wrong} {kind}; "
            f"its columns are {_listing(schema)}.",
            fix=_remedy(schema),
        )


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
    return (
        f"To read it as memories, say which column is which: --columns {pairs}; memtui columns finds it out."
    )


def _candidate(schema: pa.Schema, part: str) -> str:
    likely = {"id": ("id", "_id", "doc_id", "uuid", "key"), "text": ("text", "content", "body", "memory")}
    fitting = [field.name for field in schema if fits(part, field.type)]
    named = [name for name in likely.get(part, ()) if name in fitting]
    return next(iter(named or (fitting if part == "vector" else [])), "...")
