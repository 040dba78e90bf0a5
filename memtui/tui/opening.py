"""From a target to an engine that knows its rows: everything that happens on the opening thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from memtui.engine import CancelToken, Progress

if TYPE_CHECKING:
    from memtui.engine import Engine, StoreInfo

Clock = Callable[[], int]


@dataclass(frozen=True, slots=True)
class Found:
    """The store is open; rows can be listed."""

    engine: Engine
    info: StoreInfo


@dataclass(frozen=True, slots=True)
class NothingFound:
    """No target was given and discovery knows no store."""

    looked_at: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """Tiers, states and counters are known too."""

    info: StoreInfo
    stats: Any


class Opener(Protocol):
    """Opens a target (None: whatever discovery finds). Raises `MemtuiError`."""

    def __call__(
        self, target: str | None, now: Clock, report: Callable[[Progress], None], cancel: CancelToken
    ) -> Engine | NothingFound: ...


def open_target(
    target: str | None, now: Clock, report: Callable[[Progress], None], cancel: CancelToken
) -> Engine | NothingFound:
    """The opener of the real app: demo store, path, URI, discovered name, or the discovered store."""
    from memtui.engine import open_engine

    return open_engine(target, now=now)


def default_now() -> int:
    """Milliseconds since the epoch."""
    import time

    return time.time_ns() // 1_000_000
