"""What a change will do, row by row, before it is made; and what stands in its way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from textual.app import ComposeResult
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from memtui.engine import Change, ChangeSet, Conflict, one_line
from memtui.tui.host import host
from memtui.tui.keys import bindings
from memtui.tui.paint.cells import crop, fit
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full, plural
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.rows import Row, RowList

SHOWN = 300
"""Nobody reads more rows of one change than this; the rest is counted by scope."""
FIELD_CELLS = 18


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person says to a preview.

    "apply" `change_set`; `confirmed`: the person agreed to what needs it (a deletion, a stopped agent). "force":
    plan again, over what others changed. "edit": back to what it was planned from.
    """

    what: Literal["apply", "force", "edit"]
    change_set: ChangeSet
    confirmed: bool = False


def value_words(value: Any) -> str:
    """A stored value on one line."""
    if value is None:
        return "(none)"
    if isinstance(value, float):
        return f"{value:.4g}"
    return one_line(str(value)) or "(empty)"


def preview_lines(plan: ChangeSet, notes: Sequence[str], width: int, glyphs: Glyphs) -> list[Content]:
    """The whole preview for lines of `width` cells: warnings, conflicts, rows, counts by scope."""
    lines: list[Content] = []
    for note in (*notes, *plan.warnings):
        for i, line in enumerate(Content.styled(one_line(note), "$foreground").wrap(max(12, width - 4))):
            lines.append(Content.assemble((f" {glyphs.warn} " if i == 0 else "   ", "bold $stale"), line))
    if plan.conflicts:
        heading = f" {plural(len(plan.conflicts), 'conflict', 'conflicts')}: this cannot be applied as it is"
        lines += [Content(), Content.styled(heading, "bold $danger")]
        for conflict in plan.conflicts[:SHOWN]:
            lines += _conflict(conflict, width, glyphs)
    if plan.changes:
        scopes = ", ".join(f"{one_line(scope or '(none)')} {full(n)}" for scope, n in plan.by_scope)
        lines += [Content(), Content.styled(crop(f" {scopes}", width - 1, glyphs.ellipsis), "$dim")]
    for change in plan.changes[:SHOWN]:
        lines += _change(change, width, glyphs)
    left = len(plan.changes) - SHOWN
    if left > 0:
        lines += [Content(), Content.styled(f" and {full(left)} more", "$dim")]
    return lines


def _change(change: Change, width: int, glyphs: Glyphs) -> list[Content]:
    done = {"edit": "", "add": "new  ", "delete": "goes  "}[change.op]
    why = f"  {one_line(change.why)}" if change.why else ""
    name = f" {done}{one_line(change.id)[:8]}  {one_line(change.title)}{why}"
    lines = [Content.styled(crop(name, width - 1, glyphs.ellipsis), "bold $foreground")]
    if change.op == "edit":
        lines += _fields(change.before, change.after, width, glyphs)
    return lines


def _fields(before: Mapping[str, Any], after: Mapping[str, Any], width: int, glyphs: Glyphs) -> list[Content]:
    room = max(8, (width - FIELD_CELLS - 8) // 2)
    return [
        Content.assemble(
            "   ",
            (fit(one_line(name), FIELD_CELLS, glyphs.ellipsis), "$dim"),
            (crop(value_words(before.get(name)), room, glyphs.ellipsis), "$delta-down"),
            (f" {glyphs.forth} ", "$dim"),
            (crop(value_words(after.get(name)), room, glyphs.ellipsis), "$delta-up"),
        )
        for name in dict.fromkeys((*before, *after))
    ]


def _conflict(conflict: Conflict, width: int, glyphs: Glyphs) -> list[Content]:
    text = f" {one_line(conflict.id)[:8]}  {one_line(conflict.sentence)}"
    lines = [Content.styled(crop(text, width - 1, glyphs.ellipsis), "$foreground")]
    for field in conflict.fields:
        for name, value in (("before", field.before), ("mine", field.mine), ("theirs", field.theirs)):
            line = f"   {fit(one_line(field.field), FIELD_CELLS)}{name:<8}{value_words(value)}"
            lines.append(Content.styled(crop(line, width - 1, glyphs.ellipsis), "$dim"))
    return lines


class PreviewRows(RowList, inherit_bindings=False):
    """Scrolls through the preview."""

    BINDINGS = bindings("preview")

    def __init__(self, plan: ChangeSet, notes: Sequence[str]) -> None:
        super().__init__()
        self.plan, self.notes = plan, tuple(notes)

    def paint(self, width: int) -> Sequence[Row]:
        return [Row((line,)) for line in preview_lines(self.plan, self.notes, width, host(self).glyphs)]


class Preview(ModalScreen[Answer | None]):
    """Shows a change set; returns the answer, None when nothing is to be changed.

    `stop_agent`: why the agent has to be stopped first, empty when it need not be. `forcible`: the rows that
    others changed may be overwritten.
    """

    DEFAULT_CSS = """
    Preview { align: center middle; }
    Preview Panel { width: 110; max-width: 96%; height: 90%; border: round $frame-focus; }
    Preview .ways { height: 1; color: $key; }
    Preview.-narrow Panel { width: 100%; max-width: 100%; height: 100%; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal")]  # noqa: RUF012
    BINDINGS = bindings("change")

    def __init__(
        self,
        plan: ChangeSet,
        *,
        warning: str = "",
        notes: Sequence[str] = (),
        stop_agent: str = "",
        forcible: bool = False,
        editable: bool = False,
    ) -> None:
        super().__init__()
        self.plan = plan
        self._said, self._stop_agent, self._editable = (*notes, warning), stop_agent, editable
        self._forcible = forcible or any(each.reason == "changed" for each in plan.conflicts)

    def compose(self) -> ComposeResult:
        with Panel(title=one_line(self.plan.title)):
            yield PreviewRows(self.plan, self._notes())
            yield Static(classes="ways")

    def on_mount(self) -> None:
        self._say_ways()
        self.query_one(PreviewRows).focus()

    def _notes(self) -> tuple[str, ...]:
        return tuple(note for note in dict.fromkeys((self._stop_agent, *self._said)) if note)

    def _say_ways(self) -> None:
        plan = self.plan
        if plan.conflicts:
            ways = ["x leave them out"] if plan.changes else []
            ways += ["f overwrite"] if self._forcible else []
        else:
            ways = ["Y the agent is stopped: apply"] if self._stop_agent else ["enter apply"]
            ways += ["e edit"] if self._editable else []
        self.query_one(Static).update(Content(" " + "   ".join((*ways, "esc change nothing"))))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        clean = not self.plan.conflicts
        able = {
            "apply": clean and not self._stop_agent,
            "stopped": clean and bool(self._stop_agent),
            "leave_out": not clean and bool(self.plan.changes),
            "force": not clean and self._forcible,
            "edit": self._editable,
        }
        return True if able.get(action, True) else None

    def action_apply(self) -> None:
        self.dismiss(Answer("apply", self.plan))

    def action_stopped(self) -> None:
        self.dismiss(Answer("apply", self.plan, confirmed=True))

    def action_leave_out(self) -> None:
        self.plan = self.plan.without([each.id for each in self.plan.conflicts])
        rows = self.query_one(PreviewRows)
        rows.plan = self.plan
        rows.repaint()
        self._say_ways()
        self.refresh_bindings()

    def action_force(self) -> None:
        self.dismiss(Answer("force", self.plan))

    def action_edit(self) -> None:
        self.dismiss(Answer("edit", self.plan))

    def action_close(self) -> None:
        self.dismiss(None)
