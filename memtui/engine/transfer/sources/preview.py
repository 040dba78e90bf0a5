"""The first things in a source, read as the import will read them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from memtui.engine.transfer.detection import Detected
from memtui.engine.transfer.readers.tables import SAMPLE, csv_sample, parquet_sample
from memtui.engine.transfer.record import Record, Rejected, SourceRemark
from memtui.engine.transfer.sources.json_stream import Value, items_of, json_lines, open_json
from memtui.engine.transfer.sources.options import ReadOptions

if TYPE_CHECKING:
    from memtui.engine.transfer.importing.request import ImportRequest


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
class SourcePreview:
    """The first records of a source, what was left out among them, and what is said of the whole."""

    records: tuple[Glimpsed, ...] = ()
    rejected: tuple[tuple[str, str], ...] = ()
    """(where, why)."""
    remarks: tuple[str, ...] = ()


def glimpse(source: Detected, request: ImportRequest, now_ms: int) -> SourcePreview:
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
        elif isinstance(each, SourceRemark):
            remarks.append(each.what)
        if len(records) >= MOST or number >= _LOOKED_AT:
            break
    return SourcePreview(tuple(records), tuple(rejected[:MOST]), tuple(remarks))


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


# The first rows of a table of another program, to show beside its mapping.

Sample = tuple[list[str], list[dict[str, Any]]]


def sample_of(source: Detected, options: ReadOptions) -> Sample:
    """Column names and up to fifty rows of a CSV, Parquet or JSON table; nothing of other formats."""
    if not source.format.maps:
        return [], []
    if source.kind == "text":
        return csv_sample(source.path, options)
    if source.kind == "parquet":
        return parquet_sample(source.path)
    values = _lines(source, options) if source.kind == "lines" else _document(source, options)
    rows = [value for value in values if isinstance(value, dict)]
    return list(dict.fromkeys(key for row in rows for key in row)), rows


def _lines(source: Detected, options: ReadOptions) -> list[Any]:
    values = (line.value for line in json_lines(source.path, options.meter) if isinstance(line, Value))
    return list(islice(values, SAMPLE))


def _document(source: Detected, options: ReadOptions) -> list[Any]:
    with open_json(source.path, options.meter) as reader:
        if reader.peek() == "[":
            return [item.value for item in islice(items_of(reader), SAMPLE)]
        for _ in reader.members():
            if reader.peek() == "[":
                return [item.value for item in islice(items_of(reader), SAMPLE)]
            reader.value()
    return []
