"""What every screen has around its panels: top bar, flash line, key bar, a word when there is no room."""

from __future__ import annotations

from collections.abc import Mapping

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget

from memtui.patches.textual_painting import QuickScreen
from memtui.tui.calls import CallsMixin
from memtui.tui.change_request import ChangeRequests
from memtui.tui.host import host
from memtui.tui.layout import MIN_HEIGHT, MIN_WIDTH, NORMAL_WIDTH, SHORT_HEIGHT, WIDE_WIDTH
from memtui.tui.messages import FlashKind
from memtui.tui.session import Session
from memtui.tui.widgets.screen_bars import FlashLine, KeyBar, TopBar


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


class BaseScreen(QuickScreen):
    """A top-level screen: subclasses give `MODE`, `body` and `session_changed`.

    `self.runner` runs engine calls; their messages arrive at this screen.
    """

    MODE = ""
    UNDO = ""
    """The id of the key that takes back here what was changed here; empty: Browse does."""
    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NORMAL_WIDTH, "-normal"), (WIDE_WIDTH, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (SHORT_HEIGHT, "-tall")]  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.runner = CallsMixin(self)
        self._last: Widget | None = None
        """What has the keyboard, or had it until it went out of sight."""

    def body(self) -> ComposeResult:
        """The widgets between the bars."""
        raise NotImplementedError

    def session_changed(self, session: Session) -> None:
        """The store, or what is known of it, changed; also called once after mounting."""

    def compose(self) -> ComposeResult:
        yield TopBar(self.MODE)
        yield TooSmall()
        yield ChangeRequests(self.UNDO)
        yield from self.body()
        yield FlashLine()
        yield KeyBar()

    def on_mount(self) -> None:
        self.watch(self.app, "session", self.session_changed)

    def on_unmount(self) -> None:
        self.runner.cancel_all()

    def watch_focused(self, before: Widget | None, now: Widget | None) -> None:
        """What had the keyboard may be out of sight: keys must not go to nobody."""
        self._last = now or before
        self.call_after_refresh(self._in_sight)

    def _in_sight(self) -> None:
        """Give the keyboard to what had it, to what stands in its place, or to a list; never to a line of text."""
        chain = self.focus_chain
        if self._last is None or self.focused in chain:
            return
        lists = [each for each in chain if not each.check_consume_key("j", "j")]
        near = [each for each in lists if each.parent is self._last.parent]
        if found := [each for each in chain if each is self._last] or near or lists:
            self.set_focus(
                found[0], scroll_visible=False
            )  # at once: who asks for the keyboard meanwhile has it

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < MIN_WIDTH or event.size.height < MIN_HEIGHT, "-too-small")
        self.call_after_refresh(self._in_sight)

    @property
    def session(self) -> Session:
        """The app's session."""
        return host(self).session

    @property
    def staging(self) -> ChangeRequests:
        """What plans, shows and makes the changes of this screen."""
        return self.query_one(ChangeRequests)

    def flash(self, text: str, kind: FlashKind = "done") -> None:
        """Say one line above the key bar."""
        self.query_one(FlashLine).say(text, kind)

    def begun(self, first: str, follow: Mapping[str, str]) -> None:
        """A sequence of keys was begun (or, empty, ended): the key bar shows what can follow."""
        self.query_one(KeyBar).begun(first, follow)

    def dismiss_flash(self) -> bool:
        """Take an error off the line above the key bar; False when there was none."""
        line = self.query_one(FlashLine)
        return line.kind == "error" and line.dismiss()
