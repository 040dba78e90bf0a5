"""Gates, knobs and values in words for people."""

from __future__ import annotations

from typing import Any

from memtui.engine import one_line
from memtui.engine.lab.verdict import TIMES
from memtui.tui.paint.numbers import date, score
from memtui.tui.screens.recall.rules import figure

_KNOBS = {
    "limit": "how many come back",
    "scopes": "searched scopes",
    "category": "category asked for",
    "query": "the question",
    "now_ms": "the clock",
    "recipe": "the recipe",
    "memory.importance": "its importance",
    "memory.tier": "its tier",
    "memory.touch": "one use more, now",
    "memory.state": "its state",
    "memory.suppressed_until": "its suppression",
    "memory.valid_until": "its expiry",
    "memory.invalidated_at": "that it was replaced",
    "memory.length": "its length",
    "memory.twin": "its near-duplicate",
}
MEMORY = "memory."
"""What knobs on the memory's side begin with."""
_GATE_TIMES = ("inactive", "expired", "suppressed")
DAY_CHARS = 10
"""Of a date, without its time."""


def gate_name(gate: str) -> str:
    """A gate by its name."""
    if gate == "unknown_id":
        return "in the store"
    return one_line(gate).replace("_", " ")


def knob_name(knob: str) -> str:
    """A knob as people call it; settings keep their own names."""
    return _KNOBS.get(knob) or one_line(knob.removeprefix("retrieval.").removeprefix("memtui."))


def on_the_memory(knob: str) -> bool:
    """Whether a change is one of the memory, not of the question."""
    return knob.startswith(MEMORY)


def plain(value: Any) -> str:
    """A value in a few words."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return figure(value)
    if isinstance(value, list | tuple):
        return ", ".join(plain(each) for each in value) or "none"
    return one_line(str(value))


def gate_number(gate: str, value: Any) -> str:
    """The number or the limit of a gate; empty where it has none."""
    if value is None or value == "" or gate == "unknown_id":
        return ""
    if gate in _GATE_TIMES and isinstance(value, int | float):
        return date(value)[:DAY_CHARS]
    return score(value) if isinstance(value, float) and 0 < value < 1 else plain(value)


def change_words(knob: str, before: Any, after: Any, forth: str) -> str:
    """`6 ▸ 9`; a question shows only what is added to it."""
    if knob == "query":
        old, new = one_line(str(before)), one_line(str(after))
        return f"add {new[len(old) :].strip()}" if new.startswith(old) else new
    if knob == "memory.twin":
        return "forget it"
    if knob in TIMES:
        return f"{_moment(before)} {forth} {_moment(after)}"
    return f"{plain(before)} {forth} {plain(after)}"


def _moment(value: Any) -> str:
    return date(value) if isinstance(value, int | float) and value > 0 else "none"
