"""One topic of the help, read in the app."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown

from memtui.help import Topic
from memtui.tui.host import host
from memtui.tui.keys import bindings
from memtui.tui.quick import QuickModal
from memtui.tui.widgets.panel import Panel


class TopicText(VerticalScroll, can_focus=True):
    """The text, scrolled like any list."""

    BINDINGS = bindings("topic")

    def action_down(self) -> None:
        self.scroll_relative(y=1, animate=False)

    def action_up(self) -> None:
        self.scroll_relative(y=-1, animate=False)

    def action_first(self) -> None:
        self.scroll_home(animate=False)

    def action_last(self) -> None:
        self.scroll_end(animate=False)


class TopicView(QuickModal[None]):
    """Shows a topic with the keys that are in force."""

    DEFAULT_CSS = """
    TopicView { align: center middle; }
    TopicView Panel { width: 96; max-width: 100%; height: auto; max-height: 94%; border: round $frame-focus; }
    TopicView.-narrow Panel { width: 100%; height: 100%; max-height: 100%; }
    TopicView TopicText { height: auto; max-height: 100%; background: $background; scrollbar-size-vertical: 1; }
    TopicView Markdown { background: $background; padding: 0 1; margin: 0; }
    TopicView MarkdownBlock { color: $foreground; }
    TopicView MarkdownBlock > .code_inline { color: $key; background: $background; text-style: bold; }
    TopicView MarkdownH1 {
        color: $heading; background: $background; text-style: bold; content-align: left middle; margin: 0 0 1 0;
    }
    TopicView MarkdownFence { background: $cursor-idle; margin: 0 0 1 2; max-height: 100; }
    TopicView MarkdownTable { background: $background; margin: 0 0 1 0; }
    TopicView MarkdownTableContent { keyline: none; grid-gutter: 0 1; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal")]  # noqa: RUF012
    BINDINGS = bindings("overlay")

    def __init__(self, topic: Topic) -> None:
        super().__init__()
        self._topic = topic

    def compose(self) -> ComposeResult:
        with Panel(title=self._topic.title), TopicText():
            yield Markdown(self._topic.with_keys(host(self).keys.cap).partition("\n")[2], open_links=False)

    def on_mount(self) -> None:
        self.query_one(Panel).headline(which=f"memtui help {self._topic.name}", where="{overlay.close} close")
        self.query_one(TopicText).focus()

    def action_close(self) -> None:
        self.dismiss()
