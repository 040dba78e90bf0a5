"""What the export wizard shows: which memories, their form and what it loses, how the files begin, what was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual.content import Content

from memtui.engine import Memory, MemtuiError, clean, counted, one_line
from memtui.engine.transfer import export_format
from memtui.tui.paint.cells import crop, fit, right, tilde
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import date, full, size
from memtui.tui.screens.transfer import import_source_view
from memtui.tui.theme.tokens import scope_style
from memtui.tui.widgets.row_list import Row
from memtui.tui.wizard.view import (
    RunProgress,
    blank,
    fact_row,
    heading_row,
    ledger_rows,
    pace_rows,
    text_rows,
    warning_rows,
)
from memtui.tui.wizard.wizard import Heading, TaskRun

if TYPE_CHECKING:
    from memtui.engine.transfer import Exported, FileStart, GivenPath, PastExport


SHOWN = 100


@dataclass(frozen=True, slots=True)
class ExportState:
    """`counted` is for `filter` (or `ids`); `trial` for the form that is chosen."""

    step: Literal["what", "form", "place", "report"] = "what"
    filter: str = ""
    ids: tuple[str, ...] = ()
    """Marked in Browse; they go before the filter."""
    scopes: tuple[str | None, ...] | None = None
    """Chosen in Browse, on top of the filter."""
    counted: int | None = None
    """How many memories are meant; None while they are counted."""
    going: bool = False
    """Whether the next step was asked for while they were counted: it comes when there is something to write."""
    first: tuple[Memory, ...] = ()
    format: str = "jsonl"
    vectors: bool = False
    mask: bool = True
    redact: bool = False
    fields: str = ""
    """Names with commas; empty: all of them."""
    trial: Exported | None = None
    bytes: int | None = None
    place: str = ""
    places: tuple[GivenPath, ...] = ()
    overwrite: bool = False
    error: MemtuiError | None = None
    pace: RunProgress = field(default_factory=RunProgress)
    done: Exported | None = None
    begins: tuple[FileStart, ...] | None = None
    """How the files will begin; None while it is not known."""
    recent: tuple[PastExport, ...] = ()
    ready: bool = False
    """Everything was said in a sentence: what is left is to look and to say yes."""
    proposed: str = ""
    """The place that was proposed; what is typed in its stead is completed."""


Run = TaskRun[ExportState]


def what_rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """Which memories: the ways to say it, and the first of them."""
    state, glyphs = run.state, run.glyphs
    if panel == "a":
        narrowed = bool(state.filter) or state.scopes is not None
        within = f", in {counted(len(state.scopes), 'scope')}" if state.scopes is not None else ""
        ways = [
            ("all", "every memory", not narrowed and not state.ids),
            ("filter", f"those of the filter{within}", narrowed and not state.ids),
        ]
        if state.ids:
            ways.append(("marks", f"the {full(len(state.ids))} marked in Browse", True))
        return [
            Row((Content.assemble(" ", (glyphs.mark if on else " ", "$ok"), f" {label}"),), name)
            for name, label, on in ways
        ]
    if state.error is not None:
        return warning_rows(str(state.error), width, glyphs)
    if state.counted == 0:
        return text_rows("No memory matches: change the filter.", width, "$stale")
    rows = []
    for memory in state.first:
        scope = crop(one_line(memory.scope or "-"), 18, glyphs.ellipsis)
        line = Content.assemble(
            " ",
            (fit(memory.title, max(8, width - 21), glyphs.ellipsis), "$foreground"),
            " ",
            (scope, scope_style(memory.scope)),
        )
        rows.append(Row((line,), f"memory:{memory.id}"))
    return rows


SHOWN_FILES = 3
LINE_ROWS = 3
"""Rows of one line of a file."""


def form_rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """The form, and what it loses."""
    state, glyphs = run.state, run.glyphs
    if panel == "a":
        rows = run.form_rows(width, 14)
        rows += [blank(), fact_row("memories", full(state.counted), width, glyphs)]
        rows.append(
            fact_row(
                "size",
                "measuring" if state.bytes is None else f"about {size(state.bytes)}",
                width,
                glyphs,
            )
        )
        if state.trial is not None:
            rows.append(fact_row("masked", counted(state.trial.masked, "memory", "memories"), width, glyphs))
        return rows
    return [*begin_rows(state, width, height, run), blank(), *loss_rows(state, width, run)]


def loss_rows(state: ExportState, width: int, run: Run) -> list[Row]:
    """What the form loses, by its causes."""
    lost = len(state.trial.loss) if state.trial is not None else 0
    head = heading_row(f"WHAT IS LOST   {counted(lost, 'field')}" if lost else "WHAT IS LOST")
    if state.trial is None:
        return [head, *text_rows("counting what this form loses", width, "$dim")]
    return [head, *ledger_rows(state.trial.loss, width, run.glyphs)]


def begin_rows(state: ExportState, width: int, height: int, run: Run) -> list[Row]:
    """The first memories as they will be written: each file with its name and its first lines."""
    if state.begins is None:
        return text_rows("writing the first memories to look at", width, "$dim")
    if not state.begins:
        return text_rows("Nothing will be written: no memory is kept by the filter.", width, "$stale")
    glyphs, rows = run.glyphs, []
    each = max(4, (height - 6) // min(len(state.begins), SHOWN_FILES))
    for file in state.begins[:SHOWN_FILES]:
        rows.append(heading_row(one_line(file.name)))
        texts = [text for text in file.text.split("\n") if text.strip()]
        lines = [line for text in texts[:each] for line in _written(text, width)][:each]
        rows += [Row((line,)) for line in lines]
        if len(texts) > each:
            rows.append(Row((Content.styled(f"   {glyphs.ellipsis} and so on", "$dim"),)))
    if (more := len(state.begins) - SHOWN_FILES) > 0:
        rows += text_rows(f"and {counted(more, 'file')} of the first memories", width, "$dim")
    return rows


def _written(text: str, width: int) -> list[Content]:
    """A line of a file, in as many as `LINE_ROWS` rows."""
    wrapped = list(Content.styled(clean(text), "$foreground").wrap(max(16, width - 4)))
    return [Content.assemble("   ", line) for line in wrapped[:LINE_ROWS]]


def recent_row(past: PastExport, width: int, glyphs: Glyphs) -> Row:
    """A place that was written to lately."""
    tail = f"{past.format}, {full(past.rows)}, {date(past.time_ms)} "
    name = one_line(tilde(past.path))
    room = max(6, width - len(tail) - 2)
    if len(name) > room:
        name = glyphs.ellipsis + name[-(room - 1) :]
    line = Content.assemble(" ", (fit(name, room), "$foreground"), (right(tail, len(tail)), "$dim"))
    return Row((line,), f"place:{past.path}")


def place_rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """Where to, and what will be written there."""
    state, glyphs, path = run.state, run.glyphs, path_of(run.state)
    if panel == "a":
        begun = [import_source_view.place_row(place, width, glyphs) for place in state.places]
        if state.place != state.proposed:
            return begun or text_rows("Nothing here begins so: a new name.", width, "$dim")
        lately = [recent_row(export, width, glyphs) for export in state.recent]
        new = [] if begun else text_rows(f"{state.place} is a new name.", width, "$dim")
        return [*new, *begun, *([heading_row("WRITTEN LATELY"), *lately] if lately else [])]
    if state.pace.phases:
        return pace_rows(state.pace, width, glyphs, running=run.busy("run"))
    there = path.exists() and not (path.is_dir() and export_format(state.format).folder)
    form = f"{state.format}: {export_format(state.format).title}"
    weight = "measuring" if state.bytes is None else f"about {size(state.bytes)}"
    vectors = ", with vectors" if state.vectors else ""
    rows = [
        fact_row("to", tilde(str(path)), width, glyphs),
        fact_row("memories", f"{full(state.counted)}, as {form}", width, glyphs),
        fact_row("size", f"{weight}{vectors}, secrets {_secrets(state)}", width, glyphs),
    ]
    if there:
        rows += warning_rows(
            "There is something already; you are asked before it is replaced.", width, glyphs
        )
    if not state.mask:
        rows += warning_rows("Passwords and keys in the texts are written as they are.", width, glyphs)
    rows += [blank(), *begin_rows(state, width, max(12, height - len(rows)), run), blank()]
    return [*rows, *loss_rows(state, width, run)]


def _secrets(state: ExportState) -> str:
    """What becomes of secrets, and of how many."""
    if not state.mask:
        return "left in"
    found = state.trial.masked if state.trial is not None else 0
    return f"masked, in {counted(found, 'memory', 'memories')}" if found else "masked"


def report_rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """What was written."""
    state, glyphs, done = run.state, run.glyphs, run.state.done
    if done is None:
        return []
    if panel == "b":
        return ledger_rows(done.loss, width, glyphs)
    equal = done.rows == state.counted
    line = Content.assemble(
        (glyphs.mark if equal else glyphs.warn, "$ok" if equal else "$stale"),
        f" {full(done.rows)} of {full(state.counted)}",
    )
    files = [fact_row("files", full(done.files), width, glyphs)] if done.files > 1 else []
    return [
        fact_row("written", line, width, glyphs),
        fact_row("to", tilde(str(done.path)), width, glyphs),
        fact_row("size", size(done.size_bytes), width, glyphs),
        *files,
        fact_row("masked", counted(done.masked, "memory", "memories"), width, glyphs),
        blank(),
        Row((Content(" copy the path"),), "way:copy"),
        Row((Content(" export something else"),), "way:again"),
    ]


def what_heading(run: Run, panel: str) -> Heading:
    """The words in the frames of the first step."""
    found = run.state.counted
    unknown = "not counted" if run.state.error is not None else "counting"
    count = unknown if found is None else counted(found, "memory", "memories")
    hint = "a filter, as in Browse: tier:core scope:agent:* age<30d"
    names = {"line": Heading("Which memories", hint, count), "a": Heading("What")}
    return names.get(panel, Heading("The first of them", count))


def place_heading(run: Run, panel: str) -> Heading:
    """The words in the frames of the third step."""
    what = "a folder" if export_format(run.state.format).folder else "a file"
    names = {"line": Heading("Write to", what, "{path.complete} completes"), "a": Heading("Folder")}
    return names.get(panel, Heading("Export", "writing" if run.busy("run") else "not begun"))


def missing(run: Run) -> str:
    """Why the step cannot go on."""
    return "" if run.state.error is None else str(run.state.error)


def path_of(state: ExportState) -> Path:
    """The file or folder that the line names."""
    from memtui.engine.transfer import given_paths

    found = given_paths(state.place, Path.cwd())
    return found[0] if found else Path.cwd()
