"""Keys of Capture."""

from __future__ import annotations

from memtui.tui.actions.action import ACT, GO, VIEW, Action

TABLE: tuple[Action, ...] = (
    Action("said.open", "enter", "open", VIEW, bar=5),
    Action(
        "capture.why-not",
        "W",
        "why not",
        VIEW,
        bar=10,
        help="the gate, the others, the smallest change",
        needs="a text",
    ),
    Action("capture.accept", "a", "accept", ACT, bar=15, needs="a candidate or an item that waits"),
    Action(
        "capture.edit",
        "e",
        "edit",
        ACT,
        bar=20,
        help="change its words, then accept",
        needs="a candidate or an item",
    ),
    Action("capture.refuse", "D", "refuse", ACT, bar=25, needs="a candidate or an item that waits"),
    Action(
        "capture.apply",
        "A",
        "apply",
        ACT,
        bar=30,
        help="preview what was accepted, then write it as one entry",
    ),
    Action("capture.paste", "i", "paste one", ACT, bar=35, help="a conversation from the clipboard or typed"),
    Action(
        "capture.load",
        "L",
        "from a file",
        ACT,
        bar=40,
        help="text, a session, an export of ChatGPT or Claude",
    ),
    Action(
        "capture.model", "f", "name a model", ACT, bar=45, help="ask the configured model, or the rules again"
    ),
    Action("capture.again", "X", "run again", ACT),
    Action("capture.undo", "u", "take back", ACT, help="the last change"),
    Action("capture.redo", "U", "make it again", ACT),
    Action("capture.view", "right_square_bracket,left_square_bracket", "next view", GO, bar=50, shown="[ ]"),
    Action("capture.zoom", "z", "zoom", VIEW, help="the focused panel fills the screen"),
    Action("capture.back", "escape", "stop, step back", VIEW),
)
