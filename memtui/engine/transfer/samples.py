"""The first rows of a table of another program, to show beside its mapping."""

from __future__ import annotations

from itertools import islice
from typing import Any

from memtui.engine.transfer.detect import Detected
from memtui.engine.transfer.options import ReadOptions
from memtui.engine.transfer.readers.documents import Value, items_of, json_lines, open_json
from memtui.engine.transfer.readers.table import SAMPLE, csv_sample, parquet_sample

Sample = tuple[list[str], list[dict[str, Any]]]


def sample_of(source: Detected, options: ReadOptions) -> Sample:
    """Column names and up to fifty rows of a CSV, Parquet or JSON table; nothing of other formats."""
    if source.format.name == "csv":
        return csv_sample(source.path, options)
    if source.format.name == "parquet":
        return parquet_sample(source.path)
    if source.format.name != "json":
        return [], []
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
