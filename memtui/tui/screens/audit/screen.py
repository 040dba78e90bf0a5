"""Audit: who got what, who may read what, what crossed, and how far one memory reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult

from memtui.engine import CancelToken, MemtuiError, mask, one_line
from memtui.tui import layouts, storeless
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.config_request import ConfigRequests
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.host import host
from memtui.tui.layout import WIDE_WIDTH, Arrangement, under_views
from memtui.tui.messages import AskRecall, OpenBisect, OpenBlame, ShowMemory, ShowReach
from memtui.tui.no_store import RETRY, of_session
from memtui.tui.screens.audit import below, cost_rows, reach_rows, reading, rights_rows, view
from memtui.tui.screens.audit.edit_rights import EditRights, plan_of
from memtui.tui.screens.audit.mend_choice import ask_mend
from memtui.tui.screens.audit.state import MOST_LIVE, VIEWS, AuditState, View, at_wish, first_memory
from memtui.tui.screens.audit.view import no_sessions
from memtui.tui.session import Session
from memtui.tui.storeless import is_storeless
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Build, BuiltRows, Row, RowList
from memtui.tui.widgets.state_panel import State, StatePanel, failed
from memtui.tui.widgets.view_rows import Look, painted

if TYPE_CHECKING:
    from memtui.engine import Engine, RecallRequest
    from memtui.engine.witness import Mend, ReplayedSession, ReplayedTurn


POLL_S = 2.0
"""How often the live view looks for a new version while it is in sight."""

REVEAL_S = 10.0

_TITLES: dict[View, tuple[str, str, str]] = {
    "sessions": ("Sessions", "Turns", "Turn"),
    "access": ("Who reads what", "Findings", "Permission"),
    "leaks": ("Leaks", "Channels", "Proof"),
    "reach": ("Reach", "Turns", "Fix"),
    "live": ("Live events", "Totals", "Injection cost"),
    "cost": ("Cost per day", "Most expensive", "Figures"),
}


Paint = Callable[[AuditState, int, Look], list[Row]]

_PAINT: dict[View, tuple[Paint, Paint, Paint]] = {
    "sessions": (below.sessions, below.turns, view.turn),
    "access": (rights_rows.matrix, rights_rows.findings, rights_rows.cell),
    "leaks": (reach_rows.leaks, reach_rows.channels, reach_rows.proof),
    "reach": (reach_rows.reach, reach_rows.reached_turns, reach_rows.change),
    "live": (reach_rows.live, reach_rows.live_counts, reach_rows.costs),
    "cost": (cost_rows.days, cost_rows.memories, cost_rows.figures),
}
"""List, what belongs to it, and detail of each view."""


def _shown(panel: int) -> Paint:
    return lambda state, width, look: _PAINT[state.view][panel](state, width, look)


class MatrixRows(BuiltRows):
    """The list of a view; in the matrix left and right move over the scopes."""

    BINDINGS = bindings("cells")

    class Moved(RowList.Highlighted):
        """The cursor moved to another scope: `steps` places."""

        def __init__(self, rows: RowList, key: str, steps: int) -> None:
            super().__init__(rows, key)
            self.steps = steps

    def action_left(self) -> None:
        self.post_message(self.Moved(self, self.key, -1))

    def action_right(self) -> None:
        self.post_message(self.Moved(self, self.key, 1))


class AuditScreen(BaseScreen):
    """Sessions and turns, rights, leaks, the reach of a memory, and what happens now."""

    MODE = "audit"
    BESIDE = frozenset(("live", "places", "got", "economy", "cost"))
    OF_ROW = frozenset(("turns", "again"))
    BINDINGS = bindings("audit")

    def __init__(self) -> None:
        super().__init__()
        self.state = AuditState()
        self.said = State("loading", "reading the sessions", skeleton=True)
        self._engine: Engine | None = None
        self._revision = -1
        self._seen = 0
        self._wished = ShowReach(view="sessions")
        """What was asked for and is still to be shown, as far as it is read."""

    def body(self) -> ComposeResult:
        yield LayoutContainer(
            BuiltRows(self._build(view.views), id="views"),
            Panel(StatePanel(), title="Audit", id="state"),
            Panel(MatrixRows(self._build(_shown(0)), id="list-rows"), title="Sessions", id="list"),
            Panel(BuiltRows(self._build(_shown(1)), id="aside-rows"), title="Turns", id="aside"),
            Panel(BuiltRows(self._build(_shown(2)), id="detail-rows"), title="Turn", id="detail"),
            arrange=self._arrange,
        )
        yield ConfigRequests()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#views").can_focus = False
        self._polling = self.set_interval(POLL_S, self._poll)

    def on_screen_resume(self) -> None:
        self._polling.resume()

    def on_screen_suspend(self) -> None:
        self._polling.pause()

    def _arrange(self, width: int, height: int) -> Arrangement:
        state = self.state
        panels = partial(layouts.audit, view=state.view)
        return under_views(width, height, panels, said=self.said is not None, zoom=state.zoom)

    def _build(self, paint: Paint) -> Build:
        return painted(host(self), lambda width, look: paint(self.state, width, look), view.ASCII_SIGNS)

    # the store, and what it answers

    def session_changed(self, session: Session) -> None:
        if session.engine is None or of_session(session) is not None:
            self._revision, self._engine = -1, None
            if is_storeless(session) and self.state.storeless:
                return  # another look at the same home: what is shown stays
            self.state = AuditState(view=self.state.view)
            self.say(of_session(session) or State("loading", "opening the store", skeleton=True))
            if is_storeless(session):
                self._read_home()
        elif session.revision != self._revision and session.phase == "ready":
            self._revision = session.revision
            fresh = session.engine is not self._engine
            self._engine = session.engine
            if fresh:
                self._seen = session.engine.info.version
                self._start(
                    "sessions",
                    reading.read_sessions,
                    lambda found: self._have_sessions(*found),
                    self._no_sessions_read,
                )
                if self._wished.id:
                    self._read_reach(self._wished.id)
                if self.state.view == "cost":
                    self._read_cost()

    def _read_home(self) -> None:
        """Without a store: the sessions of this environment's agents, by their own files."""
        environ = host(self).environ

        def have(found: tuple[Any, ...]) -> None:
            if found:
                self.state = replace(self.state, view="sessions", storeless=True)
                self._have_sessions(found, 0)

        work = partial(storeless.read_sessions, environ)
        self.call("sessions", lambda cancel, report: work(cancel), have, failed=self._no_sessions_read)

    def receive(self, wish: ShowReach) -> None:
        """Show the reach of a memory, or another view, with the cursor on the agent or the scope that is meant."""
        self._wished = wish
        self._show(wish.view)
        if self._engine is not None and wish.id:
            self._read_reach(wish.id)
        self._meet()

    def _meet(self) -> None:
        """Go to the agent or the scope that was asked for, once they are known."""
        answer = at_wish(self.state, self._wished, host(self).now_ms())
        if answer is None:
            return
        before, self._wished = self.state.session, ShowReach(view="sessions")
        self.state, told = answer
        if self.state.session != before:
            self._read_turns(self.state.session)
        if told:
            self.flash(told, "note")
        self.repaint()

    def _start(
        self,
        slot: str,
        work: Callable[[Engine, CancelToken], Any],
        then: Callable[[Any], None],
        failed: Callable[[MemtuiError], None] | None = None,
    ) -> None:
        """Run one reading on the store, where it is open."""
        engine = self._engine
        if engine is not None:
            self.call(slot, lambda cancel, report: work(engine, cancel), then, failed=failed)

    def _read_turns(self, session: str) -> None:
        if session and self.state.storeless:
            environ = host(self).environ
            self.call(
                "turns",
                lambda cancel, report: reading.read_turns_alone(environ, session, cancel),
                lambda replayed: self._have_turns(replayed, {}),
            )
        elif session:
            self._start(
                "turns",
                lambda engine, cancel: reading.read_turns(engine, session, cancel),
                lambda found: self._have_turns(*found),
            )

    def _ask(self, *, as_of: bool) -> None:
        replayed, turn = self.state.replayed, self.state.chosen
        if replayed is None or turn is None:
            return
        self._start(
            "again",
            lambda engine, cancel: reading.read_again(engine, replayed, turn, as_of, cancel),
            lambda found: self._have_asked(*found),
        )
        self.flash("asking it as of then" if as_of else "asking it today", "note")

    def _read_cost(self) -> None:
        self._start("cost", reading.read_cost_report, lambda found: self._have(cost=found[0], forms=found[1]))

    def _read_reach(self, memory: str) -> None:
        self.state = replace(self.state, reach=None, mends={})
        self._start(
            "reach", lambda engine, cancel: reading.read_reach(engine, memory, cancel), self._have_reach
        )
        self.repaint()

    def _poll(self) -> None:
        """Look for a new version while the live view is in sight; a paused one keeps its place."""
        seen = self._seen
        if self.state.view != "live" or self.state.paused or self.runner.busy("live"):
            return
        self._start("live", lambda engine, cancel: reading.read_new(engine, seen, cancel), self._have_new)

    def _have(self, **known: Any) -> None:
        """Something that a view shows was read."""
        self.state = replace(self.state, **known)
        self.repaint()

    def _have_rights(self, rights: Any) -> None:
        self._have(rights=rights, agent=self.state.agent or rights.matrix.agents[0].id)
        self._start("places", reading.read_places, lambda places: self._have(places=places))
        self._start("got", reading.read_got_scopes, lambda got: self._have(got=got))
        self._meet()

    def _have_leaks(self, found: tuple[Any, Any]) -> None:
        rights, leaks = found
        self._have(leaks=leaks, leak=0)
        if self.state.rights is None:
            self._have_rights(rights)

    def _have_reach(self, reach: Any) -> None:
        from memtui.engine.witness import usual_mends

        self._wished = ShowReach(view="sessions")
        self._have(reach=reach, mends=usual_mends(reach))
        self.query_one("#list-rows", BuiltRows).choose(reach.id)

    def _have_new(self, found: tuple[int, Sequence[Any]]) -> None:
        self._seen, fresh = found
        if fresh:
            self._have(live=(*reversed(fresh), *self.state.live)[:MOST_LIVE])

    def _have_sessions(self, found: tuple[Any, ...], count: int) -> None:
        ordered = sorted(found, key=lambda one: (one.file.agent, -one.ended_ms))
        session = self.state.session or (ordered[0].file.id if ordered else "")
        self.state = replace(self.state, sessions=tuple(ordered), session=session, injections=count)
        if not found and self.state.view == "sessions":
            self.say(no_sessions(count))
        else:
            self.say(None)
        self._read_turns(session)
        self._meet()

    def _have_turns(self, replayed: ReplayedSession, texts: Mapping[str, str]) -> None:
        first = replayed.turns[0].turn.n if replayed.turns else 0
        kept = self.state.turn if any(turn.turn.n == self.state.turn for turn in replayed.turns) else first
        self._have(replayed=replayed, texts=texts, turn=kept)
        if self.size.width >= WIDE_WIDTH and self.state.economy is None:  # its numbers stand below the lists
            self._start("economy", reading.read_costs, lambda costs: self._have(economy=costs))

    def _have_asked(self, session: str, asked: ReplayedTurn, as_of: bool) -> None:
        replayed = self.state.replayed
        if replayed is None or replayed.file.id != session:
            return
        turns = [asked if turn.turn.n == asked.turn.n else turn for turn in replayed.turns]
        told = next((warning for warning in asked.turn.warnings if warning.startswith("not asked again")), "")
        marks = self.state.asked if as_of or told else self.state.asked | {(session, asked.turn.n)}
        self._have(replayed=replace(replayed, turns=turns), asked=marks)
        if told:
            self.flash(told, "error")
        else:
            self.flash("asked as of then" if as_of else "asked today")

    def _bisect(self, found: tuple[RecallRequest, str, str]) -> None:
        self.post_message(OpenBisect(*found))

    def _no_sessions_read(self, error: MemtuiError) -> None:
        self.say(failed("the sessions could not be read", error, RETRY))

    # painting

    def focus_first(self) -> None:
        self.query_one(StatePanel if self.said is not None else "#list-rows").focus()

    def repaint(self) -> None:
        state = self.state
        keys = {
            "sessions": state.session,
            "access": state.agent,
            "leaks": str(state.leak),
            "cost": state.cost_row,
        }
        self.query_one("#views", BuiltRows).repaint()
        self.query_one("#list-rows", BuiltRows).repaint(keys.get(state.view))
        self.query_one("#aside-rows", BuiltRows).repaint(
            str(state.turn) if state.view == "sessions" else None
        )
        self.query_one("#detail-rows", BuiltRows).repaint()
        for panel, title, which in zip(
            ("list", "aside", "detail"), _TITLES[state.view], view.counts(state), strict=True
        ):
            self.query_one(f"#{panel}", Panel).headline(what=title, which=which)
        self.refresh_bindings()

    # what was chosen

    @on(RowList.Highlighted, "#list-rows")
    def _highlighted(self, event: RowList.Highlighted) -> None:
        event.stop()
        view, key = self.state.view, event.key
        if isinstance(event, MatrixRows.Moved):
            if view == "access" and self.state.scopes:
                column = max(0, min(len(self.state.scopes) - 1, self.state.column + event.steps))
                self.state = replace(self.state, column=column)
                self.repaint()
            return
        if view == "sessions" and key and key != self.state.session:
            self.state = replace(self.state, session=key, replayed=None, turn=0)
            self.repaint()
            self._read_turns(key)
        elif view == "access" and key and key != self.state.agent:
            self.state = replace(self.state, agent=key)
            self.repaint()
        elif view == "cost" and key != self.state.cost_row:
            self.state = replace(self.state, cost_row=key)
            self.repaint()
        elif view == "leaks" and key.isdigit() and int(key) != self.state.leak:
            self.state = replace(self.state, leak=int(key))
            self.repaint()

    @on(RowList.Highlighted, "#aside-rows")
    def _aside_highlighted(self, event: RowList.Highlighted) -> None:
        event.stop()
        if self.state.view == "sessions" and event.key.isdigit() and int(event.key) != self.state.turn:
            self._go_to(int(event.key))

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        order = ("list-rows", "aside-rows", "detail-rows")
        here = event.rows.id or ""
        if here == "detail-rows" and self.state.view == "sessions":
            self.action_reach()
        elif "#" in event.key:
            session, _, turn = event.key.rpartition("#")
            self._show("sessions")
            self.state = replace(self.state, session=session, replayed=None, turn=int(turn))
            self._read_turns(session)
            self.repaint()
        elif here == "list-rows" and event.key in self.state.mends and self.state.view == "reach":
            self.action_fix()
        elif here == "list-rows" and self.state.view == "access":
            self.query_one("#detail-rows").focus()  # what the cell says; the findings are of the whole store
        elif here in order[:2]:
            self.query_one(f"#{order[order.index(here) + 1]}").focus()

    @on(StatePanel.Chosen)
    def _chosen(self, message: StatePanel.Chosen) -> None:
        if message.choice.name == "access":
            self._show("access")
            return
        host(self).take(message.choice.name, message.choice.value)

    def _go_to(self, turn: int) -> None:
        self.state = replace(self.state, turn=turn)
        self.repaint()

    @property
    def _memory(self) -> str:
        """The id of the memory under the cursor of the panel in focus, or the one that is shown."""
        state = self.state
        if state.view == "sessions":
            key = self.query_one("#detail-rows", BuiltRows).key
            return key.partition(":")[2] if ":" in key else first_memory(state.chosen)
        if state.view == "leaks":
            return (state.shown_leak.id or "") if state.shown_leak is not None else ""
        if state.view == "cost":
            return self.query_one("#aside-rows", BuiltRows).key.partition(":")[2]
        if state.view == "live":
            panel = "detail-rows" if self.query_one("#detail-rows").has_focus else "list-rows"
            return self.query_one(f"#{panel}", BuiltRows).key.partition(":")[2]
        return self.query_one("#list-rows", BuiltRows).key if state.view == "reach" else ""

    # actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        state, turn = self.state, self.state.chosen
        in_sessions = state.view == "sessions" and self.said is None
        on_store = in_sessions and not state.storeless
        able = {
            "before": in_sessions and turn is not None,
            "after": in_sessions and turn is not None,
            "differs": in_sessions and bool(view.odd_turns(state)),
            "today": on_store and turn is not None and bool(turn.memories),
            "as_of": on_store and turn is not None and bool(turn.memories),
            "bisect": on_store and turn is not None and bool(turn.memories),
            "recall": on_store and turn is not None and bool(turn.turn.question),
            "case": on_store and turn is not None and bool(turn.memories),
            "apply": state.view == "reach" and view.changes_something(state),
            "fix": state.view == "reach" and bool(state.mends),
            "pack": state.view == "reach" and state.reach is not None,
            "edit": state.view == "access" and state.editable,
            "undo_config": state.view == "access",
            "follow": state.view == "live",
            "filter": state.view == "live",
        }
        return True if able.get(action, True) else None

    def _show(self, view: View) -> None:
        self.state = replace(self.state, view=view, zoom="")
        if self._engine is not None:
            empty = view == "sessions" and self.state.sessions == ()
            self.say(no_sessions(self.state.injections) if empty else None)
            if view == "access" and self.state.rights is None:
                self._start("rights", reading.read_all_rights, self._have_rights)
            if view == "leaks" and self.state.leaks is None:
                self._start("leaks", reading.read_leaks, self._have_leaks)
            if view == "reach" and self.state.reach is None and self._first_injected:
                self._read_reach(self._first_injected)
            if view == "live":
                self._start("economy", reading.read_costs, lambda costs: self._have(economy=costs))
            if view == "cost":
                self._read_cost()
            if self.said is None:
                self.query_one("#list-rows").focus()
        elif self.state.storeless:
            lacking = storeless.needs_store(host(self).session, _TITLES[view][0])
            self.say(None if view == "sessions" else lacking)
        self.repaint()

    @property
    def _first_injected(self) -> str:
        """The first memory that the turn under the cursor got; empty where none is known."""
        chosen = self.state.chosen
        memories = chosen.memories if chosen is not None and chosen.memories else ()
        return next((memory.id for memory in memories if memory.id), "")

    def action_cost(self) -> None:
        """What memory costs: by agent and day, the prompt cache, and other forms of the block."""
        self._show("cost")

    def action_previous_view(self) -> None:
        self._show(VIEWS[(VIEWS.index(self.state.view) - 1) % len(VIEWS)])

    def action_next_view(self) -> None:
        self._show(VIEWS[(VIEWS.index(self.state.view) + 1) % len(VIEWS)])

    def _step(self, steps: int) -> None:
        numbers = [turn.turn.n for turn in (self.state.replayed.turns if self.state.replayed else [])]
        if self.state.turn in numbers:
            at = numbers.index(self.state.turn) + steps
            self._go_to(numbers[max(0, min(len(numbers) - 1, at))])

    def action_before(self) -> None:
        self._step(-1)

    def action_after(self) -> None:
        self._step(1)

    def action_differs(self) -> None:
        odd = view.odd_turns(self.state)
        if odd:
            self._go_to(next((each for each in odd if each > self.state.turn), odd[0]))

    def action_today(self) -> None:
        self._ask(as_of=False)

    def action_as_of(self) -> None:
        self._ask(as_of=True)

    def action_recall(self) -> None:
        if self.state.chosen is not None:
            self.post_message(AskRecall(self.state.chosen.turn.question))

    def action_bisect(self) -> None:
        turn, replayed = self.state.chosen, self.state.replayed
        if turn is None or replayed is None:
            return
        memory = self._memory
        if not memory:
            self.flash("no memory of this turn is known", "note")
            return
        agent = replayed.file.agent
        self._start(
            "bisect",
            lambda engine, cancel: reading.for_bisect(engine, turn, agent, memory),
            self._bisect,
        )

    def action_case(self) -> None:
        turn, replayed = self.state.chosen, self.state.replayed
        if turn is not None and replayed is not None:
            self._start("case", lambda engine, cancel: reading.keep_case(engine, replayed, turn), self.flash)

    def action_blame(self) -> None:
        """Ask which memory a wrong answer rests on; the answer of the turn under the cursor is filled in."""
        turn, replayed = self.state.chosen, self.state.replayed
        answer = mask(one_line(turn.turn.answer))[0] if turn is not None else ""
        if self.state.view == "sessions" and replayed is not None and turn is not None and answer:
            self.post_message(OpenBlame("", answer, replayed.file.id, turn.turn.n))
        else:
            self.post_message(OpenBlame())

    def action_reach(self) -> None:
        memory = self._memory
        if not memory:
            self.flash("no memory under the cursor", "note")
            return
        self._show("reach")
        self._read_reach(memory)

    def action_browse(self) -> None:
        if memory := self._memory:
            self.post_message(ShowMemory(memory))

    def action_apply(self) -> None:
        reach = self.state.reach
        if reach is None:
            return

        mends = dict(self.state.mends)

        def make(engine: Engine) -> Any:
            from memtui.engine.witness import plan_mends

            return plan_mends(engine, reach, mends)

        self.staging.stage(make)

    def action_fix(self) -> None:
        """Choose what becomes of the row under the cursor."""
        engine, row = self._engine, self._memory
        if engine is None or row not in self.state.mends:
            self.flash("no row of the store under the cursor", "note")
            return

        def chosen(mend: Mend) -> None:
            self._have(mends={**self.state.mends, row: mend})

        ask_mend(self.app, engine, row, self.state.mends[row], chosen, lambda said: self.flash(said, "error"))

    def action_pack(self) -> None:
        reach = self.state.reach
        if reach is None:
            return

        def named(name: str | None) -> None:
            if name is not None:
                self._start(
                    "pack",
                    lambda engine, cancel: reading.write_proof(engine, reach.id, name, cancel),
                    lambda path: self.flash(f"wrote {path}"),
                )

        hint = "One zip: what was stored, who could and did read it, what remains. Secrets are masked."
        self.app.push_screen(TextPrompt("Proof pack", hint, f"proof-{reach.id[:8]}.zip"), named)

    def action_edit(self) -> None:
        """What the agent under the cursor may read, as a planned change of the configuration."""
        rights, agent = self.state.rights, self.state.agent
        if rights is None or not self.state.editable:
            return

        def taken(answer: tuple[tuple[str, ...] | None] | None) -> None:
            if answer is not None:
                self.query_one(ConfigRequests).preview(plan_of(rights, agent, answer[0]))

        def known(why_not: str) -> None:
            if why_not:
                self.flash(why_not, "note")
            else:
                self.app.push_screen(EditRights(rights, agent), taken)

        self._start("lists", lambda engine, cancel: reading.read_why_no_lists(engine), known)

    def action_undo_config(self) -> None:
        """Take back the last change of the configuration that memtui wrote."""
        self.query_one(ConfigRequests).undo()

    @on(ConfigRequests.Written)
    def _written(self) -> None:
        """The rules are others now: what was read by the old ones is read again."""
        self.state = replace(self.state, rights=None, leaks=None)
        self._start("rights", reading.read_rights_anew, self._have_rights)
        self.repaint()

    def action_follow(self) -> None:
        self.state = replace(self.state, paused=not self.state.paused)
        self.repaint()

    def action_filter(self) -> None:
        def worded(words: str | None) -> None:
            if words is not None:
                self.state = replace(self.state, words=words)
                self.repaint()

        hint = "Words that must all be in a row's kind, scope, id or preview; -word must not be."
        self.app.push_screen(TextPrompt("Only these", hint, self.state.words), worded)

    def action_reveal(self) -> None:
        self.state = replace(self.state, revealed=True)
        self.repaint()
        self.set_timer(REVEAL_S, self._hide)

    def _hide(self) -> None:
        self.state = replace(self.state, revealed=False)
        self.repaint()

    def action_zoom(self) -> None:
        focused = (
            self.focused.parent.id if self.focused is not None and self.focused.parent is not None else ""
        )
        panel = focused if focused in ("list", "aside", "detail") else "list"
        self.state = replace(self.state, zoom="" if self.state.zoom else str(panel))
        self.query_one(LayoutContainer).rearrange()
        self.repaint()

    def action_back(self) -> None:
        if self.staging.stop() or self.dismiss_flash():
            return
        if self.state.zoom:
            self.action_zoom()
        elif self.state.view == "live" and self.state.words:
            self.state = replace(self.state, words="")
            self.repaint()
        elif self.said is None:
            self.query_one("#list-rows").focus()
