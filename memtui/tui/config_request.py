"""Changing the agent's configuration from a screen: planned in a worker, shown whole, written, taken back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.message import Message
from textual.widget import Widget

from memtui.engine import MemtuiError, counted
from memtui.paths import state_dir
from memtui.tui.calls import EngineCalls
from memtui.tui.dialogs.config_preview import ConfigPreview, PlannedConfig
from memtui.tui.host import host
from memtui.tui.messages import Flash, FlashKind

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.configuration import ConfigDraft, ConfigRecord, Configuration


RESTART = "openclaw gateway restart"

PLAN, WRITE = "config-plan", "config-write"


Make = Callable[["Engine", "Configuration"], PlannedConfig]
"""Plans a change of the configuration; runs in a worker."""


def read_configuration(engine: Engine) -> Configuration:
    """The configuration that names the store, or the one of this environment; for a worker."""
    from memtui.engine.configuration import open_config

    known = engine.found.config if engine.found is not None else ""
    return open_config(engine.environ, Path.cwd(), path=Path(known) if known else None)


class ConfigRequests(Widget):
    """One for each screen that changes the configuration, without anything to see: `preview` does the rest."""

    DEFAULT_CSS = "ConfigRequests { display: none; }"

    class Written(Message):
        """The configuration was written or taken back: what was read of it before is old."""

        def __init__(self, undone: bool) -> None:
            super().__init__()
            self.undone = undone

    def __init__(self) -> None:
        super().__init__()
        self.runner = EngineCalls(self)

    def on_unmount(self) -> None:
        self.runner.cancel_all()

    def _say(self, text: str, kind: FlashKind = "done") -> None:
        self.post_message(Flash(text, kind))

    def _failed(self, error: MemtuiError) -> None:
        self._say(str(error), "error")

    def _engine(self) -> Engine | None:
        """The open store; else it is said that there is none."""
        engine = host(self).session.engine
        if engine is None:
            self._say("No store is open.", "error")
        return engine

    def preview(self, make: Make) -> None:
        """Plan a change with `make`, show it, write it when the person agrees."""
        engine = host(self).session.engine
        if engine is None:
            return
        self.runner.call(
            PLAN,
            lambda cancel, report: make(engine, read_configuration(engine)),
            self._show,
            failed=self._failed,
        )

    def _show(self, planned: PlannedConfig) -> None:
        from memtui.tui.dialogs.unlock import unlocked

        draft = planned.draft
        if not draft.changes:
            self._say("Nothing to change.", "note")
            return

        def answered(answer: str | None) -> None:
            if answer is not None:
                deed = f"change {counted(len(draft.changes), 'setting')}"
                unlocked(self, deed, lambda: self._write(draft, ask=answer == "ask"), show)

        def show() -> None:
            self.app.push_screen(ConfigPreview(planned), answered)

        show()

    def _write(self, draft: ConfigDraft, *, ask: bool) -> None:
        engine = self._engine()
        if engine is None:
            return
        environ, now_ms = engine.environ, engine.now_ms

        def work(cancel: Any, report: Any) -> ConfigRecord:
            from memtui.engine.configuration import run_checks, write_changes

            for result in run_checks(draft.checks) if ask else ():
                if not result.ok:
                    raise MemtuiError(
                        f"{result.purpose}: {result.sentence}.", fix=f"{result.remedy} Nothing was changed."
                    )
            return write_changes(
                draft.config, draft.changes, plan=draft.name, state=state_dir(environ), now_ms=now_ms
            )

        if ask:
            self._say(f'asking {", ".join(draft.hosts)} with the word "test"', "note")
        self.runner.call(WRITE, work, self._have_written, failed=self._failed)

    def _have_written(self, record: ConfigRecord) -> None:
        files = ", ".join(Path(file.path).name for file in record.files)
        self._read_again(
            f"{files} written, a backup beside it; you restart the gateway: {RESTART}", undone=False
        )

    def _read_again(self, said: str, *, undone: bool) -> None:
        """The open store goes by the new rules from now on, and every screen hears of it."""
        self.post_message(self.Written(undone))
        host(self).take("changed", said)

    def undo(self) -> None:
        """Take back the last write of this configuration, after a look at what goes back."""
        engine = self._engine()
        if engine is None:
            return

        def work(cancel: Any, report: Any) -> tuple[ConfigRecord, Sequence[str]]:
            from memtui.engine.configuration import last_record, written_difference

            record = last_record(state_dir(engine.environ), read_configuration(engine).main)
            return record, written_difference(record.files)

        self.runner.call(PLAN, work, lambda found: self._show_undo(*found), failed=self._failed)

    def _show_undo(self, record: ConfigRecord, lines: Sequence[str]) -> None:
        from memtui.tui.dialogs.unlock import unlocked

        def answered(answer: str | None) -> None:
            if answer is not None:
                unlocked(self, "take the settings back", lambda: self._take_back(record), show)

        def show() -> None:
            self.app.push_screen(ConfigPreview(None, record=record, difference=lines), answered)

        show()

    def _take_back(self, record: ConfigRecord) -> None:
        engine = self._engine()
        if engine is None:
            return
        environ, now_ms = engine.environ, engine.now_ms

        def work(cancel: Any, report: Any) -> Any:
            from memtui.engine.configuration import undo_write

            return undo_write(read_configuration(engine), record, state=state_dir(environ), now_ms=now_ms)

        def done(files: Any) -> None:
            self._read_again(f"undone; restart the gateway: {RESTART}", undone=True)

        self.runner.call(WRITE, work, done, failed=self._failed)
