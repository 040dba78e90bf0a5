"""A change of the configuration before it is written: what it means, what it brings, the lines of the files."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.content import Content

from memtui.engine import counted, one_line
from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.table import bindings
from memtui.tui.dialogs.answer_effect_view import EFFECT, answers_lines
from memtui.tui.dialogs.change_preview_view import value_words
from memtui.tui.host import host
from memtui.tui.paint.cells import crop, fit
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Row, RowList
from memtui.tui.widgets.text_lines import DialogKeys, Way

if TYPE_CHECKING:
    from memtui.engine.changes import AnswerChange
    from memtui.engine.configuration import ConfigDraft, ConfigRecord, SettingChange


@dataclass(frozen=True, slots=True)
class PlannedConfig:
    """A draft, and what it means in sentences that stand above everything else (cells that change, answers)."""

    draft: ConfigDraft
    first: tuple[str, ...] = ()
    heading: str = ""
    answers: tuple[AnswerChange, ...] = ()
    """The answers that would be others, shown place by place below those sentences."""


_LABEL = 10

_AGAIN = "What it read before that change: the settings of then count again once the gateway is restarted."

_UNASKED = "Not known: no case is saved and no question was asked yet. Ask one in Recall, and it is answered both ways."

_LEAD = 24
"""Characters of a long line that are shown before what changes in it."""

_OF_SERVICES = ("embedding.", "retrieval.rerank", "llm.")
"""Settings whose change makes a check of the services worth its while."""


def asks(draft: ConfigDraft) -> bool:
    """Whether services should be asked before it is written."""
    return bool(draft.checks) and any(change.short.startswith(_OF_SERVICES) for change in draft.changes)


class ConfigRows(RowList):
    """Scrolls through what is planned."""

    def __init__(
        self, planned: PlannedConfig | None, record: ConfigRecord | None, difference: Sequence[str]
    ) -> None:
        super().__init__()
        self._planned, self._record, self._difference = planned, record, tuple(difference)

    def paint(self, width: int) -> Sequence[Row]:
        rows = []
        for style, label, text in self._said():
            if style == "heading":
                rows.append(Row((Content.styled(f" {text}", "bold $heading"),)))
                continue
            if style == "answers" and self._planned is not None:
                answers = answers_lines(self._planned.answers, width, host(self).glyphs)
                rows += [Row((line,)) for line in (*answers, Content())]
                continue
            if style == "diff":
                colour = {"+": "$ok", "-": "$danger"}.get(text[:1], "$dim")
                cut = crop(one_line(text), width - 2, host(self).glyphs.ellipsis)
                rows.append(Row((Content.styled(f" {cut}", colour),)))
                continue
            cells = _LABEL if label else 0
            room = max(12, width - cells - 3)
            for at, part in enumerate(textwrap.wrap(one_line(text), room) or [""]):
                name = fit(label if at == 0 else "", cells)
                rows.append(Row((Content.assemble((f" {name} ", "$dim"), (part, style)),)))
        return rows

    def _said(self) -> Iterator[tuple[str, str, str]]:
        """(style, label, text) of every line."""
        if self._planned is not None:
            yield from _of_plan(self._planned, host(self).glyphs.forth)
        elif self._record is not None:
            yield "heading", "", EFFECT
            yield "$foreground", "", _AGAIN
            yield "heading", "", f"UNDOES {self._record.plan}"
            for change in self._record.changes:
                path = ".".join(change["path"])
                yield (
                    "$foreground",
                    "",
                    f"{path}: {_short(change['to'])} {host(self).glyphs.forth} {_short(change['from'])}",
                )
        yield "heading", "", "THE FILES"
        draft = self._planned.draft if self._planned is not None else None
        lines = self._difference if draft is None else draft.difference
        for at, line in enumerate(lines):
            yield "diff", "", _from_change(line, lines[at - 1 : at + 2] if at else ())
        if draft is None:
            yield "$dim", "", "These are the lines as written; they are restored."


def _of_plan(planned: PlannedConfig, forth: str) -> Iterator[tuple[str, str, str]]:
    draft = planned.draft
    yield "heading", "", planned.heading or EFFECT
    if not planned.first:
        yield "$foreground", "", _UNASKED
    else:
        for sentence in planned.first:
            yield "bold $foreground", "", sentence
    if planned.answers:
        yield "answers", "", ""
    yield "heading", "", "SETTINGS"
    for change in draft.changes:
        yield "$foreground", "", f"{change.short}: {f' {forth} '.join(values_of(change))}"
    yield "heading", "", "EFFECT"
    for consequence in draft.consequences:
        if not (planned.first and consequence.kind == "access"):
            yield (
                "bold $stale" if consequence.grave else "$foreground",
                consequence.kind,
                consequence.sentence,
            )
    for problem in draft.problems:
        yield "$stale", problem.severity, f"{problem.sentence}. {problem.remedy}"
    for name in draft.missing:
        yield "$stale", "key", f"{name} is not set here; the gateway may have it"
    if asks(draft):
        yield (
            "$foreground",
            "asks",
            f'{", ".join(draft.hosts)}, before it is written, with the word "test" alone',
        )
    yield "$dim", "undo", "a backup beside the file; undo works until something else changes the file"


def _from_change(line: str, near: Sequence[str]) -> str:
    """A long line from shortly before the place where it differs from the one that it replaces, or that replaces it."""
    other = next((each for each in near if {each[:1], line[:1]} == {"+", "-"}), "")
    same = next((at for at, (a, b) in enumerate(zip(line[1:], other[1:], strict=False)) if a != b), 0)
    return line if same <= _LEAD * 2 else f"{line[0]}…{line[1 + same - _LEAD :]}"


def values_of(change: SettingChange) -> tuple[str, str]:
    """A setting before and after, "unset" where it is not there; keys by name only."""
    shown = change.as_json()
    before = _short(shown["from"]) if change.there else "unset"
    return before, "unset" if shown["removed"] else _short(shown["to"])


def _short(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "nothing"
    if isinstance(value, dict):
        return value_words(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


class ConfigPreview(QuickModal[str | None]):
    """Returns "ask" (the services first, then write), "write", or None when it is left."""

    DEFAULT_CSS = """
    ConfigPreview { align: center middle; }
    ConfigPreview Panel { width: 120; max-width: 96%; height: 90%; border: round $frame-focus; }
    ConfigPreview.-narrow Panel { width: 100%; max-width: 100%; height: 100%; }
    ConfigPreview ConfigRows { height: 1fr; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal")]  # noqa: RUF012
    BINDINGS = bindings("config")

    def __init__(
        self,
        planned: PlannedConfig | None,
        *,
        record: ConfigRecord | None = None,
        difference: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self._rows = ConfigRows(planned, record, difference)
        self._asks = planned is not None and asks(planned.draft)
        count = len(planned.draft.changes if planned is not None else record.changes if record else ())
        self._title = (
            "Undo" if planned is None else f"{planned.draft.title}: {counted(count, 'setting')}, not written"
        )

    def compose(self) -> ComposeResult:
        with Panel(title=self._title):
            yield self._rows
            yield DialogKeys()

    def on_mount(self) -> None:
        ways: list[Way] = [("config.write", "write it")]
        if self._asks:
            ways = [("config.write", "ask, then write"), ("config.unasked", "write unasked")]
        self.query_one(DialogKeys).say(*ways, ("config.close", "leave it"))
        self._rows.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return True if action != "unasked" or self._asks else None

    def action_write(self) -> None:
        self.dismiss("ask" if self._asks else "write")

    def action_unasked(self) -> None:
        self.dismiss("write")

    def action_close(self) -> None:
        self.dismiss(None)
