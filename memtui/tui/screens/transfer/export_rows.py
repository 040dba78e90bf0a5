"""What the export wizard shows: pure functions of its state."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual.content import Content

from memtui.engine import Memory, MemtuiError, one_line
from memtui.engine.transfer.export import FOLDERS, TITLES
from memtui.engine.transfer.export_fields import CHOOSABLE
from memtui.tui.paint.cells import crop, fit
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full, plural, size
from memtui.tui.paint.places import tilde
from memtui.tui.screens.transfer import source
from memtui.tui.screens.transfer.pace import Pace
from memtui.tui.screens.transfer.parts import (
    Setting,
    blank,
    fact_row,
    ledger_rows,
    pace_rows,
    setting_row,
    text_rows,
    warning_rows,
)
from memtui.tui.theme.tokens import scope_style
from memtui.tui.widgets.rows import Row

if TYPE_CHECKING:
    from memtui.engine.transfer.export import Exported
    from memtui.engine.transfer.places import Place

Step = Literal["what", "form", "place", "report"]
SUFFIX = {"jsonl": ".jsonl", "json": ".json", "csv": ".csv", "parquet": ".parquet"}
SHOWN = 100


@dataclass(frozen=True, slots=True)
class ExportState:
    """`counted` is for `filter` (or `ids`); `trial` for the form that is chosen."""

    step: Step = "what"
    filter: str = ""
    ids: tuple[str, ...] = ()
    """Marked in Browse; they go before the filter."""
    scopes: tuple[str | None, ...] | None = None
    """Chosen in Browse, on top of the filter."""
    counted: int | None = None
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
    places: tuple[Place, ...] = ()
    overwrite: bool = False
    error: MemtuiError | None = None
    pace: Pace = field(default_factory=Pace)
    done: Exported | None = None


def what_rows(state: ExportState, panel: str, width: int, glyphs: Glyphs) -> list[Row]:
    """Which memories: the ways to say it, and the first of them."""
    if panel == "a":
        narrowed = bool(state.filter) or state.scopes is not None
        within = f", in {plural(len(state.scopes), 'scope')}" if state.scopes is not None else ""
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
        return text_rows("No memory is kept by it: change the filter.", width, "$stale")
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


def settings(state: ExportState) -> list[Setting]:
    """What can be decided about the form."""
    found = [Setting("format", "form", state.format, TITLES[state.format])]
    if state.format in CHOOSABLE:
        found.append(
            Setting("fields", "fields", state.fields or "all", "beside id and text", bool(state.fields))
        )
    if state.format in SUFFIX:
        found.append(Setting("vectors", "vectors", meaning="float32, exact", on=state.vectors))
    found += [
        Setting("mask", "mask secrets", meaning="passwords and keys", on=state.mask),
        Setting("redact", "without texts", meaning="shape and numbers alone", on=state.redact),
    ]
    return found


def form_rows(state: ExportState, panel: str, width: int, glyphs: Glyphs) -> list[Row]:
    """The form, and what it loses."""
    if panel == "a":
        rows = [setting_row(each, width, glyphs, 14) for each in settings(state)]
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
            rows.append(fact_row("masked", plural(state.trial.masked, "memory", "memories"), width, glyphs))
        return rows
    if state.trial is None:
        return text_rows("counting what this form loses", width, "$dim")
    return ledger_rows(state.trial.loss, width, glyphs)


def place_rows(
    state: ExportState, panel: str, width: int, glyphs: Glyphs, *, path: Path, running: bool
) -> list[Row]:
    """Where to, and what will be written there."""
    if panel == "a":
        begun = [source.place_row(each, width, glyphs) for each in state.places]
        return begun or text_rows("Nothing here begins so: a new name.", width, "$dim")
    if state.pace.phases:
        return pace_rows(state.pace, width, glyphs, running=running)
    there = path.exists() and not (path.is_dir() and state.format in FOLDERS)
    rows = [
        fact_row("to", tilde(str(path)), width, glyphs),
        fact_row("memories", full(state.counted), width, glyphs),
        fact_row("form", f"{state.format}: {TITLES[state.format]}", width, glyphs),
        fact_row("size", "measuring" if state.bytes is None else f"about {size(state.bytes)}", width, glyphs),
        fact_row("vectors", "with" if state.vectors else "without", width, glyphs),
        fact_row("secrets", "masked" if state.mask else "left in", width, glyphs),
        blank(),
    ]
    if there:
        rows += warning_rows(
            "There is something already; you are asked before it is replaced.", width, glyphs
        )
    if not state.mask:
        rows += warning_rows("Passwords and keys in the texts are written as they are.", width, glyphs)
    return rows


def report_rows(state: ExportState, panel: str, width: int, glyphs: Glyphs) -> list[Row]:
    """What was written."""
    done = state.done
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
        fact_row("masked", plural(done.masked, "memory", "memories"), width, glyphs),
        blank(),
        Row((Content(" copy the path"),), "way:copy"),
        Row((Content(" export something else"),), "way:again"),
    ]
