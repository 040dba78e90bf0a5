"""Capture: a conversation goes in, memories come out, and every text shows what became of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.app import ComposeResult
from textual.reactive import var

from memtui.engine import MemtuiError, clean, counted
from memtui.tui import layouts
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.bound_panel import Bound
from memtui.tui.dialogs.choose_one import ChooseOne
from memtui.tui.dialogs.text_prompt import Paste, TextPrompt
from memtui.tui.host import host
from memtui.tui.layout import Arrangement, size_class
from memtui.tui.messages import AskCapture
from memtui.tui.no_store import of_session
from memtui.tui.screens.capture import jobs, panels, working
from memtui.tui.screens.capture.counting import Counting, turned_by, turned_options
from memtui.tui.screens.capture.deciding import Deciding
from memtui.tui.screens.capture.state import (
    VIEWS,
    CaptureState,
    JobPreview,
    Talk,
    View,
    first_kept,
    put_aside,
    turned_to,
)
from memtui.tui.session import Session
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import BuiltRows, Row, RowList
from memtui.tui.widgets.state_panel import Choice, State, StatePanel

if TYPE_CHECKING:
    from memtui.engine import CancelToken, Engine
    from memtui.engine.capture import (
        CaptureRequest,
        CaptureTrace,
    )
    from memtui.engine.transfer import (
        ChatSettings,
    )


AT_ONCE = 20
"""So many conversations are counted in the funnel as soon as it is opened."""

FIND, READ, RUN, WHY, JOB, KEEP = "find", "read", "run", "why", "job", "keep"


class CaptureScreen(BaseScreen):
    """Conversations, their texts, the candidate of one, its trace; and the inbox."""

    MODE = "capture"
    OF_ROW = frozenset((READ, RUN, JOB))
    UNDO = "capture.undo"
    BINDINGS = bindings("capture")

    state: var[CaptureState] = var(CaptureState(), init=False)

    def __init__(self) -> None:
        super().__init__()
        self.said: State | None = State("loading", "looking for conversations", skeleton=True)
        self._engine: Engine | None = None
        self._revision = -1
        self._chat: ChatSettings | None = None

    def body(self) -> ComposeResult:
        yield Counting().data_bind(state=CaptureScreen.state)
        yield Deciding().data_bind(state=CaptureScreen.state)
        yield LayoutContainer(*panels.panels(self._rows), arrange=self._arrange)

    def _rows(self, name: str) -> Callable[[int, int], list[Row]]:
        paint = panels.PAINTERS[name]

        def rows(width: int, height: int) -> list[Row]:
            at = host(self)
            return paint(self.state, panels.CaptureLook(width, at.now_ms(), at.glyphs, at.keys))

        return rows

    def _arrange(self, width: int, height: int) -> Arrangement:
        state = self.state
        listed = state.trace is not None or bool(state.waiting)
        return layouts.capture(
            width, height, view=state.view, said=self.said is not None, listed=listed, zoom=state.zoom
        )

    @property
    def _counting(self) -> Counting:
        return self.query_one(Counting)

    @property
    def _deciding(self) -> Deciding:
        return self.query_one(Deciding)

    @on(Bound.Become)
    def _become(self, message: Bound.Become) -> None:
        message.stop()
        self.state = message.change(self.state)
        self.say(self.said)

    def focus_first(self) -> None:
        if self.said is not None:
            self.query_one(StatePanel).focus()
            return
        first = {"inbox": "inbox", "funnel": "loss", "jobs": "job"}.get(self.state.view, "talk")
        if first == "talk" and not self.query_one(LayoutContainer).shows("talks"):
            first = "text"
        self.query_one(f"#{first}-rows").focus()

    def repaint(self) -> None:
        for name, key in panels.chosen(self.state).items():
            self.query_one(f"#{name}-rows", BuiltRows).repaint(key)
        narrow = size_class(self.size.width) == "narrow"
        for panel, said in panels.headlines(self.state, narrow=narrow).items():
            self.query_one(f"#{panel}", Panel).headline(**said)
        self.refresh_bindings()

    # ------------------------------------------------------------------ the store, and what it answers

    def session_changed(self, session: Session) -> None:
        if session.engine is None or of_session(session) is not None:
            self._revision, self._engine = -1, None
            self.state = CaptureState()
            self.say(of_session(session) or State("loading", "opening the store", skeleton=True))
        elif session.revision != self._revision:
            self._revision, self._engine = session.revision, session.engine
            if not self.state.talks:
                environ = session.engine.environ
                self.call(
                    FIND,
                    lambda token, report: working.found(environ),
                    self._have_talks,
                    failed=self._no_talks,
                )
            self.state = replace(self.state, plans={})
            self._deciding.read_inbox()

    def receive(self, message: AskCapture) -> None:
        """A text of another screen as a conversation, or a conversation that was kept as a case."""
        if message.case is not None:
            self._add([working.kept_talk(message.case)])
        else:
            self._add_text(message.text)

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

    def _have_verdict(self, verdict: Any) -> None:
        self.state = replace(self.state, verdict=verdict)
        self.repaint()

    def call_failed(self, error: MemtuiError) -> None:
        self.state = replace(self.state, waiting="", heard="")
        super().call_failed(error)
        self.repaint()

    def _ran(self, talk: Talk, request: CaptureRequest, trace: CaptureTrace) -> None:
        kept = sum(bool(candidate.writes) for candidate in trace.candidates)
        talks = tuple(replace(talk, kept=kept) if each.key == talk.key else each for each in self.state.talks)
        first = first_kept(trace)
        self.state = replace(
            self.state,
            talks=talks,
            runs={**self.state.runs, talk.key: (request, trace)},
            funnel=None,
            talk=talk.key,
            request=request,
            trace=trace,
            text=first,
            marks={},
            written={},
            verdict=None,
            heard="",
            waiting="",
        )
        self.say(None)
        self.query_one("#text-rows", BuiltRows).choose(str(first))
        self.hand_over(self.query_one("#text-rows").focus)  # behind what `say` has under way
        if trace.warnings and self.state.model:
            self.flash(trace.warnings[0], "note")

    def _nothing(self) -> State:
        facts = (
            ("shows", "add a conversation and see the decision for every text"),
            ("searched", "the sessions of the agents on this machine"),
        )
        paste = Choice(
            "paste", "paste a conversation", "a line a message, or User: and Assistant:", key="capture.paste"
        )
        load = Choice("load", "load a file", "text, a session's JSONL, an export", key="capture.load")
        return State("empty", "Conversations will be listed here.", facts, (paste, load))

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
        if event.key == self.state.talk:
            return
        if self.query_one(LayoutContainer).shows("texts"):
            self.state = turned_to(self.state, event.key)
            self.say(None)
            self._read_messages()
        else:
            self.state = replace(self.state, talk=event.key)

    @on(RowList.Highlighted, "#inbox-rows")
    def _item_chosen(self, event: RowList.Highlighted) -> None:
        event.stop()
        self.state = replace(self.state, item=event.key)
        self.repaint()

    @on(RowList.Highlighted, "#loss-rows")
    def _loss_chosen(self, event: RowList.Highlighted) -> None:
        event.stop()
        self.state = replace(self.state, loss=event.key)

    @on(RowList.Highlighted, "#job-rows")
    def _job_chosen(self, event: RowList.Highlighted) -> None:
        event.stop()
        self.state = replace(self.state, job=event.key)
        self.repaint()

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        if event.rows.id == "talk-rows":
            self._run(event.key)
        elif event.rows.id == "text-rows":
            self.query_one("#candidate-rows").focus()
        elif event.rows.id == "loss-rows":
            self._show_loss(event.key)
        elif event.rows.id == "job-rows":
            self._plan_job(event.key)

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

    def _read_messages(self) -> None:
        """Show what was said in a conversation, with what rules decide about it where no model is to be asked."""
        talk, engine = self.state.shown, self._engine
        if (
            engine is None
            or talk is None
            or talk.held is not None
            or talk.fault
            or self.state.trace is not None
        ):
            return
        by_rules = self._chat is None

        def have(found: tuple[Talk, CaptureTrace | None]) -> None:
            read, trace = found
            talks = tuple(read if each == talk else each for each in self.state.talks)
            looks = self.state.looks if trace is None else {**self.state.looks, read.key: trace}
            self.state = replace(self.state, talks=talks, looks=looks)
            self.repaint()

        def work(token: CancelToken, report: object) -> tuple[Talk, CaptureTrace | None]:
            return working.looked_at(engine, talk) if by_rules else (working.with_messages(talk), None)

        self.call(READ, work, have)

    def _run(self, key: str) -> None:
        engine, talk = self._engine, next((talk for talk in self.state.talks if talk.key == key), None)
        if engine is None or talk is None:
            return
        chat = self._chat
        self.state = replace(put_aside(self.state), talk=key, waiting="reading the conversation")
        self.say(None)
        self.call(
            RUN,
            lambda token, report: working.captured(engine, talk, chat, token, report),
            lambda made: self._ran(*made),
            progress=self._advanced,
        )

    def _keep_heard(self, heard: str) -> None:
        """What a model had said whole when it was stopped is decided; the other texts wait."""
        engine, talk = (
            self._engine,
            self.state.shown,
        )
        if engine is None or talk is None:
            return

        def have(made: tuple[Talk, CaptureRequest, CaptureTrace]) -> None:
            self._ran(*made)
            self.flash("Stopped: what was decided stays, the rest waits; nothing was written.", "note")

        self.call(RUN, lambda token, report: working.heard_so_far(engine, talk, heard), have)

    def _add_text(self, text: str | None) -> None:
        if text is not None and text.strip():
            self._add_from(lambda: working.pasted(text, len(self.state.talks), host(self).now_ms()))

    def _add_file(self, name: str | None) -> None:
        if name:
            self._add_from(lambda: working.in_file(name))

    def _add_from(self, read: Callable[[], list[Talk]]) -> None:
        try:
            self._add(read())
        except MemtuiError as error:
            self.flash(str(error), "error")

    def _add(self, talks: list[Talk]) -> None:
        known = {talk.key for talk in talks}
        rest = tuple(talk for talk in self.state.talks if talk.key not in known)
        self.state = replace(self.state, view="conversations", talks=(*talks, *rest))
        self._run(talks[0].key)

    def action_paste(self) -> None:
        hint = "One message a line, or with User: and Assistant: before each. Nothing is written before you apply."
        self.app.push_screen(Paste("Paste a conversation", hint), self._add_text)

    def action_load(self) -> None:
        hint = "A text, a session's JSONL, or an export of ChatGPT or Claude."
        self.app.push_screen(TextPrompt("Take a conversation from a file", hint), self._add_file)

    def action_again(self) -> None:
        if self.state.view == "funnel":
            self._counting.every()
        elif self.state.talk:
            self._run(self.state.talk)

    # ------------------------------------------------------------------ the funnel, and the jobs

    def _show_loss(self, gate: str) -> None:
        """The conversation with the first text that was lost for this reason, and that text."""
        found = self.state.funnel
        loss = next((loss for loss in found.losses if loss.gate == gate), None) if found is not None else None
        if loss is None:
            return
        key = list(self.state.runs)[loss.run]
        self.state = replace(turned_to(self.state, key), view="conversations", text=loss.text)
        self.say(None)
        self.query_one("#text-rows", BuiltRows).choose(str(loss.text))
        self.hand_over(self.focus_first)

    def action_more_days(self) -> None:
        self._counting.look_back(min(90, self.state.span * 2))

    def action_fewer_days(self) -> None:
        self._counting.look_back(max(7, self.state.span // 2))

    def action_cases(self) -> None:
        if self._engine is not None:
            self._counting.try_on_cases(self._engine)

    def action_export(self) -> None:
        if self.state.funnel is not None:
            self._counting.export(self.state)

    def action_settings(self) -> None:
        """Turn a setting of the funnel, or of the conversation that is shown."""
        if self.state.view == "funnel":
            self._counting.settings()
            return
        engine, trace, request = self._engine, self.state.trace, self.state.request
        talk = self.state.shown
        if engine is None or trace is None or request is None or talk is None:
            return
        now = {name: value for name, value in request.config.items() if talk.config.get(name) != value}

        def taken(answer: str | None) -> None:
            if answer is not None:
                settings = turned_by(answer, now)
                self.call(
                    RUN,
                    lambda token, report: working.turned(engine, talk, settings, trace, request),
                    lambda made: self._ran(*made),
                )

        self.app.push_screen(ChooseOne("With other settings", turned_options(now)), taken)

    def action_case(self) -> None:
        """Keep the conversation as a case: it should leave what it leaves now, without what was refused."""
        engine, trace, request = self._engine, self.state.trace, self.state.request
        if engine is None or trace is None or request is None:
            return
        refused = [
            trace.candidates[at].abstract for at, mark in self.state.marks.items() if mark == "refused"
        ]
        talk = self.state.shown

        def named(name: str | None) -> None:
            if name:
                self.call(
                    KEEP,
                    lambda token, report: working.kept_as_case(engine, clean(name), request, trace, refused),
                    lambda case: self.flash(
                        f"kept as a case: leaves {counted(len(case.expected), 'memory', 'memories')}"
                    ),
                )

        hint = "It should leave what it leaves now, without what you refused. Cases of Recall runs it."
        self.app.push_screen(TextPrompt("Keep it as a case", hint, "" if talk is None else talk.title), named)

    def _plan_job(self, name: str) -> None:
        engine, chat = self._engine, self._chat
        if engine is None:
            return
        talk = self.state.shown
        self.state = replace(self.state, job=name, waiting=f"previewing {name}")
        self.repaint()
        self.call(
            JOB,
            lambda token, report: jobs.planned(name, engine, talk, chat, token, report),
            self._have_plan,
            progress=self._advanced,
        )

    def _have_plan(self, found: JobPreview) -> None:
        self.state = replace(jobs.with_plan(self.state, found), heard="")
        self.repaint()

    def _apply_job(self) -> None:
        found = self.state.plans.get(self.state.job)
        if found is None or not found.changes.changes:
            self.flash("Preview the job first: {said.open}.", "note")
            return
        self.staging.stage(lambda engine: found.changes)

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
        self.call(
            WHY, lambda token, report: working.explained(engine, place, trace, request), self._have_verdict
        )

    def _take_remedy(self) -> None:
        """Capture again with the smallest change, which a replay has shown to keep the text."""
        engine, state, remedy = self._engine, self.state, self.state.remedy
        talk = state.shown
        if engine is None or remedy is None or talk is None or state.trace is None or state.request is None:
            return
        place, trace, request = state.text, state.trace, state.request

        def have(made: tuple[Talk, CaptureRequest, CaptureTrace]) -> None:
            self._ran(*made)
            self.flash(f"Kept with {remedy.setting}: {remedy.after}.", "note")

        self.call(
            RUN, lambda token, report: working.changed(engine, talk, remedy, place, trace, request), have
        )

    # ------------------------------------------------------------------ deciding

    def action_accept(self) -> None:
        if self.state.view != "inbox" and self.state.remedy is not None:
            self._take_remedy()
        else:
            self._deciding.accept()

    def action_refuse(self) -> None:
        self._deciding.refuse()

    def action_edit(self) -> None:
        self._deciding.edit()

    def action_apply(self) -> None:
        if self.state.view == "jobs":
            self._apply_job()
        else:
            self._deciding.apply()

    # ------------------------------------------------------------------ looking

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        state = self.state
        on_item = state.view == "inbox" and state.chosen is not None
        on_texts = state.view == "conversations"
        on_candidate = on_texts and bool(state.candidates)
        able = {
            "why_not": state.view == "conversations" and state.trace is not None,
            "accept": on_item or on_candidate or (on_texts and state.remedy is not None),
            "edit": on_item or on_candidate,
            "refuse": on_item or on_candidate,
            "apply": state.job in state.plans
            if state.view == "jobs"
            else on_texts and bool(state.to_apply()),
            "again": bool(state.talks if state.view == "funnel" else state.talk),
            **dict.fromkeys(("more_days", "fewer_days", "cases"), state.view == "funnel"),
            "export": state.view == "funnel" and state.funnel is not None and state.funnel.texts > 0,
            "settings": state.view == "funnel" or (on_texts and state.trace is not None),
            "case": on_texts and state.trace is not None,
        }
        return True if able.get(action, True) else None

    def action_previous_view(self) -> None:
        self._show_view(VIEWS[(VIEWS.index(self.state.view) - 1) % len(VIEWS)])

    def action_next_view(self) -> None:
        self._show_view(VIEWS[(VIEWS.index(self.state.view) + 1) % len(VIEWS)])

    def _show_view(self, view: View) -> None:
        self.state = replace(self.state, view=view, zoom="")
        if self.state.view != "conversations":
            self.say(None)
            if self.state.view == "funnel":
                self._count_funnel()
            self.focus_first()
        else:
            self.say(None if self.state.talks else self._nothing())
            self.hand_over(self.focus_first)

    def _count_funnel(self) -> None:
        """Count what was captured here; before that every conversation by rules, where it is little and asks nobody."""
        state, engine = self.state, self._engine
        few = 0 < len(state.talks) <= AT_ONCE and not state.runs and self._chat is None
        if few and engine is not None and engine.embeds_here:
            self._counting.every()
        else:
            self._counting.count()

    def action_zoom(self) -> None:
        here = self.focused.parent.id if self.focused is not None and self.focused.parent is not None else ""
        self.state = replace(self.state, zoom="" if self.state.zoom else here or "")
        self.query_one(LayoutContainer).rearrange()
        self.repaint()

    def action_back(self) -> None:
        if self.staging.stop() or self.dismiss_flash():
            return
        busy = [name for name in (RUN, JOB) if self.runner.busy(name)]
        if busy or self._counting.stop():
            for name in busy:
                self.runner.cancel(name)
            heard = self.state.heard if RUN in busy else ""
            self.state = replace(self.state, waiting="", heard="")
            self.say(None)
            if heard:
                self._keep_heard(heard)
            else:
                self.flash("Stopped; nothing was written.", "note")
        elif self.state.zoom:
            self.action_zoom()
        elif self.state.verdict is not None:
            self.state = replace(self.state, verdict=None)
            self.repaint()
        elif self.state.trace is not None and self.state.view == "conversations":
            self.state = put_aside(self.state)
            self.say(None)
            self.hand_over(self.focus_first)
