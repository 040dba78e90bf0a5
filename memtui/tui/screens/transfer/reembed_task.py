"""Re-embedding: another model chosen, rehearsed on the saved questions, made beside the store, then switched to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine import CancelToken, MemtuiError, OnProgress, UsageError, counted, explain, transfer
from memtui.engine.cases import CaseBook
from memtui.engine.changes import LAST
from memtui.engine.explain import History
from memtui.paths import cases_file, questions_file
from memtui.tui.dialogs.choose_one import Option
from memtui.tui.layouts import Shape
from memtui.tui.paint.cells import tilde
from memtui.tui.paint.numbers import ago, full
from memtui.tui.screens.transfer import reembed_view
from memtui.tui.screens.transfer.reembed_view import BUNDLED, ReembedState, needs_no_service
from memtui.tui.widgets.row_list import Row
from memtui.tui.wizard.view import RunProgress, blank, fact_row, text_rows, warning_rows
from memtui.tui.wizard.wizard import FormField, Heading, Key, Task, TaskRun, TaskStep

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.cases import Case
    from memtui.engine.transfer import Embedder, Reembedded, Switched, Unfinished


Run = TaskRun[ReembedState]

_ASKED = ("model", "base_url", "key_env", "dimensions", "task")
"""What a run is asked for; never a key."""


# ------------------------------------------------------------------ what it works with


def offline(state: ReembedState) -> bool:
    """Whether the model needs no service."""
    return needs_no_service(state.model)


def embedder_of(state: ReembedState) -> Embedder:
    """The model that the form names."""
    from memtui.engine.transfer import embedder_named

    if state.dimensions and not state.dimensions.isdigit():
        raise UsageError(f"{state.dimensions} is no vector length.", fix="Give a number such as 512.")
    return embedder_named(
        state.model,
        os.environ,
        base_url=state.base_url,
        key_variables=state.key_env,
        dimensions=int(state.dimensions) if state.dimensions else None,
        task=state.task or None,
    )


def destination(run: Run) -> Path | str:
    """The folder of the second table, or its address on object storage."""
    if "://" in run.state.place:
        return run.state.place.rstrip("/")
    if run.state.place:
        return Path(run.state.place).expanduser().absolute()
    return transfer.reembed_job(run.engine).destination(run.state.model)


def saved_cases(engine: Engine) -> tuple[Case, ...]:
    """The saved questions of the store."""
    return tuple(CaseBook(cases_file(engine.info.uri)).cases())


def questions(engine: Engine) -> tuple[int, int]:
    """How many questions are saved for the store, and how many were asked last."""
    asked = History(questions_file()).search(store=engine.store.uri, limit=LAST)
    return len(saved_cases(engine)), len(asked)


# ------------------------------------------------------------------ its form


def choose_model(run: Run) -> None:
    """The bundled model, a known one, or another by its name."""
    from memtui.engine.transfer import KNOWN_DIMENSIONS, LOCAL_MODELS

    options = [
        Option(name, name, "built in" if name == BUNDLED else "on this machine") for name in LOCAL_MODELS
    ]
    options += [Option("?", "another one", "by its name")]
    options += [Option(name, name, f"{dims} dimensions") for name, dims in KNOWN_DIMENSIONS.items()]

    def took(name: str) -> None:
        if name == "?":
            hint = "Its name, as its service has it; static-minilm-256 is the bundled one, without a service."
            run.ask("Model", hint, "", lambda text: change(run, model=text))
        else:
            change(run, model=name)

    run.pick("The new model", options, run.state.model, took)


def change(run: Run, **changes: Any) -> None:
    """Another setting of the model: what was found out with the one before counts no more."""
    run.keep(**changes, rehearsal=None, made=None)
    estimate(run)


def text_field(name: str, label: str, none: str, title: str, hint: str) -> FormField[ReembedState]:
    """A setting of a model's service."""

    def take(run: Run, text: str) -> None:
        change(run, **{name: text})

    return FormField(name, label, none=none, title=title, hint=hint, take=take)


SERVICE = (
    text_field(
        "base_url",
        "service",
        "OpenAI's own",
        "Service",
        "Root of an OpenAI-compatible service, with its /v1. - is OpenAI's own.",
    ),
    text_field(
        "key_env",
        "keys in",
        "no variable",
        "Keys",
        "Names of environment variables that hold keys, with commas; never the keys themselves.",
    ),
    text_field(
        "dimensions",
        "length",
        "the model's",
        "Vector length",
        "Numbers to ask for, where the model offers several. - leaves it to the model.",
    ),
    text_field(
        "task",
        "task hint",
        "none",
        "Task hint",
        "For stored texts, such as retrieval.passage. - gives none.",
    ),
)
PLACE = FormField[ReembedState](
    "place",
    "folder",
    path=True,
    title="Folder",
    hint="Of the second table, on the disk of the store; there must be nothing in it.",
    shown=lambda run: tilde(str(destination(run))),
    typed=lambda run: run.state.place or str(destination(run)),
    take=lambda run, text: run.set(place=text, rehearsal=None, made=None),
)


def form(run: Run) -> tuple[FormField[ReembedState], ...]:
    """The model, its service where it needs one, and the place of the second table."""
    model = FormField[ReembedState]("model", "model", none="", default=run.state.model, ask=choose_model)
    return (model, *(() if offline(run.state) else SERVICE), PLACE)


# ------------------------------------------------------------------ what it shows


def heading(run: Run, panel: str) -> Heading:
    """The words in the frames."""
    running = "{transfer.stop} stops it" if run.busy("run", "rehearse") else ""
    titles = {
        "model": ("The new model", "What it takes"),
        "rehearse": ("Rehearsal", "The questions, old model against new"),
        "make": ("The second table", "Run"),
        "switch": ("Verified", "Switch"),
    }[run.state.step]
    changes = "{wizard.open} changes" if run.state.step == "model" else ""
    return Heading(titles[0] if panel == "a" else titles[1], where=running if panel == "b" else changes)


def model_rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """The model and its service; what embedding everything with it takes."""
    return run.form_rows(width) if panel == "a" else reembed_view.estimate_rows(run.state, width, run.glyphs)


def rehearse_rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """The saved and the last questions, and what the two models make of them."""
    return reembed_view.rehearse_rows(run.state, panel, width, run.glyphs, busy=run.busy("rehearse"))


def make_rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """The second table, and how far it is."""
    place, busy = destination(run), run.busy("run")
    there = isinstance(place, Path) and place.exists()
    return reembed_view.make_rows(run.state, panel, width, run.glyphs, place=place, busy=busy, there=there)


def switch_rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """The verified table, and what switching to it means."""
    return reembed_view.switch_rows(run.state, panel, width, run.glyphs, forbidden=run.forbidden)


def working(run: Run) -> bool:
    """Whether something runs that the person waits for."""
    return run.busy("run", "rehearse", "switch")


def model_advice(run: Run) -> str:
    """The way on, and what a measurement sends out."""
    measure = " {transfer.measure} measures the time: a few texts are sent out."
    on = "{transfer.next} goes on to the rehearsal."
    return "" if working(run) else on if offline(run.state) else on + measure


def rehearse_advice(run: Run) -> str:
    """The way on, and a rehearsal where there are questions."""
    rehearse = "{transfer.rehearse} rehearses on a sample; " if any(run.state.questions) else ""
    return "" if working(run) else rehearse + "{transfer.next} goes on to making the table."


def missing(run: Run) -> str:
    """What went wrong; the panel has what to do."""
    return "" if run.state.error is None else run.state.error.message


# ------------------------------------------------------------------ what it asks of the engine


def estimate(run: Run, *, ask: bool | None = None) -> None:
    """What embedding everything takes; `ask` sends a few texts out to measure the time."""
    run.keep(estimate=None, error=None)
    engine, state = run.engine, run.state
    asked = offline(state) if ask is None else ask
    run.work(
        "estimate",
        lambda _, stop: transfer.reembed_job(engine).estimate(embedder_of(state), ask=asked, cancel=stop),
        lambda found: run.set(estimate=found),
        stopped=lambda: run.set(pace=RunProgress(), error=None),
    )
    run.paint()


def rehearse(run: Run, panel: str, key: str) -> None:
    """Answer the saved and the last questions over a sample with each of the two models."""
    engine, state, cases = run.engine, run.state, saved_cases(run.engine)

    def call(report: OnProgress, stop: CancelToken) -> Any:
        return transfer.reembed_job(engine).rehearse(
            embedder_of(state),
            cases,
            recipe=engine.default_recipe,
            context=engine.recall_context(),
            last=explain.asked_last(engine, History(questions_file())),
            on_progress=report,
            cancel=stop,
        )

    run.keep(error=None, rehearsal=None, pace=RunProgress())
    run.work(
        "rehearse",
        call,
        lambda found: run.set(rehearsal=found, pace=RunProgress()),
        stopped=lambda: run.set(pace=RunProgress(), error=None),
    )
    run.paint()


def make(run: Run, panel: str, key: str) -> None:
    """Make the second table and verify it; the store is only read."""
    engine, place, state = run.engine, destination(run), run.state
    what = {name: getattr(state, name) for name in _ASKED}

    def call(report: OnProgress, stop: CancelToken) -> Reembedded:
        new = embedder_of(state)
        with transfer.unfinished_runs(engine).running("reembed", {**what, "destination": str(place)}):
            return transfer.reembed_job(engine).make(new, place, report, stop)

    def done(made: Reembedded) -> None:
        run.set(step="switch", made=made, pace=RunProgress())
        run.frame.flash(f"{counted(made.rows, 'memory', 'memories')} embedded and verified")

    def halted() -> None:
        how = run.words("{transfer.write} goes on where it stopped: what was made is kept.")
        run.fail(MemtuiError("It was stopped.", fix=how))

    run.keep(error=None, pace=RunProgress())
    run.work("run", call, done, stopped=halted)
    run.paint()


def switch(run: Run, panel: str, key: str) -> None:
    """Put the second table in the place of the store's own."""
    engine, place = run.engine, destination(run)

    def done(made: Switched) -> None:
        run.frame.flash(f"{made.model} is the store's model now; the undo is listed here")
        run.frame.host.take("store", made.store)

    run.set(error=None)
    run.work(
        "switch",
        lambda _, stop: transfer.reembed_job(engine).switch(place, confirmed=True),
        done,
        stopped=lambda: run.set(pace=RunProgress(), error=None),
    )


# ------------------------------------------------------------------ its steps


def to_rehearsal(run: Run) -> None:
    """Go on, if the model can be used."""
    if run.state.error is None:
        run.set(step="rehearse", pace=RunProgress(), questions=questions(run.engine))


def to_making(run: Run) -> None:
    """Go on, with or without a rehearsal."""
    if not run.busy("rehearse"):
        run.set(step="make", error=None, pace=RunProgress())


def back(run: Run) -> bool:
    """Go a step back, unless something is being written."""
    if run.busy("run", "switch"):
        return True
    before = {"rehearse": "model", "make": "rehearse"}.get(run.state.step)
    if before is None:
        return False
    run.stop()
    run.set(step=before, error=None, pace=RunProgress())
    run.renewed()
    return True


def start(engine: Engine, run: Unfinished | None = None) -> ReembedState:
    """With the bundled model, or as a run that was begun and not finished; RefusedError where none can be kept."""
    transfer.work_folder(engine)
    now = transfer.model_name(engine)
    if run is None:
        return ReembedState(model_now=now)
    given: dict[str, Any] = {key: str(run.what.get(key) or "") for key in _ASKED}
    place = str(run.what.get("destination") or "")
    return ReembedState("make", **given, place=place, model_now=now)


TASK = Task[ReembedState](
    "reembed",
    "Re-embed",
    start=start,
    about=lambda run: f"{run.engine.info.name}, {counted(run.engine.info.rows, 'memory', 'memories')}",
    steps=(
        TaskStep(
            "model",
            model_rows,
            heading,
            form=form,
            begin=estimate,
            advice=model_advice,
            missing=missing,
            keys={
                "measure": Key(
                    lambda run, panel, key: estimate(run, ask=True),
                    lambda run, panel, key: not offline(run.state),
                )
            },
            next=to_rehearsal,
            back=back,
        ),
        TaskStep(
            "rehearse",
            rehearse_rows,
            heading,
            advice=rehearse_advice,
            missing=missing,
            keys={
                "rehearse": Key(
                    rehearse,
                    lambda run, panel, key: not working(run) and any(run.state.questions),
                )
            },
            next=to_making,
            back=back,
        ),
        TaskStep(
            "make",
            make_rows,
            heading,
            advice=lambda run: (
                ""
                if working(run)
                else "{transfer.write} makes the second table beside the store, which is only read."
            ),
            missing=missing,
            goes_on=False,
            keys={"write": Key(make, lambda run, panel, key: not working(run))},
            back=back,
        ),
        TaskStep(
            "switch",
            switch_rows,
            heading,
            advice=lambda run: (
                ""
                if working(run)
                else "{transfer.stopped} switches, once the agent and other programs are stopped."
                " The old table is kept."
            ),
            missing=lambda run: missing(run) or run.forbidden,
            goes_on=False,
            keys={
                "stopped": Key(
                    switch,
                    lambda run, panel, key: not working(run) and not run.forbidden,
                    unlocks="switch to the new table",
                )
            },
            back=back,
        ),
    ),
)


# The way back from another model: the table of before is the store's again.


@dataclass(frozen=True, slots=True)
class BackState:
    """The switch that can be taken back."""

    switched: Switched | None
    step: str = "switch"
    error: MemtuiError | None = None
    pace: RunProgress = field(default_factory=RunProgress)


def back_rows(run: TaskRun[BackState], panel: str, width: int, height: int) -> Sequence[Row]:
    """What was switched, and what taking it back means."""
    glyphs, switched, error = run.glyphs, run.state.switched, run.state.error
    if switched is None:
        return text_rows("No switch is known for this store.", width, "$dim")
    if panel == "a":
        return [
            fact_row("model", switched.model, width, glyphs),
            fact_row("dimensions", full(switched.dims), width, glyphs),
            fact_row("switched", ago(switched.time_ms, run.now_ms), width, glyphs),
            fact_row("kept in", tilde(switched.kept), width, glyphs),
        ]
    agent = "Stop the agent first; what was written since the switch is in the new table only."
    return [
        *text_rows("The old table is put back in its place.", width, "bold $foreground"),
        blank(),
        *warning_rows(agent, width, glyphs),
        *warning_rows("Configure the old model for the agent again.", width, glyphs),
        *(warning_rows(str(error), width, glyphs) if error else []),
    ]


def switch_back(run: TaskRun[BackState], panel: str, key: str) -> None:
    """Put the table of before in its place again."""
    engine = run.engine

    def done(made: Any) -> None:
        other = tilde(str(made.after.parent))
        run.frame.flash(f"the old table is the store's again; the new one is in {other}")
        run.frame.host.take("store", made.store)

    run.work("back", lambda _, stop: transfer.reembed_job(engine).back(confirmed=True), done)


BACK = Task[BackState](
    "back",
    "Undo",
    start=lambda engine: BackState(transfer.switch_to_take_back(engine)),
    steps=(
        TaskStep(
            "switch",
            back_rows,
            lambda run, panel: Heading("The last switch" if panel == "a" else "Taking it back"),
            shape=Shape("two", side_rows=6),
            missing=lambda run: run.forbidden,
            goes_on=False,
            keys={
                "stopped": Key(
                    switch_back,
                    lambda run, panel, key: (
                        run.state.switched is not None and not run.forbidden and not run.busy("back")
                    ),
                    unlocks="switch back to the table of before",
                )
            },
        ),
    ),
)
