"""`memory_search`: what the store's own recall brings back for a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from memtui.engine import clean, counted
from memtui.mcp.door import Door, ToolError, outgoing, shared_out, untrusted
from memtui.mcp.fence import FencedText
from memtui.mcp.tools.base import Answer, Arguments, Reply, Tool

if TYPE_CHECKING:
    from memtui.engine import Memory, Trace


NONE = "untrusted memories: none. "
"""How a text begins in which no memory stands."""


class Search(Arguments):
    """A question."""

    query: Annotated[
        str, Field(min_length=1, max_length=2_000, description="what you are looking for, in words")
    ]
    limit: Annotated[int, Field(ge=1, le=20, description="how many at most")] = 5
    scope: Annotated[str | None, Field(description="one scope only; leave out for all that you may read")] = (
        None
    )
    category: Annotated[str | None, Field(description="preference, fact, decision, entity, ...")] = None
    since: Annotated[str | None, Field(description="only memories stored since this day, YYYY-MM-DD")] = None


class Hit(Answer):
    """One memory that came back."""

    id: str
    text: FencedText
    scope: str | None
    score: float | None
    why: str


class Piece(Answer):
    """A piece of a document that was asked because memories were few."""

    ref: str
    text: FencedText
    kind: str


class Asked(Answer):
    """How many pieces the words found, and how many of them the scope left over: 0 of many is a matter of scopes.

    A client that may not read everything gets those of its scope alone: the others tell what stands in documents
    that are mapped to somebody else.
    """

    scoped: int
    raw: int | None = None
    filtered: int | None = None


class Hits(Answer):
    """What came back, best first; and how likely any of it answers, in a word and as a number, where that is known."""

    results: list[Hit]
    answered: bool | None = None
    answers: Literal["likely", "perhaps", "hardly", "nothing"] | None = None
    probability: float | None = None
    failure: str | None = None
    """Why nothing was searched: no results then say nothing about what is stored."""
    documents: list[Piece] | None = None
    documents_asked: Asked | None = None


def run(door: Door, given: Search) -> Reply:
    """Recall."""
    since = _since(given.since)
    trace = door.recall(given.query, given.limit, given.scope, given.category)
    reach = door.reach
    untold = door.untold(trace)
    hits: list[Hit] = []
    found = answered_rows(door, trace)
    readable = older = 0
    for result in trace.results:
        memory = found.get(result.id)
        if memory is None or not reach.may_read(memory):
            continue
        readable += 1  # its number is among those that this client may read
        if memory.timestamp_ms < since:
            older += 1
            continue
        if len(hits) == given.limit:
            continue
        lanes = [
            f"{'meaning' if name == 'vector' else 'words' if name == 'bm25' else name} {source['score']:.2f}"
            for name, source in result.sources.items()
            if source.get("score") is not None and not untold
        ]
        why = f"number {readable}; {', '.join(lanes)}" if lanes else f"number {readable}"
        hits.append(
            Hit(
                id=result.id,
                text=outgoing(memory.raw_text),
                scope=reach.scope_of(memory),
                score=None if untold else result.score,
                why=why,
            )
        )
    texts = shared_out([hit.text for hit in hits])
    whole = [hit.text for hit in hits] == texts
    hits = [hit.model_copy(update={"text": text}) for hit, text in zip(hits, texts, strict=True)]
    lines = [f"[{hit.id}] {hit.text}" for hit in hits]
    failure = None if trace.failure is None else " ".join(trace.failure.reason.split())
    notes = [f"note: {warning}" for warning in trace.warnings] if failure is None else []
    if not whole:
        whole_by = door.named_tools("memory_get")
        notes.append("note: long texts are cut" + (f"; {whole_by} reads them." if whole_by else "."))
    if failure is not None:
        notes.append(
            f"error: the search failed, so it is not known what is stored about this. {failure} "
            "Until then memory_list finds memories by keyword."
        )
    elif not hits:
        notes.append(f"{NONE}{_why_none(door, given, older)}")
    told = (
        trace.confidence if hits or not older else None
    )  # it speaks of what came back, and nothing is left of it
    if told is not None and hits:
        said = told.verdict if untold else told.said  # the number would tell of memories in other scopes
        notes.append(f"note: {said}" + ("." if told.answered else ": what follows is only the nearest."))
    asked = door.documents(trace, given.scope)
    pieces: list[Piece] = []
    counts: Asked | None = None
    if asked is not None and asked.answer.consulted:
        answer = asked.answer
        pieces = [Piece(ref=hit.ref, text=clean(hit.snippet), kind=hit.kind) for hit in answer.hits]
        counts = Asked(scoped=answer.scoped)
        if not reach.limited:
            counts = Asked(scoped=answer.scoped, raw=answer.raw, filtered=answer.filtered)
        notes += [f"note: documents: {asked.starved}"] if asked.starved else []
    lines += [f"[{piece.ref}] {piece.text}" for piece in pieces]
    return Reply(
        Hits(
            results=hits,
            answered=None if told is None else told.answered,
            answers=None if told is None else told.word,
            probability=None if told is None or untold else told.number,
            failure=failure,
            documents=pieces if counts is not None else None,
            documents_asked=counts,
        ),
        untrusted(lines, "\n".join(notes)),
        notes=tuple(note.removeprefix("note: ").removeprefix(NONE) for note in notes),
    )


def _why_none(door: Door, given: Search, older: int) -> str:
    """Why nothing is in the answer, with what to do next."""
    if older:
        return (
            f"since: all {counted(older, 'memory', 'memories')} that came back are older than {given.since}. "
            "Leave since out to read them."
        )
    if given.category is not None:
        known = [name for name, _ in door.listed().facets.categories if name]
        wanted = given.category
        if known and wanted not in known:
            return (
                f"category: no memory has the category {wanted[:64]!r}. Leave it out, or use one of: "
                f"{', '.join(known)}."
            )
    return "No memory came back; other words may find it."


@dataclass(frozen=True, slots=True)
class AnsweredRow:
    """What goes out of a memory that came back, by the names that a memory has."""

    raw_text: str
    scope: str | None
    timestamp_ms: int
    extra: Mapping[str, Any] = field(default_factory=dict)


def answered_rows(door: Door, trace: Trace) -> Mapping[str, AnsweredRow | Memory]:
    """The memories that came back, by id: as the recall itself read them, else read once more.

    A recall does not read whose a row is, so where rows have an owner they are read again.
    """
    ids = [result.id for result in trace.results]
    if door.reach.dialect.owned:
        return door.engine.memories(ids)
    wanted = set(ids)
    rows = [row.stored or row for row in trace.pool.rows if row.id in wanted]
    return {row.id: AnsweredRow(row.text, row.scope, row.timestamp_ms) for row in rows}


def _since(day: str | None) -> int:
    if day is None:
        return 0
    try:
        at = datetime.fromisoformat(day)
    except ValueError:
        raise ToolError(f"since: {day!r} is no day. Write it as YYYY-MM-DD.") from None
    return int(at.timestamp() * 1000)


TOOL = Tool(
    "memory_search",
    "Search memories",
    "Call this before you answer when earlier conversations, preferences, decisions or facts may matter.",
    Search,
    Hits,
    run,
    order=1,
)
