"""The panels of Capture: what each shows of the state, and what its frame says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memtui.engine import counted
from memtui.tui.actions.keymap import Keymap
from memtui.tui.actions.table import bindings
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full
from memtui.tui.screens.capture import funnel, jobs, sent, view
from memtui.tui.screens.capture.state import VIEWS, CaptureState
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import BuiltRows, Row
from memtui.tui.widgets.state_panel import StatePanel

MOVES = ("down", "up", "page-down", "page-up", "first", "last")


class SaidRows(BuiltRows, inherit_bindings=False):
    """A list of Capture whose rows can be opened."""

    BINDINGS = [*bindings("rows", only=MOVES), *bindings("said"), *bindings("narrow")]  # noqa: RUF012


class ScrolledRows(BuiltRows, inherit_bindings=False):
    """A panel that is only read: it scrolls."""

    BINDINGS = [*bindings("rows", only=MOVES), *bindings("narrow")]  # noqa: RUF012


@dataclass(frozen=True)
class CaptureLook:
    """What a painter needs beside the state: the width, the time, signs and keys."""

    width: int
    now_ms: int
    glyphs: Glyphs
    keys: Keymap


Painter = Callable[[CaptureState, CaptureLook], list[Row]]

PAINTERS: Mapping[str, Painter] = {
    "talk": lambda state, at: view.talks(state, at.width, at.now_ms, at.glyphs),
    "text": lambda state, at: view.texts(state, at.width, at.glyphs, at.keys),
    "candidate": lambda state, at: view.candidate(state, at.width, at.glyphs, at.keys),
    "trace": lambda state, at: view.trace(state, at.width, at.glyphs, at.keys),
    "sent": lambda state, at: sent.sent(state, at.width, at.glyphs),
    "inbox": lambda state, at: view.inbox(state, at.width, at.now_ms, at.glyphs, at.keys),
    "item": lambda state, at: view.item(state, at.width, at.keys),
    "step": lambda state, at: funnel.steps(state, at.width, at.glyphs, at.keys),
    "loss": lambda state, at: funnel.losses(state, at.width, at.glyphs),
    "other": lambda state, at: funnel.otherwise(state, at.width, at.glyphs),
    "day": lambda state, at: funnel.by_day(state, at.width, at.glyphs),
    "job": lambda state, at: jobs.listed(state, at.width, at.glyphs),
    "plan": lambda state, at: jobs.preview(state, at.width, at.glyphs, at.keys),
}
"""The rows of each list by its name."""

_LISTS = (
    (SaidRows, "talk", "Conversations", "talks"),
    (SaidRows, "text", "Texts", "texts"),
    (ScrolledRows, "candidate", "Candidate", "candidate"),
    (ScrolledRows, "trace", "Trace", "trace"),
    (ScrolledRows, "sent", "Data sharing", "sent"),
    (SaidRows, "inbox", "Inbox", "inbox"),
    (ScrolledRows, "item", "Item", "item"),
    (ScrolledRows, "step", "Funnel", "steps"),
    (SaidRows, "loss", "Lost, by reason", "losses"),
    (ScrolledRows, "other", "With other settings", "otherwise"),
    (ScrolledRows, "day", "By day", "days"),
    (SaidRows, "job", "Jobs", "jobs"),
    (ScrolledRows, "plan", "Preview", "plan"),
)
"""Each list with its name, the title of its panel and the panel's id."""


def panels(rows: Callable[[str], Callable[[int, int], list[Row]]]) -> list[Panel]:
    """The panels of the screen; `rows` gives the painter of a list by its name."""
    made = [
        Panel(kind(rows(name), id=f"{name}-rows"), title=title, id=panel)
        for kind, name, title, panel in _LISTS
    ]
    return [Panel(StatePanel(), title="Capture", id="state"), *made]


def chosen(state: CaptureState) -> Mapping[str, str | None]:
    """The key of the row that the cursor stands on, for each list that has one."""
    keys = {
        "talk": state.talk,
        "text": str(state.text),
        "inbox": state.item,
        "loss": state.loss,
        "job": state.job,
    }
    return {name: keys.get(name) or None for name in PAINTERS}


def headlines(state: CaptureState, *, narrow: bool = False) -> Mapping[str, Mapping[str, str]]:
    """What the frame of each panel says, by the panel's id; see `Panel.headline`. Where it is `narrow`, the frame has
    one line, and what is said elsewhere is left out of it."""
    trace = state.trace
    made = [candidate for candidate in trace.candidates if candidate.writes] if trace is not None else []
    # Above narrow the texts' frame has no room for the count; the inbox says it itself.
    names = {"inbox": f"inbox {len(state.items)}" if state.items and narrow else "inbox"}
    views = "  ".join(
        f"[{names.get(each, each)}]" if each == state.view else names.get(each, each) for each in VIEWS
    )
    talks = counted(len(state.runs), "conversation")
    return {
        "texts": {
            "which": views,
            "where": ""
            if trace is None
            else "{capture.why-not} why not"
            if narrow
            else f"{len(trace.texts)}, in order  {{capture.why-not}} why not",
        },
        "candidate": {
            "which": "" if trace is None else f"{len(state.candidates)} from this text, {len(made)} to apply",
            "where": "{capture.accept} accept  {capture.edit} edit  {capture.refuse} reject",
        },
        "trace": {
            "what": "Why not" if state.verdict is not None else "Trace",
            "which": "" if trace is None else f"of text {state.text + 1} of {len(trace.texts)}",
        },
        "talks": {
            "which": views if narrow else "",
            "where": "{capture.paste} paste  {capture.load} file",
        },
        "inbox": {"which": views + (f"   {full(len(state.items))} to review" if state.inbox_read else "")},
        "steps": {
            "which": views if narrow else f"{views}   {talks}{funnel.as_if(state)}",
            "where": "{capture.again} all" if narrow else "{capture.again} all of the list",
        },
        "losses": {
            "which": "texts and candidates",
            "where": "{said.open} shows one  {capture.export} export",
        },
        "otherwise": {"where": "{capture.settings} turns one  {capture.cases} on the cases"},
        "days": {
            "which": f"{counted(state.span, 'day')}, from the store",
            "where": "{capture.fewer-days} {capture.more-days} days",
        },
        "jobs": {"which": views, "where": "{said.open} preview  {capture.apply} apply"},
        "plan": {"which": state.job},
        "sent": {
            "what": "Sent" if narrow else "Data sharing",
            "which": state.model or "no model",
            "where": "{capture.model} model",
        },
    }
