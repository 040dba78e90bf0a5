"""What Browse says when there is no list to show."""

from __future__ import annotations

from memtui.engine import MemtuiError
from memtui.tui.paint.numbers import full
from memtui.tui.screens.browse.state import Answer, scopes_phrase
from memtui.tui.widgets.state_panel import Choice, State, failed
from memtui.tui.words import DEMO, OPEN, RETRY


def nothing_matches(answer: Answer) -> State:
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
