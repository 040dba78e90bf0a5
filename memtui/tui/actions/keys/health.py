"""Keys of Health."""

from __future__ import annotations

from memtui.tui.actions.action import ACT, GO, VIEW, Action

TABLE: tuple[Action, ...] = (
    Action("health.previous-view", "left_square_bracket", "view before", VIEW, shown="["),
    Action("health.next-view", "right_square_bracket", "view after", VIEW, bar=70, shown="]"),
    Action(
        "health.fix",
        "f",
        "fix",
        ACT,
        bar=10,
        help="its remedy as a preview",
        needs="a finding under the cursor",
    ),
    Action(
        "health.safe",
        "F",
        "mend all that is safe",
        ACT,
        help="every remedy that the agent may run beside, as one preview",
        needs="the view of the doctor",
    ),
    Action("health.again", "r", "look again", ACT, bar=20, help="every pass: vectors and texts, too"),
    Action("health.browse", "b", "show in Browse", GO, bar=30, needs="a finding about memories"),
    Action(
        "health.plan",
        "p",
        "next plan",
        VIEW,
        bar=40,
        help="A, B, C and D",
        needs="the view of the configuration",
    ),
    Action("health.other", "tab", "other panel", VIEW, shown="tab"),
    Action("health.zoom", "z", "zoom", VIEW, bar=60, help="the focused panel fills the screen"),
    Action("health.back", "escape", "step back", VIEW),
)
