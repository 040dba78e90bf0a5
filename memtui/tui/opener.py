"""The life of the app's store: looking, opening, reading, watching for other writers, reloading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memtui.engine import CancelToken, Progress, one_line
from memtui.tui.messages import RunAdvanced, RunFailed, RunFinished
from memtui.tui.opening import Clock, Found, NothingFound, Opener, Read, SeveralFound
from memtui.tui.paint.numbers import plural
from memtui.tui.runner import Report, Runner

if TYPE_CHECKING:
    from memtui.tui.app import MemtuiApp

WATCH_S = 4.0
"""Asking a table for its newest version lists one directory; slower would feel stale, faster is waste."""


def newer_words(rows: int, cap: str) -> str:
    """What another writer has changed, in words: so many rows more, or fewer; `cap` is the key that reads it."""
    what = f"{rows:,} new" if rows > 0 else f"{-rows:,} gone" if rows else "changed"
    return f"{what}, press {cap}"


class StoreOpener:
    """Opens and reloads the store in a thread, and writes what it learns into the app's session."""

    def __init__(self, app: MemtuiApp, opener: Opener, now: Clock) -> None:
        self._app, self._opener, self._now = app, opener, now
        self._runner = Runner(app)
        self._reloading = False
        self._said = ""

    def open(self, target: str | None) -> None:
        """Open `target`; None means whatever discovery finds."""

        before = self._app.session.engine

        def work(token: CancelToken, report: Report) -> Any:
            if before is not None:
                before.close()  # not on the event loop: it may have to wait for a change that is being written
            engine = self._opener(target, self._now, report, token)
            if isinstance(engine, NothingFound | SeveralFound):
                return engine
            engine.load_catalog(report, token)
            report(Found(engine, engine.info))
            engine.load_metadata(report, token)
            return Read(engine.info, engine.stats())

        self._reloading = False
        app = self._app
        app.set_session(
            phase="opening" if target else "looking",
            target=one_line(target or ""),
            engine=None,
            info=None,
            stats=None,
            error=None,
            progress=None,
            newer="",
            staged=0,
            revision=app.session.revision + 1,
        )
        self._runner.start("store", work)

    def reload(self, said: str = "") -> None:
        """Read the newest version of the open store; the old content stays until the new is there.

        `said` is told at the end: what was just changed. Empty: what the reload brought.
        """
        engine = self._app.session.engine
        if engine is None:
            return

        def work(token: CancelToken, report: Report) -> Any:
            engine.refresh(report, token)
            return Read(engine.info, engine.stats())

        self._reloading, self._said = True, said
        self._app.set_session(phase="reading", error=None)
        self._runner.start("store", work)

    def watch(self) -> None:
        """Ask, off the event loop, whether another writer has changed the store."""
        session = self._app.session
        engine = session.engine
        if engine is None or session.phase != "ready" or session.newer or self._runner.busy("watch"):
            return
        self._runner.start("watch", lambda token, report: engine.newer())

    def advanced(self, message: RunAdvanced) -> None:
        """A step of opening or reading."""
        if not self._runner.is_current(message):
            return
        value = message.value
        if isinstance(value, Found):
            self._app.set_session(
                phase="reading",
                engine=value.engine,
                info=value.info,
                progress=None,
                revision=self._app.session.revision + 1,
            )
        elif isinstance(value, Progress):
            self._app.set_session(progress=value)

    def finished(self, message: RunFinished) -> None:
        """The end of opening, reading, reloading or watching."""
        if not self._runner.done(message):
            return
        value, app = message.value, self._app
        if message.slot == "watch":
            if value is not None:
                app.set_session(newer=newer_words(value, app.keys.cap("app.reload")))
        elif isinstance(value, NothingFound):
            app.set_session(phase="none", looked_at=value.looked_at, choices=(), why="", progress=None)
        elif isinstance(value, SeveralFound):
            app.set_session(phase="none", choices=value.stores, why=value.why, progress=None)
        elif isinstance(value, Read):
            before = app.session.info if self._reloading else None
            self._reloading = False
            app.set_session(
                phase="ready",
                info=value.info,
                stats=value.stats,
                progress=None,
                newer="",
                revision=app.session.revision + 1,
            )
            if before is None:
                app.store_opened()
            else:
                app.say(self._said or _difference(value.info.rows - before.rows))

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
        return f"reloaded: {plural(rows, 'memory', 'memories')} more"
    return f"reloaded: {plural(-rows, 'memory', 'memories')} fewer" if rows else "reloaded"
