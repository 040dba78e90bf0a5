"""The way of every change from a screen: planned in a thread, looked at, applied, told of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from textual import on
from textual.message import Message
from textual.widget import Widget

from memtui.engine import MemtuiError, RefusedError, changes, counted, explain
from memtui.tui.calls import EngineCalls, Report
from memtui.tui.host import host
from memtui.tui.messages import Flash, FlashKind, RunFailed, RunFinished
from memtui.tui.paint.numbers import full
from memtui.tui.widgets.screen_bars import FlashLine

if TYPE_CHECKING:
    from memtui.engine import CancelToken, Engine
    from memtui.engine.changes import ChangeSet, Outcome, RecallEffect
    from memtui.tui.dialogs.change_preview import ChangePreview, PreviewAnswer


# What a screen asks of its staging: how a change is planned, written, weighed, and what comes after.

Make = Callable[["Engine"], "ChangeSet | tuple[ChangeSet, Sequence[str]]"]
"""Plans a change, in a thread; perhaps with sentences to say beside it."""

Force = Callable[["Engine", Collection[str]], "ChangeSet"]
"""Plans it again, over these memories also where another program changed them."""

Keep = Callable[["Engine", str], "ChangeSet"]
"""Plans a merge again with this memory as the one that is kept."""

Write = Callable[["Engine", "ChangeSet", bool], "Outcome"]
"""Writes the agreed plan, in a thread; the flag says that a person agreed to what has to be agreed to."""


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """One change, from its plan to what is called when it is written."""

    engine: Engine
    make: Make
    force: Force | None
    write: Write
    then: Callable[[Outcome], None] | None
    edit: Callable[[], None] | None = None
    failed: Callable[[MemtuiError], None] | None = None
    collected: bool = False
    """It is everything that is staged; `amend` edits one memory of it."""
    amend: Callable[[str], None] | None = None
    preview: Callable[..., ChangePreview] | None = None
    """What shows it, where that is a dialog of its own kind."""
    keep: Keep | None = None
    """Plans it so that another of its memories is the one that stays."""


def _kept_by(keep: Keep, kept: str, engine: Engine) -> ChangeSet:
    return keep(engine, kept)


def commit(engine: Engine, planned: ChangeSet, confirmed: bool) -> Outcome:
    """Write a plan at once."""
    return changes.apply(engine, planned, confirmed=confirmed)


def commit_staged(engine: Engine, planned: ChangeSet, confirmed: bool) -> Outcome:
    """Write everything that is staged."""
    return changes.apply_staged(engine, planned, confirmed=confirmed)


def without_sending(engine: Engine, make: Make) -> tuple[ChangeSet, Sequence[str]]:
    """Plan a change for a look at it: no text leaves the machine, and the plan says what would; for a worker."""
    with engine.sending_nothing():
        planned, notes = _with_notes(make(engine))
        return replace(planned, unsent=engine.withheld), notes


def _with_notes(made: ChangeSet | tuple[ChangeSet, Sequence[str]]) -> tuple[ChangeSet, Sequence[str]]:
    return made if isinstance(made, tuple) else (made, ())


def effect_on_recall(
    engine: Engine, planned: ChangeSet, cancel: CancelToken, report: Report, *, send: bool = False
) -> RecallEffect:
    """What the change does to the saved cases and the last questions of this store.

    Questions go to a service only with `send`; else what would be sent stands in place of the answers.
    """
    if not send:
        with engine.sending_nothing():
            return effect_on_recall(engine, planned, cancel, report, send=True)
    from memtui.engine.cases import CaseBook
    from memtui.engine.explain import History
    from memtui.paths import cases_file, questions_file

    cases = CaseBook(cases_file(engine.info.uri)).cases()
    history = History(questions_file())
    return explain.effect_on_recall(
        engine, planned, cases, history, own_words=True, on_progress=report, cancel=cancel
    )


def effect_with_staged(
    engine: Engine, planned: ChangeSet, cancel: CancelToken, report: Report, *, send: bool = False
) -> RecallEffect:
    """The same of a plan that stands on top of what is staged: of both together."""
    both = replace(engine.write_state.staged.with_(planned), unsent=planned.unsent)
    return effect_of_staged(engine, both, cancel, report, send=send)


def effect_of_staged(
    engine: Engine, staged: ChangeSet, cancel: CancelToken, report: Report, *, send: bool = False
) -> RecallEffect:
    """The same of what has waited: of the table as it is by now, whose older versions may be gone."""
    return effect_on_recall(engine, replace(staged, version=engine.store.version), cancel, report, send=send)


def _of_the_table(planned: ChangeSet, id: str) -> bool:
    """Whether a memory of a plan is there already: the id of a new one is another with each plan."""
    return any(change.id == id and change.op != "add" for change in planned.changes)


def _as_agreed(made: ChangeSet, agreed: ChangeSet) -> bool:
    """Whether a plan with its vectors does what was looked at without them, and has nothing new to warn of."""
    same = [(change.op, change.group or change.id) for change in made.changes] == [
        (change.op, change.group or change.id) for change in agreed.changes
    ]
    return same and not made.conflicts and set(made.warnings) <= set(agreed.warnings)


def words_on_top(engine: Engine, planned: ChangeSet) -> str:
    """The sentence that the plan is about memories with staged changes; empty when it is not."""
    waiting = engine.write_state.staged.ops
    count = sum(change.id in waiting for change in planned.changes) if planned.undoes is None else 0
    said = "has a staged change" if count == 1 else "have staged changes"
    return (
        f"{counted(count, 'memory', 'memories')} {said}: this comes on top, applied with it." if count else ""
    )


def may_wait(asked: ChangeRequest, planned: ChangeSet, on_top: bool) -> Literal["", "offered", "only"]:
    """Whether a plan may be staged with others, or, `on_top` of what is staged, can only be."""
    if asked.write is not commit or planned.undoes is not None:
        return ""
    if on_top:
        return "only"
    return "" if planned.shrinks or planned.purges else "offered"


def change_count(planned: ChangeSet) -> int:
    """How many memories a plan changes, those that only lose their history among them."""
    return planned.count + len(planned.purges)


PLAN, APPLY, STAGE = "plan", "apply", "stage"

SLOW_S = 0.4
"""A plan that is there sooner needs no word that it is being made."""

_DONE = {"undo": "undone", "redo": "redone", "restore": "brought back"}

_DONE |= {"merge": "merged", "add": "added", "forget": "forgotten", "clean": "cleared of older versions"}


class ChangeRequests(Widget):
    """One for each screen (`BaseScreen.staging`), without anything to see: `stage` a change and it does the rest.

    A refusal, an empty plan and a failure end in words on the flash line. After a change is written the session
    is read anew and `then` is called.
    """

    DEFAULT_CSS = "ChangeRequests { display: none; }"

    class Waits(Message):
        """A change was staged: what it was chosen for has been seen to."""

    def __init__(self, undo: str = "") -> None:
        super().__init__()
        self.runner = EngineCalls(self)
        self._asked: ChangeRequest | None = None
        self._send = False
        self._undo = undo

    # what a screen calls

    @property
    def forbidden(self) -> str:
        """Why no change can be planned now; empty when one can, also in a store that is open for reading only."""
        engine = host(self).session.engine
        if engine is None:
            return "No store is open."
        if not engine.store.dialect.can.writable:
            return f"{engine.write_state.never_because} Migrate, in Transfer, makes a store of it that it writes."
        return "A change is being written." if self.runner.busy(APPLY) else ""

    @property
    def working(self) -> bool:
        """Whether a change is being planned, kept or written."""
        return not self.runner.idle

    def able(self) -> bool:
        """Whether a change can be planned now; else why not is said."""
        if why := self.forbidden:
            self.say(f"Nothing was changed. {why}", "error")
        return not why

    def stage(
        self,
        make: Make,
        *,
        force: Force | None = None,
        write: Write = commit,
        then: Callable[[Outcome], None] | None = None,
        edit: Callable[[], None] | None = None,
        failed: Callable[[MemtuiError], None] | None = None,
        preview: Callable[..., ChangePreview] | None = None,
        keep: Keep | None = None,
    ) -> None:
        """Plan a change with `make`, show it, write it with `write` when the person agrees, then call `then`.

        `force` plans over what other programs changed (undo, redo). `edit` reopens what the plan was made from,
        when the preview is closed; `failed` takes an error in place of the flash line; `preview` makes the
        dialog that shows it, where that is one of its own kind; `keep` plans a merge with another memory kept.
        """
        engine = host(self).session.engine
        if not self.able() or engine is None:
            return
        self._asked = ChangeRequest(
            engine, make, force, write, then, edit, failed, preview=preview, keep=keep
        )
        self._plan(make)

    def merge(
        self,
        ids: Sequence[str],
        *,
        survivor: str | None = None,
        text: str | None = None,
        losers: Literal["supersede", "delete"] = "supersede",
        then: Callable[[Outcome], None] | None = None,
    ) -> None:
        """Plan to make one of these memories, as `plan_merge`; the preview can keep another of them."""

        def plan(engine: Engine, kept: str | None) -> ChangeSet:
            return changes.plan_merge(engine, ids, survivor=kept, text=text, losers=losers)

        self.stage(lambda engine: plan(engine, survivor), then=then, keep=plan)

    def staged(
        self,
        *,
        then: Callable[[Outcome], None] | None = None,
        amend: Callable[[str], None] | None = None,
    ) -> None:
        """Show what is staged, to drop rows of it, edit one (`amend`, where there is such a thing), or apply it."""
        engine = host(self).session.engine
        if not self.able() or engine is None:
            return
        planned = engine.write_state.staged.planned
        if planned is None:
            cap = host(self).keys.cap("change.stage")
            self.say(f"Nothing is staged. {cap} in the look at a change keeps it with others.", "note")
            return
        self._asked = ChangeRequest(
            engine,
            lambda engine: engine.write_state.staged.regardless(()),
            lambda engine, ids: engine.write_state.staged.regardless(ids),
            commit_staged,
            then,
            None,
            None,
            True,
            amend,
        )
        self._show(planned, ())

    def undo(self, entry: int | None = None) -> None:
        """Take back an entry of the journal, the last one when none is named."""
        self.stage(
            lambda engine: changes.plan_undo(engine, entry),
            force=lambda engine, ids: changes.plan_undo(engine, entry, forced=ids),
        )

    def redo(self, entry: int | None = None) -> None:
        """Make again what was taken back, the last one when none is named."""
        self.stage(
            lambda engine: changes.plan_redo(engine, entry),
            force=lambda engine, ids: changes.plan_redo(engine, entry, forced=ids),
        )

    def finish(self, entry: int) -> None:
        """Complete an entry of the journal that was cut off."""

        def write(engine: Engine, planned: ChangeSet, confirmed: bool) -> Outcome:
            return changes.finish_entry(engine, entry, confirmed=confirmed)

        self.stage(lambda engine: changes.plan_finish(engine, entry), write=write)

    def leave(self, entry: int) -> None:
        """Settle an entry that was cut off as it is: no memory is written, nothing warns of it any more."""
        engine = host(self).session.engine
        if engine is None:
            return
        try:
            changes.leave_entry(engine, entry)
        except MemtuiError as error:
            self.say(str(error), "error")
        else:
            host(self).take("changed", f"Entry {entry} is left as it is; no memory was changed.")

    def stop(self) -> bool:
        """Give up a plan that is being made; False when there was none."""
        if not self.runner.busy(PLAN):
            return False
        self.runner.cancel(PLAN)
        self.say("Stopped; nothing was changed.", "note")
        return True

    # planning

    def on_unmount(self) -> None:
        self.runner.cancel_all()

    def say(self, text: str, kind: FlashKind = "done") -> None:
        """Say one line above the key bar."""
        self.post_message(Flash(text, kind))

    def _plan(self, make: Make, *, send: bool = False) -> None:
        """Plan it; nothing is sent for that before a person has seen what would be, and asked for it (`send`)."""
        asked = self._asked
        assert asked is not None
        self._send = send

        def work(token: CancelToken, report: Report) -> tuple[ChangeSet, Sequence[str]]:
            return _with_notes(make(asked.engine)) if send else without_sending(asked.engine, make)

        number = self.runner.start(PLAN, work)
        self.set_timer(
            SLOW_S, lambda: self._slow(PLAN, number, "working out the change; {browse.clear-filter} stops it")
        )

    def _slow(self, slot: str, number: int, text: str, since: float | None = None) -> None:
        """Say what takes long for as long as it does, and how long that is already."""
        if self.runner.busy(slot, number):
            begun = monotonic() if since is None else since
            seconds = round(monotonic() - begun)
            self.say(f"{text}, {seconds} s" if seconds > 1 else text, "note")
            self.set_timer(1.0, lambda: self._slow(slot, number, text, begun))

    @on(RunFinished)
    def _finished(self, message: RunFinished) -> None:
        message.stop()
        if not self.runner.done(message) or self._asked is None:
            return
        if isinstance(message.value, tuple):  # a plan, to be looked at
            if self._asked.engine is host(self).session.engine:
                self._planned(*message.value)
        elif message.slot == APPLY:
            self._written(message.value)
        else:
            self._kept(message.value)

    @on(RunFailed)
    def _failed(self, message: RunFailed) -> None:
        from memtui.engine import ConflictError

        message.stop()
        if not self.runner.done(message):
            return
        asked, error = self._asked, message.error
        if message.slot == APPLY and isinstance(error, ConflictError) and asked is not None:
            self._show(replace(self._agreed, conflicts=error.conflicts), ())
        elif asked is not None and asked.failed is not None:
            asked.failed(error)
        else:
            self.say(str(error), "error")

    def _planned(self, planned: ChangeSet, notes: Sequence[str]) -> None:
        self.screen.query_one(FlashLine).dismiss()
        if planned.changes or planned.conflicts or planned.purges:
            self._show(planned, notes)
        elif planned.undoes is not None or (self._asked is not None and self._asked.write is not commit):
            self._write(planned, confirmed=False)  # only the journal has to learn of it
        else:
            self.say("Nothing to change.", "note")

    # agreeing and writing

    def _show(self, planned: ChangeSet, notes: Sequence[str]) -> None:
        from memtui.tui.dialogs.change_preview import ChangePreview, StagedSet, only_past

        asked = self._asked
        assert asked is not None
        engine, access = asked.engine, asked.engine.write_state.access
        stop = access.reason if access.verdict == "confirm" else ""
        never = engine.write_state.never_because
        sends = engine.sends
        known = any(planned.unsent in warning for warning in planned.warnings)
        sent_then = f"Nothing was sent yet; apply and stage send it{'' if known else f': {planned.unsent}'}."
        said = [
            note
            for note in (
                never and f"It cannot be written: {never}",
                planned.unsent and sent_then,
                *notes,
                access.warning,
            )
            if note
        ]
        effect = (
            None
            if planned.conflicts or (only_past(planned) and asked.preview is None)
            else partial(effect_of_staged if asked.collected else effect_on_recall, engine, send=self._send)
        )
        if asked.collected:
            preview: ChangePreview = StagedSet(
                planned,
                notes=said,
                stop_agent=stop,
                locked=engine.locked,
                effect=effect,
                dropped=self._left,
                amends=asked.amend is not None,
                way_out="keep it staged",
            )
            self.app.push_screen(preview, self._answered)
            return
        on_top = words_on_top(engine, planned)
        if on_top and planned.shrinks:
            self.say("They have staged changes: apply or drop those before their history goes.", "error")
            return
        if on_top:
            said.insert(0, on_top)
            effect = effect and partial(effect_with_staged, engine, send=self._send)
        preview = (asked.preview or ChangePreview)(
            planned,
            notes=said,
            stop_agent=stop,
            locked=engine.locked,
            forcible=asked.force is not None,
            effect=effect,
            staging=may_wait(asked, planned, bool(on_top)),
            way_out="back to the editor" if asked.edit is not None else "cancel",
            sends=sends and effect is not None and not self._send,
            keeps=asked.keep is not None,
        )
        self.app.push_screen(preview, self._answered)

    def _answered(self, answer: PreviewAnswer | None) -> None:
        asked = self._asked
        if asked is None:
            return
        if answer is None and asked.collected:
            count = len(asked.engine.write_state.staged)
            self.say(
                f"{counted(count, 'change')} stay staged." if count else "Nothing is staged now.", "note"
            )
        elif answer is None and asked.edit is not None:
            asked.edit()
        elif answer is None:
            self.say("Nothing was changed.", "note")
        elif answer.what == "force":
            self._plan(self._again(asked, [conflict.id for conflict in answer.change_set.conflicts]))
        elif answer.what == "send":
            self._plan(asked.make, send=True)
        elif answer.what == "stage":
            self.runner.start(
                STAGE,
                self._made_of(
                    answer.change_set, lambda planned: asked.engine.write_state.staged.add(planned)
                ),
            )
        elif answer.what == "keep" and asked.keep is not None:
            self._asked = replace(asked, make=partial(_kept_by, asked.keep, answer.row))
            self._plan(self._asked.make)
        elif answer.what == "amend" and asked.amend is not None:
            asked.amend(answer.row)
        else:
            agreed = answer.change_set
            self._write(agreed, confirmed=answer.confirmed or agreed.destroys)

    # what waits with others

    def _left(self, planned: ChangeSet) -> None:
        """Rows of what is staged were dropped."""
        asked = self._asked
        assert asked is not None
        kept = set(planned.ids)
        waiting = asked.engine.write_state.staged
        waiting.drop([operation for operation in waiting.ops if operation not in kept])
        host(self).take("staged", len(waiting))

    def _kept(self, planned: ChangeSet) -> None:
        """A change was staged."""
        asked = self._asked
        assert asked is not None
        count = len(asked.engine.write_state.staged)
        host(self).take("staged", count)
        self.post_message(self.Waits())
        cap = host(self).keys.cap("browse.staged")
        self.say(
            f"{counted(count, 'change')} staged, nothing written; {cap} in Browse shows and applies them"
        )

    @staticmethod
    def _again(asked: ChangeRequest, over: Sequence[str]) -> Make:
        """The plan made anew on the newest version: what was changed there meanwhile is changed by it."""
        force = asked.force
        if force is not None:
            return lambda engine: force(engine, over)

        def make(engine: Engine) -> Any:
            engine.write_state.behind = True
            return asked.make(engine)

        return make

    def _write(self, planned: ChangeSet, *, confirmed: bool) -> None:
        """Write the agreed plan; where the store is locked, after a person has unlocked it."""
        from memtui.tui.dialogs.unlock import unlocked

        deed = f"apply {counted(change_count(planned), 'change')}" if change_count(planned) else "settle it"
        unlocked(
            self,
            deed,
            lambda: self._write_now(planned, confirmed),
            lambda: self._show(planned, ()),
            for_good=planned.shrinks,
        )

    def _write_now(self, planned: ChangeSet, confirmed: bool) -> None:
        asked = self._asked
        assert asked is not None
        self._agreed = planned
        number = self.runner.start(
            APPLY, self._made_of(planned, lambda made: asked.write(asked.engine, made, confirmed))
        )
        self.set_timer(SLOW_S, lambda: self._slow(APPLY, number, "writing the change"))

    def _made_of(
        self, planned: ChangeSet, use: Callable[[ChangeSet], Any]
    ) -> Callable[[CancelToken, Report], Any]:
        """`use` of an agreed plan, its vectors made first; a plan that turned out otherwise is shown again."""
        asked = self._asked
        assert asked is not None
        if not planned.unsent:
            return lambda token, report: use(planned)

        def work(token: CancelToken, report: Report) -> Any:
            made, notes = _with_notes(asked.make(asked.engine))
            kept = set(planned.ids)
            made = made.without(
                [
                    memory_id
                    for memory_id in made.ids
                    if memory_id not in kept and _of_the_table(made, memory_id)
                ]
            )
            return use(made) if _as_agreed(made, planned) else (made, notes)

        return work

    def _written(self, outcome: Outcome) -> None:
        asked = self._asked
        assert asked is not None
        if outcome.entry is None and outcome.conflicts:
            why = RefusedError(
                outcome.conflicts[0].sentence, fix="Press {app.reload} to see what is there now."
            )
            self.say(str(why), "error")
            return
        if asked.then is not None:
            asked.then(outcome)
        if asked.collected:
            host(self).take("staged", 0)
        host(self).take("changed", self._told(outcome))

    def _told(self, outcome: Outcome) -> str:
        """The flash line of a written change: what, its entry, how it is taken back, what is new to know."""
        if outcome.entry is None:
            return "Nothing had to be written; the journal knows it now."
        archived = outcome.action == "forget" and all(change.op == "edit" for change in outcome.changes)
        verb = "archived" if archived else _DONE.get(outcome.action, "changed")
        done = f"{counted(outcome.changed, 'memory', 'memories')} {verb}"
        if outcome.final:
            return f"{done} (entry {full(outcome.entry)}); this cannot be undone"
        undone = outcome.action == "undo"
        keys = host(self).keys
        if undone:
            back = f"{keys.cap((self._undo or 'app.make-again').replace('undo', 'redo'))} redoes it"
        else:
            back = f"{keys.cap(self._undo or 'app.take-back')} undoes it"
        new = [warning for warning in outcome.warnings if warning not in self._agreed.warnings]
        known = host(self).session.engine
        heard = known.write_state.access.warning if known is not None else ""
        told = [each for each in new if each != heard]
        return f"{done} (entry {full(outcome.entry)}); {back}" + (f"   {told[0]}" if told else "")
