"""The filter line: typed with colours, completion and carets under an error; shown as chips when at rest."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from rich.highlighter import Highlighter
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.suggester import Suggester
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from memtui.engine import ListView, one_line
from memtui.tui.actions.table import bindings
from memtui.tui.dialogs.find_list import FindItem, FindList
from memtui.tui.paint.cells import crop
from memtui.tui.paint.numbers import full
from memtui.tui.screens.browse.filter_text import (
    Candidates,
    FilterProblem,
    candidates,
    check,
    chip_texts,
    coloured,
    completed,
    without_last,
)
from memtui.tui.widgets.text_lines import CleanInput

APPLY_S = 0.2
"""After this pause the filter is applied: shorter runs a query for every letter, longer feels dead."""

COMPLAIN_S = 0.7
"""An unfinished word is not an error yet."""


class _Colours(Highlighter):
    """Colours the terms while they are typed, and underlines the characters that an error is about."""

    def __init__(self) -> None:
        self.trouble: FilterProblem | None = None

    def highlight(self, text: Text) -> None:
        for start, end, style in coloured(text.plain):
            text.stylize(Style.parse(style).rich_style, start, end)
        if self.trouble is not None:
            text.stylize(Style.parse("underline $danger").rich_style, self.trouble.start, self.trouble.end)


class _Completion(Suggester):
    view: ListView | None = None
    """The list that is shown, which knows the store's values."""

    async def get_suggestion(self, value: str) -> str | None:
        return completed(value, self.view)


def _counted(count: int | None) -> str:
    """How many memories have a value, to the right; nothing where that is not counted."""
    return f"{full(count):>7}" if count is not None else " " * 7


class FilterInput(CleanInput):
    """The input itself; Enter and Down leave it for the list, Escape takes back what was typed."""

    BINDINGS = bindings("filter")

    @dataclass
    class Left(Message):
        """The person is done typing; `keep` is whether the text counts."""

        keep: bool

    class Unfinished(Message):
        """What is written is not finished, and that is no mistake: a list of candidates is open."""

    @dataclass
    class Recalled(Message):
        """The person wants an earlier (+1) or a later (-1) filter of the history."""

        by: int

    def action_earlier(self) -> None:
        self.post_message(self.Recalled(1))

    def action_later(self) -> None:
        self.post_message(self.Recalled(-1))

    def action_take(self) -> None:
        self.post_message(self.Left(True))

    def action_cancel(self) -> None:
        self.post_message(self.Left(False))

    def action_complete(self) -> None:
        """The only candidate at once; of several, a list with what each is and how many memories have it."""
        known = self.suggester.view if isinstance(self.suggester, _Completion) else None
        found = candidates(self.value, known)
        fitting = [
            proposal
            for proposal in found.proposals
            if proposal.insert.lower().startswith(found.written.lower())
        ]
        if len(fitting) == 1 and found.written:
            self._take(found.taken(fitting[0].insert))
        elif found.proposals:
            self.post_message(self.Unfinished())
            self._choose(found)

    def _choose(self, found: Candidates) -> None:
        items = [
            FindItem(proposal.insert, proposal.insert, f"{proposal.help}  {_counted(proposal.count)}")
            for proposal in found.proposals
        ]

        def taken(insert: str | None) -> None:
            self.focus()
            if insert is not None:
                self._take(found.taken(insert))

        title = found.head.rsplit(" ", 1)[-1] or "What to filter by"
        self.app.push_screen(FindList(title, items, hint="type to find", text=found.written), taken)

    def _take(self, text: str) -> None:
        self.value = text
        self.cursor_position = len(text)


class FilterBar(Widget):
    """Posts `Changed` while the person types and `Left` when the keyboard should go back to the list."""

    DEFAULT_CSS = """
    FilterBar { height: auto; background: $background; layout: vertical; }
    FilterBar > Horizontal { height: 1; }
    FilterBar #prompt { width: 3; color: $key; text-style: bold; }
    FilterBar #info { width: auto; color: $dim; }
    FilterBar #chips { width: 1fr; height: 1; color: $dim; }
    FilterBar Input { width: 1fr; height: 1; border: none; padding: 0; background: $background; }
    FilterBar Input { display: none; }
    FilterBar #caret { height: 1; color: $danger; display: none; }
    FilterBar #words { height: 1; color: $danger; display: none; }
    FilterBar.-editing Input { display: block; }
    FilterBar.-editing #chips { display: none; }
    FilterBar.-trouble #caret, FilterBar.-trouble #words { display: block; }
    """

    @dataclass
    class Changed(Message):
        """The filter reads like this now."""

        text: str

    @dataclass
    class Left(Message):
        """Done typing."""

    @dataclass
    class ChipClosed(Message):
        """A chip was clicked away."""

        index: int

    @dataclass
    class Resized(Message):
        """The bar needs more or fewer rows."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.text = ""
        self.history: tuple[str, ...] = ()
        """Filters typed before, the last first."""
        self._past = -1
        """The place in the history that is shown, -1 for none."""
        self._good = ""
        self._scopes = ""
        self._colours = _Colours()
        self._apply: Timer | None = None
        self._complain: Timer | None = None

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static(" / ", id="prompt", markup=False)
            entry = FilterInput(
                highlighter=self._colours,
                suggester=_Completion(use_cache=False),
                placeholder='words, "a phrase", tier:core, scope:agent:*, imp>.5, age<2d, -is:stale',
            )
            yield entry
            yield Static(id="chips")
            yield Static(id="info")
        yield Static(id="caret")
        yield Static(id="words")

    def on_mount(self) -> None:
        self._draw_chips()

    @property
    def rows(self) -> int:
        """How many rows the bar needs."""
        return 3 if self.has_class("-trouble") else 1

    @property
    def editing(self) -> bool:
        """Whether the keyboard is in the input."""
        return self.has_class("-editing")

    def edit(self) -> None:
        """Give the keyboard to the input."""
        self._past = -1
        self.add_class("-editing")
        entry = self.query_one(FilterInput)
        entry.value = self.text
        entry.cursor_position = len(self.text)
        entry.focus()
        if self.text:  # typing replaces it, an arrow key edits it
            entry.action_select_all()

    def show(self, text: str, scopes: str, info: Content) -> None:
        """Show the filter that is applied, the scopes beside it, and what it found."""
        self._scopes = one_line(scopes)
        self.query_one("#info", Static).update(info)
        if not self.editing:
            self.text = text
        self._draw_chips()

    def accept(self, view: ListView) -> None:
        """The engine has understood this filter: nothing to complain about, and what Escape goes back to."""
        self.complain(None)
        text = view.query.filter
        suggester = self.query_one(FilterInput).suggester
        if isinstance(suggester, _Completion):
            suggester.view = view
        if not self.editing:
            self._good = text

    def complain(self, trouble: FilterProblem | None) -> None:
        """Say what is wrong, with carets under the exact characters; None when nothing is."""
        before = self.rows
        self._colours.trouble = trouble
        self.set_class(trouble is not None, "-trouble")
        entry = self.query_one(FilterInput)
        if trouble is not None:
            start = cell_len(self.text[: trouble.start])
            wide = max(1, cell_len(self.text[trouble.start : trouble.end]))
            left = max(0, 3 + start - int(entry.scroll_offset.x if self.editing else 0))
            self.query_one("#caret", Static).update(Content(" " * left + "^" * wide))
            words = f"   {trouble.message} {trouble.fix}".rstrip()
            self.query_one("#words", Static).update(Content(crop(words, max(20, self.size.width - 1))))
        entry.refresh()
        if before != self.rows:
            self.post_message(self.Resized())

    def _draw_chips(self) -> None:
        line = Content()
        if self._scopes:
            line = Content.assemble((f" {self._scopes} ", "$scope-agent on $cursor-idle"), " ")
        for i, chip in enumerate(chip_texts(self.text)):
            text = Content(f" {one_line(chip)} ").stylize_before("$foreground on $cursor-idle")
            for start, end, style in coloured(one_line(chip)):
                text = text.stylize(style, start + 1, end + 1)
            line = Content.assemble(line, text.stylize(Style.from_meta({"chip": i})), " ")
        if not line.plain:
            line = Content.styled("all memories", "$dim")
        self.query_one("#chips", Static).update(line)

    def on_click(self, event: events.Click) -> None:
        if self.editing:
            return
        chip = event.style.meta.get("chip")
        if isinstance(chip, int):
            self.post_message(self.ChipClosed(chip))
        else:
            self.edit()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if not self.editing or event.value == self.text:
            return
        self.text = event.value
        self._stop_timers()
        self.complain(None)
        found = check(self.text)
        if found is None:
            self._apply = self.set_timer(APPLY_S, lambda: self.post_message(self.Changed(self.text)))
        elif self.text.endswith((":", "=", ",")):
            self._finished()
        else:
            self._complain = self.set_timer(COMPLAIN_S, lambda: self.complain(found))

    def _finished(self) -> None:
        """A value is to come: the rows are those of what stands before it, not of a letter that was typed slowly."""
        rest = without_last(self.text)
        if rest is not None:
            self._apply = self.set_timer(APPLY_S, lambda: self.post_message(self.Changed(rest)))

    @on(FilterInput.Unfinished)
    def _unfinished(self, event: FilterInput.Unfinished) -> None:
        event.stop()
        self._stop_timers()
        self.complain(None)
        self._finished()

    @on(FilterInput.Recalled)
    def _recalled(self, event: FilterInput.Recalled) -> None:
        """An earlier filter, or a later one; behind the last of all, the list."""
        event.stop()
        past = self._past + event.by
        if past < -1:
            self.query_one(FilterInput).post_message(FilterInput.Left(True))
            return
        self._past = max(-1, min(past, len(self.history) - 1))
        entry = self.query_one(FilterInput)
        entry.value = self.history[self._past] if self._past >= 0 else self._good
        entry.cursor_position = len(entry.value)

    def _stop_timers(self) -> None:
        for timer in (self._apply, self._complain):
            if timer is not None:
                timer.stop()
        self._apply = self._complain = None

    @on(FilterInput.Left)
    def _left(self, event: FilterInput.Left) -> None:
        event.stop()
        self._stop_timers()
        if event.keep:
            found = check(self.text)
            if found is not None:
                self.complain(found)
                return
        else:
            self.text = self._good
        self.leave()

    def leave(self) -> None:
        """Back to chips, with whatever the text is now."""
        self.complain(None)
        self.remove_class("-editing")
        self._draw_chips()
        self.post_message(self.Changed(self.text))
        self.post_message(self.Left())
