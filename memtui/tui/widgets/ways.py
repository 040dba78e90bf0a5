"""The last line of a dialog: what can be done now, each with its key; a click presses the key."""

from __future__ import annotations

from textual.content import Content
from textual.style import Style
from textual.widgets import Static

Way = tuple[str, str]
"""The key as Textual names it (empty: only words), and the words, which begin with the key as people write it."""


class Ways(Static):
    """One line of ways out."""

    DEFAULT_CSS = "Ways { height: 1; color: $key; }"

    def say(self, *ways: Way) -> None:
        """Show these ways."""
        parts = []
        for key, words in ways:
            content = Content(words)
            click = Style.from_meta({"@click": f"app.simulate_key('{key}')"})
            parts.append(content.stylize(click) if key else content)
        self.update(Content.assemble(" ", Content("   ").join(parts)))
