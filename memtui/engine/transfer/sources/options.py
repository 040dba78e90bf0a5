"""What a reader is told beside the place of its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


class _Tells(Protocol):
    def tell(self) -> int: ...


class ReadProgress:
    """How much of a source has been read, for a progress bar; bytes of files, or files of a folder."""

    def __init__(self) -> None:
        self.total = 0
        self._before = 0
        self._handle: _Tells | None = None
        self._repeated: dict[str, None] = {}

    def repeat(self, key: str) -> None:
        """An object of the source has `key` more than once."""
        self._repeated[key] = None

    def repeated(self) -> tuple[str, ...]:
        """The keys that were repeated since this was last asked."""
        found, self._repeated = tuple(self._repeated), {}
        return found

    def watch(self, handle: _Tells) -> None:
        """From now on this file is being read."""
        self._handle = handle

    def add(self, amount: int) -> None:
        """Count `amount` as read, whatever the open file says."""
        self._handle = None
        self._before += amount

    @property
    def done(self) -> int:
        """How much has been read of `total`."""
        try:
            at = self._handle.tell() if self._handle else 0
        except (OSError, ValueError):
            at = 0
        return min(self.total, self._before + at) if self.total else self._before + at


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """`now_ms` bounds plausible times. `mapping` says which column is which: role to column name.

    `agent` is the agent that a source belongs to where it does not say so itself.
    """

    now_ms: int
    mapping: Mapping[str, str] | None = None
    encoding: str | None = None
    agent: str | None = None
    prose: bool = False
    """Take paragraphs of notes too, not only list entries."""
    sessions: bool = False
    """Take chunks of conversations out of an index too."""
    whole: tuple[str, frozenset[str]] | None = None
    """Dialect and columns of a table that rows of the same form go into as they are: less of them is read."""
    meter: ReadProgress = field(default_factory=ReadProgress, compare=False)
