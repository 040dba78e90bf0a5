"""Progress and cancellation for work that may take longer than a frame."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from memtui.engine.core.errors import Cancelled


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a piece of work is: `done` of `total` (0 when unknown) `unit`s of `what`."""

    what: str
    done: int
    total: int
    unit: str = "rows"

    @property
    def fraction(self) -> float:
        """Share done, 0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 0.0

    @property
    def fetches(self) -> bool:
        """Whether `what` says what comes over the network, which is worth reading in its own words."""
        return self.what.startswith("fetching ")


OnProgress = Callable[[Progress], None]


class CancelToken:
    """A flag that one thread sets and another looks at between two steps of its work."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask the work to stop at its next check."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise `Cancelled` when `cancel` was called."""
        if self._event.is_set():
            raise Cancelled
