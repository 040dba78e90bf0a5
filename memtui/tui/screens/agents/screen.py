"""Agents: who is connected, what they call as it happens, what they may, and what is kept for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult

from memtui.engine import CancelToken, counted
from memtui.engine.access import DEFAULT_AGENT
from memtui.tui import layouts, storeless
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.host import host
from memtui.tui.layout import Arrangement, under_views
from memtui.tui.messages import AskCapture, AskRecall, ShowMemory
from memtui.tui.no_store import of_session
from memtui.tui.paint.numbers import full
from memtui.tui.screens.agents import connecting, reading, view
from memtui.tui.screens.agents.day import day_rows
from memtui.tui.screens.agents.state import (
    VIEWS,
    AgentsState,
    PlannedRights,
    View,
    key_of,
    question_of,
    text_of,
)
from memtui.tui.session import Session
from memtui.tui.storeless import is_storeless
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Build, BuiltRows, Row, RowList
from memtui.tui.widgets.state_panel import Choice, State, StatePanel
from memtui.tui.widgets.view_rows import Look, painted

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.hosts import HostPlan

POLL_S = 1.0
"""How often the journal of calls is looked at while this place is in sight."""

_TITLES: dict[View, tuple[str, str, str]] = {
    "live": ("Live", "Connected", "Call"),
    "rights": ("Clients", "Activity", "Permissions"),
    "documents": ("Scopes", "Documents", "Working set"),
    "to-dos": ("To-dos", "Guardrails", "To-do"),
}

Paint = Callable[[AgentsState, int, Look], list[Row]]

_PAINT: dict[View, tuple[Paint, Paint, Paint]] = {
    "live": (view.feed, view.here, view.call_rows),
    "rights": (view.rights, view.clients_of_day, view.edited),
    "documents": (view.scopes, view.folders, view.working_set),
    "to-dos": (view.todos, view.todo_rules, view.todo),
}
"""List, what belongs to it, and detail of each view."""


def _shown(panel: int) -> Paint:
    return lambda state, width, look: _PAINT[state.view][panel](state, width, look)


class AgentsScreen(BaseScreen):
    """Calls as they come, rights, documents with working sets, to-dos."""

    MODE = "agents"
    BESIDE = frozenset(("feed", "counts"))
    OF_ROW = frozenset(("call",))
    BINDINGS = bindings("agents")

    def __init__(self) -> None:
        super().__init__()
        self.state = AgentsState()
        self.said = State("loading", "reading the journal of calls", skeleton=True)
        self._engine: Engine | None = None
        self._revision = -1
        self._seen: reading.Stamp | None = None

    def body(self) -> ComposeResult:
        yield LayoutContainer(
            BuiltRows(self._build(view.views), id="views"),
            Panel(StatePanel(), title="Agents", id="state"),
            Panel(BuiltRows(self._build(_shown(0)), id="list-rows"), title="Live", id="list"),
            Panel(BuiltRows(self._build(_shown(2)), id="detail-rows"), title="Call", id="detail"),
            Panel(BuiltRows(self._build(_shown(1)), id="aside-rows"), title="Connected", id="aside"),
            Panel(BuiltRows(self._build(day_rows), id="day-rows"), title="24 hours", id="day"),
            arrange=self._arrange,
        )

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#views").can_focus = False
        self._polling = self.set_interval(POLL_S, self._poll)

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        self._polling.resume()

    def on_screen_suspend(self) -> None:
        self._polling.pause()

    def _arrange(self, width: int, height: int) -> Arrangement:
        zoom = self.state.zoom
        return under_views(width, height, layouts.agents, said=self.said is not None, zoom=zoom)

    def _build(self, paint: Paint) -> Build:
        return painted(host(self), lambda width, look: paint(self.state, width, look), view.ASCII_SIGNS)

    # ------------------------------------------------------------------ the store, and what it answers

    def session_changed(self, session: Session) -> None:
        if session.engine is None or of_session(session) is not None:
            self._revision, self._engine, self._seen = -1, None, None
            self.state = AgentsState(view=self.state.view)
            self.say(of_session(session) or State("loading", "opening the store", skeleton=True))
            if is_storeless(session):
                self._read_home(session)
        elif session.revision != self._revision and session.phase == "ready":
            self._revision, self._engine, self._seen = session.revision, session.engine, None
            self.state = replace(self.state, sets={}, todos=None, folders=None, sources=None, memories={})
            self._poll()
            self._start("counts", reading.read_counts, self._have_counts)
            self._read_view()

    def _read_home(self, session: Session) -> None:
        """Without a store: what the agents' own files tell."""
        app = host(self)
        self.call(
            "home",
            lambda cancel, report: storeless.read_home(app.environ, app.now_ms(), cancel),
            lambda home: self.say(storeless.agents_state(session, home, app.zone)),
        )

    def _start(
        self, slot: str, work: Callable[[Engine, CancelToken], Any], then: Callable[[Any], None]
    ) -> None:
        """Run one reading on the store, where it is open."""
        engine = self._engine
        if engine is not None:
            self.call(slot, lambda cancel, report: work(engine, cancel), then)

    def _poll(self) -> None:
        """Look for new calls; a feed that stands still keeps its place."""
        seen = self._seen
        if self.runner.busy("feed") or (self.state.paused and seen is not None):
            return
        self._start("feed", lambda engine, cancel: reading.read_feed(engine, seen, cancel), self._have_feed)

    def _have(self, **known: Any) -> None:
        self.state = replace(self.state, **known)
        self.repaint()

    def _have_counts(self, counts: dict[str, int]) -> None:
        self._have(counts=counts)
        self._read_view()

    def _have_feed(self, found: reading.Feed | None) -> None:
        if found is None:
            return
        self._seen, calls, clients, day, about = found
        state = self.state
        newest = key_of(calls[0]) if calls else ""
        at_top = not state.call or (
            bool(state.calls) and state.calls is not None and state.call == key_of(state.calls[0])
        )
        client = state.client or (clients[0].name if clients else "")
        self.state = replace(
            state,
            calls=calls,
            clients=clients,
            day=day,
            memories={**state.memories, **about},
            call=newest if at_top else state.call,
            client=client,
        )
        self.say(None if calls or clients else _nobody())
        self._read_call(again=True)  # what was called may have changed them
        self.repaint()

    def _read_call(self, *, again: bool = False) -> None:
        """Read the memories of the call under the cursor, those that are not known yet or, `again`, all."""
        call = self.state.chosen
        ids = call.ids[:20] if call is not None else ()
        missing = [memory_id for memory_id in ids if again or memory_id not in self.state.memories]
        if missing:
            self._start(
                "call",
                lambda engine, cancel: reading.read_memories(engine, missing, cancel),
                lambda found: self._have(memories={**self.state.memories, **found}),
            )

    def _read_view(self) -> None:
        """Read what the view in sight shows and is not read yet."""
        state = self.state
        if state.view == "documents":
            if state.folders is None:
                self._start("folders", reading.read_folders, lambda folders: self._have(folders=folders))
            if state.sources is None:
                self._start("sources", reading.read_sources, lambda found: self._have(sources=found))
            scope = state.scope or (state.scopes[0] if state.scopes else "")
            if scope and scope not in state.sets:
                self.state = replace(state, scope=scope)
                self._start(
                    "set",
                    lambda engine, cancel: reading.read_set(engine, scope, cancel),
                    lambda found: self._have(
                        sets={**self.state.sets, found[0]: found[1]},
                        memories={**self.state.memories, **found[2]},
                    ),
                )
        elif state.view == "to-dos" and state.todos is None:
            self._start("todos", reading.read_todos, self._have_todos)

    def _have_todos(self, todos: tuple[Any, ...]) -> None:
        self._have(todos=todos, todo=self.state.todo or (todos[0].memory.id if todos else ""))

    # ------------------------------------------------------------------ painting

    def focus_first(self) -> None:
        self.query_one(StatePanel if self.said is not None else "#list-rows").focus()

    def repaint(self) -> None:
        state = self.state
        keys = {"live": state.call, "rights": state.client, "documents": state.scope, "to-dos": state.todo}
        self.query_one("#views", BuiltRows).repaint()
        self.query_one("#list-rows", BuiltRows).repaint(keys[state.view])
        for name in ("#aside-rows", "#detail-rows", "#day-rows"):
            self.query_one(name, BuiltRows).repaint()
        for panel, title, which in zip(
            ("list", "aside", "detail"), _TITLES[state.view], self._counts(), strict=True
        ):
            self.query_one(f"#{panel}", Panel).headline(what=title, which=which)
        self.query_one("#day", Panel).headline()
        self.refresh_bindings()

    def _counts(self) -> tuple[str, str, str]:
        """What stands at the right of each title."""
        state = self.state
        call = state.chosen
        if state.view == "live":
            tokens = sum(client.client is not None for client in state.clients)
            told = f"{counted(tokens, 'client')}, {counted(len(state.clients), 'caller')}"
            shown = (
                f"{full(len(state.shown))} of {full(len(state.calls or ()))}"
                if state.words
                else full(len(state.shown))
            )
            return shown, told, f"{view.who_of(call)}" if call is not None else ""
        if state.view == "rights":
            planned = "plan, not written" if state.plan is not None else state.client
            return full(len(state.clients)), "", planned
        if state.view == "documents":
            return full(len(state.scopes)), full(view.documents_of(state)), state.scope
        return full(len(state.todos or ())), "", ""

    # ------------------------------------------------------------------ what was chosen

    @on(RowList.Highlighted, "#list-rows")
    def _highlighted(self, event: RowList.Highlighted) -> None:
        event.stop()
        name = {"live": "call", "rights": "client", "documents": "scope", "to-dos": "todo"}[self.state.view]
        if event.key and event.key != getattr(self.state, name):
            moved: dict[str, Any] = {name: event.key}
            self.state = replace(self.state, **moved)
            self.repaint()
            self._read_call()
            self._read_view()

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        here = event.rows.id
        if here == "list-rows" and self.state.view == "rights":
            self.action_edit()
        elif here == "list-rows" and self.state.view == "live":
            self.action_open()
        elif here == "aside-rows" and self.state.view == "live":
            self.state = replace(self.state, words=event.key)
            self.repaint()
        elif here == "list-rows" and self.state.view == "documents":
            self.query_one("#detail-rows").focus()
        elif event.key:
            self.post_message(ShowMemory(event.key))

    @on(StatePanel.Chosen)
    def _chosen(self, message: StatePanel.Chosen) -> None:
        if message.choice is CONNECT_HOST:
            self.action_connect()
            return
        if message.choice is ADD_CLIENT:
            self.action_add()
            return
        host(self).take(message.choice.name, message.choice.value)

    @property
    def _memory(self) -> str:
        """The id of the memory that a key means."""
        state = self.state
        detail = self.query_one("#detail-rows", BuiltRows)
        if detail.has_focus and detail.key:
            return detail.key
        if state.view == "to-dos":
            return state.todo
        call = state.chosen
        return call.ids[0] if state.view == "live" and call is not None and call.ids else ""

    def _client(self) -> str:
        """The register's name of the client that a key means: of the call, or the row of the rights."""
        state = self.state
        if state.view == "rights":
            return state.client if state.client != view.ADD else ""
        call, aside = state.chosen, self.query_one("#aside-rows", BuiltRows)
        if aside.has_focus:
            return aside.key
        names = {
            client.activity.client: client.name for client in state.clients if client.activity is not None
        }
        return names.get(call.client, call.client) if call is not None else ""

    # ------------------------------------------------------------------ actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        state = self.state
        live, granted = state.view == "live", state.view == "rights"
        able = {
            "open": live and bool(view.openable(state)),
            "ask": live and "recall" in view.openable(state),
            "explain": live and "recall" in view.openable(state),
            "browse": bool(self._memory) if self.is_mounted else False,
            "filter": live,
            "edit": granted,
            "apply": granted and state.plan is not None,
            "copy": granted,
            "connect": self._engine is not None,
        }
        return True if able.get(action, True) else None

    def _show(self, view: View) -> None:
        self.state = replace(self.state, view=view, zoom="", plan=None, token=None)
        self._read_view()
        self.query_one(LayoutContainer).rearrange()
        self.repaint()
        if self.said is None:
            self.query_one("#list-rows").focus()

    def action_previous_view(self) -> None:
        self._show(VIEWS[(VIEWS.index(self.state.view) - 1) % len(VIEWS)])

    def action_next_view(self) -> None:
        self._show(VIEWS[(VIEWS.index(self.state.view) + 1) % len(VIEWS)])

    def action_open(self) -> None:
        """The call where its trace is made: a question in Recall, a text in Capture; else its memory in Browse."""
        call, ways = self.state.chosen, view.openable(self.state)
        if call is None or not ways:
            self.flash(
                "its words are not kept, and it gave no memory: --keep-texts keeps what is asked", "note"
            )
        elif ways[0] == "recall":
            self.post_message(AskRecall(question_of(call), agent=call.agent))
        elif ways[0] == "capture":
            self.post_message(AskCapture(text_of(call)))
        else:
            self.flash("its words are not kept: memtui mcp --keep-texts keeps what is asked", "note")
            self.query_one("#detail-rows").focus()

    def action_ask(self) -> None:
        if self.state.chosen is not None:
            self.post_message(AskRecall(question_of(self.state.chosen), agent=self.state.chosen.agent))

    def action_explain(self) -> None:
        self.action_ask()

    def action_browse(self) -> None:
        if memory := self._memory:
            self.post_message(ShowMemory(memory))

    def action_follow(self) -> None:
        """Let the feed stand still, or pause the client of the rights; and back."""
        if self.state.view != "rights":
            self.state = replace(self.state, paused=not self.state.paused)
            self.repaint()
            return
        row = self.state.who
        if row is not None:
            self._change(
                lambda engine: reading.register_of(engine).pause(row.name, not row.paused),
                f"{row.name} is {'active again' if row.paused else 'paused: its calls are refused'}",
            )

    def action_remove(self) -> None:
        """Take a client's token away for good, after a yes."""
        name = self._client()
        row = next((client for client in self.state.clients if client.name == name), None)
        if row is None or row.client is None or not row.client.token_hash:
            self.flash("it has no token to revoke: {agents.follow} in permissions pauses it", "note")
            return

        def answered(yes: str | None) -> None:
            if yes == "revoke":
                self._change(
                    lambda engine: reading.register_of(engine).revoke(row.name),
                    f"{row.name} is revoked: its token no longer works",
                )

        keep = Option("keep", "keep it", "nothing changes")
        revoke = Option("revoke", f"revoke {row.name}", "its token stops working; what it wrote stays")
        self.app.push_screen(ChooseOne(f"Revoke {row.name}?", (keep, revoke)), answered)

    def action_add(self) -> None:
        """Ask for the name of a new client, beside the permissions of all."""
        if self.state.view != "rights":
            self._show("rights")
        hint = "Its name. Its token is shown once; it acts for the agent of the same name."
        self.app.push_screen(TextPrompt("Add client", hint), self._let_in)

    def action_connect(self) -> None:
        """Choose a host, then what to do with its file; it is written after a look at its lines."""
        engine = self._engine
        if engine is None:
            return
        environ = engine.environ
        self.call("hosts", lambda cancel, report: connecting.read_hosts(environ), self._choose_host)

    def _choose_host(self, hosts: tuple[Option, ...]) -> None:
        row = self.state.who if self.state.view == "rights" else None
        agent = (row.agent if row is not None else "") or DEFAULT_AGENT

        def chosen(name: str | None) -> None:
            if name is not None:
                title = f"Connect {name}"
                ways = ChooseOne(title, connecting.ways_for(agent))
                self.app.push_screen(ways, lambda way: self._connect(name, way, agent))

        self.app.push_screen(ChooseOne("Connect a host", hosts), chosen)

    def _connect(self, name: str, way: str | None, agent: str) -> None:
        if way == "check":
            self.flash(f"starting what the file of {name} says", "note")
            self._start("hosts", lambda engine, cancel: connecting.check_connection(engine, name), self.flash)
        elif way is not None:
            self._start(
                "hosts",
                lambda engine, cancel: connecting.plan_connection(engine, name, way, agent),
                self._preview_connection,
            )

    def _preview_connection(self, plan: HostPlan) -> None:
        if not plan.changed and not plan.undoes:
            self.flash(f"{plan.host} is connected so already: nothing to change", "note")
            return

        def answered(answer: str | None) -> None:
            if answer == "write":
                self._start(
                    "hosts",
                    lambda engine, cancel: connecting.write_connection(engine, plan),
                    lambda record: self.flash(connecting.written_words(plan, record)),
                )

        self.app.push_screen(connecting.HostPreview(plan), answered)

    def action_edit(self) -> None:
        """Other permissions for the client under the cursor, as a plan; or a name to let in."""
        if self.state.client == view.ADD or self.state.who is None:
            self.action_add()
            return
        row = self.state.who
        if row.client is None or not row.client.token_hash:
            self.flash("it has no token: its start options decide its permissions", "note")
            return
        client = row.client
        now = PlannedRights(client.name, client.agent, client.reads, client.writes, client.rate)

        def planned(text: str | None) -> None:
            plan = view.parse_plan(client.name, text) if text is not None else None
            if isinstance(plan, str):
                self.flash(plan, "error")
            elif plan is not None:
                self._have(plan=plan)

        hint = "reads=own or scopes with commas; writes=own, nothing or a scope; rate=calls a minute, 0 for no limit."
        self.app.push_screen(TextPrompt(f"Permissions of {client.name}", hint, view.plan_line(now)), planned)

    def _let_in(self, name: str | None) -> None:
        if name is not None and name.strip():
            self._start(
                "register",
                lambda engine, cancel: reading.let_in(engine, name.strip()),
                lambda token: self._have(token=token, client=token[0]),
            )

    def action_apply(self) -> None:
        plan = self.state.plan
        if plan is not None:
            self._change(
                lambda engine: reading.apply_rights(engine, plan), f"{plan.name} has these permissions now"
            )

    def _change(self, work: Callable[[Engine], None], said: str) -> None:
        def changed(_: Any) -> None:
            self.state = replace(self.state, plan=None)
            self._seen = None
            self.flash(said)
            self._poll()

        self._start("register", lambda engine, cancel: work(engine), changed)

    def action_copy(self) -> None:
        row, token = self.state.who, self.state.token
        if token is not None:
            host(self).copy(token[1], "token")
        elif row is not None:
            host(self).copy(view.block_of(row), "configuration block")

    def action_filter(self) -> None:
        def worded(words: str | None) -> None:
            if words is not None:
                self._have(words=words)

        hint = "Words that must all be in a call: its client, tool, outcome, ids; -word must not be. "
        hint += f"{host(self).keys.cap('agents.back')} on the list shows all again."
        self.app.push_screen(TextPrompt("Only these calls", hint, self.state.words), worded)

    def action_zoom(self) -> None:
        focused = (
            self.focused.parent.id if self.focused is not None and self.focused.parent is not None else ""
        )
        panel = focused if focused in ("list", "aside", "detail", "day") else "list"
        self.state = replace(self.state, zoom="" if self.state.zoom else str(panel))
        self.query_one(LayoutContainer).rearrange()
        self.repaint()

    def action_back(self) -> None:
        if self.dismiss_flash():
            return
        if self.state.zoom:
            self.action_zoom()
        elif self.state.plan is not None or self.state.token is not None:
            self._have(plan=None, token=None)
        elif self.state.words:
            self._have(words="")
        elif self.said is None:
            self.query_one("#list-rows").focus()


ADD_CLIENT = Choice("add-client", "add a client", "a name; its token is shown once", key="agents.add")

CONNECT_HOST = Choice(
    "connect-host", "connect a host", "its file is written after a preview", key="agents.connect"
)


def _nobody() -> State:
    ways = (CONNECT_HOST, ADD_CLIENT)
    return State("empty", "Clients and their calls will be listed here.", view.TO_BEGIN, ways)
