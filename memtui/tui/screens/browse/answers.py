"""The engine calls behind Browse, as they run on a worker thread."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.engine import CancelToken
from memtui.tui.screens.browse.filtering import shorter
from memtui.tui.screens.browse.state import Answer, Remedy, scopes_phrase

if TYPE_CHECKING:
    from memtui.engine import Engine, ListQuery
    from memtui.engine.progress import OnProgress

MOST_REMEDIES = 6
"""Each costs a filter run; a person reads no more."""


def answer(engine: Engine, query: ListQuery, cancel: CancelToken, report: OnProgress | None = None) -> Answer:
    """The list that `query` asks for; where it is empty, what would make it not so."""
    view = engine.view(query, cancel, report)
    if query.scopes is None:
        return Answer(view, view.facets.scopes, view.total, remedies(engine, query, cancel, view.total))
    cancel.check()
    everywhere = engine.view(replace(query, scopes=None), cancel)
    ways = remedies(engine, query, cancel, view.total)
    return Answer(view, everywhere.facets.scopes, everywhere.total, ways)


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
