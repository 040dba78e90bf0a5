"""Capture: a conversation goes in, memories come out, and every text shows what became of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.app import ComposeResult

from memtui.engine import MemtuiError, clean, one_line
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.dialogs.text_prompt import Paste, TextPrompt
from memtui.tui.host import host
from memtui.tui.layout import Arrangement
from memtui.tui.no_store import of_session
from memtui.tui.paint.numbers import plural
from memtui.tui.screens.capture import layout, painting, working
from memtui.tui.screens.capture.state import VIEWS, CaptureState, Talk, marked
from memtui.tui.session import Session
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import BuiltRows, Row, RowList
from memtui.tui.widgets.state_panel import Choice, State, StatePanel

if TYPE_CHECKING:
    from memtui.engine import CancelToken, ChangeSet, Engine, Outcome
    from memtui.engine.capture import (
        CaptureRequest,
        CaptureTrace,
        InboxItem,
    )
    from memtui.engine.transfer import (
        ChatSettings,
    )


FIND, RUN, ASK, WHY, INBOX = "find", "run", "ask", "why", "inbox"

MOVES = ("down", "up", "page-down", "page-up", "first", "last")


class SaidRows(BuiltRows, inherit_bindings=False):
    """A list of Capture whose rows can be opened."""

    BINDINGS = [*bindings("rows", only=MOVES), *bindings("said")]  # noqa: RUF012


class ReadRows(BuiltRows, inherit_bindings=False):
    """A panel that is only read: it scrolls."""

    BINDINGS = bindings("rows", only=MOVES)


class CaptureScreen(BaseScreen):
    """Conversations, their texts, the candidate of one, its trace; and the inbox."""

    MODE = "capture"
    UNDO = "capture.undo"
    BINDINGS = bindings("capture")

    def __init__(self) -> None:
        super().__init__()
        self.state = CaptureState()
        self.said = State("loading", "looking for conversations", skeleton=True)
        self._engine: Engine | None = None
        self._revision = -1
        self._chat: ChatSettings | None = None

    def body(self) -> ComposeResult:
        yield LayoutContainer(
            Panel(StatePanel(), title="Capture", id="state"),
            Panel(SaidRows(self._talks, id="talk-rows"), title="Conversations", id="talks"),
            Panel(SaidRows(self._texts, id="text-rows"), title="Texts", id="texts"),
            Panel(ReadRows(self._candidate, id="candidate-rows"), title="Candidate", id="candidate"),
            Panel(ReadRows(self._trace, id="trace-rows"), title="Trace", id="trace"),
            Panel(ReadRows(self._sent, id="sent-rows"), title="What is sent, and where", id="sent"),
            Panel(SaidRows(self._inbox, id="inbox-rows"), title="Inbox", id="inbox"),
            Panel(ReadRows(self._item, id="item-rows"), title="Item", id="item"),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        state = self.state
        listed = state.trace is not None or bool(state.waiting)
        return layout.capture(
            width, height, view=state.view, said=self.said is not None, listed=listed, zoom=state.zoom
        )

    def _talks(self, width: int, height: int) -> list[Row]:
        return painting.talks(self.state, width, host(self).now_ms(), host(self).glyphs)

    def _texts(self, width: int, height: int) -> list[Row]:
        return painting.texts(self.state, width, host(self).glyphs)

    def _candidate(self, width: int, height: int) -> list[Row]:
        return painting.candidate(self.state, width, host(self).glyphs, host(self).keys)

    def _trace(self, width: int, height: int) -> list[Row]:
        return painting.trace(self.state, width, host(self).glyphs, host(self).keys)

    def _sent(self, width: int, height: int) -> list[Row]:
        return painting.sent(self.state, width, host(self).glyphs)

    def _inbox(self, width: int, height: int) -> list[Row]:
        return painting.inbox(self.state, width, host(self).now_ms(), host(self).glyphs)

    def _item(self, width: int, height: int) -> list[Row]:
        return painting.item(self.state, width, host(self).keys)

    # ------------------------------------------------------------------ the store, and what it answers

    def session_changed(self, session: Session) -> None:
        if session.engine is None or of_session(session) is not None:
            self._revision, self._engine = -1, None
            self.state = CaptureState()
            self.say(of_session(session) or State("loading", "opening the store", skeleton=True))
        elif session.revision != self._revision:
            self._revision, self._engine = session.revision, session.engine
            if not self.state.talks:
                self.call(
                    FIND, lambda token, report: working.found(), self._have_talks, failed=self._no_talks
                )
            self._read_inbox()

    def _read_inbox(self) -> None:
        engine = self._engine
        if engine is not None:
            self.call(INBOX, lambda token, report: working.waiting(engine), self._have_inbox)

    def _advanced(self, value: tuple[str, str]) -> None:
        purpose, text = value
        self.state = replace(self.state, heard=text, waiting=f"{purpose}, {self.state.model}")
        self.repaint()

    def _have_talks(self, found: tuple[Talk, ...]) -> None:
        self.state = replace(self.state, talks=(*self.state.talks, *found))
        self.say(None if self.state.talks else self._nothing())

    def _no_talks(self, error: MemtuiError) -> None:
        self.call_failed(error)
        self.say(self._nothing())

    def _have_inbox(self, found: tuple[tuple[InboxItem, ...], int]) -> None:
        items, done = found
        kept = self.state.item if any(each.id == self.state.item for each in items) else ""
        first = items[0].id if items else ""
        self.state = replace(self.state, items=items, done=done, item=kept or first)
        self.repaint()

    def _have_verdict(self, verdict: Any) -> None:
        self.state = replace(self.state, verdict=verdict)
        self.repaint()

    def call_failed(self, error: MemtuiError) -> None:
        self.state = replace(self.state, waiting="", heard="")
        super().call_failed(error)
        self.repaint()

    def _ran(self, talk: Talk, request: CaptureRequest, trace: CaptureTrace) -> None:
        kept = sum(bool(each.writes) for each in trace.candidates)
        talks = tuple(replace(talk, kept=kept) if each.key == talk.key else each for each in self.state.talks)
        first = next((at for at, text in enumerate(trace.texts) if text.fate == "kept"), 0)
        self.state = replace(
            self.state,
            talks=talks,
            talk=talk.key,
            request=request,
            trace=trace,
            text=first,
            marks={},
            verdict=None,
            heard="",
            waiting="",
        )
        self.say(None)
        self.query_one("#text-rows", BuiltRows).choose(str(first))
        self.query_one("#text-rows").focus()
        if trace.warnings and self.state.model:
            self.flash(trace.warnings[0], "note")

    # ------------------------------------------------------------------ painting

    def focus_first(self) -> None:
        shown = self.query_one(LayoutContainer).shows
        wanted = "state" if self.said is not None else "inbox" if self.state.view == "inbox" else "talks"
        if wanted == "talks" and not shown("talks"):
            wanted = "texts"
        target = (
            StatePanel if wanted == "state" else f"#{wanted[:-1] if wanted.endswith('s') else wanted}-rows"
        )
        self.query_one(target).focus()

    def repaint(self) -> None:
        state = self.state
        for name, key in (
            ("talk", state.talk),
            ("text", str(state.text)),
            ("candidate", None),
            ("trace", None),
            ("sent", None),
            ("inbox", state.item),
            ("item", None),
        ):
            self.query_one(f"#{name}-rows", BuiltRows).repaint(key or None)
        trace = state.trace
        texts = "" if trace is None else f"{len(trace.texts)}, in order"
        made = [each for each in trace.candidates if each.writes] if trace is not None else []
        self.query_one("#texts", Panel).headline(which=texts, where="{capture.why-not} why not")
        which = "" if trace is None else f"{len(state.candidates)} of this text, {len(made)} to write"
        self.query_one("#candidate", Panel).headline(
            which=which, where="{capture.accept} accept  {capture.edit} edit  {capture.refuse} refuse"
        )
        self.query_one("#trace", Panel).headline(
            what="Why not" if state.verdict is not None else "Trace",
            which="" if trace is None else f"of text {state.text + 1}",
        )
        views = "  ".join(f"[{each}]" if each == state.view else each for each in VIEWS)
        self.query_one("#talks", Panel).headline(
            which=views, where="{capture.paste} paste  {capture.load} file"
        )
        self.query_one("#inbox", Panel).headline(which=f"{views}   {len(state.items)} wait")
        self.query_one("#sent", Panel).headline(
            which=state.model or "no model", where="{capture.model} model"
        )
        self.refresh_bindings()

    def _nothing(self) -> State:
        facts = (
            ("here", "a conversation goes in, and you see what becomes of every text"),
            ("looked in", "the sessions of the agents on this machine"),
        )
        paste = Choice(
            "paste", "paste a conversation", "a line a message, or User: and Assistant:", key="capture.paste"
        )
        load = Choice("load", "take a file", "text, a session's JSONL, an export", key="capture.load")
        return State("empty", "no conversation was found", facts, (paste, load))

    # ------------------------------------------------------------------ moving

    @on(RowList.Highlighted, "#text-rows")
    def _text_chosen(self, event: RowList.Highlighted) -> None:
        event.stop()
        if event.key and int(event.key) != self.state.text:
            self.state = replace(self.state, text=int(event.key), verdict=None)
            self.repaint()

    @on(RowList.Highlighted, "#talk-rows")
    def _talk_chosen(self, event: RowList.Highlighted) -> None:
        event.stop()
        self.state = replace(self.state, talk=event.key)

    @on(RowList.Highlighted, "#inbox-rows")
    def _item_chosen(self, event: RowList.Highlighted) -> None:
        event.stop()
        self.state = replace(self.state, item=event.key)
        self.repaint()

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        if event.rows.id == "talk-rows":
            self._run(event.key)
        elif event.rows.id == "text-rows":
            self.query_one("#candidate-rows").focus()

    @on(StatePanel.Chosen)
    def _way(self, message: StatePanel.Chosen) -> None:
        if message.choice.name == "paste":
            self.action_paste()
        elif message.choice.name == "load":
            self.action_load()
        else:
            host(self).take(message.choice.name, message.choice.value)

    def on_paste(self, event: events.Paste) -> None:
        """A paste adds a conversation without a key."""
        event.stop()
        self._add_text(event.text)

    # ------------------------------------------------------------------ capturing

    def _run(self, key: str) -> None:
        engine, talk = self._engine, next((each for each in self.state.talks if each.key == key), None)
        if engine is None or talk is None:
            return
        chat = self._chat
        self.state = replace(
            self.state, talk=key, trace=None, verdict=None, marks={}, waiting="reading the conversation"
        )
        self.say(None)
        self.call(
            RUN,
            lambda token, report: working.captured(engine, talk, chat, token, report),
            lambda made: self._ran(*made),
            progress=self._advanced,
        )

    def _add_text(self, text: str | None) -> None:
        if text is None or not text.strip():
            return
        from memtui.engine.capture import (
            parse_conversations,
        )

        try:
            found = parse_conversations(text.encode("utf-8", "replace"), "auto", "the pasted text")
        except MemtuiError as error:
            self.flash(str(error), "error")
            return
        self._add(
            [
                Talk(
                    f"paste {at}",
                    f"pasted, {plural(len(each.messages), 'text')}",
                    conversation=each,
                    at_ms=host(self).now_ms(),
                )
                for at, each in enumerate(found, len(self.state.talks))
            ]
        )

    def _add_file(self, name: str | None) -> None:
        if not name:
            return
        from memtui.engine.capture import (
            read_conversations,
        )

        path = Path(name).expanduser()
        try:
            found = read_conversations(path)
        except MemtuiError as error:
            self.flash(str(error), "error")
            return
        self._add(
            [
                Talk(f"{path} {at}", one_line(each.title or path.name), str(path), conversation=each)
                for at, each in enumerate(found)
            ]
        )

    def _add(self, talks: list[Talk]) -> None:
        known = {each.key for each in talks}
        rest = tuple(each for each in self.state.talks if each.key not in known)
        self.state = replace(self.state, view="conversations", talks=(*talks, *rest))
        self._run(talks[0].key)

    def action_paste(self) -> None:
        hint = "One message a line, or with User: and Assistant: before each. Nothing is written before you apply."
        self.app.push_screen(Paste("Paste a conversation", hint), self._add_text)

    def action_load(self) -> None:
        hint = "A text, a session's JSONL, or an export of ChatGPT or Claude."
        self.app.push_screen(TextPrompt("Take a conversation from a file", hint), self._add_file)

    def action_again(self) -> None:
        if self.state.talk:
            self._run(self.state.talk)

    def action_model(self) -> None:
        """Ask the configured model from now on, or the rules again."""
        if self._chat is not None:
            self._chat = None
            self.state = replace(self.state, model="", local=True)
            self.repaint()
            self.flash("Rules again: no model is asked.", "note")
            return
        try:
            self._chat = working.configured()
        except MemtuiError as error:
            self.flash(str(error), "error")
            return
        if self._chat is None:
            self.flash("No model is configured: set chat.model and chat.base_url in the settings.", "error")
            return
        self.state = replace(
            self.state, model=f"{self._chat.model} at {self._chat.host}", local=self._chat.local
        )
        self.repaint()
        self.flash(
            f"{self.state.model} is asked from now on; {host(self).keys.cap('capture.again')} runs it.",
            "note",
        )

    def action_why_not(self) -> None:
        engine, state = self._engine, self.state
        if engine is None or state.trace is None or state.request is None or state.view != "conversations":
            return
        place, trace, request = state.text, state.trace, state.request

        def ask(token: CancelToken, report: Callable[[Any], None]) -> object:
            from memtui.engine.capture import why_not

            return why_not(place, trace, request, engine.capture_context)

        self.call(WHY, ask, self._have_verdict)

    # ------------------------------------------------------------------ deciding

    def action_accept(self) -> None:
        if self.state.view == "inbox":
            self._settle_item(accept=True)
            return
        places = tuple(at for at, each in self.state.candidates if each.writes)
        if places:
            self.state = marked(self.state, places, "accepted")
            self.repaint()
        elif self.state.candidates:
            self._reword(self.state.candidates[0][0], self.state.candidates[0][1].abstract)

    def action_refuse(self) -> None:
        if self.state.view == "inbox":
            self._settle_item(accept=False)
            return
        self.state = marked(self.state, tuple(at for at, _ in self.state.candidates), "refused")
        self.repaint()

    def action_edit(self) -> None:
        hint = "It is stored in these words."
        if self.state.view == "inbox":
            item = self.state.chosen
            if item is not None:
                self.app.push_screen(
                    TextPrompt("Its words", hint, item.text),
                    lambda text: self._settle_item(accept=True, text=text) if text else None,
                )
            return
        if self.state.candidates:
            at, candidate = self.state.candidates[0]
            self.app.push_screen(
                TextPrompt("Its words", hint, candidate.abstract), lambda text: self._reword(at, text)
            )

    def _reword(self, at: int, text: str | None) -> None:
        engine, trace = self._engine, self.state.trace
        if engine is None or trace is None or not text:
            return
        from memtui.engine.capture import (
            reworded,
        )

        try:
            changed = reworded(trace, at, clean(text), engine.capture_context())
        except MemtuiError as error:
            self.flash(str(error), "error")
            return
        self.state = replace(self.state, trace=changed, marks={**self.state.marks, at: "accepted"})
        self.repaint()

    def action_apply(self) -> None:
        trace, places = self.state.trace, self.state.to_apply()
        if trace is None or not places:
            self.flash("Nothing is accepted, and nothing new was found.", "note")
            return
        whole = trace

        def make(engine: Engine) -> ChangeSet:
            from memtui.engine.capture import (
                chosen,
                plan,
            )

            return plan(chosen(whole, places), engine.store)

        def then(outcome: Outcome) -> None:
            from memtui.engine.capture import (
                Inbox,
            )

            if self._engine is not None:
                Inbox(self._engine).take(whole)
            self.state = replace(self.state, trace=None, marks={})
            self.say(None)

        self.staging.stage(make, then=then)

    def _settle_item(self, *, accept: bool, text: str | None = None) -> None:
        item, engine = self.state.chosen, self._engine
        if item is None or engine is None:
            return
        from memtui.engine.capture import (
            Inbox,
        )

        inbox, verdict = Inbox(engine), "accepted" if accept else "refused"

        def settled() -> None:
            inbox.settled(item, verdict)  # type: ignore[arg-type]
            self._read_inbox()

        if not accept and item.kind != "pending":
            settled()
            return

        def make(engine: Engine) -> ChangeSet:
            planned = inbox.plan_accept(item, text) if accept else inbox.plan_refuse(item)
            assert planned is not None
            return planned

        self.staging.stage(make, then=lambda outcome: settled())

    # ------------------------------------------------------------------ looking

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        state = self.state
        on_item = state.view == "inbox" and state.chosen is not None
        on_candidate = state.view == "conversations" and bool(state.candidates)
        able = {
            "why_not": state.view == "conversations" and state.trace is not None,
            "accept": on_item or on_candidate,
            "edit": on_item or on_candidate,
            "refuse": on_item or on_candidate,
            "apply": bool(state.to_apply()),
            "again": bool(state.talk),
        }
        return True if able.get(action, True) else None

    def action_view(self) -> None:
        at = (VIEWS.index(self.state.view) + 1) % len(VIEWS)
        self.state = replace(self.state, view=VIEWS[at], zoom="")
        if self.state.view == "inbox":
            self.say(None)
            self.query_one("#inbox-rows").focus()
        else:
            self.say(None if self.state.talks else self._nothing())
            self.call_after_refresh(self.focus_first)

    def action_zoom(self) -> None:
        here = self.focused.parent.id if self.focused is not None and self.focused.parent is not None else ""
        self.state = replace(self.state, zoom="" if self.state.zoom else here or "")
        self.query_one(LayoutContainer).rearrange()
        self.repaint()

    def action_back(self) -> None:
        if self.staging.stop() or self.dismiss_flash():
            return
        if self.runner.busy(RUN):
            self.runner.cancel(RUN)
            self.state = replace(self.state, waiting="", heard="")
            self.say(None)
            self.flash("Stopped; nothing was written.", "note")
        elif self.state.zoom:
            self.action_zoom()
        elif self.state.verdict is not None:
            self.state = replace(self.state, verdict=None)
            self.repaint()
        elif self.state.trace is not None and self.state.view == "conversations":
            self.state = replace(self.state, trace=None, marks={})
            self.say(None)
            self.call_after_refresh(self.focus_first)
