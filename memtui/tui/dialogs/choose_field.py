"""What is to be changed, and to what: a field, then a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.app import App

from memtui.engine import Memory
from memtui.engine.changes import Field
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.text_prompt import TextPrompt

LETTERS = {
    "scope": "s",
    "category": "g",
    "importance": "i",
    "importance_label": "m",
    "trust_tier": "r",
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

OTHER = ""
"""The choice of a scope that no memory has yet: it is typed."""

_MOST_SCOPES = 30

_YES_NO = ("yes", "no")

_WORDS = ("category", "importance_label", "tier", "state", "layer")


def field_options(fields: Sequence[Field]) -> list[Option]:
    """The fields that memories of this store have, as choices."""
    return [
        Option(field.name, field.name.replace("_", " "), field.takes, LETTERS[field.name])
        for field in fields
        if field.name in LETTERS
    ]


def words_of(field: Field) -> tuple[str, ...]:
    """The values of a field that has only a few; empty for one that takes any."""
    if field.name == "pinned":
        return _YES_NO
    return tuple(field.takes.split(", ")) if field.name in _WORDS else ()


def choose_change(
    app: App[None],
    title: str,
    fields: Sequence[Field],
    one: Memory | None,
    scopes: Sequence[str],
    then: Callable[[str, str], None],
    said: tuple[str, str] = ("", ""),
) -> None:
    """Ask for a field and its new value, then call `then(field, value)`; `one` lends its present values.

    What of both was `said` before is not asked again.
    """
    by_name = {field.name: field for field in fields}
    field, given = said
    if field in by_name and given:
        then(field, given)
        return

    def value(name: str | None) -> None:
        if name is not None:
            now = None if one is None else getattr(one, name, one.extra.get(name))
            present = f"{now:g}" if isinstance(now, float) else str(now) if isinstance(now, str) else ""
            present = _YES_NO[not now] if isinstance(now, bool) else present
            heading = f"{title}: {name.replace('_', ' ')}"
            choose_value(app, heading, by_name[name], present, scopes, lambda given: then(name, given))

    if field in by_name:
        value(field)
    else:
        app.push_screen(ChooseOne(title, field_options(fields)), value)


def choose_value(
    app: App[None],
    title: str,
    field: Field,
    present: str,
    scopes: Sequence[str],
    then: Callable[[str], None],
) -> None:
    """Ask for a new value of one field, then call `then(value)`; `scopes` are those to choose from."""

    def taken(given: str | None) -> None:
        if given is not None:
            then(given)

    def scope_taken(given: str | None) -> None:
        if given == OTHER:
            app.push_screen(TextPrompt(title, f"Takes {field.takes}", present), taken)
        else:
            taken(given)

    if field.name == "scope" and scopes:
        options = [Option(scope, scope) for scope in scopes[:_MOST_SCOPES]]
        options.append(Option(OTHER, "another scope", "type its name"))
        app.push_screen(ChooseOne(title, options, present), scope_taken)
    elif words := words_of(field):
        app.push_screen(ChooseOne(title, [Option(word, word) for word in words], present), taken)
    else:
        app.push_screen(TextPrompt(title, f"Takes {field.takes}", present), taken)
