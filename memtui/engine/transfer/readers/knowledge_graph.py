"""The knowledge graph of the MCP memory server: entities with observations, and relations between entities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.record import Read, Record, Rejected
from memtui.engine.transfer.sources.fields import others, put_time, record_of, word
from memtui.engine.transfer.sources.head import Head
from memtui.engine.transfer.sources.json_stream import Value, items_of, json_lines, open_json
from memtui.engine.transfer.sources.options import ReadOptions, ReadProgress

ENTITIES, RELATIONS, OBSERVATIONS = "entities", "relations", "observations"

_ENTITY = frozenset(("type", "name", "entityType", OBSERVATIONS))

_NAMED = "its subject's name stands before the text"


def read_lines(path: Path, options: ReadOptions) -> Iterator[Read]:
    """The server's own file: one entity or relation a line."""

    def values(meter: ReadProgress) -> Iterator[Value | Rejected]:
        return json_lines(path, meter)

    ends, known = _graph(value for value in values(ReadProgress()) if isinstance(value, Value))
    for value in values(options.meter):
        yield from [value] if isinstance(value, Rejected) else _read(value, ends, known, options)


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    """The graph as one document, as the server's tool `read_graph` gives it, or a single entity."""
    values = list(_values(path, options))
    ends, known = _graph(values)
    for value in values:
        yield from _read(value, ends, known, options)


def _values(path: Path, options: ReadOptions) -> Iterator[Value]:
    with open_json(path, options.meter) as reader:
        if reader.peek() == "[":
            yield from items_of(reader)
        else:
            own: dict[str, Any] = {}
            for key in reader.members():
                if key in (ENTITIES, RELATIONS) and reader.peek() == "[":
                    yield from (Value(item.value, f"{key}, {item.where}") for item in items_of(reader))
                else:
                    own[key] = reader.value()
            if OBSERVATIONS in own:
                yield Value(own, "the document")
        reader.finish()


def _is_relation(item: Value) -> bool:
    return isinstance(item.value, dict) and "from" in item.value and "to" in item.value


def _graph(values: Iterator[Value] | list[Value]) -> tuple[dict[str, list[dict[str, Any]]], frozenset[str]]:
    """(the relations of each entity, from either end; the names of entities with an observation)."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    known: set[str] = set()
    for each in values:
        if isinstance(each.value, dict) and each.value.get(OBSERVATIONS):
            known.add(str(each.value.get("name")))
        if _is_relation(each):
            told = {key: value for key, value in each.value.items() if key != "type"}
            for end in dict.fromkeys((str(each.value["from"]), str(each.value["to"]))):
                found[end].append(told)
    return found, frozenset(known)


def _read(
    item: Value, ends: dict[str, list[dict[str, Any]]], known: frozenset[str], options: ReadOptions
) -> Iterator[Read]:
    row = item.value
    if _is_relation(item):
        if not known & {str(row["from"]), str(row["to"])}:
            said = f"{row['from']} {row.get('relationType', 'is related to')} {row['to']}"
            yield Rejected(item.where, "a relation of which neither end has an observation", text=said[:80])
        return
    if not isinstance(row, dict) or not isinstance(row.get(OBSERVATIONS), list):
        yield Rejected(item.where, "it is neither an entity nor a relation")
        return
    name = word(row.get("name")) or ""
    if not row[OBSERVATIONS]:
        yield Rejected(item.where, "an entity without an observation", text=name[:80])
    for number, observation in enumerate(row[OBSERVATIONS], 1):
        record = _observed(item, observation, number, name)
        if isinstance(record, Record):
            record.rest |= {"entity_type": row.get("entityType"), **others(row, _ENTITY)}
            if ends.get(name):
                record.rest[RELATIONS] = ends[name]
            if isinstance(observation, dict):
                moment = next(
                    (observation[key] for key in ("timestamp", "createdAt") if key in observation), None
                )
                put_time(record, "timestamp_ms", moment, options.now_ms)
        yield record


def _observed(item: Value, observation: Any, number: int, name: str) -> Record | Rejected:
    """One observation, which rarely says itself what it is about."""
    where = f"{item.where}, observation {number}"
    text = observation
    if isinstance(observation, dict):
        text = next(
            (observation[key] for key in ("content", "text", "observation") if key in observation), None
        )
    record = record_of(text, where)
    if isinstance(record, Rejected):
        return record
    record.title = name or None
    record.rest["entity"] = name
    if isinstance(observation, dict):
        record.rest["observation"] = observation
    record.key = f"{name}\n{record.text}"
    if name and name.lower() not in record.text.lower():
        record.text = f"{name}: {record.text}"
        record.lost("text", _NAMED)
    return record


def detects(head: Head) -> Sighting | None:
    """Entities with their observations."""
    document = head.document
    if any(
        isinstance(row, dict) and "name" in row and isinstance(row.get(OBSERVATIONS), list)
        for row in document.records
    ):
        return Sighting(("entities with `observations`",), 0.9)
    if {"name", "entityType", OBSERVATIONS} <= set(document.keys):
        return Sighting(("an entity with `observations`",), 0.9)
    if document.records and document.share("from", "to", "relationType") == 1:
        return Sighting(("relations of a knowledge graph",), 0.9)
    return None


PROTOCOL = 1

FORMATS = (
    Format(
        "knowledge-graph",
        "an MCP memory server's knowledge graph",
        {"json": read, "lines": read_lines},
        detects,
        145,
        stored=True,
    ),
)
