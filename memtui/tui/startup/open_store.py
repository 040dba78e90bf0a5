"""The life of the app's store: looking, opening, reading, watching for other writers, reloading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from memtui.demo_store import DEMO, agents_environ, demo_store, is_demo
from memtui.engine import CancelToken, MemtuiError, Progress, counted, one_line
from memtui.tui.calls import EngineCalls, Report
from memtui.tui.change_request import ChangeRequests
from memtui.tui.messages import RunAdvanced, RunFailed, RunFinished
from memtui.tui.session import Session

if TYPE_CHECKING:
    from memtui.engine import Engine, StoreInfo
    from memtui.tui.startup.session_app import SessionApp


# From a target to an engine that knows its rows: everything that happens on the opening thread.

Clock = Callable[[], int]


@dataclass(frozen=True, slots=True)
class FoundStores:
    """The store is open; rows can be listed."""

    engine: Engine
    info: StoreInfo
    early: bool = False
    """Whether only what was written last can be listed yet."""


@dataclass(frozen=True, slots=True)
class Listed:
    """After a first page of a store far away: all of its rows can be listed."""

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
class StoreRead:
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

    return RealOpener(environ, cwd, options)


@dataclass(frozen=True, slots=True)
class RealOpener:
    """The opener of the real app; see `opener`."""

    environ: Mapping[str, str]
    cwd: Path
    options: Mapping[str, Any]

    def place_of(self, target: str) -> str:
        """The address of a store far away that the settings know by this name, else `target`; nothing is read."""
        settings = self.options.get("settings")
        profiles = settings.storage if settings is not None else ()
        return next((profile.uri for profile in profiles if profile.name == target and profile.uri), target)

    def __call__(
        self, target: str | None, now: Clock, report: Callable[[Progress], None], cancel: CancelToken
    ) -> Engine | NothingFound | SeveralFound:
        """Open; called on a worker thread."""
        from memtui.engine import open_engine
        from memtui.paths import state_dir

        environ, cwd, options = self.environ, self.cwd, self.options
        given = {"state": state_dir(environ), "environ": environ, **options}
        if is_demo(target, environ):
            target = str(demo_store(now(), environ, report)) if target == DEMO else target
            own = agents_environ(target, environ)
            given |= {"writable": True, "environ": own, "state": state_dir(own)}
        elif target is None:
            unsure = _look(environ, cwd, options.get("settings"))
            if unsure is not None:
                return unsure
        return open_engine(target, now=now, cwd=cwd, **given)


def _look(environ: Mapping[str, str], cwd: Path, settings: Any) -> NothingFound | SeveralFound | None:
    """What to say instead of opening, when discovery does not know exactly one store."""
    from memtui.engine.discovery import discover, resolve_target

    if settings is not None and settings.store.strip():
        return None
    found = discover(environ, cwd=cwd)
    stores = found.stores or tuple(index for index in found.indexes if index.active)
    if not stores:
        return NothingFound(tuple(str(place) for place in found.looked_at))
    try:
        resolve_target(None, None, environ, cwd)
    except MemtuiError as error:
        if len(stores) == 1:
            raise
        return SeveralFound(error.message, tuple((store.name, store.path, store.why) for store in stores))
    return None


def _make_store(place: str) -> None:
    """An empty store of memtui's own, with vectors of the bundled model."""
    from memtui.engine.discovery import create_empty, new_place
    from memtui.engine.transfer import BUNDLED_DIMS

    folder, options = new_place(place, (), Path.cwd())
    create_empty(folder, BUNDLED_DIMS, options)


def default_now() -> int:
    """Milliseconds since the epoch."""
    import time

    return time.time_ns() // 1_000_000


WATCH_S = 4.0
"""Asking a table for its newest version lists one directory; slower would feel stale, faster is waste."""

REMOTE_LOOKS = 2
"""On object storage each look is a request, that costs money and time: every so many of them is left to do."""


def newer_words(rows: int | None, cap: str) -> str:
    """What another writer has changed, in words: so many rows more, or fewer; `cap` is the key that reads it.

    None: not a row, but the agent's configuration.
    """
    if rows is None:
        return f"configuration changed, press {cap}"
    what = f"{rows:,} new" if rows > 0 else f"{-rows:,} gone" if rows else "changed"
    return f"{what}, press {cap}"


class StoreOpener:
    """Opens and reloads the store in a thread, and writes what it learns into the app's session."""

    def __init__(self, app: SessionApp, opener: Opener, now: Clock) -> None:
        self._app, self._opener, self._now = app, opener, now
        self._runner = EngineCalls(app)
        self._reloading = False
        self._said = ""
        self._looks = 0

    def open(self, target: str | None, *, make: bool = False) -> None:
        """Open `target`; None means whatever discovery finds. `make`: make an empty store of memtui's own there."""

        before = self._app.session.engine

        def work(token: CancelToken, report: Report) -> Any:
            if before is not None:
                before.close()  # not on the event loop: it may have to wait for a change that is being written
            if make and target is not None:
                _make_store(target)
            engine = self._opener(target, self._now, report, token)
            if isinstance(engine, NothingFound | SeveralFound):
                return engine
            if engine.is_remote:
                report(Progress("what was written last", 0, 0))
            early = engine.is_remote and engine.load_first_page()
            if early:
                report(FoundStores(engine, engine.info, early=True))
            engine.load_catalog(report, token)
            report(Listed(engine.info) if early else FoundStores(engine, engine.info))
            engine.load_metadata(report, token)
            return StoreRead(engine.info, engine.stats())

        self._reloading = False
        self._runner.cancel("watch")
        app = self._app
        app.set_session(
            **self._beginning(target),
            engine=None,
            info=None,
            stats=None,
            error=None,
            progress=None,
            early=False,
            newer="",
            staged=0,
            revision=app.session.revision + 1,
        )
        self._runner.start("store", work)

    def first(self, target: str | None) -> Session:
        """What is known before anything was done: the first frame says what is opened."""
        return Session(**self._beginning(target))

    def _beginning(self, target: str | None) -> dict[str, Any]:
        place = self._opener.place_of(target) if target and isinstance(self._opener, RealOpener) else target
        return {
            "phase": "opening" if target else "looking",
            "target": one_line(target or ""),
            "place": one_line(place or ""),
        }

    def reload(self, said: str = "") -> None:
        """Read the newest version of the open store; the old content stays until the new is there.

        `said` is told at the end: what was just changed. Empty: what the reload brought.
        """
        engine = self._app.session.engine
        if engine is None:
            return

        def work(token: CancelToken, report: Report) -> Any:
            engine.refresh(report, token)
            return StoreRead(engine.info, engine.stats())

        self._reloading, self._said = True, said
        self._runner.cancel("watch")  # what it saw is read now: told afterwards it would be false
        self._app.set_session(phase="reading", error=None)
        self._runner.start("store", work)

    def watch(self) -> None:
        """Ask, off the event loop, whether another writer has changed the store."""
        session = self._app.session
        engine = session.engine
        if engine is None or session.phase != "ready" or session.newer or self._runner.busy("watch"):
            return
        if self._writing:
            return
        self._looks += 1
        if engine.is_remote and self._looks % REMOTE_LOOKS:
            return
        self._runner.start("watch", lambda token, report: (engine.newer(session.info), engine.reconfigured))

    @property
    def _writing(self) -> bool:
        """Whether a change of ours is on its way: what is new in the table may be its own."""
        frame = self._app.frame  # one that is being put together has no change requests yet
        return frame is not None and any(each.working for each in frame.query(ChangeRequests))

    def advanced(self, message: RunAdvanced) -> None:
        """A step of opening or reading."""
        if not self._runner.is_current(message):
            return
        value = message.value
        if isinstance(value, FoundStores):
            self._app.set_session(
                phase="reading",
                engine=value.engine,
                info=value.info,
                progress=None,
                early=value.early,
                revision=self._app.session.revision + 1,
            )
        elif isinstance(value, Listed):
            self._app.set_session(
                info=value.info, progress=None, early=False, revision=self._app.session.revision + 1
            )
        elif isinstance(value, Progress):
            self._app.set_session(progress=value)

    def finished(self, message: RunFinished) -> None:
        """The end of opening, reading, reloading or watching."""
        if not self._runner.done(message):
            return
        value, app = message.value, self._app
        if message.slot == "watch":
            rows, reconfigured = value
            if (rows is not None or reconfigured) and not self._writing:
                app.set_session(newer=newer_words(rows, app.keys.cap("app.reload")))
        elif isinstance(value, NothingFound):
            app.set_session(phase="none", looked_at=value.looked_at, choices=(), why="", progress=None)
        elif isinstance(value, SeveralFound):
            app.set_session(phase="none", choices=value.stores, why=value.why, progress=None)
        elif isinstance(value, StoreRead):
            before = app.session.info if self._reloading else None
            self._reloading = False
            app.set_session(
                phase="ready",
                info=value.info,
                stats=value.stats,
                progress=None,
                early=False,
                newer="",
                revision=app.session.revision + 1,
            )
            if before is None:
                app.store_opened()
            else:
                engine = app.session.engine
                app.say(self._said or _difference(value.info.rows - before.rows))
                if engine is not None and engine.elsewhere:
                    place = one_line(engine.elsewhere)
                    app.say(f"the configuration now means another store: {place}", "note")

    def failed(self, message: RunFailed) -> None:
        """Opening failed: every screen says so. Reloading failed: the old content stays, a line says why."""
        if not self._runner.done(message) or message.slot == "watch":
            return
        app = self._app
        if app.session.engine is None:
            app.set_session(phase="failed", error=message.error, progress=None)
        else:
            app.set_session(phase="ready", progress=None)
            app.fail(message.error)

    def close(self) -> None:
        """Stop whatever runs, and let go of the store."""
        self._runner.cancel_all()
        if self._app.session.engine is not None:
            self._app.session.engine.close()


def _difference(rows: int) -> str:
    """What a reload brought, in words."""
    if rows > 0:
        return f"reloaded: {counted(rows, 'memory', 'memories')} more"
    return f"reloaded: {counted(-rows, 'memory', 'memories')} fewer" if rows else "reloaded"
