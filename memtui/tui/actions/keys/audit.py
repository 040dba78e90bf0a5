"""Keys of Audit."""

from __future__ import annotations

from memtui.tui.actions.action import ACT, GO, MOVE, VIEW, Action

TABLE: tuple[Action, ...] = (
    Action("cells.left", "h,left", "scope before", MOVE, shown="h"),
    Action("cells.right", "l,right", "scope after", MOVE, shown="l"),
    Action("audit.previous-view", "left_square_bracket", "view before", VIEW, shown="["),
    Action("audit.next-view", "right_square_bracket", "view after", VIEW, bar=70, shown="]"),
    Action("audit.before", "comma", "turn before", MOVE, needs="a session with turns"),
    Action("audit.after", "full_stop", "turn after", MOVE, needs="a session with turns"),
    Action(
        "audit.differs",
        "n",
        "next that differs",
        MOVE,
        bar=20,
        help="the next turn with a line that is no longer what it was",
        needs="a turn with a line that changed",
    ),
    Action(
        "audit.today",
        "R",
        "ask it today",
        ACT,
        bar=30,
        help="the turn's question again: places today, and the first gate that differs",
        needs="a turn with memories",
    ),
    Action(
        "audit.as-of",
        "t",
        "as of then",
        ACT,
        bar=35,
        help="the turn's question on the version of its moment",
        needs="a turn with memories",
    ),
    Action(
        "audit.bisect",
        "B",
        "bisect",
        GO,
        bar=42,
        help="the rank of the memory under the cursor for this question, over the versions",
        needs="a turn with memories",
    ),
    Action("audit.filter", "slash", "filter", VIEW, bar=19, needs="the live view"),
    Action("audit.recall", "w", "why, in Recall", GO, bar=40, needs="a turn with a question"),
    Action("audit.case", "E", "as a case", ACT, bar=45, needs="a turn whose memories are still alive"),
    Action("audit.reach", "X", "reach of the memory", GO, bar=50, needs="a memory under the cursor"),
    Action("audit.browse", "b", "show in Browse", GO, needs="a memory under the cursor"),
    Action(
        "audit.apply", "A", "take it out", ACT, bar=15, help="one change, undone any day", needs="a reach"
    ),
    Action(
        "audit.pack",
        "x",
        "proof pack",
        ACT,
        bar=55,
        help="one file for whoever must be told",
        needs="a reach",
    ),
    Action("audit.follow", "F", "follow or pause", VIEW, bar=18, needs="the live view"),
    Action(
        "audit.reveal", "V", "reveal", VIEW, help="whole texts, and secrets in the clear, for ten seconds"
    ),
    Action("audit.zoom", "z", "zoom", VIEW, bar=60, help="the focused panel fills the screen"),
    Action("audit.back", "escape", "step back", VIEW),
)
