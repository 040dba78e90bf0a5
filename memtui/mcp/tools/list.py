"""`memory_list`: memories by a filter, newest first, a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from memtui.engine import MemtuiError, counted
from memtui.engine.query import FieldTerm, Text, parse, top_terms
from memtui.mcp.door import Door, ToolError, untrusted, usage
from memtui.mcp.tools.base import Answer, Arguments, Reply, Tool
from memtui.mcp.tools.get import Record, fitting_records, records_of
from memtui.mcp.tools.search import NONE

if TYPE_CHECKING:
    from memtui.engine import Memory


class List(Arguments):
    """A filter and a place to go on from."""

    filter: Annotated[
        str, Field(description="memtui's filter, such as: tier:core age<7d cat:preference; empty: all")
    ] = ""
    cursor: Annotated[str | None, Field(description="from the answer before, to go on")] = None
    limit: Annotated[int, Field(ge=1, le=50, description="how many at most")] = 20


class Page(Answer):
    """Memories, newest first."""

    memories: list[Record]
    next_cursor: str | None = None


def run(door: Door, given: List) -> Reply:
    """List."""
    offset = 0
    if given.cursor is not None:
        if not given.cursor.isdigit():
            raise ToolError("cursor: give the next_cursor of the answer before, or leave it out.")
        offset = int(given.cursor)
    engine = door.engine
    engine.load_metadata()
    reach = door.reach
    for scope in named_scopes(given.filter):
        door.check_named(scope, "filter")
    try:
        view = door.listed(given.filter)
    except MemtuiError as error:
        raise ToolError(f"filter: {usage(error)}") from None
    memories: list[Memory] = []
    places: list[int] = []
    while offset < view.total and len(memories) < given.limit:
        rows = engine.page(view, offset, given.limit)
        for memory in rows:
            offset += 1
            if reach.may_read(memory):
                memories.append(memory)
                places.append(offset)
            if len(memories) == given.limit:
                break
    records = records_of(door, memories)
    if (room := fitting_records(records)) < len(records):  # the next page begins with what has no room here
        records, offset = records[:room], places[room - 1]
    more = str(offset) if offset < view.total else None
    note = f"next_cursor: {more}" if more else ""
    notes: tuple[str, ...] = ()
    if not records:
        notes = (_why_none(given, view.total),)
        note = NONE + notes[0]
    return Reply(
        Page(memories=records, next_cursor=more),
        untrusted([f"[{record.id}] {record.text}" for record in records], note),
        notes=notes,
    )


def _why_none(given: List, total: int) -> str:
    """Why a page is empty, with what to do next."""
    if total:
        return f"The list ends before this cursor: it has {counted(total, 'memory', 'memories')}. Leave cursor out."
    return "No memory matches the filter." if given.filter.strip() else "No memory is stored."


def named_scopes(filter: str) -> list[str]:
    """The scopes without which a filter matches nothing: whole names, where a term lists no other way."""
    try:
        terms = top_terms(parse(filter))
    except MemtuiError:
        return []  # the view says what is wrong with it
    return [
        value.text
        for term in terms
        if isinstance(term, FieldTerm) and term.name == "scope" and term.op != "!=" and len(term.values) == 1
        for value in term.values
        if isinstance(value, Text) and not value.glob
    ]


TOOL = Tool(
    "memory_list",
    "List memories",
    "Call this to browse memories by scope, tier, category, age or words, a page at a time.",
    List,
    Page,
    run,
    order=3,
)
