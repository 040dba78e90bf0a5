"""What any screen says while there is no store: why, and the ways out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine import one_line
from memtui.paths import SERVER_EXTRA
from memtui.tui.paint.cells import tilde
from memtui.tui.session import Session
from memtui.tui.widgets.state_panel import Choice, State, failed

if TYPE_CHECKING:
    from memtui.tui.dialogs.sheet import Sheet

DEMO = Choice("demo", "open the demo store", "a year of an invented team, ready in seconds", key="d")

OPEN = Choice("open", "open a store", "a folder, a LanceDB URI, a discovered name", key="home.open-path")

MAKE = Choice("make", "make a store", "empty, in a folder that you name", key="m")

BRING = Choice("bring", "bring memories in", "ChatGPT, Claude, mem0, Obsidian, CSV and more", key="b")

CONNECT = Choice("connect", "connect an agent", "claude, codex, cursor, vscode, openclaw", key="c")

IMPORT = Choice(
    "import", "bring memories in", "ChatGPT, Claude, mem0, Obsidian, CSV and more", key="app.go-transfer"
)

CAPTURE = Choice(
    "capture", "capture a conversation", "pasted, or from a session of an agent", key="app.go-capture"
)

ADD = Choice("add", "add a memory", "typed in a form, previewed first", key="browse.add")

FILLING = (ADD, IMPORT, CAPTURE, CONNECT, OPEN, DEMO)
"""What can be done where a store has no memory yet."""

RETRY = Choice("retry", "try again", key="app.reload")


def of_session(session: Session) -> State | None:
    """The state of the store, where that is what there is to say; None when there is a list."""
    if session.phase == "none":
        return no_store(session)
    if session.phase == "failed" and session.error is not None:
        return failed("the store could not be opened", session.error, RETRY, OPEN, DEMO)
    if session.phase == "opening" and "://" in session.place:
        return opening_far(session)
    if session.phase in ("looking", "opening") or session.engine is None:
        said = {"looking": "looking for the store of your agent"}.get(session.phase, "opening the store")
        if session.progress is not None:
            said = session.progress.what
        return State("loading", said, progress=session.progress, skeleton=True)
    return None


def opening_far(session: Session) -> State:
    """A store far away is being opened: its address, and what is waited for."""
    awaited = "the service to say which version is the newest"
    if session.progress is not None:
        awaited = session.progress.what
    facts = (("waits for", awaited),)
    return State("loading", f"opening {session.place}", facts, progress=session.progress, skeleton=True)


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
        ("searched" if i == 0 else "", tilde(place)) for i, place in enumerate(looked)
    )
    if len(session.looked_at) > len(looked):
        facts += (("", f"and {len(session.looked_at) - len(looked)} more"),)
    return State("empty", "no memory store was found", facts, (DEMO, OPEN, MAKE, BRING, CONNECT))


def connecting() -> Sheet:
    """How an agent comes to a store: the commands that connect its host, and the hosts with their files."""
    from memtui.engine.hosts import HOSTS, WHERE
    from memtui.tui.dialogs.sheet import Sheet, SheetLine, SheetSection

    command = "memtui connect HOST --rw --as main --store FOLDER"
    intro = (
        "memtui gives a store to an agent as a server of tools (MCP), which the agent starts automatically. It needs "
        f"the extra: {SERVER_EXTRA}.",
        "In a shell; FOLDER is the store, main the agent whose memories it reads and writes; without --rw it only "
        "reads.",
    )
    write_it = (
        SheetLine("preview", command),
        SheetLine("write", "the same with --yes; undo: memtui connect HOST --undo --yes"),
        SheetLine("check", "memtui connect --check HOST"),
        SheetLine("by hand", "memtui mcp --print-config HOST prints what to paste"),
    )
    paste_it = tuple(SheetLine(each, WHERE[each]) for each in HOSTS)
    then = (
        SheetLine("calls", "Agents shows them as they come"),
        SheetLine("OpenClaw", "an agent of its own needs nothing: open the store that it uses"),
    )
    sections = [
        SheetSection("WRITES THE HOST'S FILE", write_it),
        SheetSection("HOST, AND ITS FILE", paste_it),
        SheetSection("THEN", then),
    ]
    return Sheet("Connect an agent", intro, (), sections)
