"""Every stage of the compared memories, on the side that is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from memtui.tui.dialogs.ledger import Ledger, Page
from memtui.tui.host import host
from memtui.tui.screens.recall import pages
from memtui.tui.screens.recall.compare import present
from memtui.tui.screens.recall.compare import state as reduce

if TYPE_CHECKING:
    from memtui.engine import Trace
    from memtui.tui.screens.recall.compare.screen import CompareScreen


def open_ledger(screen: CompareScreen) -> None:
    """Open it at the selected memory; closing selects the one that was shown last."""
    state = screen.state
    pair = state.pair
    if pair is None or not state.selected:
        return
    focused = screen.focused.id if screen.focused is not None else None
    which: Literal["a", "b"] = "b" if focused == "list-b" or state.shown == "b" else "a"
    if not hasattr(present.account_of(pair, which), "pool"):
        screen.flash("A receipt has no ledger: look at the other side.", "note")
        return
    trace = cast("Trace", present.account_of(pair, which))
    ids = [flow.id for flow in reduce.listed(pair, which) if present.candidate_of(pair, which, flow.id)]
    if state.selected not in ids:
        screen.flash(f"No search of {which.upper()} found this memory.", "note")
        return

    def page_of(id: str) -> Page:
        candidate = present.candidate_of(pair, which, id)
        assert candidate is not None  # `ids` are the trace's own
        return pages.page(trace, candidate, host(screen).glyphs, host(screen).now_ms())

    def closed(id: str | None) -> None:
        if id is not None and screen.state.pair is pair:
            screen.state = reduce.select(screen.state, id)

    screen.app.push_screen(Ledger(ids, ids.index(state.selected), page_of), closed)
