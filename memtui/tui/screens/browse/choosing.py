"""What is to be changed, and to what: a field, then a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.app import App
from textual.screen import ModalScreen

from memtui.engine import Field, Memory
from memtui.tui.dialogs.ask import Ask
from memtui.tui.dialogs.pick import Option, Pick

LETTERS = {
    "scope": "s",
    "category": "g",
    "importance": "i",
    "agent": "n",
    "tier": "t",
    "confidence": "c",
    "state": "a",
    "layer": "l",
    "pinned": "p",
    "suppressed": "u",
    "valid_until": "e",
}
"""The fields that are set to one value for many memories, and the letter that takes each at once."""
_YES_NO = ("yes", "no")
_WORDS = ("category", "tier", "state", "layer")


def field_options(fields: Sequence[Field]) -> list[Option]:
    """The fields that memories of this store have, as choices."""
    names = {"valid_until": "valid until"}
    return [
        Option(each.name, names.get(each.name, each.name), each.takes, LETTERS[each.name])
        for each in fields
        if each.name in LETTERS
    ]


def words_of(field: Field) -> tuple[str, ...]:
    """The values of a field that has only a few; empty for one that takes any."""
    if field.name == "pinned":
        return _YES_NO
    return tuple(field.takes.split(", ")) if field.name in _WORDS else ()


def choose_change(
    app: App[None], title: str, fields: Sequence[Field], one: Memory | None, then: Callable[[str, str], None]
) -> None:
    """Ask for a field and its new value, then call `then(field, value)`; `one` lends its present values."""
    by_name = {each.name: each for each in fields}

    def value(name: str | None) -> None:
        if name is None:
            return

        def taken(given: str | None) -> None:
            if given is not None:
                then(name, given)

        app.push_screen(_value_dialog(f"{title}: {name}", by_name[name], one), taken)

    app.push_screen(Pick(title, field_options(fields)), value)


def _value_dialog(title: str, field: Field, one: Memory | None) -> ModalScreen[str | None]:
    now = getattr(one, field.name, None)
    present = f"{now:g}" if isinstance(now, float) else str(now) if isinstance(now, str) else ""
    words = words_of(field)
    if words:
        return Pick(title, [Option(word, word) for word in words], present)
    return Ask(title, f"Takes {field.takes}.", present)
