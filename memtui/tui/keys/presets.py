"""Sets of keys to start from: what a preset adds to the table, takes away, and binds otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from memtui.tui.keys.key import Key


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

    def table(self, default: Iterable[Key]) -> tuple[Key, ...]:
        """The table with this preset's keys."""
        return tuple(self._key(key) for key in default)

    def _key(self, key: Key) -> Key:
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
            "list.mark-range": "v,V",
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
        actions={"undo": "u,ctrl+z,ctrl+underscore,ctrl+x u"},
        keys={
            "app.palette": "alt+x,colon",
            "app.quit": "q,ctrl+q,ctrl+x ctrl+c",
        },
    ),
}
