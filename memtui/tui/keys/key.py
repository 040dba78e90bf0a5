"""One action and the keys that do it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Key:
    """One action and the keys that do it.

    `bar` is its place in the key bar (1 first; 0 is not shown there). `shown` is how the keys are written
    for people; empty derives it from the first key. `group` is the heading in the help overlay.
    """

    id: str
    keys: str
    title: str
    group: str
    bar: int = 0
    shown: str = ""
    help: str = ""

    @property
    def context(self) -> str:
        """The part of the id before the dot."""
        return self.id.split(".", 1)[0]

    @property
    def action(self) -> str:
        """The name that Textual calls: `action_<this>`."""
        return self.id.split(".", 1)[1].replace("-", "_")

    @property
    def caps(self) -> str:
        """The keys as printed on the screen."""
        return self.shown or " ".join(_cap(key) for key in self.keys.split(","))


_NAMES = {
    "slash": "/",
    "question_mark": "?",
    "colon": ":",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "backslash": "\\",
    "full_stop": ".",
    "comma": ",",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "equals_sign": "=",
    "plus": "+",
    "minus": "-",
    "percent_sign": "%",
    "asterisk": "*",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
}


def _cap(key: str) -> str:
    *modifiers, name = key.strip().split("+")
    name = _NAMES.get(name, name)
    if "ctrl" in modifiers:
        name = f"^{name}"
    return f"shift+{name}" if "shift" in modifiers else name


GO, MOVE, FIND, ACT, VIEW = "GO", "MOVE", "FIND", "ACT", "VIEW"
