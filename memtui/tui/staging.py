"""The way of every change from a screen: planned in a thread, looked at, applied, told of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import on
from textual.widget import Widget

from memtui.engine import ChangeSet, MemtuiError, Outcome, RefusedError
from memtui.tui.host import host
from memtui.tui.messages import Flash, FlashKind, RunFailed, RunFinished
from memtui.tui.paint.numbers import full, plural
from memtui.tui.runner import Report, Runner
from memtui.tui.widgets.flash import FlashLine

if TYPE_CHECKING:
    from memtui.engine import CancelToken, Engine, RecallEffect
    from memtui.tui.dialogs.preview import Answer

PLAN, APPLY = "plan", "apply"
SLOW_S = 0.4
"""A plan that is there sooner needs no word that it is being made."""
_DONE = {"undo": "taken back", "redo": "made again", "restore": "brought back"}
_DONE |= {"merge": "merged", "forget": "forgotten"}

Make = Callable[["Engine"], "ChangeSet | tuple[ChangeSet, Sequence[str]]"]
"""Plans a change, in a thread; perhaps with sentences to say beside it."""
Force = Callable[["Engine", Collection[str]], ChangeSet]
"""Plans it again, over these memories also where another program changed them."""
Write = Callable[["Engine", ChangeSet, bool], Outcome]
"""Writes the agreed plan, in a thread; the flag says that a person agreed to what has to be agreed to."""


@dataclass(frozen=True, slots=True)
class _Stage:
    engine: Engine
    make: Make
    force: Force | None
    write: Write
    then: Callable[[Outcome], None] | None
    edit: Callable[[], None] | None
    failed: Callable[[MemtuiError], None] | None


def _apply(engine: Engine, planned: ChangeSet, confirmed: bool) -> Outcome:
    return engine.curate.apply(planned, confirmed=confirmed)


def _effect(engine: Engine, planned: ChangeSet, cancel: CancelToken, report: Report) -> RecallEffect:
    """What the change does to the saved cases and the last questions of this store."""
    from memtui.engine import CaseBook, History
    from memtui.paths import questions_file, store_state_dir

    cases = CaseBook(store_state_dir(engine.info.uri) / "cases.json").cases()
    history = History(questions_file())
    return engine.lab.effect(planned, cases, history, on_progress=report, cancel=cancel)


class Staging(Widget):
    """One for each screen (`Frame.staging`), without anything to see: `stage` a change and it does the rest.

    A refusal, an empty plan and a failure end in words on the flash line. After a change is written the session
    is read anew and `then` is called.
    """

    DEFAULT_CSS = "Staging { display: none; }"

    def __init__(self, undo: str = "") -> None:
        super().__init__()
        self._runner = Runner(self)
        self._stage: _Stage | None = None
        self._undo = undo

    # what a screen calls

    @property
    def forbidden(self) -> str:
        """Why nothing can be changed now, with what to do; empty when it can."""
        engine = host(self).session.engine
        if engine is None:
            return "No store is open."
        if self._runner.busy(APPLY):
            return "A change is being written."
        reason = engine.read_only_because
        if not reason:
            return ""
        locked = engine.curate.access.verdict == "read-only"
        return reason if locked else f"{reason} Start memtui with --rw to change it."

    def able(self) -> bool:
        """Whether something can be changed now; else why not is said."""
        if why := self.forbidden:
            self._say(f"Nothing was changed. {why}", "error")
        return not why

    def stage(
        self,
        make: Make,
        *,
        force: Force | None = None,
        write: Write = _apply,
        then: Callable[[Outcome], None] | None = None,
        edit: Callable[[], None] | None = None,
        failed: Callable[[MemtuiError], None] | None = None,
    ) -> None:
        """Plan a change with `make`, show it, write it with `write` when the person agrees, then call `then`.

        `force` plans over what other programs changed (undo, redo). `edit` reopens what the plan was made from,
        when the preview is closed; `failed` takes an error in place of the flash line.
        """
        engine = host(self).session.engine
        if not self.able() or engine is None:
            return
        self._stage = _Stage(engine, make, force, write, then, edit, failed)
        self._plan(make)

    def undo(self, entry: int | None = None) -> None:
        """Take back an entry of the journal, the last one when none is named."""
        self.stage(
            lambda engine: engine.curate.undo(entry),
            force=lambda engine, ids: engine.curate.undo(entry, forced=ids),
        )

    def redo(self, entry: int | None = None) -> None:
        """Make again what was taken back, the last one when none is named."""
        self.stage(
            lambda engine: engine.curate.redo(entry),
            force=lambda engine, ids: engine.curate.redo(entry, forced=ids),
        )

    def stop(self) -> bool:
        """Give up a plan that is being made; False when there was none."""
        if not self._runner.busy(PLAN):
            return False
        self._runner.cancel(PLAN)
        self._say("Stopped; nothing was changed.", "note")
        return True

    # planning

    def on_unmount(self) -> None:
        self._runner.cancel_all()

    def _say(self, text: str, kind: FlashKind = "done") -> None:
        self.post_message(Flash(text, kind))

    def _plan(self, make: Make) -> None:
        stage = self._stage
        assert stage is not None
        number = self._runner.start(PLAN, lambda token, report: make(stage.engine))
        self.set_timer(
            SLOW_S, lambda: self._slow(PLAN, number, "working out the change; {browse.clear-filter} stops it")
        )

    def _slow(self, slot: str, number: int, text: str) -> None:
        if self._runner.busy(slot, number):
            self._say(text, "note")

    @on(RunFinished)
    def _finished(self, message: RunFinished) -> None:
        message.stop()
        if not self._runner.done(message) or self._stage is None:
            return
        if message.slot == APPLY:
            self._written(message.value)
        elif self._stage.engine is host(self).session.engine:
            planned, notes = message.value if isinstance(message.value, tuple) else (message.value, ())
            self._planned(planned, notes)

    @on(RunFailed)
    def _failed(self, message: RunFailed) -> None:
        from memtui.engine import ConflictError

        message.stop()
        if not self._runner.done(message):
            return
        stage, error = self._stage, message.error
        if message.slot == APPLY and isinstance(error, ConflictError) and stage is not None:
            self._show(replace(self._agreed, conflicts=error.conflicts), ())
        elif stage is not None and stage.failed is not None:
            stage.failed(error)
        else:
            self._say(str(error), "error")

    def _planned(self, planned: ChangeSet, notes: Sequence[str]) -> None:
        self.screen.query_one(FlashLine).dismiss()
        if planned.changes or planned.conflicts or planned.purges:
            self._show(planned, notes)
        elif planned.undoes is not None or (self._stage is not None and self._stage.write is not _apply):
            self._write(planned, confirmed=False)  # only the journal has to learn of it
        else:
            self._say("It is so already; nothing was changed.", "note")

    # agreeing and writing

    def _show(self, planned: ChangeSet, notes: Sequence[str]) -> None:
        from memtui.tui.dialogs.preview import Preview

        stage = self._stage
        assert stage is not None
        access = stage.engine.curate.access
        stop = access.reason if access.verdict == "confirm" else ""
        engine = stage.engine
        preview = Preview(
            planned,
            notes=[note for note in (*notes, access.warning) if note],
            stop_agent=stop,
            forcible=stage.force is not None,
            effect=None if planned.conflicts else partial(_effect, engine),
            way_out="back to the editor" if stage.edit is not None else "change nothing",
        )
        self.app.push_screen(preview, self._answered)

    def _answered(self, answer: Answer | None) -> None:
        stage = self._stage
        if stage is None:
            return
        if answer is None and stage.edit is not None:
            stage.edit()
        elif answer is None:
            self._say("Nothing was changed.", "note")
        elif answer.what == "force":
            self._plan(self._again(stage, [each.id for each in answer.change_set.conflicts]))
        else:
            agreed = answer.change_set
            self._write(agreed, confirmed=answer.confirmed or agreed.destroys)

    @staticmethod
    def _again(stage: _Stage, over: Sequence[str]) -> Make:
        """The plan made anew on the newest version: what was changed there meanwhile is changed by it."""
        force = stage.force
        if force is not None:
            return lambda engine: force(engine, over)

        def make(engine: Engine) -> Any:
            engine.curate.catch_up()
            return stage.make(engine)

        return make

    def _write(self, planned: ChangeSet, *, confirmed: bool) -> None:
        stage = self._stage
        assert stage is not None
        self._agreed = planned
        number = self._runner.start(
            APPLY, lambda token, report: stage.write(stage.engine, planned, confirmed)
        )
        self.set_timer(SLOW_S, lambda: self._slow(APPLY, number, "writing the change"))

    def _written(self, outcome: Outcome) -> None:
        stage = self._stage
        assert stage is not None
        if outcome.entry is None and outcome.conflicts:
            why = RefusedError(
                outcome.conflicts[0].sentence, fix="Press {app.reload} to see what is there now."
            )
            self._say(str(why), "error")
            return
        if stage.then is not None:
            stage.then(outcome)
        host(self).take("changed", self._told(outcome))

    def _told(self, outcome: Outcome) -> str:
        """The flash line of a written change: what, its entry, how it is taken back, what is new to know."""
        if outcome.entry is None:
            return "Nothing had to be written; the journal knows it now."
        done = f"{plural(outcome.changed, 'memory', 'memories')} {_DONE.get(outcome.action, 'changed')}"
        undone = outcome.action == "undo"
        id = self._undo or "browse.undo"
        cap = host(self).keys.cap(id.replace("undo", "redo") if undone else id)
        where = "" if self._undo else " in Browse"
        back = f"{cap}{where} {'makes it again' if undone else 'takes it back'}"
        new = [each for each in outcome.warnings if each not in self._agreed.warnings]
        known = host(self).session.engine
        heard = known.curate.access.warning if known is not None else ""
        told = [each for each in new if each != heard]
        return f"{done} (entry {full(outcome.entry)}); {back}" + (f"   {told[0]}" if told else "")
