"""Keys of Health."""

from __future__ import annotations

from memtui.tui.keys.key import ACT, GO, VIEW, Key

TABLE: tuple[Key, ...] = (
    Key("health.previous-view", "left_square_bracket", "view before", VIEW, shown="["),
    Key("health.next-view", "right_square_bracket", "view after", VIEW, bar=70, shown="]"),
    Key(
        "health.fix",
        "f",
        "fix",
        ACT,
        bar=10,
        help="its remedy as a preview",
        needs="a finding under the cursor",
    ),
    Key("health.again", "r", "look again", ACT, bar=20, help="every pass: vectors and texts, too"),
    Key("health.browse", "b", "show in Browse", GO, bar=30, needs="a finding about memories"),
    Key(
        "health.plan",
        "p",
        "next plan",
        VIEW,
        bar=40,
        help="A, B, C and D",
        needs="the view of the configuration",
    ),
    Key("health.other", "tab", "other panel", VIEW, shown="tab"),
    Key("health.zoom", "z", "zoom", VIEW, bar=60, help="the focused panel fills the screen"),
    Key("health.back", "escape", "step back", VIEW),
)
