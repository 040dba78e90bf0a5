"""Keys of Capture."""

from __future__ import annotations

from memtui.tui.keys.key import ACT, GO, VIEW, Key

TABLE: tuple[Key, ...] = (
    Key("said.open", "enter", "open", VIEW, bar=5),
    Key(
        "capture.why-not",
        "W",
        "why not",
        VIEW,
        bar=10,
        help="the gate, the others, the smallest change",
        needs="a text",
    ),
    Key("capture.accept", "a", "accept", ACT, bar=15, needs="a candidate or an item that waits"),
    Key(
        "capture.edit",
        "e",
        "edit",
        ACT,
        bar=20,
        help="change its words, then accept",
        needs="a candidate or an item",
    ),
    Key("capture.refuse", "D", "refuse", ACT, bar=25, needs="a candidate or an item that waits"),
    Key(
        "capture.apply",
        "A",
        "apply",
        ACT,
        bar=30,
        help="preview what was accepted, then write it as one entry",
    ),
    Key("capture.paste", "i", "paste one", ACT, bar=35, help="a conversation from the clipboard or typed"),
    Key(
        "capture.load",
        "L",
        "from a file",
        ACT,
        bar=40,
        help="text, a session, an export of ChatGPT or Claude",
    ),
    Key(
        "capture.model", "f", "name a model", ACT, bar=45, help="ask the configured model, or the rules again"
    ),
    Key("capture.again", "X", "run again", ACT),
    Key("capture.undo", "u", "take back", ACT, help="the last change"),
    Key("capture.redo", "U", "make it again", ACT),
    Key("capture.view", "right_square_bracket,left_square_bracket", "next view", GO, bar=50, shown="[ ]"),
    Key("capture.zoom", "z", "zoom", VIEW, help="the focused panel fills the screen"),
    Key("capture.back", "escape", "stop, step back", VIEW),
)
