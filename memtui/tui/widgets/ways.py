"""The last line of a dialog: what can be done now, each with its key; a click presses the key."""

from __future__ import annotations

from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from memtui.tui.host import host

Way = tuple[str, str]
"""The id of an action (empty: only words), and the words beside its key."""


class Ways(Static):
    """One line of ways out."""

    DEFAULT_CSS = "Ways { height: 1; color: $key; }"

    def say(self, *ways: Way) -> None:
        """Show these ways."""
        parts, by_id = [], host(self).keys.by_id
        for id, words in ways:
            key = by_id.get(id)
            content = Content(f"{key.cap} {words}" if key else words)
            press = Style.from_meta({"@click": f"app.simulate_key('{key.press}')"} if key else {})
            parts.append(content.stylize(press) if key else content)
        self.update(Content.assemble(" ", Content("   ").join(parts)))
