"""A task as somebody new would add it: one file, and one entry in the registry (`test_wizard_task` makes it)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memtui.engine import CancelToken, MemtuiError, OnProgress
from memtui.tui.widgets.row_list import Row
from memtui.tui.wizard.view import RunProgress, fact_row
from memtui.tui.wizard.wizard import FormField, Heading, Key, Task, TaskRun, TaskStep


@dataclass(frozen=True, slots=True)
class GreetState:
    """Who is greeted, and how long the greeting was."""

    step: str = "who"
    name: str = ""
    loud: bool = False
    counted: int | None = None
    error: MemtuiError | None = None
    pace: RunProgress = field(default_factory=RunProgress)


def rows(run: TaskRun[GreetState], panel: str, width: int, height: int) -> Sequence[Row]:
    """The form, and what came of it."""
    if panel == "a":
        return run.form_rows(width)
    return [fact_row("memories", str(run.state.counted), width, run.glyphs)]


def greet(run: TaskRun[GreetState], panel: str, key: str) -> None:
    """Count the memories in a thread, and greet them."""
    engine = run.engine

    def count(report: OnProgress, stop: CancelToken) -> int:
        if run.state.name == "nobody":
            raise MemtuiError("There is nobody to greet.")
        return engine.store.count()

    run.work("greet", count, lambda number: run.set(step="said", counted=number))


def back(run: TaskRun[GreetState]) -> bool:
    """The form again."""
    run.set(step="who")
    return True


TASK = Task[GreetState](
    "greet",
    "Greet",
    start=lambda engine, name="": GreetState(name=name),
    about=lambda run: run.state.name or "everybody",
    steps=(
        TaskStep(
            "who",
            rows,
            lambda run, panel: Heading("Who is greeted"),
            form=(
                FormField("name", "name", none="everybody", title="Name", hint="Of a memory's owner."),
                FormField("loud", "loud", kind="switch"),
            ),
            advice="{transfer.write} greets.",
            missing=lambda run: str(run.state.error or ""),
            keys={"write": Key(greet, lambda run, panel, key: not run.busy("greet"))},
        ),
        TaskStep("said", rows, next=lambda run: run.frame.begin(""), back=back),
    ),
)
