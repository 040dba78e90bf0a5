"""The export wizard: what, in which form, where to; then written, and counted again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from textual.content import Content

from memtui.engine import CancelToken, ListQuery, Memory, MemtuiError, counted, one_line, transfer
from memtui.engine.transfer import (
    CHOOSABLE,
    EXPORT_FORMATS,
    EXPORT_TITLES,
    FOLDERS,
    ExportRequest,
    fields_of,
    left_out,
    parse_fields,
)
from memtui.tui.dialogs.choose_one import Option
from memtui.tui.layouts import Shape
from memtui.tui.paint.cells import crop, fit, tilde
from memtui.tui.paint.numbers import full, size
from memtui.tui.screens.transfer import import_source_view
from memtui.tui.theme.tokens import scope_style
from memtui.tui.widgets.row_list import Row
from memtui.tui.wizard.view import (
    RunProgress,
    blank,
    fact_row,
    ledger_rows,
    pace_rows,
    text_rows,
    warning_rows,
)
from memtui.tui.wizard.wizard import Field, Heading, Key, Step, Task, TaskRun

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.transfer import Exported, GivenPath


SUFFIX = {"jsonl": ".jsonl", "json": ".json", "csv": ".csv", "parquet": ".parquet"}

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


Run = TaskRun[ExportState]


# ------------------------------------------------------------------ what it shows


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
    if state.trial is None:
        return text_rows("counting what this form loses", width, "$dim")
    return ledger_rows(state.trial.loss, width, glyphs)


def place_rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """Where to, and what will be written there."""
    state, glyphs, path = run.state, run.glyphs, path_of(run.state)
    if panel == "a":
        begun = [import_source_view.place_row(each, width, glyphs) for each in state.places]
        return begun or text_rows("Nothing here begins so: a new name.", width, "$dim")
    if state.pace.phases:
        return pace_rows(state.pace, width, glyphs, running=run.busy("run"))
    there = path.exists() and not (path.is_dir() and state.format in FOLDERS)
    rows = [
        fact_row("to", tilde(str(path)), width, glyphs),
        fact_row("memories", full(state.counted), width, glyphs),
        fact_row("form", f"{state.format}: {EXPORT_TITLES[state.format]}", width, glyphs),
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
    what = "a folder" if run.state.format in FOLDERS else "a file"
    names = {"line": Heading("Write to", what, "{path.complete} completes"), "a": Heading("Folder")}
    return names.get(panel, Heading("Export", "writing" if run.busy("run") else "not begun"))


def missing(run: Run) -> str:
    """Why the step cannot go on."""
    return "" if run.state.error is None else str(run.state.error)


# ------------------------------------------------------------------ what it asks of the engine

NOWHERE = ".memtui-trial"
"""What a trial is written to: nothing is."""


def request_of(state: ExportState, path: Path | None = None) -> ExportRequest:
    """The export that the state describes."""
    return ExportRequest(
        path or Path(NOWHERE),
        state.format,
        filter="" if state.ids else state.filter,
        ids=state.ids,
        scopes=None if state.ids else state.scopes,
        vectors=state.vectors,
        mask=state.mask,
        redact=state.redact,
        fields=parse_fields(state.fields),
        overwrite=state.overwrite,
    )


def path_of(state: ExportState) -> Path:
    """The file or folder that the line names."""
    from memtui.engine.transfer import given_paths

    found = given_paths(state.place, Path.cwd())
    return found[0] if found else Path.cwd()


def count(run: Run) -> None:
    """How many memories are meant, and the first of them."""
    run.keep(counted=None)
    engine, state = run.engine, run.state

    def call(_: object, stop: CancelToken) -> tuple[int, tuple[Memory, ...]]:
        if state.ids:
            return len(state.ids), tuple(engine.memories(state.ids[:SHOWN]).values())
        view = engine.view(ListQuery(filter=state.filter, scopes=state.scopes), stop)
        return view.total, tuple(engine.page(view, 0, min(SHOWN, view.total)))

    def failed(error: MemtuiError) -> None:
        run.set(error=error, pace=RunProgress(), counted=None, first=())

    run.work(
        "count",
        call,
        lambda found: run.set(counted=found[0], first=found[1], error=None),
        failed=failed,
        paced=False,
    )


def attempt(run: Run, **changes: Any) -> None:
    """What the form loses, and how large it is."""
    run.keep(**changes, trial=None, bytes=None, error=None)
    engine, request = run.engine, request_of(run.state)
    run.work(
        "trial",
        lambda _, stop: transfer.export_memories(engine, request, dry_run=True, cancel=stop),
        lambda trial: run.set(trial=trial),
        paced=False,
    )
    run.work(
        "size",
        lambda _, stop: transfer.estimate_export(engine, request),
        lambda bytes: run.set(bytes=bytes),
        paced=False,
    )
    run.paint()


def renew(run: Run) -> None:
    """Count and try anew; for the later steps only what is not known."""
    if run.state.counted is None:
        count(run)
    attempt(run)


def write(run: Run) -> None:
    """Write the file or the folder: whole, or not at all."""

    def done(made: Exported) -> None:
        run.set(step="report", done=made, pace=RunProgress())
        rows, path = counted(made.rows, "memory", "memories"), tilde(str(made.path))
        run.frame.flash(f"{rows} written to {path}")

    engine, request = run.engine, request_of(run.state, path_of(run.state))
    run.keep(error=None, pace=RunProgress())
    run.work(
        "run",
        lambda report, stop: transfer.export_memories(engine, request, on_progress=report, cancel=stop),
        done,
        stopped=lambda: run.fail(MemtuiError("It was stopped; nothing was kept.")),
    )
    run.paint()


# ------------------------------------------------------------------ its form


def form(run: Run) -> tuple[Field[ExportState], ...]:
    """What can be decided about the form."""
    format = run.state.format
    fields: list[Field[ExportState]] = [
        Field(
            "format",
            "form",
            EXPORT_TITLES[format],
            kind="choice",
            default=format,
            title="Form",
            options=[Option(name, name, EXPORT_TITLES[name]) for name in EXPORT_FORMATS],
            take=lambda run, name: attempt(run, format=name, place="", fields=""),
        )
    ]
    if format in CHOOSABLE:
        fields.append(
            Field(
                "fields",
                "fields",
                "beside id and text",
                none="all",
                title="Fields",
                hint=f"With commas, from {', '.join(fields_of(run.engine.store, format))}. - is all.",
                take=take_fields,
            )
        )
    if format in SUFFIX:
        fields.append(switch("vectors", "vectors", "float32, exact"))
    fields.append(switch("mask", "mask secrets", "passwords and keys"))
    fields.append(switch("redact", "without texts", "shape and numbers alone"))
    return tuple(fields)


def switch(name: str, label: str, meaning: str) -> Field[ExportState]:
    """A switch that changes what is written."""
    return Field(name, label, meaning, kind="switch", take=lambda run, on: attempt(run, **{name: on}))


def take_fields(run: Run, text: str) -> None:
    """Take a list of fields, if the form has them."""
    try:
        left_out(run.engine.store, run.state.format, parse_fields(text))
    except MemtuiError as error:
        run.frame.flash(str(error), "error")
    else:
        attempt(run, fields=", ".join(parse_fields(text)))


# ------------------------------------------------------------------ its keys


def filter_typed(run: Run, text: str) -> None:
    """Another filter: count again."""
    if text != run.state.filter:
        run.keep(filter=text, ids=())
        count(run)
    run.paint()


def what_opened(run: Run, panel: str, key: str) -> None:
    """Every memory, those of the filter, or the marked ones."""
    if panel != "a":
        to_form(run)
    elif key != "marks":
        run.keep(ids=(), scopes=None if key == "all" else run.state.scopes)
        run.frame.put_line("" if key == "all" else run.state.filter)
        count(run)


def paste(run: Run, text: str) -> None:
    """A pasted text is one line here."""
    run.frame.put_line(" ".join(text.split()))


def place_typed(run: Run, text: str) -> None:
    """Another path: what begins like it."""
    from memtui.engine.transfer import completions

    run.keep(place=text, overwrite=False, error=None)
    run.work(
        "places",
        lambda _, stop: completions(text, Path.cwd()),
        lambda places: run.set(places=places),
        paced=False,
    )
    run.paint()


def complete(run: Run) -> None:
    """As much of the path as all places share."""
    places = run.state.places
    if not places:
        run.frame.focus_list("a")
    else:
        longest = import_source_view.longest(places, run.state.place)
        run.frame.put_line(places[0].path if len(places) == 1 else longest)


def place_opened(run: Run, panel: str, key: str) -> None:
    """Enter on a place puts it into the line."""
    kind, _, rest = key.partition(":")
    if kind == "place":
        run.frame.put_line(rest)


def agree(run: Run, panel: str, key: str) -> None:
    """Write; where there is a file already, ask first."""
    path = path_of(run.state)

    def answered(answer: str) -> None:
        if answer == "yes":
            run.keep(overwrite=True)
            write(run)

    if path.is_file() and not run.state.overwrite:
        options = [Option("no", "leave it", "nothing is written"), Option("yes", "replace it", str(path))]
        run.pick(f"{one_line(path.name)} is there already", options, "no", answered)
    else:
        write(run)


def report_opened(run: Run, panel: str, key: str) -> None:
    """The path, another export, or the start page."""
    if key == "way:copy" and run.state.done is not None:
        run.frame.host.copy(str(run.state.done.path), "path")
    else:
        run.frame.begin("export" if key == "way:again" else "")


# ------------------------------------------------------------------ its steps


def to_form(run: Run) -> None:
    """Go on, if there is something to write."""
    if run.state.counted and run.state.error is None:
        attempt(run, step="form")


def to_place(run: Run) -> None:
    """Go on to where it is written."""
    name = f"memories{SUFFIX.get(run.state.format, '')}"
    run.keep(step="place", place=run.state.place or name, error=None)
    place_typed(run, run.state.place)


def back_to(step: str) -> Callable[[Run], bool]:
    """Go back to a step, unless it is being written."""

    def back(run: Run) -> bool:
        if not run.busy("run"):
            run.stop()
            run.set(step=step, error=None)
            run.renewed()
        return True

    return back


def start(
    engine: Engine,
    ids: tuple[str, ...] = (),
    filter: str = "",
    scopes: tuple[str | None, ...] | None = None,
    format: str = "",
) -> ExportState:
    """Of every memory, or of what is marked or listed in Browse; with a form, from the second step on."""
    state = ExportState(ids=ids, filter=filter, scopes=scopes)
    return replace(state, format=format, step="form") if format else state


TASK = Task[ExportState](
    "export",
    "Export",
    start=start,
    about=lambda run: "" if run.state.counted is None else counted(run.state.counted, "memory", "memories"),
    steps=(
        Step(
            "what",
            what_rows,
            what_heading,
            shape=Shape("two", line=True, side_rows=5),
            begin=count,
            advice="The store is only read. An empty filter is every memory.",
            missing=missing,
            line=lambda state: state.filter,
            typed=filter_typed,
            took=lambda run, text: to_form(run),
            pasted=paste,
            completed=lambda run: run.frame.focus_list("a"),
            opened=what_opened,
            next=to_form,
        ),
        Step(
            "form",
            form_rows,
            lambda run, panel: (
                Heading("Form", where="{wizard.open} changes") if panel == "a" else Heading("What is lost")
            ),
            shape=Shape("two", side_rows=9),
            form=form,
            begin=renew,
            advice="{transfer.next} goes on to where it is written.",
            missing=missing,
            line=lambda state: state.place,
            next=to_place,
            back=back_to("what"),
        ),
        Step(
            "place",
            place_rows,
            place_heading,
            shape=Shape("two", line=True, side_rows=5),
            begin=renew,
            advice="{path.take} takes the path, then {transfer.write} writes it: whole or not at all.",
            missing=missing,
            line=lambda state: state.place,
            goes_on=False,
            keys={
                "write": Key(agree, lambda run, panel, key: not run.busy("run") and bool(run.state.counted))
            },
            typed=place_typed,
            took=lambda run, text: run.frame.focus_list("b"),
            pasted=paste,
            completed=complete,
            opened=place_opened,
            back=back_to("form"),
        ),
        Step(
            "report",
            report_rows,
            lambda run, panel: Heading("Done" if panel == "a" else "What is other than in the store"),
            shape=Shape("two", side_rows=9),
            missing=missing,
            opened=report_opened,
            next=lambda run: run.frame.begin(""),
            back=lambda run: run.busy("run"),
        ),
    ),
)
