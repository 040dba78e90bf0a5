"""What a person decides on Capture: candidates accepted, reworded or refused and applied; the inbox worked off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.engine import MemtuiError, clean
from memtui.tui.bound_panel import BoundPart
from memtui.tui.change_request import ChangeRequests
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.screens.capture import working
from memtui.tui.screens.capture.state import CaptureState, marked

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.capture import CaptureTrace, Item
    from memtui.engine.changes import ChangeSet, Outcome


INBOX = "inbox"

_HINT = "It is stored in these words."


class Deciding(BoundPart[CaptureState]):
    """Marks, words and verdicts; it knows the state, not the screen."""

    @property
    def staging(self) -> ChangeRequests:
        """What plans, shows and makes changes of rows."""
        return self.screen.query_one(ChangeRequests)

    def read_inbox(self) -> None:
        """What waits, read anew."""
        engine, written = self.session.engine, self.state.written
        if engine is not None:
            self.call(
                INBOX,
                lambda token, report: working.waiting(engine, written),
                lambda found: self.become(lambda state: _with_items(state, *found)),
            )

    def accept(self) -> None:
        """Accept the item, or the candidates of the text; one that would not be written is reworded first."""
        if self.state.view == "inbox":
            self._settle(accept=True)
            return
        places = tuple(at for at, candidate in self.state.candidates if candidate.writes)
        if places:
            self.become(lambda state: marked(state, places, "accepted"))
        elif self.state.candidates:
            self._reword(self.state.candidates[0][0], self.state.candidates[0][1].abstract)

    def refuse(self) -> None:
        """Refuse the item, or the candidates of the text."""
        if self.state.view == "inbox":
            self._settle(accept=False)
            return
        places = tuple(at for at, _ in self.state.candidates)
        self.become(lambda state: marked(state, places, "refused"))

    def edit(self) -> None:
        """Other words for the item or the first candidate, which is then accepted."""
        if self.state.view == "inbox":
            item = self.state.chosen
            if item is not None:
                self.app.push_screen(
                    TextPrompt("Its words", _HINT, item.text),
                    lambda text: self._settle(accept=True, text=text) if text else None,
                )
        elif self.state.candidates:
            at, candidate = self.state.candidates[0]
            self.app.push_screen(
                TextPrompt("Its words", _HINT, candidate.abstract), lambda text: self._reword(at, text)
            )

    def _reword(self, at: int, text: str | None) -> None:
        engine, trace = self.session.engine, self.state.trace
        if engine is None or trace is None or not text:
            return
        from memtui.engine.capture import reworded

        try:
            changed = reworded(trace, at, clean(text), engine.capture_context())
        except MemtuiError as error:
            self.flash(str(error), "error")
            return
        self.become(lambda state: replace(state, trace=changed, marks={**state.marks, at: "accepted"}))

    def apply(self) -> None:
        """Preview what was accepted, or all that was found and not refused, then write it as one entry."""
        trace, places = self.state.trace, self.state.to_apply()
        if trace is None or not places:
            self.flash("Nothing is accepted, and nothing new was found.", "note")
            return
        whole = trace

        def make(engine: Engine) -> ChangeSet:
            from memtui.engine.capture import chosen, plan, with_vectors

            return plan(with_vectors(engine, chosen(whole, places)), engine.store)

        def then(outcome: Outcome) -> None:
            from memtui.engine.capture import Inbox

            if self.session.engine is not None:
                Inbox(self.session.engine).take(whole)
            entry = outcome.entry
            if entry is None:
                return
            ids = {change.id for change in outcome.changes}  # a person may have left some out of the preview
            done = {at: entry for at in places if ids.issuperset(_rows_of(whole, at))}
            self.become(lambda state: replace(state, marks={}, written={**state.written, **done}))

        self.staging.stage(make, then=then)

    def _settle(self, *, accept: bool, text: str | None = None) -> None:
        item, engine = self.state.chosen, self.session.engine
        if item is None or engine is None:
            return
        from memtui.engine.capture import Inbox

        inbox = Inbox(engine)

        def settled(entry: int | None = None) -> None:
            inbox.settled(item, "accepted" if accept else "refused", entry)
            self.read_inbox()

        if not accept and item.kind != "pending":
            settled()
            return

        def make(engine: Engine) -> ChangeSet:
            planned = inbox.plan_accept(item, text) if accept else inbox.plan_refuse(item)
            assert planned is not None
            return planned

        self.staging.stage(make, then=lambda outcome: settled(outcome.entry))


def _rows_of(trace: CaptureTrace, at: int) -> set[str]:
    """The ids of the rows that the candidate at this place writes."""
    return {write.row.id for write in trace.candidates[at].writes}


def _with_items(
    state: CaptureState, items: tuple[Item, ...], done: int, back: frozenset[int]
) -> CaptureState:
    kept = state.item if any(item.id == state.item for item in items) else ""
    kept = kept or (items[0].id if items else "")
    return replace(state, items=items, inbox_read=True, done=done, item=kept, taken_back=back)
