"""Tables of any origin: CSV of any dialect, Parquet, JSON arrays and JSON lines, through a mapping."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import counted
from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.readers.memtui import put_packed
from memtui.engine.transfer.record import Read, Record, Rejected, SourceRemark
from memtui.engine.transfer.sources.column_mapping import check_mapping, guess
from memtui.engine.transfer.sources.fields import (
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
    open_json,
    opened,
)
from memtui.engine.transfer.sources.options import ReadOptions
from memtui.engine.transfer.sources.text import (
    READ_AS_WINDOWS,
    WINDOWS,
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
    put_vector(record, get("vector"))
    if isinstance(get("metadata"), str | dict):
        record.rest["metadata"] = get("metadata")
    used = set(mapping.values())
    left = {key: _plain(value) for key, value in row.items() if key not in used and value not in (None, "")}
    if left:
        record.rest["columns"] = left
    return record


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
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)


SAMPLE = 50

BATCH = 4_096

_HEAD = 1 << 16

_FIELD_LIMIT = 64 * 1024**2

_DELIMITERS = ",;\t|"


def read_csv(path: Path, options: ReadOptions) -> Iterator[Read]:
    """A CSV file: delimiter and encoding found out, quoted line breaks kept, decimal commas read."""
    with _csv_rows(path, options) as (rows, header, remark):
        if remark:
            yield SourceRemark(f"{path.name}: {remark}.")
        first = list(islice(rows, SAMPLE))
        mapping = options.mapping or guess(header, [row.value for row in first], options.now_ms)
        check_mapping(mapping, header)
        ours = not options.mapping and set(COLUMNS) <= set(header)
        for row in (*first, *rows):
            record = mapped_record(row.value, mapping, row.where, options, strip=False)
            if ours and isinstance(record, Record):
                _put_ours(record, row.value)
            yield record


def _put_ours(record: Record, row: Mapping[str, Any]) -> None:
    """What memtui's own table says beyond the columns that any table has: the metadata, which has the rest in it."""
    record.text = as_it_was(record.text)
    record.dialect, record.foreign_id, record.metadata = "pro", None, row["metadata"] or None
    if record.metadata is None:
        record.lost("metadata", "none in the source: made anew from the text")
    record.rest.clear()
    if row.get(VECTOR):
        put_packed(record, row[VECTOR])


def csv_sample(path: Path, options: ReadOptions) -> tuple[list[str], list[dict[str, Any]]]:
    """Column names and first rows."""
    with _csv_rows(path, options) as (rows, header, _):
        return header, [row.value for row in islice(rows, SAMPLE)]


@contextmanager
def _csv_rows(path: Path, options: ReadOptions) -> Iterator[tuple[Iterator[Value], list[str], str]]:
    csv.field_size_limit(_FIELD_LIMIT)  # the module's own limit of 128 KiB would refuse a long note
    with opened(path, options.meter) as handle:
        head = handle.peek(_HEAD)[:_HEAD]
        length, marked = byte_order_mark(head)
        encoding, remark = _encoding(head, marked, options.encoding, path)
        handle.read(length)
        text = io.TextIOWrapper(handle, encoding, errors="strict", newline="")  # type: ignore[type-var]
        reader = csv.reader(
            text, delimiter=delimiter_of(head[length:].decode(encoding, "replace")), strict=True
        )
        try:
            header = [name or f"column {at}" for at, name in enumerate(next(reader, []), 1)]
            yield _rows(reader, header, path), header, remark
        except UnicodeDecodeError as error:
            if handle.peek(2)[:2] != b"\x1f\x8b":
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


def delimiter_of(head: str) -> str:
    """The delimiter that gives the most lines of the head the same number of columns, two or more."""

    def columns(delimiter: str) -> tuple[int, int]:
        try:
            rows = [
                row
                for row in islice(csv.reader(io.StringIO(head, newline=""), delimiter=delimiter), 20)
                if row
            ]
        except csv.Error:
            return 0, 0
        width = len(rows[0]) if rows else 0
        return (sum(len(row) == width for row in rows) if width > 1 else 0), width

    return max(_DELIMITERS, key=lambda mark: (*columns(mark), -_DELIMITERS.index(mark)))


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
        raise MemtuiError(
            f"{path.name} is no CSV: {error} at line {reader.line_num}.",
            fix="Correct the quotes there and try again.",
        ) from error


def read_parquet(path: Path, options: ReadOptions) -> Iterator[Read]:
    """A Parquet file of another program, a batch at a time."""
    import pyarrow.parquet as pq

    header, samples = parquet_sample(path)
    mapping = options.mapping or guess(header, samples, options.now_ms)
    check_mapping(mapping, header)
    column = mapping.get("vector")
    number = 0
    with pq.ParquetFile(path) as file:
        options.meter.total = file.metadata.num_rows
        for batch in file.iter_batches(batch_size=BATCH):
            plain = [name for name in batch.schema.names if name != column]
            rows, vectors = _plain_rows(batch.select(plain)), vectors_of(batch, column)
            given = [None] * len(rows) if column is None else batch.column(column).is_valid().to_pylist()
            for row, vector, was_given in zip(rows, vectors, given, strict=True):
                number += 1
                record = mapped_record(row, mapping, f"row {number}", options, strip=False)
                if isinstance(record, Record):
                    _put(record, vector, bool(was_given))
                yield record
            options.meter.add(batch.num_rows)


def _put(record: Record, vector: Any, was_given: bool) -> None:
    if vector is not None and vector.any():
        record.vector = vector
    elif was_given:
        put_vector(record, [0.0] if vector is not None else [float("nan")])


def parquet_sample(path: Path) -> tuple[list[str], list[dict[str, Any]]]:
    """Column names and first rows."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        batch = next(file.iter_batches(batch_size=SAMPLE), None)
        names = list(file.schema_arrow.names)
    return names, [] if batch is None else _plain_rows(batch)


def _plain_rows(batch: Any) -> list[dict[str, Any]]:
    """Rows with times as milliseconds and dictionary columns as their values."""
    import pyarrow as pa

    columns = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if pa.types.is_timestamp(field.type) or pa.types.is_date(field.type):
            column = column.cast(pa.timestamp("ms"), safe=False).cast(pa.int64())
        columns.append(column.to_pylist())
    return [dict(zip(batch.schema.names, values, strict=True)) for values in zip(*columns, strict=True)]


def read_json_lines(path: Path, options: ReadOptions) -> Iterator[Read]:
    """JSON lines with any keys."""
    yield from _mapped(json_lines(path, options.meter), options)


def read_json(path: Path, options: ReadOptions) -> Iterator[Read]:
    """A JSON array of objects or texts, alone or under the first key that holds one."""
    with open_json(path, options.meter) as reader:
        if reader.peek() == "[":
            yield from _mapped(items_of(reader), options)
        else:
            yield from _of_document(reader, options)
        reader.finish()


def _of_document(reader: JsonReader, options: ReadOptions) -> Iterator[Read]:
    taken = False
    for _ in reader.members():
        if reader.peek() == "[" and not taken:
            taken = True
            yield from _mapped(items_of(reader), options)
        else:
            reader.value()


def _mapped(values: Iterator[Value | Rejected] | Iterator[Value], options: ReadOptions) -> Iterator[Read]:
    first = list(islice(values, SAMPLE))
    objects = [each.value for each in first if isinstance(each, Value) and isinstance(each.value, dict)]
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


def detects_csv(head: Head) -> Sighting | None:
    """A header with the number of cells that most of the first lines have, too."""
    text, suffix = head.text, head.path.suffix.lower()
    if suffix in (".md", ".markdown") or text.bullets * 2 >= text.lines:
        return None
    columns = _header(text.text)
    if len(columns) <= (1 if suffix in (".csv", ".tsv") else 2):
        return None
    return Sighting(
        (f"a table with the columns {', '.join(name or '(none)' for name in columns[:12])}",), 0.5
    )


def _header(text: str) -> list[str]:
    """The header when most of the first lines have the same number of cells, two or more; else nothing."""
    whole = text[: text.rfind("\n") + 1] or text
    try:
        rows = [
            row
            for row in islice(csv.reader(io.StringIO(whole, newline=""), delimiter=delimiter_of(whole)), 20)
            if row
        ]
    except csv.Error:
        return []
    width = len(rows[0]) if rows else 0
    same = sum(len(row) == width for row in rows)
    return rows[0] if width > 1 and len(rows) > 1 and same * 5 >= len(rows) * 4 else []


def detects_parquet(head: Head) -> Sighting:
    """Any columns."""
    schema, rows = head.parquet
    return Sighting((f"{counted(rows, 'row')} with the columns {', '.join(schema.names[:12])}",), 0.1)


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
        return Sighting((f"lines with the keys {', '.join(keys[:12])}",), 0.1) if keys else None
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
