"""Which fields of a memory an export has: all of them, or those that were asked for beside id and text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from memtui.engine.errors import UsageError
from memtui.engine.transfer.loss import Loss

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.store.table import Store
    from memtui.engine.transfer.export import Header
    from memtui.engine.transfer.export_rows import Window

CHOOSABLE = ("jsonl", "csv", "parquet")
"""Forms whose fields can be chosen; the others are what the program that reads them expects."""
LEFT_OUT = "left out, as asked"
CSV = (
    "id",
    "text",
    "category",
    "memory_category",
    "scope",
    "importance",
    "timestamp",
    "tier",
    "state",
    "access_count",
    "confidence",
    "metadata",
)
"""Columns of a table for spreadsheets, in their order."""


def fields_of(store: Store, form: str) -> tuple[str, ...]:
    """The fields that an export in a form can have, vectors apart; empty where they cannot be chosen."""
    if form not in CHOOSABLE:
        return ()
    return CSV if form == "csv" else store.row_columns


def left_out(store: Store, form: str, wanted: tuple[str, ...]) -> frozenset[str]:
    """The fields that an export without them lacks; `wanted` empty is all. Id and text are always there.

    UsageError for a field that there is not, and for a form whose fields cannot be chosen.
    """
    if not wanted:
        return frozenset()
    there = fields_of(store, form)
    if not there:
        raise UsageError(f"The fields of {form} cannot be chosen.", fix=f"Choose {', '.join(CHOOSABLE)}.")
    unknown = [each for each in wanted if each not in there]
    if unknown:
        raise UsageError(f"There is no field {unknown[0]!r} in it.", fix=f"Choose from {', '.join(there)}.")
    columns = store.dialect.columns
    always = ("id", "text") if form == "csv" else (columns.id, columns.text)
    return frozenset(there) - {*wanted, *always}


def parse_fields(text: str) -> tuple[str, ...]:
    """Names with commas between them."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def cell_of(memory: Memory, row: dict[str, Any], field: str, header: Header) -> Any:
    """What a table for spreadsheets has in one of its fields, before it is made harmless; None for nothing."""
    if field == "text":
        return memory.raw_text
    if field == "importance":
        column = header.store.dialect.columns.importance
        return row.get(column) if column else None
    if field == "timestamp":
        return memory.timestamp_ms or None
    return getattr(memory, field)


def count_left_out(window: Window, header: Header, form: str, rows: Counter[str]) -> None:
    """Count the rows that lose a value of each field that is left out."""
    if form == "csv" and header.left_out:
        for memory, row in zip(window.memories(header), window.rows, strict=True):
            rows.update(name for name in header.left_out if cell_of(memory, row, name, header) is not None)
        return
    for name in header.left_out:
        column = window.table.column(name)
        rows[name] += len(column) - column.null_count


def with_left_out(losses: tuple[Loss, ...], rows: Counter[str]) -> tuple[Loss, ...]:
    """A ledger with the fields that were left out; what else would happen to those does not matter any more."""
    kept = [each for each in losses if each.field not in rows]
    gone = [Loss(field, count, LEFT_OUT) for field, count in rows.items() if count]
    return tuple(sorted([*kept, *gone], key=lambda loss: loss.field))
