"""Where the palette's entries come from: keys, the screen, scopes, topics, themes, and a search for memories."""

from __future__ import annotations

from functools import partial

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Markdown

from memtui.engine import CancelToken, ListQuery, Memory, one_line
from memtui.help import Topic, topics
from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.dispatch import refusal
from memtui.tui.actions.table import bindings
from memtui.tui.calls import Report, Work
from memtui.tui.dialogs.palette_entry import PaletteEntry
from memtui.tui.host import host
from memtui.tui.messages import ShowInBrowse, ShowMemory
from memtui.tui.paint.numbers import age, full
from memtui.tui.widgets.panel import Panel

SCOPES_LISTED = 2_000
"""Fuzzy matching of more names than this is felt while typing."""

MEMORIES_SHOWN = 30


def entries_for(screen: Screen[object]) -> list[PaletteEntry]:
    """Everything that can be done from `screen`, memories apart."""
    extra = getattr(screen, "palette_entries", None)
    own = list(extra()) if extra is not None else []
    entries = [*_commands(screen), *own]
    if not any(entry.group == "SCOPES" for entry in own):
        entries += _scopes(screen)
    if not any(entry.group == "VIEWS" for entry in own):
        entries += _views(screen)
    return [*entries, *_topics(screen), *_themes(screen)]


def _commands(screen: Screen[object]) -> list[PaletteEntry]:
    """The active keys of the screen; moving about in a list is none."""
    app, keys = screen.app, host(screen).keys
    found: dict[str, PaletteEntry] = {}
    for active in screen.active_bindings.values():
        key = keys.key(active.binding.id)
        if key is None or key.group == "MOVE" or key.id == "app.palette" or key.id in found:
            continue
        found[key.id] = PaletteEntry(
            "COMMANDS",
            key.title[:1].upper() + key.title[1:],
            partial(app.simulate_key, key.press),
            key.help,
            key.cap,
            disabled="" if active.enabled else refusal(active.node, key),
            copies=key.id,
        )
    return list(found.values())


def _scopes(screen: Screen[object]) -> list[PaletteEntry]:
    stats = host(screen).session.stats
    return [
        PaletteEntry(
            "SCOPES",
            one_line(scope or "(none)"),
            partial(screen.post_message, ShowInBrowse(scopes=(scope,))),
            f"{full(count)} memories",
        )
        for scope, count in (stats.scopes[:SCOPES_LISTED] if stats is not None else ())
    ]


def _views(screen: Screen[object]) -> list[PaletteEntry]:
    """The views of this store that were saved in Browse."""
    from memtui.tui.saved_state import read_views

    info = host(screen).session.info
    if info is None:
        return []
    views = read_views(host(screen).ui_state(info.uri).read().get("views"), info.sorts)
    return [
        PaletteEntry(
            "VIEWS",
            name,
            partial(screen.post_message, ShowInBrowse(view.filter, view.scopes, sort=view.sort)),
            one_line(view.filter),
        )
        for name, view in views.items()
    ]


def _topics(screen: Screen[object]) -> list[PaletteEntry]:
    def shower(index: int) -> None:

        screen.app.push_screen(TopicView(topics()[index]))

    cap = host(screen).keys.cap
    return [
        PaletteEntry(
            "TOPICS",
            each.title,
            partial(shower, i),
            each.about(cap),
            detail=each.about(cap),
            copies=each.name,
        )
        for i, each in enumerate(topics())
    ]


def _themes(screen: Screen[object]) -> list[PaletteEntry]:
    app = screen.app

    def wearer(name: str) -> None:
        app.theme = name

    return [
        PaletteEntry("THEMES", f"Theme: {name}", partial(wearer, name), preview=partial(wearer, name))
        for name in host(screen).themes
    ]


def search(screen: Screen[object], words: str) -> Work | None:
    """A search for memories with all of `words` (the newest without any), for a worker; None without a store.

    It gives the count and the first memories.
    """
    engine = host(screen).session.engine
    if engine is None:
        return None

    def work(token: CancelToken, report: Report) -> tuple[int, list[Memory]]:
        from memtui.engine.query import (
            quoted,
        )

        view = engine.view(ListQuery(filter=" ".join(quoted(word) for word in words.split())), token)
        return view.total, engine.page(view, 0, MEMORIES_SHOWN)

    return work


def memory_entry(screen: Screen[object], memory: Memory) -> PaletteEntry:
    """A memory that was found: taking it shows it in Browse."""
    when = age(memory.timestamp_ms, host(screen).now_ms())
    scope = one_line(memory.scope or "(none)")
    return PaletteEntry(
        "MEMORIES",
        one_line(memory.text),
        partial(screen.post_message, ShowMemory(memory.id)),
        f"{scope}  {when}",
        aside=one_line(memory.id)[:6],
        detail=f"{memory.text}\n\n{scope}, {memory.tier}, {memory.category or 'no category'}\n{memory.id}",
        copies=memory.id,
    )


# One topic of the help, read in the app.


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
