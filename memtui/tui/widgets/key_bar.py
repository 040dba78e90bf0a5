"""The last line: up to eight keys of the focused panel, made from the key table."""

from __future__ import annotations

from collections.abc import Mapping

from textual import events
from textual.content import Content
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget

from memtui.tui.host import host
from memtui.tui.keys import Key
from memtui.tui.keys.key import cap

MOST = 8
"""More than this is not read; the help overlay has the rest."""


class KeyBar(Widget):
    """The most useful keys that work now, then those that cannot; a click presses the key."""

    DEFAULT_CSS = """
    KeyBar { dock: bottom; height: 1; background: $background; color: $dim; }
    """
    auto_links = False

    def __init__(self) -> None:
        super().__init__()
        self._keys: list[tuple[Key, bool]] = []
        self._first = ""
        self._follow: Mapping[str, str] = {}

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, screen: Screen[object]) -> None:
        found: dict[str, tuple[Key, bool]] = {}
        keymap = host(self).keys
        for active in screen.active_bindings.values():
            key = keymap.key(active.binding.id)
            if key is not None and key.bar:
                found.setdefault(key.id, (key, active.enabled))
        keys = sorted(found.values(), key=lambda pair: (not pair[1], pair[0].bar))[:MOST]
        if keys != self._keys:
            self._keys = keys
            self.refresh()

    def begun(self, first: str, follow: Mapping[str, str]) -> None:
        """The first key of a sequence was pressed; an empty one: it is over."""
        if (first, follow) != (self._first, self._follow):
            self._first, self._follow = first, follow
            self.refresh()

    def on_resize(self, _: events.Resize) -> None:
        self.refresh()

    def render(self) -> Content:
        palette_key = host(self).keys.by_id["app.palette"]
        palette = _item(palette_key, palette_key.cap, "commands" if self.size.width >= 100 else "")
        room = self.size.width - palette.cell_length - 2
        line = Content(" ")
        if self._first:
            line = Content.assemble(line, (cap(self._first), "bold $primary"), "   ")
        for item in self._following() if self._first else self._usual():
            if line.cell_length + item.cell_length + 2 > room:
                break
            line = Content.assemble(line, item, "  ")
        gap = max(0, self.size.width - line.cell_length - palette.cell_length - 1)
        return Content.assemble(line, " " * gap, palette)

    def _usual(self) -> list[Content]:
        return [_item(key, key.cap, key.title, enabled) for key, enabled in self._keys]

    def _following(self) -> list[Content]:
        """What the second key of the sequence can be, where the keyboard is."""
        live = self.screen.active_bindings
        found = ((second, live.get(name)) for second, name in self._follow.items())
        pairs = ((second, active and host(self).keys.key(active.binding.id)) for second, active in found)
        return [_item(key, cap(second), key.title) for second, key in pairs if key]


def _item(key: Key, cap: str, title: str, enabled: bool = True) -> Content:
    press = Style.from_meta({"@click": f"app.simulate_key('{key.press}')"})
    text = Content.assemble((cap, "bold $key" if enabled else "$dim"), f" {title}" if title else "")
    return text.stylize(press) if enabled else text
