"""Migration: a new store of another form out of the open one, which is only read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from textual.content import Content

from memtui.engine import MemtuiError, counted, one_line, transfer
from memtui.engine.transfer import FORM_TITLES, FORMS, Form
from memtui.tui.dialogs.choose_one import Option
from memtui.tui.paint.cells import tilde
from memtui.tui.paint.numbers import full
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
from memtui.tui.wizard.wizard import FormField, Heading, Key, Task, TaskRun, TaskStep

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.transfer import Migration, Migrator


@dataclass(frozen=True, slots=True)
class MigrateState:
    """`checked` says what a run with these settings would do."""

    step: Literal["check", "run", "report"] = "check"
    form: Form = "pro"
    source: str = ""
    """Folder of the store to read; empty: the open one."""
    scope: str = ""
    place: str = ""
    checked: Migration | None = None
    error: MemtuiError | None = None
    pace: RunProgress = field(default_factory=RunProgress)
    done: Migration | None = None


Run = TaskRun[MigrateState]


# ------------------------------------------------------------------ what it shows


def about(run: Run) -> str:
    """The store that is read."""
    source = run.state.source
    return one_line(Path(source).name if source else run.engine.info.dialect_title)


def new_store(run: Run, width: int) -> list[Row]:
    """What is read and written and, afterwards, where it is."""
    state, glyphs = run.state, run.glyphs
    rows = [*run.form_rows(width), blank()] if state.step == "check" else []
    found = state.done or state.checked
    if found is None:
        return rows
    rows.append(fact_row("to read", counted(found.rows, "row"), width, glyphs))
    rows.append(fact_row("to write", counted(found.written, "row"), width, glyphs))
    if state.done is not None:
        rows.append(fact_row("verified", counted(found.verified, "row"), width, glyphs))
        rows += [fact_row("in", tilde(str(found.destination)), width, glyphs), blank()]
        rows += [
            Row((Content(" open the new store"),), "way:open"),
            Row((Content(" back to the start"),), "way:start"),
        ]
    return rows


def differences(run: Run, width: int) -> Sequence[Row]:
    """What the new store has that the source has not, and what it lacks."""
    state, glyphs = run.state, run.glyphs
    found = state.done or state.checked
    if state.error is not None:
        return warning_rows(str(state.error), width, glyphs)
    if found is None:
        return text_rows("checking every row", width, "$dim")
    rows = ledger_rows(found.loss, width, glyphs)
    rows += [blank()] if found.left_out or found.warnings else []
    rows += [fact_row("left out", f"{full(count)}: {why}", width, glyphs) for why, count in found.left_out]
    for warning in (*found.warnings, *found.problems):
        rows += warning_rows(warning, width, glyphs)
    return rows


def rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """Before and after the run."""
    return new_store(run, width) if panel == "a" else differences(run, width)


def run_rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """What the run will do, and how far it is."""
    if panel == "a":
        return new_store(run, width)
    if run.state.pace.phases:
        return pace_rows(run.state.pace, width, run.glyphs, running=run.busy("run"))
    what = "A new store is made, and every row of it compared with its source."
    how = "The source is only read. The folder appears whole, after the comparison, or not at all."
    return [*text_rows(what, width, "bold $foreground"), blank(), *text_rows(how, width, "$dim")]


def heading(run: Run, panel: str) -> Heading:
    """The words in the frames before and after the run."""
    if panel == "a":
        return Heading("New store", where="{wizard.open} changes" if run.state.step == "check" else "")
    return Heading("What differs from the store that is read")


def run_heading(run: Run, panel: str) -> Heading:
    """The words in the frames of the run."""
    return (
        Heading("New store")
        if panel == "a"
        else Heading("Run", "writing" if run.busy("run") else "not begun")
    )


# ------------------------------------------------------------------ what it asks


def new_folder(run: Run) -> Path:
    """The folder that was typed, else the first free name beside the source."""
    state = run.state
    if state.place:
        return Path(state.place).expanduser().absolute()
    folder = Path(state.source) if state.source else run.engine.store.folder
    base = (folder or Path("memories").absolute()).with_suffix("")
    names = (f"{base.name}-{state.form}{f'-{n}' if n > 1 else ''}" for n in count(1))
    return next(each for name in names if not (each := base.with_name(name)).exists())


def migrator(engine: Engine, state: MigrateState) -> Migrator:
    """The migration that the form describes."""
    source = Path(state.source) if state.source else None
    return transfer.make_migrator(engine, state.form, scope=state.scope or None, source=source)


def check(run: Run, **changes: Any) -> None:
    """Read every row of the source, and say what a run with these settings would do."""
    run.keep(**changes, checked=None, error=None)
    engine, state = run.engine, run.state
    run.work(
        "check",
        lambda report, stop: migrator(engine, state).check(report, stop),
        lambda found: run.set(checked=found),
        stopped=lambda: run.set(pace=RunProgress(), error=None),
        paced=False,
    )
    run.paint()


def write(run: Run, panel: str, key: str) -> None:
    """Make the new store and compare every row of it with its source."""

    def done(made: Migration) -> None:
        run.set(step="report", done=made, pace=RunProgress())
        run.frame.flash(f"{counted(made.verified, 'row')} made and verified")

    engine, place = run.engine, new_folder(run)
    run.keep(error=None, pace=RunProgress())
    state = run.state
    run.work(
        "run",
        lambda report, stop: migrator(engine, state).run(place, report, stop),
        done,
        stopped=lambda: run.fail(MemtuiError("It was stopped; nothing was kept.")),
    )
    run.paint()


def known_stores(engine: Engine) -> list[tuple[str, str]]:
    """Name and folder of every store on this machine that discovery knows, but for the open one; in a thread."""
    from memtui.engine.discovery import discover

    found = discover(os.environ, cwd=Path.cwd()).stores
    return [
        (store.name, store.path)
        for store in found
        if "://" not in store.path and Path(store.path) != engine.store.folder
    ]


def ask_source(run: Run) -> None:
    """Look which stores there are, to choose one of them or a folder that is typed."""

    def typed(text: str) -> None:
        check(run, source=str(Path(text).expanduser().absolute()) if text else "", place="")

    def took(value: str) -> None:
        if value == "?":
            run.ask("Store", "Folder of the store to read. - is this store.", run.state.source, typed)
        else:
            check(run, source=value, place="")

    def offer(stores: Sequence[tuple[str, str]]) -> None:
        options = [
            Option("", "this store", tilde(str(run.engine.store.folder or ""))),
            *(Option(path, name, tilde(path)) for name, path in stores),
            Option("?", "another folder", "with a LanceDB table"),
        ]
        run.pick("Store to read", options, run.state.source, took)

    run.work("stores", lambda _, stop: known_stores(run.engine), offer, paced=False)


FORM = (
    FormField[MigrateState](
        "source",
        "from",
        path=True,
        shown=lambda run: tilde(run.state.source) or "this store",
        ask=ask_source,
    ),
    FormField[MigrateState](
        "form",
        "form",
        kind="choice",
        default="pro",
        title="Form of the new store",
        options=[Option(form, FORM_TITLES[form]) for form in FORMS],
        shown=lambda run: FORM_TITLES[run.state.form],
        take=lambda run, form: check(run, form=form),
    ),
    FormField[MigrateState](
        "scope",
        "into scope",
        "what has none",
        none="global",
        title="Scope",
        hint="Where memories go that have none.",
        take=lambda run, text: check(run, scope=text),
    ),
    FormField[MigrateState](
        "place",
        "folder",
        path=True,
        title="Folder",
        hint="Of the new store; there must be nothing in it.",
        shown=lambda run: tilde(str(new_folder(run))),
        typed=lambda run: str(new_folder(run)),
    ),
)


# ------------------------------------------------------------------ its steps


def to_run(run: Run) -> None:
    """Go on to the run, once it is known what it would do."""
    if run.state.checked is not None:
        run.set(step="run", error=None)


def to_check(run: Run) -> bool:
    """Go back to the form, unless the store is being made."""
    if not run.busy("run"):
        run.set(step="check", error=None, pace=RunProgress())
    return True


def leave(run: Run, panel: str, key: str) -> None:
    """Enter in the report: the new store, or the start page."""
    if key == "way:open" and run.state.done is not None:
        run.frame.host.take("store", str(run.state.done.destination))
    else:
        run.frame.begin("")


TASK = Task[MigrateState](
    "migrate",
    "Migrate",
    start=lambda engine: MigrateState(),
    about=about,
    steps=(
        TaskStep(
            "check",
            rows,
            heading,
            form=FORM,
            begin=check,
            advice="{transfer.next} goes on. This store is only read; the new one is a folder of its own.",
            next=to_run,
        ),
        TaskStep(
            "run",
            run_rows,
            run_heading,
            advice=lambda run: "" if run.busy("run") else "{transfer.write} makes the new store.",
            missing=lambda run: str(run.state.error or ""),
            goes_on=False,
            keys={"write": Key(write, lambda run, panel, key: not run.busy("run"))},
            back=to_check,
        ),
        TaskStep("report", rows, heading, opened=leave, next=lambda run: run.frame.begin("")),
    ),
)
