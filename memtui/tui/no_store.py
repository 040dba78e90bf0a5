"""What any screen says while there is no store: why, and the ways out."""

from __future__ import annotations

from memtui.engine import one_line
from memtui.tui.session import Session
from memtui.tui.widgets.state_panel import Choice, State, failed

DEMO = Choice(
    "demo", "open the demo store", "a year of an invented team, ready in seconds", key="home.open-demo"
)

OPEN = Choice("open", "open a store", "a folder, a LanceDB URI, a discovered name", key="home.open-path")

MAKE = Choice("make", "make a store", "empty, in a folder that you name")

BRING = Choice("bring", "bring memories in", "from an export, notes, JSON, CSV")

CONNECT = (
    "connect",
    "memtui mcp --print-config claude (codex, cursor, vscode, openclaw) prints what to paste",
)
"""How an agent comes to a store, once there is one."""

RETRY = Choice("retry", "try again", key="app.reload")


def of_session(session: Session) -> State | None:
    """The state of the store, where that is what there is to say; None when there is a list."""
    if session.phase == "none":
        return no_store(session)
    if session.phase == "failed" and session.error is not None:
        return failed("the store could not be opened", session.error, RETRY, OPEN, DEMO)
    if session.phase in ("looking", "opening") or session.engine is None:
        said = {"looking": "looking for the store of your agent"}.get(session.phase, "opening the store")
        if session.progress is not None:
            said = session.progress.what
        return State("loading", said, progress=session.progress, skeleton=True)
    return None


def no_store(session: Session) -> State:
    """No store is known, or too many: what to do about it."""
    stores = tuple(
        Choice("store", f"open {one_line(name)}", one_line(place), name) for name, place, _ in session.choices
    )
    if stores:
        why = (("why", session.why),) if session.why else ()
        return State("empty", "which store?", why, (*stores, OPEN, DEMO))
    looked = session.looked_at[:4]
    facts: tuple[tuple[str, str], ...] = tuple(
        ("looked at" if i == 0 else "", place) for i, place in enumerate(looked)
    )
    if len(session.looked_at) > len(looked):
        facts += (("", f"and {len(session.looked_at) - len(looked)} more"),)
    return State("empty", "no memory store was found", (*facts, CONNECT), (DEMO, OPEN, MAKE, BRING))
