"""What every screen has around its panels: top bar, flash line, key bar, a word when there is no room."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget

from memtui.patches.textual_painting import QuickScreen
from memtui.tui.actions.action import ACT, FIND, GO, MOVE, Action
from memtui.tui.bound_panel import Bound
from memtui.tui.calls import CallsMixin, EngineCalls, reads
from memtui.tui.change_request import ChangeRequests
from memtui.tui.host import host
from memtui.tui.layout import MIN_HEIGHT, MIN_WIDTH, NORMAL_WIDTH, SHORT_HEIGHT, WIDE_WIDTH
from memtui.tui.messages import FlashKind
from memtui.tui.session import Session
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.row_list import RowList
from memtui.tui.widgets.screen_bars import FlashLine, KeyBar, TopBar
from memtui.tui.widgets.state_panel import State, StatePanel

_AT_ONCE = frozenset(
    ("zoom", "narrower", "wider", "view", "previous-view", "next-view", "part-before", "part-after")
)
"""Names of actions that only look elsewhere: they wait for no list, and may be the way out of one."""

_TURNED = ("knobs", "plot")
"""Contexts whose keys turn a value on and on: like a cursor they do not wait for what they turn."""


class TooSmall(Widget):
    """One sentence and the size that is needed, instead of something unreadable."""

    DEFAULT_CSS = """
    TooSmall { display: none; width: 100%; height: 100%; content-align: center middle; color: $stale; }
    """

    def render(self) -> Content:
        size = self.app.size
        return Content(
            f"memtui needs {MIN_WIDTH} x {MIN_HEIGHT} cells, this terminal has {size.width} x {size.height}."
        )


class BaseScreen(QuickScreen, CallsMixin):
    """A top-level screen: subclasses give `MODE`, `body` and `session_changed`.

    `self.call` runs an engine call and hands over its answer. A screen that is out of sight hears nothing of the
    session: it catches up when it is shown again.
    """

    MODE = ""
    UNDO = ""
    """The id of the key that takes back here what was changed here; empty: Browse does."""
    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NORMAL_WIDTH, "-normal"), (WIDE_WIDTH, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (SHORT_HEIGHT, "-tall")]  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.runner = EngineCalls(self)
        self.said: State | None = None
        """The words in the place of the panels; None where there are panels to see."""
        self._last: Widget | None = None
        """What has the keyboard, or had it until it went out of sight."""
        self._heard: Session | None = None
        """The session that `session_changed` was called with last."""
        self.handing_over = 0
        """How often the keyboard is on its way from words to a list, or back."""

    def body(self) -> ComposeResult:
        """The widgets between the bars."""
        raise NotImplementedError

    def session_changed(self, session: Session) -> None:
        """The store, or what is known of it, changed; also called once after mounting."""

    @property
    def marked(self) -> int:
        """How many memories are marked: with some the key bar shows what can be done with all of them."""
        return 0

    def receive(self, message: Any) -> None:
        """Take the wish of another screen; this one has just been shown."""

    def repaint(self) -> None:
        """Paint the panels anew from the state, without asking the engine."""

    def focus_first(self) -> None:
        """Give the keyboard to the words, where there are only words, else to the main list."""
        if self.said is not None:
            self.query_one(StatePanel).focus()

    def compose(self) -> ComposeResult:
        yield TopBar(self.MODE)
        yield TooSmall()
        yield ChangeRequests(self.UNDO)
        yield from self.body()
        yield FlashLine()
        yield KeyBar()

    def on_mount(self) -> None:
        self.catch_up()

    def on_screen_resume(self) -> None:
        self.catch_up()
        self.panels_catch_up()

    def catch_up(self) -> None:
        """Hear of the session as it is now, if this screen is seen and knows another one."""
        session = self.session
        if self._heard is session or not self.is_attached or not self.is_current:
            return
        if bars := self.query(TopBar):
            self._heard = session
            bars.first().refresh()
            self.session_changed(session)

    def on_unmount(self) -> None:
        self.runner.cancel_all()

    def watch_focused(self, before: Widget | None, now: Widget | None) -> None:
        """Give the keyboard on when what had it went out of sight: keys must not be lost."""
        self._last = now or before
        self.call_after_refresh(self._in_sight)

    def _in_sight(self) -> None:
        """Give the keyboard to what had it, to what stands in its place, or to a list; never to a line of text."""
        chain = self.focus_chain
        if self._last is None or self.focused in chain:
            return
        lists = [each for each in chain if not each.check_consume_key("j", "j")]
        near = [listing for listing in lists if listing.parent is self._last.parent]
        if found := [each for each in chain if each is self._last] or near or lists:
            self.set_focus(
                found[0], scroll_visible=False
            )  # at once: who asks for the keyboard meanwhile has it

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < MIN_WIDTH or event.size.height < MIN_HEIGHT, "-too-small")
        self.call_after_refresh(self._in_sight)
        self.call_after_refresh(self.panels_catch_up)

    def panels_catch_up(self) -> None:
        """Let the bound panels show what they do not show yet."""
        # by `results`: a selector follows the first base of a class only, and `Bound` is a panel's second
        for panel in self.query("*").results(Bound):
            panel.catch_up()

    @property
    def session(self) -> Session:
        """The app's session."""
        return host(self).session

    @property
    def staging(self) -> ChangeRequests:
        """What plans, shows and makes the changes of this screen."""
        return self.query_one(ChangeRequests)

    def say(self, said: State | None) -> None:
        """Show words in the place of the panels or, with None, the panels; the keyboard goes along."""
        changed = (said is None) != (self.said is None)
        self.said = said
        if said is not None:
            self.query_one(StatePanel).state = said
        self.query_one(LayoutContainer).rearrange()
        self.repaint()
        if changed or self.focused is None:
            self.hand_over(self.focus_first)

    def hand_over(self, focus: Callable[[], object]) -> None:
        """Give the keyboard by `focus` once the panels are laid out anew; until then keys wait."""

        def there() -> None:
            self.handing_over -= 1

        def give() -> None:
            focus()
            self.app.call_later(there)  # the app gives it by the same queue

        self.handing_over += 1
        self.call_after_refresh(give)

    def action_undo(self) -> None:
        """Take back the last change."""
        self.undo_last()

    def undo_last(self) -> None:
        """Plan the way back of the last change of the store, whatever the cursor is on, and show it."""
        self.staging.undo()

    def action_redo(self) -> None:
        """Make again what was taken back last."""
        self.staging.redo()

    def flash(self, text: str, kind: FlashKind = "done") -> None:
        """Say one line above the key bar."""
        self.query_one(FlashLine).say(text, kind)

    def unsay(self, text: str) -> None:
        """Take a line away that is not true any more, where it still stands above the key bar."""
        for line in self.query(FlashLine):
            if line.text == text:
                line.dismiss()

    def holds(self, key: Action | None, able: bool = True) -> bool:
        """Whether a key has to wait, in its place, for what it is about: typed ahead it is never lost.

        `key` is None where nothing that can be seen takes it yet; `able` says whether its action can act now.
        Everything waits while a change is planned or written: it is the preview's, or the list's after it. List
        and verb keys wait for what the screen is still reading. Escape and the keys that work everywhere never do:
        the app does not ask.
        """
        if self.staging.working:
            return True
        if key is not None and able and (key.group == FIND or key.id.partition(".")[2] in _AT_ONCE):
            return False
        if not self.session.open and isinstance(self.focused, StatePanel) and self.focused.state.choices:
            return False  # another store, while this one is being opened; what is being read is stopped by escape
        moving = key is not None and (key.group == MOVE or key.context in _TURNED)
        return self.reading(moving=moving)

    def reading(self, *, moving: bool = False) -> bool:
        """Whether what the keys are about is not there yet; `moving`: for a key that only moves a cursor."""
        session = self.session
        if session.open and self._heard is not session:
            return True  # the words and lists are of what was known before
        if session.phase == "reading" and session.stats is not None:
            return True  # read anew, after a change or on demand: rows may go
        if self.handing_over or (self.said is not None and self.said.kind == "loading"):
            return True
        listing = self.focused
        empty = isinstance(listing, RowList) and not listing.place[1]
        return reads(self, moving=moving and not empty)

    def on_menu_wanted(self) -> None:
        """What can be done with the row under the mouse, each by its key."""
        from memtui.tui.dialogs.choose_one import ChooseOne, Option

        keymap = host(self).keys
        live = [keymap.key(active.binding.id) for active in self.active_bindings.values() if active.enabled]
        able = {
            key.id for key in live if key is not None and (key.group in (ACT, GO) or key.action == "open")
        }
        keys = [key for key in keymap.table if key.id in able and key.context != "app" and key.keys]
        options = [Option(key.id, key.title, key.help, key.id) for key in keys]

        def taken(id: str | None) -> None:
            if id is not None:
                self.app.simulate_key(keymap.by_id[id].press)

        if options:
            self.app.push_screen(ChooseOne("Here", options), taken)

    def begun(self, first: str, follow: Mapping[str, str]) -> None:
        """A sequence of keys was begun (or, empty, ended): the key bar shows what can follow."""
        self.query_one(KeyBar).begun(first, follow)

    def dismiss_flash(self) -> bool:
        """Take an error off the line above the key bar; False when there was none."""
        line = self.query_one(FlashLine)
        return line.kind == "error" and line.dismiss()
