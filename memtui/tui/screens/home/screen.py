"""Home: is my memory healthy, what is in it, what should I do. Every number is a link into Browse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.style import Style

from memtui.engine import counted, one_line
from memtui.paths import cases_file, questions_file
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.host import host
from memtui.tui.layout import FOUR_COLUMNS, Arrangement, Box, home, home_columns, size_class
from memtui.tui.messages import OpenBlame, RunFailed, RunFinished, ShowInBrowse
from memtui.tui.no_store import of_session
from memtui.tui.paint.numbers import full, short, so_far
from memtui.tui.screens.home import alive_line, injections
from memtui.tui.screens.home.link_list import LinkList, LinkRow
from memtui.tui.screens.home.view import (
    ENTRIES,
    CasesWanted,
    Lately,
    ask,
    attention_rows,
    case_rows,
    category_rows,
    growth_lines,
    journal_rows,
    later_answers,
    newest_rows,
    scope_rows,
    store_rows,
    tier_rows,
)
from memtui.tui.session import Session
from memtui.tui.startup.preload import MODES
from memtui.tui.storeless import AgentsHome, home_state, is_storeless, read_home
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.state_panel import StatePanel

if TYPE_CHECKING:
    from memtui.engine import CancelToken, Engine, Memory, StoreInfo
    from memtui.engine.alive import Aliveness
    from memtui.engine.catalog import Stats
    from memtui.engine.witness import InjectionEconomy


TITLES = {
    "store": "Store",
    "growth": "Growth",
    "attention": "Needs attention",
    "tiers": "Tiers",
    "scopes": "Scopes by size",
    "categories": "Categories",
    "start": "Start",
    "newest": "Newest memories",
    "journal": "Latest changes",
    "injections": "Injections",
    "cases": "Questions",
}

_WHERE = {
    "attention": "{links.follow} opens",
    "tiers": "{app.go-lifecycle} lifecycle",
    "scopes": "{app.go-browse} browse",
    "journal": "{app.go-journal} journal",
    "injections": "{app.go-audit} audit",
    "cases": "{app.go-recall} recall",
}
"""Where more of it is."""

_PANEL = {"book": "cases", "later": "cases", "alive": "attention"}
"""Where what a call answers is shown, if not in the panel of its name."""

NEWEST_ROWS = 40

MOST_ROWS = 60
"""More rows than a panel of the tallest screen has."""

FRAME = 4
"""Cells of a panel's width that are not its text."""

PLACES = tuple(f"app.go-{mode}" for mode in MODES if mode != "home")
"""The other screens, in the order of their keys."""

START = ("home.filter", "app.palette", "app.help", "home.open-path", "app.jump")
"""What else a first minute begins with."""

PLACE_CELLS = 17
"""One of two screens in a row: its key and its name."""


class HomeScreen(BaseScreen):
    """The first screen: panels of counts, or what to do when there is no store."""

    MODE = "home"
    BESIDE = frozenset(("alive", "injections", "cases", "journal", "book", "later"))
    CSS_PATH = "home.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings("home")

    def body(self) -> ComposeResult:
        builders: dict[str, Callable[[int, int], list[LinkRow]]] = {
            "store": self._store,
            "growth": self._growth,
            "attention": self._attention,
            "tiers": self._tiers,
            "scopes": self._scopes,
            "categories": self._categories,
            "start": self._start,
            "newest": self._newest,
            "journal": self._journal,
            "cases": self._cases,
            "injections": self._injections,
        }
        yield LayoutContainer(
            Panel(StatePanel(), title="memtui", id="state"),
            *(Panel(LinkList(build), title=TITLES[name], id=name) for name, build in builders.items()),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        if not self.session.open:
            return {"state": Box(0, 0, width, height)}
        needs = self._needs(width) if size_class(width) == "wide" else {}
        return home(width, height, injections=self._economy is not None, needs=needs)

    def _needs(self, width: int) -> dict[str, int]:
        """The rows that each panel of a large screen needs, with its frame."""
        left, middle, right = (max(20, cells - FRAME) for cells in home_columns(width))
        more = width >= FOUR_COLUMNS
        panels = {
            "store": (self._store, left),
            "tiers": (self._tiers, left),
            "categories": (self._categories, left),
            "scopes": (self._scopes, left),
            "attention": (self._attention, middle if more else right),
            "journal": (self._journal, right),
            "cases": (self._cases, right),
            "start": (self._start, right),
        }
        return {name: len(build(cells, MOST_ROWS)) + 2 for name, (build, cells) in panels.items()}

    def __init__(self) -> None:
        super().__init__()
        self._newest_memories: Sequence[Memory] = ()
        self._lately = Lately()
        self._economy: InjectionEconomy | None = None
        self._alive: Aliveness | None = None
        self._revision = -1
        self._asked_again = (-1, 0)

    def _read_home(self, session: Session) -> None:
        """Without a store: whether agents work here all the same, and where that can be seen."""
        app = host(self)

        def have(home: AgentsHome) -> None:
            if is_storeless(app.session):
                self.query_one(StatePanel).state = home_state(session, home)

        self.call("home", lambda cancel, report: read_home(app.environ, app.now_ms(), cancel), have)

    def session_changed(self, session: Session) -> None:
        said = of_session(session)
        had = isinstance(self.focused, StatePanel) or self.focused is None
        if said is not None:
            self.query_one(StatePanel).state = said
        self.query_one(LayoutContainer).rearrange()
        if said is not None:
            self.hand_over(self.query_one(StatePanel).focus)
            if is_storeless(session):
                self._read_home(session)
            return
        engine = session.engine
        if engine is not None and session.revision != self._revision:
            self._revision = session.revision
            self.runner.start("newest", lambda token, report: _newest(engine, token))
            self._read_lately()
            self._economy = None
            self._alive = None
            if engine.environ:
                self.runner.start("injections", lambda token, report: injections.read(engine, token))
            if engine.environ and engine.found is not None and engine.found.configured:
                now_ms = host(self).now_ms()
                self.runner.start("alive", lambda token, report: alive_line.read(engine, now_ms, token))
        for links in self.query(LinkList):
            links.rebuild()
        self._headlines(session)
        if had:
            self.hand_over(self._focus_first)

    def _focus_first(self) -> None:
        """The keyboard goes to what needs attention, else to the first panel with a link."""
        for name in ("#attention LinkList", "#store LinkList"):
            links = self.query_one(name, LinkList)
            if links.can_focus and links.display:
                links.focus()
                return

    def _headlines(self, session: Session) -> None:
        info, stats = session.info, session.stats
        if info is not None:
            self.query_one("#store", Panel).headline(which=one_line(info.name))
        if stats is None:
            return
        days = len(stats.daily)
        narrow = size_class(self.app.size.width) == "narrow"
        which = f"{counted(days, 'day')}" if narrow else f"{counted(days, 'day')}, by tier"
        self.query_one("#growth", Panel).headline(which=which)
        self.query_one("#scopes", Panel).headline(which=f"{len(stats.scopes):,}")
        for name, where in _WHERE.items():
            self.query_one(f"#{name}", Panel).headline(where="" if narrow else where)
        count = sum(1 for finding in stats.findings if finding.severity != "info")
        self.query_one("#attention", Panel).headline(which=f"{short(count)} to fix" if count else "")
        self.query_one("#tiers", Panel).headline(which="last 7 days" if stats.tiers else "")

    def on_resize(self, event: events.Resize) -> None:  # beside the frame's own: Textual calls both
        self._headlines(self.session)
        if self._lately == Lately():  # there may be room for it now
            self._read_lately()

    def on_screen_resume(self) -> None:
        self._read_lately()

    # what has happened lately

    def _read_lately(self) -> None:
        """Journal and cases, from memtui's own files."""
        engine, info = self.session.engine, self.session.info
        if engine is None or info is None or self.app.size.width < FOUR_COLUMNS:
            return
        from memtui.engine.cases import CaseBook  # not before the first frame

        book = CaseBook(cases_file(info.uri))
        self.runner.start("journal", lambda token, report: engine.write_state.journal.entries(limit=ENTRIES))
        self.runner.start("book", lambda token, report: book.cases())
        asked = questions_file()
        known = (self.session.revision, asked.stat().st_mtime_ns if asked.exists() else 0)
        if known != self._asked_again:  # a dozen recalls: not each time that Home is looked at
            self._asked_again = known
            self.runner.start("later", lambda token, report: later_answers(engine, token))

    @on(CasesWanted)
    def _ask_cases(self, message: CasesWanted) -> None:
        message.stop()
        engine, cases = self.session.engine, self._lately.cases
        if engine is not None:
            self.runner.start("cases", lambda token, report: ask(engine, cases, token))
            self.query_one("#cases LinkList", LinkList).rebuild()

    @on(RunFinished)
    def _read_done(self, message: RunFinished) -> None:
        message.stop()
        if not self.runner.done(message):
            return
        if message.slot == "newest":
            self._newest_memories = message.value
        elif message.slot == "injections":
            self._economy = message.value
            self.query_one(LayoutContainer).rearrange()
        elif message.slot == "alive":
            self._alive = message.value
            self.query_one(LayoutContainer).rearrange()
        elif message.slot == "journal":
            self._lately = replace(self._lately, entries=message.value)
        elif message.slot == "cases":
            self._lately = replace(self._lately, answers=message.value)
        elif message.slot == "later":
            self._lately = replace(self._lately, later=message.value)
        elif message.value != self._lately.cases:
            self._lately = replace(self._lately, cases=message.value, answers={})
        if message.slot in ("journal", "book", "later"):
            self.query_one(LayoutContainer).rearrange()
        self.query_one(f"#{_PANEL.get(message.slot, message.slot)} LinkList", LinkList).rebuild()

    @on(RunFailed)
    def _read_failed(self, message: RunFailed) -> None:
        message.stop()
        if self.runner.done(message) and message.slot not in (
            "alive",
            "injections",
            "later",
        ):  # Audit says what cannot be read
            self.flash(str(message.error), "error")

    # the panels

    def _known(self) -> tuple[StoreInfo | None, Stats | None]:
        return self.session.info, self.session.stats

    def _store(self, width: int, height: int) -> list[LinkRow]:
        info, stats = self._known()
        app = host(self)
        return store_rows(info, stats, width, height, app.now_ms(), app.glyphs) if info is not None else []

    def _growth(self, width: int, height: int) -> list[LinkRow]:
        stats = self._known()[1]
        if stats is None:
            return self._waiting()
        app = host(self)
        return [LinkRow(line) for line in growth_lines(stats, width, height, app.now_ms(), app.glyphs)]

    def _attention(self, width: int, height: int) -> list[LinkRow]:
        info, stats = self._known()
        app = host(self)
        if info is None:
            return []
        alive = alive_line.alive_rows(self._alive, width, height // 2, app.glyphs)
        rows = attention_rows(info, stats, width, max(1, height - len(alive)), app.glyphs)
        return [*alive, *rows] if height > 1 or not alive else alive

    def _tiers(self, width: int, height: int) -> list[LinkRow]:
        stats = self._known()[1]
        return tier_rows(stats, width, height, host(self).glyphs) if stats is not None else self._waiting()

    def _scopes(self, width: int, height: int) -> list[LinkRow]:
        stats = self._known()[1]
        return scope_rows(stats, width, height, host(self).glyphs) if stats is not None else self._waiting()

    def _categories(self, width: int, height: int) -> list[LinkRow]:
        stats = self._known()[1]
        return (
            category_rows(stats, width, height, host(self).glyphs) if stats is not None else self._waiting()
        )

    def _newest(self, width: int, height: int) -> list[LinkRow]:
        app = host(self)
        return newest_rows(self._newest_memories, width, height, app.now_ms(), app.glyphs)

    def _journal(self, width: int, height: int) -> list[LinkRow]:
        app = host(self)
        return journal_rows(self._lately.entries, width, height, app.now_ms(), app.glyphs)

    def _cases(self, width: int, height: int) -> list[LinkRow]:
        app, asking = host(self), self.runner.busy("cases")
        return case_rows(self._lately, width, height, app.glyphs, app.keys, asking=asking)

    def _injections(self, width: int, height: int) -> list[LinkRow]:
        found = self._economy
        return injections.injection_rows(found, width, height, host(self).glyphs) if found is not None else []

    def _waiting(self) -> list[LinkRow]:
        """What stands in a panel whose numbers are still being counted."""
        progress = self.session.progress
        words = "counting"
        if progress is not None and progress.total:
            far = progress.unit == "bytes"
            count = f"{full(progress.done)} of {full(progress.total)}"
            words = f"{one_line(progress.what)}  {so_far(progress.done, progress.total, 'bytes') if far else count}"
        return [LinkRow(Content.styled(words, "$dim"))]

    def _start(self, width: int, height: int) -> list[LinkRow]:
        """Every screen, in a row each or, where there is less room, two in a row; then what else there is."""
        if height >= len(PLACES) + 2:
            places = [self._to(name, said=True) for name in PLACES]
        else:
            names = [self._to(name, cells=PLACE_CELLS) for name in PLACES]
            places = [Content("").join(names[at : at + 2]) for at in range(0, len(names), 2)]
        lines = [*places, *map(self._to, START)][: max(1, height)]
        return [LinkRow(line.truncate(width, ellipsis=True)) for line in lines]

    def _to(self, name: str, *, said: bool = False, cells: int = 0) -> Content:
        """The key of an action and its name, perhaps with what it is for; a click presses the key."""
        key = host(self).keys.by_id[name]
        about = f"  {key.help}" if said else ""
        title = key.title.ljust(9 if said else max(0, cells - 4))
        line = Content.assemble((key.cap.ljust(4), "bold $key"), title, (about, "$dim"))
        return line.stylize(Style.from_meta({"@click": f"app.simulate_key('{key.press}')"}))

    # actions

    @on(StatePanel.Chosen)
    def _chosen(self, message: StatePanel.Chosen) -> None:
        host(self).take(message.choice.name, message.choice.value)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return None if action in ("filter", "blame") and not self.session.open else True

    def action_filter(self) -> None:
        self.post_message(ShowInBrowse(edit=True))

    def action_blame(self) -> None:
        """Ask which memory a wrong answer rests on."""
        self.post_message(OpenBlame())

    def action_open_demo(self) -> None:
        host(self).take("demo")

    def action_open_path(self) -> None:
        host(self).take("open")


def _newest(engine: Engine, token: CancelToken) -> Sequence[Memory]:
    from memtui.engine import ListQuery  # not before the first frame

    return engine.page(engine.view(ListQuery(), token, partly=True), 0, NEWEST_ROWS)
