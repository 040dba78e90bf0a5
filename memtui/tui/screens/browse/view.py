"""What Browse says when there is no list to show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.engine import CancelToken, Memory, MemtuiError, dump_json
from memtui.tui.dialogs.choose_one import Option
from memtui.tui.no_store import DEMO, OPEN, RETRY
from memtui.tui.paint.numbers import full
from memtui.tui.screens.browse.filter_text import shorter
from memtui.tui.screens.browse.state import ListAnswer, Remedy, scopes_phrase
from memtui.tui.widgets.state_panel import Choice, State, failed

if TYPE_CHECKING:
    from memtui.engine import (
        Engine,
        ListQuery,
        OnProgress,
    )


def nothing_matches(answer: ListAnswer) -> State:
    """An empty list, and the ways out that would show something."""
    query = answer.view.query
    if not answer.view.table_total:
        return State("empty", "this store holds no memories yet", choices=(OPEN, DEMO))
    asked = [("filter", query.filter)] if query.filter else []
    if query.scopes is not None:
        asked.append(("scopes", scopes_phrase(query.scopes)))
    ways = tuple(
        Choice("remedy", remedy.label, full(remedy.total), (remedy.filter, remedy.scopes))
        for remedy in answer.remedies
    )
    return State("empty", "nothing matches", tuple(asked), ways)


def view_failed(error: MemtuiError) -> State:
    """The list could not be made."""
    return failed(
        "the list could not be read",
        error,
        RETRY,
        Choice("clear", "clear the filter", "{browse.clear-filter}"),
    )


# The engine calls behind Browse, as they run on a worker thread.

MOST_REMEDIES = 6
"""Each costs a filter run; a person reads no more."""


def answer(
    engine: Engine, query: ListQuery, cancel: CancelToken, report: OnProgress | None = None
) -> ListAnswer:
    """The list that `query` asks for; where it is empty, what would make it not so."""
    view = engine.view(query, cancel, report)
    if query.scopes is None:
        return ListAnswer(view, view.facets.scopes, view.total, remedies(engine, query, cancel, view.total))
    cancel.check()
    everywhere = engine.view(replace(query, scopes=None), cancel)
    ways = remedies(engine, query, cancel, view.total)
    return ListAnswer(view, everywhere.facets.scopes, everywhere.total, ways)


def remedies(engine: Engine, query: ListQuery, cancel: CancelToken, total: int) -> tuple[Remedy, ...]:
    """For an empty list: the filter with one term less, or in all scopes, or none; only what finds rows."""
    if total:
        return ()
    tries: list[tuple[str, tuple[str | None, ...] | None, str]] = []
    if query.scopes is not None:
        if query.filter:
            tries.append((query.filter, None, f"look in all scopes, not only {scopes_phrase(query.scopes)}"))
        tries.append(("", query.scopes, "clear the filter") if query.filter else ("", None, "all scopes"))
    tries += [(rest, query.scopes, f"drop  {term}") for term, rest in shorter(query.filter)]
    tries.append(("", None, "all memories"))
    found: dict[tuple[str, object], Remedy] = {}
    for text, scopes, label in tries[: MOST_REMEDIES + 2]:
        cancel.check()
        count = engine.view(replace(query, filter=text, scopes=scopes), cancel).total
        if count:
            found.setdefault((text, scopes), Remedy(text, scopes, label, count))
    return tuple(found.values())[:MOST_REMEDIES]


# What can be copied of a memory.


def copy_options(memory: Memory) -> tuple[Option, ...]:
    """The choices, with the start of what each would copy."""
    return (
        Option("id", "id", memory.id, "i"),
        Option("text", "text", memory.title, "t"),
        Option("JSON", "JSON", "every field, as `memtui show` prints it", "j"),
    )


def copy_text(memory: Memory, what: str) -> str:
    """The id, the text exactly as stored, or the row as JSON."""
    if what == "id":
        return memory.id
    if what == "text":
        return memory.raw_text
    return dump_json(memory.as_json(), ensure_ascii=False, indent=2)
