"""One memory in a form: its text, its fields, and what differs from what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static, TextArea

from memtui.engine import LONGEST_TEXT, MemtuiError, clean, one_line
from memtui.tui.dialogs.pick import Option, Pick
from memtui.tui.host import host
from memtui.tui.keys import bindings
from memtui.tui.paint.cells import crop, fit
from memtui.tui.paint.numbers import full
from memtui.tui.quick import QuickModal
from memtui.tui.screens.browse.choosing import choose_value
from memtui.tui.screens.browse.draft import Draft, put, turned
from memtui.tui.widgets.built_rows import KnobRows
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.rows import Row, RowList
from memtui.tui.widgets.ways import Ways

NAME, VALUE = 13, 22
IN_PLACE = "in_place"


class DraftText(TextArea):
    """The text of the memory; what is pasted is made harmless, and no longer than a memory takes."""

    DEFAULT_CSS = """
    DraftText {
        height: 1fr; min-height: 3; border: none; padding: 0 1; background: $background; color: $foreground;
        &:focus { border: none; }
        & .text-area--cursor-line { background: $background; }
    }
    """

    def __init__(self, text: str) -> None:
        super().__init__(text, soft_wrap=True, tab_behavior="focus", show_line_numbers=False)
        self.cursor_blink = False

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        room = LONGEST_TEXT - len(self.text)
        if len(event.text) > room:
            self.screen.query_one(EditNotes).say(
                f"Not pasted: {full(len(event.text))} characters; a memory takes {full(LONGEST_TEXT)}."
            )
            return
        await super()._on_paste(events.Paste(clean(event.text)))


class EditNotes(Static):
    """What stands in the way, or what a new text brings with it."""

    DEFAULT_CSS = "EditNotes { height: auto; max-height: 3; padding: 0 1; }"

    def say(self, trouble: str, notes: Sequence[str] = ()) -> None:
        """Show the trouble, else the notes; nothing when there are none."""
        warn = host(self).glyphs.warn
        words = [trouble] if trouble else list(notes)
        style = "$danger" if trouble else "$dim"
        lines = [Content.assemble((f"{warn} " if trouble else "", style), (each, style)) for each in words]
        self.update(Content("\n").join(lines))
        self.display = bool(words)


class EditForm(QuickModal[Draft | None]):
    """The draft in, the changed draft out; None when it was closed.

    `scopes` are those of the store, most used first; `embedder` is the one that makes new vectors, in words.
    """

    DEFAULT_CSS = """
    EditForm { align: center middle; }
    EditForm Panel { width: 110; max-width: 96%; height: 90%; border: round $frame-focus; }
    EditForm.-narrow Panel { width: 100%; max-width: 100%; height: 100%; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal")]  # noqa: RUF012
    BINDINGS = bindings("edit")

    def __init__(self, draft: Draft, scopes: Sequence[str], embedder: str, title: str) -> None:
        super().__init__()
        self.draft = draft
        self._scopes, self._embedder, self._title = tuple(scopes), embedder, title

    def compose(self) -> ComposeResult:
        with Panel(title="Edit"):
            yield DraftText(self.draft.value("text"))
            yield EditNotes()
            yield KnobRows(self._rows)
            yield Ways()

    def on_mount(self) -> None:
        rows = self.query_one(KnobRows)
        rows.styles.height = min(len(self.draft.fields) + self.draft.versioned, 12)
        self._tell()
        self.query_one(DraftText).focus()

    def on_descendant_focus(self) -> None:
        """The ways are those of the part that has the keys."""
        inside = (
            ("rows.open", "set a field") if self.query_one(KnobRows).has_focus else ("", "tab to the fields")
        )
        self.query_one(Ways).say(
            ("edit.review", "look at the change"),
            inside,
            ("edit.external", "$EDITOR"),
            ("edit.close", "close"),
        )

    # what there is to see

    def _rows(self, width: int, height: int) -> list[Row]:
        draft = self.draft
        rows = [self._row(each.name, each.takes, width) for each in draft.fields]
        if draft.versioned:
            rows.append(self._version_row(width))
        return rows

    def _row(self, name: str, takes: str, width: int) -> Row:
        draft, glyphs = self.draft, host(self).glyphs
        differs = name in draft.given
        words = "valid until" if name == "valid_until" else name
        value = one_line(draft.value(name)) or "(none)"
        aside = f"was {one_line(draft.own[name]) or '(none)'}" if differs else takes
        line = Content.assemble(
            "  ",
            ("~ " if differs else "  ", "bold $stale"),
            (fit(words, NAME, glyphs.ellipsis), "$dim"),
            (fit(value, VALUE, glyphs.ellipsis), "bold $foreground" if differs else "$foreground"),
            (crop(f" {aside}", max(0, width - NAME - VALUE - 5), glyphs.ellipsis), "$dim"),
        )
        return Row((line,), name)

    def _version_row(self, width: int) -> Row:
        draft = self.draft
        value = "changes it in place" if draft.in_place else "makes a new version"
        aside = " the old text is gone from the agent" if draft.in_place else " the old one stays as history"
        line = Content.assemble(
            "  ",
            ("~ " if draft.in_place else "  ", "bold $stale"),
            (fit("a new text", NAME), "$dim"),
            (fit(value, VALUE), "$foreground"),
            (crop(aside, max(0, width - NAME - VALUE - 5), host(self).glyphs.ellipsis), "$dim"),
        )
        return Row((line,), IN_PLACE)

    def _tell(self) -> None:
        """Say what differs and what stands in the way."""
        draft, notes = self.draft, []
        if draft.cleaned:
            notes.append(
                "The stored text holds control characters; they are not shown, and a new text drops them."
            )
        if "text" in draft.given:
            none = self._embedder.startswith("none")
            reason = self._embedder.partition(":")[2].strip()
            notes.append(
                f"A new text needs a new vector, and there is no embedder: {reason}"
                if none
                else f"The new text gets a new vector from {self._embedder}."
            )
        self.query_one(EditNotes).say(draft.trouble, notes)
        changed = ", ".join(name.replace("_", " ") for name in draft.changed)
        which = Content.styled(f"~ {changed}", "$stale") if changed else Content(self._title)
        self.query_one(Panel).headline(which=which)
        self.query_one(KnobRows).repaint()

    def _take(self, draft: Draft) -> None:
        self.draft = draft
        self._tell()

    # changing

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._take(put(self.draft, "text", event.text_area.text, host(self).now_ms()))

    @on(KnobRows.Turned)
    def _turned(self, event: KnobRows.Turned) -> None:
        event.stop()
        if event.key == IN_PLACE:
            self._take(replace(self.draft, in_place=not self.draft.in_place))
        else:
            self._take(turned(self.draft, event.key, event.steps, host(self).now_ms()))

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        name, draft = event.key, self.draft
        each = draft.field(name)
        if name == IN_PLACE:
            self._take(replace(draft, in_place=not draft.in_place))
        if each is None:
            return
        choose_value(
            self.app,
            name.replace("_", " "),
            each,
            draft.value(name),
            self._scopes,
            lambda value: self._taken(name, value),
        )

    def _taken(self, name: str, value: str) -> None:
        self._take(put(self.draft, name, value, host(self).now_ms()))

    def action_external(self) -> None:
        try:
            text = host(self).in_editor(self.query_one(DraftText).text)
        except MemtuiError as error:
            self._take(replace(self.draft, trouble=str(error)))
        else:
            self.query_one(DraftText).load_text(clean(text))

    # leaving

    def action_review(self) -> None:
        if self.draft.changed:
            self.dismiss(replace(self.draft, trouble=""))
        else:
            self.query_one(EditNotes).say("Nothing differs from what is stored yet.")

    def action_close(self) -> None:
        if not self.draft.changed:
            self.dismiss(None)
            return

        def answered(value: str | None) -> None:
            if value == "drop":
                self.dismiss(None)

        options = [
            Option("stay", "go on editing", letter="g"),
            Option("drop", "drop what was typed", letter="d"),
        ]
        self.app.push_screen(Pick("Not yet looked at", options, "stay"), answered)
