"""A small chooser: a few named options, taken with Enter, a letter, or the mouse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.geometry import Region
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from memtui.engine import one_line
from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.table import bindings
from memtui.tui.host import host
from memtui.tui.messages import RIGHT_BUTTON
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.numbers import full
from memtui.tui.theme.tokens import scope_style
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Row, RowList


@dataclass(frozen=True, slots=True)
class Option:
    """One choice: the value handed back, its name, a hint, and the letter that takes it at once.

    The letter may be the id of an action, whose letter in force it then is; see `Keymap.letters`.
    """

    value: str
    label: str
    hint: str = ""
    letter: str = ""


class OptionRows(Widget, can_focus=True):
    """The options, one a line; narrowed to those that hold what is typed after `/`."""

    DEFAULT_CSS = """
    OptionRows { height: auto; background: $background; }
    """
    index: reactive[int] = reactive(0)

    def __init__(self, options: Sequence[Option], index: int, present: str | None = None) -> None:
        super().__init__()
        self.options = tuple(options)
        self._present = present
        """The value that stands now, marked; None where none of them does."""
        self.letters = ("",) * len(self.options)
        """What takes each of them at once, with the keys in force."""
        self.sought: str | None = None
        """What is typed to narrow the list; None while nothing is."""
        self.set_reactive(OptionRows.index, index)

    @property
    def shown(self) -> list[int]:
        """The places of the options that hold every word of what is sought."""
        words = (self.sought or "").lower().split()
        named = [f"{option.label} {option.hint}".lower() for option in self.options]
        return [at for at, name in enumerate(named) if all(word in name for word in words)]

    @property
    def chosen(self) -> Option | None:
        """The option under the cursor."""
        shown = self.shown
        return self.options[shown[self.index]] if self.index < len(shown) else None

    def seek(self, text: str | None) -> None:
        """Narrow the list to what holds `text`; None shows all."""
        self.sought = text
        self.index = 0
        self.refresh()

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self.options) + (self.sought is not None)

    def on_mount(self) -> None:
        wanted = [(option.letter, option.label) for option in self.options]
        self.letters = host(self).keys.letters(wanted, "pick")

    def watch_index(self) -> None:
        """Keep the cursor in sight where there are more options than lines."""
        if isinstance(self.parent, Panel):
            line = self.index + (self.sought is not None)
            self.parent.scroll_to_region(Region(0, line, 1, 1), animate=False, force=True)

    def render(self) -> Content:
        glyphs = host(self).glyphs
        width = max(20, self.size.width)
        label_width = min(
            max((cell_len(one_line(option.label)) for option in self.options), default=8) + 2, width - 6
        )
        lines = []
        shown = self.shown
        if self.sought is not None:
            count = f"   {len(shown)} of {len(self.options)}"
            lines.append(Content.assemble((" / ", "bold $key"), f"{self.sought}▏", (count, "$dim")))
        for at, i in enumerate(shown):
            option, here = self.options[i], at == self.index
            # a hint that the common column would cut begins beside its own label
            own_width = cell_len(one_line(option.label)) + 2
            whole = cell_len(one_line(option.hint)) <= width - label_width - 5
            column = label_width if whole else min(label_width, own_width)
            hint = crop(one_line(option.hint), max(1, width - column - 5), glyphs.ellipsis)
            now = option.value == self._present
            line = Content.assemble(
                (glyphs.cursor if here else " ", "$primary"),
                (glyphs.mark if now else " ", "bold $ok"),
                (self.letters[i] or " " if self.sought is None else " ", "bold $key"),
                "  ",
                (fit(one_line(option.label), column, glyphs.ellipsis), "$foreground"),
                (fit(hint, max(0, width - column - 5)), "$dim"),
            )
            line = line.stylize(Style.from_meta({"option": i}))
            lines.append(line.stylize_before("bold on $cursor") if here else line)
        return Content("\n").join(lines)


MENU_WIDTH = 56

AROUND = 12
"""Cells of a menu that are no words of an option: frame, padding, cursor, mark, letter, gaps, scroll bar."""


class ChooseOne(QuickModal[str | None]):
    """Shows the options and returns the value taken, None when closed."""

    DEFAULT_CSS = """
    ChooseOne Panel { width: 56; max-width: 100%; height: auto; border: round $frame-focus; padding: 0 1; }
    ChooseOne Panel { max-height: 100%; overflow-y: auto; scrollbar-size-vertical: 1; }
    .-narrow ChooseOne Panel { padding: 0; }
    """
    BINDINGS = bindings("pick")

    def __init__(self, title: str, options: Sequence[Option], current: str | None = None) -> None:
        super().__init__()
        self._title, self._options = title, tuple(options)
        values = [option.value for option in self._options]
        self._start = values.index(current) if current in values else 0
        self._present = current if current in values else None

    def compose(self) -> ComposeResult:
        with Panel(title=self._title):
            yield OptionRows(self._options, self._start, self._present)

    def on_mount(self) -> None:
        self.query_one(Panel).headline(where="{pick.take} select   {pick.close} close")
        self.query_one(OptionRows).focus()

    def on_resize(self) -> None:
        self.query_one(Panel).styles.width = self._width()
        self.call_after_refresh(self.query_one(OptionRows).watch_index)

    def _width(self) -> int:
        """As wide as the longest option where the screen is; else four fifths of it. Never narrower than usual."""
        labels = max((cell_len(one_line(option.label)) for option in self._options), default=0)
        hints = max((cell_len(one_line(option.hint)) for option in self._options), default=0)
        wanted, screen = labels + hints + AROUND, self.app.size.width
        return max(MENU_WIDTH, wanted if wanted <= screen else screen * 4 // 5)

    def on_key(self, event: events.Key) -> None:
        rows = self.query_one(OptionRows)
        if rows.sought is not None or event.key == "slash":
            if self._sought(event, rows):
                event.stop()
                event.prevent_default()
            return
        for option, letter in zip(self._options, rows.letters, strict=True):
            if letter and event.character == letter:
                event.stop()
                self.dismiss(option.value)
                return

    def _sought(self, event: events.Key, rows: OptionRows) -> bool:
        """What is typed to narrow the list; False for a key that does something else."""
        text = rows.sought
        if text is None or (event.key == "backspace" and not text):
            rows.seek("" if text is None else None)
        elif event.key == "escape":
            rows.seek(None)
        elif event.key == "backspace":
            rows.seek(text[:-1])
        elif event.character is not None and event.character.isprintable():
            rows.seek(text + event.character)
        else:
            return False
        return True

    def on_click(self, event: events.Click) -> None:
        """A click on an option takes it, one beside the menu closes it."""
        row = event.style.meta.get("option")
        if not self.query_one(Panel).region.contains(int(event.screen_x), int(event.screen_y)):
            self.dismiss(None)
        elif isinstance(row, int) and event.button != RIGHT_BUTTON:
            self.dismiss(self._options[row].value)

    def _move(self, by: int) -> None:
        rows = self.query_one(OptionRows)
        rows.index = max(0, min(len(rows.shown) - 1, rows.index + by))

    def action_down(self) -> None:
        self._move(1)

    def action_up(self) -> None:
        self._move(-1)

    def action_take(self) -> None:
        if (chosen := self.query_one(OptionRows).chosen) is not None:
            self.dismiss(chosen.value)

    def action_close(self) -> None:
        self.dismiss(None)


# Whose recall it is and what it searches: an agent's scopes, scopes that are named, or all of them.

ALL = "\0all"
"""The key of the row that takes the filter away; no stored scope is this."""

AGENT = "\0agent:"
"""Before the name of an agent: the key of its row."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What was chosen. `scopes` None leaves them to the agent that asks, or is no filter with `everyone`."""

    scopes: tuple[str, ...] | None = None
    agent: str = ""
    everyone: bool = False


@dataclass(frozen=True, slots=True)
class Reader:
    """An agent that may ask: its key (empty for the store's own), its name, what it reads, how many memories."""

    key: str
    name: str
    reads: str
    rows: int


class ScopeRows(RowList):
    """Every scope with its number of memories, the chosen ones marked."""

    BINDINGS = bindings("choice")

    def __init__(
        self,
        scopes: Sequence[tuple[str, int]],
        now: Searched,
        readers: Sequence[Reader] = (),
        unfiltered: str = "all scopes, no filter",
    ) -> None:
        super().__init__()
        self._unfiltered = "all scopes, which no agent sees" if readers else unfiltered
        self._counts_all = bool(readers) or unfiltered.startswith("all scopes")
        known, chosen = {scope for scope, _ in scopes}, now.scopes or ()
        self._scopes = [*scopes, *((scope, 0) for scope in chosen if scope not in known)]
        self._readers = tuple(readers)
        self._now = now
        self.chosen = list(chosen)

    def paint(self, width: int) -> Sequence[Row]:
        glyphs = host(self).glyphs
        total = sum(count for _, count in self._scopes)
        rows = []
        for reader in self._readers:
            mine = not self.chosen and not self._now.everyone and self._now.agent in (reader.key, reader.name)
            words = one_line(f"as {reader.name}: {reader.reads or 'everything'}")
            rows.append(self._row(AGENT + reader.key, words, reader.rows, mine, "$foreground", width))
        nothing = not self.chosen and (self._now.everyone or not self._readers)
        counted = total if self._counts_all else None
        rows.append(self._row(ALL, self._unfiltered, counted, nothing, "$foreground", width))
        for scope, count in self._scopes:
            rows.append(
                self._row(
                    scope,
                    one_line(scope) or glyphs.dot,
                    count,
                    scope in self.chosen,
                    scope_style(scope),
                    width,
                )
            )
        return rows

    def _row(self, key: str, name: str, count: int | None, marked: bool, style: str, width: int) -> Row:
        glyphs = host(self).glyphs
        mark = (f" {glyphs.mark} ", "bold $mark") if marked else "   "
        return Row(
            (
                Content.assemble(
                    mark,
                    (fit(name, width - 14), style),
                    (right("" if count is None else full(count), 10), "$dim"),
                    " ",
                ),
            ),
            key,
        )

    def action_mark(self) -> None:
        """Mark the scope under the cursor, or take its mark away; the first row takes all away."""
        if self.key == ALL:
            self.chosen.clear()
            agent = self._now.agent if self._readers else ""  # nobody's recipe asks as a person again
            self._now = Searched(None, agent, everyone=True)
        elif self.key.startswith(AGENT):
            self.chosen.clear()
            self._now = Searched(agent=self.key.removeprefix(AGENT))
        elif self.key in self.chosen:
            self.chosen.remove(self.key)
        elif self.key:
            self.chosen.append(self.key)
        self.repaint()

    def action_take(self) -> None:
        """Take what is marked; with nothing marked, the scope under the cursor."""
        if self.key == ALL or self.key.startswith(AGENT):
            self.action_mark()
        elif not self.chosen and self.key:
            self.chosen.append(self.key)
        if self.chosen:
            self.screen.dismiss(Searched(tuple(self.chosen), self._now.agent))
        else:
            self.screen.dismiss(self._now)


class ScopePick(QuickModal[Searched | None]):
    """Returns what was chosen, None when closed."""

    DEFAULT_CSS = """
    ScopePick { align: center middle; }
    ScopePick Panel { width: 60; max-width: 100%; height: 22; max-height: 90%; border: round $frame-focus; }
    """
    BINDINGS = bindings("choice", only=("close",))

    def __init__(
        self,
        scopes: Sequence[tuple[str, int]],
        now: Searched,
        readers: Sequence[Reader] = (),
        unfiltered: str = "all scopes, no filter",
    ) -> None:
        super().__init__()
        self._rows = ScopeRows(scopes, now, readers, unfiltered)

    def compose(self) -> ComposeResult:
        with Panel(title="Who asks, in which scopes"):
            yield self._rows

    def on_mount(self) -> None:
        self.query_one(Panel).headline(
            where="{choice.mark} mark   {choice.take} select   {choice.close} close"
        )
        self._rows.focus()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        event.stop()
        self._rows.action_mark()

    def action_close(self) -> None:
        self.dismiss(None)
