"""Which memories are marked: ids, in the order in which they were marked, and one end of a range."""

from __future__ import annotations

from collections.abc import Iterable


class Marks:
    """Marks stay while the filter changes; they go when the store does."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self.anchor: int | None = None
        """The row where a range begins, while its other end is not chosen."""

    def __contains__(self, memory: str) -> bool:
        return memory in self._ids

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> tuple[str, ...]:
        """The marked ids."""
        return tuple(self._ids)

    def toggle(self, memory: str) -> None:
        """Mark, or take the mark away."""
        self.invert((memory,))

    def add(self, memories: Iterable[str]) -> None:
        """Mark all of these."""
        self._ids.update(dict.fromkeys(memories))

    def invert(self, memories: Iterable[str]) -> None:
        """Of these, the marked lose their mark and the others get one."""
        for each in memories:
            if each in self._ids:
                del self._ids[each]
            else:
                self._ids[each] = None

    def between(self, row: int, cursor: int) -> bool:
        """Whether this row is in the range that is being chosen."""
        return self.anchor is not None and min(self.anchor, cursor) <= row <= max(self.anchor, cursor)

    def clear(self) -> bool:
        """No marks and no range; False when there were none."""
        had = bool(self._ids) or self.anchor is not None
        self._ids.clear()
        self.anchor = None
        return had
