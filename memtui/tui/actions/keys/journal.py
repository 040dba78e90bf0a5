"""Keys of the Journal."""

from __future__ import annotations

from memtui.tui.actions.action import ACT, GO, VIEW, Action

TABLE: tuple[Action, ...] = (
    Action("timeline.open", "enter,space", "its memories", VIEW, bar=30, shown="enter"),
    Action(
        "journal.undo",
        "u",
        "undo this entry",
        ACT,
        bar=10,
        help="exactly its rows and fields, days later too",
        needs="an entry that is applied or cut off",
    ),
    Action("journal.redo", "U", "make it again", ACT, bar=15, needs="an entry that was undone"),
    Action("journal.finish", "F", "finish", ACT, bar=20, needs="an entry that was cut off in the middle"),
    Action("journal.break-lock", "B", "break the lock", ACT, needs="a lock that a dead program left behind"),
    Action("journal.browse", "b", "show in Browse", GO, bar=40, help="the memories of this entry"),
    Action("journal.copy", "y", "copy", ACT, bar=50, help="this entry as JSON"),
    Action("journal.other", "left_square_bracket,right_square_bracket", "other panel", VIEW, shown="[ ]"),
    Action("journal.zoom", "z", "zoom", VIEW, bar=60, help="the focused panel fills the screen"),
    Action("journal.back", "escape", "step back", VIEW),
)
