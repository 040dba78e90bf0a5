"""The keys that are in force: the table with a preset and a person's own changes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from memtui.tui.actions.action import Action, sequence_name

_PLACE = re.compile(r"\{([a-z]+\.[a-z-]+)\}")
"""Where a hint names an action; its key is put there."""


@dataclass(frozen=True)
class Keymap:
    """Every action by its id, with the keys in force; `problems` is what could not be used, to be said once."""

    table: tuple[Action, ...]
    default: tuple[Action, ...]
    preset: str = "default"
    problems: tuple[str, ...] = field(default=())

    @cached_property
    def by_id(self) -> Mapping[str, Action]:
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

    def pieces(self, hint: str) -> list[tuple[Action | None, str]]:
        """A hint as `words` has it, cut before each key: what a press on the piece does, and the piece."""
        found: list[tuple[Action | None, str]] = []
        key, at = None, 0
        for place in _PLACE.finditer(hint):
            found.append((key, self.words(hint[at : place.start()])))
            key, at = self.by_id.get(place[1]), place.start()
        return [*found, (key, self.words(hint[at:]))]

    def letters(self, choices: Sequence[tuple[str, str]], *contexts: str) -> tuple[str, ...]:
        """The letter that takes each of `choices`, pairs of what is wanted and a label; empty where there is none.

        Wanted is a letter, or the id of the action that the choice stands for, whose letter in force it gets. What
        has a key in one of `contexts` keeps it: the choice gets the first free letter of its label.
        """
        held = {each: key.id for key in self.table if key.context in contexts for each in key.each}
        found = [""] * len(choices)

        def give(at: int, letters: Sequence[str]) -> None:
            wanted = choices[at][0]
            free = (
                letter for letter in letters if letter not in found and held.get(letter, wanted) == wanted
            )
            found[at] = found[at] or next(free, "")

        for at, (wanted, _) in enumerate(choices):
            own = self.key(wanted)
            give(at, [wanted] if own is None else [each for each in own.each if len(each) == 1])
        for at, (wanted, label) in enumerate(choices):
            give(
                at, [each for each in label.casefold() if each.isascii() and each.isalpha()] if wanted else ()
            )
        return tuple(found)

    def key(self, id: str | None) -> Action | None:
        """The action of this id, None where the table does not have it."""
        return self.by_id.get(id or "")


# Sets of keys to start from: what a preset adds to the table, takes away, and binds otherwise.


@dataclass(frozen=True, slots=True)
class Preset:
    """A rule for the whole table, so that keys that are added to it later follow the preset too."""

    what: str
    instead: Mapping[str, str] = field(default_factory=dict)
    """Key to key: wherever the table has the first, the preset has the second; empty takes it away."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Key to key: whatever the first does, the second does too."""
    actions: Mapping[str, str] = field(default_factory=dict)
    """Actions by their name, whatever the context."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Whole ids, as in the table."""

    def table(self, default: Iterable[Action]) -> tuple[Action, ...]:
        """The table with this preset's keys."""
        return tuple(self._key(key) for key in default)

    def _key(self, key: Action) -> Action:
        whole = self.keys.get(key.id) or self.actions.get(key.action)
        if whole:
            return key.on(tuple(whole.split(",")))
        found = [self.instead.get(each, each) for each in key.each]
        found += [self.also[each] for each in key.each if each in self.also]
        return key.on(tuple(each for each in dict.fromkeys(found) if each))


PRESETS: dict[str, Preset] = {
    "default": Preset("single letters, arrows, and h j k l"),
    "vim": Preset(
        "default, with gg, g-sequences between the screens, ctrl+f and ctrl+b for pages, ZZ to quit",
        instead={"g": "g g"},
        also={"pagedown": "ctrl+f", "pageup": "ctrl+b"},
        actions={"redo": "U,ctrl+r"},
        keys={
            "app.go-home": "1,g h",
            "app.go-browse": "2,g b",
            "app.go-recall": "3,g r",
            "app.go-lifecycle": "4,g l",
            "app.go-transfer": "5,g t",
            "app.go-journal": "6,g j",
            "app.quit": "q,ctrl+q,Z Z",
            "list.tall": "T",
            "list.mark-range": "v,V",
            "capture.again": "X",
            "blame.again": "X",
        },
    ),
    "emacs": Preset(
        "default, with ctrl+n, ctrl+p, ctrl+v, ctrl+s and ctrl+g, alt+x for the palette, ctrl+x ctrl+c to quit",
        instead={"ctrl+p": "", "ctrl+n": "", "ctrl+f": "", "ctrl+b": ""},
        also={
            "down": "ctrl+n",
            "up": "ctrl+p",
            "left": "ctrl+b",
            "right": "ctrl+f",
            "pagedown": "ctrl+v",
            "pageup": "alt+v",
            "escape": "ctrl+g",
            "slash": "ctrl+s",
            "y": "alt+w",
            "space": "ctrl+@",
        },
        actions={"undo": "u,ctrl+underscore,ctrl+x u"},
        keys={
            "app.palette": "alt+x,colon",
            "app.quit": "q,ctrl+q,ctrl+x ctrl+c",
        },
    ),
}
