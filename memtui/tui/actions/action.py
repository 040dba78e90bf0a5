"""One action and the keys that do it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Action:
    """One action and the keys that do it.

    `keys` are comma separated; keys with a space between them are pressed one after the other ("g g"). Empty:
    no key does it, the palette still can. `bar` is its place in the key bar (1 first; 0 is not shown there).
    `shown` is how the keys are written for people; empty derives it. `group` is the heading in the help overlay.
    """

    id: str
    keys: str
    title: str
    group: str
    bar: int = 0
    shown: str = ""
    help: str = ""
    needs: str = ""
    """What must be there before it can act, said when it is not: "a memory under the cursor"."""
    also: str = ""
    """Other words for it, by which the palette finds it."""
    moved: Sequence[str] = ()
    """The keys that did it once: who presses one is told, once."""
    bulk: int = 0
    """Its place in the key bar while memories are marked, 1 first; 0: it is not there then."""
    writes: bool = False
    """It ends, by way of a preview, in a change of the store or of the agent's configuration."""
    removes: bool = False
    """It takes something away: the palette finds it only by words that say so."""
    call: str = ""
    """What is called in place of the name: "begin('import')"."""

    @property
    def context(self) -> str:
        """The part of the id before the dot."""
        return self.id.split(".", 1)[0]

    @property
    def action(self) -> str:
        """What Textual calls: `action_<this>`, perhaps with arguments."""
        return self.call or self.id.split(".", 1)[1].replace("-", "_")

    @property
    def each(self) -> tuple[str, ...]:
        """The keys, one by one."""
        return tuple(key.strip() for key in self.keys.split(",") if key.strip())

    @property
    def caps(self) -> str:
        """The keys as printed on the screen."""
        return self.shown or " ".join(cap(key) for key in self.each)

    @property
    def cap(self) -> str:
        """The first of them, for places with little room."""
        return self.caps.split(" ")[0]

    @property
    def bound(self) -> str:
        """What Textual binds: a sequence under one made-up name, and such a name too where there is no key."""
        return ",".join(sequence_name(key) for key in self.each) or f"unbound-{self.id}"

    @property
    def press(self) -> str:
        """One key that does it, to be simulated."""
        return self.bound.split(",")[0]

    def on(self, keys: tuple[str, ...]) -> Action:
        """The same action on other keys; how it is printed goes with the keys that it keeps."""
        if keys == self.each:
            return self
        shown = ""
        if self.shown and set(self.each) <= set(keys):
            shown = " ".join([self.shown, *(cap(key) for key in keys if key not in self.each)])
        return replace(self, keys=",".join(keys), shown=shown)


def sequence_name(keys: str) -> str:
    """The one name under which keys that are pressed one after the other are bound: "g g" is "g-then-g"."""
    return keys.replace(" ", "-then-")


_NAMES = {
    "slash": "/",
    "question_mark": "?",
    "colon": ":",
    "semicolon": ";",
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
    "tilde": "~",
    "apostrophe": "'",
    "grave_accent": "`",
    "quotation_mark": '"',
    "exclamation_mark": "!",
    "at": "@",
    "number_sign": "#",
    "dollar_sign": "$",
    "circumflex_accent": "^",
    "ampersand": "&",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "underscore": "_",
    "left_curly_bracket": "{",
    "vertical_line": "|",
    "right_curly_bracket": "}",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "escape": "esc",
    "backspace": "bksp",
    "delete": "del",
    "pagedown": "pgdn",
    "pageup": "pgup",
}


def cap(keys: str) -> str:
    """A key, or keys one after the other, as printed on the screen."""
    return "".join(_cap(key) for key in keys.split(" "))


def _cap(key: str) -> str:
    *modifiers, name = key.strip().split("+")
    name = _NAMES.get(name, name)
    if "ctrl" in modifiers:
        name = f"^{name}"
    for modifier in ("shift", "alt"):
        if modifier in modifiers:
            name = f"{modifier}+{name}"
    return name


GO, MOVE, FIND, ACT, VIEW = "GO", "MOVE", "FIND", "ACT", "VIEW"
