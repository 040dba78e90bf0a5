"""The export wizard: what, in which form, where to; then written, and counted again."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine import CancelToken, ListQuery, Memory, MemtuiError, counted, one_line, transfer
from memtui.engine.transfer import (
    EXPORT_FORMATS,
    ExportRequest,
    export_format,
    left_out,
    parse_fields,
)
from memtui.tui.dialogs.choose_one import Option
from memtui.tui.layouts import Shape
from memtui.tui.paint.cells import tilde
from memtui.tui.screens.transfer import import_source_view
from memtui.tui.screens.transfer.export_view import (
    SHOWN,
    ExportState,
    Run,
    form_rows,
    missing,
    path_of,
    place_heading,
    place_rows,
    report_rows,
    what_heading,
    what_rows,
)
from memtui.tui.wizard.view import RunProgress
from memtui.tui.wizard.wizard import FormField, Heading, Key, Task, TaskStep

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.transfer import Exported, GivenPath, PastExport


# ------------------------------------------------------------------ what it asks of the engine

RECENT = 6
"""Places that were written to lately, to be taken again."""

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
        run.set(error=error, pace=RunProgress(), counted=None, first=(), going=False)

    def have(found: tuple[int, tuple[Memory, ...]]) -> None:
        going = run.state.going
        run.set(counted=found[0], first=found[1], error=None, going=False)
        if going:
            to_form(run)

    run.work(
        "count",
        call,
        have,
        failed=failed,
        paced=False,
    )


def attempt(run: Run, **changes: Any) -> None:
    """What the form loses, and how large it is."""
    run.keep(**changes, trial=None, bytes=None, begins=None, error=None)
    engine, request = run.engine, request_of(run.state)
    start = replace(request, path=path_of(run.state) if run.state.place else Path(name_of(run.state)))
    run.work(
        "begins",
        lambda _, stop: transfer.first_files(engine, start),
        lambda begins: run.set(begins=begins),
        paced=False,
    )
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
    if run.state.step == "place":
        look_at(run, run.state.place)


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


def form(run: Run) -> tuple[FormField[ExportState], ...]:
    """What can be decided about the form."""
    form = export_format(run.state.format)
    fields: list[FormField[ExportState]] = [
        FormField(
            "format",
            "form",
            form.title,
            kind="choice",
            default=form.name,
            title="Form",
            options=[Option(each.name, each.name, each.title) for each in EXPORT_FORMATS],
            take=lambda run, name: attempt(run, format=name, place="", fields=""),
        )
    ]
    if form.choice is not None:
        fields.append(
            FormField(
                "fields",
                "fields",
                "beside id and text",
                none="all",
                title="Fields",
                hint=f"With commas, from {', '.join(form.choice.there(run.engine.store))}. - is all.",
                take=take_fields,
            )
        )
    if not form.folder:
        fields.append(switch("vectors", "vectors", "float32, exact"))
    fields.append(switch("mask", "mask secrets", "passwords and keys"))
    fields.append(switch("redact", "without texts", "shape and numbers alone"))
    return tuple(fields)


def switch(name: str, label: str, meaning: str) -> FormField[ExportState]:
    """A switch that changes what is written."""
    return FormField(name, label, meaning, kind="switch", take=lambda run, on: attempt(run, **{name: on}))


def take_fields(run: Run, text: str) -> None:
    """Take a list of fields, if the form has them."""
    try:
        left_out(run.engine.store, export_format(run.state.format), parse_fields(text))
    except MemtuiError as error:
        run.frame.flash(str(error), "error")
    else:
        attempt(run, fields=", ".join(parse_fields(text)))


# ------------------------------------------------------------------ its keys


def filter_typed(run: Run, text: str) -> None:
    """Another filter: count again."""
    if text != run.state.filter:
        run.keep(filter=text, ids=(), going=False)
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
    if text != run.state.place:
        run.keep(place=text, overwrite=False, error=None)
        look_at(run, text)
        run.paint()


def look_at(run: Run, text: str) -> None:
    """What begins like a path, and where was written lately."""
    from memtui.engine.transfer import completions

    engine = run.engine

    def call(_: object, stop: CancelToken) -> tuple[tuple[GivenPath, ...], tuple[PastExport, ...]]:
        past = {export.path: export for export in reversed(transfer.past_exports(engine).all())}
        last = sorted(past.values(), key=lambda each: -each.time_ms)[:RECENT]
        return tuple(completions(text, Path.cwd())), tuple(last)

    run.work("places", call, lambda found: run.set(places=found[0], recent=found[1]), paced=False)


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
        run.pick(f"{one_line(path.name)} is there already", options, None, answered)
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
    """Go on, if there is something to write; while that is counted, as soon as it is known."""
    if run.state.counted is None and run.state.error is None:
        run.keep(going=True)
    elif run.state.counted and run.state.error is None:
        attempt(run, step="form")


def name_of(state: ExportState) -> str:
    """A name for what is written: of the scope where there is one, else of the words that are looked for."""
    named = state.scopes[0] if state.scopes is not None and len(state.scopes) == 1 else ""
    words = (named or "").rpartition(":")[2] or ("" if state.ids or ":" in state.filter else state.filter)
    plain = "-".join(re.findall(r"\w+", words.casefold()))[:40]
    return f"{plain or 'memories'}{(*export_format(state.format).suffixes, '')[0]}"


def to_place(run: Run) -> None:
    """Go on to where it is written."""
    name = name_of(run.state)
    run.keep(step="place", place=run.state.place or name, proposed=name, error=None)
    look_at(run, run.state.place)
    run.paint()


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
    """Of every memory, or of what is marked or listed in Browse; with a form all is decided but the yes."""
    state = ExportState(ids=ids, filter=filter, scopes=scopes)
    if not format:
        return state
    state = replace(state, format=format, step="place", ready=True)
    return replace(state, place=name_of(state), proposed=name_of(state))


TYPING = "{path.take} accepts the path, then {transfer.write} writes the file, completely or not at all."
READY = "{transfer.write} writes it: whole or not at all. tab to the path, {transfer.back} to the form."

TASK = Task[ExportState](
    "export",
    "Export",
    start=start,
    about=lambda run: "" if run.state.counted is None else counted(run.state.counted, "memory", "memories"),
    steps=(
        TaskStep(
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
        TaskStep(
            "form",
            form_rows,
            lambda run, panel: (
                Heading("Form", where="{wizard.open} changes") if panel == "a" else Heading("What is written")
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
        TaskStep(
            "place",
            place_rows,
            place_heading,
            shape=lambda run: Shape("two", line=True, side_rows=2 if run.state.ready else 5),
            begin=renew,
            advice=lambda run: READY if run.state.ready else TYPING,
            first=lambda run: "b" if run.state.ready else "",
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
        TaskStep(
            "report",
            report_rows,
            lambda run, panel: Heading("Done" if panel == "a" else "What differs from the store"),
            shape=Shape("two", side_rows=9),
            missing=missing,
            opened=report_opened,
            next=lambda run: run.frame.begin(""),
            back=lambda run: run.busy("run"),
        ),
    ),
)
