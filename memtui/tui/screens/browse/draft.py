"""A memory as it is being edited: what it was, what it is to be, and what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from memtui.engine import Field, Memory, MemtuiError, clean
from memtui.tui.screens.browse.choosing import LETTERS, words_of

STEP = 0.05
"""What one press of left or right adds to an importance or a confidence."""
SHARES = ("importance", "confidence")


@dataclass(frozen=True, slots=True)
class Draft:
    """One memory in the editor. Values are words, as a person types them."""

    id: str
    fields: tuple[Field, ...]
    """The fields beside the text, in the order to show them."""
    own: Mapping[str, str]
    """What the memory has, by field name; the text under "text"."""
    given: Mapping[str, str] = field(default_factory=dict)
    """What was put in its place, where that differs."""
    in_place: bool = False
    """A new text changes the memory itself, where a new version would be usual."""
    versioned: bool = False
    """A new text makes a new version."""
    cleaned: bool = False
    """The stored text holds characters that cannot be shown; the editor holds it without them."""
    trouble: str = ""
    """Why the draft cannot be taken as it is."""

    def value(self, name: str) -> str:
        """What the field is to be."""
        return self.given.get(name, self.own[name])

    @property
    def changed(self) -> tuple[str, ...]:
        """The names of the fields that differ from the memory."""
        return tuple(self.given)

    def field(self, name: str) -> Field | None:
        """The field of this name."""
        return next((each for each in self.fields if each.name == name), None)


def draft_of(memory: Memory, fields: Sequence[Field], *, versioned: bool) -> Draft:
    """The draft of an untouched memory."""
    shown = tuple(each for each in fields if each.name in LETTERS)
    text = clean(memory.raw_text)
    own = {each.name: _own(memory, each.name) for each in shown} | {"text": text}
    return Draft(memory.id, shown, own, versioned=versioned, cleaned=text != memory.raw_text)


def put(draft: Draft, name: str, value: str, now_ms: int) -> Draft:
    """The draft with a new value; a value that makes no sense is refused with the reason in `trouble`."""
    if value == draft.own[name]:
        given = {key: kept for key, kept in draft.given.items() if key != name}
        return replace(draft, given=given, trouble="")
    each = draft.field(name)
    if each is not None:
        try:
            each.read(name, value, now_ms)
        except MemtuiError as error:
            return replace(draft, trouble=str(error))
    return replace(draft, given={**draft.given, name: value}, trouble="")


def turned(draft: Draft, name: str, steps: int, now_ms: int) -> Draft:
    """The draft with a field turned: numbers by steps of .05, words to the next one; no steps: as it was."""
    each = draft.field(name)
    if each is None:
        return draft
    if not steps:
        return put(draft, name, draft.own[name], now_ms)
    now = draft.value(name)
    if name in SHARES:
        number = float(now) if now else 0.5
        return put(draft, name, f"{min(1.0, max(0.0, round(number + steps * STEP, 4))):g}", now_ms)
    words = words_of(each)
    if not words:
        return draft
    at = words.index(now) + (1 if steps > 0 else -1) if now in words else 0
    return put(draft, name, words[at % len(words)], now_ms)


def _own(memory: Memory, name: str) -> str:
    if name == "pinned":
        return "yes" if memory.metadata_values.get("pinned") is True else "no"
    if name == "suppressed":
        return "yes" if memory.suppressed else "no"
    if name == "valid_until":
        until = memory.valid_until_ms
        return "never" if until is None else _date(until)
    if name == "agent":
        return str(memory.extra.get("agentId") or "")
    value = getattr(memory, name, None)
    return f"{value:g}" if isinstance(value, float) else str(value) if value is not None else ""


def _date(ms: int) -> str:
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="minutes")
    except (OverflowError, OSError, ValueError):
        return str(ms)
