"""Keys that are pressed one after the other: "g g" is heard as one key."""

from __future__ import annotations

from collections.abc import Mapping


class Sequences:
    """Remembers the first key of a sequence until the next one arrives."""

    def __init__(self, known: Mapping[str, Mapping[str, str]]) -> None:
        self._known = known
        self.first = ""
        """The key that has been pressed, where more must follow."""

    @property
    def follow(self) -> Mapping[str, str]:
        """What can follow now: second key to the name of the sequence."""
        return self._known.get(self.first, {})

    def heard(self, key: str) -> str:
        """The name to act on: the sequence that `key` ends, nothing while more must follow, else `key` itself.

        A key that ends no sequence is heard alone, and the first one forgotten; Escape only forgets.
        """
        if self.first:
            name, self.first = self.follow.get(key), ""
            if name is not None or key == "escape":
                return name or ""
        if key in self._known:
            self.first = key
            return ""
        return key
