"""The last line: up to eight keys of the focused panel, made from the key table."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget

from memtui.tui.keys import BY_ID, Key

MOST = 8
"""More than this is not read; the help overlay has the rest."""


class KeyBar(Widget):
    """Keys that work now, the most useful first; a click presses the key."""

    DEFAULT_CSS = """
    KeyBar { dock: bottom; height: 1; background: $background; color: $dim; }
    """
    auto_links = False

    def __init__(self) -> None:
        super().__init__()
        self._keys: list[tuple[Key, bool]] = []

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, screen: Screen[object]) -> None:
        found: dict[str, tuple[Key, bool]] = {}
        for active in screen.active_bindings.values():
            key = BY_ID.get(active.binding.id or "")
            if key is not None and key.bar:
                found.setdefault(key.id, (key, active.enabled))
        keys = sorted(found.values(), key=lambda pair: pair[0].bar)[:MOST]
        if keys != self._keys:
            self._keys = keys
            self.refresh()

    def on_resize(self, _: events.Resize) -> None:
        self.refresh()

    def render(self) -> Content:
        palette = _item(BY_ID["app.palette"], "^p", "commands" if self.size.width >= 100 else "")
        room = self.size.width - palette.cell_length - 2
        line = Content(" ")
        for key, enabled in self._keys:
            item = _item(key, key.caps.split(" ")[0], key.title, enabled)
            if line.cell_length + item.cell_length + 2 > room:
                break
            line = Content.assemble(line, item, "  ")
        gap = max(0, self.size.width - line.cell_length - palette.cell_length - 1)
        return Content.assemble(line, " " * gap, palette)


def _item(key: Key, cap: str, title: str, enabled: bool = True) -> Content:
    press = Style.from_meta({"@click": f"app.simulate_key('{key.keys.split(',')[0]}')"})
    text = Content.assemble((cap, "bold $key" if enabled else "$dim"), f" {title}" if title else "")
    return text.stylize(press) if enabled else text
