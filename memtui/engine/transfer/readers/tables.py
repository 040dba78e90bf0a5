"""Tables of any origin: CSV of any dialect, Parquet, JSON arrays and JSON lines, through a mapping."""

from __future__ import annotations

import codecs
import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import counted, quoted
from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.readers.memtui import put_packed
from memtui.engine.transfer.record import Read, Record, Rejected, SourceRemark
from memtui.engine.transfer.sources.column_mapping import check_mapping, guess
from memtui.engine.transfer.sources.csv_layout import CsvLayout, layout_of, unique_names
from memtui.engine.transfer.sources.fields import (
    is_vector,
    plain_value,
    put_id,
    put_importance,
    put_time,
    put_vector,
    put_word,
    record_of,
    vectors_of,
    word,
    words,
)
from memtui.engine.transfer.sources.head import Head
from memtui.engine.transfer.sources.json_stream import (
    JsonReader,
    Value,
    items_of,
    json_lines,
    loads,
    open_json,
    opened,
)
from memtui.engine.transfer.sources.options import ReadOptions
from memtui.engine.transfer.sources.text import (
    READ_AS_WINDOWS,
    WINDOWS,
    beginning_of,
    byte_order_mark,
    decode,
    encoding_named,
    is_wide,
    storable,
    unreadable,
    wide,
)
from memtui.engine.transfer.writers.csv import COLUMNS, VECTOR, as_it_was

# Rows of a table that no program we know wrote, read through a mapping of its columns.

_BAR = "|"


def mapped_record(
    row: Mapping[str, Any],
    mapping: Mapping[str, str],
    where: str,
    options: ReadOptions,
    *,
    strip: bool = True,
) -> Record | Rejected:
    """One row; columns without a role are kept whole in `rest`."""

    def get(role: str) -> Any:
        return row.get(mapping[role]) if role in mapping else None

    record = record_of(get("text"), where)
    if isinstance(record, Rejected):
        return record
    if strip:
        record.text = record.text.strip()
    put_id(record, get("id"))
    record.foreign_id = record.foreign_id or record.id
    category = get("category")
    record.tags = _tags(get("tags"))
    if isinstance(category, list):
        record.tags = (*words(category), *record.tags)
    put_word(record, "category", category)
    put_word(record, "scope", get("scope"))
    for role in ("user", "agent"):
        if record.scope is None and (name := word(get(role))):
            record.scope = f"{role}:{name.strip()}"
    put_importance(record, get("importance"))
    put_time(record, "timestamp_ms", get("timestamp"), options.now_ms)
    put_vector(record, _numbers_of(get("vector")))
    if isinstance(get("metadata"), str | dict):
        record.rest["metadata"] = get("metadata")
    used = set(mapping.values())
    left = {key: _plain(value) for key, value in row.items() if key not in used and value not in (None, "")}
    if left:
        record.rest["columns"] = left
    return record


def _numbers_of(value: Any) -> Any:
    """A vector, also where a table of texts has it written out in brackets."""
    if isinstance(value, str) and value.strip()[:1] == "[":
        try:
            return loads(value)
        except (json.JSONDecodeError, RecursionError):
            return value
    return value or None


def _tags(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) and _BAR in value:
        return tuple(part.strip() for part in value.split(_BAR) if part.strip())
    return words(value)


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)[0]
    if isinstance(value, Mapping):
        return {storable(str(key))[0]: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return str(value)


SAMPLE = 50

BATCH = 4_096


_FIELD_LIMIT = 64 * 1024**2


def read_csv(path: Path, options: ReadOptions) -> Iterator[Read]:
    """A CSV file: layout, delimiter and encoding found out, quoted line breaks kept, decimal commas read."""
    with _csv_rows(path, options) as (rows, layout, remark):
        header = list(layout.header)
        if remark:
            yield SourceRemark(f"{path.name}: {remark}.")
        for title in layout.titles:
            yield Rejected(path.name, "it stands above the table", text=title[:80])
        if not layout.has_header:
            yield SourceRemark(
                f"{path.name} has no names of columns: its first row was taken for data, "
                f"the columns are called {', '.join(header[:6])}."
            )
        if doubled := _doubled(header):
            yield SourceRemark(doubled)
        first = list(islice(rows, SAMPLE))
        mapping = options.mapping or guess(header, [row.value for row in first], options.now_ms)
        check_mapping(mapping, header)
        ours = not options.mapping and set(COLUMNS) <= set(header)
        for row in (*first, *rows):
            record = mapped_record(row.value, mapping, row.where, options, strip=False)
            if ours and isinstance(record, Record):
                _put_ours(record, row.value)
            yield record


_SECOND = re.compile(r"(.+) \(\d+\)")


def _doubled(header: Sequence[str]) -> str:
    """What has to be said of columns that have one name; "" where each has its own."""
    again = [name for name in header if (match := _SECOND.fullmatch(name)) and match[1] in header]
    return f"Columns of one name: the later ones are read as {', '.join(again)}." if again else ""


def _put_ours(record: Record, row: Mapping[str, Any]) -> None:
    """What memtui's own table says beyond the columns that any table has: the metadata, which has the rest in it."""
    record.text = as_it_was(record.text)
    record.dialect, record.foreign_id, record.metadata = "pro", None, row["metadata"] or None
    if record.metadata is None:
        record.lost("metadata", "none in the source: derived from the text")
    record.rest.clear()
    if row.get(VECTOR):
        put_packed(record, row[VECTOR])


def csv_sample(path: Path, options: ReadOptions) -> tuple[list[str], list[dict[str, Any]]]:
    """Column names and first rows."""
    with _csv_rows(path, options) as (rows, layout, _):
        return list(layout.header), [row.value for row in islice(rows, SAMPLE)]


@contextmanager
def _csv_rows(path: Path, options: ReadOptions) -> Iterator[tuple[Iterator[Value], CsvLayout, str]]:
    csv.field_size_limit(_FIELD_LIMIT)  # the module's own limit of 128 KiB would refuse a long note
    head, whole = beginning_of(path)
    length, marked = byte_order_mark(head)
    encoding, remark = _encoding(head, marked, options.encoding, path)
    names = tuple((options.mapping or {}).values())
    layout = layout_of(head[length:].decode(encoding, "replace"), whole=whole, names=names)
    if layout is None:
        layout = CsvLayout(",", 0, (), (), has_header=True, regular=1)
    with opened(path, options.meter) as handle:
        handle.read(length)
        text = io.TextIOWrapper(handle, encoding, errors="strict", newline="")  # type: ignore[type-var]
        reader = csv.reader(text, delimiter=layout.delimiter, strict=True)
        try:
            for _ in range(layout.skipped + layout.has_header):
                next(reader, None)
            yield _rows(reader, list(layout.header), path), layout, remark
        except csv.Error as error:
            raise _no_csv(path, reader.line_num, error) from error
        except UnicodeDecodeError as error:
            if head[:2] != b"\x1f\x8b":
                decode(path.read_bytes(), path.name, encoding)  # says where
            raise unreadable(path.name, encoding, marked, error.start) from None
        finally:
            text.detach()


def _encoding(head: bytes, marked: str, wanted: str | None, path: Path) -> tuple[str, str]:
    """The encoding to read with and what has to be said; a mark that the body contradicts is an error."""
    if wanted:
        return encoding_named(wanted, marked), ""
    if not marked and is_wide(head):
        raise wide(path.name)
    try:  # the head may end inside a character
        codecs.getincrementaldecoder(marked or "utf-8")().decode(head, final=False)
    except UnicodeDecodeError as error:
        if marked:
            raise unreadable(path.name, marked, marked, error.start) from None
        return WINDOWS, READ_AS_WINDOWS
    return marked or "utf-8", ""


def _rows(reader: Any, header: list[str], path: Path) -> Iterator[Value]:
    line = reader.line_num
    try:
        for cells in reader:
            where = f"line {line + 1}"
            line = reader.line_num
            if cells:
                extra = cells[len(header) :]
                row: dict[str, Any] = dict(zip(header, cells, strict=False))
                if extra:
                    row["beyond the header"] = extra
                yield Value(row, where)
    except csv.Error as error:
        raise _no_csv(path, reader.line_num, error) from error


def _no_csv(path: Path, line: int, error: csv.Error) -> MemtuiError:
    return MemtuiError(
        f"{path.name} is no CSV: {error} at line {line}.", fix="Correct the quotes there and try again."
    )


def read_parquet(path: Path, options: ReadOptions) -> Iterator[Read]:
    """A Parquet file of another program, a batch at a time."""
    import pyarrow.parquet as pq

    header, samples = parquet_sample(path)
    if doubled := _doubled(header):
        yield SourceRemark(doubled)
    mapping = options.mapping or guess(header, samples, options.now_ms)
    check_mapping(mapping, header)
    column = mapping.get("vector")
    number = 0
    with pq.ParquetFile(path) as file:
        options.meter.total = file.metadata.num_rows
        for stored in file.iter_batches(batch_size=BATCH):
            batch = _each_name_once(stored)
            plain = [name for name in batch.schema.names if name != column]
            rows, vectors = _plain_rows(batch.select(plain)), vectors_of(batch, column)
            given = [None] * len(rows) if column is None else batch.column(column).is_valid().to_pylist()
            for row, vector, was_given in zip(rows, vectors, given, strict=True):
                number += 1
                record = mapped_record(row, mapping, f"row {number}", options, strip=False)
                if isinstance(record, Record):
                    _put(record, vector, bool(was_given), is_list=is_vector(batch, column))
                yield record
            options.meter.add(batch.num_rows)


def _put(record: Record, vector: Any, was_given: bool, *, is_list: bool) -> None:
    if vector is not None and vector.any():
        record.vector = vector
    elif was_given and not is_list:
        put_vector(record, "")
    elif was_given:
        put_vector(record, [0.0] if vector is not None else [float("nan")])


def _each_name_once(batch: Any) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(batch.columns, names=unique_names(batch.schema.names))


def parquet_sample(path: Path) -> tuple[list[str], list[dict[str, Any]]]:
    """Column names and first rows."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        batch = next(file.iter_batches(batch_size=SAMPLE), None)
        names = unique_names(list(file.schema_arrow.names))
    return names, [] if batch is None else _plain_rows(_each_name_once(batch))


def _plain_rows(batch: Any) -> list[dict[str, Any]]:
    """Rows with times as milliseconds, decimals as numbers and dictionary columns as their values."""
    import pyarrow as pa

    columns = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if pa.types.is_timestamp(field.type) or pa.types.is_date(field.type):
            column = column.cast(pa.timestamp("ms"), safe=False).cast(pa.int64())
        values = column.to_pylist()
        if not pa.types.is_primitive(field.type) or pa.types.is_decimal(field.type):
            values = [plain_value(value) for value in values]
        columns.append(values)
    return [dict(zip(batch.schema.names, values, strict=True)) for values in zip(*columns, strict=True)]


def read_json_lines(path: Path, options: ReadOptions) -> Iterator[Read]:
    """JSON lines with any keys."""
    yield from _mapped(json_lines(path, options.meter), options)


def read_json(path: Path, options: ReadOptions) -> Iterator[Read]:
    """A JSON array of objects or texts, alone or under a key of the document; of several, the first with objects."""
    under = Head(path, "json").document.under.split(".")
    with open_json(path, options.meter) as reader:
        if reader.peek() == "[":
            yield from _mapped(items_of(reader), options)
        else:
            yield from _of_document(reader, under, options)
        reader.finish()


def _of_document(reader: JsonReader, under: Sequence[str], options: ReadOptions) -> Iterator[Read]:
    left: list[str] = []
    for key in reader.members():
        if key != under[0]:
            if isinstance(reader.value(), list | dict):
                left.append(key)
        elif len(under) > 1:
            yield from _of_document(reader, under[1:], options)
        else:
            yield from _mapped(items_of(reader), options)
    if left:
        yield SourceRemark(f"Left alone, no part of the list of memories: {', '.join(left)}.")


def _mapped(values: Iterator[Value | Rejected] | Iterator[Value], options: ReadOptions) -> Iterator[Read]:
    first = list(islice(values, SAMPLE))
    objects = [value.value for value in first if isinstance(value, Value) and isinstance(value.value, dict)]
    header = list(dict.fromkeys(key for row in objects for key in row))
    mapping: Mapping[str, str] = options.mapping or guess(header, objects, options.now_ms)
    if objects:
        check_mapping(mapping, header)
    for each in (*first, *values):
        if isinstance(each, Rejected):
            yield each
        elif isinstance(each.value, dict):
            yield mapped_record(each.value, mapping, each.where, options)
        elif isinstance(each.value, str) and not isinstance(
            record := record_of(each.value, each.where), Rejected
        ):
            record.key = each.value
            yield record
        else:
            yield Rejected(each.where, "it is no object with a text")


_TABLES = (".csv", ".tsv", ".tab")

_REGULAR = 0.8
"""Share of the rows that have as many cells as the header, below which nobody should say that it is a table."""


def detects_csv(head: Head) -> Sighting | None:
    """Rows that have as many cells as their header, too; a file that calls itself a table and is none is refused."""
    text, suffixes = head.text, [suffix.lower() for suffix in head.path.suffixes[-2:]]
    named = any(suffix in _TABLES for suffix in suffixes)
    if not named and (suffixes[-1:] in ([".md"], [".markdown"]) or text.bullets * 2 >= text.lines):
        return None
    layout = layout_of(text.text, whole=text.whole)
    if layout is None:
        return None
    if layout.regular < _REGULAR:
        return Sighting((), 0.5, _irregular(head.path.name, layout)) if named else None
    declared = text.text[:8].lower().lstrip('"').startswith("sep=")
    least = 1 if named else 2 if declared else 3
    if layout.width < least or not (named or declared or (layout.has_header and text.lines > 1)):
        return None
    shown = f"a table with the columns {', '.join(layout.header[:12])}"
    return Sighting(
        (shown if layout.has_header else f"a table without names, {counted(layout.width, 'column')}",), 0.5
    )


def _irregular(name: str, layout: CsvLayout) -> MemtuiError:
    return MemtuiError(
        f"{name} is no regular table: {1 - layout.regular:.0%} of its first rows have not as many cells as its "
        f"header ({counted(layout.width, 'column')}).",
        fix="Quote cells that hold the delimiter, or name its form: --format csv; --format pasted for a memory a line.",
    )


def detects_parquet(head: Head) -> Sighting:
    """Any columns."""
    schema, rows = head.parquet
    return Sighting((f"{counted(rows, 'row')} with the columns {', '.join(schema.names[:12])}",), 0.1)


_SPEAKERS = ("role", "sender", "speaker", "author", "from")

_SAID = ("content", "text", "message", "parts", "value", "body")

_ROLES = frozenset(("user", "assistant", "system", "human", "tool", "ai", "bot", "model", "gpt", "developer"))


def _is_talk(head: Head) -> bool:
    """Whether the records are messages, or hold lists of messages and no memory beside them."""
    rows = [row for row in head.document.records if isinstance(row, dict)]
    if not rows:
        return False
    if 2 * sum(_is_message(row) and str(_speaker(row)).lower() in _ROLES for row in rows) > len(rows):
        return True
    holding = sum(
        any(
            isinstance(value, list)
            and value
            and all(isinstance(item, dict) and _is_message(item) for item in value)
            for value in row.values()
        )
        for row in rows
    )
    return 2 * holding > len(rows) and not any(
        key in row for row in rows for key in ("memory", "text", "fact")
    )


def _speaker(row: Mapping[str, Any]) -> Any:
    found = next((row[key] for key in _SPEAKERS if key in row), None)
    return found.get("role") if isinstance(found, Mapping) else found


def _is_message(row: Mapping[str, Any]) -> bool:
    return any(key in row for key in _SPEAKERS) and any(key in row for key in _SAID)


def _talk(name: str) -> MemtuiError:
    return MemtuiError(
        f"{name} holds conversations, not memories.",
        fix=f"Let Capture find what is worth keeping in them: memtui capture {quoted(name)}",
    )


def detects_json(head: Head) -> Sighting | None:
    """Objects or texts of any kind; the lines of an agent's session are refused."""
    document = head.document
    keys = document.record_keys()
    if head.kind == "lines":
        if document.some_value("type", "session"):
            refusal = MemtuiError(
                f"{head.path.name} is the record of a conversation, not of memories.",
                fix="Import the memories that came of it, or the agent's notes.",
            )
            return Sighting((), 0.8, refusal)
        if _is_talk(head):
            return Sighting((), 0.15, _talk(head.path.name))
        return Sighting((f"lines with the keys {', '.join(keys[:12])}",), 0.1) if keys else None
    if _is_talk(head):
        return Sighting((), 0.15, _talk(head.path.name))
    if document.records and all(isinstance(row, str) for row in document.records):
        return Sighting(("an array of texts",), 0.1)
    has_text = any(
        isinstance(value, str) and value.strip()
        for row in document.records
        if isinstance(row, dict)
        for value in row.values()
    )
    shown = f"an array of objects with the keys {', '.join(keys[:12])}"
    return Sighting((shown,), 0.1) if has_text else None


PROTOCOL = 1

FORMATS = (
    Format("csv", "a CSV table", {"text": read_csv}, detects_csv, 160, maps=True, asks=("encoding",)),
    Format("parquet", "a Parquet table", {"parquet": read_parquet}, detects_parquet, 170, maps=True),
    Format(
        "json",
        "JSON of another program",
        {"json": read_json, "lines": read_json_lines},
        detects_json,
        180,
        maps=True,
    ),
)
