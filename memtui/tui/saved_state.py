"""What Browse keeps of a store between two runs: the list and its panels, filters typed before, saved views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memtui.engine import (
    ListQuery,
    find_secrets,
    one_line,
)
from memtui.engine.catalog import (
    SORT_KEYS,
)
from memtui.tui.layout import LEAST_NUDGE, MOST_NUDGE
from memtui.tui.screens.browse.state import ListRequest

MOST_FILTERS, MOST_VIEWS, LONGEST_NAME, LONGEST_FILTER = 50, 100, 40, 4_000

View = ListQuery
"""A saved view is the question that its list answers."""


def keepable(text: str) -> bool:
    """Whether a filter may be written down: it is of a sensible length and holds no secret."""
    return len(text) <= LONGEST_FILTER and not find_secrets(text)


def query_values(query: ListQuery) -> dict[str, Any]:
    """A query as JSON knows it; without a filter that must not be written down."""
    text = query.filter if keepable(query.filter) else ""
    scopes = None if query.scopes is None else list(query.scopes)
    return {"filter": text, "scopes": scopes, "sort": query.sort}


def read_query(values: Any, sorts: Sequence[str] = ()) -> ListQuery:
    """The query that was kept; whatever makes no sense in it is as at the start. `sorts` as in `StoreInfo`."""
    found = values if isinstance(values, dict) else {}
    text, sort, scopes = found.get("filter"), found.get("sort"), found.get("scopes")
    query = ListQuery()
    if isinstance(text, str) and len(text) <= LONGEST_FILTER:
        query = replace(query, filter=text)
    if isinstance(sort, str) and sort.removeprefix("-") in (*SORT_KEYS, *sorts):
        query = replace(query, sort=sort)
    if (
        isinstance(scopes, list)
        and scopes
        and all(scope is None or isinstance(scope, str) for scope in scopes)
    ):
        query = replace(query, scopes=tuple(scopes))
    return query


def wish_values(wish: ListRequest) -> dict[str, Any]:
    """The list and the panels around it."""
    shape = wish.shape
    panels = {
        "scopes_shown": shape.scopes,
        "detail_shown": shape.detail,
        "wider": shape.nudge,
        "tall": shape.tall,
    }
    return {**query_values(wish.query), **panels}


def read_wish(values: Any, sorts: Sequence[str] = ()) -> ListRequest:
    """The list and the panels as they were left."""
    found = values if isinstance(values, dict) else {}
    wish = ListRequest(read_query(found, sorts))
    wider = found.get("wider")
    return replace(
        wish,
        shape=replace(
            wish.shape,
            scopes=found.get("scopes_shown") is not False,
            detail=found.get("detail_shown") is not False,
            tall=found.get("tall") is True,
            nudge=max(LEAST_NUDGE, min(MOST_NUDGE, wider)) if isinstance(wider, int) else 0,
        ),
    )


def read_filters(values: Any) -> tuple[str, ...]:
    """The filters typed before, the last first."""
    return (
        tuple(value for value in values if isinstance(value, str))[:MOST_FILTERS]
        if isinstance(values, list)
        else ()
    )


def with_filter_first(filters: tuple[str, ...], text: str) -> tuple[str, ...]:
    """The history with this filter as its last one; unchanged for one that must not be kept."""
    if not text.strip() or not keepable(text):
        return filters
    return (text, *(filter_text for filter_text in filters if filter_text != text))[:MOST_FILTERS]


def read_views(values: Any, sorts: Sequence[str] = ()) -> dict[str, View]:
    """The saved views by name, in the order of their names."""
    if not isinstance(values, dict):
        return {}
    return {
        value: read_query(values[value], sorts)
        for value in sorted(values, key=str.casefold)[:MOST_VIEWS]
        if value and view_name(value) == value
    }


def view_values(views: Mapping[str, View]) -> dict[str, Any]:
    """The saved views as JSON knows them."""
    return {name: query_values(query) for name, query in views.items()}


def view_name(text: str) -> str:
    """A name as it is kept: one line, not long."""
    return one_line(text).strip()[:LONGEST_NAME]
