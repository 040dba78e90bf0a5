"""The two lists of Mend: rows that can be marked, and the way from one to the other."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from memtui.tui.keys import bindings
from memtui.tui.widgets.built_rows import BuiltRows


class Finds(BuiltRows, inherit_bindings=False):
    """Rows built by a function; posts `Marked` and `Sideways`, the screen decides what they mean."""

    BINDINGS = bindings("finds")

    @dataclass
    class Marked(Message):
        """Mark the row under the cursor, or take its mark away."""

        rows: Finds

    @dataclass
    class Sideways(Message):
        """Go to the list on the right (+1) or on the left (-1)."""

        by: int

    @property
    def keys(self) -> list[str]:
        """The keys of the rows, from the first to the last."""
        return self._keys()

    def action_mark(self) -> None:
        if self.key:
            self.post_message(self.Marked(self))

    def action_right(self) -> None:
        self.post_message(self.Sideways(1))

    def action_left(self) -> None:
        self.post_message(self.Sideways(-1))
