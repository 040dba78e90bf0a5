"""Where the palette's entries come from: keys, the screen, scopes, topics, themes, and a search for memories."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Markdown

from memtui.engine import CancelToken, ListQuery, Memory, counted, mask, one_line
from memtui.help import Topic, topics
from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.action import Action
from memtui.tui.actions.conflicts import place
from memtui.tui.actions.data import SENTENCES
from memtui.tui.actions.dispatch import PERFORM, KeymapApp, no_store, refusal
from memtui.tui.actions.table import bindings
from memtui.tui.calls import Report, Work
from memtui.tui.dialogs.intents import REMOVING_SENTENCES, Intent, examples, in_singular, understood
from memtui.tui.dialogs.palette_entry import PaletteEntry
from memtui.tui.host import host
from memtui.tui.messages import (
    AskImport,
    AskRecall,
    OpenBlame,
    ShowEntry,
    ShowInBrowse,
    ShowMemory,
    ShowReach,
)
from memtui.tui.paint.numbers import age
from memtui.tui.widgets.panel import Panel

SCOPES_LISTED = 2_000
"""Fuzzy matching of more names than this is felt while typing."""

MEMORIES_SHOWN = 30

MEMORIES_RANKED = 300
"""Of the newest that have the words, the best are shown; the phrase as typed is found however old it is."""


def entries_for(screen: Screen[object]) -> list[PaletteEntry]:
    """Everything that can be done from `screen`, memories apart."""
    extra = getattr(screen, "palette_entries", None)
    own = list(extra()) if extra is not None else []
    entries = [*_commands(screen), *own]
    if not any(entry.group == "SCOPES" for entry in own):
        entries += _scopes(screen)
    if not any(entry.group == "VIEWS" for entry in own):
        entries += _views(screen)
    return [*entries, *_orders(screen), *_topics(screen), *_themes(screen)]


_ORDER_WORDS = {
    "timestamp": ("oldest first", "age date time oldest earliest, oldest first"),
    "-timestamp": (
        "newest first",
        "age date time newest latest recent, newest first, order by date, sort by date",
    ),
    "-importance": ("importance", "important most highest, most important first"),
    "-access": ("times used", "used popular frequent"),
}
"""Orders of the list under the words that people have for them; of the others, their names do."""


def _orders(screen: Screen[object]) -> list[PaletteEntry]:
    """The orders of the list in Browse, each to be chosen from everywhere."""
    from memtui.tui.screens.browse.state import FALLING, sorts_of

    shut = "" if host(screen).session.open else no_store(screen)
    keys = [
        (f"-{key}" if key in FALLING else key, name)
        for key, name, _, _ in sorts_of(host(screen).session.info)
    ]
    return [
        PaletteEntry(
            "COMMANDS",
            f"Sort by {one_line(name)}" if key not in _ORDER_WORDS else f"Sort: {_ORDER_WORDS[key][0]}",
            partial(_perform, screen, [f"browse.sort({key!r})"]),
            "Browse",
            disabled=shut,
            copies="browse.sort",
            also=_ORDER_WORDS.get(key, ("", ""))[1] + " order by",
            place="Browse",
            near=3,
        )
        for key, name in (("timestamp", "oldest first"), *keys)
    ]


def _commands(screen: Screen[object]) -> list[PaletteEntry]:
    """Every action of the program: those of the screen with the reason where they cannot act, the others with where.

    Moving about in a list is none. What belongs to a dialog is there while it is open.
    """
    app, keys = screen.app, host(screen).keys
    live = {active.binding.id: active for active in screen.active_bindings.values()}
    found = []
    for key in keys.table:
        active, where = live.get(key.id), place(key.context)
        if active is None and not is_command(key):
            continue
        if key.group == "MOVE" or key.id == "app.palette":
            continue
        reachable = key.context == "app" or where.on
        elsewhere = "" if active is not None or key.context == "app" else where.title
        run = partial(_perform, screen, [key.id]) if reachable else partial(app.simulate_key, key.press)
        disabled = "" if active is None or active.enabled else refusal(active.node, key)
        if elsewhere and not host(screen).session.open and where.on != "home":
            disabled = no_store(screen)
        elif key.context == "app" and active is None and not app.check_action(key.action, ()):
            disabled = f"needs {key.needs}" if key.needs else "not now"
        found.append(
            PaletteEntry(
                "COMMANDS",
                key.title[:1].upper() + key.title[1:],
                run,
                f"{elsewhere}: {key.help}" if elsewhere and key.help else elsewhere or key.help,
                key.cap,
                disabled=disabled,
                copies=key.id,
                also=f"{key.also}{_going(key)} {key.id.replace('.', ' ').replace('-', ' ')}",
                place=where.title,
                near=_NEAR.get(key.context, 0 if where.by or not where.on else 2),
                removes=key.removes,
                here=(key.bar or 99) if active is not None and key.context != "app" else 0,
            )
        )
    return found


_NEAR = {"app": 5, "browse": 5, "list": 4, "home": 4, "recall": 4, "transfer": 4, "scopes": 3, "capture": 3}
"""How near the things are that a section's keys act on: of two that a word means, the nearer one is meant."""


def _going(key: Action) -> str:
    """Phrases for going to a screen: "open capture", "go to health"."""
    name = key.title.casefold()
    said = ("open", "show", "view", "go to", "goto", "switch to")
    return "".join(f", {verb} {name}" for verb in said) + "," if key.group == "GO" else ""


def is_command(key: Action) -> bool:
    """Whether the palette finds the action from everywhere: it has a screen to go to, and is more than a step back."""
    return (
        key.group != "MOVE"
        and key.each != ("escape",)
        and key.id != "app.palette"
        and (key.context == "app" or bool(place(key.context).on))
    )


def _perform(screen: Screen[object], steps: Sequence[str | Message]) -> None:
    """Do it from where one is, and remember it for the next time."""
    from memtui.tui.actions.perform import perform

    app = screen.app
    assert isinstance(app, KeymapApp)
    if isinstance(steps[0], str):
        app.performed = [steps[0], *(each for each in app.performed if each != steps[0])][:20]
    app.run_worker(perform(app, steps), group=PERFORM, exclusive=True)


# Sentences: what they mean here, and how many memories they are about.


def intent_entries(screen: Screen[object], text: str, *, singular: bool = False) -> list[PaletteEntry]:
    """What a sentence would do, or the sentences nearest to it; none where it is no sentence.

    With `singular` it is about words without their plural: no memory has them as they were typed.
    """
    session = host(screen).session
    meant = _meant(screen, text)[:2]
    if singular and meant:
        meant[0] = in_singular(meant[0]) or meant[0]
    if meant and meant[0].name == "forget":  # the same memories, also out of older versions: named second
        history = replace(meant[0], name="every-trace", label=SENTENCES["every-trace"]["label"])
        meant = [meant[0], history, *(each for each in meant[1:] if each.name != history.name)]
    nearest = [] if meant else [each for example in examples(text) for each in _meant(screen, example)[:1]]
    near = [each for each in nearest if each.name not in REMOVING_SENTENCES]
    return [
        PaletteEntry(
            "INTENT",
            each.title,
            partial(_perform, screen, steps_of(each)),
            _said(each) or "preview, nothing is written",
            detail=f"{each.title}\n\nnothing is written before you have seen what it changes",
            disabled="" if session.open else no_store(screen),
            guessed=each.doubted or each in near,
        )
        for each in meant or near
    ]


def needs_memories(screen: Screen[object], text: str) -> bool:
    """Whether the words are a sentence only where memories have them: "show", "edit" and "change" are common words."""
    meant = _meant(screen, text)[:1]
    return bool(meant) and meant[0].name in ("find", "edit", "change", "nearest", "reach")


def _meant(screen: Screen[object], text: str) -> list[Intent]:
    stats = host(screen).session.stats
    return understood(text, [scope for scope, _ in stats.scopes if scope] if stats is not None else [])


def _said(intent: Intent) -> str:
    return f"not understood: {' '.join(intent.unknown)}" if intent.unknown else ""


def narrowed(intent: Intent) -> ShowInBrowse:
    """The list of memories that a sentence is about."""
    from memtui.engine.query import quoted

    terms = [quoted(word) for word in intent.words]
    terms += [f"is:{intent.condition}"] if intent.condition else []
    terms += [f"age<{intent.days}d"] if intent.days else []
    return ShowInBrowse(" ".join(terms), (intent.scope,) if intent.scope else None)


def steps_of(intent: Intent) -> list[str | Message]:
    """What is done for a sentence, one step after the other."""
    row = SENTENCES[intent.name]
    said = " ".join(intent.words)
    if row["takes"] == "question":
        return [AskRecall(said)]
    if row["takes"] == "sentence":
        return [OpenBlame(said)]
    if row["takes"] == "path":
        return [AskImport(said)]
    if row["takes"] in _OF_AUDIT:
        return [ShowReach(view=row["does"][0], agent=intent.agent, scope=intent.scope, days=intent.days)]
    if row["takes"] == "entries":
        when = _WHEN.get(intent.days, f"since:{intent.days}d" if intent.days else "")
        sought = f"{when} {said}".strip()
        return [*([ShowEntry(sought=sought)] if sought else []), *row["does"]]
    does = [step.replace("{form}", intent.form).replace("{field}", intent.field) for step in row["does"]]
    return [narrowed(intent), *(step.replace("{value}", intent.value.replace("'", "")) for step in does)]


_OF_AUDIT = ("agent", "scope")
"""What a sentence takes that is about a view of Audit, not about memories."""


def nothing_else(screen: Screen[object], text: str) -> list[PaletteEntry]:
    """What can be done with words that name nothing: look for them, or ask them."""
    from memtui.engine.query import quoted

    shut = "" if host(screen).session.open else no_store(screen)
    find = ShowInBrowse(" ".join(quoted(word) for word in text.split()))
    ways = (
        ("Ask Recall", AskRecall(text), "what an agent would be given for it"),
        ("Find in Browse", find, "the memories with all of these words"),
    )
    return [
        PaletteEntry("QUESTIONS", f"{name}: {text}", partial(screen.post_message, go), about, disabled=shut)
        for name, go, about in ways
    ]


_WHEN = {1: "since:today", 2: "since:yesterday before:today"}
"""Of days as a sentence names them, what the Journal calls them."""


def count_of(screen: Screen[object], text: str) -> Work | None:
    """How many memories the sentence is about, for a worker; None where it is about none.

    It gives the count, and whether it is that of the words without their plural: no memory has them as typed.
    """
    engine = host(screen).session.engine
    meant = _meant(screen, text)[:1]
    row = SENTENCES[meant[0].name] if meant else {}
    if engine is None or not meant or row["takes"] in ("question", "sentence", "path", *_OF_AUDIT):
        return None
    show = narrowed(meant[0])
    if not show.filter and show.scopes is None:  # of all there are it says nothing
        return None
    other = in_singular(meant[0])

    def work(token: CancelToken, report: Report) -> tuple[int, bool]:
        total = engine.view(ListQuery(filter=show.filter, scopes=show.scopes), token).total
        if total or other is None:
            return total, False
        one = narrowed(other)
        fewer = engine.view(ListQuery(filter=one.filter, scopes=one.scopes), token).total
        return fewer, bool(fewer)

    return work


def _scopes(screen: Screen[object]) -> list[PaletteEntry]:
    stats = host(screen).session.stats
    return [
        PaletteEntry(
            "SCOPES",
            one_line(scope or "(none)"),
            partial(screen.post_message, ShowInBrowse(scopes=(scope,))),
            counted(count, "memory", "memories"),
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
            topic.title,
            partial(shower, i),
            topic.about(cap),
            detail=topic.about(cap),
            copies=topic.name,
        )
        for i, topic in enumerate(topics())
    ]


def _themes(screen: Screen[object]) -> list[PaletteEntry]:
    app = screen.app

    def wearer(name: str) -> None:
        app.theme = name

    names = sorted(
        host(screen).themes, key=lambda name: name != app.theme
    )  # that of now is first: nothing changes
    return [
        PaletteEntry(
            "THEMES",
            f"Theme: {name}",
            partial(wearer, name),
            "as it is now" if name == app.theme else "",
            preview=partial(wearer, name),
        )
        for name in names
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

        wanted = words.split()
        view = engine.view(ListQuery(filter=" ".join(quoted(word) for word in wanted)), token)
        found = {memory.id: memory for memory in engine.page(view, 0, MEMORIES_RANKED)}
        if len(wanted) > 1 and view.total > MEMORIES_RANKED:  # the whole phrase may stand in an old one
            phrase = engine.view(ListQuery(filter=quoted(" ".join(wanted))), token)
            found |= {memory.id: memory for memory in engine.page(phrase, 0, MEMORIES_SHOWN)}
        ranked = sorted(found.values(), key=lambda each: -closeness(each.text, wanted))
        return view.total, ranked[:MEMORIES_SHOWN]

    return work


def closeness(text: str, wanted: Sequence[str]) -> float:
    """How well a text meets the words: the phrase as typed, then whole words, then beginnings, then early ones."""
    low, words = text.casefold(), [word.casefold() for word in wanted]
    score = 4.0 * len(words) if len(words) > 1 and " ".join(words) in low else 0.0
    for word in words:
        at = low.find(word)
        whole = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", low)
        begins = re.search(rf"(?<!\w){re.escape(word)}", low)
        score += 3.0 if whole else 2.0 if begins else 1.0 if at >= 0 else 0.0
        score += 0.5 / (1 + at / 80) if at >= 0 else 0.0
    return score


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
        detail=f"{mask(memory.text)[0]}\n\n{scope}, {memory.tier}, {memory.category or 'no category'}\n{memory.id}",
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
