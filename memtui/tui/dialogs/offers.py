"""Where the palette's entries come from: keys, the screen, scopes, topics, themes, and a search for memories."""

from __future__ import annotations

from functools import partial

from textual.screen import Screen

from memtui.engine import CancelToken, ListQuery, Memory, one_line
from memtui.help import topics
from memtui.tui.dialogs.entry import Entry
from memtui.tui.host import host
from memtui.tui.messages import ShowInBrowse, ShowMemory
from memtui.tui.paint.numbers import age, full
from memtui.tui.refusal import refusal
from memtui.tui.runner import Report, Work

SCOPES_LISTED = 2_000
"""Fuzzy matching of more names than this is felt while typing."""
MEMORIES_SHOWN = 30


def entries_for(screen: Screen[object]) -> list[Entry]:
    """Everything that can be done from `screen`, memories apart."""
    extra = getattr(screen, "palette_entries", None)
    own = list(extra()) if extra is not None else []
    entries = [*_commands(screen), *own]
    if not any(entry.group == "SCOPES" for entry in own):
        entries += _scopes(screen)
    if not any(entry.group == "VIEWS" for entry in own):
        entries += _views(screen)
    return [*entries, *_topics(screen), *_themes(screen)]


def _commands(screen: Screen[object]) -> list[Entry]:
    """The active keys of the screen; moving about in a list is none."""
    app, keys = screen.app, host(screen).keys
    found: dict[str, Entry] = {}
    for active in screen.active_bindings.values():
        key = keys.key(active.binding.id)
        if key is None or key.group == "MOVE" or key.id == "app.palette" or key.id in found:
            continue
        found[key.id] = Entry(
            "COMMANDS",
            key.title[:1].upper() + key.title[1:],
            partial(app.simulate_key, key.press),
            key.help,
            key.cap,
            disabled="" if active.enabled else refusal(active.node, key),
            copies=key.id,
        )
    return list(found.values())


def _scopes(screen: Screen[object]) -> list[Entry]:
    stats = host(screen).session.stats
    return [
        Entry(
            "SCOPES",
            one_line(scope or "(none)"),
            partial(screen.post_message, ShowInBrowse(scopes=(scope,))),
            f"{full(count)} memories",
        )
        for scope, count in (stats.scopes[:SCOPES_LISTED] if stats is not None else ())
    ]


def _views(screen: Screen[object]) -> list[Entry]:
    """The views of this store that were saved in Browse."""
    from memtui.tui.screens.browse.kept import read_views

    info = host(screen).session.info
    if info is None:
        return []
    views = read_views(host(screen).ui_state(info.uri).read().get("views"), info.sorts)
    return [
        Entry(
            "VIEWS",
            name,
            partial(screen.post_message, ShowInBrowse(view.filter, view.scopes, sort=view.sort)),
            one_line(view.filter),
        )
        for name, view in views.items()
    ]


def _topics(screen: Screen[object]) -> list[Entry]:
    def shower(index: int) -> None:
        from memtui.tui.dialogs.topic import TopicView

        screen.app.push_screen(TopicView(topics()[index]))

    cap = host(screen).keys.cap
    return [
        Entry(
            "TOPICS",
            each.title,
            partial(shower, i),
            each.about(cap),
            detail=each.about(cap),
            copies=each.name,
        )
        for i, each in enumerate(topics())
    ]


def _themes(screen: Screen[object]) -> list[Entry]:
    app = screen.app

    def wearer(name: str) -> None:
        app.theme = name

    return [
        Entry("THEMES", f"Theme: {name}", partial(wearer, name), preview=partial(wearer, name))
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
        from memtui.engine.query.render import quoted

        view = engine.view(ListQuery(filter=" ".join(quoted(word) for word in words.split())), token)
        return view.total, engine.page(view, 0, MEMORIES_SHOWN)

    return work


def memory_entry(screen: Screen[object], memory: Memory) -> Entry:
    """A memory that was found: taking it shows it in Browse."""
    when = age(memory.timestamp_ms, host(screen).now_ms())
    scope = one_line(memory.scope or "(none)")
    return Entry(
        "MEMORIES",
        one_line(memory.text),
        partial(screen.post_message, ShowMemory(memory.id)),
        f"{scope}  {when}",
        aside=one_line(memory.id)[:6],
        detail=f"{memory.text}\n\n{scope}, {memory.tier}, {memory.category or 'no category'}\n{memory.id}",
        copies=memory.id,
    )
