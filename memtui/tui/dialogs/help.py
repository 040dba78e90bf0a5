"""The help overlay: the keys that work where the keyboard is, from the key table; searchable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input

from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.action import ACT, FIND, GO, MOVE, VIEW, Action
from memtui.tui.actions.conflicts import ANY_SCREEN, is_screen, place
from memtui.tui.actions.dispatch import refusal
from memtui.tui.actions.table import BY_ID, bindings
from memtui.tui.host import host
from memtui.tui.layout import NORMAL_WIDTH
from memtui.tui.paint.cells import fit
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import BuiltRows, Row
from memtui.tui.widgets.text_lines import CleanInput

CAP_CELLS = 11

COLUMN_CELLS = 34
"""Narrower columns cut most titles: then there is one column."""

EVERYWHERE = "EVERYWHERE"

_ORDER = (ACT, FIND, VIEW, MOVE, GO, EVERYWHERE)
"""Doing before moving about: a person who asks for help wants to do something."""


@dataclass(frozen=True, slots=True)
class HelpLine:
    """One key of the focused panel, and why it cannot act just now; empty when it can."""

    key: Action
    refused: str = ""
    palette: str = ""
    """The key of the palette: what has no key of its own is found there."""

    @property
    def group(self) -> str:
        """The heading of a key's group: keys of the app stand together."""
        return EVERYWHERE if self.key.context == "app" else self.key.group

    def says(self, words: str) -> bool:
        """Whether every word is somewhere in the line."""
        caps = self.key.caps or self.palette
        text = f"{caps} {self.key.title} {self.key.help} {self.key.id} {self.refused}".casefold()
        return all(word in text for word in words.casefold().split())


def help_lines(screen: Screen[object]) -> list[HelpLine]:
    """The active keys of what has the keyboard on `screen`, in the order of the table."""
    keys = host(screen).keys
    found: dict[str, HelpLine] = {}
    for active in screen.active_bindings.values():
        key = keys.key(active.binding.id)
        if key is not None:
            refused = "" if active.enabled else refusal(active.node, key)
            found.setdefault(key.id, HelpLine(key, refused, keys.cap("app.palette")))
    order = {id: i for i, id in enumerate(BY_ID)}
    return sorted(found.values(), key=lambda line: order[line.key.id])


def help_title(screen: Screen[object]) -> str:
    """What the keys of the focused panel belong to."""
    keys = host(screen).keys
    contexts = list(
        dict.fromkeys(
            key.context
            for active in screen.active_bindings.values()
            if (key := keys.key(active.binding.id)) is not None and key.context != "app"
        )
    )
    if not contexts:
        return "memtui"
    around = next((context for context in contexts if is_screen(context)), "")
    title = place(contexts[0]).title
    shared = around and ANY_SCREEN in place(contexts[0]).inside
    return f"{place(around).title}, {title[0].lower()}{title[1:]}" if shared else title


@runtime_checkable
class Explained(Protocol):
    """A screen whose signs the help explains."""

    def legend(self) -> Sequence[tuple[str, str]]:
        """(sign, what it means), in the order in which they stand."""
        ...


class HelpOverlay(QuickModal[None]):
    """All keys of the focused panel, its screen and the app, grouped; `/` searches them."""

    DEFAULT_CSS = """
    HelpOverlay { align: center middle; }
    HelpOverlay Panel { width: 86; max-width: 100%; height: auto; max-height: 94%; border: round $frame-focus; }
    HelpOverlay Input { border: none; height: 1; padding: 0 1; background: $background; display: none; }
    HelpOverlay Input.-textual-compact { padding: 0 1; }
    HelpOverlay.-searching Input { display: block; }
    HelpOverlay.-narrow Panel { width: 100%; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NORMAL_WIDTH, "-normal")]  # noqa: RUF012
    BINDINGS = bindings("overlay", "help")

    def __init__(self, title: str, lines: list[HelpLine], signs: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__()
        self._title, self._lines, self._signs = title, lines, signs

    @classmethod
    def of(cls, screen: Screen[object]) -> HelpOverlay:
        """The overlay for what has the keyboard on `screen`."""
        return cls(
            help_title(screen), help_lines(screen), screen.legend() if isinstance(screen, Explained) else ()
        )

    def compose(self) -> ComposeResult:
        with Panel(title=f"Keys: {self._title}"):
            yield CleanInput(placeholder="a key, or a part of what it does")
            yield BuiltRows(self._rows)

    def on_mount(self) -> None:
        off = sum(1 for line in self._lines if line.refused)
        which = f"{off} disabled here" if off and self.app.size.width >= NORMAL_WIDTH else ""
        self.query_one(Panel).headline(
            which=which, where="{help.search} search   {help.topics} topics   {overlay.close} close"
        )
        self.query_one(BuiltRows).focus()
        self._fit()

    def on_resize(self, _: events.Resize) -> None:
        self._fit()

    def _fit(self) -> None:
        """As high as what there is to say."""
        rows = self.query_one(BuiltRows)
        panel = self.query_one(Panel)
        inside = min(86, self.app.size.width) - 2
        rows.styles.height = min(len(self._content(inside)), max(3, self.app.size.height * 94 // 100 - 3))
        panel.refresh(layout=True)
        rows.repaint()

    def _rows(self, width: int, height: int) -> Sequence[Row]:
        return [Row((line,)) for line in self._content(width)]

    def _content(self, width: int) -> list[Content]:
        words = self.query_one(Input).value
        shown = [line for line in self._lines if line.says(words)]
        live = [line for line in shown if not line.refused]
        off = [line for line in shown if line.refused]
        columns = 2 if width - 2 >= 2 * COLUMN_CELLS else 1
        cells = (width - 2) // columns
        groups = [(name, [line for line in live if line.group == name]) for name in _order(live)]
        sides = [_side(side, cells) for side in _columns(groups, columns)]
        lines = [
            Content.assemble(" ", *(side[i] if i < len(side) else " " * cells for side in sides))
            for i in range(max((len(side) for side in sides), default=0))
        ]
        if off:
            lines += [Content(), Content.styled(" DISABLED HERE", "bold $heading")]
            lines += [Content.assemble(" ", _line(line, width - 2)) for line in off]
        signs = [pair for pair in self._signs if all(word in pair[1] for word in words.casefold().split())]
        if signs:
            lines += [Content(), Content.styled(" SIGNS", "bold $heading"), *_legend(signs, columns, cells)]
        if not shown and not signs:
            cap = host(self).keys.cap("app.palette")
            lines = [Content.styled(f" no key does that here; {cap} finds every command", "$dim")]
        elif not words:
            lines += [
                Content(),
                Content.styled(" Shift-drag selects text with the mouse in most terminals.", "$dim"),
            ]
        return lines

    @on(Input.Changed)
    def _typed(self) -> None:
        self.query_one(BuiltRows).repaint()

    @on(Input.Submitted)
    def _searched(self) -> None:
        self.query_one(BuiltRows).focus()

    def action_search(self) -> None:
        self.add_class("-searching")
        self.query_one(Input).focus()

    def action_topics(self) -> None:
        from memtui.tui.dialogs.palette import Palette

        app = self.app
        self.dismiss()
        app.call_later(lambda: app.push_screen(Palette(app.screen, "?")))

    def action_close(self) -> None:
        """A search is given up first."""
        entry = self.query_one(Input)
        if self.has_class("-searching"):
            entry.value = ""
            self.remove_class("-searching")
            self.query_one(BuiltRows).focus()
        else:
            self.dismiss()


def _order(lines: Iterable[HelpLine]) -> list[str]:
    return list(dict.fromkeys(line.group for line in lines))


Group = tuple[str, list[HelpLine]]


def _columns(groups: Sequence[Group], count: int) -> list[list[Group]]:
    """The groups in columns of about the same height, kept whole."""
    columns: list[list[Group]] = [[] for _ in range(count)]
    for group in sorted(groups, key=lambda group: _ORDER.index(group[0])):
        min(columns, key=lambda column: sum(len(lines) + 2 for _, lines in column)).append(group)
    return columns


def _side(groups: Sequence[Group], cells: int) -> list[Content]:
    lines: list[Content] = []
    for name, group in groups:
        if lines:
            lines.append(Content(" " * cells))
        lines.append(Content.styled(fit(name, cells), "bold $heading"))
        lines += [_line(line, cells) for line in group]
    return lines


def _legend(signs: Sequence[tuple[str, str]], columns: int, cells: int) -> list[Content]:
    """Each sign with its meaning, in as many columns as the keys have, filled downwards."""
    high = -(-len(signs) // columns)
    parts = [Content.assemble((fit(sign, 5), "bold"), fit(said, cells - 5)) for sign, said in signs]
    return [Content.assemble(" ", *(parts[at] for at in range(row, len(parts), high))) for row in range(high)]


def _line(line: HelpLine, cells: int) -> Content:
    room = cells - CAP_CELLS - 1
    words = f"{line.key.title}: {line.refused}" if line.refused else line.key.title
    more = f"{words}, {line.key.help}"
    if line.key.help and not line.refused and len(more) <= room:
        words = more
    caps = fit(line.key.caps or line.palette, CAP_CELLS)
    return Content.assemble((caps, "$dim" if line.refused else "bold $key"), " ", fit(words, room))
