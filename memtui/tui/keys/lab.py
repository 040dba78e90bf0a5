"""Keys of what is opened over Recall: the comparison, the cases, the rank over versions."""

from __future__ import annotations

from memtui.tui.keys.key import ACT, GO, MOVE, VIEW, Key

TABLE: tuple[Key, ...] = (
    # two recalls side by side
    Key("compare.other", "C", "compare with another", ACT, bar=10),
    Key("compare.settings", "p", "change a setting", ACT, bar=20, help="of B, or of A as a new B"),
    Key("compare.swap", "percent_sign", "swap A and B", ACT, bar=30),
    Key("compare.turn", "b", "A, B, what differs", VIEW, bar=35, help="what the lower panel tells"),
    Key("compare.again", "ctrl+r", "run both again", ACT, bar=40, shown="^r"),
    Key("compare.explain", "x", "explain", VIEW, help="every stage of the selected memory, on this side"),
    Key("compare.browse", "v", "show in Browse", GO),
    Key("compare.previous", "left_square_bracket", "previous memory", MOVE, shown="["),
    Key("compare.next", "right_square_bracket", "next memory", MOVE, shown="]"),
    Key("compare.left", "h,left", "to A's list", MOVE, shown="h ←"),
    Key("compare.right", "l,right", "to B's list", MOVE, shown="l →"),
    Key("compare.zoom", "z", "zoom", VIEW, bar=60, help="the focused panel fills the screen"),
    Key("compare.back", "escape", "back to Recall", MOVE, bar=70, shown="esc"),
    # a chooser for many things
    Key("find.close", "escape", "close", GO, bar=20, shown="esc"),
)
