"""The first things in a source, read as the import will read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.engine.transfer.options import ReadOptions
from memtui.engine.transfer.record import Record, Rejected, Remark

if TYPE_CHECKING:
    from memtui.engine.transfer.detect import Detected
    from memtui.engine.transfer.request import ImportRequest

MOST = 40
_LOOKED_AT = 400
"""Parts of the source that are looked at: the front matter of a format may be long."""


@dataclass(frozen=True, slots=True)
class Glimpsed:
    """One memory of the source; `lost` are the fields that did not come through as they were."""

    where: str
    text: str
    category: str | None
    scope: str | None
    importance: float | None
    timestamp_ms: int | None
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The first records of a source, what was left out among them, and what is said of the whole."""

    records: tuple[Glimpsed, ...] = ()
    rejected: tuple[tuple[str, str], ...] = ()
    """(where, why)."""
    remarks: tuple[str, ...] = ()


def glimpse(source: Detected, request: ImportRequest, now_ms: int) -> Glimpse:
    """Read a little of one source; MemtuiError for one that cannot be read."""
    options = ReadOptions(
        now_ms=now_ms,
        mapping=request.mapping or None,
        encoding=request.encoding,
        agent=request.agent,
        prose=request.prose,
        sessions=request.sessions,
    )
    records: list[Glimpsed] = []
    rejected: list[tuple[str, str]] = []
    remarks: list[str] = []
    for number, each in enumerate(source.format.reader(source.kind)(source.path, options)):
        if isinstance(each, Record):
            records.append(_of(each))
        elif isinstance(each, Rejected):
            rejected.append((each.where, each.why))
        elif isinstance(each, Remark):
            remarks.append(each.what)
        if len(records) >= MOST or number >= _LOOKED_AT:
            break
    return Glimpse(tuple(records), tuple(rejected[:MOST]), tuple(remarks))


def _of(record: Record) -> Glimpsed:
    return Glimpsed(
        record.where,
        record.text,
        record.memory_category or record.category,
        record.scope,
        record.importance,
        record.timestamp_ms,
        tuple(dict.fromkeys(note.field for note in record.notes)),
    )
