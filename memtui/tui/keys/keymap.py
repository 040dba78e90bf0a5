"""The keys that are in force: the table with a preset and a person's own changes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from memtui.tui.keys.key import Key, sequence_name

_PLACE = re.compile(r"\{([a-z]+\.[a-z-]+)\}")
"""Where a hint names an action; its key is put there."""


@dataclass(frozen=True)
class Keymap:
    """Every action by its id, with the keys in force; `problems` is what could not be used, to be said once."""

    table: tuple[Key, ...]
    default: tuple[Key, ...]
    preset: str = "default"
    problems: tuple[str, ...] = field(default=())

    @cached_property
    def by_id(self) -> Mapping[str, Key]:
        """The actions."""
        return {key.id: key for key in self.table}

    @cached_property
    def changed(self) -> Mapping[str, str]:
        """Textual's keymap: the ids whose keys differ from the table, with what Textual is to bind."""
        own = {key.id: key.bound for key in self.default}
        return {key.id: key.bound for key in self.table if key.bound != own[key.id]}

    @cached_property
    def sequences(self) -> Mapping[str, Mapping[str, str]]:
        """First key to second key to the name under which the sequence is bound."""
        found: dict[str, dict[str, str]] = {}
        for key in self.table:
            for each in key.each:
                first, _, second = each.partition(" ")
                if second:
                    found.setdefault(first, {})[second] = sequence_name(each)
        return found

    def cap(self, id: str) -> str:
        """How the key of an action is printed; where none does it, its name in the palette; else the id."""
        key = self.by_id.get(id)
        return id if key is None else key.cap or f"palette: {key.title}"

    def words(self, hint: str) -> str:
        """A hint with the keys in force: "{browse.undo} takes it back" is "u takes it back"."""
        return _PLACE.sub(lambda found: self.cap(found[1]) if found[1] in self.by_id else found[0], hint)

    def letters(self, choices: Sequence[tuple[str, str]], *contexts: str) -> tuple[str, ...]:
        """The letter that takes each of `choices`, pairs of what is wanted and a label; empty where there is none.

        Wanted is a letter, or the id of the action that the choice stands for, whose letter in force it gets. What
        has a key in one of `contexts` keeps it: the choice gets the first free letter of its label.
        """
        held = {each: key.id for key in self.table if key.context in contexts for each in key.each}
        found = [""] * len(choices)

        def give(at: int, letters: Sequence[str]) -> None:
            wanted = choices[at][0]
            free = (each for each in letters if each not in found and held.get(each, wanted) == wanted)
            found[at] = found[at] or next(free, "")

        for at, (wanted, _) in enumerate(choices):
            own = self.key(wanted)
            give(at, [wanted] if own is None else [each for each in own.each if len(each) == 1])
        for at, (wanted, label) in enumerate(choices):
            give(
                at, [each for each in label.casefold() if each.isascii() and each.isalpha()] if wanted else ()
            )
        return tuple(found)

    def key(self, id: str | None) -> Key | None:
        """The action of this id, None where the table does not have it."""
        return self.by_id.get(id or "")
