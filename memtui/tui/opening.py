"""From a target to an engine that knows its rows: everything that happens on the opening thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from memtui.engine import CancelToken, MemtuiError, Progress

if TYPE_CHECKING:
    from memtui.engine import Engine, StoreInfo

Clock = Callable[[], int]
DEMO = "demo"


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
class SeveralFound:
    """No target was given and discovery knows more than one store; it never guesses."""

    why: str
    stores: tuple[tuple[str, str, str], ...]
    """Name, place and what discovery knows of it."""


@dataclass(frozen=True, slots=True)
class Read:
    """Tiers, states and counters are known too."""

    info: StoreInfo
    stats: Any


class Opener(Protocol):
    """Opens a target (None: whatever discovery finds). Raises `MemtuiError`."""

    def __call__(
        self, target: str | None, now: Clock, report: Callable[[Progress], None], cancel: CancelToken
    ) -> Engine | NothingFound | SeveralFound:
        """Open; called on a worker thread."""
        ...


def opener(environ: Mapping[str, str], cwd: Path, **options: Any) -> Opener:
    """The opener of the real app: a path, a URI, a discovered name, "demo", or the discovered store.

    `options` (settings, table, columns, writable) go to `open_engine`. The demo store is always writable.
    """

    def open_target(
        target: str | None, now: Clock, report: Callable[[Progress], None], cancel: CancelToken
    ) -> Engine | NothingFound | SeveralFound:
        from memtui.engine import open_engine
        from memtui.paths import state_dir

        given = {"state": state_dir(environ), **options}
        if target == DEMO:
            target = str(_demo_store(environ, now))
        if target is not None and _is_demo(target, environ):
            given["writable"] = True
        elif target is None:
            unsure = _look(environ, cwd, options.get("settings"))
            if unsure is not None:
                return unsure
        return open_engine(target, now=now, environ=environ, cwd=cwd, **given)

    return open_target


def _look(environ: Mapping[str, str], cwd: Path, settings: Any) -> NothingFound | SeveralFound | None:
    """What to say instead of opening, when discovery does not know exactly one store."""
    from memtui.engine.discovery import discover, resolve_target

    if settings is not None and settings.store.strip():
        return None
    found = discover(environ, cwd=cwd)
    if not found.stores:
        return NothingFound(tuple(str(place) for place in found.looked_at))
    try:
        resolve_target(None, None, environ, cwd)
    except MemtuiError as error:
        if len(found.stores) == 1:
            raise
        return SeveralFound(error.message, tuple((each.name, each.path, each.why) for each in found.stores))
    return None


def _demo_store(environ: Mapping[str, str], now: Clock) -> Path:
    """The folder of the demo store, made on first use."""
    from memtui.engine.demo import build_demo, demo_folder
    from memtui.paths import cache_dir

    return build_demo(demo_folder(cache_dir(environ)), now_ms=now())


def _is_demo(target: str, environ: Mapping[str, str]) -> bool:
    """Whether a target is the demo store's folder: it may be opened by its path, too, after a switch of tables."""
    from memtui.engine.demo import demo_folder
    from memtui.paths import cache_dir

    return target == str(demo_folder(cache_dir(environ)))


def default_now() -> int:
    """Milliseconds since the epoch."""
    import time

    return time.time_ns() // 1_000_000
