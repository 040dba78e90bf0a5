"""Names of keys: how Textual calls what a person writes, and which keys never reach a program in a terminal."""

from __future__ import annotations

import unicodedata
from difflib import get_close_matches

RESERVED = {
    "tab": "it moves between the panels",
    "shift+tab": "it moves between the panels",
    "ctrl+c": "it copies a selection, and stops programs elsewhere",
}
"""Keys that cannot be given away."""

_SAME = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+h": "backspace",
    "ctrl+left_square_bracket": "escape",
}
"""What a terminal sends for these is the other key."""

_ALIASES = {
    "esc": "escape",
    "return": "enter",
    "del": "delete",
    "ins": "insert",
    "pgdn": "pagedown",
    "pgup": "pageup",
    "page_down": "pagedown",
    "page_up": "pageup",
    "bksp": "backspace",
    "ctrl+space": "ctrl+@",
    "ctrl+at": "ctrl+@",
    "ctrl+slash": "ctrl+underscore",
}

_WITH_CTRL = {"@", "backslash", "right_square_bracket", "circumflex_accent", "underscore"}
"""Beside letters, what Control changes into something that can be told apart."""

_MODIFIERS = ("ctrl", "alt", "shift")

_MORE = {"super", "hyper", "meta", "cmd", "win"}


def canonical(key: str) -> str:
    """The name that Textual gives to one key as a person writes it: "?", "^d", "C-x", "Esc", "ctrl+D"."""
    key = key.strip() or key[:1]
    if len(key) > 1 and key[0] == "^":
        key = f"ctrl+{key[1:]}"
    for short, long in (("C-", "ctrl+"), ("M-", "alt+"), ("A-", "alt+"), ("S-", "shift+")):
        if key.startswith(short) and len(key) > len(short):
            key = long + key[len(short) :]
    head, plus, name = ("", "", key) if len(key) == 1 else key.rpartition("+")
    if plus and not name:  # "ctrl++"
        head, name = head.rstrip("+"), "+"
    modifiers = sorted((part.strip().lower() for part in head.split("+") if part), key=_order)
    if "ctrl" in modifiers and len(name) == 1:
        name = name.lower()
    name = _character(name) if len(name) == 1 else name.lower()
    if modifiers == ["shift"] and len(name) == 1 and name.isalpha():
        modifiers, name = [], name.upper()
    whole = "+".join((*modifiers, _ALIASES.get(name, name)))
    return _ALIASES.get(whole, whole)


def _order(modifier: str) -> int:
    return _MODIFIERS.index(modifier) if modifier in _MODIFIERS else -1


def _character(char: str) -> str:
    """Textual's name of a character."""
    from textual.binding import Binding

    if not char.isprintable() or char in " ,":
        return {" ": "space", ",": "comma"}.get(char, unicodedata.name(char, "control").lower())
    return next(iter(Binding.make_bindings([Binding(char, "none")]))).key


def unusable(key: str) -> str:
    """Why this key (by its Textual name) cannot be used, as the rest of a sentence; empty when it can."""
    from textual.keys import REPLACED_KEYS, Keys, key_to_character

    if key in RESERVED:
        return f"cannot be given away: {RESERVED[key]}"
    if key in _SAME:
        return f"reaches memtui as {_SAME[key]}: terminals cannot tell them apart"
    *modifiers, name = key.split("+")
    if strange := [modifier for modifier in modifiers if modifier not in _MODIFIERS]:
        if strange[0] in _MORE:
            return f"never reaches a program in a terminal, which keeps {strange[0]} for itself"
        return f"is no key: {strange[0]} is no modifier (ctrl, alt, shift)"
    known = {key.value for key in Keys}
    printable = name in REPLACED_KEYS or key_to_character(name) is not None
    if not printable and name not in known:
        near = get_close_matches(name, [each for each in known if "<" not in each], 1, 0.6)
        return f"is no key{f'; did you mean {near[0]}' if near else ''}"
    if not modifiers or (key in known and not printable):
        return ""
    letter = len(name) == 1 and name.isascii() and name.isalnum()
    if modifiers == ["ctrl"] and ((letter and name.isalpha()) or name in _WITH_CTRL):
        return ""
    if modifiers == ["alt"] and letter and not name.isupper():
        return ""
    return "does not reach a program in most terminals"
