"""Keys of the Journal."""

from __future__ import annotations

from memtui.tui.keys.key import ACT, GO, VIEW, Key

TABLE: tuple[Key, ...] = (
    Key("timeline.open", "enter,space", "its memories", VIEW, bar=30, shown="enter"),
    Key(
        "journal.undo",
        "u",
        "undo this entry",
        ACT,
        bar=10,
        help="exactly its rows and fields, days later too",
        needs="an entry that is applied or cut off",
    ),
    Key("journal.redo", "U", "make it again", ACT, bar=15, needs="an entry that was undone"),
    Key("journal.finish", "F", "finish", ACT, bar=20, needs="an entry that was cut off in the middle"),
    Key("journal.break-lock", "B", "break the lock", ACT, needs="a lock that a dead program left behind"),
    Key("journal.browse", "b", "show in Browse", GO, bar=40, help="the memories of this entry"),
    Key("journal.copy", "y", "copy", ACT, bar=50, help="this entry as JSON"),
    Key("journal.other", "left_square_bracket,right_square_bracket", "other panel", VIEW, shown="[ ]"),
    Key("journal.zoom", "z", "zoom", VIEW, bar=60, help="the focused panel fills the screen"),
    Key("journal.back", "escape", "step back", VIEW),
)
