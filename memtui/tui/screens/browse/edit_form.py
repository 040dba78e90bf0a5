"""One memory in a form: its text, its fields, and what differs from what is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static, TextArea

from memtui.engine import Memory, MemtuiError, clean, one_line
from memtui.engine.changes import LONGEST_TEXT, Field
from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.table import bindings
from memtui.tui.dialogs.choose_field import LETTERS, choose_value, words_of
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.host import host
from memtui.tui.paint.cells import crop, fit
from memtui.tui.paint.numbers import full
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import KnobRows, Row, RowList
from memtui.tui.widgets.text_lines import DialogKeys

# A memory as it is being edited: what it was, what it is to be, and what differs.

STEP = 0.05
"""What one press of left or right adds to an importance or a confidence."""

KEEP_S = 0.5
"""How long after a key what was typed is written down."""

SHARES = ("importance", "confidence")


@dataclass(frozen=True, slots=True)
class EditedMemory:
    """One memory in the editor. Values are words, as a person types them."""

    id: str
    fields: tuple[Field, ...]
    """The fields beside the text, in the order to show them."""
    own: Mapping[str, str]
    """What the memory has, by field name; the text under "text"."""
    given: Mapping[str, str] = field(default_factory=dict)
    """What was put in its place, where that differs."""
    in_place: bool = False
    """A new text changes the memory itself, where a new version would be usual."""
    versioned: bool = False
    """A new text makes a new version."""
    cleaned: bool = False
    """The stored text holds characters that cannot be shown; the editor holds it without them."""
    trouble: str = ""
    """Why the draft cannot be taken as it is."""
    restored: bool = False
    """What differs was typed in an earlier run that did not apply it."""

    def value(self, name: str) -> str:
        """What the field is to be."""
        return self.given.get(name, self.own[name])

    @property
    def changed(self) -> tuple[str, ...]:
        """The names of the fields that differ from the memory."""
        return tuple(self.given)

    def field(self, name: str) -> Field | None:
        """The field of this name."""
        return next((each for each in self.fields if each.name == name), None)


def draft_of(memory: Memory, fields: Sequence[Field], *, versioned: bool) -> EditedMemory:
    """The draft of an untouched memory."""
    shown = tuple(each for each in fields if each.name in LETTERS)
    text = clean(memory.raw_text)
    own = {each.name: _own(memory, each.name) for each in shown} | {"text": text}
    return EditedMemory(memory.id, shown, own, versioned=versioned, cleaned=text != memory.raw_text)


NEW = "new"
"""In place of the id of a memory that is not there yet."""

USUAL = {"scope": "global", "category": "fact", "importance": "0.7"}
"""What a new memory has, unless a person says otherwise."""


def new_draft(fields: Sequence[Field], scope: str) -> EditedMemory:
    """The draft of a memory that is to be added, in `scope`; empty: in the usual one."""
    shown = tuple(each for each in fields if each.name in USUAL)
    own = {each.name: USUAL[each.name] for each in shown} | {"text": ""}
    if scope and "scope" in own:
        own["scope"] = scope
    return EditedMemory(NEW, shown, own)


def put(draft: EditedMemory, name: str, value: str, now_ms: int) -> EditedMemory:
    """The draft with a new value; a value that makes no sense is refused with the reason in `trouble`."""
    if value == draft.own[name]:
        given = {key: kept for key, kept in draft.given.items() if key != name}
        return replace(draft, given=given, trouble="")
    each = draft.field(name)
    if each is not None:
        try:
            each.read(name, value, now_ms)
        except MemtuiError as error:
            return replace(draft, trouble=str(error))
    return replace(draft, given={**draft.given, name: value}, trouble="")


def turned(draft: EditedMemory, name: str, steps: int, now_ms: int) -> EditedMemory:
    """The draft with a field turned: numbers by steps of .05, words to the next one; no steps: as it was."""
    each = draft.field(name)
    if each is None:
        return draft
    if not steps:
        return put(draft, name, draft.own[name], now_ms)
    now = draft.value(name)
    if name in SHARES:
        number = float(now) if now else 0.5
        return put(draft, name, f"{min(1.0, max(0.0, round(number + steps * STEP, 4))):g}", now_ms)
    words = words_of(each)
    if not words:
        return draft
    at = words.index(now) + (1 if steps > 0 else -1) if now in words else 0
    return put(draft, name, words[at % len(words)], now_ms)


def _own(memory: Memory, name: str) -> str:
    if name == "pinned":
        return "yes" if memory.metadata_values.get("pinned") is True else "no"
    if name == "suppressed":
        return "yes" if memory.suppressed else "no"
    if name == "valid_until":
        until = memory.valid_until_ms
        return "never" if until is None else _date(until)
    if name == "agent":
        return str(memory.extra.get("agentId") or "")
    value = getattr(memory, name, memory.extra.get(name))
    return f"{value:g}" if isinstance(value, float) else str(value) if value is not None else ""


def _date(ms: int) -> str:
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="minutes")
    except (OverflowError, OSError, ValueError):
        return str(ms)


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
        lines = [Content.assemble((f"{warn} " if trouble else "", style), (word, style)) for word in words]
        self.update(Content("\n").join(lines))
        self.display = bool(words)


class EditForm(QuickModal[EditedMemory | None]):
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
    HEADING = "Edit"
    UNCHANGED = "Nothing differs from what is stored yet."

    def __init__(
        self,
        draft: EditedMemory,
        scopes: Sequence[str],
        embedder: str,
        title: str,
        keep: Callable[[EditedMemory], object],
    ) -> None:
        super().__init__()
        self.draft = draft
        self._keep = keep
        """Writes the draft down for the case that the app ends before it is applied."""
        self._unkept: Timer | None = None
        self._scopes, self._embedder, self._title = tuple(scopes), embedder, title

    def compose(self) -> ComposeResult:
        with Panel(title=self.HEADING):
            yield DraftText(self.draft.value("text"))
            yield EditNotes()
            yield KnobRows(self._rows)
            yield DialogKeys()

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
        self.query_one(DialogKeys).say(
            ("edit.review", "preview"),
            inside,
            ("edit.external", "$EDITOR"),
            ("edit.close", "close"),
        )

    # what there is to see

    def _rows(self, width: int, height: int) -> list[Row]:
        draft = self.draft
        longest = max((cell_len(self._value(field.name)) for field in draft.fields), default=0)
        column = min(VALUE, longest + 2)
        rows = [self._row(field.name, field.takes, width, column) for field in draft.fields]
        if draft.versioned:
            rows.append(self._version_row(width))
        return rows

    def _value(self, name: str) -> str:
        return one_line(self.draft.value(name)) or "(none)"

    def _row(self, name: str, takes: str, width: int, column: int) -> Row:
        draft, glyphs = self.draft, host(self).glyphs
        differs = name in draft.given
        words = "valid until" if name == "valid_until" else name
        value = self._value(name)
        aside = f"was {one_line(draft.own[name]) or '(none)'}" if differs else takes
        line = Content.assemble(
            "  ",
            ("~ " if differs else "  ", "bold $stale"),
            (fit(words, NAME, glyphs.ellipsis), "$dim"),
            (fit(value, column, glyphs.ellipsis), "bold $foreground" if differs else "$foreground"),
            (crop(f" {aside}", max(0, width - NAME - column - 5), glyphs.ellipsis), "$dim"),
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
        if draft.restored:
            notes.append("Restored: these changes were typed before and not applied. Close drops them.")
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

    def _take(self, draft: EditedMemory) -> None:
        if (draft.given, draft.in_place) != (self.draft.given, self.draft.in_place) and self._unkept is None:
            self._unkept = self.set_timer(KEEP_S, self.keep_unsaved)
        self.draft = draft
        self._tell()

    def keep_unsaved(self) -> None:
        """Write down what was typed since the last time; the app does so too where it ends by a fault."""
        if self._unkept is not None:
            self._unkept.stop()
            self._unkept = None
            self._keep(self.draft)

    def dismiss(self, result: EditedMemory | None = None) -> AwaitComplete:
        """As Textual does; what was typed last is written down before, and is dropped with the form."""
        if self._unkept is not None:
            self._unkept.stop()
            self._unkept = None
        self._keep(result if result is not None else replace(self.draft, given={}))
        return super().dismiss(result)

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

    @property
    def _ready(self) -> bool:
        """Whether there is something to preview."""
        return bool(self.draft.changed)

    def action_review(self) -> None:
        if self._ready:
            self.dismiss(replace(self.draft, trouble="", restored=False))
        else:
            self.query_one(EditNotes).say(self.UNCHANGED)

    def action_close(self) -> None:
        if not self.draft.changed:
            self.dismiss(None)
            return

        def answered(value: str | None) -> None:
            if value == "drop":
                self.dismiss(None)

        options = [
            Option("stay", "keep editing", letter="g"),
            Option("drop", "discard", letter="d"),
        ]
        self.app.push_screen(ChooseOne("Unsaved changes", options), answered)


class AddForm(EditForm):
    """The same form for a memory that is to be added."""

    HEADING = "Add memory"
    UNCHANGED = "Type a text first."

    @property
    def _ready(self) -> bool:
        return bool(self.draft.value("text").strip())
