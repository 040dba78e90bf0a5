"""Links between memories of a source: which other memory replaced one, by the ids that the rows really get.

A record whose id cannot be a row's, is taken, or is there already under another id, ends in a row of another id.
Whatever in the source says "superseded by" it has to say that row's id, or points to nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from memtui.engine.metadata.json_patch import patch
from memtui.engine.metadata.read import parse_object

if TYPE_CHECKING:
    import pyarrow as pa


FIELDS = ("supersedes", "superseded_by")
"""Keys of the metadata that name another memory; `relations` names more."""

MARKS = ('"supersede', '"targetId"')
"""One of these is in every metadata string with a link."""


def linked_ids(metadata: str | None) -> set[str]:
    """The ids of other memories that a metadata string names."""
    if not metadata or not any(mark in metadata for mark in MARKS):
        return set()
    return set(_links(parse_object(metadata)[0]))


def _links(values: Mapping[str, Any]) -> Iterator[str]:
    for name in FIELDS:
        if isinstance(value := values.get(name), str) and value:
            yield value
    for relation in _relations(values):
        yield relation["targetId"]


def _relations(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = values.get("relations")
    listed = rows if isinstance(rows, list) else []
    return [row for row in listed if isinstance(row, dict) and isinstance(row.get("targetId"), str)]


def relinked(metadata: str | None, names: Mapping[str, str]) -> str | None:
    """The metadata with links to the keys of `names` led to their values; all else stays byte for byte."""
    if not metadata or linked_ids(metadata).isdisjoint(names):
        return metadata
    values = parse_object(metadata)[0]
    changes: dict[str, Any] = {
        name: names[values[name]]
        for name in FIELDS
        if isinstance(values.get(name), str) and values[name] in names
    }
    if any(row["targetId"] in names for row in _relations(values)):
        changes["relations"] = [
            {**row, "targetId": names.get(row["targetId"], row["targetId"])}
            if isinstance(row, dict) and isinstance(row.get("targetId"), str)
            else row
            for row in values["relations"]
        ]
    return patch(metadata, changes)


def with_links(column: pa.Array, names: Mapping[str, str]) -> pa.Array:
    """A column of metadata with its links led to the rows that the memories became."""
    import pyarrow as pa
    import pyarrow.compute as pc

    marked = pc.or_(*(pc.match_substring(column, mark) for mark in MARKS))
    if not names or not pc.any(marked).as_py():
        return column
    return pa.array([relinked(value, names) for value in column.to_pylist()], column.type)
